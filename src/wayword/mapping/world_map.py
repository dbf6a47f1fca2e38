"""The world masks of one flight: where each reference's object stands, where any object stands, what was seen.

    footprint    (K, 4)        x, y, radius in metres, quality, of one frame's boxes
    P(b)         (K,)          how surely a box holds an object
    ALIGN        (R, K)        how surely box k shows what reference r means (Equation 1)
    references   (R, 32, 32)   M^W(r): world masks, each cell in [0, 1]
    all_objects  (32, 32)      M^W of any object
    coverage     (32, 32)      observability

Within a frame a reference's mask is the sum over boxes of ALIGN times the box's disc, at most 1 (Equation 3 on the
ground); over frames every mask keeps its largest value, as in the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.camera import Camera
from wayword.compiled import compiled
from wayword.errors import WaywordError
from wayword.grounding.align import all_objects_mask, reference_masks
from wayword.mapping.grid import CELL_M, WORLD_CELLS
from wayword.mapping.observability import add_coverage
from wayword.mapping.projection import project_masks

LEAST_RADIUS_CELLS = 0.5
"""A disc is at least this large, so that even a candle marks a cell."""


@dataclass(frozen=True)
class MapConfig:
    """How boxes become world masks."""

    projection: Literal["footprint", "pinhole"] = "footprint"
    """A disc where the object stands, or the paper's projection of the whole mask onto the ground."""
    use_quality: bool = True
    """Weigh a footprint by its quality: a place that cannot be trusted marks the map less."""

    def __post_init__(self) -> None:
        if self.projection not in ("footprint", "pinhole"):
            raise WaywordError(f"projection must be footprint or pinhole, not {self.projection!r}")


class WorldMap:
    """The masks of one drone for one instruction, updated with what ``camera`` sees, frame by frame."""

    def __init__(self, references: int, camera: Camera, config: MapConfig | None = None) -> None:
        self.camera, self.config = camera, config or MapConfig()
        self.references = np.zeros((references, WORLD_CELLS, WORLD_CELLS), np.float32)
        self.all_objects = np.zeros((WORLD_CELLS, WORLD_CELLS), np.float32)
        self.coverage = np.zeros((WORLD_CELLS, WORLD_CELLS), np.float32)

    def update(self, places: NDArray[np.float32], p_box: ArrayLike, alignment: ArrayLike, pose: ArrayLike) -> None:
        """Add one frame, taken from ``pose`` (6,).

        ``places`` are the footprints (K, 4) of its boxes; with ``projection="pinhole"`` their masks (K, H, W).
        """
        count = len(places)
        p, align = np.asarray(p_box, np.float64), np.asarray(alignment, np.float64)
        if p.shape != (count,) or align.shape != (len(self.references), count):
            raise WaywordError(
                f"{count} boxes and {len(self.references)} references need P(b) of shape ({count},) and an alignment "
                f"of shape ({len(self.references)}, {count}), not {p.shape} and {align.shape}"
            )
        flat = self.config.projection == "footprint"
        if flat and np.shape(places) != (count, 4):
            raise WaywordError(f"footprints must be ({count}, 4), not {np.shape(places)}")
        add_coverage(self.coverage, pose, self.camera)
        if count and flat:
            prints = np.ascontiguousarray(places, np.float32)
            splat_max(self.references, prints, align, self.config.use_quality, True)
            splat_max(self.all_objects[None], prints, p[None], self.config.use_quality, False)
        elif count:
            projected = project_masks(np.asarray(places, np.float32), pose, self.camera)
            np.maximum(self.references, reference_masks(align, projected), out=self.references)
            np.maximum(self.all_objects, all_objects_mask(projected, p), out=self.all_objects)


@compiled()
def splat_max(world: Any, footprints: Any, weights: Any, use_quality: Any = True, add: Any = True) -> None:
    """Raise ``world`` (C, 32, 32), in place, to what one frame's ``footprints`` (K, 4) say with ``weights`` (C, K).

    A frame's value in a cell is the sum over boxes of weight times disc, at most 1; the largest instead of the sum
    if ``add`` is false. A disc is 1 inside its radius and falls to 0 over one cell around it. Weights are
    multiplied by the footprints' quality if ``use_quality``. Compiled; can be called from compiled code.
    """
    channels, rows, columns = world.shape
    count = len(footprints)
    if weights.shape[0] != channels or weights.shape[1] != count or footprints.shape[1] != 4:
        raise ValueError("splat_max needs world (C, H, W), footprints (K, 4) and weights (C, K)")
    frame = np.zeros((rows, columns), np.float32)
    for channel in range(channels):
        frame[:] = 0
        for k in range(count):
            weight = weights[channel, k] * (footprints[k, 3] if use_quality else 1.0)
            x, y = footprints[k, 0] / CELL_M - 0.5, footprints[k, 1] / CELL_M - 0.5
            reach = max(footprints[k, 2] / CELL_M, LEAST_RADIUS_CELLS) + 0.5
            if not weight > 0 or not abs(x) + abs(y) + reach < 1e6:
                continue
            for i in range(max(0, math.ceil(y - reach)), min(rows, math.floor(y + reach) + 1)):
                for j in range(max(0, math.ceil(x - reach)), min(columns, math.floor(x + reach) + 1)):
                    disc = min(max(reach - math.sqrt((i - y) ** 2 + (j - x) ** 2), 0.0), 1.0)
                    if add:
                        frame[i, j] += weight * disc
                    else:
                        frame[i, j] = max(frame[i, j], weight * disc)
        for i in range(rows):
            for j in range(columns):
                world[channel, i, j] = max(world[channel, i, j], min(frame[i, j], 1.0))
