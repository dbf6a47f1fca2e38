"""FsPVN: the few-shot position visitation network, whole. Sections 4 to 6 in flight order.

    instruction ─► references R, anonymised instruction ─► psi(r), h_hat          once per instruction
    image ─► boxes, P(o | b), ALIGN(b, r), masks ─► map ─► d^p, d^g ─► v, omega, stop    every step

    policy = FsPVN.load()
    policy.reset(["stop in front of the globe"], [ObjectDatabase.load("my-objects")])
    actions = policy.act(Observations(slots, images, poses))
    policy.thought(0)      # everything it saw, inferred and decided in the last step

N drones fly side by side; every network runs once per step for all of them. Nothing gold is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera, fit_images
from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.grounding.density import Exemplars
from wayword.grounding.grounder import Grounding, Regions
from wayword.grounding.proposals import Proposals
from wayword.language.anonymise import PLACEHOLDER
from wayword.language.pipeline import LanguageModel, Parsed, ParsedChunk
from wayword.mapping import WorldMap, footprints, map_layers
from wayword.mapping.grid import frame_pose
from wayword.policy.control import Control
from wayword.policy.interface import Observations
from wayword.policy.stage1 import MOST_REFERENCES, Stage1Runtime, Words
from wayword.policy.taught import TaughtDatabase
from wayword.policy.tokens import tokenise
from wayword.shipped import DEFAULT_GROUNDER


@dataclass(frozen=True)
class FsPVNConfig:
    """What can be taken away from the policy, for the ablations of Section 7, and its camera."""

    blank_images: bool = False
    """NoI: it sees nothing."""
    empty_instructions: bool = False
    """NoU: it is told nothing."""
    mirror: bool = True
    """Stage 1 is asked a second time in a mirror (``Stage1Runtime``)."""
    camera: Camera = field(default_factory=Camera)
    """Whose images it is shown; what the networks were trained on is the default."""


@dataclass(frozen=True, eq=False)
class Thought:
    """One step of one drone."""

    parsed: Parsed
    pose: NDArray[np.float64]
    start: NDArray[np.float64]
    """x, y, yaw when the instruction was given."""
    grounding: Grounding
    footprints: NDArray[np.float32]
    references: NDArray[np.float32]
    """(R, 32, 32) on the world grid."""
    all_objects: NDArray[np.float32]
    coverage: NDArray[np.float32]
    distributions: NDArray[np.float32]
    """(2, 4097): d^p and d^g on the prediction grid, then "not yet observed"."""
    action: NDArray[np.float64]


@dataclass(eq=False)
class FlightMemory:
    """What is remembered of one instruction."""

    parsed: Parsed
    table: NDArray[np.float64]
    taught: TaughtDatabase
    candidates: Exemplars
    """The objects of ``taught`` that the instruction may mean; the columns of ``table``."""
    words: Words
    world: WorldMap
    start: NDArray[np.float64] | None = None
    thought: Thought | None = None


class FsPVN:
    """The policy with its frozen parts."""

    name = "fspvn"

    def __init__(
        self,
        language: LanguageModel,
        grounder: Grounder,
        stage1: Stage1Runtime,
        control: Control,
        config: FsPVNConfig | None = None,
    ) -> None:
        self.language, self.grounder, self.stage1, self.control = language, grounder, stage1, control
        self.config = config or FsPVNConfig()
        self.camera = self.config.camera.at_model_size()
        """The view of every image, in the pixels of the networks."""
        self._flights: list[FlightMemory] = []
        self._taught: dict[int, tuple[Any, TaughtDatabase]] = {}
        self._begun = False

    @classmethod
    def load(
        cls,
        weights: Path | str = "fspvn",
        grounder: Grounder | Path | str = DEFAULT_GROUNDER,
        config: FsPVNConfig | None = None,
        language: LanguageModel | None = None,
    ) -> FsPVN:
        """Shipped weights by name, or those in a folder; the same for ``grounder``, which may also be loaded already.

        Several policies in one process can share a grounder and a language model.
        """
        config = config or FsPVNConfig()
        stages = Stage1Runtime(weights, config.mirror), Control.load(weights)
        return cls(language or LanguageModel.load(), Grounder.of(grounder), *stages, config)

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Start N episodes; ``objects[i]`` is an ``ObjectDatabase``, its folder, or a ``TaughtDatabase``."""
        if len(instructions) != len(objects):
            raise WaywordError(f"{len(instructions)} instructions but {len(objects)} databases")
        earlier, self._taught = self._taught, {}
        self._flights = []
        for instruction, database in zip(instructions, objects, strict=True):
            taught = self._teach(database, earlier)
            self._flights.append(self._read("" if self.config.empty_instructions else instruction, taught))
        self._begun = False

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """Actions (M, 3) of the drones in ``observations.slots``."""
        slots = [int(slot) for slot in observations.slots]
        poses = np.asarray(observations.poses, np.float64)
        self._begin(slots, poses)
        sights = self._look(slots, fit_images(observations.images, self.camera), poses)
        return self._decide(slots, poses, sights)

    def _decide(
        self, slots: list[int], poses: NDArray[np.float64], sights: list[tuple[Grounding, NDArray[np.float32]]]
    ) -> NDArray[np.float64]:
        """Both stages of the policy, for the drones of ``slots``."""
        flights = [self._flights[slot] for slot in slots]
        references, others = zip(*(self._map(flight) for flight in flights), strict=True)
        distributions = self.stage1.predict([flight.words for flight in flights], references, np.stack(others))
        coverage = np.stack([flight.world.coverage for flight in flights])
        things = np.stack([flight.world.all_objects for flight in flights])
        actions = self.control.act(np.array(slots, np.int64), distributions, poses[:, [0, 1, 5]], coverage, things)
        for flight, pose, (grounding, stands), d, action in zip(
            flights, poses, sights, distributions, actions, strict=True
        ):
            world = flight.world
            assert flight.start is not None
            flight.thought = Thought(
                flight.parsed, pose, flight.start, grounding, stands, world.references.copy(),
                world.all_objects.copy(), world.coverage.copy(), d, action,
            )  # fmt: skip
        return actions

    def recall(self, image: NDArray[np.uint8], pose: NDArray[np.float64], slot: int = 0) -> None:
        """After ``reset``: what a drone saw, and where (6,), before it was told what to do. It goes into its map."""
        self._look([slot], fit_images(image[None], self.camera), np.asarray(pose, np.float64)[None])

    def thought(self, slot: int = 0) -> Thought:
        """What the policy saw, inferred and decided for a slot in its last step."""
        thought = self._flights[slot].thought
        if thought is None:
            raise WaywordError(f"slot {slot} has not acted yet")
        return thought

    def parsed(self, slot: int = 0) -> Parsed:
        """How the instruction of a slot was understood."""
        return self._flights[slot].parsed

    def _teach(self, database: Any, earlier: dict[int, tuple[Any, TaughtDatabase]]) -> TaughtDatabase:
        if isinstance(database, TaughtDatabase):
            return database
        if database is None:
            raise WaywordError("this policy must be taught its objects: give an object database")
        key = id(database)
        if key in earlier and earlier[key][0] is database:  # photos are embedded once, not once per reset
            self._taught[key] = earlier[key]
        if key not in self._taught:
            self._taught[key] = (database, TaughtDatabase.of(database, self.grounder))
        return self._taught[key][1]

    def _read(self, instruction: str, taught: TaughtDatabase, candidates: Exemplars | None = None) -> FlightMemory:
        """An instruction as it will be flown, with ``candidates`` that were chosen before, or its own."""
        parsed = self.language.parse(instruction, taught.phrases)
        candidates = candidates or taught.candidates(r.probabilities for r in parsed.references)
        tokens = tokenise(parsed.anonymised.text)
        count = min(len(parsed.references), MOST_REFERENCES, tokens.count(PLACEHOLDER))
        table = reference_table(parsed.references[:count], candidates)
        words, world = self.stage1.encode(tokens), WorldMap(count, self.camera)
        return FlightMemory(parsed, table, taught, candidates, words, world)

    def _begin(self, slots: list[int], poses: NDArray[np.float64]) -> None:
        """Where each drone is asked first is where its instruction was given."""
        if self._begun:
            return
        for slot, pose in zip(slots, poses, strict=True):
            self._flights[slot].start = frame_pose(pose)
        self.control.reset(np.array([np.zeros(3) if f.start is None else f.start for f in self._flights]))
        self._begun = True

    def _look(
        self, slots: list[int], images: NDArray[np.uint8], poses: NDArray[np.float64]
    ) -> list[tuple[Grounding, NDArray[np.float32]]]:
        """Segment every frame and add what it shows to its drone's map."""
        result = []
        for slot, pose, grounding in zip(slots, poses, self._segment(slots, images), strict=True):
            flight = self._flights[slot]
            stands = footprints(grounding.box_masks, grounding.boxes, pose, self.camera)
            flight.world.update(stands, grounding.p_box, grounding.alignment, pose)
            result.append((grounding, stands))
        return result

    def _segment(self, slots: list[int], images: NDArray[np.uint8]) -> list[Grounding]:
        """Boxes, alignment and masks of every frame (Equations 1 to 3)."""
        flights = [self._flights[slot] for slot in slots]
        blind = self.config.blank_images  # a black frame shows nothing, and no network need say so
        regions = [self._nothing()] * len(slots) if blind else self.grounder.regions(images)
        return [self.grounder.ground(r, f.table, f.candidates) for r, f in zip(regions, flights, strict=True)]

    def _nothing(self) -> Regions:
        """A frame without boxes."""
        height, width = self.camera.height, self.camera.width
        boxes = Proposals(np.zeros((0, 4), np.float32), np.zeros(0), np.zeros(0, np.float32))
        embeddings = np.zeros((0, self.grounder.config.dimension), np.float32)
        return Regions(boxes, embeddings, np.zeros((0, height, width), np.float32))

    def _map(self, flight: FlightMemory) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """What a drone has seen, from where it was told what to do: references (R, 64, 64), others (6, 64, 64)."""
        assert flight.start is not None
        return map_layers(flight.world.references, flight.world.all_objects, flight.world.coverage, flight.start)


def reference_table(references: Sequence[ParsedChunk], candidates: Exemplars) -> NDArray[np.float64]:
    """P(o | r) (R, M + 1) of references over the names of ``candidates``; what they may mean besides is none of these.

    No reference means "another taught object", whichever that is: two of them need not be the same.
    """
    names = candidates.names if candidates.crowd is None else candidates.names[:-1]
    rows = [[r.probabilities[name] for name in names] for r in references]
    if candidates.crowd is None:
        rows = [[*row, r.none] for row, r in zip(rows, references, strict=True)]
    else:
        rows = [[*row, 0.0, max(1.0 - sum(row), r.none)] for row, r in zip(rows, references, strict=True)]
    table = np.array(rows, np.float64).reshape(len(references), len(candidates.names) + 1)
    table /= np.maximum(table.sum(axis=1, keepdims=True), 1e-12)
    return table
