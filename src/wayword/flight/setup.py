"""From words of the command line to a vehicle, its camera and a mind: what flies where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.flight.decider import PolicyMind
from wayword.flight.vehicle import Pose, Vehicle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wayword.episodes import PlacedObject, Pose2
    from wayword.sim.render.bank import MeshBank

_LENS_M = 0.08
"""A vehicle that stands on the ground has its lens this high."""


@dataclass(frozen=True)
class MindRecipe:
    """A policy in words, so that another process can make it."""

    instruction: str
    database: str
    weights: Path | None = None
    grounder: str = "sim"
    """The segmentation's weights, by name or folder."""

    def __call__(self) -> PolicyMind:
        """Load everything: networks, language, photos."""
        from wayword.pilot import check_instruction, open_database
        from wayword.policy.fspvn import FsPVN

        policy = FsPVN.load(folder=self.weights, grounding=self.grounder)
        return PolicyMind(policy, check_instruction(self.instruction), open_database(self.database))


def real_vehicle(
    address: str, camera: str | None, calibration: Path | None, start: tuple[float, float, float], delay_s: float
) -> Vehicle:
    """A MAVLink vehicle and its camera."""
    from wayword.flight.calibration import Calibration
    from wayword.flight.camera import Camera
    from wayword.flight.mavlink_link import parse_address
    from wayword.flight.mavlink_vehicle import MavlinkVehicle
    from wayword.flight.resample import Resampler

    parse_address(address)
    if camera is None:
        raise WaywordError("a vehicle needs --camera, for example rtsp://127.0.0.1:8554/cam")
    if calibration is None:
        raise WaywordError("a camera needs --calibration FILE; make it with `wayword flight calibrate`")
    fit = Resampler(Calibration.load(calibration))
    return MavlinkVehicle(address, Camera(camera, fit, delay_s), start)


def simulated_vehicle(
    bank: MeshBank, objects: Sequence[PlacedObject], start: Pose2, seed: int = 0, **model: Any
) -> Vehicle:
    """The simulator with the arena's renderer as camera and its solid objects."""
    from wayword.flight.autopilot_model import AutopilotModel, AutopilotModelConfig
    from wayword.flight.simulated import SimulatedVehicle
    from wayword.sim.arena import ArenaConfig

    cap = ArenaConfig().column_cap_m
    columns = np.array([(item.x, item.y, min(bank.column_m[item.name], cap)) for item in objects]).reshape(-1, 3)
    body = AutopilotModel(AutopilotModelConfig(**model), start.x, start.y, start.yaw, seed, columns)
    return SimulatedVehicle(body, Eye(bank, objects, seed))


class Eye:
    """The arena's camera, with a little noise: no live sensor repeats itself."""

    def __init__(self, bank: MeshBank, objects: Sequence[PlacedObject], seed: int = 0) -> None:
        from wayword.sim.render.camera import CameraConfig
        from wayword.sim.render.look import Look
        from wayword.sim.render.renderer import RenderConfig, Renderer
        from wayword.sim.render.sensor import Sensor, SensorConfig

        self._renderer = Renderer(bank, CameraConfig(), RenderConfig())
        self._scene = self._renderer.scene(objects, Look(), 4.7)
        self._sensor, self._rng = Sensor(SensorConfig(noise_std=1.0)), np.random.default_rng(seed)

    def __call__(self, pose: Pose) -> NDArray[np.uint8]:
        """What is seen from a pose."""
        above = np.array([pose])
        above[:, 2] = np.maximum(above[:, 2], _LENS_M)
        frames = self._renderer.render([self._scene], above)
        pixels: NDArray[np.uint8] = self._sensor.apply(frames.rgb, [self._rng])[0]
        return pixels
