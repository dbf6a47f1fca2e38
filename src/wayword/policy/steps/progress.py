"""Whether a drone gets on with what it flies, or is stuck: standing still, or coming no nearer.

In the arena nothing but a thing it would touch keeps a drone from where it wants to go, and there it stands. Under a
governor it slides, creeps and drifts before things that are wider than the flyer of steps takes them for, and a point
beside one of them is never reached: one governed command in twenty spent the rest of its time so.
"""

from __future__ import annotations

import math

STILL, NO_NEARER = 5, 12
"""Decisions without motion, or without coming nearer to the next point of a way, after which it is stuck."""
_TURNED_RAD, _MOVED_M, _NEARER_M = 0.02, 0.02, 0.05
"""What counts as motion, and as nearer."""
_LONGER_M, _WAYS = 0.4, 3
"""A way that is suddenly longer by this leads another way round: it is begun anew, so often at most."""


class Progress:
    """Of one phase, decision by decision."""

    def __init__(self) -> None:
        self._still = 0
        self.begin()

    def begin(self) -> None:
        """A point was reached, or another phase begins: the way is another one."""
        self._shortest_m = self._last_m = math.inf
        self._no_nearer, self._ways = 0, 1

    def moved(self, turned_rad: float, gone_m: float) -> None:
        """Since the last decision."""
        self._still = 0 if abs(turned_rad) > _TURNED_RAD or gone_m > _MOVED_M else self._still + 1

    def has_left(self, way_m: float) -> None:
        """So long is the way to the next point now; turning on the spot takes 6 decisions at most."""
        another = way_m > self._last_m + _LONGER_M and self._ways < _WAYS
        self._ways += another
        self._last_m = way_m
        if another or way_m < self._shortest_m - _NEARER_M:
            self._shortest_m, self._no_nearer = way_m, 0
        else:
            self._no_nearer += 1

    @property
    def stuck(self) -> bool:
        """Whether to leave this point out."""
        return self._still >= STILL or self._no_nearer >= NO_NEARER

    def give_up(self) -> None:
        """What it was stuck at is left out."""
        self._still = 0
        self.begin()
