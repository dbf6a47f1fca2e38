"""Places to fly in by name: the arena that everything was trained in, and a lab that nothing was.

The lab stands for a real place. Its floor, walls and light are in no training data of policy or segmentation. Its
camera is noisy, blurred, off in colour and darker in the corners, and its calibration is imperfect: some barrel
distortion is left, and the mount is a few degrees off in pitch and roll from what the policy assumes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from wayword.sim.arena import ArenaConfig
from wayword.sim.render.lens import LensConfig
from wayword.sim.render.look import Light, Look
from wayword.sim.render.sensor import SensorConfig

WorldName = Literal["arena", "lab"]


@dataclass(frozen=True)
class World:
    """How a place looks, and the camera that looks at it."""

    look: Look = Look()  # noqa: RUF009 - frozen
    sensor: SensorConfig = SensorConfig()  # noqa: RUF009
    lens: LensConfig = LensConfig()  # noqa: RUF009

    def arena(self, config: ArenaConfig | None = None) -> ArenaConfig:
        """The rules of ``config`` with this world's camera."""
        return replace(config or ArenaConfig(), sensor=self.sensor, lens=self.lens)


_LAB_LOOK = Look(
    ground="puzzle_mats",
    outside="linoleum",
    surround="workshop",
    distance_m=2.0,
    stripes=((232, 196, 40), (34, 34, 34)),
    light=Light(azimuth_deg=32.0, elevation_deg=24.0, ambient=0.46, diffuse=0.95, tint=(1.10, 0.98, 0.80), shadows=1.0),
)
_LAB_SENSOR = SensorConfig(
    noise_std=5.0,
    shot_noise_std=7.0,
    blur_sigma_px=0.7,
    motion_blur_px=1.2,
    exposure_jitter=0.06,
    white_balance_jitter=0.03,
    vignette=0.4,
    red_gain=1.06,
    blue_gain=0.9,
)
_LAB_LENS = LensConfig(k1=-0.10, k2=0.02, tilt_pitch_deg=2.0, tilt_roll_deg=-2.5)

WORLDS: Mapping[WorldName, World] = MappingProxyType(
    {"arena": World(), "lab": World(_LAB_LOOK, _LAB_SENSOR, _LAB_LENS)}
)
