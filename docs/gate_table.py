"""Writes the tables of every gate found into docs/gates.md, between their markers.

    python docs/gate_table.py [docs/gates.md]

Each gate is built as a user loads it, in bfloat16; one that cannot be built here is in the table
with the reason.
"""

import sys
from collections import defaultdict
from pathlib import Path

from contract_guard.gates.adapters import vllm
from contract_guard.gates.adapters.transformers import table_rows
from contract_guard.gates.adapters.transformers.classes import version

BEGIN, END = "<!-- table of gates: begin -->", "<!-- table of gates: end -->"


def table() -> str:
    """As Markdown: a line for each distinct forward, with the classes that share it; and vLLM's."""
    groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, digest, words, domain in table_rows():
        groups[digest].append((name, f"{words} | {domain}"))
    classes = sum(len(group) for group in groups.values())
    lines = [
        f"transformers {version()}: {classes} classes, {len(groups)} distinct forwards.",
        "",
        "| classes | forward | rule, as loaded in bfloat16 | drawn from its configuration |",
        "|---|---|---|---|",
    ]
    for digest, group in sorted(groups.items(), key=lambda entry: entry[1][0][0]):
        by_words: dict[str, list[str]] = defaultdict(list)
        for name, words in group:
            by_words[words].append(f"`{name}`")
        for words, names in by_words.items():
            lines.append(f"| {', '.join(names)} | `{digest}` | {words} |")
    lines += ["", "vLLM 0.33.0, its kernels for CUDA, with the first value of each option:", ""]
    lines += ["| function | rule | domain and options |", "|---|---|---|"]
    lines += [f"| `{name}` | {words} | {domain} |" for name, words, domain in vllm.table_rows()]
    return "\n".join(lines)


def replaced(text: str, made: str) -> str:
    """The document with what is between the markers replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


if __name__ == "__main__":
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/gates.md")
    path.write_text(replaced(path.read_text(encoding="utf-8"), table()), encoding="utf-8")
