"""The plots of reports: every figure carries its 95 % interval. They follow the page's light or dark colours.

Colours are classes of the page's style sheet, s0 to s7, one per system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wayword.episodes import Example
from wayword.intervals import Interval, wilson
from wayword.pictures import svg
from wayword.task import SUCCESS_RADIUS_M

WIDTH = 620
_NAMES_PX, _WORDS_PX, _ROW_PX = 160, 160, 26
_TOP, _BOTTOM, _HEIGHT = 14, 230, 280
_LEFT, _RIGHT = 60, 600
_PX_PER_M = 100
_COLOURS = 8


class DotRow(NamedTuple):
    """One line of a dot plot."""

    label: str
    colour: int
    interval: Interval
    words: str
    """The interval as it is written at the end of the line."""


def dot_plot(title: str, rows: Sequence[DotRow], low: float, high: float, unit: str) -> str:
    """A dot at the mean, a bar from low to high, on an axis from ``low`` to ``high``."""
    height = 34 + _ROW_PX * len(rows)

    def x(value: float) -> float:
        return _NAMES_PX + (min(max(value, low), high) - low) / (high - low) * (WIDTH - _NAMES_PX - _WORDS_PX)

    parts = []
    for value in np.linspace(low, high, 5):
        parts.append(svg.line(x(value), 4, x(value), height - 24, class_="grid"))
        parts.append(svg.text(x(value), height - 8, f"{value:g}{unit}", "middle", class_="quiet"))
    for i, row in enumerate(rows):
        y, colour, interval = 17 + _ROW_PX * i, _colour(row.colour), row.interval
        parts.append(svg.text(_NAMES_PX - 12, y + 5, row.label, "end"))
        parts.append(svg.whisker(x(interval.low), x(interval.high), y, 5, class_=f"bar {colour}"))
        parts.append(svg.element("circle", class_=colour, cx=x(interval.mean), cy=y, r=5))
        parts.append(svg.text(WIDTH - _WORDS_PX + 12, y + 5, row.words, class_="quiet"))
    description = "; ".join(f"{row.label} {row.words}" for row in rows)
    return svg.image(title, description, WIDTH, height, parts, class_="plot")


def rate_plot(title: str, axis: str, groups: Sequence[str], rates: Mapping[str, Mapping[str, Interval]]) -> str:
    """Rates by group, a line per system; groups stand side by side in their order, and ``axis`` says what they are."""
    step = (_RIGHT - _LEFT - 10) / len(groups)
    parts = _percent_grid(axis)
    for i, group in enumerate(groups):
        parts.append(svg.text(_LEFT + 10 + step * (i + 0.5), _BOTTOM + 22, group, "middle", class_="quiet"))
    sentences = []
    for number, (system, own) in enumerate(rates.items()):
        colour = _colour(number)
        shift = min(14, 0.8 * step / len(rates)) * (number - (len(rates) - 1) / 2)  # systems beside each other
        places = {group: _LEFT + 10 + step * (groups.index(group) + 0.5) + shift for group in own}
        parts.append(svg.polyline([(places[g], _y(v.mean)) for g, v in own.items()], class_=f"line {colour}"))
        for group, interval in own.items():
            x = places[group]
            parts.append(svg.line(x, _y(interval.high), x, _y(interval.low), class_=f"bar {colour}"))
            parts.append(svg.element("circle", class_=colour, cx=x, cy=_y(interval.mean), r=5))
        sentences.append(f"{system}: " + ", ".join(f"{group}: {100 * v.mean:.0f} %" for group, v in own.items()))
    return svg.image(title, "; ".join(sentences), WIDTH, _HEIGHT, parts, class_="plot")


def distance_plot(errors: Mapping[str, Sequence[float]], most_m: float = 3.0) -> str:
    """The share of flights that end within a distance of the demonstration's end, with its Wilson band."""
    places = np.linspace(0, most_m, 61)

    def x(metres: float) -> float:
        return _LEFT + metres / most_m * (_RIGHT - _LEFT)

    parts = _percent_grid("metres from the demonstration's end")
    for metres in np.arange(0, most_m + 0.1, 0.5):
        parts.append(svg.text(x(metres), _BOTTOM + 22, f"{metres:g}", "middle", class_="quiet"))
    parts.append(svg.line(x(SUCCESS_RADIUS_M), _BOTTOM, x(SUCCESS_RADIUS_M), _TOP, class_="mark"))
    sentences = []
    for number, (system, values) in enumerate(errors.items()):
        colour = _colour(number)
        shares = [wilson(int(np.sum(np.asarray(values) < place)), len(values)) for place in places]
        lower, middle, upper = (
            [(x(place), _y(getattr(share, part))) for place, share in zip(places, shares, strict=True)]
            for part in ("low", "mean", "high")
        )
        parts.append(svg.polyline([*lower, *reversed(upper)], closed=True, class_=f"band {colour}"))
        parts.append(svg.polyline(middle, class_=f"line {colour}"))
        sentences.append(f"{system}: median {np.median(values):.2f} m")
    return svg.image("Where flights end", "; ".join(sentences), WIDTH, _HEIGHT, parts, class_="plot")


def flight_map(example: Example, path: ArrayLike) -> str:
    """A flight (N, 2) from above: objects, the demonstration with its circle of success, what was flown."""
    side, places = example.episode.arena_m, np.asarray(path, np.float64)
    margin = 0.25 if places.min() >= -0.2 and places.max() <= side + 0.2 else 1.15

    def at(x: float, y: float) -> tuple[float, float]:
        return round((x + margin) * _PX_PER_M), round((side + margin - y) * _PX_PER_M)

    def circle(kind: str, place: Sequence[float], radius: float) -> str:
        x, y = at(place[0], place[1])
        return svg.element("circle", class_=kind, cx=x, cy=y, r=radius)

    edge, wide = margin * _PX_PER_M, side * _PX_PER_M
    parts = [svg.element("rect", class_="arena", x=edge, y=edge, width=wide, height=wide)]
    parts.append(circle("goal", example.path[-1], SUCCESS_RADIUS_M * _PX_PER_M))
    for item in example.objects:
        x, y = at(item.x, item.y)
        parts.append(circle("thing", (item.x, item.y), 11))
        parts.append(svg.text(x, y - 18, item.name, "middle"))
    parts.append(svg.polyline([at(*place) for place in (*example.path[::3], example.path[-1])], class_="shown"))
    parts.append(svg.polyline([at(*place) for place in places], class_="flown"))
    parts += [circle("start", places[0], 9), circle("ended", places[-1], 12)]
    size = (side + 2 * margin) * _PX_PER_M
    return svg.image(f"Map of {example.id}", "dashed: demonstration; solid: flown", size, size, parts, class_="map")


def _percent_grid(axis: str) -> list[str]:
    """Lines from 0 to 100 per cent, and what the other axis is."""
    parts = []
    for percent in (0, 25, 50, 75, 100):
        y = _y(percent / 100)
        parts.append(svg.line(_LEFT, y, _RIGHT, y, class_="grid"))
        parts.append(svg.text(_LEFT - 8, y + 5, f"{percent} %", "end", class_="quiet"))
    return [*parts, svg.text(WIDTH / 2, _BOTTOM + 44, axis, "middle", class_="quiet")]


def _y(rate: float) -> float:
    return _BOTTOM - rate * (_BOTTOM - _TOP)


def _colour(number: int) -> str:
    return f"s{number % _COLOURS}"
