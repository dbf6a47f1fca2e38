"""The sheet of the catalogue: every object from two sides, with its size and its name in the colour of its split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from wayword.camera import Camera, project
from wayword.pictures.colours import ACCENT, FAINT_INK, INK, LIGHT_PAGE, Rgb
from wayword.pictures.lettering import draw_text, line_size, plain_text, text_font
from wayword.pictures.sheet import MARGIN, TITLE_PX, count_of_objects, tile_sheet, titled_sheet
from wayword.sim.models.catalogue import catalogue
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Light, Look
from wayword.sim.render.renderer import Frames, RenderConfig, Renderer

COLUMNS = 8
PORTRAIT_WIDTH, PORTRAIT_HEIGHT = 108, 128
SIDES_DEG = (-28.0, 142.0)
"""Yaw of the object in its two portraits: half from the front, half from the back."""
SPLIT_COLOURS: dict[str, Rgb] = {"seen": (92, 100, 112), "dev": (20, 110, 210), "test": ACCENT}

_GAP, _NAME_PX, _LEAST_WIDTH = 10, 26, 420
_VIEW_PITCH_DEG = 24.0
_CENTRE = 2.35  # of the arena, so that the object is on the shadow map
# A floor without a boundary: the line has the colour of the concrete on both its sides.
_FLOOR = ((168, 166, 160), (168, 166, 160))
_STUDIO_LOOK = Look("concrete", "concrete", "hall", 30.0, _FLOOR, Light(azimuth_deg=200.0, ambient=0.66, diffuse=0.5))


@dataclass(frozen=True)
class _Standing:
    name: str
    x: float
    y: float
    yaw: float


def catalogue_sheet(names: Sequence[str], bank: MeshBank) -> Image.Image:
    """One page, 8 objects in a row; each fills its portraits, so sizes are written beside the names."""
    camera = Camera(PORTRAIT_WIDTH, PORTRAIT_HEIGHT, hfov_deg=24.0, mount_pitch_deg=_VIEW_PITCH_DEG)
    renderer = Renderer(bank, camera, RenderConfig(supersample=True))
    portraits = [Image.fromarray(rgb) for rgb in _portraits(names, renderer).rgb] if names else []
    sides = len(SIDES_DEG)
    tiles = [
        _tile(name, bank.meshes[name].longest_edge, portraits[i * sides : (i + 1) * sides])
        for i, name in enumerate(names)
    ]
    sheet = titled_sheet(count_of_objects(len(names)), tiles, COLUMNS, _GAP, _LEAST_WIDTH)
    _draw_legend(ImageDraw.Draw(sheet), names, sheet.width)
    return sheet


def _tile(name: str, longest_edge_m: float, portraits: Sequence[Image.Image]) -> Image.Image:
    """The portraits of an object side by side, its name and its size below them."""
    pair = tile_sheet(portraits, len(portraits), gap=2, page=LIGHT_PAGE)
    tile = Image.new("RGB", (pair.width, pair.height + _NAME_PX), LIGHT_PAGE)
    tile.paste(pair, (0, 0))
    pen, middle = ImageDraw.Draw(tile), pair.height + _NAME_PX // 2
    size = f"{longest_edge_m:.2f} m"
    draw_text(pen, (tile.width, middle), size, 13, FAINT_INK, "rm")
    room = tile.width - text_font(13).getlength(size) - 8
    split = _split(name)
    colour, bold = SPLIT_COLOURS.get(split, INK), 0.0 if split == "seen" else 0.4
    draw_text(pen, (0, middle), name, line_size(plain_text(name), room, 17, smallest=10), colour, bold=bold)
    return tile


def _portraits(names: Sequence[str], renderer: Renderer) -> Frames:
    """Each object from each side, in that order."""
    scenes, poses = [], []
    for name in names:
        renderer.bank.number(name)  # an unknown name is an error before anything is drawn
        vertices = renderer.bank.meshes[name].vertices.astype(np.float64)
        for yaw in np.radians(SIDES_DEG):
            c, s = math.cos(yaw), math.sin(yaw)
            placed = vertices @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + (_CENTRE, _CENTRE, 0)
            scenes.append(renderer.scene([_Standing(name, _CENTRE, _CENTRE, float(yaw))], _STUDIO_LOOK))
            poses.append(_fitting_pose(placed, renderer.camera))
    return renderer.render(scenes, poses)


def _fitting_pose(vertices: NDArray[np.float64], camera: Camera) -> NDArray[np.float64]:
    """A pose that looks along +y, down by the mount's pitch, from where the object just fills the picture."""
    pitch = math.radians(camera.mount_pitch_deg)
    target = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    middle, room = np.array([camera.width, camera.height]) / 2, 0.86
    distance = 2.0
    pose = np.zeros(6)
    for _ in range(8):  # size goes with 1 / distance and place with the target: converges at once, nearly
        eye = target - distance * np.array([0.0, math.cos(pitch), -math.sin(pitch)])
        pose = np.array([*eye, 0.0, 0.0, math.pi / 2])
        pixels = project(vertices, pose, camera)[:, :2]
        low, high = pixels.min(axis=0), pixels.max(axis=0)
        right, down = ((low + high) / 2 - middle) * distance / camera.focal_px
        target = target + np.array([right, -down * math.sin(pitch), -down * math.cos(pitch)])
        distance *= float(np.max((high - low) / (2 * middle * room)))
    return pose


def _draw_legend(pen: ImageDraw.ImageDraw, names: Sequence[str], width: int) -> None:
    """How many objects each split has, in its colour, in the upper right corner."""
    splits = [_split(name) for name in names]
    x, middle = float(width - MARGIN), TITLE_PX / 2
    for split in [split for split in reversed(SPLIT_COLOURS) if split in splits]:
        text = f"{split} {splits.count(split)}"
        x -= text_font(16).getlength(text)
        draw_text(pen, (x, middle), text, 16, SPLIT_COLOURS[split])
        x -= 8
        pen.ellipse((x - 10, middle - 5, x, middle + 5), SPLIT_COLOURS[split])
        x -= 30


def _split(name: str) -> str:
    entry = catalogue().get(name)
    return entry.split if entry else ""
