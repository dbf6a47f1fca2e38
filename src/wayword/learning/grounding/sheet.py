"""A sheet of random frames with the mask of one reference each: successes and failures as they come."""

from __future__ import annotations

import numpy as np
from PIL import Image

from wayword.grounding.density import Exemplars
from wayword.grounding.grounder import Grounder
from wayword.grounding.nms import iou
from wayword.learning.grounding.scenes import Scenes
from wayword.pictures.colours import LIGHT_PAGE
from wayword.pictures.segmentation import answer_tile
from wayword.pictures.sheet import tile_sheet

_RIGHT = 0.3
"""Least overlap of the best box with the true one."""


def answer_sheet(
    grounder: Grounder, scenes: Scenes, exemplars: Exemplars, rng: np.random.Generator, count: int = 24
) -> Image.Image:
    """``count`` random frames: a reference in pink with the ALIGN of each box, and S(I) beside it."""
    frames = np.sort(rng.permutation(scenes.data.frames)[:count])
    tiles = [_tile(grounder, scenes, exemplars, int(frame), rng) for frame in frames]
    return tile_sheet(tiles, 2, gap=10, margin=10, page=LIGHT_PAGE)


def _tile(
    grounder: Grounder, scenes: Scenes, exemplars: Exemplars, frame: int, rng: np.random.Generator
) -> Image.Image:
    """A frame with a reference to one of the objects in view, or to any if none is."""
    rows = scenes.data.rows(frame)
    identities = scenes.data.identity[rows]
    names = [scenes.objects[int(o)] for o in identities if scenes.objects[int(o)] in exemplars.names]
    name = names[int(rng.integers(len(names)))] if names else exemplars.names[0]
    image = scenes.data.images(np.array([frame]))[0]
    reference = np.eye(len(exemplars.names) + 1)[[exemplars.names.index(name)]]
    answer = grounder(image[None], reference, exemplars)[0]
    if name not in names:
        verdict = "not in view"
    elif not len(answer.boxes):
        verdict = "WRONG: no boxes"
    else:
        true = scenes.data.boxes[rows][identities == scenes.objects.index(name)]
        best = int(answer.alignment[0].argmax())
        verdict = "right" if iou(answer.boxes[[best]], true).max() >= _RIGHT else "WRONG"
    return answer_tile(image, answer, name, verdict)
