"""What stands there: one disc per thing from footprints of every quality."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.mapping.grid import CELL_M
from wayword.mapping.standing import Standing, standing

HERE = (1.0, 1.0, 0.7, 0.0, 0.0, 0.0)
"""At (1, 1), looking along x."""


def test_looks_at_one_thing_are_averaged_by_how_much_they_say():
    things = Standing()
    ((x, y, radius),) = things.look([[2.5, 1.0, 0.15, 1.0]], [0.9], HERE)
    assert (x, y, radius) == pytest.approx((2.5, 1.0, 0.17))
    # The same look again, 0.2 m to the left: half way. A poor one, of half the quality, counts a sixteenth.
    ((_, y, _),) = things.look([[2.5, 1.2, 0.15, 1.0]], [0.9], HERE)
    assert y == pytest.approx(1.1, abs=0.001)
    ((_, y, _),) = things.look([[2.5, 1.4, 0.15, 0.5]], [0.9], HERE)
    assert 1.1 < y < 1.115
    # From nearer it says more: sigma is 0.075 m from 1 m and 0.12 m from 2 m.
    things = Standing()
    things.look([[3.0, 1.0, 0.15, 1.0]], [1.0], HERE)
    ((x, _, _),) = things.look([[3.1, 1.0, 0.15, 1.0]], [1.0], (2.1, 1.0, 0.7, 0.0, 0.0, 0.0))
    assert x == pytest.approx(3.0 + 0.1 * 0.075**-2 / (0.075**-2 + 0.12**-2))


def test_what_is_not_sure_does_not_stand_there_yet():
    things = Standing()
    assert things.look([[2.5, 1.0, 0.15, 0.7]], [0.9], HERE) == ()  # 0.9 * 0.7^2 = 0.44
    assert len(things.look([[2.5, 1.0, 0.15, 0.7]], [0.9], HERE)) == 1
    assert Standing().look([[2.5, 1.0, 0.15, 1.0], [np.nan, 1.0, 0.1, 1.0]], [0.1, 0.9], HERE) == ()
    assert Standing().look(np.zeros((0, 4)), np.zeros(0), HERE) == ()


def test_a_place_that_looks_empty_loses_what_stood_there():
    things = Standing()
    things.look([[2.5, 1.0, 0.15, 1.0]], [0.9], HERE)
    assert things.look(np.zeros((0, 4)), [], HERE) == ()  # 0.9 - 0.4 is not above 0.5
    # Not if it cannot be seen: behind, too near, at the border of the image, or hidden by something.
    for pose in ((1.0, 1.0, 0.7, 0.0, 0.0, 3.1), (1.7, 1.0, 0.7, 0.0, 0.0, 0.0), (1.0, 1.0, 0.7, 0.0, 0.0, 0.65)):
        things = Standing()
        things.look([[2.5, 1.0, 0.15, 1.0]], [0.9], HERE)
        assert len(things.look(np.zeros((0, 4)), [], pose)) == 1
    things = Standing()
    things.look([[3.2, 1.0, 0.15, 1.0]], [0.9], HERE)
    assert len(things.look([[2.2, 1.1, 0.15, 1.0]], [0.9], HERE)) == 2


def test_what_was_seen_for_long_and_is_taken_away_is_gone_as_soon():
    things = Standing()
    for _ in range(10):
        things.look([[2.5, 1.0, 0.15, 1.0]], [0.9], HERE)
    # However often it was seen, it is sure by 2.0; 0.4 less each time that leave 1.6, 1.2, 0.8, and 0.4: not above 0.5.
    assert [len(things.look(np.zeros((0, 4)), [], HERE)) for _ in range(4)] == [1, 1, 1, 0]


def test_the_foot_of_a_near_thing_is_below_the_image():
    near = [[1.75, 1.0, 0.15, 0.7]]  # 0.75 m ahead, its foot cut off: it may be anywhere up to there
    things = Standing()
    things.look([[1.9, 1.0, 0.15, 1.0]], [0.9], (0.5, 1.0, 0.7, 0.0, 0.0, 0.0))
    # It is known to stand at 1.9; now, 0.3 m before it, its footprint lies 0.75 m away. No second one behind it.
    ((x, _, _),) = things.look([[2.35, 1.0, 0.15, 0.6]], [0.9], (1.6, 1.0, 0.7, 0.0, 0.0, 0.0))
    assert x == pytest.approx(1.9)
    # Of one that was never seen well: from half a metre ahead, and wide, to where it seems to be.
    things = Standing()
    things.look(near, [0.9], HERE)
    first, last = things.look(near, [0.9], HERE)
    assert first == pytest.approx((1.5, 1.0, 0.25))
    assert last == pytest.approx((1.75, 1.0, 0.15))
    # A better look puts it where it is; no look at all, from where it cannot be seen, forgets it in time.
    ((x, _, radius),) = things.look([[1.8, 1.0, 0.12, 1.0]], [0.9], (0.7, 1.0, 0.7, 0.0, 0.0, 0.0))
    assert (x, radius) == pytest.approx((1.8, 0.14), abs=0.001)
    things = Standing()
    # There is no time for a second look: P(b) alone says whether it is there, its quality only where.
    assert len(things.look(near, [0.88], HERE)) == 2
    things.look(near, [0.88], HERE)
    away = (1.0, 1.0, 0.7, 0.0, 0.0, 3.0)
    # Twice 0.88 are 1.76; a tenth less each time, down to a half.
    assert [len(things.look(np.zeros((0, 4)), [], away)) for _ in range(14)] == [2] * 12 + [0, 0]


def test_looks_without_its_foot_do_not_add_up_to_a_place():
    things = Standing()
    # Half a metre away in two directions, 0.65 rad apart: 0.32 m from each other, so of one thing.
    things.look([[1.75, 1.0, 0.15, 0.7]], [0.9], HERE)
    turned = [[1 + 0.75 * np.cos(0.65), 1 + 0.75 * np.sin(0.65), 0.15, 0.7]]
    assert len(things.look(turned, [0.9], HERE)) == 2  # both ends of where it may stand
    # It is forgotten like any other: 1.8, a tenth less each time, is above a half for twelve images.
    away = (1.0, 1.0, 0.7, 0.0, 0.0, 3.0)
    assert [len(things.look(np.zeros((0, 4)), [], away)) for _ in range(14)] == [2] * 12 + [0, 0]


def test_something_near_is_the_known_thing_that_turns_up_on_its_way():
    # Between 1.5 and 1.85 m; a thing seen with its foot 0.15 m beyond that, within 0.17 + 0.15 / 2, is the same.
    near, back = [[1.85, 1.0, 0.15, 0.6]], (0.4, 1.0, 0.7, 0.0, 0.0, 0.0)
    things = Standing()
    for _ in range(2):
        assert len(things.look(near, [0.9], HERE)) == 2
    ((x, y, _),) = things.look([[2.0, 1.0, 0.15, 1.0]], [0.9], back)
    assert (x, y) == pytest.approx((2.0, 1.0), abs=0.001)
    # One 0.5 m beside its way, or 0.3 m beyond its end, is another.
    for other in ([1.85, 1.5, 0.15, 1.0], [2.15, 1.0, 0.15, 1.0]):
        things = Standing()
        for _ in range(2):
            things.look(near, [0.9], HERE)
        assert len(things.look([other], [0.9], back)) == 3


def test_something_wide_and_cut_is_near_although_its_middle_seems_far():
    # Its front is cut off at 1.05 - 0.92 * 0.33 = 0.75 m; a narrow one of this quality at 1.05 m stands there.
    wide = Standing().look([[2.05, 1.0, 0.33, 0.66]], [0.99], HERE)
    assert wide[0] == pytest.approx((1.5, 1.0, 0.3))
    assert wide[1] == pytest.approx((2.05, 1.0, 0.2))
    things = Standing()
    things.look([[2.05, 1.0, 0.1, 0.66]], [0.99], HERE)
    assert things.look([[2.05, 1.0, 0.1, 0.66]], [0.99], HERE) == (pytest.approx((2.05, 1.0, 0.12)),)


def test_what_was_seen_only_in_part_is_not_taken_to_be_narrow():
    ((_, _, radius),) = Standing().look([[2.5, 1.0, 0.04, 1.0]], [0.9], HERE)
    assert radius == 0.12


def test_a_look_at_something_near_corrects_across_the_line_of_sight_but_not_beyond():
    things = Standing()
    # First seen from 1.513 m, 0.2 m too far to the left: sigma 0.06 + 0.015 * 2.29 = 0.0944 m, weight 0.9 / 0.0944^2.
    things.look([[2.5, 1.2, 0.15, 1.0]], [0.9], HERE)
    # From (1.9, 1.0) its foot is cut off; it is straight ahead, at most 0.75 m away. Weight 0.9 * 0.6 / 0.12^2.
    near = (1.9, 1.0, 0.7, 0.0, 0.0, 0.0)
    ((x, y, _),) = things.look([[2.65, 1.0, 0.15, 0.6]], [0.9], near)
    share = 0.54 / 0.12**2 / (0.54 / 0.12**2 + 0.9 / 0.09435**2)
    assert y == pytest.approx(1.2 - 0.2 * share)
    # It was 0.632 m away, so it is looked for at 1.9 + 0.632: up to 0.75 m is no reason to move it away.
    assert x == pytest.approx(2.5 + share * 0.032, abs=0.001)


def test_what_stands_elsewhere_is_not_what_is_near():
    # Known: one thing half a metre to the left, one 1.2 m ahead whose foot would be in view. A third is before it.
    things = Standing()
    things.look([[2.2, 1.0, 0.15, 1.0]], [0.9], (0.7, 1.0, 0.7, 0.0, 0.0, 0.0))
    things.look([[1.0, 1.5, 0.3, 1.0]], [0.9], (1.0, 0.2, 0.7, 0.0, 0.0, 1.57))
    discs = things.look([[1.75, 1.0, 0.15, 0.7]], [0.9], HERE)
    assert sorted(round(x, 2) for x, _, _ in discs) == [1.0, 1.5, 1.75, 2.2]


def test_two_that_come_to_one_place_are_one():
    things = Standing()
    things.look([[2.5, 0.7, 0.15, 1.0], [2.5, 1.3, 0.15, 1.0]], [0.9, 0.9], HERE)
    assert len(things.discs()) == 2
    for _ in range(8):
        things.look([[2.5, 1.05, 0.15, 1.0], [2.5, 0.95, 0.15, 1.0]], [0.9, 0.9], HERE)
    assert len(things.discs()) == 1


def test_things_on_a_map_are_discs_around_cells():
    world = np.zeros((32, 32), np.float32)
    assert standing(world) == ()
    world[0, 31] = 0.51
    ((x, y, radius),) = standing(world)
    assert (x, y) == pytest.approx((31.5 * CELL_M, 0.5 * CELL_M))  # line 0 is y = 0, column 31 the far end of x
    assert radius == pytest.approx(CELL_M / 2**0.5)
    # Beside a sure cell, diagonally too, a quarter is enough; two cells away it is not.
    world[1, 30], world[2, 29] = 0.26, 0.4
    assert len(standing(world)) == 2
    world[1, 30] = 0.25
    assert len(standing(world)) == 1
