"""Toys: chess pawn, die, snowman, robot, rubber duck, two building bricks and a globe."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from wayword.sim.models.catalogue.registry import model
from wayword.sim.models.mesh import Color, Solid, join
from wayword.sim.models.primitives import ball, box, cylinder, icoball, lathe, row, sweep

BLACK: Color = (24, 24, 28)
WHITE: Color = (246, 246, 244)
ORANGE: Color = (242, 124, 20)

PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}

# Longitude and latitude of the middle, half width, half height in degrees; the Americas lie too far west
# and all lands are too large, so that no side of the globe is only blue.
LANDS = (
    (-118, 46, 44, 20), (-104, 24, 18, 14), (-42, 73, 18, 9),  # North America, Mexico, Greenland
    (-78, -8, 28, 22), (-84, -38, 16, 18),  # South America
    (8, 18, 26, 18), (22, -12, 19, 26),  # Africa
    (12, 50, 20, 12), (85, 55, 66, 18), (80, 22, 14, 18), (112, 30, 24, 18),  # Eurasia
    (142, -25, 27, 14),  # Australia
)  # fmt: skip


@model("chess pawn")
def chess_pawn() -> list[Solid]:
    """Glossy black pawn: stepped base, slim flaring body, collar, ball head; pale glints for the gloss."""
    body = lathe(
        [
            (0.30, 0.00), (0.31, 0.07), (0.26, 0.14), (0.27, 0.19), (0.18, 0.27),
            (0.12, 0.40), (0.10, 0.56), (0.20, 0.61), (0.20, 0.65), (0.10, 0.70),
        ],
        16, BLACK, crease_deg=50.0,
    )  # fmt: skip
    head = ball(0.19, 16, 10, BLACK).move(z=0.81)

    def glint(centroids: NDArray[np.float64], normals: NDArray[np.float64]) -> NDArray[np.bool_]:
        # One bright column in each quarter turn, so that the polish shows wherever the camera is.
        column = np.floor(np.arctan2(centroids[:, 1], centroids[:, 0]) / (2 * np.pi) % 1.0 * 16)
        lit: NDArray[np.bool_] = (column % 4 == 1) & (normals[:, 2] > 0.05) & (normals[:, 2] < 0.85)
        return lit

    return join(body.paint((96, 98, 108), glint), head.paint((140, 142, 152), glint))


@model("die")
def die() -> list[Solid]:
    """White cube with bevelled edges and black dots; opposite sides add up to seven."""
    edge = 0.86
    corners = [
        point
        for sx, sy, sz in np.ndindex(2, 2, 2)
        for point in np.where(np.eye(3, dtype=bool), 1.0, edge) * (2 * np.array([sx, sy, sz]) - 1)
    ]
    hull = ConvexHull(np.array(corners))
    triangles = hull.points[hull.simplices]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inward = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    cube = Solid.of(hull.points, faces, WHITE, crease_deg=10.0)
    cube = cube.paint((214, 214, 212), lambda _, n: np.abs(n).max(axis=1) < 0.99)
    sides = {1: ("x", 0.0), 6: ("x", 180.0), 2: ("x", 90.0), 5: ("x", -90.0), 3: ("y", 90.0), 4: ("y", -90.0)}
    # A flat double cone shows as a dot a hair above the side it sits on.
    dot = lathe([(0.0, -0.04), (0.22, 0.012), (0.0, 0.03)], 10, BLACK)
    pips = [
        dot.move(0.5 * u, 0.5 * v, 1.0).turn(axis, degrees)
        for number, (axis, degrees) in sides.items()
        for u, v in PIPS[number]
    ]
    return join(cube, pips)


@model("snowman")
def snowman() -> list[Solid]:
    """Two stacked white balls with coal eyes and buttons, orange carrot nose and black top hat."""
    snow: Color = (248, 250, 252)
    body = ball(0.50, 16, 10, snow).scale(1, 1, 0.92).move(z=0.44)
    head = ball(0.37, 16, 9, snow).move(z=1.13)
    nose = cylinder(0.10, 0.46, 8, ORANGE, top=0.0).turn("x", 90).move(y=-0.32, z=1.10)
    hat = lathe([(0.37, 1.40), (0.37, 1.45), (0.25, 1.46), (0.26, 1.82)], 16, BLACK).turn("x", -6).move(y=-0.10)
    coal = icoball(0.07, 0, BLACK)
    eyes = row(coal, [(-0.15, -0.31, 1.24), (0.15, -0.31, 1.24)])
    buttons = row(coal.scale(1.1), [(0.0, -0.45, 0.68), (0.0, -0.50, 0.46), (0.0, -0.46, 0.25)])
    return join(body, head, nose, hat, eyes, buttons)


@model("robot")
def robot() -> list[Solid]:
    """Boxy grey-blue robot: square head with lit eyes and aerial, chest panel, two arms, two legs."""
    blue: Color = (124, 152, 186)
    dark: Color = (66, 84, 110)
    lit: Color = (255, 226, 70)
    body = box(0.62, 0.42, 0.60, blue).move(z=0.42)
    panel = box(0.40, 0.06, 0.30, dark).move(y=-0.21, z=0.60)
    lamps = row(box(0.10, 0.08, 0.10, (226, 60, 50)), [(-0.11, -0.22, 0.72)])
    lamps += row(box(0.10, 0.08, 0.10, lit), [(0.11, -0.22, 0.72)])
    pack = box(0.36, 0.10, 0.36, dark).move(y=0.23, z=0.52)
    neck = box(0.20, 0.20, 0.10, dark).move(z=1.00)
    head = box(0.50, 0.44, 0.40, (150, 178, 210)).move(z=1.08)
    eyes = row(box(0.13, 0.06, 0.13, lit), [(-0.12, -0.22, 1.26), (0.12, -0.22, 1.26)])
    mouth = box(0.26, 0.06, 0.06, (30, 36, 46)).move(y=-0.22, z=1.14)
    ears = row(box(0.06, 0.18, 0.18, dark), [(-0.27, 0.0, 1.19), (0.27, 0.0, 1.19)])
    aerial = join(cylinder(0.03, 0.14, 6, dark).move(z=1.48), icoball(0.075, 1, (226, 60, 50)).move(z=1.66))
    arm = join(
        box(0.20, 0.18, 0.16, dark).move(x=0.40, z=0.80),
        box(0.15, 0.17, 0.46, blue).move(x=0.53, z=0.40),
        box(0.17, 0.22, 0.14, dark).move(x=0.53, z=0.30),
    )
    leg = join(
        box(0.20, 0.24, 0.36, (92, 116, 146)).move(x=0.17, z=0.08),
        box(0.25, 0.40, 0.12, dark).move(x=0.17, y=-0.05),
    )
    limbs = [part.scale(side, 1, 1) for part in arm + leg for side in (1.0, -1.0)]
    return join(body, panel, lamps, pack, neck, head, eyes, mouth, ears, aerial, limbs)


@model("rubber duck")
def rubber_duck() -> list[Solid]:
    """Yellow duck: boat-shaped body with a raised tail, folded wings, round head, orange beak."""
    yellow: Color = (255, 214, 24)

    def boat(p: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y, z = p.T
        tail = np.clip((y - 0.05) / 0.55, 0.0, 1.0)
        lift = np.maximum(z, -0.30) * (1 - 0.35 * tail) + 0.44 * tail**2
        return np.column_stack([x * (1 - 0.45 * tail**2), y, lift])

    body = ball(0.44, 16, 10, yellow).turn("x", 90).scale(1.0, 1.4, 0.92).bend(boat).move(z=0.30)
    wing = icoball(0.30, 1, (250, 190, 6)).scale(0.22, 1.0, 0.58).turn("x", 22).turn("z", 12)
    wing = wing.move(0.37, 0.08, 0.36)
    head = ball(0.36, 14, 8, yellow).move(y=-0.28, z=0.90)
    beak = ball(0.20, 10, 6, ORANGE).scale(1.15, 1.25, 0.40).move(y=-0.68, z=0.86)
    lower = ball(0.15, 8, 4, (214, 92, 12)).scale(1.1, 1.1, 0.45).move(y=-0.64, z=0.78)
    eye = icoball(0.075, 1, BLACK).move(0.19, -0.54, 1.03)
    pairs = [part.scale(side, 1, 1) for part in (wing, eye) for side in (1.0, -1.0)]
    return join(body, head, beak, lower, pairs)


def _building_brick(color: Color, shade: Color) -> list[Solid]:
    """A two-by-three brick; the walls of its studs are painted darker, else they vanish against the top."""
    body = box(3.0, 2.0, 1.15, color)
    stud = cylinder(0.34, 0.30, 14, color).paint(shade, lambda _, n: n[:, 2] < 0.5)
    return join(body, row(stud, [(x, y, 1.15) for x in (-1.0, 0.0, 1.0) for y in (-0.5, 0.5)]))


@model("yellow brick")
def yellow_brick() -> list[Solid]:
    """One big plain yellow building brick with studs on top."""
    return _building_brick((250, 206, 20), (204, 154, 8))


@model("red brick")
def red_brick() -> list[Solid]:
    """One big plain red building brick with studs on top."""
    return _building_brick((208, 26, 26), (142, 12, 14))


@model("globe")
def globe() -> list[Solid]:
    """Blue and green ball with white poles, tilted in a dark half ring on a dark foot."""
    dark: Color = (58, 40, 30)

    def land(centroids: NDArray[np.float64], _: NDArray[np.float64]) -> NDArray[np.bool_]:
        lon = np.degrees(np.arctan2(centroids[:, 1], centroids[:, 0]))
        lat = np.degrees(np.arctan2(centroids[:, 2], np.hypot(centroids[:, 0], centroids[:, 1])))
        inside = np.zeros(len(centroids), dtype=bool)
        for lon0, lat0, half_width, half_height in LANDS:
            offset = (lon - lon0 + 180) % 360 - 180
            inside |= (offset / half_width) ** 2 + ((lat - lat0) / half_height) ** 2 < 1
        return inside

    earth = ball(0.5, 24, 14, (28, 104, 206)).paint((52, 160, 60), land)
    earth = earth.paint(WHITE, lambda c, _: np.abs(c[:, 2]) > 0.5 * math.sin(math.radians(63)))
    angles = np.radians(np.linspace(-90, 90, 12))
    ring = sweep(np.column_stack([0.57 * np.cos(angles), 0 * angles, 0.57 * np.sin(angles)]), 0.035, 6, dark)
    pins = row(cylinder(0.035, 0.14, 6, dark), [(0.0, 0.0, 0.46), (0.0, 0.0, -0.60)])
    # Less than the true 23.5 degrees, or the white pole would be out of sight from one side.
    tilted = [part.turn("y", 15).move(z=0.88) for part in join(earth, ring, pins)]
    foot = lathe([(0.34, 0.0), (0.34, 0.06), (0.10, 0.12), (0.06, 0.16), (0.06, 0.34)], 16, dark)
    return join(tilted, foot)
