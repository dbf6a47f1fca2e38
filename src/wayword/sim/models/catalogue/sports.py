"""Sports and leisure: beach umbrella and ball, soccer ball, basketball, bowling pin, guitar, telescope."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wayword.sim.models.catalogue.registry import model
from wayword.sim.models.mesh import Color, Solid, Where, join
from wayword.sim.models.primitives import arc, around, ball, box, cylinder, extrude, icoball, lathe, sweep

BLACK: Color = (24, 24, 26)
WHITE: Color = (248, 248, 246)
RED: Color = (214, 28, 32)


def _gores(solid: Solid, colors: tuple[Color, ...]) -> Solid:
    """Paint equal slices about the z axis, one colour after the other."""
    for k, color in enumerate(colors):
        solid = solid.paint(color, _slice(k, len(colors)))
    return solid


def _slice(k: int, count: int) -> Where:
    """Faces in the ``k``-th of ``count`` equal slices about the z axis."""

    def inside(centroids: NDArray[np.float64], _: NDArray[np.float64]) -> NDArray[np.bool_]:
        turn = np.arctan2(centroids[:, 1], centroids[:, 0]) / (2 * math.pi) % 1.0
        return np.equal(np.floor(turn * count), k)

    return inside


def _band(low: float, high: float) -> Where:
    """Faces whose centre lies between two heights."""
    return lambda centroids, _: (centroids[:, 2] > low) & (centroids[:, 2] < high)


@model("beach umbrella")
def beach_umbrella() -> list[Solid]:
    """Canopy of eight red and white segments with a drooping edge, on a white pole."""

    def scallop(p: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y, z = p.T
        # The ribs (every 45 degrees) hold the cloth out; between them it hangs in.
        between = np.abs(np.sin(4 * np.arctan2(y, x))) * np.clip(np.hypot(x, y) / 0.5, 0, 1) ** 2
        return np.column_stack([x * (1 - 0.07 * between), y * (1 - 0.07 * between), z + 0.025 * between])

    cloth = lathe([(0.0, 0.93), (0.30, 0.83), (0.50, 0.64), (0.52, 0.66), (0.44, 0.78), (0.28, 0.90), (0.0, 0.97)], 16)
    cloth = _gores(cloth.bend(scallop), (RED, WHITE) * 4)
    pole = cylinder(0.027, 1.01, 8, WHITE)
    foot = lathe([(0.13, 0.0), (0.13, 0.03), (0.04, 0.06)], 12, (226, 226, 224))
    return join(cloth, pole, foot)


@model("beach ball")
def beach_ball() -> list[Solid]:
    """Ball with red, white, yellow and blue segments running between two white caps, lying tilted."""
    red: Color = (226, 30, 36)
    yellow: Color = (255, 212, 20)
    blue: Color = (26, 92, 214)
    sphere = _gores(ball(0.5, 24, 12), (red, WHITE, blue, yellow) * 2)
    sphere = sphere.paint(WHITE, lambda c, _: np.abs(c[:, 2]) > 0.478)
    return join(sphere.turn("x", 38).turn("z", 25))


@model("soccer ball")
def soccer_ball() -> list[Solid]:
    """White ball with twelve black five-sided patches."""
    corners = icoball(1.0, 0).positions
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    near = math.cos(math.radians(12))

    def widen(p: NDArray[np.float64]) -> NDArray[np.float64]:
        # The ring of points about each patch is pushed out until patches are as large as on a real ball.
        nearest = corners[np.argmax(p @ corners.T, axis=1)]
        angle = np.degrees(np.arccos(np.clip(np.einsum("ij,ij->i", p, nearest), -1, 1)))
        ring = (angle > 5) & (angle < 18)
        moved = np.where(ring[:, None], p - 0.30 * (nearest - p), p)
        unit: NDArray[np.float64] = moved / np.linalg.norm(moved, axis=1, keepdims=True)
        return unit

    sphere = icoball(1.0, 2, WHITE).bend(widen)
    sphere = sphere.paint(BLACK, lambda c, _: ((c / np.linalg.norm(c, axis=1)[:, None]) @ corners.T).max(axis=1) > near)
    return join(sphere.turn("x", 31.7))


@model("basketball")
def basketball() -> list[Solid]:
    """Orange ball with black lines: two great circles and a curve on either side."""
    sphere = icoball(0.5, 2, (234, 112, 26))

    def line(offset: float) -> Solid:
        """A disc whose rim alone stands out of the ball, by a hair."""
        heights = (offset - 0.022, offset + 0.022)
        return lathe([(math.sqrt(0.506**2 - z**2), z) for z in heights], 24, BLACK)

    lines = join(line(0.0), line(0.0).turn("x", 90), line(0.30).turn("y", 90), line(-0.30).turn("y", 90))
    return [part.turn("x", 20).turn("z", 30) for part in join(sphere, lines)]


@model("bowling pin")
def bowling_pin() -> list[Solid]:
    """White pin: wide belly, slim neck with two red stripes, round head."""
    profile = [
        (0.080, 0.00), (0.095, 0.02), (0.145, 0.15), (0.176, 0.27), (0.178, 0.33), (0.158, 0.43),
        (0.116, 0.54), (0.090, 0.61), (0.079, 0.67), (0.075, 0.72), (0.078, 0.78),
        (0.095, 0.85), (0.095, 0.91), (0.075, 0.965), (0.040, 0.993), (0.0, 1.00),
    ]  # fmt: skip
    pin = lathe(profile, 16, WHITE, crease_deg=60.0)
    for low, high in ((0.61, 0.67), (0.72, 0.78)):
        pin = pin.paint(RED, _band(low, high))
    return join(pin)


@model("guitar")
def guitar() -> list[Solid]:
    """Brown acoustic guitar standing on its end: waisted body, sound hole, dark neck and headstock."""
    top: Color = (224, 148, 72)
    side: Color = (120, 64, 28)
    dark: Color = (58, 32, 18)
    right = [
        (0.0, 0.0), (0.10, 0.008), (0.18, 0.045), (0.22, 0.11), (0.222, 0.17), (0.19, 0.235), (0.142, 0.285),
        (0.125, 0.315), (0.142, 0.355), (0.163, 0.405), (0.158, 0.455), (0.12, 0.495), (0.06, 0.51),
    ]  # fmt: skip
    outline = right + [(-x, z) for x, z in reversed(right[1:])]
    body = extrude(outline, 0.14, side, crease_deg=50.0)
    body = body.paint(top, lambda _, n: n[:, 1] < -0.9).paint((160, 92, 42), lambda _, n: n[:, 1] > 0.9)
    hole = cylinder(0.068, 0.02, 14, (20, 14, 10)).turn("x", 90).move(y=-0.062, z=0.33)
    rose = cylinder(0.088, 0.014, 14, (240, 206, 140)).turn("x", 90).move(y=-0.062, z=0.33)
    bridge = box(0.16, 0.03, 0.036, dark).move(y=-0.075, z=0.135)
    neck = box(0.066, 0.05, 0.46, dark).move(y=-0.058, z=0.41)
    head = extrude(
        [(-0.036, 0.85), (0.036, 0.85), (0.056, 0.89), (0.05, 1.0), (-0.05, 1.0), (-0.056, 0.89)], 0.04, side
    )
    pegs = [
        box(0.03, 0.025, 0.022, (232, 226, 210)).move(sign * 0.065, -0.04, z)
        for sign in (-1, 1)
        for z in (0.895, 0.955)
    ]
    return join(body, rose, hole, bridge, neck, head.move(y=-0.045), pegs)


@model("telescope")
def telescope() -> list[Solid]:
    """Black tube pointing up at the sky on a brown three-legged stand."""
    brown: Color = (156, 94, 44)
    tube = lathe(
        [
            (0.042, -0.42), (0.042, -0.32), (0.075, -0.31), (0.075, 0.20),
            (0.098, 0.23), (0.098, 0.42), (0.080, 0.42), (0.080, 0.39),
        ],
        14, BLACK,
    )  # fmt: skip
    trim: Color = (92, 92, 100)
    tube = tube.paint((150, 190, 220), _band(0.385, 0.395))
    tube = tube.paint(trim, _band(0.20, 0.23))
    tube = tube.turn("x", 42).move(z=0.64)
    leg = sweep([(0.03, 0.0, 0.56), (0.30, 0.0, 0.0)], [0.032, 0.026], 6, brown)
    head = cylinder(0.055, 0.14, 10, (104, 60, 28)).move(z=0.50)
    brace = sweep(np.column_stack([arc(0.14, 0, 120, 2), np.full(2, 0.28)]), 0.016, 5, brown)
    return join(tube, head, around(leg, 3, 90), around(brace, 3, 90))
