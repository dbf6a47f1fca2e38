"""Two policies side by side: the same sentence, layout and seed at the same time, each in an arena of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from wayword.studio.kept_flight import StudioStep
from wayword.task import DECISION_S

NextLeg = Callable[[], StudioStep]


class Abreast:
    """Legs of the one with those of the other beside them; who is there first waits where it stands."""

    def __init__(self, first: NextLeg, second: NextLeg) -> None:
        self._next = first, second
        self._last: list[StudioStep | None] = [None, None]

    def next_leg(self) -> StudioStep:
        """The next half second of both."""
        leg, other = (self._advance(which) for which in (0, 1))
        return replace(leg, beside=other)

    def _advance(self, which: int) -> StudioStep:
        last = self._last[which]
        if last is None or last.verdict is None:
            leg = self._next[which]()
        else:  # it has stopped and stands still
            leg = replace(last, number=last.number + 1, time_s=last.time_s + DECISION_S, poses=last.poses[-1:])
        self._last[which] = leg
        return leg
