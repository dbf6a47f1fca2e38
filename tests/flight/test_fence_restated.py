"""Distances to a fence and ways inside it, measured again with a ruler and small steps."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from wayword.errors import WaywordError
from wayword.flight.fence import MAX_CORNERS, Fence


def star(seed: int, spikes: int = 7) -> Fence:
    """A hollow polygon around (3, 2), corners counter-clockwise or clockwise."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * math.pi / spikes, spikes) * 0.8 + np.arange(spikes) * 2 * math.pi / spikes)
    reach = rng.uniform(1.2, 3.0, spikes)
    corners = [(3 + r * math.cos(a), 2 + r * math.sin(a)) for a, r in zip(angles, reach, strict=True)]
    return Fence(tuple(corners if seed % 2 else corners[::-1]))


def ruler(fence: Fence, x: float, y: float) -> tuple[float, tuple[float, float]]:
    """Distance, negative outside, and the nearest place of the fence; inside is what the fence winds around."""
    at, corners = complex(x, y), [complex(*corner) for corner in fence.corners]
    nearest, turned = (math.inf, 0j), 0.0
    for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
        along = (at - a) / (b - a)
        foot = a + (b - a) * min(max(along.real, 0.0), 1.0)
        nearest = min(nearest, (abs(at - foot), foot), key=lambda pair: pair[0])
        turned += cmath.phase((b - at) / (a - at))
    sign = 1 if abs(turned) > math.pi else -1
    return sign * nearest[0], (nearest[1].real, nearest[1].imag)


@pytest.mark.parametrize("seed", range(6))
def test_distances_and_directions_are_those_of_a_ruler(seed: int) -> None:
    fence, rng = star(seed), np.random.default_rng(seed)
    inside = 0
    for x, y in rng.uniform((-0.5, -1.5), (6.5, 5.5), (120, 2)).tolist():
        away, (u, v) = ruler(fence, x, y)
        assert fence.distance(x, y) == pytest.approx(away)
        inside += away > 0
        # Straight from the nearest place, unless another one is as near.
        way = (x - u, y - v) if away > 0 else (u - x, v - y)
        near = [ruler(fence, x + 0.02 * math.cos(a), y + 0.02 * math.sin(a))[1] for a in np.arange(0, 6.3, 0.5)]
        if abs(away) > 0.05 and all(math.dist(other, (u, v)) < 0.021 for other in near):
            assert fence.inwards(x, y) == pytest.approx((way[0] / abs(away), way[1] / abs(away)), abs=0.06)
    assert 20 < inside < 100


@pytest.mark.parametrize("seed", range(6))
def test_ways_end_where_the_margin_is_reached_first(seed: int) -> None:
    """In steps of 2 mm. From inside the margin: no nearer to an edge than it began, only if it leads in."""
    fence, rng = star(seed), np.random.default_rng(seed + 50)
    kinds = set()
    for number in range(60):
        x, y = rng.uniform((0.5, -0.5), (5.5, 4.5))
        dx, dy = rng.normal(0, 1.2, 2)
        if number % 3 == 0:  # in from just inside the fence
            corner = np.array(fence.corners[number % 7])
            x, y = corner + (np.array([3.0, 2.0]) - corner) * rng.uniform(0.1, 0.2)
            dx, dy = (np.array([3.0, 2.0]) - (x, y)) * rng.uniform(0.2, 1.0) + rng.normal(0, 0.05, 2)
        margin, here, length = 0.3, ruler(fence, x, y)[0], math.hypot(dx, dy)
        share = fence.reach(x, y, dx, dy, margin)
        if here < margin:
            inner = ruler(fence, x + 0.02 * dx / length, y + 0.02 * dy / length)[0]
            if abs(inner - here - 0.005) < 1e-4 or abs(here) < 1e-3:
                continue
            if here < 0 or inner < here + 0.005:
                assert share == 0.0
                kinds.add("none")
                continue
            margin = max(here - 0.002, 0.0)
            kinds.add("in again")
        gone = 0.0
        while gone < length and ruler(fence, x + dx * gone / length, y + dy * gone / length)[0] >= margin:
            gone += 0.002
        end = ruler(fence, x + dx * share, y + dy * share)[0]
        assert end >= margin - 0.004
        # It stops up to a few millimetres before: where the edge is met at a slant, that is more along the way.
        if gone < length:
            stop = min(gone, length)
            before = max(ruler(fence, x + dx * s, y + dy * s)[0] for s in np.linspace(share, stop / length, 5))
            assert share * length <= stop + 0.004
            assert before <= margin + 0.03 or share * length >= stop - 0.06
            kinds.add("part")
        else:
            assert share == 1.0
            kinds.add("whole")
    assert kinds == {"none", "part", "whole", "in again"}


def test_reach_straight_at_an_edge() -> None:
    box = Fence(((0, 0), (4, 0), (4, 3), (0, 3)))
    for x, y, dx, dy, room in ((1, 1, 5, 0, 2.7), (1, 1, -5, 0, 0.7), (1, 1, 0, 5, 1.7), (1, 1, 0, -5, 0.7)):
        assert box.reach(x, y, dx, dy, 0.3) == pytest.approx(room / 5, abs=0.001)
        assert box.reach(x, y, dx * room / 5.01, dy * room / 5.01, 0.3) == 1.0
    assert box.reach(1, 1, 0, 0, 1.0) == 1.0
    assert box.reach(1, 1, 0, 0, 1.01) == 0.0
    assert box.reach(-0.1, 1, 1, 0, 0.3) == 0.0  # outside nothing is free, not even the way in


def test_fences_at_both_sides_of_their_bounds() -> None:
    for side, good in ((math.sqrt(0.51), True), (math.sqrt(0.49), False)):  # half a square metre
        for corners in (((0, 0), (side, 0), (side, side), (0, side)), ((0, 0), (0, side), (side, side), (side, 0))):
            if good:
                assert Fence(corners).corners == corners
            else:
                with pytest.raises(WaywordError, match="half a square metre"):
                    Fence(corners)
    assert MAX_CORNERS == 200
    for count, good in ((200, True), (201, False)):
        ring = tuple(
            (3 * math.cos(2 * math.pi * k / count), 3 * math.sin(2 * math.pi * k / count)) for k in range(count)
        )
        if good:
            assert len(Fence(ring).edges) == 200
        else:
            with pytest.raises(WaywordError, match="201 corners; at most 200"):
                Fence(ring)
    for low in (0.0, 0.3):
        assert Fence(low_m=low).low_m == low


# The third edge of the one crosses its first; of the other, the fourth crosses the second.
CROSSED = [((0, 0), (4, 0), (4, 3), (1, -1)), ((0, 0), (4, 0), (4, 4), (2, 5), (5, 2))]


@pytest.mark.parametrize("corners", CROSSED)
@pytest.mark.parametrize("begin", range(5))
def test_a_fence_that_crosses_itself_is_none_wherever_it_begins(
    corners: tuple[tuple[int, int], ...], begin: int
) -> None:
    with pytest.raises(WaywordError, match="crosses itself"):
        Fence(corners[begin:] + corners[:begin])


def test_the_usual_fence_is_a_metre_around_the_map() -> None:
    usual = Fence()
    assert usual.corners == ((-1.0, -1.0), (5.7, -1.0), (5.7, 5.7), (-1.0, 5.7))
    assert (usual.low_m, usual.high_m) == (0.3, 1.5)
    assert usual.edges[0] == ((-1.0, -1.0), (5.7, -1.0))
    assert usual.edges[-1] == ((-1.0, 5.7), (-1.0, -1.0))
