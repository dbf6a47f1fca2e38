"""The pictures of the page: what the drone sees with its masks, and the map with its beliefs.

Both are the ones of the flight's video (``wayword.sim.pictures``), at the page's sizes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.language.pipeline import Parsed
from wayword.sim.arena import Situation
from wayword.sim.pictures.thought_map import calm, paint_beliefs
from wayword.sim.pictures.thought_masks import LEAST_MASK, View, carry_masks, merged, paint_references
from wayword.sim.pictures.thought_words import reference_colours
from wayword.sim.pictures.topdown import SHOWN, Color, TopDown
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.camera import CameraConfig
from wayword.sim.render.renderer import RenderConfig, Renderer
from wayword.studio.session import Leg

VIEW_PX = (512, 288)
MAP_PX = 440
GROUND_PX = 512
_MASK_STEP = 2
"""Masks are carried along on every second pixel of the view: they are smooth."""
Pixels = NDArray[np.uint8]


class Pictures:
    """Draws one layout, and the legs of one flight in it."""

    def __init__(self, bank: MeshBank, situation: Situation, demonstration: NDArray[np.float64] | None = None) -> None:
        self.situation = situation
        self.camera = CameraConfig()
        sharp = replace(self.camera, width=VIEW_PX[0], height=VIEW_PX[1])
        self._renderer = Renderer(bank, sharp, RenderConfig(supersample=True, threads=1))
        self._scene = self._renderer.scene(situation.objects, situation.look, situation.arena_m)
        self._top = TopDown(bank, situation.look, situation.arena_m, size_px=MAP_PX)
        self._bare = self._top.picture(situation.objects)
        if demonstration is not None and len(demonstration) > 1:
            self._top.draw_goal(self._bare, demonstration[-1])
            self._top.draw_path(self._bare, demonstration, SHOWN, dashed=True)
        self._names = self._top.labels(situation.objects, font_px=14)
        self._believed = self._bare
        self._ground = TopDown(bank, situation.look, situation.arena_m, size_px=GROUND_PX, margin_m=1.0)
        self._bare_ground = self._ground.picture(())
        self._colours: list[Color] = []
        self._masks: dict[Color, NDArray[np.float32]] = {}
        self._seen: View | None = None

    def start(self, parsed: Parsed | None) -> None:
        """A new flight: no thought yet."""
        self._colours = reference_colours(parsed.references) if parsed is not None else []
        self._masks, self._seen, self._believed = {}, None, self._bare

    def think(self, leg: Leg) -> None:
        """A new decision: masks and beliefs of its thought."""
        if leg.thought is None:
            return
        found = merged(leg.thought.grounding.masks, self._colours)
        self._masks = {color: mask for color, mask in found.items() if mask.max() >= LEAST_MASK}
        self._seen = leg.seen
        self._believed = calm(self._bare)
        paint_beliefs(self._believed, self._top, leg.thought, self._colours)

    def view(self, pose: NDArray[np.float64]) -> Pixels:
        """What the drone sees from a pose, with the masks of its last thought where their objects are now."""
        frames = self._renderer.render([self._scene], pose)
        picture = Image.fromarray(frames.rgb[0])
        if self._masks and self._seen is not None:
            now = View(pose, frames.depth[0][::_MASK_STEP, ::_MASK_STEP])
            masks = carry_masks(np.stack(list(self._masks.values())), self._seen, now, self.camera)
            paint_references(picture, dict(zip(self._masks, masks, strict=True)))
        return np.asarray(picture)

    def map(self, pose: NDArray[np.float64], path: NDArray[np.float64]) -> Pixels:
        """The map with beliefs, the path flown so far and the drone."""
        picture = self._believed.copy()
        self._top.draw_path(picture, path)
        self._top.draw_drone(picture, pose, hfov_deg=self.camera.hfov_deg)
        picture.paste(self._names, mask=self._names)
        return np.asarray(picture)

    def ground(self, leg: Leg | None = None) -> Pixels:
        """The ground of the 3D view, a metre wider than the arena on all sides, with the beliefs of a leg on it."""
        if leg is None or leg.thought is None:
            return np.asarray(self._bare_ground)
        picture = self._bare_ground.copy()
        paint_beliefs(picture, self._ground, leg.thought, self._colours)
        return np.asarray(picture)

    @property
    def ground_side_m(self) -> float:
        """Metres across ``ground``."""
        return self._ground.arena_m + 2 * self._ground.margin_m
