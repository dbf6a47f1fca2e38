"""One flight as a Rerun recording: every quantity of the paper's Figure "demo" (Appendix A) on one timeline.

    with FlightLog(path, example, bank, arena_config, "fspvn", thinking=True) as log:
        log.decided(pose, image, thought, outputs)              # at every decision
        log.ended(poses, actions, path, outcome)                # once

Two timelines: "step", the number of the decision, and "sim_time", seconds of the simulation. Poses,
pictures and thoughts are written as they come, in that order, so that a viewer that has read the first decision shows
the drone in its place; numbers follow at the end of the flight. docs/recordings.md lists the entities. The file
is there when the ``with`` block is left without an error; otherwise there is none.
"""

from __future__ import annotations

import atexit
import math
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
import rerun as rr
from numpy.typing import NDArray

from wayword.camera import camera_axes, fit_image
from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.io import atomic_path
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED, to_world
from wayword.pictures.colours import FLIGHT, STOPS, UNKNOWN_OBJECT, VISITS, WHITE, Rgb, reference_colours
from wayword.pictures.thought_map import FLANKS, share_of_peak
from wayword.pictures.thought_words import NONE_OF_THESE
from wayword.pilot.free_flight import is_free, title_of
from wayword.recording.rerun_blueprint import PLAIN, THINKING, blueprint, log_styles
from wayword.recording.rerun_rewards import intrinsic_rewards
from wayword.recording.rerun_scene import CAMERA, grid_map, log_scene, on_ground
from wayword.recording.rerun_words import boxes_page, instruction_page, likeliest_object
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.task import STOP_THRESHOLD

if TYPE_CHECKING:
    from wayword.policy.fspvn import Thought

Floats = NDArray[np.float32]
FLUSH_S = 10.0
"""Seconds in which a frame is written, or its disk is full."""
_MASK_OPACITY = 0.7
_ALIGNED = 0.05
"""A box that fits no reference better than this is grey."""


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
        self._bank, self._thinking, self._look = bank, thinking, look
        self._camera = arena.camera.at_model_size() if thinking else arena.camera  # boxes and masks are in its pixels
        self._last: Thought | None = None
        self._colours: list[Rgb] = []
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

    def decided(
        self,
        pose: NDArray[np.float64],
        image: NDArray[np.uint8],
        thought: Thought | None,
        outputs: Floats | None,
    ) -> None:
        """A decision: the reported pose (6,), what was seen from there (H, W, 3), what the policy thought of it, and
        the control network's answer (5,)."""
        self._at(self._steps)
        self._steps += 1
        self._stream.log("world/drone", rr.Transform3D(translation=pose[:3], mat3x3=_body_axes(pose)))
        self._stream.flush(timeout_sec=0)  # what waits together is written in any order
        self._stream.log(f"{CAMERA}/image", rr.Image(fit_image(image, self._camera.width, self._camera.height)))
        if outputs is not None:
            self._outputs.append(outputs.copy())
        if thought is None:
            return
        if self._last is None:
            self._log_references(thought)
        self._last = thought
        self._distributions.append(thought.distributions)
        self._log_grounding(thought)
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
            self._stream.log("pose", rr.Scalars(pose))
            self._scalar("commands/forward_m_s", action[0])
            self._scalar("commands/yaw_rate_rad_s", action[1])
            self._scalar("commands/stop", stops[step])
        for step in range(moves + 1):
            self._at(step)
            path_so_far = path[: step * sub_steps + 1]
            self._stream.log(
                "world/trail", rr.LineStrips3D([on_ground(path_so_far, 0.03)], colors=[FLIGHT], radii=[0.015])
            )
            if not is_free(self.example):
                self._scalar("distance_to_goal_m", math.dist(path_so_far[-1], self.example.path[-1]))
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
        for number, (row, colour) in enumerate(zip(table, self._colours, strict=False)):
            chart = _bars(row, number, len(table), colour)
            self._stream.log(f"p_object_of_reference/r{number}", chart, static=True)

    def _log_grounding(self, thought: Thought) -> None:
        """Boxes, ALIGN and masks."""
        grounding, log = thought.grounding, self._stream.log
        names = grounding.names
        labels, colors = [], []
        for b, p in enumerate(grounding.p_box):
            best = int(grounding.alignment[:, b].argmax()) if len(grounding.alignment) else -1
            aligned = best >= 0 and grounding.alignment[best, b] >= _ALIGNED
            colors.append(self._colours[best] if aligned else UNKNOWN_OBJECT)
            name, of_box = likeliest_object(grounding, b, names)
            labels.append(f"none | {p:.2f}" if name == NONE_OF_THESE else f"{name} {of_box:.2f} | {p:.2f}")
        boxes = rr.Boxes2D(array=grounding.boxes, array_format=rr.Box2DFormat.XYXY, labels=labels, colors=colors)
        log(f"{CAMERA}/boxes", boxes)
        log("boxes", rr.TextDocument(boxes_page(grounding, names), media_type=rr.MediaType.MARKDOWN))
        log("p_box", rr.Tensor(grounding.p_box, dim_names=["box"]))
        log("p_object_of_box", rr.Tensor(grounding.p_object_of_box, dim_names=["box", "object"]))
        for number, (row, mask) in enumerate(zip(grounding.alignment, grounding.masks, strict=True)):
            colour = self._colours[number]
            log(f"align/r{number}", _bars(row, number, len(grounding.alignment), colour))
            layer = rr.Image(_tinted(mask, colour), opacity=_MASK_OPACITY, draw_order=10 + number)
            log(f"{CAMERA}/masks/r{number}", layer)
        log(f"{CAMERA}/all_objects", rr.Image(_tinted(grounding.all_objects, WHITE), draw_order=9))

    def _log_map(self, thought: Thought) -> None:
        """What is believed about the ground: on the world grid, and d^p, d^g on the prediction grid at its own pose."""
        log, origin = self._stream.log, (0.0, 0.0)
        log("world/map/unobserved", grid_map(_tinted(1 - thought.coverage, (10, 12, 18), 0.6), CELL_M, origin))
        log("world/map/all_objects", grid_map(_tinted(thought.all_objects, WHITE), CELL_M, origin))
        for number, mask in enumerate(thought.references):
            layer = grid_map(_tinted(mask, self._colours[number]), CELL_M, origin, draw_order=10 + number)
            log(f"world/map/references/r{number}", layer)
        half = PREDICTION_CELLS / 2 * CELL_M
        corner = to_world([-half, -half], thought.start)
        for row, (name, part, colour) in enumerate((("d_p", "way", VISITS), ("d_g", "goal", STOPS))):
            p = thought.distributions[row, :UNOBSERVED].reshape(PREDICTION_CELLS, PREDICTION_CELLS)
            layer_pixels = _tinted(share_of_peak(p) ** FLANKS, colour)
            layer = grid_map(layer_pixels, CELL_M, corner, float(thought.start[2]), draw_order=30 + row)
            log(f"world/map/{name}", layer)
            log(f"visitation/{name}", rr.Tensor(p, dim_names=["left", "forward"]))
            self._scalar(f"p_unobserved/{part}", thought.distributions[row, UNOBSERVED])

    def _at(self, step: int) -> None:
        self._stream.set_time("step", sequence=step)
        self._stream.set_time("sim_time", duration=step * self.decision_s)

    def _scalar(self, entity: str, value: float) -> None:
        self._stream.log(entity, rr.Scalars(float(value)))


def _tinted(values: Floats, colour: Rgb, strength: float = 1.0) -> NDArray[np.uint8]:
    """Values in [0, 1] as the opacity of one colour: alpha is 255 times the value."""
    alpha = np.clip(np.rint(values * (255 * strength)), 0, 255).astype(np.uint8)
    return np.dstack([np.broadcast_to(np.array(colour, np.uint8), (*values.shape, 3)), alpha])


def _bars(values: NDArray[np.float64], number: int, count: int, colour: Rgb) -> rr.BarChart:
    """Bars of reference ``number`` of ``count``, which stand beside each other in one chart."""
    width = 0.8 / max(count, 1)
    places = np.arange(len(values)) + (number - (count - 1) / 2) * width
    return rr.BarChart(values, color=colour, abscissa=places, widths=[width] * len(values))


def _body_axes(pose: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation (3, 3) from the body's frame, x forward, y left, z up, to the world's."""
    right, down, forward = camera_axes(pose, 0.0)
    return np.column_stack([forward, -right, -down])


def _finish(stream: rr.RecordingStream, temporary: Path, path: Path) -> None:
    """Close the file and read its table of contents, which is written last: a full disk is noticed here."""
    from rerun.chunk import RrdReader

    _flush(stream, path)
    try:
        stream.disconnect()
        RrdReader(temporary).store()
    except (OSError, ValueError, RuntimeError) as error:
        raise _not_whole(path) from error


class _Abandoned:
    """Stands for a recording that nobody waits for any more, as Rerun itself treats one of another process."""

    def is_forked_child(self) -> bool:
        return True


def _flush(stream: rr.RecordingStream, path: Path) -> None:
    """Wait until all is in the file; where it can no longer be written, Rerun would wait for ever."""
    try:
        stream.flush(timeout_sec=FLUSH_S)
    except (OSError, ValueError, RuntimeError) as error:
        # Whoever lets go of it would wait once more, for ever; so would Rerun's farewell.
        object.__setattr__(stream, "inner", _Abandoned())
        atexit.unregister(rr.rerun_shutdown)
        raise _not_whole(path) from error


def _not_whole(path: Path) -> WaywordError:
    return WaywordError(f"{path}: could not be written whole; is the disk full?")
