"""Frames of autopilots and of the map: compass directions by hand, and both ways for any site."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.flight.frames import Site, euler, quaternion_of

ANGLES = st.floats(-3.1, 3.1)
METRES = st.floats(-50, 50)


def test_a_map_that_points_north():
    """Map x is north, map y is west; up is minus down."""
    site = Site()
    assert site.ned(2.0, 3.0, 0.7) == pytest.approx((2.0, -3.0, -0.7))
    assert site.velocity((1.0, 2.0, 3.0)) == pytest.approx((1.0, -2.0, -3.0))
    assert site.ned_yaw(math.pi / 2) == pytest.approx(-math.pi / 2)  # a quarter turn to the left looks west


def test_a_map_that_points_east():
    """Map x is east, map y is north."""
    site = Site(10.0, 20.0, 1.0, math.pi / 2)
    assert site.ned(2.0, 3.0, 0.7) == pytest.approx((13.0, 22.0, 0.3))
    assert site.velocity((1.0, 0.0, 0.0)) == pytest.approx((0.0, 1.0, 0.0))
    assert site.ned_yaw(0.0) == pytest.approx(math.pi / 2)
    pose = site.pose((13.0, 22.0, 0.3), quaternion_of(0.0, 0.0, 0.0))  # it looks north: to the left of the map's x
    assert pose == pytest.approx((2.0, 3.0, 0.7, 0.0, 0.0, math.pi / 2))


def test_nose_up_in_the_air_is_negative_on_the_map():
    roll, pitch = 0.1, 0.2
    pose = Site().pose((0.0, 0.0, -0.7), quaternion_of(roll, pitch, 0.0))
    assert pose[3] == pytest.approx(0.1)  # right side down, both
    assert pose[4] == pytest.approx(-0.2)


@settings(deadline=None)
@given(METRES, METRES, METRES, ANGLES, METRES, METRES, st.floats(0, 3), ANGLES)
def test_places_and_yaws_come_back(north, east, down, heading, x, y, z, yaw):
    site = Site(north, east, down, heading)
    position = site.ned(x, y, z)
    pose = site.pose(position, quaternion_of(0.0, 0.0, site.ned_yaw(yaw)))
    assert pose[:3] == pytest.approx((x, y, z), abs=1e-6)
    assert math.remainder(pose[5] - yaw, 2 * math.pi) == pytest.approx(0.0, abs=1e-6)


@settings(deadline=None)
@given(METRES, METRES, METRES, ANGLES, METRES, METRES, ANGLES)
def test_the_start_is_where_the_user_says_it_is(north, east, down, yaw_ned, x, y, yaw):
    site = Site.of_start((x, y, yaw), (north, east, down), yaw_ned)
    pose = site.pose((north, east, down), quaternion_of(0.0, 0.0, yaw_ned))
    assert pose[:3] == pytest.approx((x, y, 0.0), abs=1e-6)
    assert math.remainder(pose[5] - yaw, 2 * math.pi) == pytest.approx(0.0, abs=1e-6)


@settings(deadline=None)
@given(ANGLES, ANGLES)
def test_yaws_are_within_half_a_turn_to_either_side(heading, yaw):
    site = Site(heading_rad=heading)
    seen = site.pose((0.0, 0.0, 0.0), quaternion_of(0.0, 0.0, yaw))[5]
    assert max(abs(seen), abs(site.ned_yaw(yaw))) <= math.pi + 1e-12
    assert site.ned_yaw(yaw) == pytest.approx(math.remainder(heading - yaw, 2 * math.pi))
    assert math.remainder(seen - (heading - yaw), 2 * math.pi) == pytest.approx(0.0, abs=1e-9)


@settings(deadline=None)
@given(ANGLES, METRES, METRES)
def test_directions_keep_their_length_and_velocities_their_direction(heading, x, y):
    site = Site(heading_rad=heading)
    north, east = site.ned_direction(x, y)
    assert math.hypot(north, east) == pytest.approx(math.hypot(x, y), abs=1e-9)
    assert site.velocity((north, east, 0.0))[:2] == pytest.approx((x, y), abs=1e-6)


@settings(deadline=None)
@given(ANGLES, st.floats(-1.5, 1.5), ANGLES)
def test_quaternions_and_angles_say_the_same(roll, pitch, yaw):
    quaternion = quaternion_of(roll, pitch, yaw)
    assert math.hypot(*quaternion) == pytest.approx(1.0)
    assert euler(quaternion) == pytest.approx((roll, pitch, yaw), abs=1e-6)
    # The same turn as a product of matrices: Rz Ry Rx.
    w, x, y, z = quaternion
    ahead = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
    c = math.cos
    s = math.sin
    np.testing.assert_allclose(ahead, (c(yaw) * c(pitch), s(yaw) * c(pitch), -s(pitch)), atol=1e-9)


def test_straight_up_is_no_error():
    assert euler((math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0))[1] == pytest.approx(math.pi / 2)
    assert euler((0.70711, 0.0, 0.70711, 0.0))[1] == pytest.approx(math.pi / 2)  # rounded: a sine of more than 1
