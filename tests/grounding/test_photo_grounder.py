"""Photographs: parts of them, vectors side by side, and the thing found across several photos."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.episodes import PlacedObject
from wayword.grounding.nms import iou
from wayword.grounding.photo_cropper import ProposalCropper
from wayword.grounding.photo_grounder import PhotoGrounder, _inner, _uncut, side_by_side
from wayword.grounding.photo_vectors import PhotoEmbedder
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import random_look
from wayword.sim.render.renderer import RenderConfig, Renderer


def taken(names: list[str], seed: int) -> tuple[np.ndarray, dict[int, list[int]]]:
    """A 320 x 240 photo of catalogue objects side by side in the arena, and their boxes by place."""
    rng = np.random.default_rng(seed)
    renderer = Renderer(MeshBank.of_catalogue(names), Camera(320, 240, hfov_deg=60), RenderConfig(True, threads=1))
    placed = [PlacedObject(name, 2.0 + 0.7 * k, 2.35, float(rng.uniform(0, 6))) for k, name in enumerate(names)]
    pose = [2.35, 0.95, 0.7, 0.0, math.atan2(0.45, 1.4) - math.radians(15), math.pi / 2]
    drawn = renderer.render([renderer.scene(placed, random_look(rng))], [pose])
    boxes = {}
    for k in range(len(names)):
        ys, xs = np.nonzero(drawn.ids[0] == k + 1)
        boxes[k] = [int(xs.min()), int(ys.min()), int(xs.max()) + 1, int(ys.max()) + 1]
    return drawn.rgb[0], boxes


def test_squared_distances_of_vectors_side_by_side_are_a_mixture() -> None:
    first, second = np.eye(2, dtype=np.float32), np.array([[1, 0], [1, 0]], np.float32)
    mixed = side_by_side(first, second, 0.7)
    np.testing.assert_allclose(np.linalg.norm(mixed, axis=1), 1.0, rtol=1e-6)
    # The photo vectors are at a right angle, squared distance 2; the others are equal: 0.7 x 2 + 0.3 x 0.
    assert np.square(mixed[0] - mixed[1]).sum() == pytest.approx(1.4)


def test_a_box_that_a_part_of_the_photo_cuts_off_is_left_to_the_next_part() -> None:
    boxes = np.array([[0, 0, 30, 30], [10, 10, 59.5, 40], [10, 10, 40, 40], [5, 20, 30, 59.0]])
    # The upper left 60 x 60 of a photo of 100 x 60: its right side is a cut, its lower one is the photo's own end.
    assert _uncut(boxes, (0, 0, 60, 60), 100, 60).tolist() == [True, False, True, True]
    assert _uncut(boxes, (0, 0, 60, 60), 60, 60).all()


def test_a_stored_square_is_cut_out_of_itself_whole() -> None:
    x0, y0, x1, y1 = _inner(110)
    # The square around 100 pixels with 5 % on each side is 110.
    assert (x0, y0, x1, y1) == pytest.approx((5, 5, 105, 105))


def test_photo_vectors_know_a_thing_again() -> None:
    duck, boxes = taken(["rubber duck"], 1)
    again, others = taken(["rubber duck"], 2)
    rocket, third = taken(["rocket"], 3)
    embedder = PhotoEmbedder.load()
    a, b, c = (embedder(*pair)[0] for pair in ((duck, [boxes[0]]), (again, [others[0]]), (rocket, [third[0]])))
    assert np.linalg.norm(a) == pytest.approx(1.0, rel=1e-5)
    assert a @ b > a @ c + 0.1
    assert embedder(duck, np.zeros((0, 4))).shape == (0, 1280)


def test_photos_of_one_thing_help_each_other() -> None:
    """Two things stand in every photo, and only one of them in all: that one is meant."""
    photos = [taken([other, "rubber duck"], seed) for seed, other in enumerate(("rocket", "telescope", "phone booth"))]
    found = ProposalCropper().crop_boxes([pixels for pixels, _ in photos])
    overlaps = [float(iou(box.values, boxes[1])[0, 0]) for (box, _), (_, boxes) in zip(found, photos, strict=True)]
    assert sum(overlap > 0.5 for overlap in overlaps) >= 2
    assert ProposalCropper().crop_boxes([]) == []


def test_a_photo_is_grounded_among_taught_objects() -> None:
    pixels, boxes = taken(["rocket", "rubber duck"], 7)
    grounder = PhotoGrounder.load()
    teach = {}
    for name in ("rubber duck", "rocket"):
        shots = [taken([name], seed) for seed in (11, 12, 13)]
        teach[name] = [shot[box[0][1] : box[0][3], box[0][0] : box[0][2]] for shot, box in shots]
        teach[name] = [_square(crop) for crop in teach[name]]
    exemplars = grounder.embed_database(teach)
    answer = grounder(pixels, np.eye(3)[:2], exemplars)
    best = answer.boxes[answer.alignment.argmax(axis=1)]
    assert iou(best[0], boxes[1])[0, 0] > 0.5
    assert iou(best[1], boxes[0])[0, 0] > 0.5
    np.testing.assert_allclose(answer.p_object_of_box.sum(axis=1), 1.0)


def _square(crop: np.ndarray) -> np.ndarray:
    side = max(crop.shape[:2])
    high, wide = side - crop.shape[0], side - crop.shape[1]
    pad = ((high // 2, high - high // 2), (wide // 2, wide - wide // 2), (0, 0))
    return np.pad(crop, pad, mode="edge")
