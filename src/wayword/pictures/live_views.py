"""The pictures of a flight while it is flown: what the drone sees with its masks, and the map with its beliefs.

Both are the ones of the flight's video (``thought_card``), one by one and small enough for a page that shows them live.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.camera import Camera
from wayword.language.pipeline import Parsed
from wayword.pictures.boxes import draw_boxes
from wayword.pictures.colours import DEMONSTRATION, Rgb, reference_colours
from wayword.pictures.thought_map import calm_map, paint_beliefs
from wayword.pictures.thought_masks import ThoughtMasks, View, carry_boxes
from wayword.pictures.topdown import TopDown
from wayword.policy.fspvn import Thought
from wayword.sim.arena import Situation
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig, Renderer

VIEW_PX = (512, 288)
MAP_PX = 440
GROUND_PX = 512
MOST_BOXES = 6
"""The surest ones are drawn, with their numbers."""
_LETTERS_PX = 18
"""Of those numbers: a page shows the view at two thirds of its size."""
Pixels = NDArray[np.uint8]


class LiveViews:
    """Draws one layout, and one flight at a time in it."""

    def __init__(
        self,
        bank: MeshBank,
        situation: Situation,
        camera: Camera,
        demonstration: NDArray[np.float64] | None = None,
    ) -> None:
        self.situation, self.camera = situation, camera
        sharp = replace(self.camera, width=VIEW_PX[0], height=VIEW_PX[1])
        self._renderer = Renderer(bank, sharp, RenderConfig(supersample=True, threads=1))
        self._scene = self._renderer.scene(situation.objects, situation.look, situation.arena_m)
        self._top = TopDown(bank, situation.look, situation.arena_m, size_px=MAP_PX)
        self._bare = self._top.picture(situation.objects)
        if demonstration is not None and len(demonstration) > 1:
            self._top.draw_goal(self._bare, demonstration[-1])
            self._top.draw_path(self._bare, demonstration, DEMONSTRATION, dashed=True)
        self._names = self._top.labels(situation.objects, font_px=14)
        self._believed = self._bare
        self._ground = TopDown(bank, situation.look, situation.arena_m, size_px=GROUND_PX, margin_m=1.0)
        self._bare_ground = self._ground.picture(())
        self._colours: list[Rgb] = []
        self._masks = ThoughtMasks(self.camera, self._colours)
        self._boxes: tuple[NDArray[np.float32], View] | None = None
        """The surest boxes of the last thought, the first one first, and where they were seen from."""

    def start(self, parsed: Parsed | None) -> None:
        """A new flight: no thought yet."""
        self._colours = reference_colours(parsed.references) if parsed is not None else []
        self._masks, self._believed = ThoughtMasks(self.camera, self._colours), self._bare
        self._boxes = None

    def think(self, thought: Thought, view: View) -> None:
        """A new decision, and from where the picture was taken that it is about."""
        self._masks.think(thought.grounding.masks, view)
        order = np.argsort(-thought.grounding.p_box)[:MOST_BOXES]
        self._boxes = thought.grounding.boxes[order], view
        self._believed = calm_map(self._bare)
        paint_beliefs(self._believed, self._top, thought, self._colours)

    def view(self, pose: NDArray[np.float64]) -> Pixels:
        """What the drone sees from a pose, with the masks of its last thought where their objects are now."""
        frames = self._renderer.render([self._scene], pose)
        picture = Image.fromarray(frames.rgb[0])
        self._masks.paint(picture, pose, frames.depth[0])
        if self._boxes is not None:
            boxes, taken_from = self._boxes
            carried = carry_boxes(boxes, taken_from, pose, self._renderer.camera)
            numbers = [number for number, box in enumerate(carried) if np.isfinite(box).all()]
            texts = [str(number + 1) for number in numbers]
            draw_boxes(picture, carried[numbers], texts, line_px=1, letters_px=_LETTERS_PX)
        return np.asarray(picture)

    def map(self, pose: NDArray[np.float64], path: NDArray[np.float64]) -> Pixels:
        """The map with beliefs, the path flown so far and the drone."""
        picture = self._believed.copy()
        self._top.draw_path(picture, path)
        self._top.draw_drone(picture, pose, hfov_deg=self.camera.hfov_deg)
        picture.paste(self._names, mask=self._names)
        return np.asarray(picture)

    def ground(self, thought: Thought | None = None) -> Pixels:
        """The ground of a 3D view, a metre wider than the arena on all sides, with beliefs on it."""
        if thought is None:
            return np.asarray(self._bare_ground)
        picture = self._bare_ground.copy()
        paint_beliefs(picture, self._ground, thought, self._colours)
        return np.asarray(picture)

    @property
    def ground_side_m(self) -> float:
        """Metres across ``ground``."""
        return self._ground.arena_m + 2 * self._ground.margin_m
