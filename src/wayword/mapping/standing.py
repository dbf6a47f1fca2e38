"""What stands there: the footprints of every frame as one disc per thing, to keep clear of.

    footprint   x, y, radius, quality     of one box in one frame (``wayword.mapping.footprint``)
    weight      P(b) quality^4 / sigma^2  how much it says about a place; sigma = 0.06 m + 0.015 r^2 from r metres away
    place       weighted mean             of all footprints of a thing
    evidence    sum of P(b) quality^2     at most ``SURE``; less ``DOUBT`` for every look that shows the place empty

The foot of what is very near is below the image, so that its footprint lies beyond it. Such a look is one at a thing
that is known to stand on the way to it; if there is none, something stands between half a metre ahead and there: a disc
at both ends, until it is seen better or, for seconds, not at all. That it is there is as sure as its box: there is no
time for a second look.

The policy's own map keeps the largest value that any frame ever gave a cell (as the paper's does), so a thing that was
seen badly once stands there twice, and every thing is as wide as all its errors together: too wide to fly between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from wayword.mapping.grid import CELL_M, world_centres

Disc = tuple[float, float, float]
"""x, y, radius in metres of something that stands there."""
SIDE_RAD = 0.7
"""Just inside half of the 84 degrees of the paper's camera."""
STANDS = 0.5
"""Something stands where the evidence, or a cell of the all-object map, is above this."""
SURE, DOUBT = 2.0, 0.4
SAME_M = 0.45
"""Two footprints whose middles are this near are of one thing."""
_LEAST = 0.2
"""A box that says less than this about any place is no look at a thing."""
_SIGMA_M, _SIGMA_PER_M = 0.06, 0.015
_NARROW_M = 0.02
"""Footprints are narrower than what they belong to by this much (the median on flights)."""
_NARROWEST_M = 0.12
"""What seems narrower was mostly seen in part, behind something or at the border of the image."""
_PLAIN_M, _BORDER_RAD = (0.95, 2.5), 0.12
"""From here to there, and this far inside the image, a thing that stands there cannot be overlooked."""
_CUT_M, _CUT = 0.95, 0.9
"""A footprint nearer than this, of less quality, is of something whose foot is not in the image."""
_DEPTH, _USUAL_M = 0.92, 0.15
"""Its middle lies behind its front by up to this times its radius; what is more than usual is no distance."""
_HALF_WAY_M, _UNSURE_M, _WIDEST_M, _UNSURE = 0.5, 0.10, 0.2, 0.01
"""Where such a thing is put at the nearest, how much wider it may be than it looks (this wide at most), and what that
place weighs."""
_AHEAD_RAD, _BEYOND_M, _CUT_SIGMA_M = 0.6, 0.25, 0.12
"""It may be a known thing that is no further beside the look, and no further beyond it, than this; how well it places
that thing."""
_FORGET = 0.1
"""What a thing that was only ever seen so loses with every image that does not show it."""
_EDGE = 0.25
"""Beside a cell that holds something, one above this holds its edge."""
_AROUND_M = CELL_M / math.sqrt(2)
"""Radius of the circle around a cell."""


@dataclass(frozen=True)
class StandingThing:
    """One thing, by all that was seen of it."""

    x: float
    y: float
    radius: float
    weight: float
    evidence: float
    far: tuple[float, float] | None = None
    """Of a thing whose foot was never in the image: the other end of where it may stand."""

    @property
    def width(self) -> float:
        """Its radius, but not narrower than things are."""
        return max(self.radius, _NARROWEST_M)

    def may_be(self, known: StandingThing) -> bool:
        """Whether this, seen without its foot, is a known thing: one between both ends of where it may stand."""
        if self.far is None or known.far is not None:
            return False
        along_x, along_y = self.far[0] - self.x, self.far[1] - self.y
        share = ((known.x - self.x) * along_x + (known.y - self.y) * along_y) / max(along_x**2 + along_y**2, 1e-9)
        share = min(max(share, 0.0), 1.0)
        away = math.hypot(self.x + share * along_x - known.x, self.y + share * along_y - known.y)
        return away < known.radius + self.radius / 2

    def and_look(self, other: StandingThing) -> StandingThing:
        """The same thing with what another look says."""
        share = other.weight / (self.weight + other.weight)
        return StandingThing(
            self.x + share * (other.x - self.x),
            self.y + share * (other.y - self.y),
            self.radius + share * (other.radius - self.radius),
            self.weight + other.weight,
            min(self.evidence + other.evidence, SURE),
            self.far if other.far is not None else None,
        )


class Standing:
    """The things of one flight, frame by frame."""

    def __init__(self, side_rad: float = SIDE_RAD) -> None:
        self.side_rad = side_rad
        self.things: list[StandingThing] = []

    def look(self, footprints: ArrayLike, p_box: ArrayLike, pose: Sequence[float]) -> tuple[Disc, ...]:
        """Add one frame, taken from ``pose`` (6,): footprints (K, 4) and P(b) (K,). What stands there now."""
        x, y, yaw = pose[0], pose[1], pose[5]
        in_frame = set[int]()
        prints = np.asarray(footprints, np.float64).reshape(-1, 4).tolist()
        for (fx, fy, radius, quality), p in zip(prints, np.asarray(p_box, np.float64).tolist(), strict=True):
            if not p * quality >= _LEAST or not math.isfinite(fx + fy + radius):
                continue
            away, evidence = math.hypot(fx - x, fy - y), p * quality**2
            if away - max(_DEPTH * radius - _USUAL_M, 0.0) < _CUT_M and quality < _CUT:
                self._add_cut(in_frame, (x, y), math.atan2(fy - y, fx - x), away, radius, p, quality)
                continue
            sigma = _SIGMA_M + _SIGMA_PER_M * away**2
            self._add(in_frame, StandingThing(fx, fy, radius + _NARROW_M, p * quality**4 / sigma**2, evidence))
        self._doubt(in_frame, x, y, yaw)
        self._join()
        return self.discs()

    def discs(self) -> tuple[Disc, ...]:
        """Whatever is likely enough to stand there."""
        discs = [(t.x, t.y, t.width + (_UNSURE_M if t.far is not None else 0.0)) for t in self.likely]
        return tuple(discs + [(*t.far, t.width) for t in self.likely if t.far is not None])

    @property
    def likely(self) -> list[StandingThing]:
        """Those of which that is so."""
        return [thing for thing in self.things if thing.evidence > STANDS]

    def _add(self, in_frame: set[int], look: StandingThing) -> None:
        near = [(math.hypot(t.x - look.x, t.y - look.y), k) for k, t in enumerate(self.things)]
        away, k = min(near, default=(math.inf, 0))
        if away < SAME_M:
            self.things[k] = self.things[k].and_look(look)
        else:
            k = len(self.things)
            self.things.append(look)
        in_frame.add(k)

    def _add_cut(
        self,
        in_frame: set[int],
        here: tuple[float, float],
        bearing: float,
        away: float,
        radius: float,
        p: float,
        quality: float,
    ) -> None:
        """A look at something whose foot is below the image, at most ``away`` in this direction."""
        x, y = here
        for k, thing in enumerate(self.things):
            nearer = math.hypot(thing.x - x, thing.y - y)
            beside = abs(math.remainder(math.atan2(thing.y - y, thing.x - x) - bearing, 2 * math.pi))
            if beside > _AHEAD_RAD and nearer > thing.radius:  # not in this direction at all
                continue
            across = nearer * math.sin(min(beside, math.pi / 2))
            if nearer < away + _BEYOND_M and across < thing.radius + radius / 2:
                sure = replace(thing, evidence=min(thing.evidence + p, SURE))
                if thing.far is None:
                    along = min(nearer, away)
                    look = StandingThing(
                        x + along * math.cos(bearing), y + along * math.sin(bearing), thing.radius,
                        p * quality / _CUT_SIGMA_M**2, 0.0,
                    )  # fmt: skip
                    sure = sure.and_look(look)
                self.things[k] = sure
                in_frame.add(k)
                return
        half = min(_HALF_WAY_M, away)
        place = x + half * math.cos(bearing), y + half * math.sin(bearing)
        beyond = x + away * math.cos(bearing), y + away * math.sin(bearing)
        self._add(in_frame, StandingThing(*place, min(radius, _WIDEST_M), _UNSURE, p, beyond))

    def _doubt(self, in_frame: set[int], x: float, y: float, yaw: float) -> None:
        """What is in plain view and was not seen is less likely to be there."""
        likely = []
        for k, thing in enumerate(self.things):
            if k not in in_frame and self._plain(thing, x, y, yaw):
                thing = replace(thing, evidence=thing.evidence - DOUBT)
            elif k not in in_frame and thing.far is not None:
                thing = replace(thing, evidence=thing.evidence - _FORGET)
            if thing.evidence > 0:
                likely.append(thing)
        self.things = likely

    def _plain(self, thing: StandingThing, x: float, y: float, yaw: float) -> bool:
        away, bearing = math.hypot(thing.x - x, thing.y - y), math.atan2(thing.y - y, thing.x - x)
        if not _PLAIN_M[0] <= away <= _PLAIN_M[1]:
            return False
        if abs(math.remainder(bearing - yaw, 2 * math.pi)) > self.side_rad - _BORDER_RAD:
            return False
        for other in self.things:  # hidden behind something
            nearer = math.hypot(other.x - x, other.y - y)
            if other is not thing and nearer < away:
                beside = abs(math.remainder(math.atan2(other.y - y, other.x - x) - bearing, 2 * math.pi))
                if nearer * math.sin(min(beside, math.pi / 2)) < other.radius + thing.radius:
                    return False
        return True

    def _join(self) -> None:
        """Two things in one place are one; so is something of unknown distance with a known thing on its way."""
        for i in range(len(self.things) - 1, 0, -1):
            for j in range(i):
                a, b = self.things[j], self.things[i]
                if math.hypot(a.x - b.x, a.y - b.y) < SAME_M / 2 or a.may_be(b) or b.may_be(a):
                    self.things[j] = a.and_look(b)
                    del self.things[i]
                    break


def side_of(hfov_deg: float) -> float:
    """Half of a field of view, down to a twentieth of a radian: just inside of what is seen. 0.7 of 84 degrees."""
    return math.floor(20 * math.radians(hfov_deg) / 2) / 20


def standing(all_objects: NDArray[np.float32]) -> tuple[Disc, ...]:
    """An all-object map as discs, one around each cell in which something stands or into which it reaches.

    For a policy that has a map but no footprints. A cell is at half its value where an object ends at its centre.
    """
    core = all_objects > STANDS
    reached = ndimage.binary_dilation(core, np.ones((3, 3))) & (all_objects > _EDGE)
    return tuple((float(x), float(y), _AROUND_M) for x, y in world_centres()[core | reached])
