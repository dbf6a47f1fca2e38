"""A sheet of random frames with the masks of one reference each: successes and failures as they come."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from wayword.grounding.density import Exemplars
from wayword.grounding.grounder import Grounder
from wayword.grounding.nms import iou
from wayword.grounding.overlay import draw_boxes, paint_masks
from wayword.learning.grounding.scenes import Scenes

_ZOOM = 3


def sheet(
    grounder: Grounder, made: Scenes, exemplars: Exemplars, rng: np.random.Generator, count: int = 24
) -> Image.Image:
    """``count`` random frames: a reference in magenta with the ALIGN of each box, and S(I) beside it."""
    frames = np.sort(rng.permutation(made.data.frames)[:count])
    tiles = [_tile(grounder, made, exemplars, int(frame), rng) for frame in frames]
    width, height = tiles[0].size
    page = Image.new("RGB", (2 * width, -(-len(tiles) // 2) * height), "white")
    for i, tile in enumerate(tiles):
        page.paste(tile, (i % 2 * width, i // 2 * height))
    return page


def _tile(grounder: Grounder, made: Scenes, exemplars: Exemplars, frame: int, rng: np.random.Generator) -> Image.Image:
    span = made.data.rows(frame)
    shown = [made.objects[int(o)] for o in made.data.identity[span] if made.objects[int(o)] in exemplars.names]
    name = shown[int(rng.integers(len(shown)))] if shown else exemplars.names[0]
    image = made.data.images(np.array([frame]))[0]
    r = exemplars.names.index(name)
    answer = grounder(image[None], np.eye(len(exemplars.names) + 1)[[r]], exemplars)[0]
    size = (128 * _ZOOM, 72 * _ZOOM)
    left = Image.fromarray(paint_masks(image, answer.masks)).resize(size, Image.Resampling.NEAREST)
    texts = [f"{a:.2f}" for a in answer.alignment[0]]
    draw_boxes(left, answer.boxes * _ZOOM, texts)
    right = Image.fromarray((255 * answer.all_objects).astype(np.uint8)).convert("RGB").resize(size)
    page = Image.new("RGB", (2 * size[0] + 6, size[1] + 18), "white")
    page.paste(left, (0, 16))
    page.paste(right, (size[0] + 2, 16))
    verdict = "not in view"
    if name in shown and len(answer.boxes):
        true = made.data.boxes[span][made.data.identity[span] == made.objects.index(name)]
        best = int(answer.alignment[0].argmax())
        verdict = "right" if iou(answer.boxes[[best]], true).max() >= 0.3 else "WRONG"
    elif name in shown:
        verdict = "WRONG: no boxes"
    ImageDraw.Draw(page).text((2, 2), f"{name}: {verdict}", fill="black" if verdict == "right" else "red")
    return page
