"""The map: the arena from straight above, drawn by our own renderer, with paths and names on it.

A camera high up with a narrow view is nearly orthographic. On the picture +x is right and +y is up, and
points on the ground are where ``to_pixels`` says.

Shorthand
    points (N, 2) world metres; pixels (N, 2) column, row with the first pixel's centre at (0.5, 0.5)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from wayword.episodes.format import SUCCESS_RADIUS_M
from wayword.errors import WaywordError
from wayword.lettering import plain, text_font
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.camera import CameraConfig
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import Placed, RenderConfig, Renderer

Points = NDArray[np.float64]
Color = tuple[int, int, int]

CAMERA_HEIGHT_M = 20.0
FLOWN: Color = (255, 206, 56)
SHOWN: Color = (255, 255, 255)
INK: Color = (18, 22, 30)
_FINE = 3  # shapes are drawn this many times as large and scaled down: smooth edges


class TopDown:
    """Maps of one arena size at one picture size."""

    def __init__(
        self,
        bank: MeshBank,
        look: Look | None = None,
        arena_m: float = 4.7,
        size_px: int = 560,
        margin_m: float = 0.2,
    ) -> None:
        if not (math.isfinite(arena_m) and arena_m > 0 and margin_m >= 0):
            raise WaywordError(f"a map needs a positive arena side and margin, not {arena_m} and {margin_m}")
        self.look, self.arena_m, self.size_px, self.margin_m = look or Look(), arena_m, size_px, margin_m
        side = arena_m + 2 * margin_m
        self.px_per_m = size_px / side
        hfov = 2 * math.degrees(math.atan(side / 2 / CAMERA_HEIGHT_M))
        camera = CameraConfig(size_px, size_px, hfov_deg=hfov, mount_pitch_deg=90.0)
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
        solid = [_extent(ids == i + 1, self.to_pixels([[o.x, o.y]])[0]) for i, o in enumerate(objects)]
        sizes = [np.array(font.getbbox(plain(o.name))[2:]) + np.array([6.0, 2.0]) for o in objects]
        boxes = place_labels(solid, sizes, self.to_pixels(avoid), self.size_px)
        layer = Image.new("RGBA", (self.size_px, self.size_px), (*INK, 0))
        pen = ImageDraw.Draw(layer)
        for item, (left, top, *_) in zip(objects, boxes, strict=True):
            at = (left + 3, top)
            pen.text(at, plain(item.name), (255, 255, 255), font, stroke_width=2, stroke_fill=(*INK, 215))
        return layer

    def draw_path(self, image: Image.Image, path: ArrayLike, color: Color = FLOWN, dashed: bool = False) -> None:
        """A flown path as a bright line, or a demonstration as a dashed one."""
        pixels = self.to_pixels(path)
        if len(pixels) < 2:
            return
        wide = 0.011 * self.size_px
        pieces = dashes(pixels, 0.018 * self.size_px, 0.014 * self.size_px) if dashed else [pixels]
        if dashed:
            wide *= 0.6
        for width, paint, opacity in ((wide + 2.5, INK, 0.55), (wide, color, 1.0)):
            stroke(image, pieces, width, paint, opacity)

    def draw_start(self, image: Image.Image, point: ArrayLike, color: Color = SHOWN) -> None:
        """A small ring where a path begins."""
        (centre,) = self.to_pixels(point)
        r = 0.012 * self.size_px
        disc(image, centre, r + 1.5, INK, 0.6)
        disc(image, centre, r, color)
        disc(image, centre, r * 0.45, INK)

    def draw_goal(self, image: Image.Image, point: ArrayLike, radius_m: float = SUCCESS_RADIUS_M) -> None:
        """The circle within which a flight has arrived, and its centre."""
        (centre,) = self.to_pixels(point)
        radius = radius_m * self.px_per_m
        disc(image, centre, radius, SHOWN, 0.24)
        turn = np.linspace(0, 2 * math.pi, 97)
        ring = centre + radius * np.column_stack([np.cos(turn), np.sin(turn)])
        stroke(image, [ring], 2.0, SHOWN, 0.9)
        disc(image, centre, 0.010 * self.size_px, INK, 0.6)
        disc(image, centre, 0.007 * self.size_px, SHOWN)

    def draw_drone(self, image: Image.Image, pose: ArrayLike, color: Color = FLOWN, hfov_deg: float = 84.0) -> None:
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
            polygon(image, np.concatenate([centre[None], arc]), SHOWN, opacity)
        arm, rotor = 0.026 * self.size_px, 0.0145 * self.size_px
        rotors = around(arm, np.radians([45, 135, 225, 315]))
        for paint, grow in ((INK, 1.6), (color, 0.0)):
            stroke(image, [rotors[[0, 2]], rotors[[1, 3]]], 3.0 + 2 * grow, paint)
            for hub in rotors:
                disc(image, hub, rotor + grow, paint)
        for hub in rotors:
            disc(image, hub, rotor * 0.6, INK, 0.9)
        for paint, grow in ((INK, 1.6), (SHOWN, 0.0)):
            nose = around(arm * 1.55 + 2 * grow, [0.0])
            tail = around(arm * 0.62 + grow, np.radians([135, -135]))
            polygon(image, np.concatenate([nose, tail[:1], around(-arm * 0.1, [0.0]), tail[1:]]), paint)

    def _render(self, objects: Sequence[Placed]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        scene = self.renderer.scene(objects, self.look, self.arena_m)
        frames = self.renderer.render([scene], self.pose)
        return frames.rgb[0], frames.ids[0]


# Drawing with smooth edges -------------------------------------------------------------------------------


def stamp(
    image: Image.Image,
    points: Points,
    reach: float,
    color: Color,
    opacity: float,
    draw: Callable[[ImageDraw.ImageDraw, Callable[[ArrayLike], list[tuple[float, ...]]]], None],
) -> None:
    """Let ``draw`` fill a mask around the points, ``reach`` wider on all sides, and paint through it."""
    low = np.maximum(np.floor(points.min(axis=0) - reach), 0).astype(int)
    high = np.minimum(np.ceil(points.max(axis=0) + reach), image.size).astype(int)
    width, height = (high - low).tolist()
    if width <= 0 or height <= 0:
        return
    mask = Image.new("L", (width * _FINE, height * _FINE))

    def fine(at: ArrayLike) -> list[tuple[float, ...]]:
        # ImageDraw's integer coordinates are pixel centres, ours are edges: half a (fine) pixel apart.
        return [tuple(p) for p in ((np.asarray(at, dtype=np.float64) - low) * _FINE - 0.5).tolist()]

    draw(ImageDraw.Draw(mask), fine)
    mask = mask.reduce(_FINE)
    if opacity < 1:
        mask = mask.point([round(value * opacity) for value in range(256)])
    image.paste(color, (int(low[0]), int(low[1])), mask)


def stroke(image: Image.Image, lines: Sequence[Points], width: float, color: Color, opacity: float = 1.0) -> None:
    """Lines through pixels (N, 2), with round ends and corners."""
    radius = width / 2 * _FINE

    def draw(pen: ImageDraw.ImageDraw, fine: Callable[[ArrayLike], list[tuple[float, ...]]]) -> None:
        for line in lines:
            corners = fine(line)
            pen.line(corners, 255, round(2 * radius))
            if radius > 2:
                for x, y in corners:
                    pen.ellipse((x - radius, y - radius, x + radius, y + radius), 255)

    stamp(image, np.concatenate(lines), width, color, opacity, draw)


def disc(image: Image.Image, centre: ArrayLike, radius: float, color: Color, opacity: float = 1.0) -> None:
    """A filled circle."""
    middle = np.asarray(centre, dtype=np.float64).reshape(1, 2)
    stamp(image, middle, radius + 1, color, opacity,
          lambda pen, fine: pen.ellipse(sum(fine([middle[0] - radius, middle[0] + radius]), ()), 255))  # fmt: skip


def polygon(image: Image.Image, corners: Points, color: Color, opacity: float = 1.0) -> None:
    """A filled polygon."""
    stamp(image, corners, 1, color, opacity, lambda pen, fine: pen.polygon(fine(corners), 255))


def dashes(line: Points, on: float, off: float) -> list[Points]:
    """Cut a line into dashes of length ``on`` with gaps ``off``, corners kept."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    arc = np.concatenate([[0.0], np.cumsum(steps)])
    pieces = []
    for start in np.arange(0.0, arc[-1], on + off):
        stop = min(start + on, arc[-1])
        at = np.concatenate([[start], arc[(arc > start) & (arc < stop)], [stop]])
        pieces.append(np.column_stack([np.interp(at, arc, line[:, 0]), np.interp(at, arc, line[:, 1])]))
    return pieces or [line]


# Where names go ------------------------------------------------------------------------------------------


def _extent(mask: NDArray[np.bool_], centre: Points) -> NDArray[np.float64]:
    """Left, top, right, bottom of what is drawn of an object; a point if all of it is hidden."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return np.concatenate([centre, centre])
    return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], dtype=np.float64)


def place_labels(
    solid: Sequence[NDArray[np.float64]], sizes: Sequence[NDArray[np.float64]], avoid: Points, size_px: int
) -> list[NDArray[np.float64]]:
    """Boxes for labels of the given sizes beside solid boxes; a few rounds of moving each to its best place."""
    candidates = [_around(box, size, size_px) for box, size in zip(solid, sizes, strict=True)]
    fixed = []
    for own, boxes in enumerate(candidates):
        cost = 0.02 * np.hypot(*(_middle(boxes) - _middle(solid[own][None])).T)
        for other, obstacle in enumerate(solid):
            cost = cost + _overlap(boxes, obstacle) * (0.004 if other == own else 0.02)
        for x, y in avoid:
            inside = (boxes[:, 0] <= x) & (x <= boxes[:, 2]) & (boxes[:, 1] <= y) & (y <= boxes[:, 3])
            cost = cost + 0.5 * inside
        fixed.append(cost)
    chosen = [int(np.argmin(cost)) for cost in fixed]
    for _, own in itertools.product(range(4), range(len(solid))):
        cost = fixed[own].copy()
        for other, place in enumerate(chosen):
            if other != own:
                cost += 0.2 * _overlap(candidates[own], candidates[other][place])
        chosen[own] = int(np.argmin(cost))
    return [boxes[place] for boxes, place in zip(candidates, chosen, strict=True)]


def _around(box: NDArray[np.float64], size: NDArray[np.float64], size_px: int) -> NDArray[np.float64]:
    """Candidate boxes (K, 4) in rings about a solid box, moved inside the picture."""
    middle, half = _middle(box[None])[0], (box[2:] - box[:2]) / 2
    corners = []
    for gap, turn in itertools.product((1.0, 8.0, 18.0, 30.0), np.arange(16) * math.pi / 8):
        way = np.array([math.cos(turn), -math.sin(turn)])
        # Far enough along the direction that the two boxes just part.
        need = (half + size / 2 + gap) / np.maximum(np.abs(way), 1e-9)
        corners.append(middle + way * need.min() - size / 2)
    low = np.clip(np.array(corners), 2, np.maximum(size_px - 2 - size, 2))
    return np.concatenate([low, low + size], axis=1)


def _middle(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    return (boxes[:, :2] + boxes[:, 2:]) / 2


def _overlap(boxes: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Common area of each of the boxes (K, 4) with another."""
    common = np.minimum(boxes[:, 2:], other[2:]) - np.maximum(boxes[:, :2], other[:2])
    area: NDArray[np.float64] = np.maximum(common, 0).prod(axis=1)
    return area
