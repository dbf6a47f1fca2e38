"""Which firmware a vehicle has: some values of a parameter mean what they say from a version on only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wayword.flight.mavlink_link import MavlinkLink

Version = tuple[int, int, int]
"""Major, minor, patch."""
_TRIES, _WAIT_S = 3, 0.5


def read_firmware(link: MavlinkLink) -> Version | None:
    """Ask for AUTOPILOT_VERSION; None if the vehicle does not say."""
    mav = link.mavlink
    for _ in range(_TRIES):
        link.tell(mav.MAV_CMD_REQUEST_MESSAGE, mav.MAVLINK_MSG_ID_AUTOPILOT_VERSION)
        if link.wait_for(lambda: link.newest("AUTOPILOT_VERSION") is not None, _WAIT_S):
            break
    message = link.newest("AUTOPILOT_VERSION")
    if message is None or not message[1].flight_sw_version:
        return None
    number = int(message[1].flight_sw_version)
    return number >> 24 & 0xFF, number >> 16 & 0xFF, number >> 8 & 0xFF


def version_text(version: Version | None) -> str:
    """For people."""
    return "of unknown version" if version is None else ".".join(map(str, version))
