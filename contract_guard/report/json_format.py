"""`--format json`: the form that docs/json.md pins. The text is ASCII."""

import json

import msgspec

from contract_guard import __version__
from contract_guard.report import Report, Screen


def render(report: Report, screen: Screen) -> str:
    return encode(
        {
            "version": 1,
            "tool": {"name": "contract-guard", "version": __version__},
            "findings": report.findings,
            "summary": report.summary,
        }
    )


def encode(document: object) -> str:
    """`document` as indented JSON in printable ASCII, ending with a newline.

    ASCII keeps terminals safe from control characters, and holds the lone surrogates that stand
    for file names that are no UTF-8, which msgspec refuses.
    """
    try:
        encoded = msgspec.json.encode(document)
    except UnicodeEncodeError:
        encoded = b"\xff"
    if encoded.isascii():
        text = msgspec.json.format(encoded, indent=2).decode()
    else:
        text = json.dumps(msgspec.to_builtins(document), indent=2)
    # The one control character of ASCII that JSON lets stand as it is.
    return text.replace("\x7f", "\\u007f") + "\n"
