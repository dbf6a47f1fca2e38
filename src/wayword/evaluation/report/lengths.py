"""Success by the length of the instruction, in bins of about as many instructions each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wayword.intervals import Interval, wilson

MOST_BINS, LEAST_IN_BIN = 6, 8


class LengthBin(NamedTuple):
    """Instructions of ``low`` to ``high`` words."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}" if self.low == self.high else f"{self.low}-{self.high}"


def length_bins(lengths: Sequence[int]) -> list[LengthBin]:
    """Bins of about as many lengths each; equal lengths stay together."""
    ordered = sorted(lengths)
    count = max(1, min(MOST_BINS, len(ordered) // LEAST_IN_BIN))
    edges = sorted({ordered[len(ordered) * i // count] for i in range(count)})
    ends = [*(edge - 1 for edge in edges[1:]), ordered[-1]]
    return [LengthBin(low, high) for low, high in zip(edges, ends, strict=True)]


def success_by_length(flights: Mapping[str, Sequence[tuple[int, bool]]]) -> dict[str, dict[LengthBin, Interval]]:
    """Success with Wilson intervals by the number of words, for each system's (words, success) pairs."""
    bins = length_bins([words for pairs in flights.values() for words, _ in pairs])
    result: dict[str, dict[LengthBin, Interval]] = {}
    for system, pairs in flights.items():
        own = {each: [success for words, success in pairs if each.low <= words <= each.high] for each in bins}
        result[system] = {each: wilson(sum(values), len(values)) for each, values in own.items() if values}
    return result
