"""Bytes -> syntax tree, within bounds, or the reason why not."""

import ast
import codecs
import re
import warnings

from contract_guard.facts.model import Unreadable
from contract_guard.facts.source import Source
from contract_guard.facts.syntax import explain_syntax_error

# A syntax tree takes 100 to 200 bytes of memory for each byte of source.
MAX_BYTES = 16 * 1024 * 1024

_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_BLANK_OR_COMMENT = re.compile(rb"^[ \t\f]*(?:#.*)?$")
# Text encodings of Python that decode in quadratic time or read names as escapes.
_REFUSED_CODINGS = frozenset({"punycode", "idna", "unicode_escape", "raw_unicode_escape"})


def read(source: bytes) -> tuple[Source, ast.Module] | Unreadable:
    """Decode and parse as Python would; warnings of the parser are dropped."""
    if len(source) > MAX_BYTES:
        return Unreadable("too-large", f"{len(source)} bytes, more than {MAX_BYTES}")
    text = decode(source)
    if isinstance(text, Unreadable):
        return text
    nul = text.find("\0")
    if nul >= 0:
        before = text[:nul]
        column = nul - (before.rfind("\n") + 1) + 1
        return Unreadable("nul-bytes", "NUL byte", before.count("\n") + 1, column)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return explain_syntax_error(error, text)
    except (RecursionError, MemoryError):
        return Unreadable("too-deep", "expressions or blocks are nested too deeply to be parsed")
    except (ValueError, OverflowError) as error:
        return Unreadable("syntax", str(error))
    return Source(text), tree


def decode(source: bytes) -> str | Unreadable:
    """The text of a file, lines ended by "\n", or why it cannot be read."""
    has_bom = source.startswith(codecs.BOM_UTF8)
    if has_bom:
        source = source[len(codecs.BOM_UTF8) :]
    coding, line = _declared_coding(source)
    name = coding or "utf-8"
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        return Unreadable("encoding", f"unknown encoding {name!r}", line, 1)
    if codec.name in _REFUSED_CODINGS:
        return Unreadable("encoding", f"encoding {name!r} is not read", line, 1)
    if has_bom and codec.name not in ("utf-8", "utf-8-sig"):
        return Unreadable("encoding", f"byte order mark of UTF-8, but coding {name!r}", line, 1)
    try:
        text = source.decode(name)
    except UnicodeDecodeError as error:
        before = source[: error.start]
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        what = f"not {name}: {error.reason}"
        if coding is None:
            what += ", and no coding line"
        return Unreadable("encoding", what, before.count(b"\n") + 1, column)
    except (LookupError, ValueError) as error:
        return Unreadable("encoding", str(error), line, 1)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _declared_coding(source: bytes) -> tuple[str | None, int]:
    """The encoding of a PEP 263 line, which may be the first or the second line."""
    start = 0
    for number in (1, 2):
        end = source.find(b"\n", start)
        line = source[start : end if end >= 0 else None][:1000].rstrip(b"\r")
        match = _CODING.match(line)
        if match:
            return match[1].decode("ascii"), number
        if end < 0 or not _BLANK_OR_COMMENT.match(line):
            break
        start = end + 1
    return None, 0
