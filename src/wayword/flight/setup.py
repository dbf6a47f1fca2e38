"""From words of the command line to a vehicle, its camera and a mind: what flies where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.errors import RefusedError, WaywordError
from wayword.flight.decider import PolicyMind
from wayword.flight.vehicle import Pose, Vehicle
from wayword.policy.interface import Policy, Refusing
from wayword.registry import VEHICLES, is_reference
from wayword.shipped import DEFAULT_GROUNDER
from wayword.task import ARENA_M

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wayword.episodes import PlacedObject, Pose2
    from wayword.sim.render.bank import MeshBank

StandPose = tuple[float, float, float]
"""Where a vehicle stands: x, y in metres, yaw in radians."""
_LENS_M = 0.08
"""A vehicle that stands on the ground has its lens this high."""


@dataclass(frozen=True)
class MindRecipe:
    """A policy in words, so that another process can make it."""

    instruction: str
    database: str
    weights: Path | str | None = None
    """The policy's weights, by name or folder; None for those it ships with."""
    grounder: Path | str = DEFAULT_GROUNDER
    """The segmentation's weights, by name or folder."""
    policy: str = "fspvn"
    """As ``make_policy`` knows it."""
    camera: Camera = Camera()  # noqa: RUF009 - frozen
    """Whose images it will be shown."""

    def __call__(self) -> PolicyMind:
        """Load everything: networks, language, photos."""
        from wayword.pilot.pilot import check_instruction, open_database
        from wayword.policy import make_policy

        policy = make_policy(self.policy, self.weights, self.grounder, self.camera)
        return PolicyMind(policy, check_instruction(self.instruction), open_database(self.database))


def refuse_unflyable(policy: Policy, instruction: str, database: Any) -> None:
    """Raise ``RefusedError`` if the policy declines the text, so that nothing is armed for it."""
    if isinstance(policy, Refusing):
        policy.reset([instruction], [database])
        reason = policy.refusal(0)
        if reason is not None:
            raise RefusedError(reason)


def real_vehicle(
    address: str, video: str | None, camera: Path | None, start: StandPose, video_delay: float = 0.0
) -> Vehicle:
    """A vehicle by its address: who speaks its scheme is registered (``wayword.registry``); or as module:Class."""
    check_address(address)
    name = address.partition("://")[0]
    offered = {"address": address, "video": video, "camera": camera, "start": start, "video_delay": video_delay}
    return cast(Vehicle, VEHICLES.make(name, offered=offered))


def check_address(address: str) -> None:
    """Refuse what is neither an address nor the name of a vehicle."""
    from wayword.flight.mavlink_link import parse_address

    if "://" not in address and not is_reference(address) and address not in VEHICLES.names():
        parse_address(address)  # which it is not: says what an address looks like


def mavlink_vehicle(
    address: str, video: str | None, camera: Path | None, start: StandPose, video_delay: float = 0.0
) -> Vehicle:
    """A MAVLink vehicle and its camera: ``video`` is where its frames come from, ``camera`` the file about it."""
    from wayword.flight.calibration import Calibration
    from wayword.flight.mavlink_link import parse_address
    from wayword.flight.mavlink_vehicle import MavlinkVehicle
    from wayword.flight.resample import Resampler
    from wayword.flight.video_stream import VideoStream

    parse_address(address)
    if video is None:
        raise WaywordError("a vehicle needs --video, for example rtsp://127.0.0.1:8554/cam")
    if camera is None:
        raise WaywordError("a vehicle needs --camera FILE; make it with `wayword flight calibrate`")
    fit = Resampler(Calibration.load(camera))
    return MavlinkVehicle(address, VideoStream(video, fit, video_delay), start)


def simulated_vehicle(
    bank: MeshBank,
    objects: Sequence[PlacedObject],
    start: Pose2,
    seed: int = 0,
    camera: Camera | None = None,
    **model: Any,
) -> Vehicle:
    """The simulator with the arena's renderer as camera and its solid objects."""
    from wayword.flight.autopilot_config import AutopilotModelConfig
    from wayword.flight.autopilot_model import AutopilotModel
    from wayword.flight.simulated import SimulatedVehicle
    from wayword.sim.arena import ArenaConfig

    cap = ArenaConfig().column_cap_m
    columns = np.array([(item.x, item.y, min(bank.column_m[item.name], cap)) for item in objects]).reshape(-1, 3)
    body = AutopilotModel(AutopilotModelConfig(**model), start.x, start.y, start.yaw, seed, columns)
    return SimulatedVehicle(body, Eye(bank, objects, seed, camera))


class Eye:
    """The arena's camera, with a little noise: no live sensor repeats itself."""

    def __init__(
        self, bank: MeshBank, objects: Sequence[PlacedObject], seed: int = 0, camera: Camera | None = None
    ) -> None:
        from wayword.sim.render.look import Look
        from wayword.sim.render.renderer import RenderConfig, Renderer
        from wayword.sim.render.sensor import Sensor, SensorConfig

        self._renderer = Renderer(bank, camera or Camera(), RenderConfig())
        self._scene = self._renderer.scene(objects, Look(), ARENA_M)
        self._sensor, self._rng = Sensor(SensorConfig(noise_std=1.0)), np.random.default_rng(seed)

    def __call__(self, pose: Pose) -> NDArray[np.uint8]:
        """What is seen from a pose."""
        above = np.array([pose])
        above[:, 2] = np.maximum(above[:, 2], _LENS_M)
        frames = self._renderer.render([self._scene], above)
        pixels: NDArray[np.uint8] = self._sensor.apply(frames.rgb, [self._rng])[0]
        return pixels
