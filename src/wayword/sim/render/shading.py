"""Shading: the colour and depth of each pixel, once visibility is known (numba kernels).

Objects: the ray through the pixel meets the visible triangle again, which gives perspective-correct
texture coordinates, normals and depth at once, clipped triangles included. Background: the ground plane
and the four walls of the surround are met analytically, so they need no triangles.

Shorthand (see ``rasteriser`` for the buffers)
    ray   (dx, dy, 1) in camera coordinates, so a hit at parameter t has depth t
    light (9,) direction to the light x, y, z; ambient; diffuse; tint r, g, b; shadow strength
    place (9,) arena side, wall low, wall high, wall height, tile size, shadow origin, shadow texel,
          stripe length and half width of the boundary line (m)
    paint (2, 3) the two colours of the boundary stripes
    eye   (3,) camera position; axes (9,) its right, down and forward directions in the world
Inside the pixel loops eye, axes, light and place are tuples: the compiler keeps those in registers, whereas it must
read an array again after every pixel it writes.
"""

from __future__ import annotations

import math

import numpy as np

from wayword.sim.render.kernels import inlined, kernel
from wayword.sim.render.rasteriser import visibility

TILE = 256
"""Side of a ground texture in texels."""
TILE_LEVELS = 7
WALL_WIDTH, WALL_HEIGHT, WALL_LEVELS = 1024, 128, 5
"""The surround is one band around the four walls."""
_HALF = np.float32(0.5)
_ONE = np.float32(1.0)


@inlined
def sample(texels, offset, levels, log_width, log_height, lod_area, u, v):
    """Bilinear lookup in a mip pyramid at u, v in [0, 1), wrapping; ``lod_area`` = base texels per pixel.

    Sides are powers of two, so that wrapping is a bit mask: integer division would double the cost of a frame.
    """
    # The level is half the binary exponent, read off the float's bits: steps at 2, 8, 32, ... texels per pixel.
    level = min(max(((np.float32(lod_area).view(np.int32) >> 23) - 126) >> 1, 0), levels - 1)
    texel_count = 1 << (log_width + log_height)
    offset += 4 * (texel_count - (texel_count >> (2 * level)))  # 3 bytes times the texels of all larger levels
    log_width -= level
    log_height -= level
    width, height = np.int32(1) << np.int32(log_width), np.int32(1) << np.int32(log_height)
    x, y = (
        u * np.float32(width) + _HALF,
        v * np.float32(height) + _HALF,
    )  # half a texel back, one forward: positive
    x1, y1 = np.int32(x), np.int32(y)
    fx, fy = x - np.float32(x1), y - np.float32(y1)
    x0, y0 = (x1 - 1) & (width - 1), (y1 - 1) & (height - 1)
    x1, y1 = x1 & (width - 1), y1 & (height - 1)
    a, b = offset + (y0 * width + x0) * 3, offset + (y0 * width + x1) * 3
    c, d = offset + (y1 * width + x0) * 3, offset + (y1 * width + x1) * 3
    wd = fx * fy
    wb, wc = fx - wd, fy - wd
    wa = _ONE - fx - wc
    f32 = np.float32
    return (
        wa * f32(texels[a]) + wb * f32(texels[b]) + wc * f32(texels[c]) + wd * f32(texels[d]),
        wa * f32(texels[a + 1]) + wb * f32(texels[b + 1]) + wc * f32(texels[c + 1]) + wd * f32(texels[d + 1]),
        wa * f32(texels[a + 2]) + wb * f32(texels[b + 2]) + wc * f32(texels[c + 2]) + wd * f32(texels[d + 2]),
    )


@inlined
def shade_object(bank, o, f, start, points, dx, dy, focal):
    """Where the ray meets face ``f`` of object ``o``.

    Returns the depth, the unlit colour, the three vertices and the barycentric weights of the point.
    """
    f0, v0 = bank.span[o, 2], bank.span[o, 0]
    ia, ib, ic = bank.faces[f0 + f, 0], bank.faces[f0 + f, 1], bank.faces[f0 + f, 2]
    ax, ay, az = points[start + ia, 0], points[start + ia, 1], points[start + ia, 2]
    e1x, e1y, e1z = points[start + ib, 0] - ax, points[start + ib, 1] - ay, points[start + ib, 2] - az
    e2x, e2y, e2z = points[start + ic, 0] - ax, points[start + ic, 1] - ay, points[start + ic, 2] - az
    # Moeller-Trumbore with the ray from the origin.
    px, py, pz = dy * e2z - e2y, e2x - dx * e2z, dx * e2y - dy * e2x
    det = e1x * px + e1y * py + e1z * pz
    u, v = np.float32(1.0 / 3.0), np.float32(1.0 / 3.0)
    if det != 0.0:
        inv = _ONE / det
        qx, qy, qz = -ay * e1z + az * e1y, -az * e1x + ax * e1z, -ax * e1y + ay * e1x
        u = -(ax * px + ay * py + az * pz) * inv
        v = (dx * qx + dy * qy + qz) * inv
    # A pixel on the rim may miss the triangle by a fraction of a sample: stay on it.
    u, v = min(max(u, np.float32(0.0)), _ONE), min(max(v, np.float32(0.0)), _ONE)
    if u + v > _ONE:
        total = u + v
        u, v = u / total, v / total
    w = _ONE - u - v
    a, b, c = v0 + ia, v0 + ib, v0 + ic
    depth = az + u * e1z + v * e2z
    if bank.texture[o] >= 0:
        u1, v1 = bank.uv[b, 0] - bank.uv[a, 0], bank.uv[b, 1] - bank.uv[a, 1]
        u2, v2 = bank.uv[c, 0] - bank.uv[a, 0], bank.uv[c, 1] - bank.uv[a, 1]
        nx, ny, nz = e1y * e2z - e1z * e2y, e1z * e2x - e1x * e2z, e1x * e2y - e1y * e2x
        # Texels per pixel: texture area over image area of the triangle, foreshortening included.
        facing = max(abs(nx * dx + ny * dy + nz), np.float32(1e-9)) * focal * focal
        texels = abs(u1 * v2 - u2 * v1) * np.float32(128 * 128) * depth * depth / facing
        tu = w * bank.uv[a, 0] + u * bank.uv[b, 0] + v * bank.uv[c, 0]
        tv = w * bank.uv[a, 1] + u * bank.uv[b, 1] + v * bank.uv[c, 1]
        tu, tv = tu - np.float32(math.floor(tu)), tv - np.float32(math.floor(tv))
        red, green, blue = sample(bank.texels, bank.texture[o], 8, 7, 7, texels, tu, tv)
    else:
        red = w * bank.colors[a, 0] + u * bank.colors[b, 0] + v * bank.colors[c, 0]
        green = w * bank.colors[a, 1] + u * bank.colors[b, 1] + v * bank.colors[c, 1]
        blue = w * bank.colors[a, 2] + u * bank.colors[b, 2] + v * bank.colors[c, 2]
    return depth, red, green, blue, a, b, c, w, u, v


@inlined
def illuminate(bank, a, b, c, w, u, v, transforms, k, depth, dx, dy, eye, axes, two_sided, light):
    """The light that reaches a point: a factor for its colour, and a small highlight to add."""
    lx = w * bank.normals[a, 0] + u * bank.normals[b, 0] + v * bank.normals[c, 0]
    ly = w * bank.normals[a, 1] + u * bank.normals[b, 1] + v * bank.normals[c, 1]
    lz = w * bank.normals[a, 2] + u * bank.normals[b, 2] + v * bank.normals[c, 2]
    nx = transforms[k, 0, 0] * lx + transforms[k, 0, 1] * ly + transforms[k, 0, 2] * lz
    ny = transforms[k, 1, 0] * lx + transforms[k, 1, 1] * ly + transforms[k, 1, 2] * lz
    nz = transforms[k, 2, 0] * lx + transforms[k, 2, 1] * ly + transforms[k, 2, 2] * lz
    norm = _ONE / math.sqrt(nx * nx + ny * ny + nz * nz + np.float32(1e-12))
    rx = axes[0] * dx + axes[3] * dy + axes[6]
    ry = axes[1] * dx + axes[4] * dy + axes[7]
    rz = axes[2] * dx + axes[5] * dy + axes[8]
    if two_sided and nx * rx + ny * ry + nz * rz > 0.0:
        norm = -norm
    nx, ny, nz = nx * norm, ny * norm, nz * norm
    diffuse = max(nx * light[0] + ny * light[1] + nz * light[2], np.float32(0.0))
    # Surfaces facing up see more sky; those near the ground see less of anything.
    height = max(eye[2] + depth * rz, np.float32(0.0))
    sky = np.float32(0.8) + np.float32(0.2) * nz
    contact = np.float32(0.65) + np.float32(0.35) * min(height / np.float32(0.12), _ONE)
    bright = light[3] * sky * contact + light[4] * diffuse
    # Blinn-Phong with exponent 32.
    length = _ONE / math.sqrt(rx * rx + ry * ry + rz * rz)
    hx, hy, hz = light[0] - rx * length, light[1] - ry * length, light[2] - rz * length
    half = (nx * hx + ny * hy + nz * hz) / math.sqrt(hx * hx + hy * hy + hz * hz + np.float32(1e-12))
    shine = max(half, np.float32(0.0)) * (_ONE if diffuse > 0.0 else np.float32(0.0))
    for _ in range(5):
        shine *= shine
    return bright, np.float32(45.0) * light[4] * shine


@inlined
def shade_background(dx, dy, focal, eye, axes, tiles, ground, wall_texels, wall, place, paint, shadow, light):
    """Depth and lit colour of the ground or the surround along a ray."""
    rx = axes[0] * dx + axes[3] * dy + axes[6]
    ry = axes[1] * dx + axes[4] * dy + axes[7]
    rz = axes[2] * dx + axes[5] * dy + axes[8]
    low, high = place[1], place[2]
    t = -eye[2] / rz if rz < np.float32(-1e-6) else np.float32(1e6)
    gx, gy = eye[0] + t * rx, eye[1] + t * ry
    if (
        rz < 0 and gx > low and gx < high and gy > low and gy < high
    ):  # the room is convex: no wall stands before this point
        area = t * t * t / (focal * focal * eye[2])  # ground area under one pixel
        side = place[0]
        inside = min(min(gx, gy), min(side - gx, side - gy))
        # Positive numbers, so that truncation rounds down: floor() costs more than the rest of the lookup.
        u, v = (gx - low) / place[4], (gy - low) / place[4]
        texels = area * np.float32(TILE * TILE) / (place[4] * place[4])
        which = ground[0] if inside > 0 else ground[1]
        u, v = u - np.float32(np.int32(u)), v - np.float32(np.int32(v))
        red, green, blue = sample(tiles, which, TILE_LEVELS, 8, 8, texels, u, v)
        if abs(inside) < place[8] + np.float32(2.0) * t * t / (focal * eye[2]):
            # Box filter of the line over the pixel's extent across it, so that it thins out but never breaks up.
            h = 0 if min(gx, side - gx) < min(gy, side - gy) else 1
            rh = rx if h == 0 else ry
            right, down = (axes[0], axes[3]) if h == 0 else (axes[1], axes[4])
            wide = abs(right - rh * axes[2] / rz) + abs(down - rh * axes[5] / rz)
            wide = max(wide * t / focal, np.float32(1e-6))
            edge = max(abs(inside) - wide * _HALF, -place[8]), min(abs(inside) + wide * _HALF, place[8])
            blend = (edge[1] - edge[0]) / wide
            if blend > 0:
                along = gy if h == 0 else gx
                stripe = np.int32((along - low) / place[7]) & 1
                red += (paint[stripe, 0] - red) * blend
                green += (paint[stripe, 1] - green) * blend
                blue += (paint[stripe, 2] - blue) * blend
        size = np.float32(shadow.shape[0] - 1)
        sx, sy = (gx - place[5]) / place[6] - _HALF, (gy - place[5]) / place[6] - _HALF
        dark = np.float32(0.0)
        if sx > 0 and sy > 0 and sx < size and sy < size:
            x0, y0 = np.int32(sx), np.int32(sy)
            fx, fy = sx - np.float32(x0), sy - np.float32(y0)
            a, b = np.float32(shadow[y0, x0]), np.float32(shadow[y0, x0 + 1])
            c, d = np.float32(shadow[y0 + 1, x0]), np.float32(shadow[y0 + 1, x0 + 1])
            dark = ((a + (b - a) * fx) * (_ONE - fy) + (c + (d - c) * fx) * fy) * light[8] * np.float32(1.0 / 255.0)
        bright = light[3] * (_ONE - np.float32(0.35) * dark) + light[4] * light[2] * (_ONE - dark)
    else:
        far = np.float32(1e6)
        tx = ((high if rx > 0 else low) - eye[0]) / rx if abs(rx) > np.float32(1e-6) else far
        ty = ((high if ry > 0 else low) - eye[1]) / ry if abs(ry) > np.float32(1e-6) else far
        t = min(tx, ty)
        wx, wy, wz = eye[0] + t * rx, eye[1] + t * ry, eye[2] + t * rz
        span = high - low
        if tx <= ty:
            u = (wy - low) / span if rx > 0 else np.float32(2.0) + (high - wy) / span
        else:
            u = _ONE + (high - wx) / span if ry > 0 else np.float32(3.0) + (wx - low) / span
        texel = np.float32(4.0) * span / np.float32(WALL_WIDTH)
        texels = t * t / (focal * focal * texel * texel)
        # Stay half a texel of the mip level inside: the lookup wraps, and would mix the sky with the floor.
        coarse = min(max(math.sqrt(texels + texels), _ONE), np.float32(1 << (WALL_LEVELS - 1)))
        rim = coarse * np.float32(0.5 / WALL_HEIGHT)
        v = min(max(_ONE - wz / place[3], rim), _ONE - rim)
        u = min(max(u * np.float32(0.25), np.float32(0.0)), np.float32(0.999999))
        red, green, blue = sample(wall_texels, wall, WALL_LEVELS, 10, 7, texels, u, v)
        bright = light[3] + light[4] * _HALF
    return t, red * bright * light[5], green * bright * light[6], blue * bright * light[7]


@inlined
def shade(k, f, dx, dy, bank, objects, transforms, base, points, focal, eye, axes,
          tiles, ground, wall_texels, wall, place, paint, shadow, light):  # fmt: skip
    """Depth and lit colour of what ``owner`` = k, ``face`` = f shows along the ray (dx, dy, 1)."""
    if k == 0:
        return shade_background(dx, dy, focal, eye, axes, tiles, ground, wall_texels, wall, place, paint, shadow, light)
    o = objects[k - 1]
    depth, red, green, blue, a, b, c, wa, wb, wc = shade_object(bank, o, f, base[k - 1], points, dx, dy, focal)
    bright, shine = illuminate(bank, a, b, c, wa, wb, wc, transforms, k - 1, depth, dx, dy, eye, axes,
                               bank.two_sided[o], light)  # fmt: skip
    red, green, blue = red * bright + shine, green * bright + shine, blue * bright + shine
    return depth, red * light[5], green * light[6], blue * light[7]


@inlined
def level(value):
    """A brightness as a byte, rounded."""
    return np.uint8(min(max(value + _HALF, np.float32(0.0)), np.float32(255.49)))


@kernel
def draw(bank, objects, transforms, eye, axes, focal, cx, cy, near, samples, tiles, ground, wall_texels, wall,
         place, paint, shadow, light, points, screen, base, nearness, owner, face, work, rgb, ids, depth):  # fmt: skip
    """One frame: ``rgb`` (H, W, 3), ``ids`` (H, W), ``depth`` (H, W), from one scene and one camera.

    With ``samples`` = 2 each pixel has 2 x 2 visibility samples but is shaded only once per surface
    seen in it, so supersampling smooths edges at a fraction of four times the cost.
    """
    height, width = ids.shape
    s = np.float32(samples)
    visibility(bank, objects, transforms, eye, axes, focal * s, cx * s, cy * s, near,
               points, screen, base, nearness, owner, face, work)  # fmt: skip
    eye_ = (eye[0], eye[1], eye[2])
    axes_ = (axes[0, 0], axes[0, 1], axes[0, 2], axes[1, 0], axes[1, 1], axes[1, 2], axes[2, 0], axes[2, 1], axes[2, 2])
    place_ = (place[0], place[1], place[2], place[3], place[4], place[5], place[6], place[7], place[8])
    light_ = (light[0], light[1], light[2], light[3], light[4], light[5], light[6], light[7], light[8])
    inv_focal, zero = _ONE / focal, np.float32(0.0)
    for row in range(height):
        for column in range(width):
            y, x = row * samples, column * samples
            k, f = owner[y, x], face[y, x]
            plain = samples == 1 or (
                owner[y, x + 1] == k and owner[y + 1, x] == k and owner[y + 1, x + 1] == k
                and (k == 0 or (face[y, x + 1] == f and face[y + 1, x] == f and face[y + 1, x + 1] == f))
            )  # fmt: skip
            if plain:
                dx = (np.float32(column) + _HALF - cx) * inv_focal
                dy = (np.float32(row) + _HALF - cy) * inv_focal
                z, red, green, blue = shade(
                    k, f, dx, dy, bank, objects, transforms, base, points, focal, eye_, axes_,
                    tiles, ground, wall_texels, wall, place_, paint, shadow, light_,
                )  # fmt: skip
                depth[row, column], ids[row, column] = z, k
                pixel = rgb[row, column]
                pixel[0], pixel[1], pixel[2] = level(red), level(green), level(blue)
                continue
            total_r, total_g, total_b = zero, zero, zero
            done, best = 0, 0  # samples already accounted for, as bits; most samples of one object
            for first in range(4):
                if done & (1 << first):
                    continue
                k, f = owner[y + first // 2, x + first % 2], face[y + first // 2, x + first % 2]
                count, votes, mean_x, mean_y = 0, 0, zero, zero
                for other in range(first, 4):
                    yo, xo = y + other // 2, x + other % 2
                    votes += owner[yo, xo] == k
                    if owner[yo, xo] == k and (k == 0 or face[yo, xo] == f):
                        done |= 1 << other
                        count += 1
                        mean_x += np.float32(xo) + _HALF
                        mean_y += np.float32(yo) + _HALF
                weight = _HALF / np.float32(count)
                dx, dy = (mean_x * weight - cx) * inv_focal, (mean_y * weight - cy) * inv_focal
                z, red, green, blue = shade(
                    k, f, dx, dy, bank, objects, transforms, base, points, focal, eye_, axes_,
                    tiles, ground, wall_texels, wall, place_, paint, shadow, light_,
                )  # fmt: skip
                share = np.float32(count) * np.float32(0.25)
                total_r, total_g, total_b = total_r + red * share, total_g + green * share, total_b + blue * share
                if votes > best:  # the object that fills most of the pixel names it
                    best = votes
                    ids[row, column] = k
                    depth[row, column] = z
            pixel = rgb[row, column]
            pixel[0], pixel[1], pixel[2] = level(total_r), level(total_g), level(total_b)
