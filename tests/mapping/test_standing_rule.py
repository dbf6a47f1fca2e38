"""What stands there, against the same rules said plainly and slowly: every look of a flight, thing by thing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.mapping.grid import CELL_M
from wayword.mapping.standing import Standing, StandingThing, side_of, standing


def off(one: float, other: float) -> float:
    """Radians between two directions."""
    return abs(math.remainder(one - other, 2 * math.pi))


class Plain:
    """Things as lists x, y, radius, weight, evidence, far end or None; numbers as in docs and docstrings."""

    def __init__(self, side: float) -> None:
        self.side = side
        self.things: list[list] = []

    def look(self, prints: Sequence[Sequence[float]], p_box: Sequence[float], pose: Sequence[float]) -> list[tuple]:
        x, y, yaw = pose[0], pose[1], pose[5]
        seen: set[int] = set()
        for (fx, fy, radius, quality), p in zip(prints, p_box, strict=True):
            if math.isnan(fx) or p * quality < 0.2:
                continue
            away, bearing = math.hypot(fx - x, fy - y), math.atan2(fy - y, fx - x)
            front = away - max(0.92 * radius - 0.15, 0.0)
            if front < 0.95 and quality < 0.9:
                self.without_foot(seen, x, y, bearing, away, radius, p, quality)
            else:
                sigma = 0.06 + 0.015 * away**2
                self.add(seen, [fx, fy, radius + 0.02, p * quality**4 / sigma**2, p * quality**2, None])
        self.doubt(seen, x, y, yaw)
        self.join()
        sure = [t for t in self.things if t[4] > 0.5]
        ends = [(t[0], t[1], max(t[2], 0.12) + (0.1 if t[5] else 0.0)) for t in sure]
        return ends + [(*t[5], max(t[2], 0.12)) for t in sure if t[5]]

    @staticmethod
    def both(thing: list, other: list) -> list:
        total = thing[3] + other[3]
        mean = [(thing[3] * thing[k] + other[3] * other[k]) / total for k in range(3)]
        return [*mean, total, min(thing[4] + other[4], 2.0), thing[5] if other[5] else None]

    def add(self, seen: set[int], look: list) -> None:
        gaps = [math.hypot(t[0] - look[0], t[1] - look[1]) for t in self.things]
        if gaps and min(gaps) < 0.45:
            k = gaps.index(min(gaps))
            self.things[k] = self.both(self.things[k], look)
        else:
            k = len(self.things)
            self.things.append(look)
        seen.add(k)

    def without_foot(self, seen, x, y, bearing, away, radius, p, quality) -> None:
        for k, t in enumerate(self.things):
            gap, aside = math.hypot(t[0] - x, t[1] - y), off(math.atan2(t[1] - y, t[0] - x), bearing)
            if aside > 0.6 and gap > t[2]:
                continue
            across = gap if aside > math.pi / 2 else gap * math.sin(aside)
            if gap >= away + 0.25 or across >= t[2] + radius / 2:
                continue
            seen.add(k)
            t[4] = min(t[4] + p, 2.0)
            if t[5] is None:
                reach = min(gap, away)
                place = [x + reach * math.cos(bearing), y + reach * math.sin(bearing)]
                self.things[k] = self.both(t, [*place, t[2], p * quality / 0.12**2, 0.0, None])
            return
        near, c, s = min(0.5, away), math.cos(bearing), math.sin(bearing)
        far = (x + away * c, y + away * s)
        self.add(seen, [x + near * c, y + near * s, min(radius, 0.2), 0.01, p, far])

    def doubt(self, seen: set[int], x: float, y: float, yaw: float) -> None:
        # A thing is judged by those as they stood in the frame: none is dropped before all were judged.
        plain = [self.in_plain_view(k, x, y, yaw) for k in range(len(self.things))]
        for k, t in enumerate(self.things):
            if k not in seen and plain[k]:
                t[4] -= 0.4
            elif k not in seen and t[5]:
                t[4] -= 0.1
        self.things = [t for t in self.things if t[4] > 0]

    def in_plain_view(self, k: int, x: float, y: float, yaw: float) -> bool:
        t = self.things[k]
        away, bearing = math.hypot(t[0] - x, t[1] - y), math.atan2(t[1] - y, t[0] - x)
        if away < 0.95 or away > 2.5 or off(bearing, yaw) > self.side - 0.12:
            return False
        for j, other in enumerate(self.things):
            gap, aside = math.hypot(other[0] - x, other[1] - y), off(math.atan2(other[1] - y, other[0] - x), bearing)
            across = gap if aside > math.pi / 2 else gap * math.sin(aside)
            if j != k and gap < away and across < other[2] + t[2]:
                return False
        return True

    def may_be(self, unknown: list, known: list) -> bool:
        if not unknown[5] or known[5]:
            return False
        a, b, p = (np.array(q) for q in (unknown[:2], unknown[5], known[:2]))
        nearest = min((math.dist(a + s * (b - a), p) for s in self.shares(a, b, p)), default=math.inf)
        return nearest < known[2] + unknown[2] / 2

    @staticmethod
    def shares(a: np.ndarray, b: np.ndarray, p: np.ndarray) -> list[float]:
        """Where on the way from a to b the point nearest to p may be: at an end, or at its foot."""
        length = float((b - a) @ (b - a))
        foot = [] if length < 1e-9 else [float((p - a) @ (b - a)) / length]
        return [0.0, 1.0, *(s for s in foot if 0 <= s <= 1)]

    def join(self) -> None:
        i = len(self.things) - 1
        while i > 0:
            for j in range(i):
                a, b = self.things[j], self.things[i]
                if math.hypot(a[0] - b[0], a[1] - b[1]) < 0.225 or self.may_be(a, b) or self.may_be(b, a):
                    self.things[j] = self.both(a, b)
                    del self.things[i]
                    break
            i -= 1


def flight(seed: int) -> list[tuple[list, list, tuple]]:
    """Frames around a few things, near and far, on numbers round enough to fall on thresholds now and then."""
    rng = np.random.default_rng(seed)
    things = rng.uniform(0.3, 4.4, (int(rng.integers(1, 6)), 2))
    frames = []
    x, y, yaw = 0.0, 0.0, 0.0
    for _ in range(int(rng.integers(2, 9))):
        if rng.random() < 0.8:
            goal = things[rng.integers(len(things))]
            yaw = float(rng.uniform(-3.1, 3.1))
            away = float(rng.uniform(0.3, 2.7))
            x, y = float(goal[0] - away * math.cos(yaw)), float(goal[1] - away * math.sin(yaw))
            yaw += float(rng.uniform(-0.75, 0.75))
        prints, p_box = [], []
        for place in things:
            if rng.random() < 0.55:
                fx, fy = place + rng.normal(0, 0.12, 2)
                quality = float(rng.choice([0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]))
                prints.append([float(fx), float(fy), round(float(rng.uniform(0.02, 0.4)), 2), quality])
                p_box.append(float(rng.choice([0.2, 0.4, 0.5, 0.9, 1.0])))
        frames.append((prints, p_box, (x, y, 0.7, 0.0, 0.0, yaw)))
    return frames


@settings(max_examples=250, derandomize=True)
@given(st.integers(0, 10**9), st.sampled_from([0.7, 0.5]))
def test_a_flight_leaves_what_the_rules_say(seed: int, side: float) -> None:
    fast, plain = Standing(side), Plain(side)
    for prints, p_box, pose in flight(seed):
        found, wanted = fast.look(np.array(prints).reshape(-1, 4), p_box, pose), plain.look(prints, p_box, pose)
        assert len(found) == len(wanted)
        np.testing.assert_allclose(np.array(found), np.array(wanted).reshape(np.array(found).shape), atol=1e-9)
        for thing, other in zip(fast.things, plain.things, strict=True):
            assert (thing.weight, thing.evidence) == pytest.approx((other[3], other[4]))
            assert (thing.far is None) == (other[5] is None)


@settings(max_examples=300, derandomize=True)
@given(st.lists(st.floats(0, 2), min_size=6, max_size=6), st.floats(0.05, 0.3), st.floats(0.05, 0.3))
def test_a_thing_is_known_again_anywhere_between_both_ends(at: list[float], wide: float, cut: float) -> None:
    unknown = StandingThing(at[0], at[1], cut, 0.01, 0.9, (at[2], at[3]))
    known = StandingThing(at[4], at[5], wide, 50.0, 0.9)
    way = np.linspace(at[:2], at[2:4], 2001)
    nearest = float(np.hypot(*(way - at[4:]).T).min())
    if abs(nearest - wide - cut / 2) > 1e-3:
        assert unknown.may_be(known) == (nearest < wide + cut / 2)
    assert not known.may_be(unknown)
    assert not unknown.may_be(StandingThing(at[4], at[5], wide, 0.01, 0.9, (0.0, 0.0)))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_footprint_that_is_not_finite_is_no_look(bad: float, column: int) -> None:
    place = [2.5, 1.0, 0.15, 1.0]
    place[column] = bad
    things = Standing()
    assert things.look([place], [0.9], (1.0, 1.0, 0.7, 0.0, 0.0, 0.0)) == ()
    assert things.things == []


def test_the_usual_view_is_that_of_the_papers_camera() -> None:
    # Half of 84 degrees are 0.733 rad: 0.7. A thing 0.58 rad off the nose is in plain view, one 0.59 rad off is not.
    assert side_of(84.0) == 0.7
    assert (side_of(60.0), side_of(120.0), side_of(103.2)) == (0.5, 1.0, 0.9)
    for off_nose, left in ((0.575, 0), (0.585, 1), (-0.575, 0), (-0.585, 1)):
        things = Standing()
        things.look(
            [[1 + 1.5 * math.cos(off_nose), 1 + 1.5 * math.sin(off_nose), 0.15, 1.0]], [0.9], (1, 1, 1, 0, 0, 0)
        )
        assert len(things.look([], [], (1.0, 1.0, 0.7, 0.0, 0.0, 0.0))) == left


@pytest.mark.parametrize(("away", "left"), [(0.94, 1), (0.96, 0), (2.49, 0), (2.51, 1)])
def test_what_is_between_0_95_and_2_5_m_away_cannot_be_overlooked(away: float, left: int) -> None:
    things = Standing()
    things.look([[2.0, 1.0, 0.15, 1.0]], [0.9], (0.5, 1.0, 0.7, 0.0, 0.0, 0.0))
    assert len(things.look([], [], (2.0 - away, 1.0, 0.7, 0.0, 0.0, 0.0))) == left


@pytest.mark.parametrize(("apart", "number"), [(0.44, 1), (0.46, 2)])
def test_footprints_nearer_than_0_45_m_are_of_one_thing(apart: float, number: int) -> None:
    things = Standing()
    things.look([[2.5, 1.0, 0.15, 1.0]], [0.9], (1.0, 1.0, 0.7, 0.0, 0.0, 0.0))
    assert len(things.look([[2.5, 1.0 + apart, 0.15, 1.0]], [0.9], (1.0, 1.4, 0.7, 0.0, 0.0, -1.5))) == number


@pytest.mark.parametrize(("aside", "moved"), [(0.59, True), (0.61, False)])
def test_a_near_look_is_one_at_a_known_thing_up_to_0_6_rad_beside_it(aside: float, moved: bool) -> None:
    # Known half a metre away; one whose foot is cut off is seen right ahead. 0.5 sin 0.6 = 0.28 m is less than
    # 0.17 + 0.25 / 2: a look at it draws it to the line of sight. Beyond 0.6 rad it is none, and hardly weighs.
    y = 1 + 0.5 * math.sin(aside)
    things = Standing()
    things.look([[1 + 0.5 * math.cos(aside), y, 0.15, 1.0]], [0.9], (0.2, 0.5, 0.7, 0.0, 0.0, 0.5))
    things.look([[1.8, 1.0, 0.25, 0.7]], [0.9], (1.0, 1.0, 0.7, 0.0, 0.0, 0.0))
    assert (things.things[0].y < y - 0.02) == moved


def test_places_of_a_map_against_every_cell_looked_at_alone() -> None:
    rng = np.random.default_rng(5)
    world = rng.choice([0.0, 0.2, 0.25, 0.3, 0.5, 0.6], (32, 32), p=[0.5, 0.1, 0.1, 0.15, 0.1, 0.05]).astype(np.float32)
    wanted = []
    for i in range(32):
        for j in range(32):
            around = world[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
            if world[i, j] > 0.5 or (world[i, j] > 0.25 and around.max() > 0.5):
                wanted.append(((j + 0.5) * CELL_M, (i + 0.5) * CELL_M, CELL_M * math.sqrt(0.5)))
    np.testing.assert_allclose(sorted(standing(world)), sorted(wanted))
