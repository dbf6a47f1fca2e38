"""Things from inside a house: seats, table, shelf, luggage, ladder, tub, anvil, chest and present."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayword.sim.models.catalogue.registry import model
from wayword.sim.models.mesh import Color, Solid, join
from wayword.sim.models.primitives import (
    GREY,
    arc,
    around,
    ball,
    box,
    cylinder,
    extrude,
    icoball,
    lathe,
    row,
    sheet,
    sweep,
    torus,
)

BLACK: Color = (26, 26, 30)
GOLD: Color = (238, 184, 38)


def cushion(x: float, y: float, z: float, bevel: float, color: Color = GREY) -> Solid:
    """A box with all its edges cut off and shaded round: upholstery, luggage shells (64 faces)."""
    octagon = lathe([(1 - bevel, 0.0), (1.0, bevel), (1.0, z - bevel), (1 - bevel, z)], 8, color, crease_deg=50.0)

    def square(p: NDArray[np.float64]) -> NDArray[np.float64]:
        plan = p[:, :2]
        reach = np.linalg.norm(plan, axis=1, keepdims=True)  # 1 on the walls, 1 - bevel above them, 0 on the axis
        cut = np.where(np.abs(plan) > 0.6 * reach, 0.0, bevel)
        corners = np.sign(plan) * (np.array([x, y]) / 2 + reach - 1 - cut)
        return np.column_stack([np.where(reach > 0, corners, 0.0), p[:, 2]])

    return octagon.turn("z", 22.5).bend(square)


@model("chair")
def chair() -> list[Solid]:
    """Plain white four-legged chair with a straight back."""
    white, legs = (252, 252, 249), (234, 234, 230)
    seat = box(0.56, 0.52, 0.06, white).move(z=0.44)
    front = row(box(0.07, 0.07, 0.44, legs), [(-0.235, -0.215, 0), (0.235, -0.215, 0)])
    rear = row(box(0.07, 0.07, 1.0, legs), [(-0.235, 0.22, 0), (0.235, 0.22, 0)])
    back = box(0.40, 0.045, 0.34, white).move(y=0.22, z=0.63)
    return join(seat, front, rear, back)


@model("round table")
def round_table() -> list[Solid]:
    """Brown round top on a single leg."""
    top_brown, rim, leg_brown = (172, 108, 54), (120, 70, 32), (104, 60, 28)
    top = lathe([(0.47, 0.60), (0.50, 0.61), (0.50, 0.66), (0.48, 0.67)], sides=24, color=rim)
    top = top.paint(top_brown, lambda c, n: n[:, 2] > 0.9)
    profile = [(0.25, 0.0), (0.25, 0.035), (0.09, 0.09), (0.05, 0.16), (0.05, 0.48), (0.11, 0.60)]
    return join(top, lathe(profile, sides=14, color=leg_brown, crease_deg=50.0))


@model("sofa")
def sofa() -> list[Solid]:
    """Dark red two-seat sofa with arm rests."""
    red, light, seam = (134, 16, 26), (160, 26, 36), (96, 10, 18)
    frame = box(1.50, 0.74, 0.24, seam).move(z=0.08)
    feet = row(box(0.09, 0.09, 0.09, BLACK), [(x, y, 0) for x in (-0.72, 0.72) for y in (-0.30, 0.30)])
    back = cushion(1.66, 0.20, 0.74, 0.06, red).turn("x", -6.0).move(y=0.32, z=0.10)
    arms = row(cushion(0.22, 0.84, 0.54, 0.07, red), [(-0.76, 0, 0.07), (0.76, 0, 0.07)])
    seats = row(cushion(0.635, 0.64, 0.18, 0.05, light), [(-0.325, -0.09, 0.30), (0.325, -0.09, 0.30)])
    pillow = cushion(0.62, 0.16, 0.42, 0.05, light).turn("x", -10.0)
    return join(frame, feet, back, arms, seats, row(pillow, [(-0.325, 0.17, 0.46), (0.325, 0.17, 0.46)]))


@model("bookshelf")
def bookshelf() -> list[Solid]:
    """Brown shelf with rows of coloured books; open all round, so that every side shows the books."""
    brown, dark = (134, 84, 42), (104, 62, 30)
    palette: tuple[Color, ...] = (
        (204, 36, 36), (32, 88, 190), (240, 196, 40), (36, 140, 70), (236, 230, 214), (120, 50, 140),
        (232, 116, 28), (40, 160, 176),
    )  # fmt: skip
    posts = row(box(0.07, 0.08, 1.19, brown), [(x, y, 0) for x in (-0.40, 0.40) for y in (-0.16, 0.16)])
    boards = row(box(0.82, 0.38, 0.06, dark), [(0, 0, z) for z in (0.05, 0.43, 0.80)])
    crown = box(0.92, 0.45, 0.06, brown).move(z=1.17)
    rng = np.random.default_rng(7)
    books: list[Solid] = []
    for shelf, z in enumerate((0.11, 0.49, 0.86)):
        left, number = -0.385, 0
        while left < 0.29:
            width, height = rng.uniform(0.085, 0.115), rng.uniform(0.21, 0.295)
            color = palette[(number + 3 * shelf) % len(palette)]
            books.append(box(width, 0.30, height, color).move(x=left + width / 2, z=z))
            left, number = left + width, number + 1
    return join(posts, boards, crown, books)


@model("suitcase")
def suitcase() -> list[Solid]:
    """Upright teal suitcase with a black handle and two wheels."""
    teal, dark = (14, 150, 146), (8, 108, 108)
    shell = cushion(0.50, 0.28, 0.70, 0.05, teal).move(z=0.07)
    ribs = row(box(0.05, 0.31, 0.52, dark), [(x, 0, 0.16) for x in (-0.14, 0.0, 0.14)])
    seam = box(0.515, 0.04, 0.62, BLACK).move(z=0.11)
    bail = sweep(
        [
            (-0.13, 0.07, 0.74),
            (-0.13, 0.07, 0.97),
            (-0.10, 0.07, 1.0),
            (0.10, 0.07, 1.0),
            (0.13, 0.07, 0.97),
            (0.13, 0.07, 0.74),
        ],
        0.028,
        sides=6,
        color=BLACK,
    )
    wheel = cylinder(0.085, 0.07, sides=12, color=BLACK).move(z=-0.035).turn("y", 90.0)
    hub = cylinder(0.035, 0.09, sides=6, color=GREY).move(z=-0.045).turn("y", 90.0)
    wheels = [s for part in (wheel, hub) for s in row(part, [(-0.22, 0.11, 0.085), (0.22, 0.11, 0.085)])]
    stand = box(0.36, 0.06, 0.09, BLACK).move(y=-0.09)
    return join(shell, ribs, seam, bail, wheels, stand)


@model("ladder")
def ladder() -> list[Solid]:
    """Yellow A-frame step ladder."""
    yellow, tread, foot = (252, 204, 14), (224, 166, 6), (60, 56, 50)

    def at(side: float, y: float, z: float) -> tuple[float, float, float]:
        """A point on a leg: legs lean towards the middle on the way up."""
        return (side * (0.25 - 0.11 * z), y * (1.0 - 0.88 * z), z)

    legs = [
        sweep([at(s, y, 0.0), at(s, y, 0.96)], 0.034, sides=4, color=yellow) for s in (-1, 1) for y in (-0.32, 0.32)
    ]
    feet = [box(0.08, 0.08, 0.05, foot).move(*at(s, y, 0.0)) for s in (-1, 1) for y in (-0.32, 0.32)]
    steps = [
        box(2 * at(1, 0, z)[0], 0.12, 0.04, tread).move(y=at(1, -0.32, z)[1] - 0.01, z=z)
        for z in (0.18, 0.38, 0.58, 0.78)
    ]
    bars = [box(2 * at(1, 0, z)[0], 0.03, 0.04, tread).move(y=at(1, 0.32, z)[1], z=z) for z in (0.22, 0.62)]
    cap = box(0.36, 0.20, 0.06, yellow).move(z=0.94)
    return join(legs, feet, steps, bars, cap)


@model("bathtub")
def bathtub() -> list[Solid]:
    """White oval tub on four gold feet."""
    white, inside = (250, 250, 250), (222, 230, 236)
    profile = [
        (0.55, 0.14), (0.74, 0.19), (0.86, 0.34), (0.90, 0.54), (0.99, 0.56), (1.0, 0.60), (0.97, 0.63),
        (0.88, 0.61), (0.83, 0.58), (0.77, 0.36), (0.60, 0.24),
    ]  # fmt: skip
    tub = lathe(profile, sides=22, color=white, crease_deg=60.0)
    tub = tub.paint(inside, lambda c, n: (c[:, 2] < 0.59) & (np.einsum("ij,ij->i", c[:, :2], n[:, :2]) < -0.01))
    tub = tub.paint(inside, lambda c, n: (c[:, 2] < 0.3) & (n[:, 2] > 0.9))
    tub = tub.bend(lambda p: p * [0.80, 0.40, 1.0] + np.outer(0.06 * p[:, 0] ** 2 * p[:, 2], [0.0, 0.0, 1.0]))
    foot = join(
        sweep([(0.0, 0.0, 0.28), (0.05, 0.0, 0.16), (0.03, 0.0, 0.05)], [0.09, 0.06, 0.04], 7, GOLD),
        ball(0.06, 8, 4, GOLD).scale(1.3, 1.0, 0.9).move(0.05, 0.0, 0.05),
    )
    corners = [(0.44, 0.19, 40.0), (-0.44, 0.19, 140.0), (-0.44, -0.19, 220.0), (0.44, -0.19, 320.0)]
    feet = [part.turn("z", turn).move(x, y) for x, y, turn in corners for part in foot]
    return join(tub, feet)


@model("anvil")
def anvil() -> list[Solid]:
    """Black iron anvil with a horn."""
    iron, worn, base = (34, 35, 40), (92, 94, 100), (26, 27, 31)
    foot = box(0.60, 0.46, 0.11, base)
    skirt = box(0.52, 0.40, 0.11, base, taper=0.60).move(z=0.11)
    waist = box(0.31, 0.24, 0.12, iron).move(z=0.22)
    flare = box(0.50, 0.32, 0.10, iron, taper=0.6).turn("x", 180.0).move(z=0.42)
    face = box(0.56, 0.32, 0.18, iron).move(x=0.08, z=0.42)
    face = face.paint(worn, lambda c, n: n[:, 2] > 0.9)
    horn = lathe([(0.15, 0.0), (0.13, 0.13), (0.085, 0.26), (0.025, 0.36)], 12, iron, crease_deg=60.0)
    horn = horn.turn("y", -90.0).bend(lambda p: p + np.outer(0.7 * p[:, 0] ** 2, [0.0, 0.0, 1.0]))
    return join(foot, skirt, waist, flare, face, horn.move(x=-0.195, z=0.445))


@model("treasure chest")
def treasure_chest() -> list[Solid]:
    """Brown chest with a rounded lid and gold bands."""
    brown, lid_brown = (104, 56, 22), (138, 78, 32)
    outline = np.concatenate([[(-0.28, 0.0), (0.28, 0.0)], arc(0.28, 0.0, 180.0, 9) * [1.0, 0.85] + [0.0, 0.32]])
    chest = extrude(outline, 0.86, brown, crease_deg=30.0).turn("z", 90.0)
    chest = chest.paint(lid_brown, lambda c, n: (c[:, 2] > 0.33) & (np.abs(n[:, 0]) < 0.5))
    hoop = (outline - [0.0, 0.28]) * 1.07 + [0.0, 0.28]
    band = extrude(hoop, 0.10, GOLD, crease_deg=30.0).turn("z", 90.0)
    rim = box(0.90, 0.61, 0.055, GOLD).move(z=0.29)
    lock = box(0.17, 0.05, 0.20, GOLD).move(y=-0.31, z=0.20)
    keyhole = box(0.06, 0.02, 0.10, BLACK).move(y=-0.335, z=0.24)
    return join(chest, row(band, [(-0.29, 0, 0), (0.29, 0, 0)]), rim, lock, keyhole)


@model("gift box")
def gift_box() -> list[Solid]:
    """Purple box with a yellow ribbon and bow."""
    purple, lid_purple, yellow, shade = (122, 36, 168), (146, 52, 194), (255, 214, 24), (226, 176, 10)
    body = box(0.66, 0.66, 0.46, purple)
    lid = box(0.72, 0.72, 0.14, lid_purple).move(z=0.44)
    strips = [box(0.12, 0.69, 0.45, yellow), box(0.69, 0.12, 0.45, yellow)]
    over = [box(0.12, 0.75, 0.15, yellow).move(z=0.445), box(0.75, 0.12, 0.15, yellow).move(z=0.445)]
    loop = torus(0.11, 0.03, sides=10, tube_sides=4, color=yellow).turn("x", 90.0).scale(1.25, 2.6, 0.85)
    loop = loop.paint(shade, lambda c, n: c[:, 0] * n[:, 0] + c[:, 2] * n[:, 2] < 0)
    bow = around(loop.move(x=0.15).turn("y", -28.0).move(z=0.64), 4, start_deg=45.0)
    knot = icoball(0.075, 1, shade).move(z=0.66)
    tail = sheet([(0.0, 0.0, 0.62), (0.16, 0.0, 0.65), (0.30, 0.0, 0.60)], 0.09, shade)
    return join(body, lid, strips, over, bow, knot, around(tail, 2, start_deg=20.0))
