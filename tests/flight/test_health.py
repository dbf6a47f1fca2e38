"""How well an autopilot says it is: SYS_STATUS as it comes over the line, and its own words of the last minute."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pymavlink", reason="needs pymavlink: pip install -e '.[flight]'")

from pymavlink import mavutil

from wayword.flight.health import health_check, own_words

MAV = mavutil.mavlink
GYRO, MAG, GPS = 0b1, 0b100, 0b100000


class Heard:
    """What was received: one status, and texts with their times."""

    mavlink = MAV

    def __init__(self, enabled: int | None = None, well: int = 0, texts: tuple[tuple[float, str], ...] = ()) -> None:
        self.enabled, self.well, self.said = enabled, well, texts

    def newest(self, kind: str) -> Any:
        assert kind == "SYS_STATUS"
        if self.enabled is None:
            return None
        return 9.0, MAV.MAVLink_sys_status_message(0b111111, self.enabled, self.well, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    def texts(self, since_s: float) -> list[str]:
        return [text for at, text in self.said if at >= since_s]


def line(heard: Heard, now_s: float = 100.0) -> str:
    return health_check(heard, now_s).line()  # type: ignore[arg-type]


def test_what_is_enabled_must_be_well() -> None:
    assert line(Heard(GYRO | MAG, GYRO | MAG)) == "ok   autopilot health: well"
    assert line(Heard(GYRO | MAG, GYRO | MAG | GPS)).startswith("ok ")
    assert line(Heard(GYRO, MAG | GYRO)).startswith("ok ")
    assert line(Heard(0, 0)).startswith("ok ")
    demand = "(wanted everything that is enabled is well, and it would arm)"
    assert line(Heard(GYRO | MAG, GYRO)) == f"STOP autopilot health: not well: 3d mag {demand}"
    assert line(Heard(GYRO | MAG | GPS, 0)) == f"STOP autopilot health: not well: 3d gyro, 3d mag, gps {demand}"


def test_an_autopilot_that_does_not_say_how_it_is_does_not_fly() -> None:
    check = health_check(Heard(), 1.0)  # type: ignore[arg-type]
    assert (check.ok, check.value, check.remedy) == (False, "not reported", "let the autopilot send SYS_STATUS")


def test_its_own_words_of_the_last_minute_the_last_three() -> None:
    texts = ((39.9, "old"), (40.0, "one"), (50.0, "two"), (60.0, "three"), (99.0, "four"))
    assert own_words(Heard(texts=texts), 99.5) == ""  # type: ignore[arg-type]
    assert own_words(Heard(texts=texts), 60.0) == " (the vehicle says: three; four)"  # type: ignore[arg-type]
    assert "mag (the vehicle says: two; three; four) (wanted" in line(Heard(MAG, 0, texts))
    assert "mag (the vehicle says: old; one)" in line(Heard(MAG, 0, texts[:2]), 99.0)
    assert "mag (the vehicle says: one)" in line(Heard(MAG, 0, texts[:2]), 100.0)
