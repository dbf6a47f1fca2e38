"""Pictures of what the segmentation found: masks in colour over the frame, boxes with their probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from wayword.lettering import plain, text_font

COLOURS = ((255, 0, 255), (64, 160, 255), (80, 220, 90), (255, 200, 40), (220, 90, 255), (40, 220, 220))


def paint_masks(image: NDArray[np.uint8], masks: ArrayLike, strength: float = 0.65) -> NDArray[np.uint8]:
    """The image (H, W, 3) with each mask (R, H, W) blended in by its value, in a colour of its own."""
    canvas = image.astype(np.float32)
    for r, mask in enumerate(np.asarray(masks, np.float32)):
        weight = (strength * np.clip(mask, 0, 1))[..., None]
        canvas = canvas * (1 - weight) + np.array(COLOURS[r % len(COLOURS)], np.float32) * weight
    return np.clip(np.rint(canvas), 0, 255).astype(np.uint8)


def draw_boxes(
    picture: Image.Image,
    boxes: ArrayLike,
    texts: Sequence[str] | None = None,
    colour: tuple[int, int, int] = (255, 255, 255),
) -> None:
    """Outlines of boxes in the picture's own pixels, each with a short text."""
    pen = ImageDraw.Draw(picture)
    line, size = max(1, picture.width // 800), max(11, picture.width // 80)  # a photo is looked at as a whole
    for k, (x0, y0, x1, y1) in enumerate(np.asarray(boxes, np.float64).reshape(-1, 4).tolist()):
        pen.rectangle((x0, y0, max(x1 - 1, x0), max(y1 - 1, y0)), outline=colour, width=line)
        if texts is not None and texts[k]:
            pen.text((x0 + 2, max(y0 - size - 2, 0)), plain(texts[k]), colour, text_font(size))


def enlarge(masks: NDArray[np.float32], width: int, height: int, scale: float, dx: float, dy: float) -> NDArray:
    """Masks of a letterboxed frame (R, 72, 128) as masks of the picture itself (R, height, width)."""
    rows = np.clip(np.floor((np.arange(height) + 0.5) * scale + dy), 0, masks.shape[1] - 1).astype(np.int64)
    columns = np.clip(np.floor((np.arange(width) + 0.5) * scale + dx), 0, masks.shape[2] - 1).astype(np.int64)
    result: NDArray[np.float32] = masks[:, rows][:, :, columns]
    return result
