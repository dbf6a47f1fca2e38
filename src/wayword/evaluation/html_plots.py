"""The plots of the HTML report as SVG written by hand: they follow the page's light or dark colours and print sharply.

Every figure carries its 95 % interval, and a title and description for those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from wayword.episodes import Example
from wayword.episodes.format import SUCCESS_RADIUS_M
from wayword.evaluation.intervals import Interval, wilson
from wayword.evaluation.track import Track

WIDTH, LEFT, RIGHT = 620, 160, 160
MOST_BINS, LEAST_IN_BIN = 6, 8
_PX_PER_M = 100


class Bin(NamedTuple):
    """Instructions of ``low`` to ``high`` words."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}" if self.low == self.high else f"{self.low}-{self.high}"


def dot_plot(title: str, rows: Sequence[tuple[str, int, Interval, str]], low: float, high: float, unit: str) -> str:
    """One line per row (label, colour, interval, its words): a dot at the mean, a bar from low to high."""
    height = 34 + 26 * len(rows)

    def x(value: float) -> float:
        return LEFT + (min(max(value, low), high) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    parts = []
    for value in np.linspace(low, high, 5):
        parts.append(f'<path class="grid" d="M{x(value):.1f} 4V{height - 24}"/>')
        parts.append(_text(x(value), height - 8, f"{value:g}{unit}", "middle", "quiet"))
    for i, (label, color, interval, words) in enumerate(rows):
        y = 17 + 26 * i
        parts.append(_text(LEFT - 12, y + 5, label, "end"))
        parts.append(_whisker(x(interval.low), x(interval.high), y, color))
        parts.append(f'<circle class="s{color % 8}" cx="{x(interval.mean):.1f}" cy="{y}" r="5"/>')
        parts.append(_text(WIDTH - RIGHT + 12, y + 5, words, "start", "quiet"))
    said = "; ".join(f"{label} {words}" for label, _, _, words in rows)
    return _svg(title, said, WIDTH, height, parts)


def length_bins(lengths: Sequence[int]) -> list[Bin]:
    """Lengths in bins of about as many instructions each; equal lengths stay together."""
    ordered = sorted(lengths)
    count = max(1, min(MOST_BINS, len(ordered) // LEAST_IN_BIN))
    edges = sorted({ordered[len(ordered) * i // count] for i in range(count)})
    ends = [*(edge - 1 for edge in edges[1:]), ordered[-1]]
    return [Bin(low, high) for low, high in zip(edges, ends, strict=True)]


def success_by_length(flown: Mapping[str, Sequence[tuple[int, bool]]]) -> dict[str, dict[Bin, Interval]]:
    """Success with Wilson intervals by the number of words, for each system's (words, success) pairs."""
    bins = length_bins([words for pairs in flown.values() for words, _ in pairs])
    result: dict[str, dict[Bin, Interval]] = {}
    for system, pairs in flown.items():
        own = {each: [success for words, success in pairs if each.low <= words <= each.high] for each in bins}
        result[system] = {each: wilson(sum(values), len(values)) for each, values in own.items() if values}
    return result


def length_plot(rates: Mapping[str, Mapping[Bin, Interval]]) -> str:
    """Success against the length of the instruction."""
    bins = sorted({each for own in rates.values() for each in own})
    height, top, bottom = 280, 14, 230
    step = (WIDTH - 90) / len(bins)

    def y(rate: float) -> float:
        return bottom - rate * (bottom - top)

    parts = []
    for percent in (0, 25, 50, 75, 100):
        parts.append(f'<path class="grid" d="M60 {y(percent / 100):.1f}H{WIDTH - 20}"/>')
        parts.append(_text(52, y(percent / 100) + 5, f"{percent} %", "end", "quiet"))
    for i, each in enumerate(bins):
        parts.append(_text(70 + step * (i + 0.5), bottom + 22, str(each), "middle", "quiet"))
    parts.append(_text(WIDTH / 2, bottom + 44, "words in the instruction", "middle", "quiet"))
    said = []
    for color, (system, own) in enumerate(rates.items()):
        shift = min(14, 0.8 * step / len(rates)) * (color - (len(rates) - 1) / 2)  # systems beside each other
        points = [(70 + step * (bins.index(each) + 0.5) + shift, interval) for each, interval in own.items()]
        line = " ".join(f"{x:.1f},{y(interval.mean):.1f}" for x, interval in points)
        parts.append(f'<polyline class="line s{color % 8}" points="{line}"/>')
        for x, interval in points:
            high, low = y(interval.high), y(interval.low)
            parts.append(f'<path class="bar s{color % 8}" d="M{x:.1f} {high:.1f}V{low:.1f}"/>')
            parts.append(f'<circle class="s{color % 8}" cx="{x:.1f}" cy="{y(interval.mean):.1f}" r="5"/>')
        said.append(f"{system}: " + ", ".join(f"{each} words {100 * v.mean:.0f} %" for each, v in own.items()))
    return _svg("Success against the length of the instruction", "; ".join(said), WIDTH, height, parts)


def distance_plot(errors: Mapping[str, Sequence[float]], most_m: float = 3.0) -> str:
    """The share of flights that end within a distance of the demonstration's end, with its Wilson band."""
    height, top, bottom, places = 280, 14, 230, np.linspace(0, most_m, 61)

    def at(metres: float, rate: float) -> str:
        return f"{60 + metres / most_m * (WIDTH - 80):.1f},{bottom - rate * (bottom - top):.1f}"

    parts = []
    for percent in (0, 25, 50, 75, 100):
        parts.append(f'<path class="grid" d="M{at(0, percent / 100)}L{at(most_m, percent / 100)}"/>')
        parts.append(_text(52, bottom - percent / 100 * (bottom - top) + 5, f"{percent} %", "end", "quiet"))
    for metres in np.arange(0, most_m + 0.1, 0.5):
        parts.append(_text(float(at(metres, 0).split(",")[0]), bottom + 22, f"{metres:g}", "middle", "quiet"))
    parts.append(_text(WIDTH / 2, bottom + 44, "metres from the demonstration's end", "middle", "quiet"))
    parts.append(f'<path class="mark" d="M{at(SUCCESS_RADIUS_M, 0)}L{at(SUCCESS_RADIUS_M, 1)}"/>')
    said = []
    for color, (system, values) in enumerate(errors.items()):
        shares = [wilson(int(np.sum(np.asarray(values) < place)), len(values)) for place in places]
        band = [at(p, s.low) for p, s in zip(places, shares, strict=True)]
        band += [at(p, s.high) for p, s in zip(places[::-1], shares[::-1], strict=True)]
        line = [at(p, s.mean) for p, s in zip(places, shares, strict=True)]
        parts.append(f'<polygon class="band s{color % 8}" points="{" ".join(band)}"/>')
        parts.append(f'<polyline class="line s{color % 8}" points="{" ".join(line)}"/>')
        said.append(f"{system}: median {np.median(values):.2f} m")
    return _svg("Where flights end", "; ".join(said), WIDTH, height, parts)


def flight_map(example: Example, track: Track) -> str:
    """One flight from above: objects, the demonstration with its circle of success, what was flown."""
    side, places = example.episode.arena_m, track[:, :2]
    margin = 0.25 if places.min() >= -0.2 and places.max() <= side + 0.2 else 1.15

    def at(x: float, y: float) -> tuple[float, float]:
        return (x + margin) * _PX_PER_M, (side + margin - y) * _PX_PER_M

    def points(path: Sequence[Sequence[float]]) -> str:
        return " ".join("{:.0f},{:.0f}".format(*at(x, y)) for x, y in path)

    def circle(kind: str, place: Sequence[float], radius: float) -> str:
        x, y = at(place[0], place[1])
        return f'<circle class="{kind}" cx="{x:.0f}" cy="{y:.0f}" r="{radius:.0f}"/>'

    edge = margin * _PX_PER_M
    parts = [f'<rect class="arena" x="{edge:.0f}" y="{edge:.0f}" width="{side * 100:.0f}" height="{side * 100:.0f}"/>']
    parts.append(circle("goal", example.path[-1], SUCCESS_RADIUS_M * _PX_PER_M))
    for item in example.objects:
        x, y = at(item.x, item.y)
        parts.append(circle("thing", (item.x, item.y), 11))
        parts.append(_text(x, y - 18, item.name, "middle"))
    parts.append(
        f'<polyline class="shown" points="{points(example.path[::3].tolist() + example.path[-1:].tolist())}"/>'
    )
    parts.append(f'<polyline class="flown" points="{points(places.tolist())}"/>')
    parts += [circle("start", places[0], 9), circle("ended", places[-1], 12)]
    size = round((side + 2 * margin) * _PX_PER_M)
    return _svg(f"Map of {example.id}", "dashed: demonstration; solid: flown", size, size, parts, "map")


def _svg(title: str, said: str, width: int, height: int, parts: Sequence[str], kind: str = "plot") -> str:
    return (
        f'<svg class="{kind}" role="img" viewBox="0 0 {width} {height}"><title>{escape(title)}</title>'
        f"<desc>{escape(said)}</desc>{''.join(parts)}</svg>"
    )


def _whisker(low: float, high: float, y: float, color: int) -> str:
    return f'<path class="bar s{color % 8}" d="M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 5}v10M{high:.1f} {y - 5}v10"/>'


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}>{escape(text)}</text>'
