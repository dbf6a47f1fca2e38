"""The contact sheet: every object from two sides on one page, with its name in the colour of its split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from wayword.errors import WaywordError
from wayword.lettering import plain, text_font
from wayword.sim.models.catalogue import catalogue
from wayword.sim.pictures.topdown import Color
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.camera import CameraConfig, project
from wayword.sim.render.look import Light, Look
from wayword.sim.render.renderer import Frames, RenderConfig, Renderer

COLUMNS = 8
TILE_WIDTH, TILE_HEIGHT = 108, 128
SIDES_DEG = (-28.0, 142.0)
"""Yaw of the object in its two pictures: half from the front, half from the back."""
PAGE: Color = (250, 250, 248)
INK: Color = (38, 42, 50)
SPLIT_COLORS: dict[str, Color] = {"seen": (92, 100, 112), "dev": (20, 110, 210), "test": (206, 84, 0)}

_GAP, _NAME, _MARGIN, _HEAD = 10, 26, 20, 40
_VIEW_PITCH_DEG = 24.0
_CENTRE = 2.35  # of the arena, so that the object is on the shadow map
# A floor without a boundary: the line has the colour of the concrete on both its sides.
_FLOOR = ((168, 166, 160), (168, 166, 160))
_PLAIN = Look("concrete", "concrete", "hall", 30.0, _FLOOR, Light(azimuth_deg=200.0, ambient=0.66, diffuse=0.5))


@dataclass(frozen=True)
class _Standing:
    name: str
    x: float
    y: float
    yaw: float


def contact_sheet(names: Sequence[str], bank: MeshBank) -> Image.Image:
    """One page, 8 objects in a row; each fills its pictures, so sizes are written beside the names."""
    if not names:
        raise WaywordError("no objects to draw on a contact sheet")
    camera = CameraConfig(TILE_WIDTH, TILE_HEIGHT, hfov_deg=24.0, mount_pitch_deg=_VIEW_PITCH_DEG)
    renderer = Renderer(bank, camera, RenderConfig(supersample=True))
    pictures = _portraits(names, renderer).rgb
    columns = min(COLUMNS, len(names))
    cell = (2 * TILE_WIDTH + 2, TILE_HEIGHT + _NAME)
    width = max(2 * _MARGIN + columns * (cell[0] + _GAP) - _GAP, 420)
    height = _HEAD + _MARGIN + math.ceil(len(names) / columns) * (cell[1] + _GAP)
    page = Image.new("RGB", (width, height), PAGE)
    pen = ImageDraw.Draw(page)
    _legend(pen, names, width)
    for i, name in enumerate(names):
        left, top = _MARGIN + i % columns * (cell[0] + _GAP), _HEAD + i // columns * (cell[1] + _GAP)
        for side in range(len(SIDES_DEG)):
            picture = Image.fromarray(pictures[i * len(SIDES_DEG) + side])
            page.paste(picture, (left + side * (TILE_WIDTH + 2), top))
        size = f"{bank.meshes[name].longest_edge:.2f} m"
        middle = top + TILE_HEIGHT + _NAME // 2
        pen.text((left + cell[0], middle), size, (140, 146, 156), text_font(13), anchor="rm")
        _name(pen, name, left, middle, cell[0] - text_font(13).getlength(size) - 8)
    return page


def _portraits(names: Sequence[str], renderer: Renderer) -> Frames:
    """Each object from each side, in that order."""
    scenes, poses = [], []
    for name in names:
        renderer.bank.number(name)  # an unknown name is an error before anything is drawn
        vertices = renderer.bank.meshes[name].vertices.astype(np.float64)
        for yaw in np.radians(SIDES_DEG):
            c, s = math.cos(yaw), math.sin(yaw)
            placed = vertices @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + (_CENTRE, _CENTRE, 0)
            scenes.append(renderer.scene([_Standing(name, _CENTRE, _CENTRE, float(yaw))], _PLAIN))
            poses.append(_fitting_pose(placed, renderer.camera))
    return renderer.render(scenes, poses)


def _fitting_pose(vertices: NDArray[np.float64], camera: CameraConfig) -> NDArray[np.float64]:
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


def _legend(pen: ImageDraw.ImageDraw, names: Sequence[str], width: int) -> None:
    present = [split for split in SPLIT_COLORS if any(_split(name) == split for name in names)]
    x = float(width - _MARGIN)
    for split in reversed(present):
        count = sum(_split(name) == split for name in names)
        text = f"{split} {count}"
        x -= text_font(16).getlength(text)
        pen.text((x, _HEAD / 2), text, SPLIT_COLORS[split], text_font(16), anchor="lm")
        x -= 8
        pen.ellipse((x - 10, _HEAD / 2 - 5, x, _HEAD / 2 + 5), SPLIT_COLORS[split])
        x -= 30
    text = f"{len(names)} objects" if len(names) > 1 else "1 object"
    pen.text((_MARGIN, _HEAD / 2), text, INK, text_font(18), anchor="lm")


def _name(pen: ImageDraw.ImageDraw, name: str, left: float, middle: float, room: float) -> None:
    """The name in its split's colour, ink for objects from packs; long names in smaller letters."""
    text = plain(name)
    size = next((s for s in range(17, 10, -1) if text_font(s).getlength(text) <= room), 10)
    color = SPLIT_COLORS.get(_split(name), INK)
    strong = 0 if _split(name) == "seen" else 0.4
    pen.text((left, middle), text, color, text_font(size), anchor="lm", stroke_width=strong)


def _split(name: str) -> str:
    entry = catalogue().get(name)
    return entry.split if entry else ""
