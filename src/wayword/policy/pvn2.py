"""PVN2 at flight time: the paper's baseline without few-shot grounding, through onnxruntime.

text.onnx         tokens (1, L)                                             ->  h (1, H)
image.onnx        pictures (N, 72, 128, 3), bytes                           ->  features (N, C, 18, 32)
visitation.onnx   h (N, H), S (N, C, 64, 64), others (N, 5, 64, 64)         ->  d^p, d^g as probabilities (N, 2, 4097)

    policy = PVN2_SEEN.load("runs/pvn2_seen/weights")
    policy.reset(["stop in front of the globe"], [None])
    actions = policy.act(Observations(slots, images, poses))

It reads the instruction as it was typed and is taught nothing: what it knows of objects is in its weights. PVN2-SEEN
has met the 64 seen objects, PVN2-ALL all 80. Stage 2 is FsPVN's; where that looks at what stands around, it is shown
nothing, since PVN2 does not tell things from ground. ``wayword.learning.policy.pvn2_export`` makes the files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera, fit_images
from wayword.errors import DataError, WaywordError
from wayword.grounding.backend import open_session
from wayword.mapping import FeatureMap, map_layers, world_to_prediction
from wayword.mapping.grid import PREDICTION_CELLS, WORLD_CELLS, frame_pose
from wayword.policy.control import Control
from wayword.policy.interface import Observations
from wayword.policy.mirror import mirrored_distributions, mirrored_maps, together
from wayword.policy.stage1 import SHIPPED
from wayword.policy.tokens import Vocabulary, mirrored, tokenise
from wayword.task import IMAGE_HEIGHT, IMAGE_WIDTH
from wayword.weight_folder import CONFIG, REMEDY, WeightFolder, holds_weights, locate

PVN2_SCHEMA = 1
NETWORK = "pvn2"
"""As config.json calls it, so that FsPVN's weights are not taken for PVN2's."""
PLAIN_CHANNELS = 5
"""Channels of the map that are not learned: observability, four boundaries."""
Objects = Literal["seen", "all"]
Floats = NDArray[np.float32]


def plain_layers(coverage: Floats, start: NDArray[np.float64]) -> Floats:
    """Observability and boundaries (5, 64, 64) of one drone, seen from its ``start`` (x, y, yaw)."""
    nothing = np.zeros((WORLD_CELLS, WORLD_CELLS), np.float32)
    return map_layers(nothing[None][:0], nothing, coverage, start)[1][-PLAIN_CHANNELS:]


class Pvn2Runtime:
    """The exported networks of stage 1 and their vocabulary.

    With ``mirror`` the last one is asked twice, the second time in a mirror, as FsPVN's is.
    """

    def __init__(self, weights: Path, mirror: bool = True) -> None:
        folder = WeightFolder.read(weights, PVN2_SCHEMA)
        self.mirror = mirror
        with folder.parsing() as settings:
            if settings.get("network") != NETWORK:
                raise DataError(weights / CONFIG, "is not of PVN2's weights; `wayword train pvn2` makes them")
            self.vocabulary = Vocabulary(tuple(settings["vocabulary"]))
            self.objects = str(settings["objects"])
            self.channels = int(settings["image"]["features"])
        files = ("text.onnx", "image.onnx", "visitation.onnx")
        self._text, self._image, self._visitation = (open_session(*folder.file(name)) for name in files)
        self._check(folder)

    def _check(self, folder: WeightFolder) -> None:
        """Ask every network once, so that another one, one of NaN, or a foreign vocabulary never flies."""
        words = len(self.vocabulary)
        if not self._knows(words - 1) or self._knows(words):
            raise DataError(folder.path / CONFIG, f"has {words} words, text.onnx knows others; {REMEDY}")
        cells = (PREDICTION_CELLS, PREDICTION_CELLS)
        name = "image.onnx"
        try:
            features = self.look(np.zeros((1, IMAGE_HEIGHT, IMAGE_WIDTH, 3), np.uint8))
            if features.shape[:2] != (1, self.channels):
                raise ValueError(f"features of {features.shape}")
            name = "visitation.onnx"
            empty = np.zeros((1, self.channels, *cells), np.float32)
            self.predict([self.read("stop")], empty, np.zeros((1, PLAIN_CHANNELS, *cells), np.float32))
        except Exception as error:  # onnxruntime raises its own kinds, which share no base class
            raise DataError(folder.path / name, f"is not the network wanted here; {REMEDY}") from error

    def _knows(self, number: int) -> bool:
        """Whether the text network has an embedding for a word of this number."""
        try:
            return bool(np.isfinite(self._text.run(None, {"tokens": np.array([[number]])})[0]).all())
        except Exception:  # onnxruntime's own kinds again
            return False

    def read(self, instruction: str) -> Floats:
        """h (1, H) of an instruction, or (2, H) with that of its mirror image behind it."""
        tokens = tokenise(instruction)
        texts = [tokens, mirrored(tokens)] if self.mirror else [tokens]
        return np.concatenate([self._text.run(None, {"tokens": self.vocabulary.numbers(t)[None]})[0] for t in texts])

    def look(self, images: NDArray[np.uint8]) -> Floats:
        """Features (N, C, 18, 32)."""
        features: Floats = self._image.run(None, {"images": images})[0]
        if not np.isfinite(features).all():
            raise ValueError("PVN2 saw something that is not finite")
        return features

    def predict(self, texts: Sequence[Floats], semantic: Floats, others: Floats) -> Floats:
        """Distributions (N, 2, 4097) from what ``read`` made of each instruction, S and others."""
        result = self._predict([text[0] for text in texts], semantic, others)
        if self.mirror:
            flipped = np.ascontiguousarray(semantic[:, :, ::-1])
            turned = self._predict([text[1] for text in texts], flipped, mirrored_maps(others))
            result = together(result, mirrored_distributions(turned))
        if not np.isfinite(result).all():
            raise ValueError("stage 1 predicted something that is not finite")
        return result

    def _predict(self, texts: Sequence[Floats], semantic: Floats, others: Floats) -> Floats:
        inputs = {"text": np.stack(texts), "semantic": semantic, "others": others}
        result: Floats = self._visitation.run(None, inputs)[0]
        return result


@dataclass(eq=False)
class _Memory:
    """What is remembered of one instruction."""

    text: Floats
    map: FeatureMap
    start: NDArray[np.float64]


class PVN2:
    """The policy with its frozen parts."""

    needs_objects = False

    def __init__(self, name: str, stage1: Pvn2Runtime, control: Control, camera: Camera | None = None) -> None:
        self.name, self.stage1, self.control = name, stage1, control
        self.camera = (camera or Camera()).at_model_size()
        """The view of every image, in the pixels of the networks."""
        self._flights: list[_Memory] = []
        self._begun = False

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Start N episodes; nothing is made of ``objects``."""
        self._flights = [
            _Memory(self.stage1.read(text), FeatureMap(self.stage1.channels, self.camera), np.zeros(3))
            for text in instructions
        ]
        self._begun = False

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """Actions (M, 3) of the drones in ``observations.slots``."""
        slots, poses = np.asarray(observations.slots, np.int64), np.asarray(observations.poses, np.float64)
        self._begin(slots, poses)
        flights = [self._flights[slot] for slot in slots]
        looks = self.stage1.look(fit_images(observations.images, self.camera))
        for flight, pose, features in zip(flights, poses, looks, strict=True):
            flight.map.update(features, pose)
        semantic = np.stack([world_to_prediction(flight.map.semantic, flight.start) for flight in flights])
        others = np.stack([plain_layers(flight.map.coverage, flight.start) for flight in flights])
        distributions = self.stage1.predict([flight.text for flight in flights], semantic, others)
        coverage = np.stack([flight.map.coverage for flight in flights])
        return self.control.act(slots, distributions, poses[:, [0, 1, 5]], coverage, np.zeros_like(coverage))

    def _begin(self, slots: NDArray[np.int64], poses: NDArray[np.float64]) -> None:
        """Where each drone is asked first is where its instruction was given."""
        if self._begun:
            return
        for slot, pose in zip(slots, poses, strict=True):
            self._flights[slot].start = frame_pose(pose)
        self.control.reset(np.array([flight.start for flight in self._flights]))
        self._begun = True


@dataclass(frozen=True)
class Predecessor:
    """PVN2 as a row of the table: which objects it has met in training, and where its weights are."""

    name: str
    objects: Objects

    def beside(self, weights: Path | str | None = None) -> Path:
        """Its folder beside FsPVN's, which ``weights`` names; beside the shipped ones if None."""
        main = SHIPPED / "fspvn" if weights is None else locate(weights, SHIPPED).resolve()
        return main.with_name(self.name)

    def load(self, weights: Path | str | None = None, camera: Camera | None = None) -> PVN2:
        """The policy, with the weights in a folder of its own; by default those beside FsPVN's shipped ones."""
        folder = self.beside() if weights is None else locate(weights, SHIPPED)
        if not holds_weights(folder):
            raise WaywordError(
                f"{folder}: holds no weights of {self.name}; `wayword train pvn2 --objects {self.objects}` makes them"
            )
        stage1 = Pvn2Runtime(folder)
        if stage1.objects != self.objects:
            raise DataError(folder / CONFIG, f"was trained with --objects {stage1.objects}, which is not {self.name}")
        return PVN2(self.name, stage1, Control.load(folder), camera)


PVN2_SEEN = Predecessor("pvn2_seen", "seen")
PVN2_ALL = Predecessor("pvn2_all", "all")
PREDECESSORS: Mapping[str, Predecessor] = MappingProxyType({each.name: each for each in (PVN2_SEEN, PVN2_ALL)})
