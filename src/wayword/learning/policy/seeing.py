"""The world of process B: real pictures, the trained segmentation, and stage 1 as it is at the moment.

As ``teacher.TeacherWorld``, but what the control network is shown comes from what the drones really see. Each
flight has a database of its own, and is recorded as an ``Execution`` for process A.

Half of the time of such a flight goes into its segmentation (5.2 of 10.0 ms per step). A share of the worlds
(``Eyes.imagined``) therefore has none: boxes and masks are the true ones, and what they look like is said by a photo of
the object. Stage 2, which sees nothing but distributions, learns from these too; process A is not shown them.

    world = SeeingWorld(items, eyes, stage1, control, rng)
    flights = teacher.fly_world(world, actor, reward)
    world.executions()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wayword.grounding import Grounder
from wayword.grounding.align import align
from wayword.grounding.density import Exemplars, probabilities
from wayword.learning.policy.dataset import Item, draw_exemplars, encoded_words, prefix_of
from wayword.learning.policy.executions import Execution, FramePart, bare_frame, join_frames
from wayword.learning.policy.flights import regions_of
from wayword.learning.policy.imagined import Photos, imagined_frame
from wayword.learning.policy.networks import Stage1
from wayword.learning.policy.readings import ReadInstruction
from wayword.learning.policy.teacher import TeacherConfig, TeacherWorld
from wayword.mapping import WorldMap, map_layers
from wayword.policy.control import ControlConfig
from wayword.policy.mirror import mirrored_distributions, mirrored_maps, together
from wayword.policy.stage1 import MOST_REFERENCES
from wayword.policy.tokens import Vocabulary, mirrored, placeholders
from wayword.policy.word_states import WordStates
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look, random_look
from wayword.sim.render.renderer import Renderer
from wayword.sim.render.sensor import Sensor, SensorConfig

_COLUMN_CAP_M = ArenaConfig().column_cap_m
_Text = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, eq=False)
class Eyes:
    """What stays the same over all flights: meshes, segmentation, photos, words."""

    bank: MeshBank
    grounder: Grounder
    photos: Photos
    vocabulary: Vocabulary
    sensor: SensorConfig = field(default_factory=SensorConfig)
    random_looks: float = 0.25
    photos_each: int = 5
    prefixes: float = 0.3
    """How often only the first of two segments is flown, where it was read."""
    mirror: bool = False
    """Stage 1 is asked a second time in a mirror, as it is in flight."""
    imagined: float = 0.0
    """Share of worlds without segmentation."""
    encoder: WordStates | None = None
    """Reads every word beside stage 1, where that asks for it."""
    blank_images: bool = False
    """Nothing is seen, as in FsPVN-NoI."""
    empty_instructions: bool = False
    """Nothing is told, as in FsPVN-NoU."""


class SeeingWorld(TeacherWorld):
    """N flights side by side through the whole of stage 1."""

    def __init__(
        self,
        items: Sequence[Item],
        eyes: Eyes,
        stage1: Stage1,
        control: ControlConfig,
        rng: np.random.Generator,
        teacher: TeacherConfig | None = None,
    ) -> None:
        """``teacher`` says what is flown there and with what; its noise is not, for what is seen is no teacher's."""
        self.eyes, self.stage1, self.items = eyes, stage1, items
        config = replace(teacher or TeacherConfig(), noise=None)
        self.imagined = eyes.imagined > 0 and rng.random() < eyes.imagined
        self.whole = [
            item.readings.prefix is None or item.example.count == 1 or rng.random() >= eyes.prefixes for item in items
        ]
        self._readings = [_reading(item, whole) for item, whole in zip(items, self.whole, strict=True)]
        if eyes.empty_instructions:
            self._readings = [reading.untold for reading in self._readings]
        self._exemplars: list[Exemplars] = [
            draw_exemplars(reading.names, eyes.photos, eyes.photos_each, rng) for reading in self._readings
        ]
        self._worlds = [WorldMap(min(len(reading.table), MOST_REFERENCES), config.camera) for reading in self._readings]
        self._parts: list[list[Any]] = [[] for _ in items]
        self._renderer = Renderer(eyes.bank, config.camera)
        self._sensor = Sensor(eyes.sensor)
        self._rngs = [np.random.default_rng(rng.integers(2**63)) for _ in items]
        looks = [random_look(own) if own.random() < eyes.random_looks else Look() for own in self._rngs]
        self._scenes = [
            self._renderer.scene(item.example.objects, look, item.example.episode.arena_m)
            for item, look in zip(items, looks, strict=True)
        ]
        self._text = self._read()
        self._turned_text = self._read(mirror=True) if eyes.mirror else []
        super().__init__([item.example for item in items], config, control, rng)

    def executions(self) -> list[Execution]:
        """What was seen on each flight."""
        return [join_frames(parts) for parts in self._parts]

    @property
    def exemplary(self) -> list[bool]:
        """Whether each flight may stand for its instruction among process A's data: flown to its end, really seen."""
        return [whole and not self.imagined for whole in self.whole]

    def errors_m(self) -> NDArray[np.float64]:
        """Distance (N,) of each drone to the end of what it was told."""
        ends = np.array([
            item.example.path[-1] if whole else prefix_of(item.example, item.execution)[0][-1]
            for item, whole in zip(self.items, self.whole, strict=True)
        ])  # fmt: skip
        errors: NDArray[np.float64] = np.linalg.norm(self.fleet.pose[:, :2] - ends, axis=1)
        return errors

    def _column_m(self, name: str) -> float:
        return min(self.eyes.bank.column_m[name], _COLUMN_CAP_M)

    def _draw_discs(self, rng: np.random.Generator) -> NDArray[np.float32]:
        return self.things  # what stands around is seen here, not known

    @torch.inference_mode()
    def _read(self, mirror: bool = False) -> list[_Text]:
        """psi(r) (1, R, D) and h_hat (1, D) of every instruction, with left for right if wanted."""
        self.stage1.eval()
        result = []
        for reading, world in zip(self._readings, self._worlds, strict=True):
            tokens = mirrored(list(reading.tokens)) if mirror else reading.tokens
            numbers = torch.from_numpy(self.eyes.vocabulary.numbers(tokens))[None]
            places = torch.from_numpy(placeholders(tokens)[: len(world.references)])[None]
            encoded = torch.from_numpy(encoded_words(self.eyes.encoder, tokens))[None]
            result.append(self.stage1.read(numbers, torch.tensor([numbers.shape[1]]), places, encoded))
        return result

    def _look(self, slots: NDArray[np.int64]) -> None:
        if not len(slots):
            return
        frames = self._renderer.render([self._scenes[n] for n in slots], self.fleet.pose[slots])
        if self.eyes.blank_images:
            frame_parts = [self._nothing(int(n)) for n in slots]
        elif self.imagined:
            frame_parts = [self._imagine(int(n), ids) for n, ids in zip(slots, frames.ids, strict=True)]
        else:
            images = self._sensor.apply(frames.rgb, [self._rngs[n] for n in slots])
            frame_parts = regions_of(self.eyes.grounder, images, self.poses[slots], self.config.camera)
        maps = []
        for n, part in zip(slots, frame_parts, strict=True):
            pose, stands, p_box, embeddings = part
            of_box = probabilities(embeddings, self._exemplars[n], self.eyes.grounder.config.density)
            world = self._worlds[n]
            table = self._readings[n].probabilities()[: len(world.references)]
            world.update(stands, p_box, align(of_box, p_box, table), pose)
            self.coverage[n], self.things[n] = world.coverage, world.all_objects
            maps.append(map_layers(world.references, world.all_objects, world.coverage, self.starts[n]))
            self._parts[n].append(part)
        self.distributions[slots] = self._predict(slots, maps, self._text)
        if self.eyes.mirror:
            turned = [(masks[:, ::-1], mirrored_maps(rest)) for masks, rest in maps]
            other = mirrored_distributions(self._predict(slots, turned, self._turned_text))
            self.distributions[slots] = together(self.distributions[slots], other)

    def _nothing(self, n: int) -> FramePart:
        pose, stands, p_box, _ = bare_frame(self.poses[n])
        return pose, stands, p_box, np.zeros((0, self._exemplars[n].vectors.shape[1]), np.float32)

    def _imagine(self, n: int, ids: NDArray[np.uint8]) -> FramePart:
        names = [item.name for item in self.items[n].example.objects]
        return imagined_frame(ids, names, self.eyes.photos, self.poses[n], self.config.camera, self._rngs[n])

    @torch.inference_mode()
    def _predict(
        self,
        slots: NDArray[np.int64],
        maps: list[tuple[NDArray[np.float32], NDArray[np.float32]]],
        text: Sequence[_Text],
    ) -> NDArray[np.float32]:
        most = max(1, *(len(masks) for masks, _ in maps))
        references = np.zeros((len(maps), most, *maps[0][1].shape[1:]), np.float32)
        psi = torch.zeros(len(maps), most, self.stage1.size.context)
        for row, (n, (masks, _)) in enumerate(zip(slots, maps, strict=True)):
            references[row, : len(masks)] = masks
            psi[row, : len(masks)] = text[n][0][0]
        mean = torch.cat([text[n][1] for n in slots])
        others = torch.from_numpy(np.stack([rest for _, rest in maps]))
        logits = self.stage1(psi, mean, torch.from_numpy(references), others)
        return torch.softmax(logits, dim=2).numpy()


def _reading(item: Item, whole: bool) -> ReadInstruction:
    if whole or item.readings.prefix is None:
        return item.readings.whole
    return item.readings.prefix
