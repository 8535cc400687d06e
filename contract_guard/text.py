"""Text from analysed repositories is hostile: how it is made safe to print."""


def printable(text: str) -> str:
    """`text` on one line, with control and format characters (ANSI escapes, newlines, bidirectional
    overrides, lone surrogates) written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def line_start(text: str) -> str:
    """`text` (a path or node id) as `printable`, so that it can begin a line in a CI log: a runner
    would take a line that begins with `::` as a command to itself."""
    text = printable(text)
    return f"./{text}" if text.lstrip().startswith("::") else text


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def is_newer(version: str, known: int) -> bool:
    """Whether the version that a file states is a whole number above `known`."""
    is_number = version.isascii() and version.isdigit()
    return is_number and (len(version) > len(str(known)) or int(version) > known)
