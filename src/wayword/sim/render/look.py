"""How a scene looks apart from its objects: light, ground, surround, boundary. Can be drawn at random."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.sim.render.places import ALL_GROUNDS, ALL_SURROUNDS
from wayword.sim.render.surroundings import GROUNDS, SURROUNDS


@dataclass(frozen=True)
class Light:
    """One directional light plus ambient light."""

    azimuth_deg: float = 235.0
    """Where the light comes from, counter-clockwise from +x."""
    elevation_deg: float = 55.0
    """Height of the light above the horizon."""
    ambient: float = 0.55
    """Light from everywhere; 1 shows a surface at its own colour."""
    diffuse: float = 0.55
    """Light from the direction, on a surface that faces it."""
    tint: tuple[float, float, float] = (1.0, 0.99, 0.97)
    """Colour of all light."""
    shadows: float = 0.85
    """Depth of ground shadows, 0 (none) to 1."""

    def __post_init__(self) -> None:
        if not 5.0 <= self.elevation_deg <= 90.0:
            raise WaywordError(f"light elevation {self.elevation_deg} is not within 5 to 90 degrees")
        strengths = (self.ambient, self.diffuse, *self.tint)
        if not (math.isfinite(self.azimuth_deg) and all(0 <= value < math.inf for value in strengths)):
            raise WaywordError("light: azimuth, ambient, diffuse and tint must be finite, the last three not negative")
        if not 0 <= self.shadows <= 1:
            raise WaywordError(f"light: depth of shadows {self.shadows} is not within 0 to 1")

    def packed(self) -> NDArray[np.float32]:
        """The nine numbers the shading kernels read."""
        azimuth, elevation = math.radians(self.azimuth_deg), math.radians(self.elevation_deg)
        flat = math.cos(elevation)
        direction = (flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation))
        return np.array([*direction, self.ambient, self.diffuse, *self.tint, self.shadows], dtype=np.float32)


@dataclass(frozen=True)
class Look:
    """Everything visible but the objects."""

    ground: str = "grass"
    """Texture inside the arena."""
    outside: str = "concrete"
    """Ground texture outside the boundary."""
    surround: str = "garden"
    """What stands around: a room's walls, or a horizon."""
    distance_m: float = 3.0
    """From the boundary to the surround."""
    stripes: tuple[tuple[int, int, int], tuple[int, int, int]] = ((240, 240, 236), (206, 52, 44))
    """The two colours of the boundary line."""
    light: Light = Light()

    def __post_init__(self) -> None:
        if not 1.5 <= self.distance_m <= 50:
            raise WaywordError(f"surround distance {self.distance_m} is not within 1.5 to 50 m")
        for value, table, kind in (
            (self.ground, ALL_GROUNDS, "ground"),
            (self.outside, ALL_GROUNDS, "ground"),
            (self.surround, ALL_SURROUNDS, "surround"),
        ):
            if value not in table:
                raise WaywordError(f"unknown {kind} {value!r}; choose one of {', '.join(table)}")


def random_light(rng: np.random.Generator) -> Light:
    """A light drawn at random: direction, strength, warmth, shadow depth."""
    warmth = rng.uniform(-0.07, 0.07)
    ambient = rng.uniform(0.40, 0.75)
    return Light(
        azimuth_deg=float(rng.uniform(0, 360)),
        elevation_deg=float(rng.uniform(30, 80)),
        ambient=float(ambient),
        diffuse=float(rng.uniform(0.95, 1.25) - ambient),
        tint=(float(1 + warmth), 1.0, float(1 - warmth)),
        shadows=float(rng.uniform(0.4, 1.0)),
    )


def random_look(rng: np.random.Generator) -> Look:
    """A look drawn at random; the ground outside always differs from the one inside."""
    ground, outside = rng.choice(list(GROUNDS), size=2, replace=False)
    hue = tuple(int(c) for c in rng.integers(20, 235, 3))
    return Look(
        ground=str(ground),
        outside=str(outside),
        surround=str(rng.choice(list(SURROUNDS))),
        distance_m=float(rng.uniform(1.5, 4.0)),
        stripes=((240, 240, 236), (hue[0], hue[1], hue[2])),
        light=random_light(rng),
    )
