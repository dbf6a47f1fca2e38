"""Contacts of the body with solid columns, one push at a time and worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.sim.vehicle.contact import REARM_GAP_M, SKIN_M, push_out

BODY = 0.1


def push(
    place: tuple[float, float],
    velocity: tuple[float, float],
    columns: list[tuple[float, float, float]],
    touching: np.ndarray | None = None,
    before: tuple[float, float] = (-9.0, -9.0),
) -> tuple[tuple[float, float], tuple[float, float], int]:
    rows = np.array(columns, np.float64).reshape(-1, 3)
    marks = np.zeros(len(rows), np.bool_) if touching is None else touching
    x, y, vx, vy, began = push_out(*place, *velocity, *before, BODY, rows, marks)
    return (x, y), (vx, vy), began


def test_clear_of_everything_nothing_changes() -> None:
    assert push((1.0, 0.0), (0.3, 0.2), [(0.0, 0.0, 0.2)]) == ((1.0, 0.0), (0.3, 0.2), 0)
    assert push((0.0, 0.0), (0.3, 0.2), []) == ((0.0, 0.0), (0.3, 0.2), 0)


def test_a_body_is_set_on_the_rim_and_keeps_its_way_along_it() -> None:
    # In the column by 5 cm from the east, flying west and north: only the part into the column is taken away.
    place, velocity, began = push((0.25, 0.0), (-0.5, 0.4), [(0.0, 0.0, 0.2)])
    assert place == pytest.approx((0.3, 0.0))
    assert place[0] >= 0.3
    assert velocity == pytest.approx((0.0, 0.4))
    assert began == 1


def test_whoever_leaves_is_not_slowed_down() -> None:
    _, velocity, _ = push((0.25, 0.0), (0.5, 0.1), [(0.0, 0.0, 0.2)])
    assert velocity == (0.5, 0.1)


def test_at_the_very_centre_there_is_a_way_out() -> None:
    place, _, began = push((0.0, 0.0), (0.0, 0.0), [(0.0, 0.0, 0.2)])
    assert place == pytest.approx((0.3 + SKIN_M, 0.0))
    assert began == 1


def test_padding_is_not_solid() -> None:
    assert push((0.0, 0.0), (0.1, 0.0), [(0.0, 0.0, 0.0)])[2] == 0


def test_a_touch_counts_once_until_the_body_has_left() -> None:
    touching = np.zeros(1, np.bool_)
    column = [(0.0, 0.0, 0.2)]
    assert push((0.25, 0.0), (0.0, 0.0), column, touching)[2] == 1
    assert push((0.25, 0.0), (0.0, 0.0), column, touching)[2] == 0
    # A gap of less than a centimetre is still the same touch, a larger one ends it.
    push((0.3 + REARM_GAP_M / 2, 0.0), (0.0, 0.0), column, touching)
    assert touching[0]
    push((0.3 + 2 * REARM_GAP_M, 0.0), (0.0, 0.0), column, touching)
    assert not touching[0]
    assert push((0.25, 0.0), (0.0, 0.0), column, touching)[2] == 1


def test_between_two_columns_it_is_pushed_out_of_both() -> None:
    # Rims of 0.3 m around (0, 0) and (0.5, 0): the body at (0.25, 0.01) comes out to the north, clear of both.
    columns = [(0.0, 0.0, 0.2), (0.5, 0.0, 0.2)]
    place, _, began = push((0.25, 0.01), (0.0, 0.0), columns, before=(0.25, 0.5))
    for x, y, radius in columns:
        assert math.hypot(place[0] - x, place[1] - y) >= radius + BODY or place == (0.25, 0.5)
    assert began == 2


def test_a_wedged_body_is_put_back_and_stands_still() -> None:
    # Right on the line through two columns whose rims overlap: each pushes it straight into the other.
    columns = [(0.0, 0.0, 0.2), (0.4, 0.0, 0.2)]
    place, velocity, _ = push((0.2, 0.0), (0.4, 0.1), columns, before=(2.0, 2.0))
    assert place == (2.0, 2.0)
    assert velocity == (0.0, 0.0)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_nobody_ends_inside_a_column_or_faster_than_it_came(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [tuple(row) for row in np.column_stack([rng.uniform(-1, 1, (count, 2)), rng.uniform(0.05, 0.3, count)])]
    velocity = tuple(rng.uniform(-1, 1, 2))
    place, after, began = push(tuple(rng.uniform(-1, 1, 2)), velocity, columns)  # type: ignore[arg-type]
    assert all(math.hypot(place[0] - x, place[1] - y) >= radius + BODY for x, y, radius in columns)
    assert math.hypot(*after) <= math.hypot(*velocity) + 1e-12
    assert 0 <= began <= count
