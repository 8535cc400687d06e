"""CG901 unused suppressions, CG903 unreadable files."""

from collections.abc import Collection, Iterable

from contract_guard.detectors.base import Context
from contract_guard.detectors.suppress import Suppression
from contract_guard.findings import Finding, fingerprint

_ADVICE = {
    "syntax": ("is no valid Python", "Correct it, or `exclude` it if it is not meant to be run."),
    "newer-python": (
        "is written for a newer Python than the one that runs this tool",
        "Run contract-guard under the Python version that the file needs.",
    ),
    "python-2": ("is written for Python 2", "Port it, or `exclude` it."),
    "encoding": (
        "is not in the encoding that it declares (UTF-8 if it declares none)",
        "Save it as UTF-8, or declare its encoding in the first line: `# -*- coding: latin-1 -*-`.",
    ),
    "nul-bytes": ("contains NUL bytes, which Python does not accept", "Correct or `exclude` it."),
    "too-deep": (
        "is nested deeper than the parser can safely follow",
        "`exclude` it if it is generated.",
    ),
    "too-large": ("is larger than this tool reads", "`exclude` it if it is generated."),
    "unreadable": (
        "could not be read from disk",
        "Look at its name and its permissions, or `exclude` it.",
    ),
    "worker-died": (
        "made the process that read it die",
        "Please report it with the file; `exclude` it until then.",
    ),
    "timeout": (
        "took too long to read",
        "`exclude` it if it is generated; please report it if it is not.",
    ),
}


def unreadable(context: Context) -> Iterable[Finding]:
    """CG903: files of the project from which no facts could be taken."""
    for path, facts in context.unreadable.items():
        what, advice = _ADVICE[facts.reason]
        detail = f" ({facts.detail})" if facts.detail else ""
        line, column = facts.line or 1, facts.column or 1
        yield Finding(
            rule="CG903",
            severity="warning",
            path=path,
            line=line,
            column=column,
            end_line=line,
            end_column=column + 1,
            symbol=path,
            message=f"this file {what}{detail}: its module is unknown, and so is what others "
            "take from it",
            help=advice,
            fingerprint=fingerprint("CG903", path, "", path, facts.reason),
        )


def unused_suppressions(
    path: str, unused: Iterable[Suppression], known: Collection[str]
) -> Iterable[Finding]:
    """CG901: comments of one file that suppress nothing, name no rule, or an unknown one."""
    for suppression in unused:
        if suppression.problem:
            message = f"this suppression comment has no effect: {suppression.problem}"
            help_ = "Write `# contract-guard: ignore[CG101] reason`."
        elif suppression.rule not in known:
            message = f"this suppression comment names `{suppression.rule}`, which is no rule"
            help_ = "`contract-guard rules` lists them all."
        else:
            message = f"nothing to suppress here: no {suppression.rule} on this statement"
            help_ = f"Remove `{suppression.rule}` from the comment."
        symbol = suppression.rule or suppression.word
        yield Finding(
            rule="CG901",
            severity="warning",
            path=path,
            line=suppression.line,
            column=suppression.column,
            end_line=suppression.line,
            end_column=suppression.end_column,
            symbol=symbol,
            message=message,
            help=help_,
            fingerprint=fingerprint("CG901", path, "", symbol, suppression.text),
        )
