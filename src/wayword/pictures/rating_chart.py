"""The paper's chart of human judgements: per system a bar of score frequencies, with the mean in black.

Readable on light and dark pages: it brings its own white ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from wayword.intervals import Interval
from wayword.pictures import svg

COLOURS = ("#b2382f", "#eda07a", "#e4e3df", "#8cbcd9", "#2b6ca8")
"""Scores 1 to 5, a diverging scale that colour-blind readers can tell apart."""
INKS = ("#fff", "#111", "#111", "#111", "#fff")
_BAR, _GAP, _NAMES, _BARS, _MEANS = 26, 14, 150, 420, 190
_TOP, _LEGEND = 62, 34
_QUIET = "#555"


class Ratings(NamedTuple):
    """What one system got in one question."""

    counts: tuple[int, ...]
    """Judgements with score 1 to 5."""
    mean: Interval


def rating_chart(questions: Mapping[str, Mapping[str, Ratings]]) -> str:
    """An SVG file with the ratings of every system for each question, given by its title, one below the other."""
    panels, top = [], _LEGEND
    for title, systems in questions.items():
        parts = [_text(_NAMES, 24, title, weight=600, size=15), *_axes(len(systems))]
        for i, (system, ratings) in enumerate(systems.items()):
            parts += _row(_TOP + i * (_BAR + _GAP), system, ratings)
        panels.append(svg.element("g", "\n".join(parts), transform=f"translate(0 {top})"))
        top += _TOP + len(systems) * (_BAR + _GAP)
    description = "; ".join(
        f"{title}: " + ", ".join(f"{system} {ratings.mean.mean:.2f}" for system, ratings in systems.items())
        for title, systems in questions.items()
    )
    width, height = _NAMES + _BARS + 30 + _MEANS + 125, top + 24
    ground = svg.element("rect", width=width, height=height, fill="#fff")
    picture = svg.image(
        "Frequencies of scores 1 to 5 and mean scores", description, width, height, [ground, _legend(), *panels],
        xmlns="http://www.w3.org/2000/svg", width=width, height=height, font_family="system-ui, sans-serif",
    )  # fmt: skip
    return f"{picture}\n"


def _row(y: int, system: str, ratings: Ratings) -> list[str]:
    """One system: its name, the stacked bar, the mean with its interval."""
    parts = [_text(_NAMES - 10, y + _BAR * 0.7, system, "end")]
    left = float(_NAMES)
    for count, colour, ink in zip(ratings.counts, COLOURS, INKS, strict=True):
        share = count / sum(ratings.counts)
        wide = share * _BARS
        if count:
            parts.append(svg.element("rect", x=left, y=y, width=wide, height=_BAR, fill=colour))
        if wide >= 26:
            parts.append(_text(left + wide / 2, y + _BAR * 0.68, f"{share:.0%}", "middle", ink, 12))
        left += wide
    middle, mean = y + _BAR / 2, ratings.mean
    low, at, high = (_mean_x(value) for value in (mean.low, mean.mean, mean.high))
    parts.append(svg.whisker(low, high, middle, 4, stroke="#000", stroke_width=1.5, fill="none"))
    parts.append(svg.element("circle", cx=at, cy=middle, r=4.5, fill="#000"))
    words = f"{mean.mean:.2f} [{mean.low:.2f}, {mean.high:.2f}]"
    parts.append(_text(_NAMES + _BARS + 30 + _MEANS + 8, y + _BAR * 0.7, words, size=12))
    return parts


def _axes(rows: int) -> list[str]:
    bottom = _TOP + rows * (_BAR + _GAP) - _GAP
    parts = [_text(_NAMES, 48, "share of judgements", fill=_QUIET, size=12)]
    parts.append(_text(_mean_x(1), 34, "mean and 95 % interval", fill=_QUIET, size=12))
    for score in range(1, 6):
        x = _mean_x(score)
        parts.append(_text(x, 52, str(score), "middle", _QUIET, 12))
        parts.append(svg.line(x, _TOP - 4, x, bottom + 4, stroke="#ddd"))
    return parts


def _legend() -> str:
    parts = [_text(_NAMES, 26, "score", fill=_QUIET, size=12)]
    for i, (colour, ink) in enumerate(zip(COLOURS, INKS, strict=True)):
        x = _NAMES + 44 + 34 * i
        parts.append(svg.element("rect", x=x, y=12, width=30, height=20, fill=colour))
        parts.append(_text(x + 15, 27, str(i + 1), "middle", ink, 12))
    return "".join(parts)


def _mean_x(score: float) -> float:
    return _NAMES + _BARS + 30 + (score - 1) / 4 * (_MEANS - 10)


def _text(
    x: float, y: float, words: str, anchor: str = "start", fill: str = "#111", size: int = 14, weight: int = 400
) -> str:
    return svg.text(x, y, words, anchor, fill=fill, font_size=size, font_weight=weight)
