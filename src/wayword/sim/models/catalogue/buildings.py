"""Buildings and built things: houses, towers, walls, a tent.

Builders measure in centimetres at catalogue size, so that a part's thickness can be read against what
the drone's camera resolves (about 3 cm a pixel at 2 m).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from wayword.sim.models.catalogue.registry import model
from wayword.sim.models.mesh import Color, Solid, Where, join
from wayword.sim.models.primitives import arc, around, box, cylinder, extrude, lathe, row, sweep

WHITE: Color = (253, 252, 248)
GLASS: Color = (58, 84, 112)
DARK: Color = (38, 36, 38)
STONE: Color = (156, 157, 159)
RED: Color = (204, 32, 34)
WOOD: Color = (122, 76, 40)
DARK_WOOD: Color = (84, 50, 26)


def _blocks(solid: Solid, amount: float, seed: int) -> Solid:
    """Vary brightness per quad, not per triangle: boxes and lathes list the two halves of a quad together."""
    count = len(solid.faces)
    tone = 1.0 + np.random.default_rng(seed).uniform(-amount, amount, size=(count + 1) // 2)
    colors = np.clip(solid.colors * np.repeat(tone, 2)[:count, None], 0, 255).astype(np.uint8)
    return replace(solid, colors=colors)


def _hollow(radius: float) -> Where:
    """Select the faces inside a hollow lathe: those near the z axis, but for the underside."""
    return lambda c, n: (np.hypot(c[:, 0], c[:, 1]) < radius) & (n[:, 2] > -0.5)


def _place(parts: Sequence[Solid], x: float = 0, y: float = 0, z: float = 0, face: float = 0) -> list[Solid]:
    """Move parts made for the front (-y) and turn them to another side, ``face`` degrees about the middle."""
    return [part.move(x, y, z).turn("z", face) for part in parts]


def _chevron(span: float, rise: float, length: float, thickness: float, color: Color) -> Solid:
    """Two roof slopes meeting in a ridge along y; eaves at z = 0, ridge at z = ``rise``."""
    half, t = span / 2, thickness
    outline = [(-half, 0), (0, rise), (half, 0), (half, -t), (0, rise - t), (-half, -t)]
    return extrude(outline, length, color, crease_deg=10.0)


def _window(width: float, height: float, frame: Color = WHITE) -> list[Solid]:
    """A framed window for a wall at y = 0."""
    return [box(width, 1.4, height, frame), box(width - 3.2, 2.2, height - 3.2, GLASS).move(z=1.6)]


def _door(width: float, height: float, color: Color, frame: Color) -> list[Solid]:
    """A framed door for a wall at y = 0, with a step in front of it."""
    leaf = box(width, 2.4, height, color)
    return [box(width + 3, 1.6, height + 1.5, frame), leaf, box(width + 5, 7, 1.5, STONE).move(y=-1)]


@model("house")
def house() -> list[Solid]:
    """Cream walls, red pitched roof with a chimney, brown door."""
    cream: Color = (255, 243, 204)
    gable = [(-20, 0), (20, 0), (20, 24), (0, 41.5), (-20, 24)]
    walls = extrude(gable, 52, cream, crease_deg=10.0).turn("z", 90)
    roof = _chevron(51, 22.5, 60, 3.5, RED).turn("z", 90).move(z=23)
    ridge = box(60, 3, 2, (150, 22, 26)).move(z=44.5)
    chimney = box(6, 6, 17, (150, 74, 56)).move(15, 9, 34)
    parts = join(walls, roof, ridge, chimney, box(7.5, 7.5, 2, DARK).move(15, 9, 50))
    for face in (0, 180):
        parts += _place(_door(9, 17, WOOD, WHITE), y=-20, face=face)
        parts += _place(_window(10, 10), -16, -20, 8, face) + _place(_window(10, 10), 16, -20, 8, face)
    for face in (90, 270):
        parts += _place(_window(11, 12), 0, -26, 9, face)
    return parts


@model("blue house")
def blue_house() -> list[Solid]:
    """Light blue walls, dark grey flat roof, white door."""
    roof_grey: Color = (66, 69, 74)
    parts = join(
        box(52, 40, 36, (180, 226, 255)),
        box(52.8, 40.8, 2.5, (120, 182, 226)),
        box(60, 48, 5, roof_grey).move(z=36),
        box(53, 41, 1, (88, 91, 96)).move(z=40.5),
    )
    for face in (0, 180):
        parts += _place(_door(10, 21, WHITE, (70, 104, 138)), y=-20, face=face)
        parts += _place([box(1.8, 3, 1.8, DARK)], 3, -20, 10, face)
        parts += _place(_window(11, 12), -16.5, -20, 14, face) + _place(_window(11, 12), 16.5, -20, 14, face)
    for face in (90, 270):
        parts += _place(_window(11, 12), -9, -26, 14, face) + _place(_window(11, 12), 9, -26, 14, face)
    return parts


@model("lighthouse")
def lighthouse() -> list[Solid]:
    """Tall tapering tower in red and white stripes, dark gallery, lantern and roof on top."""
    heights = np.linspace(2.5, 44, 7)
    radii = np.linspace(10, 6.2, 7)
    tower = lathe(np.column_stack([radii, heights]), 16, RED)
    band = (heights[1] - heights[0]) * 2
    tower = tower.paint(WHITE, lambda c, n: ((c[:, 2] - 2.5) % band > band / 2) & (c[:, 2] < 43.9))
    lantern = cylinder(4.4, 7, 8, (88, 92, 96)).paint((255, 214, 110), lambda c, n: np.abs(n[:, 2]) < 0.5)
    posts = around(box(1.6, 1.6, 7, DARK).move(x=4.3), 8, 22.5)
    roof = lathe([(6.6, 53), (6.6, 54.2), (3.2, 58), (1, 59), (1, 61), (0, 61.5)], 12, DARK)
    return join(
        cylinder(12, 2.5, 16, STONE),
        tower,
        lathe([(6.2, 43), (8.6, 45), (8.6, 48), (7.6, 48), (7.6, 46)], 16, (46, 46, 50)),
        lantern.move(z=46),
        [post.move(z=46) for post in posts],
        roof,
        box(5, 3, 9, DARK).move(y=-9, z=2.5),
    )


@model("windmill")
def windmill() -> list[Solid]:
    """White tapering tower with a dark cap and four broad brown blades in a cross."""
    tower = lathe([(14, 0), (13.6, 2), (8.6, 38)], 12, WHITE, crease_deg=35.0)
    cap = lathe([(9.6, 38), (9.6, 40), (7.2, 45), (3.5, 48), (0, 49)], 12, (98, 74, 56))
    spar = box(2, 2, 27, DARK_WOOD)
    sail = box(7.5, 1.4, 20, (158, 100, 52)).move(x=3.2, z=6.5)
    bars = row(box(7.5, 2.4, 1.6, DARK_WOOD).move(x=3.2), [(0, 0, 9), (0, 0, 15.7), (0, 0, 22.4)])
    # A pitch keeps the blades visible when the mill is seen from its side.
    blade = [part.turn("z", 18) for part in (spar, sail, *bars)]
    blades = [part.turn("y", 45 + 90 * k).move(y=-14, z=41) for k in range(4) for part in blade]
    hub = cylinder(2.6, 10, 8, DARK_WOOD).turn("x", 90).move(y=-6.5, z=41)
    windows = [part for k in (1, 2, 3) for part in _place([box(4, 3, 6, GLASS)], y=-10.6, z=22, face=90 * k)]
    return join(tower, cap, hub, blades, windows, _place([box(7, 3, 11, WOOD)], y=-12.4))


@model("castle tower")
def castle_tower() -> list[Solid]:
    """Grey round tower of stone courses, wider battlements on top."""
    courses = [(14.5 - 0.05 * z, float(z)) for z in range(0, 37, 6)]
    body = _blocks(lathe(courses, 16, STONE), 0.16, seed=1)
    crown = lathe([(12.6, 35), (16.5, 40), (16.5, 47), (12.5, 47), (12.5, 44)], 16, (166, 167, 169))
    crown = _blocks(crown, 0.08, seed=2).paint((84, 85, 88), _hollow(12.6))
    merlon = box(4.2, 6.4, 7.5, (176, 177, 179)).move(x=14.2, z=47)
    arch = np.concatenate([[(4.0, 0.0)], arc(4.0, 0, 180, 6) + np.array([0, 8]), [(-4.0, 0.0)]])
    frame = extrude(arch * (1.4, 1.18), 2.4, (104, 105, 108)).move(y=-13.8)
    slits = [part for k in range(4) for part in _place([box(2.4, 2, 8, DARK)], y=-13, z=23, face=45 + 90 * k)]
    return join(body, crown, around(merlon, 8), frame, extrude(arch, 3, DARK_WOOD).move(y=-14), slits)


@model("pyramid")
def pyramid() -> list[Solid]:
    """Sand-yellow pyramid of square steps."""
    steps = []
    for k in range(6):
        size = 46 - 7.4 * k
        step = box(size, size, 5.4, (214, 172, 88), taper=1 - 1.2 / size).move(z=5.4 * k)
        steps.append(_blocks(step, 0.05, seed=k).paint((246, 216, 138), lambda c, n: n[:, 2] > 0.5))
    return steps


@model("stone arch")
def stone_arch() -> list[Solid]:
    """Grey blocks: two pillars joined by a round arch with a keystone."""
    inner, outer, spring, depth, wedges = 14.0, 26.0, 29.0, 15.0, 9
    middle = (inner + outer) / 2
    stones = [box(14, 17, 5, (120, 121, 123)).move(x=side * middle) for side in (-1, 1)]
    for side in (-1, 1):
        stones += [box(12, depth, 8, STONE).move(x=side * middle, z=5 + 8 * k) for k in range(3)]
    for k in range(wedges):
        start, stop = 180 * k / wedges, 180 * (k + 1) / wedges
        keystone = k == wedges // 2
        reach = outer + (2.5 if keystone else 0)
        outline = np.concatenate([arc(reach, start, stop, 3), arc(inner, stop, start, 3)])
        stones.append(extrude(outline, depth + (2 if keystone else 0), STONE).move(z=spring))
    # One shade a stone: neighbouring shades show the joints without a face spent on them.
    shades = [132, 172, 148, 182, 140, 164]
    return [stone.paint((shade, shade, shade + 3)) for stone, shade in zip(stones, shades * 3, strict=False)]


@model("picket fence")
def picket_fence() -> list[Solid]:
    """Short run of seven white pointed boards on two rails."""
    board = extrude([(-2.8, 0), (2.8, 0), (2.8, 28), (0, 34), (-2.8, 28)], 2.2, WHITE, crease_deg=10.0)
    boards = [board.move(x=(k - 3) * 9.0, z=1) for k in range(7)]
    rail = box(60, 2.4, 3.6, (222, 222, 218)).move(y=2.2)
    posts = [box(3.4, 3.4, 27, (214, 214, 210)).move(x=x, y=4.2) for x in (-18, 18)]
    return join(boards, rail.move(z=7), rail.move(z=20), posts)


@model("brick wall")
def brick_wall() -> list[Solid]:
    """Short straight wall of red-brown bricks with pale joints, in running bond."""
    pitch, course, joint, depth = 15.0, 6.2, 1.5, 13.0
    rng = np.random.default_rng(3)
    parts = [box(4 * pitch - 2.9, depth - 1.4, 5 * course - 2.2, (226, 214, 196))]
    for k in range(5):
        edges = [0, 1, 2, 3, 4] if k % 2 == 0 else [0, 0.5, 1.5, 2.5, 3.5, 4]
        for left, right in pairwise(edges):
            tone = rng.uniform(0.84, 1.16)
            color = (int(164 * tone), int(66 * tone), int(46 * tone))
            brick = box((right - left) * pitch - joint, depth, course - joint, color)
            parts.append(brick.move(x=((left + right) / 2 - 2) * pitch, z=k * course))
    return parts


@model("camping tent")
def camping_tent() -> list[Solid]:
    """Orange triangular ridge tent with a dark opening between two folded flaps."""
    orange: Color = (246, 128, 22)
    inner = extrude([(-20.5, 0), (20.5, 0), (0, 31)], 42, (226, 104, 14), crease_deg=10.0)
    fly = _chevron(47, 33, 48, 2.6, orange).move(z=2.6)
    seams = [_chevron(48, 33.4, 2.4, 2.6, (190, 80, 8)).move(y=y, z=2.8) for y in (-22.8, 0, 22.8)]
    opening = extrude([(-11, 0.5), (11, 0.5), (0, 27)], 1, DARK).move(y=-21)
    flap = extrude([(11, 0.5), (17, 0.5), (0, 28)], 1.6, (255, 182, 84)).move(y=-21.6)
    vent = extrude([(-4.5, 13), (4.5, 13), (0, 24)], 1, DARK).move(y=21)
    poles = [cylinder(0.9, 8, 6, (150, 150, 150)).move(y=y, z=31) for y in (-22.8, 22.8)]
    floor = box(47, 48, 1, (96, 70, 48))
    parts = join(floor, inner, fly, seams, opening, flap, flap.scale(-1, 1, 1), vent, poles)
    # The ridge is shorter than the base: seen from its side a tent is no square.
    return [part.bend(lambda p: p * (1 - 0.008 * p[:, 2:] * np.array([0, 1, 0]))) for part in parts]


@model("water well")
def water_well() -> list[Solid]:
    """Round grey stone wall, a small brown roof on two posts, crank bar and bucket."""
    profile = [(15.5, 0), (15.2, 5), (15, 10), (15, 15), (16.4, 15.5), (16.4, 18.5), (11, 18.5), (11, 9)]
    wall = _blocks(lathe(profile, 16, STONE), 0.2, seed=5).paint((44, 62, 78), _hollow(11.2))
    wall = wall.paint((170, 171, 173), lambda c, n: (c[:, 2] > 15.5) & (np.hypot(c[:, 0], c[:, 1]) > 11.2))
    posts = [box(2.8, 2.8, 26, DARK_WOOD).move(x=x, z=15) for x in (-12.6, 12.6)]
    roof = _chevron(32, 12, 36, 2.6, (140, 82, 40)).turn("z", 90).move(z=38)
    ridge = box(37, 2.6, 1.8, DARK_WOOD).move(z=49)
    bar = sweep([(-14, 0, 33), (14, 0, 33)], 1.3, 6, (160, 112, 66))
    bucket = cylinder(2.6, 5.5, 8, (176, 118, 64), top=3.4).move(z=20)
    rope = box(0.9, 0.9, 9, WOOD).move(z=25)
    return join(wall, posts, roof, ridge, bar, bucket, rope)


@model("phone booth")
def phone_booth() -> list[Solid]:
    """Tall red booth, rows of window panes on every side, white sign and a low domed top."""
    pane: Color = (206, 228, 236)
    parts = join(
        box(23, 23, 3.5, (132, 16, 22)),
        box(20, 20, 48, RED).move(z=3),
        box(22.5, 22.5, 6.5, RED).move(z=48.5),
        box(24, 24, 1.6, (160, 20, 26)).move(z=54.5),
        box(22, 22, 3.4, RED, taper=0.72).move(z=56),
        box(15.8, 15.8, 1.6, RED, taper=0.5).move(z=59.4),
    )
    grid = [box(6.6, 1, 7.6, pane).move(x, 0, z) for x in (-4.2, 4.2) for z in (10, 19.4, 28.8, 38.2)]
    sign = box(16, 1, 3.4, WHITE).move(y=-1.2, z=50)
    for face in (0, 90, 180, 270):
        parts += _place([*grid, sign], y=-10, face=face)
    return parts


@model("tombstone")
def tombstone() -> list[Solid]:
    """Grey slab with a rounded top on a low base, dark cross mark on both faces."""
    outline = np.concatenate([[(13.0, 3.0)], arc(13.0, 0, 180, 13) + np.array([0, 27]), [(-13.0, 3.0)]])
    slab = extrude(outline, 8, (174, 176, 178))
    mark: Color = (52, 53, 57)
    cross = [box(4, 0.8, 21, mark).move(z=11), box(14, 0.8, 4, mark).move(z=22)]
    base = box(34, 15, 4, (138, 140, 142))
    return join(base, slab, _place(cross, y=-4), _place(cross, y=-4, face=180))


@model("shipping container")
def shipping_container() -> list[Solid]:
    """Long green ribbed metal box in a darker frame, doors with bars at one end."""
    green: Color = (54, 176, 92)
    frame: Color = (22, 100, 52)
    parts = [box(58, 22, 23.5, (30, 120, 62)).move(z=1)]
    parts += [box(3.6, 23.6, 24.2, green).move(x=(k - 4) * 6.2, z=1) for k in range(9)]
    for y in (-11.2, 11.2):
        parts += [box(60, 2.4, 2.4, frame).move(y=y, z=z) for z in (0, 23.4)]
    for x in (-28.9, 28.9):
        parts += [box(2.4, 2.4, 25.8, frame).move(x=x, y=y) for y in (-11.2, 11.2)]
        parts += [box(2.4, 22, 2.4, frame).move(x=x, z=z) for z in (0, 23.4)]
    parts += [box(1.4, 9, 20, green).move(x=29, y=y, z=2.8) for y in (-4.8, 4.8)]
    parts += [box(1.6, 1.4, 21, (206, 210, 206)).move(x=29.7, y=y, z=2.2) for y in (-6.5, -2.8, 2.8, 6.5)]
    parts += [box(1.4, 3.2, 20, green).move(x=-29, y=y, z=2.8) for y in (-6.6, 0, 6.6)]
    return parts
