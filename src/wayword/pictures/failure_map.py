"""The map of a failed flight: demonstration and flight, and where d^g and the masks of references were at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from wayword.episodes import Example
from wayword.mapping.grid import CELL_M
from wayword.pictures.colours import DEMONSTRATION, OUTLINE, Rgb
from wayword.pictures.shapes import disc, polygon
from wayword.pictures.topdown import TopDown
from wayword.sim.render.bank import MeshBank

SIZE_PX = 400
GOAL: Rgb = (255, 64, 129)
REFERENCE: Rgb = (64, 196, 255)


def failure_map(ending: Mapping[str, Any], example: Example, bank: MeshBank) -> Image.Image:
    """``ending`` is what a row of a table keeps of a flight's end:

    goal    x, y and strength of the cells of d^g
    path    (N, 2) what was flown, and "yaw" at its end
    marks   for each reference, "peak": x, y where its mask on the map is largest, or None
    """
    top = TopDown(bank, arena_m=example.episode.arena_m, size_px=SIZE_PX)
    image = top.picture(example.objects)
    cos, sin = np.cos(example.start.yaw), np.sin(example.start.yaw)  # cells of d^g lie along the first heading
    cell = CELL_M / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ np.array([[cos, sin], [-sin, cos]])
    for x, y, strength in ending["goal"]:
        polygon(image, top.to_pixels(np.array([x, y]) + cell), GOAL, 0.75 * float(strength))
    top.draw_goal(image, example.path[-1:])
    top.draw_path(image, example.path, DEMONSTRATION, dashed=True)
    top.draw_path(image, ending["path"])
    top.draw_start(image, example.path[:1])
    top.draw_drone(image, [*ending["path"][-1], ending["yaw"]])
    for mark in ending["marks"]:
        if mark["peak"] is not None:
            (centre,) = top.to_pixels([mark["peak"]])
            disc(image, centre, 6, REFERENCE, 0.9)
            disc(image, centre, 3.5, OUTLINE, 0.9)
    top.draw_names(image, example.objects, ending["path"], font_px=13)
    return image
