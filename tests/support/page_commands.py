"""Command lines in the pages of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[tc]*/*.md")])
_FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(text: str) -> list[str]:
    """Command lines in fenced and indented blocks, in full."""
    joined = re.sub(r"\\\n\s*", "", text)
    blocks = [line for block in _FENCED.findall(joined) for line in block.splitlines()]
    lines = [*blocks, *(line for line in _FENCED.sub("", joined).splitlines() if line.startswith("    "))]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [part for part in parts if re.match(r"(\.venv/bin/)?wayword (?!flies )[a-z]", part)]  # not what it says
