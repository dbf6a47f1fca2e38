"""Every texture a look may name, as the renderer reads them.

``GROUNDS`` and ``SURROUNDS`` are what random looks are drawn from; those of the lab come after them, and are in a
picture only where a look names them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from wayword.sim.render.bank import mip_pyramid
from wayword.sim.render.lab_textures import LAB_GROUNDS, LAB_SURROUNDS
from wayword.sim.render.shading import TILE_LEVELS, WALL_LEVELS
from wayword.sim.render.surroundings import GROUNDS, SURROUNDS, Texture

ALL_GROUNDS = {**GROUNDS, **LAB_GROUNDS}
ALL_SURROUNDS = {**SURROUNDS, **LAB_SURROUNDS}


@lru_cache(maxsize=1)
def ground_pyramids() -> Texture:
    """All grounds with their mip levels, one row each."""
    return np.stack([mip_pyramid(make(), TILE_LEVELS) for make in ALL_GROUNDS.values()])


@lru_cache(maxsize=1)
def surround_pyramids() -> Texture:
    """All surrounds with their mip levels, one row each."""
    return np.stack([mip_pyramid(make(), WALL_LEVELS) for make in ALL_SURROUNDS.values()])
