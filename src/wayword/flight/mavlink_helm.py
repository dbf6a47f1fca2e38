"""The helm of a MAVLink vehicle: which messages show who flies, and asking for one.

HEARTBEAT             mode and whether it is armed. PX4 sends it once a second, but within 5 ms if it is asked with
                      REQUEST_MESSAGE; ArduPilot grants ten a second
CURRENT_MODE          the mode, where a firmware and the library know it
EXTENDED_SYS_STATE    that it is landing, five times a second
COMMAND_ACK           that it hears us, for what was asked
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from wayword.flight.helm import ASK_S, Helm
from wayword.flight.vehicle import Mode

if TYPE_CHECKING:
    from wayword.flight.autopilots import Autopilot
    from wayword.flight.mavlink_link import MavlinkLink

_ANSWER_S = 0.1
"""A mode that is asked for comes within 5 ms from PX4. A governor that lands has nothing else to send meanwhile."""
_TRIES, _PATIENT_S = 3, 0.2


class MavlinkHelm(Helm):
    """Reads modes out of messages, on the thread that hears; asks for them on the caller's."""

    def __init__(self) -> None:
        super().__init__()
        self._link: MavlinkLink | None = None
        self._autopilot: Autopilot | None = None
        self._asked_s = -math.inf

    def watch(self, message: Any, now_s: float, sent_s: float) -> None:
        """Every message shows that somebody is there; some show who flies."""
        self.hear(now_s)
        link, autopilot, kind = self._link, self._autopilot, message.get_type()
        if link is None or autopilot is None:
            return
        mav = link.mavlink
        if kind == "HEARTBEAT":
            armed = bool(message.base_mode & mav.MAV_MODE_FLAG_SAFETY_ARMED)
            self.see(autopilot.mode(message.custom_mode) if armed else Mode.GROUND, now_s, sent_s)
        elif kind == "COMMAND_ACK" and message.command == mav.MAV_CMD_REQUEST_MESSAGE and message.result == 0:
            self.answer(now_s, sent_s)
        elif kind == "CURRENT_MODE" and self.mode is not Mode.GROUND:
            self.see(autopilot.mode(message.custom_mode), now_s, sent_s)
        elif kind == "EXTENDED_SYS_STATE" and message.landed_state == mav.MAV_LANDED_STATE_LANDING:
            self.see(Mode.LAND, now_s, sent_s)

    def connect(self, link: MavlinkLink, autopilot: Autopilot) -> None:
        """Read modes from now on, and learn whether this vehicle tells its own when it is asked."""
        self._link, self._autopilot = link, autopilot
        request = link.mavlink.MAV_CMD_REQUEST_MESSAGE
        for _ in range(_TRIES):
            since_s = time.monotonic()
            self._ask()
            link.wait_for(lambda: self._answered(request, since_s), _PATIENT_S)  # noqa: B023
            if self._answered(request, since_s):
                self.answers = True
                return

    def keep_up(self) -> None:
        """Ask for the mode if the last one grows old."""
        now = time.monotonic()
        if self.wants_news(now) and now - self._asked_s >= ASK_S:
            self._ask()

    def refresh(self) -> None:
        """Ask for the mode and wait for it a little."""
        since_s = time.monotonic()
        self._ask()
        if self._link is not None:
            self._link.wait_for(lambda: self.heard_mode_s >= since_s, _ANSWER_S)

    def _answered(self, request: int, asked_s: float) -> bool:
        assert self._link is not None
        return self.heard_mode_s >= asked_s and self._link.answer(request, asked_s) == 0

    def _ask(self) -> None:
        if self._link is not None:
            self._asked_s = time.monotonic()
            mav = self._link.mavlink
            self._link.tell(mav.MAV_CMD_REQUEST_MESSAGE, mav.MAVLINK_MSG_ID_HEARTBEAT)
