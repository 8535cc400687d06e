"""Why a text is not Python for this interpreter: broken, Python 2, or newer than it."""

import re
import sys

from contract_guard.facts.model import Unreadable

_PYTHON_2_MESSAGES = (
    "Missing parentheses in call to 'print'",
    "Missing parentheses in call to 'exec'",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals are not permitted",
)
_PYTHON_2_LINES = re.compile(
    r"""^\s*(?:print\s+(?:["'\w%]|>>)
        |exec\s+["'\w].*(?:\bin\b|$)
        |raise\s+[\w.\[\]]+\s*,\s*\S
        |def\s+\w+\s*\(.*[(,]\s*\(
        |except\s+[\w.()\s,]+,\s*\w+\s*:)
        |\b0[0-7]+\b|\b\d+[lL]\b|\b0[xX][\da-fA-F]+[lL]\b|<>|`[^`]*`|\bur["']""",
    re.VERBOSE,
)
# What the line at fault looks like -> the first Python that accepts it, and its name.
_NEWER: tuple[tuple[re.Pattern[str], tuple[int, int], str], ...] = (
    (re.compile(r"^\s*lazy\s+(?:import|from)\s"), (3, 15), "lazy import"),
    (
        re.compile(r"^\s*(?:(?:async\s+)?def|class|type)\s+\w+\s*\[[^\]=]*="),
        (3, 13),
        "default of a type parameter",
    ),
    (re.compile(r"^\s*type\s+\w+\s*(?:\[.*\]\s*)?="), (3, 12), "type statement"),
    (re.compile(r"^\s*(?:async\s+)?def\s+\w+\s*\["), (3, 12), "type parameters"),
    (re.compile(r"^\s*class\s+\w+\s*\["), (3, 12), "type parameters"),
    (re.compile(r"^\s*except\s*\*?\s*[\w.]+\s*,"), (3, 14), "except without parentheses"),
    (re.compile(r"""\b(?:[tT][rR]?|[rR][tT])(?:"|')"""), (3, 14), "template string"),
)
# `except OSError, error:` binds a name in Python 2; exception types are seldom in small letters.
_NAMES_THE_ERROR = re.compile(r"^\s*except\s+[\w.]+\s*,\s*[a-z_][a-z_0-9]*\s*:")
_NEW_FSTRING = re.compile(r"""\b(?:[fF][rR]?|[rR][fF])(?:"|')""")


def explain_syntax_error(error: SyntaxError, text: str) -> Unreadable:
    """Classify a `SyntaxError` raised by parsing `text`.

    A newer Python is named where the line at fault has a form that only a newer one accepts;
    for `except A, B:` that is Python 3.14 unless the rest of the file speaks for Python 2.
    """
    message = error.msg or "invalid syntax"
    line = error.lineno or 0
    column = error.offset or 0
    if "too many nested parentheses" in message or "too many statically nested" in message:
        return Unreadable("too-deep", message, line, column)
    at_fault = _line(text, line)
    needed = _newer_python(message, at_fault)
    if needed is not None and needed[0] > sys.version_info[:2]:
        (major, minor), what = needed
        old = what == "except without parentheses" and (
            _NAMES_THE_ERROR.search(at_fault) is not None or _speaks_python_2(text)
        )
        if not old:
            return Unreadable("newer-python", f"{what} needs Python {major}.{minor}", line, column)
    if sys.version_info < (3, 12) and _may_be_new_fstring(message, at_fault):
        return Unreadable("newer-python", f"{message}; Python 3.12 may accept it", line, column)
    if any(part in message for part in _PYTHON_2_MESSAGES) or _PYTHON_2_LINES.search(at_fault):
        return Unreadable("python-2", message, line, column)
    if isinstance(error, TabError) and _speaks_python_2(text):
        return Unreadable("python-2", message, line, column)
    return Unreadable("syntax", message, line, column)


def _line(text: str, number: int) -> str:
    start = 0
    for _ in range(number - 1):
        start = text.find("\n", start) + 1
        if start == 0:
            return ""
    end = text.find("\n", start)
    return text[start : end if end >= 0 else None][:1000]


def _newer_python(message: str, line: str) -> tuple[tuple[int, int], str] | None:
    for pattern, version, what in _NEWER:
        if pattern.search(line):
            return version, what
    if "unpacking cannot be used in comprehension" in message:
        return (3, 15), "unpacking in a comprehension"
    return None


def _may_be_new_fstring(message: str, line: str) -> bool:
    """Whether the fault is in an f-string, whose expressions Python 3.12 reads without limits."""
    return message.startswith("f-string") or (
        "unterminated" in message and _NEW_FSTRING.search(line) is not None
    )


_PYTHON_2_ANYWHERE = re.compile(
    r"""^\s*(?:print\s+["'\w]|print\s*$|exec\s+["'\w]|raise\s+[\w.]+\s*,)
        |\b(?:unicode|xrange|raw_input|iteritems|basestring|unichr)\b""",
    re.VERBOSE | re.MULTILINE,
)


def _speaks_python_2(text: str) -> bool:
    return _PYTHON_2_ANYWHERE.search(text) is not None
