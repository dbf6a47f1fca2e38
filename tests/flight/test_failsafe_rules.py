"""Parameters that depend on the firmware and on each other, and the room that an autopilot's own fence leaves."""

from __future__ import annotations

import pytest

from wayword.flight.autopilots import ARDUPILOT, PX4, Autopilot
from wayword.flight.failsafe_rules import parameter_checks, room_checks
from wayword.flight.testing.autopilot_voice import GOOD_PARAMETERS


def wrong(autopilot: Autopilot, firmware: tuple[int, int, int] | None = None, **changes: float | None) -> list[str]:
    """The lines that say STOP, for good parameters with a few changes; None: the vehicle does not have it."""
    read = {**GOOD_PARAMETERS[autopilot.name], **changes}
    checks = parameter_checks(autopilot, {k: v for k, v in read.items() if v is not None}, firmware)
    return [check.line() for check in checks if not check.ok]


@pytest.mark.parametrize(
    ("firmware", "ok"), [((4, 3, 8), False), ((4, 4, 4), False), ((4, 5, 0), True), ((4, 6, 1), True), (None, False)]
)
def test_brake_or_land_is_a_way_home_on_older_copters(firmware, ok):
    lines = wrong(ARDUPILOT, firmware, FS_GCS_ENABLE=7)
    assert (lines == []) == ok
    assert ok or "set FS_GCS_ENABLE to 5" in lines[0]


@pytest.mark.parametrize("value", [5, 6, 7, 8])
def test_orders_of_preference_exist_from_px4_1_17_on(value):
    assert wrong(PX4, (1, 17, 0), COM_RC_IN_MODE=value) == []
    assert "from 1.17.0 on only" in wrong(PX4, (1, 16, 2), COM_RC_IN_MODE=value)[0]
    assert wrong(PX4, None, COM_RC_IN_MODE=value)


def test_a_fence_of_polygons_needs_one():
    assert "no polygon is loaded" in wrong(ARDUPILOT, FENCE_TYPE=5)[0]
    assert wrong(ARDUPILOT, FENCE_TYPE=5, FENCE_TOTAL=None)
    assert wrong(ARDUPILOT, FENCE_TYPE=5, FENCE_TOTAL=4) == []
    assert wrong(ARDUPILOT, FENCE_TYPE=7) == []  # there is the circle


def test_copter_4_7_hears_a_range_of_stations():
    new = {"SYSID_MYGCS": None, "MAV_GCS_SYSID": 245}
    assert wrong(ARDUPILOT, (4, 7, 0), **new, MAV_GCS_SYSID_HI=0) == []
    assert wrong(ARDUPILOT, (4, 7, 0), **new, MAV_GCS_SYSID_HI=245) == []
    assert "set MAV_GCS_SYSID_HI to 0" in wrong(ARDUPILOT, (4, 7, 0), **new, MAV_GCS_SYSID_HI=255)[0]
    assert "MAV_GCS_SYSID_HI: not answered" in wrong(ARDUPILOT, (4, 7, 0), **new)[0]
    assert wrong(ARDUPILOT, (4, 6, 0)) == []  # which has no such range


def test_remedies_name_the_parameter_this_firmware_has():
    assert "set SYSID_MYGCS to 245" in wrong(ARDUPILOT, SYSID_MYGCS=255)[0]
    renamed = wrong(ARDUPILOT, SYSID_MYGCS=None, MAV_GCS_SYSID=255, MAV_GCS_SYSID_HI=0)
    assert len(renamed) == 1
    assert renamed[0].startswith("STOP MAV_GCS_SYSID: 255")
    assert "set MAV_GCS_SYSID to 245" in renamed[0]


@pytest.mark.parametrize(
    ("ceiling", "margin", "ok"),
    [(2.0, 2.0, False), (2.8, 2.0, False), (2.9, 2.0, True), (2.0, 1.0, True), (2.0, None, False)],
)
def test_arducopter_keeps_its_margin_below_its_ceiling(ceiling, margin, ok):
    """A flight at 0.7 m wants 0.9 m: with the margin of 2 m, which is also the default, 2.9 m."""
    read = {"FENCE_ALT_MAX": ceiling, "FENCE_RADIUS": 30.0} | ({} if margin is None else {"FENCE_MARGIN": margin})
    high, far = room_checks(ARDUPILOT, read, 0.7, 7.2)
    assert high.ok == ok
    assert far.ok
    assert ok or f"set FENCE_ALT_MAX to {0.9 + (margin or 2.0) + 0.1:.1f}" in high.line()


def test_the_circle_around_home_holds_the_whole_fence():
    good = {"FENCE_ALT_MAX": 5.0, "FENCE_MARGIN": 2.0}
    assert [check.ok for check in room_checks(ARDUPILOT, {**good, "FENCE_RADIUS": 9.2}, 0.7, 7.2)] == [True, True]
    assert [check.ok for check in room_checks(ARDUPILOT, {**good, "FENCE_RADIUS": 9.1}, 0.7, 7.2)] == [True, False]
    # PX4 keeps no margin.
    walls = {"GF_MAX_VER_DIST": 0.9, "GF_MAX_HOR_DIST": 7.2}
    assert [check.ok for check in room_checks(PX4, walls, 0.7, 7.2)] == [True, True]
    assert [check.ok for check in room_checks(PX4, {**walls, "GF_MAX_VER_DIST": 0.8}, 0.7, 7.2)] == [False, True]
    assert room_checks(PX4, {}, 0.7, 7.2) == []  # not answered is said elsewhere


def test_lines_say_what_was_read_and_what_is_wanted():
    (high, far) = room_checks(ARDUPILOT, {"FENCE_ALT_MAX": 2.5, "FENCE_RADIUS": 30.0, "FENCE_MARGIN": 1.0}, 0.7, 7.25)
    assert high.line() == "ok   room in FENCE_ALT_MAX: 2.5 m less FENCE_MARGIN 1 m"
    assert far.demand == "at least 7.2 m for this flight"
    (high, far) = room_checks(ARDUPILOT, {"FENCE_ALT_MAX": 1.5, "FENCE_RADIUS": 5.0}, 0.7, 7.2)
    assert high.line() == (
        "STOP room in FENCE_ALT_MAX: 1.5 m less FENCE_MARGIN 2 m (wanted at least 0.9 m for this flight; "
        "set FENCE_ALT_MAX to 3.0 or make FENCE_MARGIN smaller)"
    )
    assert far.remedy == "set FENCE_RADIUS to 9.3 or make FENCE_MARGIN smaller"
    (high, far) = room_checks(PX4, {"GF_MAX_VER_DIST": 0.5, "GF_MAX_HOR_DIST": 5.0, "FENCE_MARGIN": 1.0}, 0.7, 7.2)
    assert high.line() == (
        "STOP room in GF_MAX_VER_DIST: 0.5 m (wanted at least 0.9 m for this flight; set GF_MAX_VER_DIST to 1.0)"
    )


def test_good_parameters_are_well_and_each_that_is_silent_is_named():
    for autopilot in (ARDUPILOT, PX4):
        good = GOOD_PARAMETERS[autopilot.name]
        checks = parameter_checks(autopilot, good, (9, 9, 9))
        assert all(check.ok for check in checks)
        assert len(checks) == sum(not rule.only_with or rule.only_with in good for rule in autopilot.rules)
        for rule in autopilot.rules:
            if rule.only_with:
                continue
            silent = {name: value for name, value in good.items() if name not in (rule.name, *rule.others)}
            (missing,) = [check for check in parameter_checks(autopilot, silent, (9, 9, 9)) if check.name == rule.name]
            assert (missing.ok, missing.value) == (False, "not answered")
            assert missing.remedy == "check the link and the firmware's version"
