"""Flies a list of steps, decision by decision, with what is known of the surroundings so far.

    flyer = StepFlyer(steps, camera)
    forward, yaw_rate, stop = flyer.decide(pose, surroundings)        # twice a second
    flyer.lost                                                        # the thing that was not found, or None

Before a step is planned its things must be known: the drone looks round on the spot, then from other places. Ways are
made anew at every decision, around everything that is known to stand there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.episodes.commands import Step
from wayword.episodes.format import Pose2
from wayword.episodes.geometry import wrap
from wayword.policy.steps.follow import follow, length_of, present_speed, same_way_round, turn_rate
from wayword.policy.steps.look_again import MOST, given_up, look_again
from wayword.policy.steps.phases import (
    PEEK_GAIN,
    Ahead,
    FlyThrough,
    LookBack,
    PassedThing,
    Peek,
    Phase,
    TurnBy,
    TurnTo,
    left_behind,
    needed,
    plan,
    thing_passed,
)
from wayword.policy.steps.progress import Progress
from wayword.policy.steps.reached import FlyerConfig, is_reached
from wayword.policy.steps.route import is_way_free, route
from wayword.policy.steps.search import Search
from wayword.policy.steps.straight import is_there, to_edge_m
from wayword.policy.steps.surroundings import Point, Surroundings
from wayword.policy.steps.vias import ViaPoint, heading_error

Motion = tuple[float, float, bool]
_CLOSE_M = 0.6
_BESIDE = ("left", "right", "behind")
_UNSEEN_M = 0.3
"""Metres ahead after which what waits beside or behind and was never in view is taken to be there."""
KEPT_AWAY_M = 0.78
"""From the centre of a thing that is to be avoided; "away" ends at 0.6 m."""


class StepFlyer:
    """One drone, one list of steps."""

    def __init__(self, steps: Sequence[Step], camera: Camera, selects: bool = False, config: FlyerConfig | None = None):
        self.config, self.camera = config or FlyerConfig(), camera
        self.avoided = [step.object for step in steps if step.do == "avoid" and step.object is not None]
        self.steps = [step for step in steps if step.do not in ("avoid", "stay")]
        if self.steps and self.steps[-1].do == "search":  # "find A" and "find A and go there" are one flight
            self.steps.append(Step("goto", self.steps[-1].object))
        self.index = 0
        """The step that is being flown; as many as there are when all are done."""
        self.lost: str | None = None
        """The thing that was not found."""
        self._selects = selects
        self._start: NDArray[np.float64] | None = None
        self._phases: list[Phase] | None = None
        self._search: Search | None = None
        self._turned = 0.0
        self._last_yaw = 0.0
        self._last_place: Point = (math.inf, math.inf)
        self._progress = Progress()
        self._speed_m_s = self._asked_m_s = 0.0
        """How fast it is, and what it was asked for last."""
        self._turning = 0.0
        """The yaw rate it was asked for last."""
        self._places: dict[str, Point] = {}
        self._looks = 0
        """How often, in this step, it has looked again at what held it up."""
        self._passed: PassedThing | None = None
        """What the last step went past, and on which side it was."""
        self.way: NDArray[np.float64] | None = None
        """(P, 2) where it is about to fly; None while it turns or looks for something."""
        self._line: tuple[Ahead, NDArray[np.float64], NDArray[np.float64]] | None = None

    @property
    def searching(self) -> tuple[str, ...]:
        """Things it is looking for."""
        return () if self._search is None else self._search.keys

    def decide(self, pose: NDArray[np.float64], around: Surroundings) -> Motion:
        """Forward speed, yaw rate and stop at ``pose`` (x, y, yaw)."""
        here = np.asarray(pose, np.float64)
        if self._start is None:
            self._start, self._last_yaw = here.copy(), float(here[2])
        turned = wrap(float(here[2]) - self._last_yaw)
        self._turned += turned
        self._last_yaw = float(here[2])
        gone = math.dist(here[:2], self._last_place)
        self._speed_m_s = present_speed(gone, self._asked_m_s) if math.isfinite(gone) else 0.0
        self._progress.moved(turned, gone)
        self._last_place = (float(here[0]), float(here[1]))
        if self._progress.stuck and self._phases:  # what is left of the phase cannot be flown
            self._phases = self._unstuck(self._phases, here, around)
            self._progress.give_up()
        self.way = None
        for _ in range(4 * len(self.steps) + 8):  # steps that are done at once follow each other in one decision
            if self.index >= len(self.steps):
                break
            motion = self._step(here, around)
            if motion is not None:
                self._asked_m_s, self._turning = motion
                return (*motion, False)
        return 0.0, 0.0, True

    def _unstuck(self, phases: list[Phase], here: NDArray[np.float64], around: Surroundings) -> list[Phase]:
        """What to do when the drone is stuck: look again at what holds it up, or leave it out."""
        flies = isinstance(phases[0], FlyThrough) and not any(isinstance(phase, LookBack) for phase in phases)
        circles = self.steps[self.index].do == "circle"  # one that is broken off is none
        if not flies or circles or self._looks >= MOST or self.way is None:
            return given_up(phases)
        again = look_again(here, self.way[1], self._discs(around))
        if again is None:
            return given_up(phases)
        self._looks += 1
        return [*again.phases, *phases]

    def _step(self, here: NDArray[np.float64], around: Surroundings) -> tuple[float, float] | None:
        """Motion for the present step, or None if something ended and the next thing begins."""
        assert self._start is not None
        step = self.steps[self.index]
        if self._selects:
            self._search = self._search or Search((), whole=True)
            motion = self._search.decide(here, around, self._discs(around), self._speed_m_s)
            if motion is not None:
                return motion
            around.begin_select(Pose2(*(float(value) for value in self._start)))
            self._selects, self._search = False, None
        if self._phases is None:
            if not self._look_for(needed(step), here, around):
                return self._searching_motion(here, around)
            self._search = None
            if self.lost is not None:
                self.index = len(self.steps)
                return None
            self._phases = self._plan(step, here, around)
            self._turned = 0.0
        if not self._phases:
            self.index += 1
            self._phases, self._looks = None, 0
            return None
        motion = self._fly_phase(self._phases[0], here, around)
        if motion is None:
            self._phases = self._phases[1:]
            self._progress.begin()
            self._turned = 0.0
        return motion

    def _look_for(self, keys: tuple[str, ...], here: NDArray[np.float64], around: Surroundings) -> bool:
        """Whether all things are known, or will not be."""
        if self._search is None:
            missing = tuple(key for key in keys if not around.sure(key))
            if not missing:
                return True
            self._search = Search(missing)
        if self._search.over or all(around.sure(key) for key in keys):
            lost = next((key for key in keys if around.where(key) is None), None)
            self.lost = lost
            return True
        return False

    def _searching_motion(self, here: NDArray[np.float64], around: Surroundings) -> tuple[float, float] | None:
        assert self._search is not None
        return self._search.decide(here, around, self._discs(around), self._speed_m_s)

    def _plan(self, step: Step, here: NDArray[np.float64], around: Surroundings) -> list[Phase]:
        assert self._start is not None
        last = self.index == len(self.steps) - 1
        home = (float(self._start[0]), float(self._start[1]))
        following: Point | None = None
        if not last:
            after = self.steps[self.index + 1]
            following = home if after.do == "return" else self._middle(after.mentioned, around)
        discs = self._discs(around)
        phases = plan(step, here, around, discs, following, last, home)
        if self._passed is not None and (centre := self._place(self._passed[0], around)) is not None:
            phases = left_behind(phases, self._passed, centre, here, lambda via: self._point(via, around), discs)
        self._passed = thing_passed(step, phases)
        return phases

    def _middle(self, keys: Sequence[str], around: Surroundings) -> Point | None:
        places = [around.where(key) for key in keys]
        known = [place for place in places if place is not None]
        if not known or len(known) < len(places):
            return None
        return sum(p[0] for p in known) / len(known), sum(p[1] for p in known) / len(known)

    def _discs(self, around: Surroundings) -> NDArray[np.float64]:
        """What to keep clear of; things that are to be avoided are larger."""
        discs = around.discs()
        away = [(*place, KEPT_AWAY_M) for key in self.avoided if (place := around.where(key)) is not None]
        return np.concatenate([discs.reshape(-1, 3), np.array(away).reshape(-1, 3)])

    def _fly_phase(self, phase: Phase, here: NDArray[np.float64], around: Surroundings) -> tuple[float, float] | None:
        if isinstance(phase, FlyThrough):
            return self._fly(phase, here, around)
        if isinstance(phase, Ahead):
            return self._ahead(phase, here, around)
        if isinstance(phase, LookBack):
            return self._look(phase)
        if isinstance(phase, TurnBy):
            left = phase.radians - self._turned
        elif isinstance(phase, (TurnTo, Peek)):
            if isinstance(phase, Peek) and around.sure(phase.key):
                return None
            left = same_way_round(wrap(phase.heading - float(here[2])), self._turning)
        else:
            place = self._place(phase.key, around)
            left = 0.0 if place is None else same_way_round(heading_error(here, place), self._turning)
        gain = PEEK_GAIN if isinstance(phase, Peek) else self.config.follow.turn_gain
        return None if abs(left) < self.config.turned_rad else (0.0, turn_rate(left, gain))

    def _look(self, phase: LookBack) -> tuple[float, float] | None:
        assert self._phases is not None
        self._phases[0] = LookBack(phase.decisions - 1)
        self._progress.give_up()
        return (0.0, 0.0) if phase.decisions > 0 else None

    def _place(self, key: str, around: Surroundings) -> Point | None:
        """Where a thing is, or was when it was last known."""
        place = around.where(key)
        if place is not None:
            self._places[key] = place
        return self._places.get(key)

    def _point(self, via: ViaPoint, around: Surroundings) -> Point:
        places = [place for key in via.keys if (place := self._place(key, around)) is not None]
        count = max(len(places), 1)
        x, y = sum(p[0] for p in places) / count, sum(p[1] for p in places) / count
        return x + via.offset[0], y + via.offset[1]

    def _fly(self, phase: FlyThrough, here: NDArray[np.float64], around: Surroundings) -> tuple[float, float] | None:
        config, position = self.config, (float(here[0]), float(here[1]))
        vias = list(phase.vias)
        while vias:
            following = self._point(vias[1], around) if len(vias) > 1 else None
            if not is_reached(here, self._point(vias[0], around), following, phase.halt, config):
                break
            vias.pop(0)
            self._progress.begin()
        assert self._phases is not None
        self._phases[0] = FlyThrough(tuple(vias), phase.halt)
        if not vias:
            return None
        points = [self._point(via, around) for via in vias]
        discs = self._discs(around)
        way = np.array([position, points[0]])
        # Points that lie close together are an arc or a gap: only what really stands in the way leads off it.
        if math.dist(position, points[0]) > _CLOSE_M or not is_way_free(position, points[0], discs):
            way = route(position, points[0], discs)
        self._progress.has_left(length_of(way))
        if len(points) > 1:
            way = np.concatenate([way, np.array(points[1:])])
        self.way = way
        return follow(here, way, phase.halt, config.follow, around.discs(), self._speed_m_s, self._turning)

    def _ahead(self, phase: Ahead, here: NDArray[np.float64], around: Surroundings) -> tuple[float, float] | None:
        """Along a line; its end is fixed when it begins, so that what is flown is what was said."""
        position = np.array([here[0], here[1]])
        direction = np.array([math.cos(phase.heading), math.sin(phase.heading)])
        if self._line is None or self._line[0] is not phase:
            end = position + min(phase.metres, to_edge_m(position, direction)) * direction
            self._line = (phase, end, position)
        end, begun = self._line[1], self._line[2]
        if phase.until is not None:
            place = around.where(phase.until.object)
            moved = float(np.linalg.norm(position - begun))
            if place is None and phase.until.is_ in _BESIDE and moved > _UNSEEN_M:
                return None  # not in view ahead: it is there already
            if place is not None and is_there(phase.until.is_, here, place, self.camera):
                return None
        left = float(np.linalg.norm(end - position))
        if left < 0.07 or float(np.dot(end - position, direction)) < 0.03:
            return None
        way, discs = np.stack([position, end]), self._discs(around)
        if not is_way_free(position, end, discs):  # straight ahead was said: go around only what is in the way
            way = route(position, end, discs)
        self.way = way
        speed, rate = follow(here, way, True, self.config.follow, around.discs(), self._speed_m_s, self._turning)
        return (min(speed, 0.45), rate) if phase.until is not None else (speed, rate)
