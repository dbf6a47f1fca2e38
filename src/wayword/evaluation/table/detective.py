"""Gathering the evidence about a flight: what the policy thought and what was true, watched side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.evaluation.runner import ScoredFlight, Witness
from wayword.evaluation.table.attribution import (
    PASSED_M,
    Attribution,
    Evidence,
    KnownMention,
    Point,
    ReadReference,
    Relabelled,
    attribute,
)
from wayword.mapping.grid import CELL_M, UNOBSERVED, prediction_centres, to_world
from wayword.policy import Policy, Thinking
from wayword.policy.fspvn import FsPVN, Thought
from wayword.policy.perfect import TrueLabelFsPVN
from wayword.sim.render.renderer import Frames

LEAST_MASK = 0.1
"""A mask that is nowhere larger marks nothing."""
IN_VIEW_PIXELS, IN_VIEW_DECISIONS = 30, 2
"""An object came into view if at least so many of its pixels were visible at this many decisions."""


@dataclass(eq=False)
class _Watched:
    """What is remembered of a flight under way."""

    decisions_seen: NDArray[np.int64]
    strongest: NDArray[np.float64]
    box_right: NDArray[np.bool_]
    thought: Thought | None = None


@dataclass(eq=False)
class Detective:
    """A ``Witness`` that judges every flight; ``mentions`` says by example what its instruction refers to."""

    mentions: dict[str, tuple[KnownMention, ...]] = field(default_factory=dict)
    verdicts: dict[str, Attribution] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    pictures: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is needed to draw a failed flight, as plain values."""
    _watched: dict[int, _Watched] = field(default_factory=dict)

    def saw(
        self,
        policy: Policy,
        chunk: Sequence[Example],
        slots: NDArray[np.int64],
        frames: Frames,
        poses: NDArray[np.float64],
    ) -> None:
        """Remember what was in view and which boxes marked the references."""
        assert isinstance(policy, Thinking)
        for slot, ids in zip(slots.tolist(), frames.ids, strict=True):
            layout, thought = chunk[slot].objects, policy.thought(slot)
            count = len(thought.references)
            if slot not in self._watched:
                self._watched[slot] = _Watched(np.zeros(len(layout), np.int64), np.zeros(count), np.zeros(count, bool))
            watched = self._watched[slot]
            watched.thought = thought
            watched.decisions_seen += np.bincount(ids.ravel(), minlength=len(layout) + 1)[1:] >= IN_VIEW_PIXELS
            _follow_boxes(watched, thought, [item.name for item in layout], ids)

    def ended(self, slot: int, flight: ScoredFlight) -> None:
        """Judge the flight."""
        watched = self._watched.pop(slot)
        assert watched.thought is not None
        example, thought = flight.example, watched.thought
        evidence = Evidence(
            instruction=example.instruction,
            layout=example.objects,
            references=_references(watched, thought),
            in_view=frozenset(
                item.name
                for item, times in zip(example.objects, watched.decisions_seen, strict=True)
                if times >= IN_VIEW_DECISIONS
            ),
            passed=passed_by(example),
            goal=goal_of(thought),
            gold_end=_point(example.path[-1]),
            flown_end=_point(flight.path[-1]),
            arrived=flight.metrics.sr,
            mentions=self.mentions.get(example.id),
        )
        self.evidence[example.id] = evidence
        self.verdicts[example.id] = attribute(evidence)
        if not flight.metrics.sr:
            self.pictures[example.id] = _picture(flight, thought, evidence)


def fly_relabelled(
    policy: Policy,
    flights: Sequence[ScoredFlight],
    detective: Detective,
    fly: Callable[[Policy, int, Witness], ScoredFlight],
) -> None:
    """Fly what failed again with true labels and judge it anew; ``fly`` flies the example of a number.

    Only a policy that looks, listens and labels its boxes itself can be helped in this way.
    """
    if type(policy) is not FsPVN or policy.config.blank_images or policy.config.empty_instructions:
        return
    helped = TrueLabelFsPVN.like(policy)
    for number, flight in enumerate(flights):
        if not flight.metrics.sr:
            name, witness = flight.example.id, Detective(detective.mentions)
            again = fly(helped, number, witness)
            relabelled = Relabelled(again.metrics.sr, witness.verdicts[name].signs)
            detective.verdicts[name] = attribute(detective.evidence[name], relabelled)


def _follow_boxes(watched: _Watched, thought: Thought, layout: list[str], ids: NDArray[np.uint8]) -> None:
    """Per reference, whether the box that marked the map strongest so far shows the reference's object."""
    count = len(thought.footprints)
    if not count:  # nothing seen, or nothing to be seen
        return
    weights = thought.grounding.alignment[:, :count] * thought.footprints[:, 3]
    for r, reference in enumerate(thought.parsed.references[: len(weights)]):
        box = int(np.argmax(weights[r]))
        if weights[r, box] <= watched.strongest[r] or reference.best is None:
            continue
        watched.strongest[r] = weights[r, box]
        inside = thought.grounding.box_masks[box] > 0.5
        own = layout.index(reference.best) + 1 if reference.best in layout else -1
        watched.box_right[r] = bool(inside.any() and (ids[inside] == own).mean() >= 0.5)


def _references(watched: _Watched, thought: Thought) -> tuple[ReadReference, ...]:
    result = []
    for r, reference in enumerate(thought.parsed.references[: len(thought.references)]):
        mask = thought.references[r]
        row, column = np.unravel_index(int(np.argmax(mask)), mask.shape)
        peak = ((column + 0.5) * CELL_M, (row + 0.5) * CELL_M) if mask[row, column] >= LEAST_MASK else None
        right = bool(watched.box_right[r])
        result.append(ReadReference(reference.text, *reference.original, reference.best, peak, right))
    return tuple(result)


def passed_by(example: Example) -> frozenset[str]:
    """The objects near the demonstration."""
    apart = {o.name: np.hypot(*(example.path - (o.x, o.y)).T).min() for o in example.objects}
    return frozenset(name for name, distance in apart.items() if distance <= PASSED_M)


def goal_of(thought: Thought) -> Point | None:
    """Where d^g peaks in the world; None if more likely than not it is not yet observed."""
    goal = thought.distributions[1]
    if goal[UNOBSERVED] > 0.5:
        return None
    u_v = prediction_centres().reshape(-1, 2)[int(np.argmax(goal[:UNOBSERVED]))]
    return _point(to_world(u_v, thought.start))


def _point(place: NDArray[np.float64]) -> Point:
    return float(place[0]), float(place[1])


def _picture(flight: ScoredFlight, thought: Thought, evidence: Evidence) -> dict[str, Any]:
    """The flight for the page of failures: the flown path, d^g where it is not small, the references' peaks."""
    goal = thought.distributions[1][:UNOBSERVED]
    cells = np.argsort(-goal, kind="stable")[:80]
    cells = cells[goal[cells] >= 0.05 * goal[cells[0]]]
    places = to_world(prediction_centres().reshape(-1, 2)[cells], thought.start)
    strength = goal[cells] / max(float(goal[cells[0]]), 1e-12)
    return {
        "path": flight.path[:: max(1, len(flight.path) // 120)].round(3).tolist() + flight.path[-1:].round(3).tolist(),
        "yaw": round(float(flight.poses[-1, 5]), 3),
        "goal": np.column_stack([places, strength]).round(3).tolist(),
        "unobserved": round(float(thought.distributions[1][UNOBSERVED]), 3),
        "marks": [
            {
                "span": [reference.start, reference.end],
                "means": reference.best,
                "peak": [round(c, 3) for c in reference.peak] if reference.peak else None,
            }
            for reference in evidence.references
        ],
    }
