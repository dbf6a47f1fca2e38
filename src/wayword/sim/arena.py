"""The arena: N independent episodes of one drone each, stepped and drawn together.

This is the whole world behind the Gymnasium environments, the evaluation and the training: vehicles, solid
objects, camera and the rules by which an episode ends. It knows no instruction and no demonstration. Every
episode depends on its own situation, seed and actions alone, to the byte, whatever else is in the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.camera import Camera
from wayword.episodes import PlacedObject, Pose2
from wayword.errors import WaywordError
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.lens import LensConfig, make_renderer
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import Frames, RenderConfig, Scene
from wayword.sim.render.sensor import Sensor, SensorConfig
from wayword.sim.vehicle import Fleet, VehicleConfig
from wayword.task import ARENA_M, DECISION_S, HORIZON, STOP_THRESHOLD

Ending = Literal["policy", "horizon", "contact"]
WATCHED = 5
"""Pictures per decision for a watcher, at most: 10 per second."""


@dataclass(frozen=True)
class Situation:
    """Where an episode takes place and where it begins."""

    objects: tuple[PlacedObject, ...]
    start: Pose2
    look: Look = field(default_factory=Look)
    arena_m: float = ARENA_M


@dataclass(frozen=True)
class ArenaConfig:
    """The rules of the arena and the parts it is made of."""

    decision_s: float = DECISION_S
    """A command is held this long."""
    horizon: int = HORIZON
    """Decisions after which an episode ends by itself."""
    end_on_contact: bool = False
    """End an episode when the drone touches an object."""
    column_cap_m: float = 0.22
    """Objects are solid columns of their own ground area, of at most this radius. Demonstrations pass 0.30 m from
    the centres even of the dozen larger objects, and the drone has a radius of 0.08 m: those are solid up to here."""
    net_m: float = 1.0
    """A net stands this far outside the boundary line: the drone cannot leave, and is not told so."""
    camera: Camera = field(default_factory=Camera)
    render: RenderConfig = field(default_factory=RenderConfig)
    sensor: SensorConfig = field(default_factory=SensorConfig)
    lens: LensConfig = field(default_factory=LensConfig)
    vehicle: VehicleConfig = field(default_factory=VehicleConfig)

    def __post_init__(self) -> None:
        if self.horizon < 1 or not 0 < self.decision_s <= 10 or not 0 <= self.net_m <= 1.0:
            raise WaywordError("an arena needs horizon >= 1, 0 < decision_s <= 10 and 0 <= net_m <= 1")
        if not 0 <= self.column_cap_m <= 10:
            raise WaywordError(f"column_cap_m {self.column_cap_m} is not within 0 to 10 m")
        try:
            self.vehicle.sub_steps(self.decision_s)
        except ValueError as error:
            step = self.vehicle.sub_step_s
            raise WaywordError(
                f"decision_s {self.decision_s:g} is not a whole number of the vehicle's sub-steps of {step:g} s"
            ) from error

    @property
    def watched_parts(self) -> int:
        """Pictures per decision for a watcher: ``WATCHED``, or as many as divide the decision's sub-steps evenly."""
        steps = self.vehicle.sub_steps(self.decision_s)
        return next(parts for parts in range(WATCHED, 0, -1) if steps % parts == 0)


class Arena:
    """N episodes in lock-step; finished ones stay where they are until they are reset."""

    def __init__(self, count: int, bank: MeshBank, config: ArenaConfig | None = None) -> None:
        self.config = config or ArenaConfig()
        self.count = count
        self.renderer = make_renderer(bank, self.config.camera, self.config.render, self.config.lens)
        self.sensor = Sensor(self.config.sensor)
        self.fleet = Fleet(count, self.config.vehicle)
        self.steps = np.zeros(count, dtype=np.int64)
        self.endings: list[Ending | None] = [None] * count
        self._ready = np.zeros(count, dtype=bool)
        self._scenes: list[Scene | None] = [None] * count
        self._rngs = [np.random.default_rng(0) for _ in range(count)]
        self._columns = np.zeros((count, 0, 3))
        self._sides = np.full(count, ARENA_M)
        self._flown: list[list[NDArray[np.float64]]] = [[] for _ in range(count)]

    def reset(self, indices: Sequence[int], situations: Sequence[Situation], seeds: Sequence[int]) -> None:
        """Begin new episodes in the slots ``indices``; one situation and one seed each."""
        if not len(indices) == len(situations) == len(seeds):
            raise ValueError(f"{len(indices)} slots, {len(situations)} situations and {len(seeds)} seeds")
        most = max((len(s.objects) for s in situations), default=0)
        if most > self._columns.shape[1]:
            grown = np.zeros((self.count, most, 3))
            grown[:, : self._columns.shape[1]] = self._columns
            self._columns = grown
        for slot, situation, seed in zip(indices, situations, seeds, strict=True):
            vehicle_seed, sensor_seed = np.random.SeedSequence(seed).generate_state(2, np.uint64)
            self._rngs[slot] = np.random.default_rng(int(sensor_seed))
            self._scenes[slot] = self.renderer.scene(situation.objects, situation.look, situation.arena_m)
            self._sides[slot] = situation.arena_m
            self._columns[slot] = 0.0
            for k, item in enumerate(situation.objects):
                radius = min(self.renderer.bank.column_m[item.name], self.config.column_cap_m)
                self._columns[slot, k] = (item.x, item.y, radius)
            start = situation.start
            self.fleet.reset([slot], start.x, start.y, start.yaw, [int(vehicle_seed >> 1)])
            self.steps[slot] = 0
            self.endings[slot] = None
            self._flown[slot] = [np.array([[start.x, start.y, start.yaw]])]
            self._ready[slot] = True

    @property
    def flying(self) -> NDArray[np.int64]:
        """Slots whose episodes have not ended."""
        going = [i for i in range(self.count) if self._ready[i] and self.endings[i] is None]
        return np.array(going, dtype=np.int64)

    @property
    def poses(self) -> NDArray[np.float64]:
        """Poses (N, 6) as the vehicles report them."""
        return self.fleet.reported_pose

    @property
    def contacts(self) -> NDArray[np.int64]:
        """Touches of objects (N,) since each reset."""
        return self.fleet.contacts

    def frames(self, slots: Sequence[int] | NDArray[np.int64]) -> Frames:
        """What the cameras of these slots see now: colour (with sensor effects), ids and depth."""
        scenes = [scene for slot in slots if (scene := self._scenes[slot]) is not None]
        if len(scenes) != len(slots):
            raise ValueError("a slot was never reset")
        frames = self.renderer.render(scenes, self.fleet.pose[np.asarray(slots, dtype=np.int64)])
        return frames._replace(rgb=self.sensor.apply(frames.rgb, [self._rngs[slot] for slot in slots]))

    def step(self, actions: ArrayLike, watch: Callable[[], None] | None = None) -> None:
        """Carry out one decision in every slot: actions (N, 3) forward m/s, yaw rate rad/s, stop > 0.5.

        A stop ends the episode where the drone is. Rows of ended slots are ignored; anything not finite
        in the others is an error, never a silent stop. ``watch`` is called several times per decision while
        the drones move, for smooth pictures; it changes nothing about the flight.
        """
        commands = np.array(actions, dtype=np.float64)
        if commands.shape != (self.count, 3):
            raise WaywordError(f"actions must have shape ({self.count}, 3), not {commands.shape}")
        going = self.flying
        commands[np.setdiff1d(np.arange(self.count), going)] = 0.0
        bad = np.flatnonzero(~np.isfinite(commands).all(axis=1))
        if len(bad):
            raise WaywordError(f"the action in slot {bad[0]} is not finite: {commands[bad[0]].tolist()}")
        moving = []
        for slot in going:
            self.steps[slot] += 1
            if commands[slot, 2] > STOP_THRESHOLD:
                self.endings[slot] = "policy"
            else:
                moving.append(int(slot))
        if not moving:
            return
        before = self.fleet.contacts
        parts = 1 if watch is None else self.config.watched_parts
        net = (np.full(self.count, -self.config.net_m), self._sides + self.config.net_m)
        tracks = []
        for part in range(parts):
            duration, last = self.config.decision_s / parts, part == parts - 1
            self.fleet.step(commands[:, :2], duration, self._columns, np.array(moving), report=last)
            if last:  # once per decision, so that a watched flight meets the net as any other
                self.fleet.confine(*net)
            places = np.clip(self.fleet.track, *(np.reshape(edge, (-1, 1, 1)) for edge in net))
            tracks.append(np.concatenate([places, self.fleet.headings[:, :, None]], axis=2))
            if watch is not None:
                watch()
        track, contacts = np.concatenate(tracks, axis=1), self.fleet.contacts
        for slot in moving:
            self._flown[slot].append(track[slot])
            if self.config.end_on_contact and contacts[slot] > before[slot]:
                self.endings[slot] = "contact"
            elif self.steps[slot] >= self.config.horizon:
                self.endings[slot] = "horizon"

    def flown(self, slot: int) -> NDArray[np.float64]:
        """The path (P, 2) flown so far, every sub-step of the vehicle."""
        return self.flown_poses(slot)[:, :2].copy()

    def flown_poses(self, slot: int) -> NDArray[np.float64]:
        """The same with headings: x, y, yaw (P, 3)."""
        return np.concatenate(self._flown[slot])
