"""The policy's side: from the newest image to a decision, twice a second, where the governor cannot be held up by it.

    mind      anything that turns an image and a pose into a wish; ``PolicyMind`` for every policy of Wayword
    decider   asks a mind in time: in lock-step with a simulator, or in a thread of its own

A mind that hangs, dies or raises costs the flight its decisions and nothing else: the governor sees their age.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wayword.flight.blackbox import BlackBox, encode_image
from wayword.flight.governor import Decision
from wayword.flight.vehicle import Pose, Shot, Vehicle
from wayword.mapping.standing import Disc, Standing, side_of, standing
from wayword.policy.interface import Observations, Policy, Privileged
from wayword.task import STOP_THRESHOLD

NEAR_S = 0.1
"""An image without a pose so near its time is not decided on: at full speed that is 0.07 m."""
_WAITING, _OLD_S = 32, 1.0
"""Images whose pose is on its way are kept so many, so long."""


@dataclass(frozen=True)
class Wish:
    """What a mind wants."""

    forward_m_s: float
    yaw_rate_rad_s: float
    stop: bool
    obstacles: tuple[Disc, ...] = ()
    thought: dict[str, Any] | None = None
    """For the record only."""


class Mind(Protocol):
    """Turns what is seen into a wish. May take long, hang or raise."""

    def begin_anew(self) -> None:
        """Take the instruction again: what comes next is the first image."""
        ...

    def decide(self, pixels: NDArray[np.uint8], pose: Pose) -> Wish:
        """The wish for the next half second."""
        ...


class PolicyMind:
    """A policy with one instruction and what it was taught."""

    def __init__(
        self,
        policy: Policy,
        instruction: str,
        objects: Any = None,
        demonstration: NDArray[np.float64] | None = None,
        keep_thoughts: bool = False,
    ) -> None:
        self.policy, self.instruction, self.objects = policy, instruction, objects
        self.demonstration, self.keep_thoughts = demonstration, keep_thoughts
        self.begin_anew()

    def begin_anew(self) -> None:
        """Reset the policy; what it was taught is kept in memory, whatever becomes of the files."""
        camera = getattr(self.policy, "camera", None)  # beside a narrower view nothing is missed, since nothing is seen
        self._things = Standing() if camera is None else Standing(side_of(camera.hfov_deg))
        self.policy.reset([self.instruction], [self.objects])
        if self.demonstration is not None and isinstance(self.policy, Privileged):
            self.policy.brief([self.demonstration])

    def decide(self, pixels: NDArray[np.uint8], pose: Pose) -> Wish:
        """One step of the policy; what it has seen stand on the map goes along."""
        view = Observations(np.zeros(1, np.int64), pixels[None], np.array([pose], np.float64))
        forward, turn, stop = np.asarray(self.policy.act(view), np.float64)[0].tolist()
        thought = getattr(self.policy, "thought", None)
        if thought is None:
            return Wish(forward, turn, stop > STOP_THRESHOLD)
        from wayword.policy.thought_record import thought_record

        last = thought(0)
        record = thought_record(last) if self.keep_thoughts else None
        return Wish(forward, turn, stop > STOP_THRESHOLD, self._standing(last, pose), record)

    def _standing(self, thought: Any, pose: Pose) -> tuple[Disc, ...]:
        prints, grounding = getattr(thought, "footprints", None), getattr(thought, "grounding", None)
        if prints is None or grounding is None:
            return standing(thought.all_objects)
        return self._things.look(prints, grounding.p_box, pose)


@dataclass
class Poses:
    """The poses of the last seconds, to know where the vehicle was when an image was taken."""

    recent: deque[tuple[float, Pose]] = field(default_factory=lambda: deque(maxlen=100))

    def add(self, at_s: float, pose: Pose) -> None:
        """A pose that arrived."""
        if not self.recent or at_s > self.recent[-1][0]:
            self.recent.append((at_s, pose))

    def at(self, at_s: float, near_s: float = math.inf) -> Pose | None:
        """Between the two poses around a time, the nearest one beyond the ends; None if none is within ``near_s``."""
        known = list(self.recent)
        if not known:
            return None
        times = np.array([time for time, _ in known])
        if np.abs(times - at_s).min() > near_s:
            return None
        after = int(np.searchsorted(times, at_s))
        if after == 0 or after == len(known):
            return known[0][1] if after == 0 else known[-1][1]
        (t0, first), (t1, second) = known[after - 1], known[after]
        share = (at_s - t0) / (t1 - t0)
        angles = [
            a + share * ((b - a + np.pi) % (2 * np.pi) - np.pi) for a, b in zip(first[3:], second[3:], strict=True)
        ]
        places = [a + share * (b - a) for a, b in zip(first[:3], second[:3], strict=True)]
        return tuple(float(value) for value in (*places, *angles))  # type: ignore[return-value]


class Decider:
    """Asks a mind whenever an interval has passed and there is an image it has not decided on."""

    def __init__(
        self,
        vehicle: Vehicle,
        mind: Mind,
        interval_s: float = 0.5,
        latency_s: float = 0.05,
        box: BlackBox | None = None,
    ) -> None:
        self.vehicle, self.mind, self.interval_s, self.latency_s, self.box = vehicle, mind, interval_s, latency_s, box
        self.poses = Poses()
        self.alive, self.error = True, ""
        self.count = 0
        self._latest: Decision | None = None
        self._coming: list[Decision] = []
        self._due, self._decided_on = -np.inf, -np.inf
        self._shots: deque[Shot] = deque(maxlen=_WAITING)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def latest(self) -> Decision | None:
        """The newest decision that is ready; in lock-step one is ready after the latency."""
        now = self.vehicle.now()
        while self._coming and self._coming[0].made_s <= now + 1e-9:
            self._latest = self._coming.pop(0)
        return self._latest

    @property
    def over(self) -> bool:
        """Whether the policy has said that it arrived."""
        return self._latest is not None and self._latest.stop

    def poll(self) -> None:
        """In lock-step: decide if it is time. What the mind raises ends its flight, not ours."""
        now, newest = self.vehicle.now(), self.vehicle.shot()
        if newest is not None and (not self._shots or newest.taken_s > self._shots[-1].taken_s):
            self._shots.append(newest)
        if not self.alive or self.over or self._coming or now + 1e-9 < self._due:
            return
        shot, pose = self._placed(now)
        if shot is None or pose is None:
            return
        self._due = max(self._due + self.interval_s, now) if np.isfinite(self._due) else now + self.interval_s
        self._decided_on = shot.taken_s
        try:
            wish = self.mind.decide(shot.pixels, pose)
        except Exception as error:
            self.alive, self.error = False, f"{type(error).__name__}: {error}"
            self._record("policy failed", now_s=now, error=self.error)
            return
        if wish is not None:  # a mind that hangs in lock-step gives None
            self._publish(wish, shot, pose, now)

    def _placed(self, now: float) -> tuple[Shot | None, Pose | None]:
        """The newest image that was not decided on and of which it is known where it was taken.

        An image that is mapped from where the vehicle was before the link broke puts things where none are.
        """
        for shot in reversed(self._shots):
            if shot.taken_s <= self._decided_on or now - shot.taken_s > _OLD_S:
                break
            pose = self.poses.at(shot.taken_s, NEAR_S)
            if pose is not None:
                return shot, pose
        return None, None

    def _publish(self, wish: Wish, shot: Shot, pose: Pose, asked_s: float) -> None:
        threaded = self._thread is not None
        ready = self.vehicle.now() if threaded else asked_s + self.latency_s
        decision = Decision(wish.forward_m_s, wish.yaw_rate_rad_s, wish.stop, ready, shot.taken_s, wish.obstacles)
        self.count += 1
        if threaded:
            self._latest = decision  # one reference: the governor's thread sees the old or the new one
        else:
            self._coming.append(decision)
        if self.box is not None:
            image = encode_image(shot.pixels)
            self.box.write("decision", decision=decision, pose=pose, image=image, thought=wish.thought)

    def _record(self, kind: str, **values: Any) -> None:
        if self.box is not None:
            self.box.write(kind, **values)

    def start(self) -> None:
        """Decide in a thread from now on."""
        self._thread = threading.Thread(target=self._run, name="decider", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask for no more decisions; a mind that hangs is left behind."""
        self._stop.set()
        close: Callable[[], None] | None = getattr(self.mind, "close", None)
        if close is not None:
            close()

    def _run(self) -> None:
        while not self._stop.is_set() and self.alive and not self.over:
            self.poll()
            self._stop.wait(0.02)
