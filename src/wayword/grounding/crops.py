"""Image regions: cutting I[b] out of a frame at a fixed size, and pasting masks M_b back into it.

    I       (N, H, W, 3)   uint8 frames
    b       (K, 4)         boxes x0, y0, x1, y1 in pixels; x1, y1 exclusive, so pixel (0, 0) covers 0..1 x 0..1
    which   (K,)           the frame each box lies in
    I[b]    (K, 3, h, w)   float32 crops, colour in [-1, 1]
    M_b     (K, 32, 32)    masks of crops, pasted to (K, H, W)

Crops are sampled bilinearly, and averaged over as many samples per output pixel as a large box needs, so
that nothing aliases. Beyond the frame the border pixel continues.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.compiled import compiled

CROP = 32
"""Pixels across a crop, as in the paper."""

FloatArray = NDArray[np.float32]


def expand(boxes: ArrayLike, margin: float) -> FloatArray:
    """Boxes with ``margin`` times their width and height added on each side."""
    b = np.asarray(boxes, dtype=np.float32).reshape(-1, 4)
    grow = (b[:, 2:] - b[:, :2]) * np.float32(margin)
    return np.concatenate([b[:, :2] - grow, b[:, 2:] + grow], axis=1)


def square(boxes: ArrayLike, margin: float) -> FloatArray:
    """Squares around the boxes' centres, as wide as the longer side plus ``margin`` of it on each side.

    A square keeps the proportions of what it shows, and those are part of what an object looks like.
    """
    b = np.asarray(boxes, dtype=np.float32).reshape(-1, 4)
    centre = (b[:, :2] + b[:, 2:]) / 2
    half = (b[:, 2:] - b[:, :2]).max(axis=1, keepdims=True) * np.float32(0.5 + margin)
    return np.concatenate([centre - half, centre + half], axis=1)


def crop_and_resize(
    images: NDArray[np.uint8], which: ArrayLike, boxes: ArrayLike, size: tuple[int, int] = (CROP, CROP)
) -> FloatArray:
    """Cut box k out of frame ``which[k]`` and resize it to ``size`` (rows, columns): (K, 3, rows, columns)."""
    b = np.ascontiguousarray(boxes, dtype=np.float32).reshape(-1, 4)
    numbers = np.ascontiguousarray(which, dtype=np.int64).reshape(-1)
    if len(numbers) != len(b):
        raise ValueError(f"{len(b)} boxes but {len(numbers)} frame numbers")
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < len(images)):
        raise ValueError(f"a box lies in a frame that is not among the {len(images)} given")
    out = np.empty((len(b), 3, *size), np.float32)
    _crop(images, numbers, b, out)
    return out


def paste(masks: FloatArray, boxes: ArrayLike, height: int, width: int) -> FloatArray:
    """Masks of boxes as masks of the frame: (K, H, W), zero outside the box."""
    b = np.ascontiguousarray(boxes, dtype=np.float32).reshape(-1, 4)
    out = np.zeros((len(b), height, width), np.float32)
    _paste(np.ascontiguousarray(masks, dtype=np.float32), b, out)
    return out


def letterbox(
    image: NDArray[np.uint8], height: int, width: int, padding: float = 0.0
) -> tuple[NDArray[np.uint8], float, float, float]:
    """A picture of any size in a frame of ours, proportions kept, the border continued into the bars.

    ``padding`` is added on all sides together, as a share of the picture. Returns the frame, the scale s and the
    offsets dx, dy: pixel (x, y) of the picture is (s x + dx, s y + dy) of the frame.
    """
    rows, columns = image.shape[:2]
    scale = min(width / columns, height / rows) / (1 + padding)
    dx, dy = (width - scale * columns) / 2, (height - scale * rows) / 2
    window = [[-dx / scale, -dy / scale, (width - dx) / scale, (height - dy) / scale]]
    frame = crop_and_resize(image[None], [0], window, (height, width))[0]
    pixels = np.clip(np.rint((frame.transpose(1, 2, 0) + 1) * 127.5), 0, 255).astype(np.uint8)
    return pixels, scale, dx, dy


@compiled(nogil=True)
def _crop(images: Any, which: Any, boxes: Any, out: Any) -> None:
    _, height, width, _ = images.shape
    _, _, rows, columns = out.shape
    for k in range(len(boxes)):
        frame = images[which[k]]
        step_x = (boxes[k, 2] - boxes[k, 0]) / columns
        step_y = (boxes[k, 3] - boxes[k, 1]) / rows
        across, down = max(1, math.ceil(step_x - 1e-3)), max(1, math.ceil(step_y - 1e-3))
        share = 1.0 / (across * down * 127.5)
        for i in range(rows):
            for j in range(columns):
                red = green = blue = 0.0
                for v in range(down):
                    y = boxes[k, 1] + (i + (v + 0.5) / down) * step_y - 0.5
                    y = min(max(y, 0.0), height - 1.0)
                    top = min(int(y), height - 2)
                    fy = y - top
                    for u in range(across):
                        x = boxes[k, 0] + (j + (u + 0.5) / across) * step_x - 0.5
                        x = min(max(x, 0.0), width - 1.0)
                        left = min(int(x), width - 2)
                        fx = x - left
                        a, b = (1 - fx) * (1 - fy), fx * (1 - fy)
                        c, d = (1 - fx) * fy, fx * fy
                        p, q = frame[top, left], frame[top, left + 1]
                        r, s = frame[top + 1, left], frame[top + 1, left + 1]
                        red += a * p[0] + b * q[0] + c * r[0] + d * s[0]
                        green += a * p[1] + b * q[1] + c * r[1] + d * s[1]
                        blue += a * p[2] + b * q[2] + c * r[2] + d * s[2]
                out[k, 0, i, j] = red * share - 1.0
                out[k, 1, i, j] = green * share - 1.0
                out[k, 2, i, j] = blue * share - 1.0


@compiled(nogil=True)
def _paste(masks: Any, boxes: Any, out: Any) -> None:
    _, height, width = out.shape
    _, rows, columns = masks.shape
    for k in range(len(boxes)):
        x0, y0, x1, y1 = boxes[k]
        if x1 <= x0 or y1 <= y0:
            continue
        # A pixel belongs to the box if its centre does.
        for i in range(max(0, math.ceil(y0 - 0.5)), min(height, math.ceil(y1 - 0.5))):
            v = (i + 0.5 - y0) / (y1 - y0) * rows - 0.5
            v = min(max(v, 0.0), rows - 1.0)
            top = min(int(v), rows - 2)
            fv = v - top
            for j in range(max(0, math.ceil(x0 - 0.5)), min(width, math.ceil(x1 - 0.5))):
                u = (j + 0.5 - x0) / (x1 - x0) * columns - 0.5
                u = min(max(u, 0.0), columns - 1.0)
                left = min(int(u), columns - 2)
                fu = u - left
                upper = masks[k, top, left] * (1 - fu) + masks[k, top, left + 1] * fu
                lower = masks[k, top + 1, left] * (1 - fu) + masks[k, top + 1, left + 1] * fu
                out[k, i, j] = upper * (1 - fv) + lower * fv
