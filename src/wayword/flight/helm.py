"""Who has the helm: judged from every message that shows it, and what may therefore be sent.

    ours       the autopilot is in the mode we asked for: setpoints, a landing
    unsure     nothing was heard for a while, so that its failsafe may have acted: nothing, until a mode has been heard
    lost       it was once in a mode that we did not ask for: nothing, for good

The governor's own rule (``TAKEN_OVER``) looks at the newest mode at each tick. This one stands below it, in the
vehicle, and is fed by the thread that hears: a pilot who takes over and gives back between two ticks is seen, and so is
a failsafe of PX4, which ends as soon as setpoints return and would otherwise be undone before it has been heard of.
"""

from __future__ import annotations

import math

from wayword.flight.vehicle import Mode

GAP_S = 0.5
"""Nothing heard for so long: what the autopilot did meanwhile is not known. Its own timers are 0.7 s at least."""
STALE_S = 0.6
"""Without an answer for so long we are not heard, though we may hear: the failsafe may have acted all the same."""
ASK_S = 0.2
"""The mode is asked for this often, where it is told: PX4 tells it once a second by itself."""
FRESH_S = 0.1
"""A landing is asked for only if the mode was heard so recently."""


class Helm:
    """What is known of who flies. Fed by one thread, asked by another."""

    def __init__(self) -> None:
        self.lost: Mode | None = None
        """The first mode that we did not ask for."""
        self.stopping = False
        """A landing is wanted: no setpoints any more."""
        self.answers = False
        """Whether the autopilot tells its mode when it is asked."""
        self.mode, self.mode_s, self.heard_mode_s = Mode.UNKNOWN, -math.inf, -math.inf
        """The newest mode, since when at least it was under way, and when it was read."""
        self._heard_s, self._unsure_s, self._answered_s = -math.inf, -math.inf, -math.inf
        self._unsure = False
        self._taken_s = math.inf
        self._land_asked = self._land_seen = False

    def take(self, now_s: float) -> None:
        """The vehicle is to be in offboard from now on; a mode that was told before does not count."""
        self._taken_s = now_s

    def hear(self, now_s: float) -> None:
        """Anything was heard."""
        if now_s - self._heard_s > GAP_S:
            self._unsure_s, self._unsure = now_s, True
        self._heard_s = now_s

    def see(self, mode: Mode, now_s: float, sent_s: float | None = None) -> None:
        """A message shows the mode; ``sent_s``: it may be as old as this, having waited to be read."""
        sent_s = now_s if sent_s is None else sent_s
        self.hear(now_s)
        if mode is Mode.UNKNOWN:
            return
        self.mode, self.mode_s = mode, sent_s
        if sent_s >= self._unsure_s:
            self._unsure = False
        if sent_s >= self._taken_s and mode not in self._expected():
            self.lost = self.lost or mode
        self._land_seen = self._land_seen or (self._land_asked and mode is Mode.LAND)
        self.heard_mode_s = now_s  # last: whoever waits for it finds the rest

    def answer(self, now_s: float, sent_s: float | None = None) -> None:
        """The autopilot answers us, so we are heard; after a time in which we were not, the mode must be heard anew."""
        sent_s = now_s if sent_s is None else sent_s
        if sent_s - max(self._answered_s, self._taken_s) > STALE_S:
            self._unsure_s, self._unsure = now_s, True
        self._answered_s = sent_s

    def ask_to_land(self) -> None:
        """The command is being sent."""
        self.stopping = self._land_asked = True

    def _expected(self) -> tuple[Mode, ...]:
        if self._land_seen:
            return Mode.LAND, Mode.GROUND
        if self._land_asked:
            return Mode.OFFBOARD, Mode.LAND, Mode.GROUND
        return (Mode.OFFBOARD,)

    @property
    def reported(self) -> Mode:
        """The mode for whoever asks: what was lost once does not look ours again, though it may be on the ground."""
        if self.lost is None or self.mode is not Mode.OFFBOARD:
            return self.mode
        return Mode.OTHER

    def wants_news(self, now_s: float) -> bool:
        """Whether it is time to ask for the mode: in the air, while it is ours."""
        newest = self._answered_s if self.answers else self.mode_s
        return self.lost is None and now_s >= self._taken_s and now_s - newest > ASK_S

    def may_fly(self, now_s: float) -> bool:
        """Whether setpoints may be sent."""
        if self.lost is not None or self.stopping:
            return False
        if now_s < self._taken_s:
            return True
        if self._unsure or now_s - self._heard_s > GAP_S:
            return False
        return not self.answers or now_s - max(self._answered_s, self._taken_s) <= STALE_S

    def may_land(self, now_s: float) -> bool:
        """Whether a landing may be asked for: it is ours, as it said a moment ago."""
        fresh = now_s - self.mode_s <= FRESH_S
        return self.lost is None and not self._land_seen and fresh and self.mode in (Mode.OFFBOARD, Mode.TAKEOFF)
