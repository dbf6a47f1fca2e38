"""Household things: candle, cauldron, teapot, mug, wine bottle, vase, hourglass, stack of plates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.sim.models.catalogue.registry import model
from wayword.sim.models.mesh import Color, Solid, Where, join
from wayword.sim.models.primitives import around, ball, cylinder, icoball, lathe, sweep

BLACK: Color = (28, 28, 32)
WHITE: Color = (246, 246, 244)


def _between(low: float, high: float) -> Where:
    """Faces whose centre lies between two heights."""
    return lambda centroids, _: (centroids[:, 2] > low) & (centroids[:, 2] < high)


def _inward(centroids: NDArray[np.float64], normals: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Faces that look towards the z axis: the inside of a vessel."""
    towards: NDArray[np.bool_] = np.sum(centroids[:, :2] * normals[:, :2], axis=1) < -1e-9
    return towards


def _cell(centroids: NDArray[np.float64], sides: int) -> NDArray[np.int64]:
    """Which of the ``sides`` columns of a lathed surface each face belongs to, counter-clockwise from +x."""
    turn = np.arctan2(centroids[:, 1], centroids[:, 0]) / (2 * np.pi) % 1.0
    return np.floor(turn * sides).astype(np.int64)


def _strap(points: ArrayLike, radius: float, flat: float, sides: int, color: Color) -> Solid:
    """A handle in the x-z plane, ``flat`` times as wide across as it is thick."""
    return sweep(points, radius, sides, color).scale(1, flat, 1)


@model("candle")
def candle() -> list[Solid]:
    """Tall white candle with runs of wax, a dark wick and an orange flame."""
    wax: Color = (250, 247, 238)
    shaft = lathe([(0.155, 0.0), (0.155, 0.02), (0.122, 0.05), (0.122, 0.69), (0.105, 0.71), (0.06, 0.68)], 16, wax)
    run = sweep(
        [(0.108, 0.0, 0.71), (0.116, 0.0, 0.62), (0.114, 0.0, 0.50)],
        [0.018, 0.022, 0.030],
        6,
        (232, 228, 214),
    )
    runs = [run.turn("z", angle) for angle in (15.0, 140.0, 250.0)]
    wick = cylinder(0.018, 0.10, 6, BLACK).move(z=0.67)
    flame = lathe(
        [(0.0, 0.715), (0.055, 0.735), (0.095, 0.79), (0.085, 0.86), (0.045, 0.94), (0.0, 1.03)],
        10, (255, 122, 6), crease_deg=80.0,
    )  # fmt: skip
    flame = flame.paint((255, 222, 70), _between(0.0, 0.757)).paint((255, 160, 20), _between(0.757, 0.80))
    return join(shaft, runs, wick, flame)


@model("cauldron")
def cauldron() -> list[Solid]:
    """Black round pot on three legs, filled with bubbling green liquid that runs over here and there."""
    green: Color = (74, 222, 40)
    pot = lathe(
        [
            (0.0, 0.14), (0.22, 0.17), (0.39, 0.29), (0.45, 0.45), (0.43, 0.60),
            (0.37, 0.68), (0.43, 0.74), (0.43, 0.78), (0.37, 0.78),
        ],
        18, BLACK,
    )  # fmt: skip
    pot = pot.paint((60, 60, 66), _between(0.735, 0.80))
    brew = lathe([(0.385, 0.76), (0.385, 0.79), (0.20, 0.83), (0.0, 0.84)], 18, green)
    bubbles = [
        icoball(r, 1, (150, 246, 96)).move(x, y, 0.84)
        for x, y, r in ((0.12, 0.09, 0.095), (-0.16, 0.05, 0.075), (0.01, -0.17, 0.08))
    ]
    drip = sweep(
        [(0.34, 0, 0.78), (0.43, 0, 0.775), (0.435, 0, 0.70), (0.42, 0, 0.62), (0.435, 0, 0.57)],
        [0.05, 0.05, 0.05, 0.06, 0.03], 6, green,
    )  # fmt: skip
    leg = sweep([(0.24, 0.0, 0.26), (0.34, 0.0, 0.12), (0.36, 0.0, 0.0)], [0.08, 0.065, 0.055], 7, BLACK)
    return join(pot, brew, bubbles, around(drip, 3, 80), around(leg, 3, 30))


@model("teapot")
def teapot() -> list[Solid]:
    """Light blue round teapot: spout on one side, handle on the other, lid with a knob."""
    blue: Color = (136, 200, 240)
    deep: Color = (88, 158, 210)
    body = lathe(
        [(0.24, 0.0), (0.26, 0.03), (0.43, 0.15), (0.50, 0.33), (0.46, 0.50), (0.33, 0.62), (0.24, 0.64)],
        18, blue, crease_deg=60.0,
    )  # fmt: skip
    lid = lathe([(0.28, 0.625), (0.28, 0.65), (0.16, 0.74), (0.05, 0.765)], 16, deep, crease_deg=60.0)
    knob = ball(0.09, 10, 6, deep).move(z=0.83)
    spout = sweep(
        [(0.34, 0, 0.22), (0.47, 0, 0.27), (0.56, 0, 0.36), (0.62, 0, 0.48), (0.67, 0, 0.6), (0.74, 0, 0.68)],
        [0.14, 0.115, 0.09, 0.07, 0.06, 0.06], 9, blue,
    )  # fmt: skip
    spout = spout.paint(deep, lambda c, _: c[:, 0] > 0.71)
    points = [
        (-0.38, 0, 0.57), (-0.54, 0, 0.62), (-0.66, 0, 0.56),
        (-0.70, 0, 0.41), (-0.62, 0, 0.25), (-0.42, 0, 0.18),
    ]  # fmt: skip
    return join(body, lid, knob, spout, _strap(points, 0.05, 1.2, 7, deep))


@model("coffee mug")
def coffee_mug() -> list[Solid]:
    """Green mug with one handle; coffee stands a little below the rim."""
    green: Color = (24, 172, 84)
    cup = lathe(
        [(0.37, 0.0), (0.41, 0.04), (0.42, 0.88), (0.41, 0.92), (0.36, 0.92), (0.355, 0.82), (0.0, 0.82)],
        20,
        green,
    )
    cup = cup.paint((122, 222, 150), lambda c, n: (c[:, 2] > 0.83) & ((n[:, 2] > 0.5) | _inward(c, n)))
    cup = cup.paint((70, 38, 18), lambda c, n: (n[:, 2] > 0.9) & (c[:, 2] < 0.83))
    points = [
        (0.36, 0, 0.76), (0.54, 0, 0.79), (0.67, 0, 0.72), (0.73, 0, 0.58),
        (0.72, 0, 0.42), (0.63, 0, 0.27), (0.36, 0, 0.18),
    ]  # fmt: skip
    return join(cup, _strap(points, 0.07, 1.2, 8, (16, 140, 66)))


@model("wine bottle")
def wine_bottle() -> list[Solid]:
    """Dark green bottle with a white label round its belly and a darker capsule on the neck."""
    glass: Color = (22, 70, 36)
    bottle = lathe(
        [
            (0.135, 0.0), (0.15, 0.015), (0.15, 0.14), (0.15, 0.44), (0.15, 0.55), (0.135, 0.61),
            (0.09, 0.67), (0.060, 0.73), (0.056, 0.80), (0.056, 0.94), (0.068, 0.945), (0.068, 0.985),
            (0.056, 1.0),
        ],
        18, glass, crease_deg=50.0,
    )  # fmt: skip
    bottle = bottle.paint((12, 40, 22), _between(0.80, 1.01))
    bottle = bottle.paint((74, 132, 88), lambda c, n: _between(0.45, 0.72)(c, n) & (_cell(c, 18) % 6 == 0))
    label = lathe([(0.154, 0.14), (0.154, 0.44)], 18, WHITE)
    return join(bottle, label)


@model("vase")
def vase() -> list[Solid]:
    """Tall curved white vase with blue flowers round its belly and blue bands at foot, shoulder and lip."""
    blue: Color = (28, 66, 184)
    body = lathe(
        [
            (0.14, 0.0), (0.145, 0.05), (0.11, 0.08), (0.145, 0.17), (0.195, 0.27), (0.232, 0.37),
            (0.245, 0.47), (0.232, 0.57), (0.18, 0.67), (0.125, 0.74), (0.09, 0.82), (0.09, 0.88),
            (0.13, 0.95), (0.165, 1.0), (0.135, 1.0), (0.07, 0.90),
        ],
        20, WHITE, crease_deg=60.0,
    )  # fmt: skip
    for low, high in ((0.0, 0.055), (0.67, 0.74), (0.95, 0.99)):
        body = body.paint(blue, _between(low, high))
    # Four flowers of five columns each: petals about a paler heart, and a leaf in the fifth column.
    flower = ((0.17, 0.27, (2, 4)), (0.27, 0.37, (1, 3)), (0.37, 0.47, (1, 3)), (0.47, 0.57, (2, 4)))
    for low, high, columns in flower:
        body = body.paint(blue, _cells(low, high, columns))
    body = body.paint((110, 150, 232), _cells(0.27, 0.47, (2,)))
    return join(body.paint((50, 52, 76), lambda c, n: _inward(c, n) | ((n[:, 2] > 0.9) & (c[:, 2] < 0.95))))


def _cells(low: float, high: float, columns: tuple[int, ...]) -> Where:
    """Faces of a vase of 20 columns between two heights, in the given columns of every five."""
    return lambda c, n: _between(low, high)(c, n) & np.isin(_cell(c, 20) % 5, columns)


@model("hourglass")
def hourglass() -> list[Solid]:
    """Two pale glass bulbs with yellow sand, between wooden plates held by three posts."""
    wood: Color = (128, 74, 34)
    glass: Color = (206, 230, 238)
    sand: Color = (246, 198, 44)
    bulbs = lathe(
        [
            (0.12, 0.08), (0.26, 0.13), (0.29, 0.23), (0.26, 0.33), (0.13, 0.43), (0.045, 0.50),
            (0.13, 0.57), (0.215, 0.64), (0.28, 0.73), (0.27, 0.82), (0.20, 0.88), (0.10, 0.91),
        ],
        16, glass, crease_deg=70.0,
    )  # fmt: skip
    bulbs = bulbs.paint(sand, _between(0.0, 0.32)).paint(sand, _between(0.50, 0.72))
    plate = lathe([(0.37, 0.0), (0.39, 0.02), (0.39, 0.08), (0.36, 0.10)], 16, wood)
    post = lathe([(0.028, 0.08), (0.028, 0.92)], 7, (160, 98, 48)).move(x=0.33)
    return join(bulbs, plate, plate.move(z=0.90), around(post, 3, 30))


@model("stack of plates")
def stack_of_plates() -> list[Solid]:
    """Pile of five white plates, each with a blue rim, not quite one above the other."""
    blue: Color = (30, 84, 204)
    under = [(0.38, 0.0), (0.46, 0.085), (0.50, 0.09), (0.50, 0.14)]
    plate = lathe(under, 20, WHITE, crease_deg=30.0)
    top = lathe([*under, (0.42, 0.125), (0.33, 0.075), (0.0, 0.07)], 20, WHITE, crease_deg=30.0)
    plates = [plate, plate, plate, plate, top.paint(blue, lambda c, n: (n[:, 2] > 0.5) & (c[:, 2] > 0.125))]
    shifts = ((0.0, 0.0), (0.02, -0.01), (-0.015, 0.015), (0.01, 0.02), (-0.01, -0.015))
    return [
        part.paint(blue, lambda c, n: (np.abs(n[:, 2]) < 0.1) & (c[:, 2] > 0.08)).move(x, y, 0.13 * k)
        for k, (part, (x, y)) in enumerate(zip(plates, shifts, strict=True))
    ]
