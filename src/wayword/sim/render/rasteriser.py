"""The rasteriser: which triangle is seen at which pixel (numba kernels, one core, no allocation).

Our own because it is several times faster than any renderer that installs from wheels alone; `wayword
bench sim` measures the ratio. Visibility and shading are separate: this module fills two buffers, and
``shading`` colours each pixel once.

Shorthand
    W, H  image size in pixels; S = 1 or 2 samples per pixel and axis
    nearness (H*S, W*S)  1 / depth of the nearest triangle, 0 where there is none
    owner    (H*S, W*S)  instance number + 1, 0 for background
    face     (H*S, W*S)  face index within the object
    camera coordinates: x right, y down, z forward; front faces are clockwise on the image (y down)
"""

from __future__ import annotations

import math

import numpy as np

from wayword.sim.render.kernels import inlined, kernel

WORK_SHAPE = (6, 4)
"""Small scratch space of the kernels: rows 0-2 a matrix, rows 3-5 the corners of a clipped triangle."""


@inlined
def fill_triangle(x0, y0, w0, x1, y1, w1, x2, y2, w2, cull, k, f, nearness, owner, face):
    """Draw one projected triangle; x, y in samples, w = 1 / depth. Edges are inclusive: no holes."""
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area == 0.0 or (cull and area > 0.0):
        return
    height, width = nearness.shape
    # A triangle that covers no sample centre, which most are at this resolution, ends here.
    left = max(0, math.ceil(min(x0, x1, x2) - np.float32(0.5)))
    right = min(width - 1, math.floor(max(x0, x1, x2) - np.float32(0.5)))
    if left > right:
        return
    top = max(0, math.ceil(min(y0, y1, y2) - np.float32(0.5)))
    bottom = min(height - 1, math.floor(max(y0, y1, y2) - np.float32(0.5)))
    if top > bottom:
        return
    # What is left is set up in double precision: a corner may be thousands of samples outside the image.
    ax, ay, bx, by = np.float64(x0) - x2, np.float64(y0) - y2, np.float64(x1) - x2, np.float64(y1) - y2
    exact = ax * by - bx * ay
    if exact == 0.0:
        return
    inv = 1.0 / exact
    px, py = left + 0.5 - x2, top + 0.5 - y2
    # Barycentric coordinates are affine in the pixel: value at the first sample and two slopes each.
    a0, a1 = (px * by - bx * py) * inv, (ax * py - px * ay) * inv
    d0x, d0y = np.float32(by * inv), -bx * inv
    d1x, d1y = np.float32(-ay * inv), ax * inv
    dwx = d0x * (w0 - w2) + d1x * (w1 - w2)
    # Edges move outwards by a thousandth of a sample, more than rounding can move them apart.
    wider = np.float32(1e-3)
    slack0 = -wider * (abs(d0x) + np.float32(abs(d0y)))
    slack1 = -wider * (abs(d1x) + np.float32(abs(d1y)))
    limit = np.float32(1.0) + wider * (abs(d0x + d1x) + np.float32(abs(d0y + d1y)))
    for row in range(top, bottom + 1):
        start0, start1 = np.float32(a0 + (row - top) * d0y), np.float32(a1 + (row - top) * d1y)
        start = w2 + start0 * (w0 - w2) + start1 * (w1 - w2)
        for column in range(left, right + 1):
            step = np.float32(column - left)
            b0, b1, w = start0 + step * d0x, start1 + step * d1x, start + step * dwx
            if b0 >= slack0 and b1 >= slack1 and b0 + b1 <= limit and w > nearness[row, column]:
                nearness[row, column] = w
                owner[row, column] = k + 1
                face[row, column] = f


@kernel
def fill_clipped(points, a, b, c, near, focal, cx, cy, cull, k, f, nearness, owner, face, work):
    """Cut a triangle at the near plane (Sutherland-Hodgman) and draw the one or two that remain."""
    corners = (a, b, c)
    xs, ys, ws = work[3], work[4], work[5]
    count = 0
    for i in range(3):
        p, q = corners[i], corners[(i + 1) % 3]
        zp, zq = points[p, 2], points[q, 2]
        if zp >= near:
            ws[count] = np.float32(1.0) / zp
            xs[count] = points[p, 0] * ws[count] * focal + cx
            ys[count] = points[p, 1] * ws[count] * focal + cy
            count += 1
        if (zp >= near) != (zq >= near):
            t = (near - zp) / (zq - zp)
            ws[count] = np.float32(1.0) / near
            xs[count] = (points[p, 0] + t * (points[q, 0] - points[p, 0])) * ws[count] * focal + cx
            ys[count] = (points[p, 1] + t * (points[q, 1] - points[p, 1])) * ws[count] * focal + cy
            count += 1
    for i in range(2, count):
        fill_triangle(xs[0], ys[0], ws[0], xs[i - 1], ys[i - 1], ws[i - 1], xs[i], ys[i], ws[i],
             cull, k, f, nearness, owner, face)  # fmt: skip


@kernel
def visibility(bank, objects, transforms, eye, axes, focal, cx, cy, near, points, screen, base,
               nearness, owner, face, work):  # fmt: skip
    """Project all instances and fill the buffers.

    ``transforms`` (K, 3, 4) take object to world coordinates. On return ``points`` holds the camera
    coordinates of all drawn vertices and ``base[k]`` where instance k starts in it (-1: culled).
    ``focal``, ``cx`` and ``cy`` are in samples (already multiplied by S).
    """
    nearness[:] = np.float32(0.0)
    owner[:] = 0
    height, width = nearness.shape
    # Side planes of the view pyramid, for discarding whole objects by their bounding sphere.
    right = max(cx, width - cx) / focal
    down = max(cy, height - cy) / focal
    right_norm = np.float32(1.0) / math.sqrt(np.float32(1.0) + right * right)
    down_norm = np.float32(1.0) / math.sqrt(np.float32(1.0) + down * down)
    m = work
    used = 0
    for k in range(len(objects)):
        o = objects[k]
        for i in range(3):
            for j in range(4):
                total = np.float32(0.0)
                for h in range(3):
                    shift = eye[h] if j == 3 else np.float32(0.0)
                    total += axes[i, h] * (transforms[k, h, j] - shift)
                m[i, j] = total
        scale = math.sqrt(m[0, 0] * m[0, 0] + m[1, 0] * m[1, 0] + m[2, 0] * m[2, 0])
        sx, sy, sz = bank.sphere[o, 0], bank.sphere[o, 1], bank.sphere[o, 2]
        radius = bank.sphere[o, 3] * scale
        x = m[0, 0] * sx + m[0, 1] * sy + m[0, 2] * sz + m[0, 3]
        y = m[1, 0] * sx + m[1, 1] * sy + m[1, 2] * sz + m[1, 3]
        z = m[2, 0] * sx + m[2, 1] * sy + m[2, 2] * sz + m[2, 3]
        outside = (abs(x) - right * z) * right_norm > radius or (abs(y) - down * z) * down_norm > radius
        if z + radius < near or outside:
            base[k] = -1
            continue
        base[k] = used
        v0, v1, f0, f1 = bank.span[o, 0], bank.span[o, 1], bank.span[o, 2], bank.span[o, 3]
        whole = z - radius > near
        for v in range(v0, v1):
            vx, vy, vz = bank.vertices[v, 0], bank.vertices[v, 1], bank.vertices[v, 2]
            p = used + v - v0
            x = m[0, 0] * vx + m[0, 1] * vy + m[0, 2] * vz + m[0, 3]
            y = m[1, 0] * vx + m[1, 1] * vy + m[1, 2] * vz + m[1, 3]
            z = m[2, 0] * vx + m[2, 1] * vy + m[2, 2] * vz + m[2, 3]
            points[p, 0], points[p, 1], points[p, 2] = x, y, z
            w = np.float32(1.0) / z
            screen[p, 0], screen[p, 1], screen[p, 2] = x * w * focal + cx, y * w * focal + cy, w
        cull = not bank.two_sided[o]
        for f in range(f0, f1):
            a, b, c = used + bank.faces[f, 0], used + bank.faces[f, 1], used + bank.faces[f, 2]
            if whole or (points[a, 2] >= near and points[b, 2] >= near and points[c, 2] >= near):
                fill_triangle(screen[a, 0], screen[a, 1], screen[a, 2], screen[b, 0], screen[b, 1], screen[b, 2],
                     screen[c, 0], screen[c, 1], screen[c, 2], cull, k, f - f0, nearness, owner, face)  # fmt: skip
            elif points[a, 2] >= near or points[b, 2] >= near or points[c, 2] >= near:
                fill_clipped(points, a, b, c, near, focal, cx, cy, cull, k, f - f0, nearness, owner, face, work)
        used += v1 - v0


@kernel
def cast_shadows(bank, objects, transforms, light, origin, texel, shadow, nearness, face, work):
    """Project all instances along the light onto the ground: ``shadow`` (T, T) becomes 0 or 255."""
    shadow[:] = 0
    size = shadow.shape[0]
    nearness[:] = np.float32(0.0)
    xs, ys = work[3], work[4]
    for k in range(len(objects)):
        o = objects[k]
        v0, f0, f1 = bank.span[o, 0], bank.span[o, 2], bank.span[o, 3]
        for f in range(f0, f1):
            for i in range(3):
                v = v0 + bank.faces[f, i]
                vx, vy, vz = bank.vertices[v, 0], bank.vertices[v, 1], bank.vertices[v, 2]
                x = transforms[k, 0, 0] * vx + transforms[k, 0, 1] * vy + transforms[k, 0, 2] * vz + transforms[k, 0, 3]
                y = transforms[k, 1, 0] * vx + transforms[k, 1, 1] * vy + transforms[k, 1, 2] * vz + transforms[k, 1, 3]
                z = transforms[k, 2, 0] * vx + transforms[k, 2, 1] * vy + transforms[k, 2, 2] * vz + transforms[k, 2, 3]
                xs[i] = (x - light[0] / light[2] * z - origin) / texel
                ys[i] = (y - light[1] / light[2] * z - origin) / texel
            one = np.float32(1.0)
            fill_triangle(xs[0], ys[0], one, xs[1], ys[1], one, xs[2], ys[2], one, False, 0, 0, nearness, shadow, face)
    for row in range(size):
        for column in range(size):
            shadow[row, column] = 255 if shadow[row, column] else 0
