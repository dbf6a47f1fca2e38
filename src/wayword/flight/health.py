"""How well an autopilot says it is, before the motors start: SYS_STATUS, and its own words where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wayword.flight.vehicle import PreflightCheck

if TYPE_CHECKING:
    from wayword.flight.mavlink_link import MavlinkLink

_RECENT_S = 60.0
"""ArduPilot repeats why it would not arm every half minute."""
_WORDS = 3


def health_check(link: MavlinkLink, now_s: float) -> PreflightCheck:
    """One line: everything that is enabled is well, and the autopilot would arm."""
    mav, newest = link.mavlink, link.newest("SYS_STATUS")
    demand = "everything that is enabled is well, and it would arm"
    if newest is None:
        remedy = "let the autopilot send SYS_STATUS"
        return PreflightCheck("autopilot health", False, "not reported", demand, remedy)
    status = newest[1]
    ill = status.onboard_control_sensors_enabled & ~status.onboard_control_sensors_health
    if not ill:
        return PreflightCheck("autopilot health", True, "well", demand)
    names = [
        entry.name.removeprefix("MAV_SYS_STATUS_").removeprefix("SENSOR_").lower().replace("_", " ")
        for bit, entry in mav.enums["MAV_SYS_STATUS_SENSOR"].items()
        if bit & ill and bit & (bit - 1) == 0
    ]
    words = own_words(link, now_s - _RECENT_S)
    return PreflightCheck("autopilot health", False, f"not well: {', '.join(names)}{words}", demand)


def own_words(link: MavlinkLink, since_s: float) -> str:
    """What the vehicle has said since, ready to be put behind a sentence; empty if it said nothing."""
    texts = link.texts(since_s)[-_WORDS:]
    return f" (the vehicle says: {'; '.join(texts)})" if texts else ""
