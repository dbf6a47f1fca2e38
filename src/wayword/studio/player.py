"""Plays a session's flight in a thread of its own: pause, step, slower, faster, stop.

While one leg is being watched the next is already being computed, so that the view never waits for the policy. Poses
between two decisions are interpolated: the view moves ``UPDATES_PER_S`` times a second whatever the playing speed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from wayword.studio.kept_flight import StudioStep
from wayword.task import DECISION_S

UPDATES_PER_S = 20
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Seconds of flight per second."""
PlayerState = Literal["idle", "flying", "paused"]


class Viewer(Protocol):
    """Who is shown a flight. Everything is called from the player's thread."""

    def show_leg(self, leg: StudioStep) -> None:
        """A new decision."""

    def show_pose(self, leg: StudioStep, pose: NDArray[np.float64], share: float) -> None:
        """Where the drone is now, ``share`` of the leg's time on."""

    def show_end(self, leg: StudioStep | None, problem: Exception | None) -> None:
        """The flight is over: its last leg, None if it was stopped, or what went wrong."""

    def show_state(self, state: PlayerState) -> None:
        """It is flying, paused or idle."""


class Player:
    """One visitor's flights, one after the other."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.speed = 1.0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop, self._go = threading.Event(), threading.Event()
        self._steps = 0
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a flight is under way, paused or not."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    @property
    def paused(self) -> bool:
        """Whether a flight waits."""
        return self.busy and not self._go.is_set()

    def play(self, next_leg: Callable[[], StudioStep], stepwise: bool = False) -> None:
        """Stop what is playing and play a new flight; ``stepwise``, it waits after its first leg."""
        self.stop()
        with self._lock:
            if self._closed:
                return
            self._stop.clear()
            self._steps = int(stepwise)
            self._go.set()
            self._thread = threading.Thread(target=self._run, args=(next_leg,), name="wayword-studio", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Wait where the drone is, or go on."""
        if self.busy:
            self._steps = 0
            self._set(not self._go.is_set())

    def step(self) -> None:
        """Show one decision, then wait."""
        if self.busy:
            self._steps += 1
            self._set(True)

    def faster(self, by: int = 1) -> float:
        """The next speed, or with -1 the one before; returns it."""
        at = min(max(SPEEDS.index(self.speed) + by, 0), len(SPEEDS) - 1)
        self.speed = SPEEDS[at]
        return self.speed

    def stop(self) -> None:
        """End the flight and wait until its thread is gone."""
        thread = self._thread
        self._stop.set()
        self._go.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def close(self) -> None:
        """Stop for good."""
        with self._lock:
            self._closed = True
        self.stop()

    def _set(self, going: bool) -> None:
        (self._go.set if going else self._go.clear)()
        self.viewer.show_state("flying" if going else "paused")

    def _run(self, next_leg: Callable[[], StudioStep]) -> None:
        leg: StudioStep | None = None
        problem: Exception | None = None
        with ThreadPoolExecutor(1, thread_name_prefix="wayword-studio-mind") as mind:
            try:
                self.viewer.show_state("flying")
                leg = self._fly(mind, next_leg)
            except Exception as error:  # whatever it is, the page must say so and be usable again
                problem = error
        self.viewer.show_end(leg, problem)
        self.viewer.show_state("idle")

    def _fly(self, mind: ThreadPoolExecutor, next_leg: Callable[[], StudioStep]) -> StudioStep | None:
        """Play legs until the last one; None if it was stopped."""
        ahead: Future[StudioStep] = mind.submit(next_leg)
        while True:
            leg = ahead.result()
            if self._stop.is_set():
                return None
            if not leg.ended:
                ahead = mind.submit(next_leg)
            self.viewer.show_leg(leg)
            if not self._play_leg(leg):
                return None
            if leg.ended:
                return leg
            if self._steps:  # this was the step that was asked for
                self._steps -= 1
                if not self._steps:
                    self._set(False)

    def _play_leg(self, leg: StudioStep) -> bool:
        """Move through one leg; False if it was stopped on the way."""
        flown_s, last = 0.0, time.monotonic()
        while flown_s < DECISION_S and len(leg.poses) > 1:
            if not self._go.is_set():
                self._go.wait()
                last = time.monotonic()
            if self._stop.is_set():
                return False
            share = flown_s / DECISION_S
            self.viewer.show_pose(leg, pose_at(leg.poses, share), share)
            left = last + 1 / UPDATES_PER_S - time.monotonic()
            if left > 0:
                self._stop.wait(left)
            now = time.monotonic()
            # A machine that cannot keep up flies slower instead of jumping.
            flown_s += min(now - last, 2 / UPDATES_PER_S) * self.speed
            last = now
        self.viewer.show_pose(leg, leg.poses[-1], 1.0)
        if leg.ended:  # else a pause at the very end is one at the beginning of the next leg, which a step then shows
            self._go.wait()
        return not self._stop.is_set()


def pose_at(poses: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """The pose at a share of the time that evenly spaced poses (T, 6) span; angles turn the short way."""
    place = min(max(share, 0.0), 1.0) * (len(poses) - 1)
    first = min(int(place), max(len(poses) - 2, 0))
    second = min(first + 1, len(poses) - 1)
    change = poses[second] - poses[first]
    change[3:] = (change[3:] + np.pi) % (2 * np.pi) - np.pi
    result: NDArray[np.float64] = poses[first] + (place - first) * change
    return result
