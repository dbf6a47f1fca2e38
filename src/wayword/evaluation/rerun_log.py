"""One flight as a Rerun recording: every quantity of the paper's Figure "demo" (Appendix A) on one timeline.

    with FlightLog(path, example, bank, arena_config, "fspvn", thinking=True) as log:
        log.decided(image, thought, outputs)                    # at every decision
        log.ended(poses, actions, path, outcome)                # once

Two timelines: "step", the number of the decision, and "sim_time", seconds of the simulation. Pictures and thoughts
are written as they come, poses and numbers at the end of the flight. docs/recordings.md lists the entities. The file
is there when the ``with`` block is left without an error; otherwise there is none.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
import rerun as rr
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.free_flight import is_free, title_of
from wayword.evaluation.rerun_blueprint import PLAIN, THINKING, blueprint, log_styles
from wayword.evaluation.rerun_rewards import intrinsic_rewards
from wayword.evaluation.rerun_scene import CAMERA, grid_map, log_scene, on_ground
from wayword.evaluation.rerun_words import NONE_OF_THESE, boxes_page, instruction_page, likeliest
from wayword.io import atomic_path
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED, to_world
from wayword.policy.interface import STOP_THRESHOLD
from wayword.sim.arena import ArenaConfig
from wayword.sim.pictures.thought_map import STOPS, VISITS
from wayword.sim.pictures.thought_words import UNKNOWN, reference_colours
from wayword.sim.pictures.topdown import FLOWN, Color
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.camera import camera_axes
from wayword.sim.render.look import Look

if TYPE_CHECKING:
    from wayword.policy.fspvn import Thought

Floats = NDArray[np.float32]
_MASK_OPACITY = 0.7
_ALIGNED = 0.05
"""A box that fits no reference better than this is grey."""
_FAINT = 0.004
"""A distribution without any cell above this is spread so thin that it is not brought out further."""


class FlightLog:
    """Writes one recording."""

    def __init__(
        self,
        path: Path,
        example: Example,
        bank: MeshBank,
        arena: ArenaConfig,
        policy: str,
        thinking: bool,
        look: Look | None = None,
    ) -> None:
        self.path, self.example, self.policy, self.decision_s = path, example, policy, arena.decision_s
        self._bank, self._camera, self._thinking, self._look = bank, arena.camera, thinking, look
        self._last: Thought | None = None
        self._colours: list[Color] = []
        self._distributions: list[Floats] = []
        self._outputs: list[Floats] = []
        self._steps = 0
        self._place = ExitStack()

    def __enter__(self) -> Self:
        self._temporary = self._place.enter_context(atomic_path(self.path))
        rr.set_strict_mode(True)  # what cannot be written is an error, not a warning
        self._stream = rr.RecordingStream(THINKING if self._thinking else PLAIN)
        self._stream.set_log_time_enabled(False)  # when it was computed is nobody's question
        self._stream.set_log_tick_enabled(False)
        self._stream.save(self._temporary, blueprint(self._thinking, self.example.episode.arena_m))
        log_scene(self._stream, self.example, self._bank, self._camera, self._look)
        log_styles(self._stream)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._stream.disconnect()
            self._place.__exit__(kind, error, trace)  # nothing half-written is kept
            return
        with self._place:
            _finish(self._stream, self._temporary, self.path)

    def decided(self, image: NDArray[np.uint8], thought: Thought | None, outputs: Floats | None) -> None:
        """A decision: what was seen (H, W, 3), what the policy thought of it, and the control network's answer (5,)."""
        self._at(self._steps)
        self._steps += 1
        self._stream.log(f"{CAMERA}/image", rr.Image(image))
        if outputs is not None:
            self._outputs.append(outputs.copy())
        if thought is None:
            return
        if self._last is None:
            self._log_references(thought)
        self._last = thought
        self._distributions.append(thought.distributions)
        self._log_seen(thought)
        self._log_map(thought)

    def ended(
        self, poses: NDArray[np.float64], actions: NDArray[np.float64], path: NDArray[np.float64], outcome: str
    ) -> None:
        """The flight is over: reported poses (T, 6), actions (T, 3), the true path (P, 2) of every sub-step."""
        stopped = bool(actions[-1, 2] > STOP_THRESHOLD)
        moves = len(actions) - stopped  # a stop takes no time
        sub_steps = (len(path) - 1) // max(moves, 1)
        logits = np.array([row[4] for row in self._outputs])
        stops = 1 / (1 + np.exp(-logits)) if len(logits) == len(actions) else actions[:, 2]
        for step, (pose, action) in enumerate(zip(poses, actions, strict=True)):
            self._at(step)
            turn = _body_axes(pose)
            self._stream.log("world/drone", rr.Transform3D(translation=pose[:3], mat3x3=turn))
            self._stream.log("pose", rr.Scalars(pose))
            self._scalar("commands/forward_m_s", action[0])
            self._scalar("commands/yaw_rate_rad_s", action[1])
            self._scalar("commands/stop", stops[step])
        for step in range(moves + 1):
            self._at(step)
            flown = path[: step * sub_steps + 1]
            self._stream.log("world/trail", rr.LineStrips3D([on_ground(flown, 0.03)], colors=[FLOWN], radii=[0.015]))
            if not is_free(self.example):
                self._scalar("distance_to_goal_m", math.dist(flown[-1], self.example.path[-1]))
        if self._last is not None and len(self._outputs) == len(actions):
            rewards = intrinsic_rewards(
                np.stack(self._distributions), np.stack(self._outputs), poses, path[-1], self._last.start
            )
            for name, values in rewards.items():
                for step, value in enumerate(values):
                    self._at(step)
                    self._scalar(f"rewards/{name}", value)
        parsed = None if self._last is None else self._last.parsed
        title = f"{self.policy}, {title_of(self.example)}"
        page = instruction_page(title, self.example.instruction, parsed, outcome)
        self._stream.log("instruction", rr.TextDocument(page, media_type=rr.MediaType.MARKDOWN), static=True)
        self._stream.send_recording_name(f"{title}: {outcome}")

    # What a thought consists of ---------------------------------------------------------------------------

    def _log_references(self, thought: Thought) -> None:
        """P(o | r): the same at every step."""
        self._colours = reference_colours(thought.parsed.references)
        table = thought.grounding.p_object_of_reference
        for number, (row, color) in enumerate(zip(table, self._colours, strict=False)):
            chart = _bars(row, number, len(table), color)
            self._stream.log(f"p_object_of_reference/r{number}", chart, static=True)

    def _log_seen(self, thought: Thought) -> None:
        """Boxes, ALIGN and masks."""
        seen, log = thought.grounding, self._stream.log
        names = tuple(thought.parsed.references[0].probabilities) if thought.parsed.references else ()
        labels, colors = [], []
        for b, p in enumerate(seen.p_box):
            best = int(seen.alignment[:, b].argmax()) if len(seen.alignment) else -1
            aligned = best >= 0 and seen.alignment[best, b] >= _ALIGNED
            colors.append(self._colours[best] if aligned else UNKNOWN)
            name, of_box = likeliest(seen, b, names)
            labels.append(f"none | {p:.2f}" if name == NONE_OF_THESE else f"{name} {of_box:.2f} | {p:.2f}")
        boxes = rr.Boxes2D(array=seen.boxes, array_format=rr.Box2DFormat.XYXY, labels=labels, colors=colors)
        log(f"{CAMERA}/boxes", boxes)
        log("boxes", rr.TextDocument(boxes_page(seen, names), media_type=rr.MediaType.MARKDOWN))
        log("p_box", rr.Tensor(seen.p_box, dim_names=["box"]))
        log("p_object_of_box", rr.Tensor(seen.p_object_of_box, dim_names=["box", "object"]))
        for number, (row, mask) in enumerate(zip(seen.alignment, seen.masks, strict=True)):
            color = self._colours[number]
            log(f"align/r{number}", _bars(row, number, len(seen.alignment), color))
            layer = rr.Image(_tinted(mask, color), opacity=_MASK_OPACITY, draw_order=10 + number)
            log(f"{CAMERA}/masks/r{number}", layer)
        log(f"{CAMERA}/all_objects", rr.Image(_tinted(seen.all_objects, (255, 255, 255)), draw_order=9))

    def _log_map(self, thought: Thought) -> None:
        """What is believed about the ground: on the world grid, and d^p, d^g on the prediction grid at its own pose."""
        log, origin = self._stream.log, (0.0, 0.0)
        log("world/map/unobserved", grid_map(_tinted(1 - thought.coverage, (10, 12, 18), 0.6), CELL_M, origin))
        log("world/map/all_objects", grid_map(_tinted(thought.all_objects, (255, 255, 255)), CELL_M, origin))
        for number, mask in enumerate(thought.references):
            layer = grid_map(_tinted(mask, self._colours[number]), CELL_M, origin, draw_order=10 + number)
            log(f"world/map/references/r{number}", layer)
        half = PREDICTION_CELLS / 2 * CELL_M
        corner = to_world([-half, -half], thought.start)
        for row, (name, part, color) in enumerate((("d_p", "way", VISITS), ("d_g", "goal", STOPS))):
            p = thought.distributions[row, :UNOBSERVED].reshape(PREDICTION_CELLS, PREDICTION_CELLS)
            shown = _tinted((p / max(float(p.max()), _FAINT)) ** 0.6, color)
            layer = grid_map(shown, CELL_M, corner, float(thought.start[2]), draw_order=30 + row)
            log(f"world/map/{name}", layer)
            log(f"visitation/{name}", rr.Tensor(p, dim_names=["left", "forward"]))
            self._scalar(f"p_unobserved/{part}", thought.distributions[row, UNOBSERVED])

    def _at(self, step: int) -> None:
        self._stream.set_time("step", sequence=step)
        self._stream.set_time("sim_time", duration=step * self.decision_s)

    def _scalar(self, entity: str, value: float) -> None:
        self._stream.log(entity, rr.Scalars(float(value)))


def _tinted(values: Floats, color: Color, strength: float = 1.0) -> NDArray[np.uint8]:
    """Values in [0, 1] as the opacity of one colour: alpha is 255 times the value."""
    alpha = np.clip(np.rint(values * (255 * strength)), 0, 255).astype(np.uint8)
    return np.dstack([np.broadcast_to(np.array(color, np.uint8), (*values.shape, 3)), alpha])


def _bars(values: NDArray[np.float64], number: int, count: int, color: Color) -> rr.BarChart:
    """Bars of reference ``number`` of ``count``, which stand beside each other in one chart."""
    width = 0.8 / max(count, 1)
    places = np.arange(len(values)) + (number - (count - 1) / 2) * width
    return rr.BarChart(values, color=color, abscissa=places, widths=[width] * len(values))


def _body_axes(pose: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation (3, 3) from the body's frame, x forward, y left, z up, to the world's."""
    right, down, forward = camera_axes(pose, 0.0)
    return np.column_stack([forward, -right, -down])


def _finish(stream: rr.RecordingStream, temporary: Path, path: Path) -> None:
    """Close the file and read its table of contents, which is written last: a full disk is noticed here."""
    from rerun.chunk import RrdReader

    try:
        stream.flush()
        stream.disconnect()
        RrdReader(temporary).store()
    except (OSError, ValueError, RuntimeError) as error:
        raise WaywordError(f"{path}: could not be written whole; is the disk full?") from error
