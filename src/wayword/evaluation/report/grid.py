"""A table of the results page: figures that stand side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """One table: labels of rows with what they put into the columns' patterns."""

    title: str
    """Heading of its section; empty for a further table of the section before."""
    about: str
    corner: str
    """What the rows are."""
    rows: Mapping[str, str]
    columns: tuple[tuple[str, str], ...]
    """Headings and patterns; two columns may be called alike."""
