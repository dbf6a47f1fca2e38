"""Things that stand in streets and yards: barrels, cone, crate, lamp post, mailbox, hydrant, bench, bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayword.sim.models.catalogue.registry import model
from wayword.sim.models.mesh import Color, Solid, join
from wayword.sim.models.primitives import arc, around, box, cylinder, extrude, lathe, row, sweep, torus

BLACK: Color = (28, 28, 32)
IRON: Color = (48, 50, 56)
RED: Color = (208, 26, 28)
DARK_RED: Color = (150, 14, 18)


@model("barrel")
def barrel() -> list[Solid]:
    """Upright oil drum, rust-orange metal with two darker raised rings and a flat lid."""
    rust, dark = (198, 88, 34), (96, 42, 22)
    drum = _drum(rust, dark, bulge=0.0).speckle(0.03, seed=1)
    bung = cylinder(0.045, 0.035, sides=8, color=dark).move(x=0.15, z=0.84)
    return join(drum, bung)


@model("silver barrel")
def silver_barrel() -> list[Solid]:
    """Upright barrel, light grey-white smooth metal, two rings; slightly bellied, unlike the oil drum."""
    silver, ring = (244, 247, 250), (158, 164, 172)
    bung = cylinder(0.06, 0.04, sides=8, color=ring).move(z=0.84)
    return join(_drum(silver, ring, bulge=0.05), bung)


def _drum(body: Color, ring: Color, bulge: float) -> Solid:
    """A drum 0.9 high with rims, two raised rings and a sunken lid; ``bulge`` widens its middle."""
    wall, ridge = 0.28 + bulge * 0.6, 0.325 + bulge * 0.6
    profile = [
        (0.29, 0.0), (0.30, 0.05), (0.28, 0.06), (wall, 0.25), (ridge, 0.265), (ridge, 0.325), (wall, 0.34),
        (0.28 + bulge, 0.45),
        (wall, 0.56), (ridge, 0.575), (ridge, 0.635), (wall, 0.65), (0.28, 0.84), (0.30, 0.85), (0.30, 0.90),
        (0.26, 0.90), (0.25, 0.855),
    ]  # fmt: skip
    drum = lathe(profile, sides=16, color=body)
    return (
        drum.paint(ring, lambda c, n: (c[:, 2] > 0.25) & (c[:, 2] < 0.34))
        .paint(ring, lambda c, n: (c[:, 2] > 0.56) & (c[:, 2] < 0.65))
        .paint(ring, lambda c, n: (c[:, 2] > 0.842) & (np.hypot(c[:, 0], c[:, 1]) > 0.20))
    )


@model("traffic cone")
def traffic_cone() -> list[Solid]:
    """Bright orange cone on a square base, one white band."""
    orange, base = (255, 98, 8), (226, 78, 4)
    profile = [(0.27, 0.05), (0.24, 0.09), (0.164, 0.42), (0.112, 0.64), (0.055, 0.88), (0.035, 0.90)]
    cone = lathe(profile, sides=16, color=orange)
    cone = cone.paint((250, 250, 250), lambda c, n: (c[:, 2] > 0.42) & (c[:, 2] < 0.64))
    return join(box(0.62, 0.62, 0.06, base), cone)


@model("wooden crate")
def wooden_crate() -> list[Solid]:
    """Brown cube with a lighter plank frame, and one lighter brace, on every side."""
    browns: tuple[Color, ...] = ((122, 74, 36), (102, 60, 28), (130, 80, 42), (108, 64, 30))
    frame, brace = (206, 156, 94), (190, 140, 80)
    planks = [box(0.90, 0.90, 0.225, browns[i]).move(z=0.05 + 0.225 * i) for i in range(4)]
    corners = around(box(0.14, 0.14, 1.0, frame).move(0.43, 0.43), 4)
    rails = [s for z in (0.0, 0.86) for s in around(box(0.72, 0.14, 0.14, frame).move(y=-0.43, z=z), 4)]
    slat = box(1.02, 0.05, 0.11, brace).move(z=-0.055).turn("y", -45.0)
    sides = around(slat.move(y=-0.455, z=0.5), 4)
    lid = slat.turn("x", 90.0).move(z=0.955)
    return join(planks, corners, rails, sides, lid)


@model("lamp post")
def lamp_post() -> list[Solid]:
    """Tall black pole with a glowing yellow lantern on top."""
    glow = (255, 238, 96)
    profile = [
        (0.10, 0.0),
        (0.10, 0.03),
        (0.065, 0.05),
        (0.055, 0.13),
        (0.03, 0.16),
        (0.026, 0.66),
        (0.05, 0.68),
    ]
    pole = lathe(profile, sides=10, color=BLACK)
    arm = sweep([(-0.10, 0.0, 0.60), (0.10, 0.0, 0.60)], 0.015, sides=6, color=BLACK)
    tray = lathe([(0.05, 0.67), (0.11, 0.70), (0.11, 0.715)], sides=8, color=BLACK)
    # The panes lean inwards, towards the sky: upright ones look unlit whenever the sun is behind them.
    lantern = lathe([(0.12, 0.705), (0.155, 0.74), (0.085, 0.93)], sides=8, color=glow, crease_deg=60.0)
    bar = sweep([(0.156, 0.0, 0.735), (0.087, 0.0, 0.93)], 0.010, sides=4, color=BLACK)
    roof = lathe([(0.12, 0.92), (0.12, 0.935), (0.045, 0.98), (0.02, 0.985), (0.02, 1.02)], 8, BLACK)
    return join(pole, arm, tray, lantern, around(bar, 4), roof)


@model("mailbox")
def mailbox() -> list[Solid]:
    """Red rounded box on a short grey post."""
    red, door, grey, flag = (222, 24, 28), (168, 12, 18), (128, 132, 138), (235, 235, 232)
    top = arc(0.20, 0.0, 180.0, 9) + np.array([0.0, 0.20])
    outline = np.concatenate([[(-0.20, 0.0), (0.20, 0.0)], top])
    shell = extrude(outline, 0.60, red).move(z=0.38)
    ends = extrude((outline - [0.0, 0.18]) * 0.86 + [0.0, 0.18], 0.64, door).move(z=0.38)
    knob = box(0.10, 0.70, 0.05, flag).move(z=0.66)
    post = join(box(0.11, 0.11, 0.40, grey), box(0.30, 0.30, 0.04, grey), box(0.24, 0.42, 0.03, grey).move(z=0.36))
    signal = join(
        box(0.04, 0.04, 0.26, flag).move(0.22, 0.05, 0.56),
        box(0.04, 0.15, 0.10, flag).move(0.22, -0.01, 0.74),
    )
    return join(shell, ends, knob, post, signal)


@model("fire hydrant")
def fire_hydrant() -> list[Solid]:
    """Red stubby cylinder with side caps and a dome top."""
    profile = [
        (0.27, 0.0), (0.27, 0.07), (0.18, 0.08), (0.17, 0.52), (0.245, 0.53), (0.245, 0.60), (0.19, 0.61),
        (0.175, 0.69), (0.125, 0.77), (0.055, 0.81), (0.05, 0.88), (0.0, 0.89),
    ]  # fmt: skip
    body = lathe(profile, sides=16, color=RED)
    body = body.paint(DARK_RED, lambda c, n: (c[:, 2] < 0.08) | ((c[:, 2] > 0.52) & (c[:, 2] < 0.61)))
    body = body.paint(DARK_RED, lambda c, n: c[:, 2] > 0.81)
    side = [part.turn("y", 90.0) for part in _outlet(0.115, 0.32)]
    front = [part.turn("x", 90.0) for part in _outlet(0.13, 0.30)]
    outlets = join(side, [part.turn("z", 180.0) for part in side], front)
    return join(body, [part.move(z=0.36) for part in outlets])


def _outlet(radius: float, reach: float) -> list[Solid]:
    """A hydrant's outlet along z: neck, wider cap, and the nut that turns it."""
    neck = cylinder(radius * 0.8, reach - 0.08, sides=10, color=RED)
    cap = cylinder(radius, 0.07, sides=10, color=DARK_RED).move(z=reach - 0.09)
    nut = cylinder(radius * 0.42, 0.08, sides=6, color=RED).move(z=reach - 0.03)
    return [neck, cap, nut]


@model("park bench")
def park_bench() -> list[Solid]:
    """Brown slatted seat and back on dark iron legs."""
    browns: tuple[Color, ...] = ((164, 98, 46), (142, 82, 36))
    seat = [box(1.50, 0.105, 0.05, browns[i % 2]).move(y=-0.26 + 0.145 * i, z=0.42) for i in range(4)]
    back = [
        box(1.50, 0.05, 0.12, browns[i % 2]).move(z=0.12 + 0.165 * i).turn("x", -12.0).move(y=0.25, z=0.42)
        for i in range(3)
    ]
    end = join(
        sweep([(0, -0.30, 0), (0, -0.25, 0.42), (0, -0.27, 0.63)], 0.042, sides=4, color=IRON),
        sweep([(0, 0.36, 0), (0, 0.24, 0.40), (0, 0.37, 0.98)], 0.042, sides=4, color=IRON),
        box(0.065, 0.60, 0.05, IRON).move(y=-0.01, z=0.37),
        box(0.085, 0.60, 0.05, IRON).move(y=-0.03, z=0.62),
    )
    return join(seat, back, [s for part in end for s in row(part, [(-0.66, 0, 0), (0.66, 0, 0)])])


@model("trash can")
def trash_can() -> list[Solid]:
    """Dark grey ribbed bin with a lid."""
    dark, light, lid_grey = (50, 53, 57), (88, 92, 97), (72, 76, 81)
    sides = 40  # ten ribs: two corners out, two corners in

    def groove(p: NDArray[np.float64]) -> NDArray[np.float64]:
        corner = np.round(np.arctan2(p[:, 1], p[:, 0]) * sides / (2 * np.pi)).astype(np.int64)
        depth = np.where(corner // 2 % 2 == 0, 1.0, 0.90)
        return np.column_stack([p[:, 0] * depth, p[:, 1] * depth, p[:, 2]])

    body = lathe([(0.25, 0.0), (0.31, 0.72)], sides, dark, crease_deg=15.0).bend(groove)
    body = body.paint(light, lambda c, n: np.hypot(c[:, 0], c[:, 1]) > 0.24 + 0.08 * c[:, 2])
    foot = lathe([(0.265, 0.0), (0.27, 0.05)], sides=16, color=dark)
    collar = lathe([(0.315, 0.66), (0.32, 0.71)], sides=16, color=dark)
    lid = lathe([(0.345, 0.70), (0.35, 0.77), (0.27, 0.83), (0.12, 0.87)], sides=16, color=lid_grey)
    lid = lid.paint(light, lambda c, n: c[:, 2] < 0.77)
    knob = torus(0.085, 0.028, sides=10, tube_sides=5, color=dark).turn("x", 90.0).move(z=0.88)
    grip = sweep([(0.27, -0.1, 0.5), (0.37, -0.07, 0.52), (0.37, 0.07, 0.52), (0.27, 0.1, 0.5)], 0.022, 5, dark)
    return join(body, foot, collar, lid, knob, around(grip, 2))
