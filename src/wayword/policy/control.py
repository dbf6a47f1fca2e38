"""Stage 2 at flight time: what the control network is shown, and how its answer becomes an action.

d^p, d^g      (N, 2, 4097)      probabilities on the prediction grid, then P(not yet observed)
start, pose   (N, 3)            x, y, yaw when the instruction was given, and now; world frame
M^W           (N, 32, 32)       coverage, and how surely anything stands there, in [0, 1] on the world grid
trail         (N, 64, 64)       1 where the drone has been, on the prediction grid
inputs        (N, size)         image (C, 16, 16), masks (2, 16, 16) and summary (S,) of each drone, end to end
outputs       (N, 5)            mean and standard deviation of v, of omega (in units of their limits), stop logit

The image is the 2.35 m square around the drone, cells as on the prediction grid, column ahead and row to the left;
the masks are all 9.4 m around it, pooled 4 x 4. ``PAPER`` is the paper's input; the default differs:
- d^p and d^g are divided by their maximum over the grid, not over the crop, where the network cannot see whether
  the crop holds a peak or its far tail
- a trail channel: without it the two directions along d^p look the same
- a summary of what lies outside the crop: where the goal and the rest of the way are, how much of them, how sure
- what stands around (``things``): d^p leads past things closely and does not say where their edges are
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.grounding.backend import Network, OnnxNetwork
from wayword.io import write_json
from wayword.mapping.grid import PREDICTION_CELLS, UNOBSERVED, WORLD_CELLS
from wayword.policy.control_kernels import mark_segments, write_images, write_masks, write_summaries, write_things
from wayword.task import MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S
from wayword.weight_folder import WeightFolder, content_digest, locate, reading

Floats = NDArray[np.float32]
CROP = 16
SUMMARY = 16
SCHEMA = 1
SHIPPED = Path(__file__).parent / "weights"
RECORD = "control.json"


@dataclass(frozen=True)
class ControlConfig:
    """Which inputs the control network gets."""

    scale: Literal["grid", "crop"] = "grid"
    """Divide d^p and d^g by their maximum over the whole grid, or over the crop as the paper does."""
    trail: bool = True
    """Show where the drone has been."""
    summary: bool = True
    """Add the numbers of ``write_summaries``."""
    things: bool = False
    """Show what stands around, the last channel of the image."""

    @property
    def channels(self) -> int:
        """C of the image."""
        return 4 + self.trail + self.things

    @property
    def size(self) -> int:
        """Length of one drone's inputs."""
        return (self.channels + 2) * CROP * CROP + (SUMMARY if self.summary else 0)


PAPER = ControlConfig(scale="crop", trail=False, summary=False)


class ControlInputs(NamedTuple):
    """The parts of packed inputs, as views."""

    image: Floats
    """(N, C, 16, 16): d^p, d^g, P_p(unobserved), P_g(unobserved), trail, things."""
    masks: Floats
    """(N, 2, 16, 16): not yet observed, boundary."""
    summary: Floats
    """(N, S)."""


class Trails:
    """Where N drones have been: cells touched so far, and the motion of the last decision."""

    def __init__(self, starts: ArrayLike) -> None:
        self.starts = np.array(starts, np.float64).reshape(-1, 3)
        count = len(self.starts)
        self.maps = np.zeros((count, PREDICTION_CELLS, PREDICTION_CELLS), np.float32)
        self.motion = np.zeros((count, 2), np.float32)
        """(N, 2): way made forward in metres and turn in radians since the decision before."""
        self._last = self.starts.copy()
        mark_segments(self.maps, self.starts, self.starts, self.starts, np.arange(count))

    def reset(self, slots: ArrayLike, starts: ArrayLike) -> None:
        """Begin anew in ``slots`` (M,) at ``starts`` (M, 3)."""
        index = np.asarray(slots, np.int64)
        self.starts[index] = self._last[index] = np.asarray(starts, np.float64)
        self.maps[index] = 0
        self.motion[index] = 0
        mark_segments(self.maps, self.starts, self.starts, self.starts, index)

    def add(self, slots: ArrayLike, poses: ArrayLike) -> None:
        """The drones of ``slots`` (M,) are now at ``poses`` (M, 3)."""
        index, now = np.asarray(slots, np.int64), self._last.copy()
        now[index] = np.asarray(poses, np.float64)
        mark_segments(self.maps, self.starts, self._last, now, index)
        step, yaw = now[index] - self._last[index], now[index, 2]
        self.motion[index, 0] = step[:, 0] * np.cos(yaw) + step[:, 1] * np.sin(yaw)
        self.motion[index, 1] = (step[:, 2] + np.pi) % (2 * np.pi) - np.pi
        self._last = now


def control_inputs(
    distributions: Floats,
    starts: ArrayLike,
    poses: ArrayLike,
    coverage: Floats,
    trail: Floats,
    motion: Floats,
    things: Floats,
    config: ControlConfig | None = None,
) -> Floats:
    """Packed inputs (N, size); ``trail`` and ``motion`` are rows of a ``Trails``.

    ``trail``, ``motion`` and ``things``, M^W of any object, are unread where not configured.
    """
    config = config or ControlConfig()
    count = len(distributions)
    start, pose = (np.ascontiguousarray(p, np.float64).reshape(-1, 3) for p in (starts, poses))
    shapes = {
        "distributions": (distributions.shape, (count, 2, UNOBSERVED + 1)),
        "starts": (start.shape, (count, 3)),
        "poses": (pose.shape, (count, 3)),
        "coverage": (coverage.shape, (count, WORLD_CELLS, WORLD_CELLS)),
        "trail": (trail.shape, (count, PREDICTION_CELLS, PREDICTION_CELLS)),
        "motion": (motion.shape, (count, 2)),
        "things": (things.shape, (count, WORLD_CELLS, WORLD_CELLS)),
    }
    for name, (shape, expected_shape) in shapes.items():
        if shape != expected_shape:
            raise ValueError(f"{name} has shape {shape}, not {expected_shape}")
    result = np.zeros((count, config.size), np.float32)
    parts = unpack(result, config)
    grids = parts.image[:, : config.channels - config.things]
    write_images(distributions, start, pose, trail, config.scale == "crop", grids)
    if config.things:
        write_things(things, pose, parts.image[:, -1])
    write_masks(coverage, pose, parts.masks)
    if config.summary:
        write_summaries(distributions, start, pose, trail, motion, parts.summary)
    return result


def unpack(inputs: Floats, config: ControlConfig) -> ControlInputs:
    """Image, masks and summary of packed inputs."""
    area, count = CROP * CROP, len(inputs)
    image, masks = config.channels * area, (config.channels + 2) * area
    return ControlInputs(
        inputs[:, :image].reshape(count, config.channels, CROP, CROP),
        inputs[:, image:masks].reshape(count, 2, CROP, CROP),
        inputs[:, masks:],
    )


def to_actions(outputs: Floats) -> NDArray[np.float64]:
    """Actions (N, 3) of outputs (N, 5): the means, within the limits, and stop where it is the likelier answer."""
    if outputs.ndim != 2 or outputs.shape[1] != 5 or not np.isfinite(outputs).all():
        raise ValueError(f"the control network answered with {outputs.shape}, or with something not finite")
    v, omega = np.clip(outputs[:, 0], 0, 1), np.clip(outputs[:, 2], -1, 1)
    stop = outputs[:, 4] > 0  # sigmoid > 0.5
    return np.stack([v * MAX_SPEED_M_S, omega * MAX_YAW_RATE_RAD_S, stop], axis=1).astype(np.float64)


class Control:
    """Flies N drones from their visitation distributions."""

    def __init__(self, network: Network, config: ControlConfig) -> None:
        self.config = config
        self._network = network
        self._trails = Trails(np.zeros((0, 3)))

    @classmethod
    def load(cls, weights: Path | str) -> Control:
        """The network of shipped weights, by name, or of those in a folder: control.json and control.onnx."""
        folder = WeightFolder.read(locate(weights, SHIPPED), SCHEMA, RECORD)
        path, digest = folder.file("control.onnx")
        control = cls(OnnxNetwork(path, digest), _configuration(folder))
        with reading(path):  # it is asked once, so that a network of another kind, or of NaN, never flies
            to_actions(control._network(np.zeros((1, control.config.size), np.float32))[0])
        return control

    def reset(self, starts: ArrayLike) -> None:
        """Begin one flight per row of ``starts`` (N, 3)."""
        self._trails = Trails(starts)

    def restart(self, slots: ArrayLike, starts: ArrayLike) -> None:
        """Begin anew in some slots (M,) at ``starts`` (M, 3): their next leg."""
        self._trails.reset(slots, starts)

    def act(
        self, slots: NDArray[np.int64], distributions: Floats, poses: ArrayLike, coverage: Floats, things: Floats
    ) -> NDArray[np.float64]:
        """Actions (M, 3) of the drones in ``slots``, whose poses (M, 3) join their trails."""
        trails = self._trails
        trails.add(slots, poses)
        starts, maps, motion = trails.starts[slots], trails.maps[slots], trails.motion[slots]
        inputs = control_inputs(distributions, starts, poses, coverage, maps, motion, things, self.config)
        return to_actions(self._network(inputs)[0])


def write_control_record(folder: Path, config: ControlConfig, network: bytes, size: Mapping[str, Any]) -> None:
    """Write control.json: what is shown to the network in control.onnx, its digest, and how wide it is."""
    hashes = {"control.onnx": content_digest(network)}
    saved = {"schema": SCHEMA, "inputs": asdict(config), "size": dict(size), "sha256": hashes}
    write_json(folder / RECORD, saved)


def read_control_record(weights: Path) -> tuple[ControlConfig, dict[str, Any]]:
    """The configuration in control.json, and the whole file."""
    folder = WeightFolder.read(weights, SCHEMA, RECORD)
    return _configuration(folder), dict(folder.settings)


def _configuration(folder: WeightFolder) -> ControlConfig:
    folder.file("control.onnx")
    with folder.parsing() as settings:
        if "size" not in settings:
            raise KeyError("size")
        return ControlConfig(**settings["inputs"])
