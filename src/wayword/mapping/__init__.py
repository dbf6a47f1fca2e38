"""Maps: from masks in images to the object context grounding map."""

from wayword.mapping.context_map import OTHER_CHANNELS, map_layers, object_context_map
from wayword.mapping.feature_map import FeatureMap
from wayword.mapping.footprint import footprints
from wayword.mapping.grid import (
    CELL_M,
    PREDICTION_CELLS,
    UNOBSERVED,
    WORLD_CELLS,
    frame_pose,
    to_frame,
    to_world,
    world_to_prediction,
)
from wayword.mapping.observability import add_coverage, boundary_masks
from wayword.mapping.projection import project_masks
from wayword.mapping.world_map import MapConfig, WorldMap, splat_max

__all__ = [
    "CELL_M",
    "OTHER_CHANNELS",
    "PREDICTION_CELLS",
    "UNOBSERVED",
    "WORLD_CELLS",
    "FeatureMap",
    "MapConfig",
    "WorldMap",
    "add_coverage",
    "boundary_masks",
    "footprints",
    "frame_pose",
    "map_layers",
    "object_context_map",
    "project_masks",
    "splat_max",
    "to_frame",
    "to_world",
    "world_to_prediction",
]
