"""The map: the arena from straight above, drawn by our own renderer, with paths and names on it.

A camera high up with a narrow view is nearly orthographic. On the picture +x is right and +y is up, and
points on the ground are where ``to_pixels`` says.

Shorthand
    points (N, 2) world metres; pixels (N, 2) column, row with the first pixel's centre at (0.5, 0.5)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.pictures.colours import DEMONSTRATION, FLIGHT, OUTLINE, WHITE, Rgb
from wayword.pictures.labels import place_labels, solid_box
from wayword.pictures.lettering import plain_text, text_font
from wayword.pictures.shapes import Points, dashes, disc, polygon, stroke
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import Placed, RenderConfig, Renderer
from wayword.task import ARENA_M, SUCCESS_RADIUS_M

CAMERA_HEIGHT_M = 20.0


class TopDown:
    """Maps of one arena size at one picture size."""

    def __init__(
        self,
        bank: MeshBank,
        look: Look | None = None,
        arena_m: float = ARENA_M,
        size_px: int = 560,
        margin_m: float = 0.2,
    ) -> None:
        if not (math.isfinite(arena_m) and arena_m > 0 and margin_m >= 0):
            raise WaywordError(f"a map needs a positive arena side and margin, not {arena_m} and {margin_m}")
        self.look, self.arena_m, self.size_px, self.margin_m = look or Look(), arena_m, size_px, margin_m
        side = arena_m + 2 * margin_m
        self.px_per_m = size_px / side
        hfov = 2 * math.degrees(math.atan(side / 2 / CAMERA_HEIGHT_M))
        camera = Camera(size_px, size_px, hfov_deg=hfov, mount_pitch_deg=90.0)
        self.renderer = Renderer(bank, camera, RenderConfig(supersample=True, threads=1))
        # Looking straight down, the body's forward axis points up on the picture: yaw 90 degrees puts +y there.
        self.pose = np.array([arena_m / 2, arena_m / 2, CAMERA_HEIGHT_M, 0.0, 0.0, math.pi / 2])

    def to_pixels(self, points: ArrayLike) -> Points:
        """Where ground points (N, 2) are on the picture."""
        world = np.asarray(points, dtype=np.float64).reshape(-1, 2)
        x, y = world[:, 0] + self.margin_m, self.arena_m + self.margin_m - world[:, 1]
        return np.column_stack([x, y]) * self.px_per_m

    def to_world(self, pixels: ArrayLike) -> Points:
        """Which ground points (N, 2) are at these places of the picture."""
        places = np.asarray(pixels, dtype=np.float64).reshape(-1, 2) / self.px_per_m
        return np.column_stack([places[:, 0] - self.margin_m, self.arena_m + self.margin_m - places[:, 1]])

    def picture(self, objects: Sequence[Placed]) -> Image.Image:
        """The arena with its objects, nothing written on it."""
        return Image.fromarray(self._render(objects)[0])

    def labels(self, objects: Sequence[Placed], avoid: ArrayLike = (), font_px: int = 17) -> Image.Image:
        """The objects' names as a transparent layer, clear of each other, the objects and the points to avoid."""
        ids = self._render(objects)[1]
        font = text_font(font_px)
        solid = [solid_box(ids == i + 1, self.to_pixels([[o.x, o.y]])[0]) for i, o in enumerate(objects)]
        sizes = [np.array(font.getbbox(plain_text(o.name))[2:]) + np.array([6.0, 2.0]) for o in objects]
        boxes = place_labels(solid, sizes, self.to_pixels(avoid), self.size_px)
        layer = Image.new("RGBA", (self.size_px, self.size_px), (*OUTLINE, 0))
        pen = ImageDraw.Draw(layer)
        for item, (left, top, *_) in zip(objects, boxes, strict=True):
            at = (left + 3, top)
            pen.text(at, plain_text(item.name), WHITE, font, stroke_width=2, stroke_fill=(*OUTLINE, 215))
        return layer

    def draw_names(
        self, image: Image.Image, objects: Sequence[Placed], avoid: ArrayLike = (), font_px: int = 17
    ) -> None:
        """The objects' names, in place."""
        layer = self.labels(objects, avoid, font_px)
        image.paste(layer, mask=layer)

    def draw_path(self, image: Image.Image, path: ArrayLike, colour: Rgb = FLIGHT, dashed: bool = False) -> None:
        """A flown path as a bright line, or a demonstration as a dashed one."""
        pixels = self.to_pixels(path)
        if len(pixels) < 2:
            return
        wide = 0.011 * self.size_px
        pieces = dashes(pixels, 0.018 * self.size_px, 0.014 * self.size_px) if dashed else [pixels]
        if dashed:
            wide *= 0.6
        for width, paint, opacity in ((wide + 2.5, OUTLINE, 0.55), (wide, colour, 1.0)):
            stroke(image, pieces, width, paint, opacity)

    def draw_start(self, image: Image.Image, point: ArrayLike, colour: Rgb = DEMONSTRATION) -> None:
        """A small ring where a path begins."""
        (centre,) = self.to_pixels(point)
        r = 0.012 * self.size_px
        disc(image, centre, r + 1.5, OUTLINE, 0.6)
        disc(image, centre, r, colour)
        disc(image, centre, r * 0.45, OUTLINE)

    def draw_goal(self, image: Image.Image, point: ArrayLike, radius_m: float = SUCCESS_RADIUS_M) -> None:
        """The circle within which a flight has arrived, and its centre."""
        (centre,) = self.to_pixels(point)
        radius = radius_m * self.px_per_m
        disc(image, centre, radius, WHITE, 0.24)
        turn = np.linspace(0, 2 * math.pi, 97)
        ring = centre + radius * np.column_stack([np.cos(turn), np.sin(turn)])
        stroke(image, [ring], 2.0, WHITE, 0.9)
        disc(image, centre, 0.010 * self.size_px, OUTLINE, 0.6)
        disc(image, centre, 0.007 * self.size_px, WHITE)

    def draw_drone(self, image: Image.Image, pose: ArrayLike, colour: Rgb = FLIGHT, hfov_deg: float = 84.0) -> None:
        """The drone at (x, y, yaw) or a full pose (6,): four rotors, a nose, and what the camera spans."""
        values = np.asarray(pose, dtype=np.float64).reshape(-1)
        x, y, yaw = values[[0, 1, -1]]
        (centre,) = self.to_pixels([[x, y]])
        half = math.radians(hfov_deg) / 2

        def around(radius: float, angles: ArrayLike) -> Points:
            turned = yaw + np.asarray(angles, dtype=np.float64)
            ring: Points = centre + radius * np.column_stack([np.cos(turned), -np.sin(turned)])
            return ring

        # Overlapping sectors: the wedge fades with distance.
        for reach, opacity in ((1.0, 0.16), (0.7, 0.14), (0.4, 0.14)):
            arc = around(reach * self.px_per_m, np.linspace(-half, half, 25))
            polygon(image, np.concatenate([centre[None], arc]), WHITE, opacity)
        arm, rotor = 0.026 * self.size_px, 0.0145 * self.size_px
        rotors = around(arm, np.radians([45, 135, 225, 315]))
        for paint, grow in ((OUTLINE, 1.6), (colour, 0.0)):
            stroke(image, [rotors[[0, 2]], rotors[[1, 3]]], 3.0 + 2 * grow, paint)
            for hub in rotors:
                disc(image, hub, rotor + grow, paint)
        for hub in rotors:
            disc(image, hub, rotor * 0.6, OUTLINE, 0.9)
        for paint, grow in ((OUTLINE, 1.6), (WHITE, 0.0)):
            nose = around(arm * 1.55 + 2 * grow, [0.0])
            tail = around(arm * 0.62 + grow, np.radians([135, -135]))
            polygon(image, np.concatenate([nose, tail[:1], around(-arm * 0.1, [0.0]), tail[1:]]), paint)

    def _render(self, objects: Sequence[Placed]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        scene = self.renderer.scene(objects, self.look, self.arena_m)
        frames = self.renderer.render([scene], self.pose)
        return frames.rgb[0], frames.ids[0]
