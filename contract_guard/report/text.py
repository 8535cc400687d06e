"""Text from analysed repositories is hostile: how it is made safe to print."""


def printable(text: str) -> str:
    """`text` on one line, with control and format characters (ANSI escapes, newlines, bidirectional
    overrides, lone surrogates) written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
