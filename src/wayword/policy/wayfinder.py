"""Wayfinder: the policy for whatever people type. It reads a text into what is to be done, and does it with one map.

    text ─► reader ─► steps ────────► landmarks ─► flyer of steps ─┐
                   ├► description ──► FsPVN, leg by leg ───────────┼─► v, omega, stop
                   └► refusal ──────► does not take off, says why ─┘

Steps ("go to the globe, circle it twice, come back") are flown on the landmarks of the map, by name or by where things
stand; descriptions of a way, as the natural corpus has them, by FsPVN's two learned stages, one leg after the other.
Both see through the same eyes, and what was seen stays known from leg to leg. An extension of the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.episodes.commands import Step
from wayword.episodes.format import PlacedObject, Pose2
from wayword.grounding.align import align
from wayword.grounding.grounder import Grounding
from wayword.language.reader import Reading, Thing
from wayword.mapping.grid import frame_pose
from wayword.mapping.landmarks import Landmarks
from wayword.mapping.settled_map import SettledMap
from wayword.policy.fspvn import FlightMemory, FsPVN, Thought, reference_table
from wayword.policy.perfect import PerfectFsPVN
from wayword.policy.steps.flyer import StepFlyer
from wayword.policy.steps.held_up import HeldUp
from wayword.policy.steps.keep_clear import keep_clear
from wayword.policy.steps.planned import planned_distributions
from wayword.policy.steps.surroundings import BelievedLayout, solid_discs
from wayword.task import DECISION_S, STOP_THRESHOLD

_AT_ONCE = 2
"""Segments of a description that are flown together."""


@dataclass(eq=False)
class _Plan:
    """What is to be done in one slot."""

    reading: Reading
    map: SettledMap
    flyer: StepFlyer | None = None
    layout: BelievedLayout | None = None
    legs: list[str] = field(default_factory=list)
    """Texts of the legs of a description that are still to come."""
    held_up: HeldUp = field(default_factory=HeldUp)
    last: NDArray[np.float64] | None = None
    """Where the drone was at the decision before."""


class Wayfinder(FsPVN):
    """Reads, then flies steps or describes ways, or refuses."""

    name = "wayword"
    horizon = 240
    """Decisions a long command may take: two minutes."""
    reader: Any = None
    anyway = False
    """Whether a text that is not understood is flown all the same, as if it described a way."""
    clear = True
    """Whether ways that are described are flown clear of things."""
    settled = True
    """Whether what was seen counts with what is believed of it by now, or with what each frame said."""
    _plans: list[_Plan]

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Read N texts; ``reading`` and ``refusal`` say what was understood."""
        super().reset(instructions, objects)
        if self.reader is None:
            from wayword.language.reader import Reader

            self.reader = Reader.load()
        self._plans = []
        for slot, flight in enumerate(self._flights):
            reading = self.reader.read(flight.parsed, flight.taught.phrases)
            if reading.kind == "refusal" and self.anyway:
                reading = Reading("description")
            flight = self._flights[slot] = self._speak_of(flight, reading.things.values())
            self._plans.append(self._plan(reading, flight.candidates.names))
            if reading.kind == "description" and len(reading.legs) > _AT_ONCE:
                # FsPVN has learned instructions of two segments: that many are flown as one leg.
                pairs = [reading.legs[k : k + _AT_ONCE] for k in range(0, len(reading.legs), _AT_ONCE)]
                legs = [flight.parsed.text[pair[0][0] : pair[-1][1]] for pair in pairs]
                self._flights[slot] = self._read(legs[0], flight.taught, flight.candidates)
                self._plans[slot].legs = legs[1:]

    def _speak_of(self, flight: FlightMemory, things: Iterable[Thing]) -> FlightMemory:
        """The flight with these things among its candidates: a name may be read where no reference was noticed."""
        if flight.candidates.crowd is None:
            return flight
        meanings = [thing.probabilities for thing in things] + [r.probabilities for r in flight.parsed.references]
        candidates = flight.taught.candidates(meanings)
        table = reference_table(flight.parsed.references[: len(flight.table)], candidates)
        return replace(flight, candidates=candidates, table=table)

    def _plan(self, reading: Reading, names: tuple[str, ...]) -> _Plan:
        landmarks = Landmarks(names, self.camera)
        if reading.kind != "steps":
            return _Plan(reading, SettledMap(landmarks))
        selects = any(thing.select is not None for thing in reading.things.values())
        flyer = StepFlyer(reading.steps, self.camera, selects)
        return _Plan(reading, SettledMap(landmarks), flyer, BelievedLayout(landmarks, reading.things))

    def reading(self, slot: int = 0) -> Reading:
        """What was understood of the text of a slot."""
        return self._plans[slot].reading

    def refusal(self, slot: int = 0) -> str | None:
        """Why the text of a slot is not flown, or what could not be found; None if all is well so far."""
        plan = self._plans[slot]
        if plan.reading.refusal is not None:
            return plan.reading.refusal
        lost = None if plan.flyer is None else plan.flyer.lost
        return None if lost is None else f"I did not find {plan.reading.things[lost].phrase}"

    def step_number(self, slot: int = 0) -> int | None:
        """Which step of the reading is being flown, from 0; None if none is."""
        plan = self._plans[slot]
        if plan.flyer is None:
            return None
        flown = [number for number, step in enumerate(plan.reading.steps) if step.do not in ("avoid", "stay")]
        if plan.flyer.index >= len(plan.flyer.steps):
            return None
        return flown[min(plan.flyer.index, len(flown) - 1)]  # the way to what a last search found belongs to it

    def _look(
        self, slots: list[int], images: NDArray[np.uint8], poses: NDArray[np.float64]
    ) -> list[tuple[Grounding, NDArray[np.float32]]]:
        sights = super()._look(slots, images, poses)
        for slot, pose, (grounding, stands) in zip(slots, poses, sights, strict=True):
            plan, flight = self._plans[slot], self._flights[slot]
            plan.map.add(stands, grounding.p_box, grounding.p_object_of_box, pose)
            if self.settled:
                flight.world.references[:] = plan.map.references(flight.table)
        return sights

    def _decide(
        self, slots: list[int], poses: NDArray[np.float64], sights: list[tuple[Grounding, NDArray[np.float32]]]
    ) -> NDArray[np.float64]:
        actions = np.zeros((len(slots), 3))
        described = [row for row, slot in enumerate(slots) if self._plans[slot].reading.kind == "description"]
        if described:
            rows = np.array(described)
            actions[rows] = super()._decide([slots[r] for r in described], poses[rows], [sights[r] for r in described])
            for row in described:
                self._keep_clear(slots[row], poses[row], actions[row])
                self._next_leg(slots[row], poses[row], actions[row])
        for row, slot in enumerate(slots):
            plan = self._plans[slot]
            if plan.reading.kind == "refusal":
                actions[row] = 0.0, 0.0, 1.0
            elif plan.flyer is not None and plan.layout is not None:
                actions[row] = plan.flyer.decide(frame_pose(poses[row]), plan.layout)
            if plan.reading.kind != "description":
                self._remember(slot, poses[row], sights[row], actions[row])
        return actions

    def _keep_clear(self, slot: int, pose: NDArray[np.float64], action: NDArray[np.float64]) -> None:
        """Change what FsPVN's control network asks for where that would touch: it has learned not to, and errs."""
        plan, here = self._plans[slot], frame_pose(pose)
        speed = 0.0 if plan.last is None else math.dist(here[:2], plan.last[:2]) / DECISION_S
        plan.last = here
        if action[2] > STOP_THRESHOLD or not self.clear:
            return
        discs = solid_discs(plan.map.landmarks.recognised)
        flight = self._flights[slot]
        assert flight.thought is not None
        assert flight.start is not None
        motion = plan.held_up.decide(here, flight.thought.distributions[1], flight.start, discs)
        if motion is not None:
            action[:] = motion
        else:
            action[:2] = keep_clear(here, speed, (float(action[0]), float(action[1])), discs)

    def _next_leg(self, slot: int, pose: NDArray[np.float64], action: NDArray[np.float64]) -> None:
        """At the end of a leg the next one begins where the drone is, with all that was seen so far."""
        plan = self._plans[slot]
        if action[2] <= STOP_THRESHOLD or not plan.legs:
            return
        before, text = self._flights[slot], plan.legs.pop(0)
        flight = self._read(text, before.taught, before.candidates)
        for look in plan.map.sightings:
            alignment = align(look.of_box, look.p_box, flight.table)
            flight.world.update(look.stands, look.p_box, alignment, look.pose)
        flight.start = frame_pose(pose)
        flight.thought = before.thought
        self._flights[slot] = flight
        plan.held_up = HeldUp()
        self.control.restart([slot], flight.start[None])
        action[:] = 0.0, 0.0, 0.0

    def _remember(
        self,
        slot: int,
        pose: NDArray[np.float64],
        sight: tuple[Grounding, NDArray[np.float32]],
        action: NDArray[np.float64],
    ) -> None:
        """What the drone thinks while it flies steps, for film, page and trace."""
        flight, (grounding, stands) = self._flights[slot], sight
        assert flight.start is not None
        world, flyer = flight.world, self._plans[slot].flyer
        distributions = planned_distributions(None if flyer is None else flyer.way, flight.start)
        flight.thought = Thought(
            flight.parsed, pose, flight.start, grounding, stands, world.references.copy(),
            world.all_objects.copy(), world.coverage.copy(), distributions, action,
        )  # fmt: skip


class ToldWayfinder(Wayfinder):
    """Wayfinder that is told the steps instead of a text: what it gains is what reading costs."""

    name = "wayword_told"

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Take the texts; the steps must be given with ``brief_steps``."""
        FsPVN.reset(self, instructions, objects)
        self._plans = []

    def brief_steps(
        self,
        steps: Sequence[Sequence[Step]],
        layouts: Sequence[Sequence[PlacedObject]],
        starts: Sequence[Pose2],
    ) -> None:
        """What is meant; where things stand is not looked at."""
        for slot, one in enumerate(steps):
            things = {name: Thing(name, {name: 1.0}) for step in one for name in step.mentioned}
            self._flights[slot] = self._speak_of(self._flights[slot], things.values())
            names = self._flights[slot].candidates.names
            refusal = None if one else "there is nothing to do"
            reading = Reading("steps" if one else "refusal", tuple(one), things, refusal=refusal)
            self._plans.append(self._plan(reading, names))


class PerfectWayfinder(Wayfinder, PerfectFsPVN):
    """Wayfinder with true masks: what it gains is what segmentation costs."""

    name = "wayword_perfect"
