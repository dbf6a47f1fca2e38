"""Footprints against the same rules said mask by mask and column by column, as docs/mapping.md has them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.camera import Camera, camera_axes
from wayword.mapping import footprints

CAMERA = Camera(width=32, height=18, hfov_deg=84.0, mount_pitch_deg=15.0)


def ray(column: float, row: float, pose: np.ndarray) -> np.ndarray:
    """Direction of a pixel in the world, one long along the optical axis."""
    right, down, forward = camera_axes(pose, CAMERA.mount_pitch_deg)
    f = CAMERA.focal_px
    return (column - CAMERA.width / 2) / f * right + (row - CAMERA.height / 2) / f * down + forward


def ground(column: float, row: float, pose: np.ndarray) -> tuple[float, float]:
    """Metres on the ground to what a pixel shows, and along the optical axis; seven metres and beyond are seven."""
    direction = ray(column, row, pose)
    flat = max(math.hypot(direction[0], direction[1]), 1e-9)
    depth = pose[2] / -direction[2] if direction[2] < 0 and pose[2] > 0 else math.inf
    return (depth * flat, depth) if depth * flat < 7.0 else (7.0, 7.0 / flat)


def lower_edge(mask: np.ndarray, box: np.ndarray) -> tuple[dict[int, float], bool]:
    """Where a mask ends in each column, to a part of a pixel; and whether it is empty, so that its box was taken."""
    height, width = mask.shape
    x0, y0, x1, y1 = box
    dx, dy = 0.1 * (x1 - x0) + 1, 0.1 * (y1 - y0) + 1
    edge = {}
    for c in range(max(0, int(x0 - dx)), min(width, math.ceil(x1 + dx))):
        rows = [r for r in range(max(0, int(y0 - dy)), min(height, math.ceil(y1 + dy))) if mask[r, c] > 0.5]
        if not rows:
            continue
        r = rows[-1]
        edge[c] = r + 1.0
        if r + 1 < height and mask[r + 1, c] <= 0.5:  # half is crossed between the middles of two pixels
            edge[c] = r + 0.5 + (mask[r, c] - 0.5) / (mask[r, c] - mask[r + 1, c])
    if edge:
        return edge, False
    first = min(max(int(x0), 0), width - 1)
    row = min(max(float(y1), 1.0), float(height))
    return dict.fromkeys(range(first, max(first + 1, min(width, math.ceil(x1)))), row), True


def plain(masks: np.ndarray, boxes: np.ndarray, pose: np.ndarray) -> list[tuple[float, ...]]:
    found = [lower_edge(mask, box) for mask, box in zip(masks.astype(np.float64), boxes, strict=True)]
    lowest = [max(edge.values()) for edge, _ in found]
    height, width = masks.shape[1:]
    answers = []
    for k, (edge, empty) in enumerate(found):
        far = {c: ground(c + 0.5, row, pose) for c, row in edge.items()}
        own = []
        for c, row in edge.items():
            below = int(row - 0.5) + 2
            nearer = [j for j in range(len(masks)) if j != k and lowest[j] > lowest[k]]
            if below >= height or not any(masks[j, below, c] > 0.5 for j in nearer):
                own.append(c)
        hidden = 1 - len(own) / len(edge)
        if hidden > 0.75:
            own = list(edge)
        front = sorted(own, key=lambda c: far[c][0])[int(0.04 * len(own))]  # a few wrong pixels do not count
        away, depth = far[front]
        metres = depth / CAMERA.focal_px
        full = (max(edge) + 1 - min(edge)) * metres
        base = [c for c in own if far[c][0] <= away + 0.5 * full + 0.02]
        across = (max(base) + 1 - min(base)) * metres
        cut = sum(row >= height for row in edge.values()) / len(edge)
        side = (max(edge) == width - 1) - (min(edge) == 0)
        outwards = side * max(0.135 - 0.4 * across, 0.0) * CAMERA.focal_px / depth
        direction = ray((min(base) + max(base) + 1) / 2 + outwards, edge[front], pose)[:2]
        direction = direction / max(math.hypot(*direction), 1e-9)
        distance = max(away + 0.46 * across - 0.30 * cut**2, 0.1)
        quality = (1 - 0.8 * hidden) * (1 - 0.4 * cut) * (1 - 0.2 * abs(side)) * (0.5 if empty else 1.0)
        quality *= min(max((7.0 - away) / 3.5, 0.0), 1.0)
        answers.append((*(pose[:2] + distance * direction), min(0.5 * full, 0.45), quality))
    return answers


def scene(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A few overlapping blobs with soft edges, ragged at their feet, some at the borders, some empty."""
    count = int(rng.integers(1, 4))
    masks, boxes = np.zeros((count, 18, 32), np.float32), np.zeros((count, 4))
    for k in range(count):
        x0, y0 = rng.integers(-2, 26), rng.integers(-2, 12)
        x1, y1 = x0 + rng.integers(2, rng.choice([14, 34])), y0 + rng.integers(4, 14)
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, 32), min(y1, 18)
        if rng.random() < 0.9:
            for c in range(x0, x1):
                end = int(np.clip(y1 - rng.integers(0, 3), y0 + 1, 18))
                masks[k, y0:end, c] = rng.uniform(0.5, 1.0)
                if end < 18:
                    masks[k, end, c] = rng.uniform(0.0, 0.5)
        boxes[k] = np.array([x0, y0, x1, y1]) + rng.choice([0.4, 4.0]) * rng.uniform(-1, 1, 4)
    pose = np.array([2.0, 2.3, rng.uniform(0.4, 1.0), *rng.uniform(-0.15, 0.15, 2), rng.uniform(-3.1, 3.1)])
    return masks, boxes, pose


@settings(max_examples=300, derandomize=True)
@given(st.integers(0, 10**9))
def test_any_masks_stand_where_the_rules_say(seed: int) -> None:
    masks, boxes, pose = scene(np.random.default_rng(seed))
    np.testing.assert_allclose(footprints(masks, boxes, pose, CAMERA), plain(masks, boxes, pose), atol=2e-4)


def test_many_boxes_at_once_hide_each_other_only_where_they_are_nearer() -> None:
    rng = np.random.default_rng(11)
    parts = [scene(rng) for _ in range(8)]
    masks, boxes = np.concatenate([m for m, _, _ in parts]), np.concatenate([b for _, b, _ in parts])
    pose = np.array([1.0, 1.0, 0.7, 0.02, -0.03, 1.0])
    wanted = np.array(plain(masks, boxes, pose))
    assert (wanted[:, 3] < 0.6).sum() > 3  # several are hidden in part
    np.testing.assert_allclose(footprints(masks, boxes, pose, CAMERA), wanted, atol=2e-4)


@pytest.mark.parametrize(("hidden", "quality"), [(14, 1 - 0.8 * 0.7), (16, 1 - 0.8 * 0.8)])
def test_a_base_of_which_more_than_three_quarters_are_hidden_is_taken_as_it_is_seen(
    hidden: int, quality: float
) -> None:
    # 20 columns that end at row 12, of which the first ``hidden`` end at row 10, where a nearer thing begins.
    masks, boxes = np.zeros((2, 18, 32), np.float32), np.array([[6, 2, 26, 12], [6, 9, 6 + hidden, 17]], float)
    masks[0, 2:12, 6:26] = 1
    masks[0, 10:, 6 : 6 + hidden] = 0
    masks[1, 10:17, 6 : 6 + hidden] = 1
    pose = np.array([1.0, 1.0, 0.7, 0.0, 0.0, 0.0])
    found = footprints(masks, boxes, pose, CAMERA)
    np.testing.assert_allclose(found, plain(masks, boxes, pose), atol=2e-4)
    assert found[0, 3] / min((7.0 - ground(16, 12, pose)[0]) / 3.5, 1.0) == pytest.approx(quality, rel=0.02)
