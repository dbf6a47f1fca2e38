"""What the segmentation saw in a picture: masks, boxes and how well they fit what was asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.grounding.grounder import Grounding
from wayword.pictures.boxes import draw_boxes
from wayword.pictures.colours import ACCENT, INK, LIGHT_PAGE, WHITE, instance_colour, palette_colour
from wayword.pictures.masks import instance_masks, masks_by_colour, paint_masks
from wayword.pictures.sheet import tile_sheet, with_caption

ZOOM = 3
LEGIBLE_PX = 640
"""Photos that are narrower are enlarged before anything is written into them."""


def draw_found(
    pixels: NDArray[np.uint8],
    boxes: NDArray[np.float32],
    texts: Sequence[str],
    masks: NDArray[np.float32],
    others: NDArray[np.float32],
    names: Sequence[str],
) -> Image.Image:
    """A photo (H, W, 3) with what was asked for: boxes (K, 4) and masks (K, h, w) of the photo, a colour for each.

    ``others`` are boxes of known objects that nobody asked for, with their ``names``, in white. A small photo is
    enlarged, so that the letters can be read and cover little.
    """
    picture = Image.fromarray(pixels)
    colours = [palette_colour(k) for k in range(len(boxes))]
    zoom = max(1, -(-LEGIBLE_PX // picture.width))
    picture = picture.resize((picture.width * zoom, picture.height * zoom), Image.Resampling.BICUBIC)
    if len(boxes):
        paint_masks(picture, masks_by_colour(masks, colours))
    line, letters = max(2, picture.width // 400), max(16, picture.width // 50)
    draw_boxes(picture, others * zoom, names, [WHITE], max(1, line // 2), letters)
    draw_boxes(picture, boxes * zoom, texts, colours or [WHITE], line, letters)
    return picture


def answer_tile(image: NDArray[np.uint8], answer: Grounding, name: str, verdict: str) -> Image.Image:
    """A frame with the mask of its first reference and the ALIGN of each box; S(I) beside it, the verdict below."""
    size = (image.shape[1] * ZOOM, image.shape[0] * ZOOM)
    frame = Image.fromarray(image).resize(size, Image.Resampling.NEAREST)
    paint_masks(frame, masks_by_colour(answer.masks[:1], [palette_colour(0)]))
    draw_boxes(frame, answer.boxes * ZOOM, [f"{value:.2f}" for value in answer.alignment[0]])
    levels = np.clip(np.rint(255 * answer.all_objects), 0, 255).astype(np.uint8)
    objects = Image.fromarray(levels).convert("RGB").resize(size)
    pair = tile_sheet([frame, objects], 2, gap=2, page=LIGHT_PAGE)
    return with_caption(pair, f"{name}: {verdict}", INK if verdict == "right" else ACCENT)


def truth_tile(
    rgb: NDArray[np.uint8],
    ids: NDArray[np.uint8],
    boxes: NDArray[np.float32],
    instances: NDArray[np.uint8],
    labels: Sequence[str],
) -> Image.Image:
    """A training frame as it is, and below it with its true masks, boxes and their labels.

    Masks (h, w) are painted before the frame is enlarged: every pixel of theirs can be counted.
    """
    size = (rgb.shape[1] * ZOOM, rgb.shape[0] * ZOOM)
    frame, truth = Image.fromarray(rgb), Image.fromarray(rgb)
    numbers = [int(number) for number in np.unique(ids[ids > 0])]
    paint_masks(truth, instance_masks(ids, {number: instance_colour(number) for number in numbers}))
    frame, truth = (picture.resize(size, Image.Resampling.NEAREST) for picture in (frame, truth))
    if len(boxes):
        draw_boxes(truth, boxes * ZOOM, labels, [instance_colour(int(number)) for number in instances])
    return tile_sheet([frame, truth], 1)
