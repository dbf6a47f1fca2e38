"""Model and data cards: prose by hand in ``docs/cards``, figures by ``wayword results``, a copy beside the weights.

A card names the place of its copy and the figures it quotes; what stands between the last two marks is generated:

    <!-- beside: src/wayword/policy/weights/fspvn/MODEL_CARD.md -->

    <!-- figures
    fspvn.test.natural.sr: success, natural instructions
    -->
    | what | value | 95 % interval | n | figure |
    ...
    <!-- end of figures -->

So a card can neither quote a figure that was never published nor keep one that was measured anew, and who opens the
folder of weights finds what they are. Links of the copy are turned so that they lead to the same files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from wayword.errors import DataError
from wayword.evaluation.summary import format_number
from wayword.figures import Figure
from wayword.io import write_text

BESIDE = re.compile(r"^<!-- beside: (?P<place>\S+) -->\n+", re.MULTILINE)
_FIGURES = re.compile(
    r"(?P<head><!-- figures\n(?P<wanted>.*?)-->\n)(?P<table>.*?)(?P<end><!-- end of figures -->)", re.DOTALL
)
_LINK = re.compile(r"(?P<before>\]\()(?P<target>(?!https?:|#)[^)\s#]+)")


def render_cards(docs: Path, results: Mapping[str, Figure]) -> list[Path]:
    """Fill in the figures of all cards below ``docs`` and write their copies; returns the files written."""
    written = []
    for card in sorted((docs / "cards").glob("*.md")):
        text = fill_figures(card.read_text(encoding="utf-8"), results, card)
        write_text(card, text)
        written.append(card)
        place = BESIDE.search(text)
        if place is not None:
            copy = docs.parent / place["place"]
            if not copy.parent.is_dir():
                raise DataError(card, f"there is no folder {copy.parent} for its copy; correct the line with 'beside'")
            write_text(copy, copy_of(text, card, copy))
            written.append(copy)
    return written


def fill_figures(text: str, results: Mapping[str, Figure], card: Path) -> str:
    """The card with every table of figures made anew."""

    def table(match: re.Match[str]) -> str:
        return f"{match['head']}\n{_table(_figure_rows(match['wanted'], card), results, card)}\n{match['end']}"

    return _FIGURES.sub(table, text)


def copy_of(text: str, card: Path, copy: Path) -> str:
    """What stands beside the weights: the same card, with links from there."""

    def turned(match: re.Match[str]) -> str:
        target = os.path.relpath(card.parent / match["target"], copy.parent)
        return match["before"] + Path(target).as_posix()

    note = f"<!-- Written by `wayword results` from docs/cards/{card.name}: edit it there. -->\n\n"
    return note + _LINK.sub(turned, BESIDE.sub("", text))


def _figure_rows(lines: str, card: Path) -> Iterator[tuple[str, str]]:
    for line in lines.splitlines():
        key, colon, label = line.partition(": ")
        if not colon:
            raise DataError(card, f"the line of figures {line!r} is not of the form 'key: what it is'")
        yield key, label


def _table(rows: Iterator[tuple[str, str]], results: Mapping[str, Figure], card: Path) -> str:
    lines = ["| what | value | 95 % interval | n | figure |", "|---|---:|---:|---:|---|"]
    for key, label in rows:
        figure = results.get(key)
        if figure is None:
            raise DataError(card, f"no figure {key!r} was published; correct it, or publish it first")
        value = f"{format_number(figure.value, figure.unit)} {figure.unit}".strip()
        interval = "–"
        if figure.low is not None and figure.high is not None:
            interval = f"[{format_number(figure.low, figure.unit)}, {format_number(figure.high, figure.unit)}]"
        lines.append(f"| {label} | {value} | {interval} | {figure.n:,} | `{key}` |")
    return "\n".join(lines) + "\n"
