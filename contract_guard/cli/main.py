"""The `contract-guard` command: loads only the subcommand called, maps every fault to exit 2."""

import difflib
import importlib
import io
import os
import sys

import click

from contract_guard import __version__
from contract_guard.cli.errors import (
    EXIT_CLEAN,
    EXIT_FAILED,
    UserError,
    report_internal_fault,
    report_misuse,
    say,
)
from contract_guard.cli.output import to_nowhere

COMMANDS: dict[str, str] = {
    "check": "Report tests and code that lean on names, values or rules that are gone.",
    "diff": "Report what a change breaks, between two revisions.",
    "registry": "Show who produces and who consumes each contract.",
    "gate": "Run real MoE gates against what their tests expect.",
    "explain": "Explain a rule, with its examples.",
    "rules": "List all rules.",
    "baseline": "Accept the findings of today, so that only new ones count.",
}

_HELP = frozenset({"-h", "--help", "--version"})


class LazyGroup(click.Group):
    """Imports a subcommand's module when it is called or asked for help, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(f"contract_guard.cli.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 clean, 1 findings, 2 could not do what was asked.",
)
@click.version_option(__version__, prog_name="contract-guard")
def cli() -> None:
    """Find contract drift: tests that no longer agree with the code they check."""


def main(argv: list[str] | None = None) -> None:
    """Console entry point. Exits 0, 1 or 2; a fault of this program's own is always 2."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] - closed by the caller
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        say("standard output is closed")
        sys.exit(EXIT_FAILED)
    for stream in (sys.stdout, sys.stderr):
        # Names of files need not fit the encoding of the terminal.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:] if argv is None else list(argv)
    is_help = not _HELP.isdisjoint(arguments)
    try:
        # Not click's own `main`: it exits with 1 when the reader of a pipe goes away.
        with cli.make_context("contract-guard", arguments) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        code = done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = EXIT_FAILED
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        code = EXIT_FAILED
    except click.ClickException as error:
        report_misuse(error)
        code = EXIT_FAILED
    except UserError as error:
        say(str(error))
        code = EXIT_FAILED
    except BrokenPipeError:
        # The reader of the pipe went away. Python would complain when it flushes at its end.
        to_nowhere(sys.stdout)
        # Help has no verdict that is lost with the rest of it.
        code = EXIT_CLEAN if is_help else EXIT_FAILED
    except OSError as error:
        if error.filename is not None:
            report_internal_fault(error)
        else:
            say(f"standard output cannot be written: {error.strerror}")
            to_nowhere(sys.stdout)
        code = EXIT_FAILED
    except Exception as error:  # noqa: BLE001 - an internal fault must end as exit 2, never as 1
        report_internal_fault(error)
        code = EXIT_FAILED
    sys.exit(code if isinstance(code, int) else EXIT_CLEAN)
