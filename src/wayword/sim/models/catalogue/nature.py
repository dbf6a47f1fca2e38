"""Models of plants and stones: trees, a cactus, flowers, mushrooms and rocks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.sim.models.catalogue.registry import model
from wayword.sim.models.mesh import Color, Solid, join
from wayword.sim.models.primitives import around, blob, cylinder, icoball, lathe, sheet, sweep

BARK: Color = (124, 78, 42)
DARK_BARK: Color = (88, 54, 30)
LEAF: Color = (58, 150, 52)


def leaf(midrib: ArrayLike, widths: ArrayLike, color: Color, fold: float = 0.5) -> list[Solid]:
    """A leaf along (x, z) points whose two halves hang from the midrib, so that it is never seen edge-on."""
    x, z = np.asarray(midrib, dtype=np.float64).reshape(-1, 2).T
    across = np.array([0.0, 1.0, -fold]) / math.hypot(1.0, fold)
    width = np.asarray(widths, dtype=np.float64)
    line = np.column_stack([x, np.zeros_like(x), z]) + across * width[:, None] / 4
    half = sheet(line, width / 2, color, across)
    return [half, half.scale(1.0, -1.0, 1.0)]


def rays(solids: list[Solid], count: int, start_deg: float = 0.0) -> list[Solid]:
    """Copies of a group of solids turned evenly about the z axis."""
    return [copy for solid in solids for copy in around(solid, count, start_deg)]


def angle_of(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angle of each position about the z axis."""
    angles: NDArray[np.float64] = np.arctan2(positions[:, 1], positions[:, 0])
    return angles


def reach_of(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance of each position from the z axis."""
    reach: NDArray[np.float64] = np.hypot(positions[:, 0], positions[:, 1])
    return reach


def ribs(count: int, depth: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """A displacement for ``Solid.bend`` that waves the distance from the z axis ``count`` times around it."""

    def displace(p: NDArray[np.float64]) -> NDArray[np.float64]:
        factor = 1 + depth * np.cos(count * angle_of(p))
        return p * np.column_stack([factor, factor, np.ones(len(p))])

    return displace


@model("palm tree")
def palm_tree() -> list[Solid]:
    """Thin curved brown trunk with a crown of long drooping leaves."""
    t = np.linspace(0.0, 1.0, 9)
    path = np.column_stack([0.26 * t**2 - 0.13, np.zeros(9), t])
    trunk = sweep(path, np.linspace(0.075, 0.048, 9), 7, (152, 102, 58))
    trunk = trunk.paint((114, 72, 40), lambda c, n: np.floor(c[:, 2] * 8) % 2 == 1)
    low = leaf(
        [(0, 0), (0.16, 0.08), (0.34, 0.06), (0.5, -0.08), (0.6, -0.3)],
        [0.08, 0.19, 0.22, 0.17, 0.02],
        (44, 140, 48),
    )
    high = leaf([(0, 0), (0.16, 0.18), (0.33, 0.24), (0.5, 0.15)], [0.08, 0.18, 0.17, 0.02], (86, 176, 62))
    crown = [part.move(0.13, 0, 1.0) for part in rays(low, 7) + rays(high, 5, 20.0)]
    nuts = [nut.move(0.13, 0, 0.95) for nut in around(icoball(0.05, 0, (96, 58, 28)).move(0.07), 3)]
    return join(trunk, crown, nuts)


@model("pine tree")
def pine_tree() -> list[Solid]:
    """Short brown trunk under three stacked dark green cones."""

    def tier(radius: float, height: float, z: float, color: Color) -> Solid:
        cone = lathe([(radius, 0), (radius * 0.5, height * 0.42), (0, height)], 18, color, 60.0)

        def ragged(p: NDArray[np.float64]) -> NDArray[np.float64]:
            tips = (reach_of(p) > 0.9 * radius) & (np.cos(9 * angle_of(p)) > 0)
            return np.where(tips[:, None], p * [1.12, 1.12, 1.0] - [0, 0, 0.05], p)

        return cone.bend(ragged).paint((10, 44, 26), lambda c, n: n[:, 2] < -0.3).move(z=z)

    trunk = cylinder(0.1, 0.4, 8, BARK, 0.085)
    return join(
        trunk,
        tier(0.38, 0.48, 0.28, (18, 82, 44)),
        tier(0.31, 0.44, 0.54, (22, 94, 50)),
        tier(0.23, 0.4, 0.78, (28, 106, 58)),
    )


@model("round tree")
def round_tree() -> list[Solid]:
    """Brown trunk with one light green ball of leaves."""
    trunk = lathe([(0.11, 0), (0.075, 0.1), (0.065, 0.6)], 9, BARK)
    leaves = blob(0.33, 4, 0.14, 2, (148, 216, 82)).smooth(30.0).speckle(0.09, 1)
    leaves = leaves.paint((124, 192, 66), lambda c, n: n[:, 2] < -0.45)
    return join(trunk, leaves.move(z=0.73))


@model("cactus")
def cactus() -> list[Solid]:
    """Ribbed green column with two raised arms."""
    green, dark = (92, 186, 88), (54, 138, 66)
    profile = [(0.11, 0), (0.13, 0.35), (0.125, 0.8), (0.09, 0.92), (0, 0.97)]
    column = lathe(profile, 18, green, 25.0).bend(ribs(9, 0.11))
    column = column.paint(dark, lambda c, n: np.sin(9 * angle_of(c)) > 0)

    def arm(z: float, rise: float, azimuth: float) -> Solid:
        path = [(0.05, 0, z), (0.24, 0, z), (0.32, 0, z + 0.04), (0.35, 0, z + 0.12), (0.35, 0, z + rise)]
        tube = sweep([*path, (0.35, 0, z + rise + 0.07)], [0.075, 0.08, 0.085, 0.085, 0.08, 0.03], 8, green)
        return tube.paint(dark, lambda c, n: np.floor(np.arange(len(c)) / 12) % 2 == 1).turn("z", azimuth)

    # 110 degrees apart, not 180: then at least one arm stands clear of the column from every side.
    return join(column, arm(0.3, 0.36, 35), arm(0.46, 0.3, 145))


@model("sunflower")
def sunflower() -> list[Solid]:
    """Green stem with two leaves, large yellow flower with a dark centre."""
    # The head looks up and its outer petals hang: yellow shows from every side, the dark centre from most.
    tilt, neck = 38.0, 1.05
    stem = sweep([(0, 0.06, 0), (0, 0.1, 0.5), (0, 0.08, 0.85), (0, -0.02, neck)], 0.046, 6, (64, 146, 46))
    blade = leaf([(0, 0), (0.14, 0.12), (0.27, 0.13), (0.38, 0.02)], [0.05, 0.2, 0.17, 0.01], LEAF, 0.4)
    leaves = [part.move(0, 0.08, z).turn("z", a) for z, a in ((0.3, 15), (0.42, 165)) for part in blade]
    back = leaf([(0.1, 0), (0.27, -0.05), (0.37, -0.24)], [0.1, 0.18, 0.02], (248, 172, 12), 0.3)
    front = leaf([(0.1, 0.06), (0.27, 0.06), (0.43, 0.0)], [0.1, 0.16, 0.02], (255, 212, 20), 0.3)
    # Undersides are in shade: a paler yellow keeps the flower yellow from behind.
    front = [part.paint((255, 236, 120), lambda c, n: n[:, 2] < 0) for part in front]
    heart = lathe([(0.19, 0.0), (0.19, 0.08), (0.13, 0.16), (0, 0.19)], 14, (70, 38, 18), 60.0)
    heart = heart.paint((104, 62, 24), lambda c, n: reach_of(c) < 0.1)
    cup = lathe([(0.04, -0.1), (0.15, -0.03), (0.15, 0.0)], 8, (64, 146, 46))
    head = join(rays(back, 12), rays(front, 12, 15.0), heart, cup)
    return join(stem, leaves, [part.turn("x", tilt).move(0, -0.07, neck + 0.05) for part in head])


@model("red mushroom")
def red_mushroom() -> list[Solid]:
    """White stalk, domed red cap with white spots."""
    white = (244, 240, 230)
    stalk = lathe([(0.17, 0), (0.19, 0.08), (0.14, 0.25), (0.13, 0.6)], 12, white)
    skirt = lathe([(0.14, 0.36), (0.21, 0.33), (0.14, 0.43)], 12, (226, 220, 206))
    polar = np.radians(np.linspace(90, 0, 7))
    dome = [(0.48 * math.sin(a), 0.52 + 0.4 * math.cos(a)) for a in polar]
    gills = [(0.0, 0.55), (0.36, 0.5), (0.46, 0.48)]
    cap = lathe([*gills, *dome[:-1], (0, 0.92)], 18, (214, 26, 28), 60.0)
    cap = cap.paint((232, 214, 190), lambda c, n: n[:, 2] < -0.5)
    spots: list[Solid] = []
    for count, start, polar_deg, size in ((1, 0, 0, 0.1), (5, 20, 42, 0.088), (8, 5, 74, 0.072)):
        a = math.radians(polar_deg)
        spot = lathe([(size, -0.04), (size * 0.85, 0.012), (0, 0.026)], 7, white, 70.0)
        # The cap is an ellipsoid: its normal leans out by atan(tan(polar) * height / radius).
        lean = math.degrees(math.atan2(0.4 * math.sin(a), 0.48 * math.cos(a)))
        spot = spot.turn("y", lean).move(0.48 * math.sin(a), 0, 0.52 + 0.4 * math.cos(a))
        spots += around(spot, count, start)
    return join(stalk, skirt, cap, spots)


@model("brown mushroom")
def brown_mushroom() -> list[Solid]:
    """Pale stalk, flat brown cap without spots."""
    stalk = lathe([(0.15, 0), (0.17, 0.06), (0.12, 0.22), (0.14, 0.55)], 12, (228, 208, 172))
    profile = [(0.12, 0.5), (0.4, 0.47), (0.5, 0.5), (0.49, 0.57), (0.38, 0.63), (0.2, 0.655), (0, 0.64)]
    cap = lathe(profile, 20, (132, 80, 40), 60.0)
    cap = cap.paint((196, 162, 118), lambda c, n: n[:, 2] < -0.3)
    cap = cap.paint((108, 62, 30), lambda c, n: (c[:, 2] > 0.49) & (c[:, 2] < 0.57) & (n[:, 2] > -0.3))
    return join(stalk, cap.paint((150, 94, 50), lambda c, n: reach_of(c) < 0.18))


def hewn(radius: float, seed: int, cuts: int, subdivisions: int, color: Color) -> Solid:
    """A stone: a lump cut by random planes. Pulling points towards the centre keeps it closed."""
    normals = np.random.default_rng(seed).normal(size=(cuts, 3))
    normals[:, 2] = np.abs(normals[:, 2])  # no overhanging cuts: stones sit on their broad side
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)

    def cut(p: NDArray[np.float64]) -> NDArray[np.float64]:
        beyond = np.max(p @ normals.T, axis=1, keepdims=True, initial=0.0) / (0.78 * radius)
        inside: NDArray[np.float64] = p / np.maximum(beyond, 1.0)
        return inside

    return blob(radius, seed, 0.22, subdivisions, color).bend(cut).smooth(18.0)


@model("boulder")
def boulder() -> list[Solid]:
    """Large irregular grey rock."""
    rock = hewn(0.5, 21, 8, 2, (158, 158, 160)).scale(1.0, 0.86, 0.85).speckle(0.07, 2)
    rock = rock.bend(lambda p: np.maximum(p, [-9.0, -9.0, -0.2]))
    return join(rock.paint((122, 122, 124), lambda c, n: n[:, 2] < -0.2))


@model("pile of stones")
def pile_of_stones() -> list[Solid]:
    """Heap of small dark grey stones."""
    shades: list[Color] = [(92, 92, 98), (66, 66, 72), (80, 82, 86), (52, 52, 58), (104, 104, 108)]
    rng = np.random.default_rng(8)
    core = lathe([(0.38, 0), (0.3, 0.16), (0, 0.42)], 10, (44, 44, 48))  # no daylight between the stones
    stones = [core]
    layers = [(11, 0.4, 0.1, 0.135), (7, 0.25, 0.24, 0.13), (3, 0.11, 0.37, 0.13), (1, 0.0, 0.48, 0.11)]
    for count, ring, z, size in layers:
        for i in range(count):
            stone = hewn(size, len(stones) + 40, 4, 1 if count < 8 and i % 2 else 0, shades[len(stones) % 5])
            stone = stone.scale(1.1, 1.0, 0.8).turn("z", rng.uniform(0, 360)).move(ring * rng.uniform(0.9, 1.1), 0, z)
            stones.append(stone.turn("z", 360 / count * i + count * 17 + rng.uniform(-6, 6)))
    return stones


@model("tree stump")
def tree_stump() -> list[Solid]:
    """Short wide brown cylinder with bark sides and pale rings on top."""

    def gnarled(p: NDArray[np.float64]) -> NDArray[np.float64]:
        a, low = angle_of(p), np.clip(1 - p[:, 2] / 0.16, 0, 1)
        factor = 1 + 0.025 * np.cos(14 * a) + 0.12 * low * np.maximum(np.cos(5 * a), 0)
        return p * np.column_stack([factor, factor, np.ones(len(p))])

    bark = lathe([(0.5, 0), (0.45, 0.16), (0.43, 0.42), (0.4, 0.44)], 28, BARK, 20.0).bend(gnarled)
    bark = bark.paint(DARK_BARK, lambda c, n: np.cos(14 * angle_of(c)) < 0).speckle(0.1, 5)
    radii = [0.08, 0.155, 0.2, 0.275, 0.32, 0.385]
    wood = lathe([(0.385, 0.4), *[(r, 0.455) for r in reversed(radii)]], 20, (228, 190, 132))
    wood = wood.paint((176, 126, 74), lambda c, n: np.digitize(reach_of(c), radii) % 2 == 0)
    return join(bark, wood)


@model("flower pot")
def flower_pot() -> list[Solid]:
    """Terracotta pot with a green plant and pink flowers."""
    clay, pink = (204, 100, 58), (255, 112, 178)
    profile = [(0.2, 0), (0.29, 0.36), (0.34, 0.36), (0.35, 0.47), (0.3, 0.47), (0.29, 0.41)]
    pot = lathe(profile, 16, clay).paint((70, 46, 30), lambda c, n: (c[:, 2] < 0.43) & (n[:, 2] > 0.9))
    pot = pot.paint((222, 120, 74), lambda c, n: (c[:, 2] > 0.37) & (reach_of(c) > 0.3))
    bush = blob(0.29, 3, 0.2, 1, (52, 136, 50)).scale(1, 1, 0.9).smooth(20.0).speckle(0.15, 6).move(z=0.62)
    blade = leaf([(0, 0), (0.16, 0.12), (0.3, 0.12), (0.4, 0.0)], [0.06, 0.17, 0.16, 0.02], (84, 168, 60), 0.4)
    leaves = [part.move(z=0.5) for part in rays(blade, 7)]
    petals = lathe([(0.0, -0.05), (0.11, 0.02), (0.0, 0.03)], 10, pink).bend(ribs(5, 0.2))
    eye = icoball(0.04, 0, (255, 220, 90)).move(z=0.03)
    flowers: list[Solid] = []
    for count, lean, start in ((1, 0, 0), (5, 48, 10), (5, 88, 46)):
        a = math.radians(lean)
        for part in (petals, eye):
            placed = part.turn("y", lean).move(0.31 * math.sin(a), 0, 0.64 + 0.3 * math.cos(a))
            flowers += around(placed, count, start)
    return join(pot, bush, leaves, flowers)
