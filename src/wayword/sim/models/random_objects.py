"""Unlimited random objects for augmented-reality training and for tests.

    mesh = random_object(seed=7)            # longest edge 1, base at z = 0
    pool = random_objects(seed=7, count=50)

An object is one of a dozen compositions (a stack, a body on legs, a jug with a handle, ...) of one to
five kinds of parts, then painted: three in ten in one flat colour, the others with a material per part,
either as a colour for each face or as one texture. The same seed gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.sim.models.corners import mesh_of_corners
from wayword.sim.models.mesh import Mesh, Solid, finish, smooth_normals
from wayword.sim.models.primitives import arc, cylinder, sweep, torus
from wayword.sim.models.procedural_textures import FAMILIES, palette, procedural_texture
from wayword.sim.models.random_shapes import SHAPES, Extent, Part, fitted, random_part

FLAT_SHARE, FACES_SHARE = 0.3, 0.25
"""Shares of objects in one flat colour, and with a colour per face; the rest have a texture."""
MAX_RATIO = 4.8
"""Longest over shortest edge of the bounding box."""
ANY = tuple(SHAPES)
BODIES = ("box", "cylinder", "superquadric", "lathe", "ball", "blob", "extrusion", "dome")
TOPPED = ("box", "cylinder", "superquadric", "lathe")
"""Shapes on which something can stand."""
VESSELS = ("cylinder", "lathe", "bowl", "superquadric", "cone")
HEADS = ("ball", "box", "blob", "cone", "dome", "extrusion", "superquadric", "torus", "lathe")

Rng: TypeAlias = np.random.Generator


def random_object(seed: int) -> Mesh:
    """One object: longest edge 1, base at z = 0, at most 1,000 faces; the same bytes for the same seed."""
    if seed < 0:
        raise WaywordError(f"a seed must not be negative, but it is {seed}")
    rng = np.random.default_rng(seed)
    compose = COMPOSITIONS[int(rng.choice(len(COMPOSITIONS), p=_WEIGHTS))]
    parts = _well_proportioned(compose(rng))
    used = sorted({part.material for part in parts})
    parts = [replace(part, material=used.index(part.material)) for part in parts]
    style = rng.random()
    if style < FLAT_SHARE:
        color = palette(rng, 1)[0]
        return finish([part.solid.paint(color) for part in parts], longest_edge=1.0)
    cells = [_material(rng) for _ in used]
    if style < FLAT_SHARE + FACES_SHARE:
        return finish([_face_painted(part, cells[part.material]) for part in parts], longest_edge=1.0)
    return _textured(parts, cells)


def random_objects(seed: int, count: int) -> dict[str, Mesh]:
    """``count`` objects named "random object 0", ...; a larger count continues a smaller one."""
    if count < 0 or seed < 0:
        raise WaywordError(f"seed and count must not be negative, but they are {seed} and {count}")
    states = (np.random.SeedSequence((seed, i)).generate_state(1, np.uint64) for i in range(count))
    return {f"random object {i}": random_object(int(state[0])) for i, state in enumerate(states)}


def _dimensions(rng: Rng, spread: float = 2.2) -> Extent:
    """Width, depth and height; in six of ten cases as deep as wide."""
    x, y, z = np.exp(rng.uniform(-math.log(spread), 0.0, 3))
    return float(x), float(x if rng.random() < 0.6 else y), float(z)


def _single(rng: Rng) -> list[Part]:
    return [random_part(rng, ANY, _dimensions(rng, 3.2), fine=True)]


def _stack(rng: Rng) -> list[Part]:
    count = int(rng.integers(2, 5))
    x, y, z = _dimensions(rng, 1.7)
    z *= 2 / count  # more storeys, lower ones
    parts, height = [], 0.0
    for i in range(count):
        kinds = HEADS if i == count - 1 else TOPPED
        parts.append(random_part(rng, kinds, (x, y, z), material=i, fine=count < 4).move(z=height))
        height += z * 0.96
        x, y = x * rng.uniform(0.65, 1.0), y * rng.uniform(0.65, 1.0)
        z *= rng.uniform(0.5, 1.1)
    return parts


def _beside(rng: Rng) -> list[Part]:
    body = random_part(rng, BODIES, _dimensions(rng, 1.8), fine=True)
    x, y, z = body.size
    parts = [body]
    for i, side in enumerate((1, -1)[: int(rng.integers(1, 3))]):
        size = (x * rng.uniform(0.4, 0.8), y * rng.uniform(0.5, 1.0), z * rng.uniform(0.3, 1.1))
        other = random_part(rng, BODIES, size, material=1 + i)
        inside = body.reach(min(size[2], z) * 0.3)
        parts.append(other.move(side * (inside + size[0] * 0.35), rng.uniform(-0.2, 0.2) * y))
    return parts


def _pair(rng: Rng) -> list[Part]:
    """Ears, arms, wings, fins: a body with mirrored copies left and right, sometimes a head."""
    headed = rng.random() < 0.4
    body = random_part(rng, TOPPED if headed else BODIES, _dimensions(rng, 1.8), fine=True)
    x, y, z = body.size
    size = (x * rng.uniform(0.3, 0.6), y * rng.uniform(0.25, 0.6), z * rng.uniform(0.3, 0.8))
    limb = random_part(rng, ("box", "ball", "cone", "superquadric", "cylinder", "dome"), size, material=1)
    limb = limb.turn("y", rng.uniform(-30, 30)).grounded()
    wide, _, tall = limb.size
    base = rng.uniform(0.0, max(z - tall, 0.1 * z))
    limb = limb.move(body.reach(base + tall / 2) + wide * 0.2, 0.0, base)
    parts = [body, limb, limb.mirror()]
    if headed:
        parts.append(random_part(rng, HEADS, (x * 0.6, y * 0.6, z * 0.5), material=2).move(z=z * 0.94))
    return parts


def _around(rng: Rng) -> list[Part]:
    """Copies evenly about a middle: petals, teeth, towers."""
    wide, z = rng.uniform(0.5, 1.0), rng.uniform(0.4, 1.2)
    body = random_part(rng, (*TOPPED, "ball", "dome", "cone"), (wide, wide, z))
    count = int(rng.integers(3, 7))
    size = (wide * rng.uniform(0.3, 0.5), wide * rng.uniform(0.25, 0.5), z * rng.uniform(0.4, 1.2))
    copy = random_part(rng, ("box", "cone", "cylinder", "ball", "dome"), size, material=1)
    base = rng.uniform(0, 0.3) * z
    copy = copy.move(body.reach(min(base + size[2] * 0.4, z * 0.9)) + size[0] * 0.15, z=base)
    return [body, *(copy.turn("z", 360 * i / count) for i in range(count))]


def _legs(rng: Rng) -> list[Part]:
    """Tables, stools, animals: a body on three or four legs, sometimes with a back or a head."""
    x, y, z = _dimensions(rng, 1.6)
    z *= rng.uniform(0.3, 1.0)
    body = random_part(rng, ("box", "cylinder", "superquadric", "ball", "blob"), (x, y, z), fine=True)
    height, thick = rng.uniform(0.35, 0.9) * max(x, y), rng.uniform(0.14, 0.22) * max(x, y)
    leg = random_part(rng, ("box", "cylinder", "cone"), (thick, thick, height + 0.5 * z), material=1)
    out = 0.58 * body.reach(0.5 * z)
    if rng.random() < 0.7:
        spots = [(sx * out, sy * out * y / x) for sx in (-1, 1) for sy in (-1, 1)]
    else:
        spots = [(out * math.cos(a), out * y / x * math.sin(a)) for a in (0.5, 2.6, 4.7)]
    parts = [body.move(z=height), *(leg.move(*spot) for spot in spots)]
    if rng.random() < 0.5:
        width = x * rng.uniform(0.3, 1.0)
        top = random_part(
            rng, ("box", "superquadric", "ball", "extrusion"), (width, y * 0.25, z + 0.6 * height), material=2
        )
        parts.append(top.move(0.0, y * rng.choice([-0.35, 0.0, 0.35]), height + 0.5 * z))
    return parts


def _handle(rng: Rng) -> list[Part]:
    """Jugs, cups, bags: a vessel with one or two handles, sometimes a lid."""
    wide, z = rng.uniform(0.6, 1.0), rng.uniform(0.5, 1.2)
    body = random_part(rng, VESSELS, (wide, wide, z), fine=True)
    across, along = arc(1.0, -90, 90, 9).T
    thick, lidded = rng.uniform(0.05, 0.07) * (wide + z), rng.random() < 0.4
    if rng.random() < 0.3 and not lidded:  # over the top, as on a basket
        foot = body.reach(z * 0.9) - 0.5 * thick
        path = np.column_stack([along * foot, 0 * along, z * 0.88 + across * z * rng.uniform(0.35, 0.8)])
        bows = [_tube(path, thick)]
    else:
        middle, rise = rng.uniform(0.45, 0.55) * z, rng.uniform(0.26, 0.36) * z
        low, high = body.reach(middle - rise) - thick, body.reach(middle + rise) - thick
        start = (low + high) / 2 + along * (high - low) / 2  # from the body's side to the body's side
        out = max(low, high) - start + wide * rng.uniform(0.3, 0.42)
        bow = _tube(np.column_stack([start + across * out, 0 * along, middle + along * rise]), thick)
        bows = [bow] if rng.random() < 0.6 else [bow, bow.mirror()]
    if not lidded:
        return [body, *bows]
    top = 2 * body.reach(z * 0.98) * 0.95
    lid = random_part(rng, ("dome", "cone", "cylinder"), (top, top, z * 0.25), material=2)
    return [body, *bows, lid.move(z=z * 0.97)]


def _tube(path: NDArray[np.float64], radius: float) -> Part:
    """A bent tube that stays where its path is."""
    solid = sweep(path, radius, 6)
    low, high = solid.positions.min(axis=0), solid.positions.max(axis=0)
    x, y, z = (float(edge) for edge in high - low)
    return fitted(solid, (x, y, z), False, material=1).move((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2])


def _post(rng: Rng) -> list[Part]:
    """Trees, lamps, signs: a foot, a pole and a head, or several heads above each other."""
    height, thick = rng.uniform(0.5, 1.2), rng.uniform(0.14, 0.24)
    pole = random_part(rng, ("cylinder", "box", "lathe"), (thick, thick, height), material=1)
    x, y, z = _dimensions(rng, 1.7)
    parts, base = [pole], height * 0.85
    kind = str(rng.choice(HEADS))
    for i in range(int(rng.choice([1, 1, 2, 3]))):
        shrink = 0.8**i
        parts.append(random_part(rng, (kind,), (x * shrink, y * shrink, z * shrink), fine=i == 0).move(z=base))
        base += z * shrink * 0.6
    if rng.random() < 0.6:
        wide = max(0.5 * x, 2.5 * thick)
        parts.append(random_part(rng, ("box", "cylinder", "dome", "cone"), (wide, wide, 0.15), material=2))
    return parts


def _wheels(rng: Rng) -> list[Part]:
    """Carts and cars: a body on four wheels, mostly with a cabin or load."""
    loaded = rng.random() < 0.8
    x, y, z = rng.uniform(0.8, 1.2), rng.uniform(0.4, 0.7), rng.uniform(0.25, 0.5)
    radius = rng.uniform(0.14, 0.24)
    body = random_part(rng, ("box", "superquadric") if loaded else ("extrusion", "bowl", "dome"), (x, y, z), fine=True)
    disc = fitted(cylinder(0.5, 1.0, 12), (2 * radius, 2 * radius, 0.14), True, material=1)
    wheel = disc.turn("x", 90).grounded()
    parts = [
        body.move(z=radius),
        *(wheel.move(sx * x * 0.3, sy * y * 0.5) for sx in (-1, 1) for sy in (-1, 1)),
    ]
    if loaded:
        size = (x * rng.uniform(0.3, 0.7), y * rng.uniform(0.6, 1.0), z * rng.uniform(0.5, 1.2))
        load = random_part(rng, ("box", "superquadric", "blob", "dome", "cylinder"), size, material=2)
        parts.append(load.move(rng.uniform(-0.2, 0.2) * x, 0, radius + z * 0.9))
    return parts


def _cluster(rng: Rng) -> list[Part]:
    """Three to five lumps grown into each other: bushes, stones, heaps."""
    kind = (str(rng.choice(["ball", "blob", "box", "superquadric", "dome", "cone"])),)
    parts = []
    for i in range(int(rng.integers(3, 6))):
        size = _dimensions(rng, 1.6)
        part = random_part(rng, kind, size, material=i % 2).turn("z", rng.uniform(0, 360))
        x, y = rng.uniform(-0.45, 0.45, 2)
        lifted = rng.random() < 0.3 and i > 0  # upon the others, hence near the middle
        parts.append(part.move(x * 0.4, y * 0.4, 0.3) if lifted else part.move(x, y))
    return parts


def _hooped(rng: Rng) -> list[Part]:
    """A turned body with rings around it."""
    x, z = rng.uniform(0.5, 1.0), rng.uniform(0.6, 1.2)
    body = random_part(rng, ("cylinder", "lathe", "superquadric"), (x, x, z), fine=True)
    parts, count = [body], int(rng.integers(1, 4))
    for i in range(count):
        height = z * (i + 1) / (count + 1)
        wide = 2 * body.reach(height) + 0.1
        parts.append(fitted(torus(1.0, 0.12, 18, 5), (wide, wide, 0.12), True, material=1).move(z=height - 0.06))
    return parts


COMPOSITIONS: tuple[Callable[[Rng], list[Part]], ...] = (
    _single, _stack, _beside, _pair, _around, _legs, _handle, _post, _wheels, _cluster, _hooped
)  # fmt: skip
_WEIGHTS = np.array([20, 14, 8, 9, 8, 10, 10, 9, 5, 5, 4]) / 102


def _well_proportioned(parts: list[Part]) -> list[Part]:
    """Thicken an object that is too flat or too slender to be seen from every side."""
    corners = np.concatenate([part.solid.positions for part in parts])
    extent = np.ptp(corners, axis=0)
    x, y, z = np.maximum(1.0, extent.max() / MAX_RATIO / extent)
    return [replace(part, solid=part.solid.scale(x, y, z)) for part in parts]


def _material(rng: Rng) -> NDArray[np.uint8]:
    family = str(rng.choice(list(FAMILIES)))
    return procedural_texture(rng, family, palette(rng, int(rng.integers(2, 5))))


def _face_painted(part: Part, image: NDArray[np.uint8]) -> Solid:
    """Give each face the texture's colour at its middle."""
    # The middle of the bounds, not the centroid: both triangles of a quad get the same colour.
    middle = (part.uv.min(axis=1) + part.uv.max(axis=1)) / 2
    column, row = (np.floor(middle * len(image)).astype(int) % len(image)).T
    return replace(part.solid, colors=image[row, column])


def _textured(parts: list[Part], cells: list[NDArray[np.uint8]]) -> Mesh:
    """One texture for all materials: the whole image for one, a quarter each for two to four."""
    texture = cells[0]
    if len(cells) > 1:
        quarters = [cell[::2, ::2] for cell in (cells * 4)[:4]]
        texture = np.concatenate([np.concatenate(quarters[:2], axis=1), np.concatenate(quarters[2:], axis=1)])
    positions, faces, normals, uvs, start = [], [], [], [], 0
    for part in parts:
        solid = part.solid
        keep = np.linalg.norm(solid.face_normals(), axis=1) > 0
        uv = part.uv[keep]
        if len(cells) > 1:  # stay half a texel of the next mip level inside the quarter
            corner = np.array([part.material % 2, part.material // 2])
            uv = (corner + np.clip(uv, 0.02, 0.98)) / 2
        positions.append(solid.positions)
        faces.append(solid.faces[keep] + start)
        normals.append(smooth_normals(solid.positions, solid.faces[keep], solid.crease_deg))
        uvs.append(uv)
        start += len(solid.positions)
    points = np.concatenate(positions)
    low, high = points.min(axis=0), points.max(axis=0)
    points = (points - [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]]) / (high - low).max()
    return mesh_of_corners(
        points, np.concatenate(faces), np.concatenate(normals), uv=np.concatenate(uvs), texture=texture
    )
