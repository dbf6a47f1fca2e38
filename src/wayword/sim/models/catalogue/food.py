"""Models of fruit, vegetables and sweets."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wayword.sim.models.catalogue.nature import angle_of, leaf, rays, reach_of
from wayword.sim.models.catalogue.registry import model
from wayword.sim.models.mesh import Color, Solid, join
from wayword.sim.models.primitives import around, ball, box, cylinder, lathe, sweep, torus

STALK: Color = (104, 66, 32)
GREEN: Color = (58, 150, 52)
CREAM: Color = (250, 244, 234)


def twisted(p: NDArray[np.float64], angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions turned about the z axis, each by its own angle."""
    a, reach = angle_of(p) + angles, reach_of(p)
    return np.column_stack([reach * np.cos(a), reach * np.sin(a), p[:, 2]])


def lifted(p: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions raised, each by its own height."""
    return np.column_stack([p[:, :2], p[:, 2] + heights])


@model("banana")
def banana() -> list[Solid]:
    """Big yellow curved banana with brown tips, lying on the ground."""
    angles = np.radians(np.linspace(-158, -22, 12))
    path = np.column_stack([0.5 * np.cos(angles), np.zeros(12), 0.42 * np.sin(angles)])
    radii = [0.03, 0.055, 0.1, 0.13, 0.145, 0.15, 0.15, 0.14, 0.12, 0.085, 0.045, 0.048]
    fruit = sweep(path, radii, 7, (252, 214, 32)).smooth(50.0)
    piece = np.arange(len(fruit.faces)) % 24 // 2  # faces come side by side: 11 lengths of two, then two caps
    fruit = fruit.paint((92, 58, 26), lambda c, n: (piece == 0) | (piece >= 10))
    fruit = fruit.paint((196, 184, 48), lambda c, n: (piece == 9) | (piece == 1))
    # Leaning, neither flat nor upright: the curve shows from low and from above alike.
    return join(fruit.turn("x", -32))


@model("pumpkin")
def pumpkin() -> list[Solid]:
    """Orange ribbed pumpkin with a green stem."""

    def ribbed(p: NDArray[np.float64]) -> NDArray[np.float64]:
        a, reach = angle_of(p), reach_of(p)
        dimple = 0.16 * np.exp(-((reach / 0.2) ** 2)) * np.sign(p[:, 2])
        reach = reach * (1 - 0.16 * (1 - np.abs(np.sin(4 * a))))
        a = a - 0.06 * np.sin(8 * a)  # draws the points together in the grooves
        return np.column_stack([reach * np.cos(a), reach * np.sin(a), 0.8 * p[:, 2] - dimple])

    flesh = ball(0.5, 32, 10, (242, 126, 20))
    flesh = flesh.paint((204, 90, 12), lambda c, n: np.abs(np.sin(4 * angle_of(c))) < 0.65)
    path = [(0, 0, 0.2), (0, 0, 0.36), (0.04, 0, 0.46), (0.13, 0, 0.53)]
    stem = sweep(path, [0.12, 0.08, 0.065, 0.075], 6, (70, 122, 44))
    return join(flesh.bend(ribbed).smooth(60.0), stem)


@model("apple")
def apple() -> list[Solid]:
    """Round green apple with a brown stem and a leaf."""
    profile = [
        (0, 0.06), (0.12, 0.01), (0.25, 0.03), (0.4, 0.2), (0.49, 0.42), (0.5, 0.58),
        (0.44, 0.76), (0.3, 0.86), (0.17, 0.85), (0.07, 0.78), (0, 0.74),
    ]  # fmt: skip
    fruit = lathe(profile, 18, (158, 212, 52), 80.0)
    fruit = fruit.paint((116, 166, 40), lambda c, n: (c[:, 2] > 0.7) & (reach_of(c) < 0.145))
    stem = sweep([(0, 0, 0.74), (0.01, 0, 0.92), (0.07, 0, 1.08)], [0.045, 0.045, 0.06], 6, STALK)
    midrib = [(0, 0.9), (0.13, 1.04), (0.28, 1.07), (0.46, 0.98)]
    blade = leaf(midrib, [0.05, 0.28, 0.28, 0.01], (30, 104, 40))
    return join(fruit, stem, [half.turn("z", 200) for half in blade])


@model("carrot")
def carrot() -> list[Solid]:
    """Orange carrot standing on its tip, with a leafy top."""
    profile = [
        (0.02, 0), (0.07, 0.1), (0.115, 0.23), (0.125, 0.26), (0.165, 0.41), (0.175, 0.44),
        (0.21, 0.59), (0.22, 0.62), (0.24, 0.74), (0.21, 0.83), (0.08, 0.87),
    ]  # fmt: skip
    root = lathe(profile, 14, (250, 128, 20), 60.0)
    grooves = np.array([0.245, 0.425, 0.605])
    root = root.paint((200, 88, 12), lambda c, n: np.abs(c[:, 2:] - grooves).min(axis=1) < 0.012)
    widths = [0.07, 0.16, 0.2, 0.03]
    outer = leaf([(0.02, 0.84), (0.12, 1.02), (0.24, 1.14), (0.37, 1.12)], widths, (56, 150, 46))
    inner = leaf([(0.01, 0.84), (0.05, 1.06), (0.11, 1.27), (0.18, 1.38)], widths, (92, 186, 60))
    return join(root, rays(outer, 6), rays(inner, 4, 30.0))


@model("ice cream cone")
def ice_cream_cone() -> list[Solid]:
    """Waffle cone, tip down, with a pink scoop."""
    heights = np.linspace(0.04, 1.0, 8)
    cone = lathe([(0.34 * z, 0.74 * z) for z in heights], 16, (226, 166, 92), 60.0)
    # Turning each ring half a step against the one below makes the squares of the waffle stand on a corner.
    step = 2 * math.pi / 16 / 2 * 7 / 0.74
    cone = cone.bend(lambda p: twisted(p, step * p[:, 2]))
    square = np.maximum(np.arange(len(cone.faces)) - 16, 0) // 2  # the cap of the tip comes first
    cone = cone.paint((186, 118, 54), lambda c, n: (square + square // 16) % 2 == 0)
    rim = torus(0.33, 0.035, 16, 5, (206, 142, 72)).move(z=0.73)
    pink: Color = (248, 140, 178)
    frill = lathe([(0.3, -0.02), (0.42, 0.02), (0.36, 0.12)], 24, (240, 120, 164), 60.0)
    frill = frill.bend(lambda p: lifted(p, -0.06 * np.cos(6 * angle_of(p) + math.pi / 4)))
    scoop = ball(0.38, 16, 9, pink).scale(1, 1, 0.95)
    return join(cone, rim, frill.move(z=0.8), scoop.move(z=0.98))


@model("birthday cake")
def birthday_cake() -> list[Solid]:
    """Two-tier pink and white cake with candles."""
    pink: Color = (246, 134, 172)
    lower = lathe([(0.46, 0), (0.46, 0.28), (0.43, 0.31)], 20, pink)
    upper = lathe([(0.29, 0.3), (0.29, 0.54), (0.26, 0.57)], 18, CREAM)
    icing = _dripping(0.48, 0.3, 8, CREAM)
    frosting = _dripping(0.31, 0.56, 6, pink)
    rope = torus(0.46, 0.055, 20, 4, CREAM).move(z=0.04)
    candles: list[Solid] = []
    for i in range(5):
        stick = cylinder(0.034, 0.2, 6, (250, 206, 40) if i % 2 else (70, 150, 236)).move(z=0.58)
        flame = lathe([(0.012, 0.77), (0.042, 0.83), (0, 0.95)], 6, (255, 184, 36), 60.0)
        candles += [part.move(0.18).turn("z", 72 * i + 18) for part in (stick, flame)]
    return join(lower, upper, icing, frosting, rope, candles)


def _dripping(radius: float, z: float, drips: int, color: Color) -> Solid:
    """Icing over the edge of a tier, with drips running down its side."""
    profile = [(0, z - 0.01), (radius, z - 0.08), (radius, z), (radius - 0.05, z + 0.03)]
    icing = lathe(profile, drips * 4, color, 50.0)

    def run(p: NDArray[np.float64]) -> NDArray[np.float64]:
        low = (p[:, 2] < z - 0.02) & (reach_of(p) > radius / 2)
        return lifted(p, np.where(low, 0.06 * np.cos(drips * angle_of(p) + math.pi / 4), 0.0))

    return icing.bend(run)


@model("doughnut")
def doughnut() -> list[Solid]:
    """Brown ring with pink icing and coloured sprinkles, lying flat."""
    ring, tube = 0.34, 0.158
    dough = torus(ring, tube, 20, 8, (176, 112, 56))

    def run(p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Tuck the lower half inside the dough, so that a wavy edge of icing is left."""
        a, out = angle_of(p), reach_of(p) - ring
        below = np.clip((0.045 + 0.045 * np.cos(5 * a) - p[:, 2]) / 0.05, 0, 1)
        tucked = np.column_stack([np.cos(a), np.sin(a), np.zeros(len(p))]) * (ring + out * 0.7)[:, None]
        tucked[:, 2] = p[:, 2] * 0.7
        return p + below[:, None] * (tucked - p)

    icing = torus(ring, tube + 0.022, 20, 10, (246, 110, 168)).bend(run)
    colors: list[Color] = [(255, 236, 70), (70, 190, 255), (255, 255, 255), (110, 220, 90), (150, 70, 220)]
    rng = np.random.default_rng(3)
    sprinkles: list[Solid] = []
    for i in range(22):
        lean = (-48, 8, 52)[i % 3] + rng.uniform(-12, 12)
        grain = box(0.085, 0.03, 0.03, colors[i % 5]).turn("z", rng.uniform(0, 180)).move(z=tube + 0.01)
        sprinkles.append(grain.turn("y", lean).move(ring).turn("z", i * 360 / 22))
    return join(dough, icing, sprinkles)


@model("watermelon")
def watermelon() -> list[Solid]:
    """Large oval melon with dark and light green stripes."""
    rind = ball(0.35, 24, 10, (148, 206, 84))
    stripe = np.floor((angle_of(rind.centroids()) + math.pi) / (2 * math.pi) * 24)
    rind = rind.paint((22, 84, 40), lambda c, n: stripe % 3 == 0)
    rind = rind.bend(lambda p: twisted(p, 0.12 * np.sin(18 * p[:, 2]))).scale(1, 1, 1.42)
    stalk = sweep([(0, 0, 0.47), (0, 0, 0.53), (0.05, 0, 0.57)], 0.025, 5, (120, 110, 50))
    return join(*[part.turn("y", 90) for part in (rind, stalk)])


@model("strawberry")
def strawberry() -> list[Solid]:
    """Red heart-shaped berry with yellow seeds and green leaves, standing on its tip."""
    side = [(0.03, 0), (0.16, 0.1), (0.32, 0.32), (0.44, 0.54), (0.48, 0.7), (0.44, 0.84), (0.3, 0.92)]
    outline = np.array([*side, (0.14, 0.86), (0, 0.76)])
    berry = lathe(outline, 18, (218, 26, 42), 80.0)
    seeds: list[Solid] = []
    for count, z, start in ((5, 0.2, 0), (8, 0.4, 20), (9, 0.6, 0), (9, 0.78, 20)):
        r = float(np.interp(z, outline[:7, 1], outline[:7, 0]))
        ahead = float(np.interp(z + 0.04, outline[:7, 1], outline[:7, 0]))
        seed = lathe([(0.044, -0.01), (0, 0.03)], 5, (255, 226, 84), 60.0).scale(1.4, 1, 1)
        lean = 90 + math.degrees(math.atan2(ahead - r, 0.04))
        seeds += around(seed.turn("y", lean).move(r, 0, z), count, start)
    blade = leaf([(0.0, 0.88), (0.14, 1.02), (0.32, 1.02), (0.47, 0.88)], [0.08, 0.26, 0.2, 0.01], GREEN, 0.3)
    stem = sweep([(0, 0, 0.75), (0, 0, 1.02), (0.06, 0, 1.14)], 0.045, 6, (84, 160, 60))
    return join(berry, seeds, rays(blade, 6), stem)
