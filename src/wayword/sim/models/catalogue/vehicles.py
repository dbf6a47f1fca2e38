"""Vehicles: a boat, a jet, a rocket and a fire truck, each with its nose towards -y.

Builders measure in centimetres at catalogue size; long things are built along +x and turned at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wayword.sim.models.catalogue.registry import model
from wayword.sim.models.mesh import Color, Solid, join
from wayword.sim.models.primitives import around, box, cylinder, extrude, lathe, sweep

WHITE: Color = (244, 245, 247)
GREY: Color = (150, 156, 164)
DARK: Color = (36, 38, 44)
RED: Color = (214, 28, 30)
SILVER: Color = (222, 226, 230)
WOOD: Color = (164, 104, 54)
OAR: Color = (190, 134, 78)


def _loft(sections: NDArray[np.float64], color: Color, crease_deg: float = 40.0) -> Solid:
    """Skin closed sections (n, m, 3), listed along +x and counter-clockwise seen from +x; ends are capped."""
    n, m, _ = sections.shape
    positions = np.concatenate([sections.reshape(-1, 3), sections[[0, -1]].mean(axis=1)])
    faces = []
    for i in range(m):
        j = (i + 1) % m
        for k in range(n - 1):
            a, b = k * m, (k + 1) * m
            faces += [(a + i, a + j, b + j), (a + i, b + j, b + i)]
        faces += [(n * m, j, i), (n * m + 1, (n - 1) * m + i, (n - 1) * m + j)]
    return Solid.of(positions, faces, color, crease_deg)


def _nose_forward(parts: Sequence[Solid]) -> list[Solid]:
    """Turn what was built along +x to face -y."""
    return [part.turn("z", -90) for part in parts]


def _flat(outline: Sequence[tuple[float, float]], thickness: float, color: Color) -> Solid:
    """A plate lying in the ground plan: the outline is (x, y)."""
    return extrude(outline, thickness, color).turn("x", -90)


@model("rowing boat")
def rowing_boat() -> list[Solid]:
    """Small blue hull, open, with three brown seats and a pair of oars laid over the sides."""
    sections = []
    for x in (-29.0, -26.0, -14.0, 0.0, 12.0, 21.0, 26.0, 30.0):
        width = 12.5 * (1 - max(0.0, (x + 4) / 34.5) ** 2.2) * (1 - 0.22 * max(0.0, (-x - 4) / 25) ** 2)
        top = 14.5 + 5.5 * max(0.0, x / 30) ** 2 + 1.5 * max(0.0, -x / 29) ** 2
        keel = 7.0 * max(0.0, x / 30) ** 3
        floor = top - 0.1 if x in (-29.0, 30.0) else keel + 2.0
        inside = max(width - 2.2, 0.3 * width)
        outer = [(width, top), (0.86 * width, 0.55 * top + 0.45 * keel), (0.45 * width, keel + 0.6)]
        inner = [(inside, top), (0.8 * inside, 0.5 * (top + floor)), (0.5 * inside, floor)]
        ring = [(-y, z) for y, z in outer] + outer[::-1] + inner + [(-y, z) for y, z in inner[::-1]]
        sections.append([(x, y, z) for y, z in ring])
    hull = _loft(np.array(sections), (40, 116, 236))
    hull = hull.paint((24, 76, 176), lambda c, n: (c[:, 2] < 14) & (n[:, 2] > 0.15))
    seats = [box(7, 2 * half, 2, WOOD).move(x=x, z=11.6) for x, half in ((-17, 10), (-1, 11), (13, 7.2))]
    blade = _flat([(9, -2.5), (18, -2.5), (18, 2.5), (9, 2.5)], 1.6, OAR)
    oar = [sweep([(-11, 0, 0), (12, 0, 0)], 1.0, 6, OAR), blade]
    oars = [part.turn("y", 30).turn("z", 145).move(-2, 12, 16.2) for part in oar]
    return _nose_forward(join(hull, seats, oars, [part.scale(1, -1, 1) for part in oars]))


@model("jet plane")
def jet_plane() -> list[Solid]:
    """White airliner, grey swept wings, tail fin and engines, on its wheels."""
    tail = [(0, -30), (1.6, -29.5), (3.0, -24), (5.4, -12)]
    nose = [(5.6, 16), (4.9, 22), (3.3, 26.5), (1.2, 29.2), (0, 30)]
    body = lathe(tail + nose, 14, WHITE).turn("y", 90)
    body = body.paint((48, 62, 82), lambda c, n: (c[:, 0] > 21.5) & (c[:, 0] < 26.5) & (n[:, 2] > 0.45))
    wing = _flat([(12, 3), (-1, 3), (-15, 29), (-8, 29)], 2.2, GREY).move(z=-1.5)
    tailplane = _flat([(-19, 1), (-27, 1), (-33, 13), (-28, 13)], 2.0, GREY).move(z=1.5)
    fin = extrude([(-14, 4), (-28, 2), (-33, 20), (-26, 20)], 2.4, GREY)
    engine = cylinder(2.5, 9, 10, (186, 190, 196)).paint(DARK, lambda c, n: n[:, 2] > 0.9)
    engine = engine.turn("y", 90).move(0, 12, -4)
    half = [wing, tailplane, engine]
    gear = [cylinder(1.8, 2.0, 8, DARK).turn("x", 90).move(y=1), box(1.8, 1.8, 5, GREY)]
    wheels = [part.move(x, y, -8) for x, y in ((20, 0), (-2, 5), (-2, -5)) for part in gear]
    return _nose_forward(join(body, fin, half, [part.scale(1, -1, 1) for part in half], wheels))


@model("rocket")
def rocket() -> list[Solid]:
    """White rocket with a red nose cone, three red fins, a round window and a dark nozzle."""
    body = lathe([(6, 6), (7.8, 12), (8.4, 24), (8, 36), (6.6, 44)], 16, WHITE)
    nose = lathe([(6.8, 43.6), (5.4, 49), (3.2, 55), (1, 59), (0, 60)], 16, RED)
    nozzle = lathe([(5.4, 2.5), (4, 6.5)], 12, DARK)
    fin = extrude([(6, 8), (7, 22), (12, 17), (17.5, 5), (17.5, 0), (14.5, 0), (11, 6)], 2.6, RED)
    porthole = around(cylinder(3, 1.4, 12, (34, 60, 96)).turn("x", 90).move(y=-7.6, z=33), 3)
    ring = around(cylinder(3.8, 1.2, 12, GREY).turn("x", 90).move(y=-7.4, z=33), 3)
    return join(body, nose, nozzle, around(fin, 3, 30), porthole, ring)


@model("fire truck")
def fire_truck() -> list[Solid]:
    """Red truck, silver ladder lying on top, black wheels, dark cab windows and a blue light bar."""
    window: Color = (44, 58, 76)
    cab = extrude([(12, 5), (29.5, 5), (29.5, 14), (27, 25), (12, 25)], 22, RED, crease_deg=10.0)
    body = join(
        box(41, 22, 16, RED).move(x=-9.5, z=5),
        cab,
        box(60, 18, 3, DARK).move(z=3.5),
        box(41, 22.6, 2, WHITE).move(x=-9, z=10.5),
        box(2.4, 23, 3.6, SILVER).move(x=29.4, z=4),
        extrude([(0, 0), (3, 0), (1.1, 8)], 18, window).move(x=26.6, z=15.2),
        [box(8, 22.8, 7, window).move(x=19.5, z=15.5)],
        box(4, 18, 2.4, (40, 110, 240)).move(x=21, z=25),
        [box(9, 22.8, 6, (158, 18, 24)).move(x=x, z=13.8) for x in (-22, -10.5, 1)],
    )
    wheel = [
        cylinder(6, 4.4, 12, (24, 24, 27)).turn("x", 90).move(y=2.2),
        cylinder(2.2, 5.0, 8, GREY).turn("x", 90).move(y=2.5),
    ]
    wheels = [part.move(x, y, 6) for x in (19, -8, -21) for y in (-10.2, 10.2) for part in wheel]
    rails = [box(52, 2.2, 3, SILVER).move(y=y) for y in (-5.4, 5.4)]
    rungs = [box(2, 10, 2, SILVER).move(x=x, z=0.4) for x in np.linspace(-23, 23, 8)]
    ladder = [part.turn("y", -7).move(x=-5, z=26.5) for part in join(rails, rungs)]
    turntable = cylinder(6, 4, 10, GREY).move(x=-20, z=20.5)
    return _nose_forward(join(body, wheels, ladder, turntable))
