"""Where masks land on the ground, against where the simulator's objects stand.

Run as a program (``python tests/test_mapping_places.py``) this prints the tables of docs/mapping.md.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.episodes import load_natural
from wayword.grounding import Grounder
from wayword.mapping import CELL_M, footprints, project_masks
from wayword.mapping.grid import world_centres
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import RenderConfig, Renderer

LEAST_PIXELS = 12
COLUMNS = ("error", "naive", "quality", "range", "whole")
"""Distance in metres from the object's place to its footprint's and to the middle of its projected mask; quality;
true range in metres; 1 if the object is fully in view."""


def measure(
    bank: MeshBank, split: str, frames: int, seed: int, grounder: Grounder | None = None, camera: Camera | None = None
) -> NDArray[np.float64]:
    """Natural layouts of one split, seen from poses on the demonstrations, tilted as in flight: a row per object.

    Masks are the truth, or those of ``grounder`` that overlap the truth by at least 0.4.
    """
    rng, camera = np.random.default_rng(seed), camera or Camera()
    renderer, episodes = Renderer(bank, camera, RenderConfig(threads=1)), load_natural(split)
    rows: list[tuple[float, ...]] = []
    for _ in range(frames // 4):
        episode = episodes[int(rng.integers(len(episodes)))]
        objects, poses = episode.objects, []
        for i in rng.integers(len(episode.path) - 1, size=4):
            ahead = episode.path[min(i + 4, len(episode.path) - 1)] - episode.path[max(i - 1, 0)]
            tilt = np.radians(rng.normal((0.0, 2.0), (1.5, 2.5)))
            yaw = math.atan2(ahead[1], ahead[0]) + rng.normal(0, 0.15)
            poses.append(np.array([*episode.path[i], rng.normal(0.7, 0.02), *tilt, yaw]))
        drawn = renderer.render([renderer.scene(objects, Look())] * 4, poses)
        alone = [renderer.render([renderer.scene([item], Look())] * 4, poses).ids for item in objects]
        regions = grounder.regions(drawn.rgb) if grounder else [None] * 4
        for n, (pose, region) in enumerate(zip(poses, regions, strict=True)):
            visible = [k for k in range(len(objects)) if (drawn.ids[n] == k + 1).sum() >= LEAST_PIXELS]
            truth = np.array([drawn.ids[n] == k + 1 for k in visible]).reshape(-1, 72, 128)
            if not visible:
                continue
            if region is None:
                masks, boxes = truth.astype(np.float32), np.array([tight(mask) for mask in truth])
                match = list(range(len(visible)))
            else:
                masks, boxes, match = region.masks, region.proposals.boxes, matches(region.masks, truth)
            found, ground = footprints(masks, boxes, pose, camera), project_masks(masks, pose, camera)
            for mask, k, j in zip(truth, visible, match, strict=True):
                if j < 0:
                    continue
                item = objects[k]
                border = mask[0].any() or mask[-1].any() or mask[:, 0].any() or mask[:, -1].any()
                whole = not border and mask.sum() == (alone[k][n] > 0).sum()
                rows.append((
                    math.hypot(found[j, 0] - item.x, found[j, 1] - item.y), naive(ground[j], item.x, item.y),
                    float(found[j, 3]), math.hypot(item.x - pose[0], item.y - pose[1]), float(whole),
                ))  # fmt: skip
    return np.array(rows)


def tight(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return columns[0], rows[0], columns[-1] + 1, rows[-1] + 1


def matches(masks: NDArray[np.float32], truth: NDArray[np.bool_]) -> list[int]:
    """The best mask for each true one, -1 if none overlaps by 0.4."""
    result = []
    for wanted in truth:
        shared = [float(((m > 0.5) & wanted).sum() / ((m > 0.5) | wanted).sum()) for m in masks]
        result.append(int(np.argmax(shared)) if shared and max(shared) >= 0.4 else -1)
    return result


def naive(ground: NDArray[np.float32], x: float, y: float) -> float:
    """Distance to the middle of a projected mask; NaN if nothing of it lies in the arena."""
    if ground.sum() < 1e-3:
        return math.nan
    place = (world_centres() * ground[..., None]).sum(axis=(0, 1)) / ground.sum()
    return float(np.hypot(*(place - (x, y))))


@pytest.fixture(scope="module")
def dev(bank: MeshBank) -> NDArray[np.float64]:
    return measure(bank, "dev", 120, seed=1)


def test_a_perfect_mask_lands_within_half_a_cell_of_where_the_object_stands(dev: NDArray[np.float64]):
    error, _, quality, _, whole = dev.T
    assert whole.sum() > 80
    assert np.median(error[whole == 1]) < CELL_M / 2
    assert error[whole == 1].mean() < CELL_M / 2
    assert quality[whole == 1].mean() > 0.97
    assert np.median(error) < CELL_M / 2  # of all objects, cut and hidden ones included


@pytest.mark.parametrize("camera", [Camera(mount_pitch_deg=40.0), Camera(hfov_deg=60.0)], ids=["tilt 40", "hfov 60"])
def test_the_same_holds_for_other_cameras(camera: Camera, bank: MeshBank):
    error, _, quality, _, whole = measure(bank, "dev", 120, seed=1, camera=camera).T
    assert whole.sum() > 30  # what is tall is cut by the upper border of a camera that looks down
    assert np.median(error[whole == 1]) < CELL_M / 2
    assert error[whole == 1].mean() < CELL_M / 2
    assert quality[whole == 1].mean() > 0.97
    assert np.median(error) < CELL_M / 2


def test_it_beats_the_naive_projection(dev: NDArray[np.float64]):
    error, other, *_ = dev[~np.isnan(dev[:, 1])].T
    assert (error < other).mean() > 0.9
    assert np.median(error) < 0.25 * np.median(other)


def test_quality_tells_good_places_from_bad_ones(dev: NDArray[np.float64]):
    error, _, quality, *_ = dev.T
    good, bad = error[quality > 0.99], error[quality < 0.7]
    assert len(bad) > 10
    assert (good < CELL_M).mean() > 0.9
    assert np.median(bad) > 1.5 * np.median(good)


def report(title: str, rows: NDArray[np.float64]) -> None:
    def line(name: str, chosen: NDArray[np.bool_]) -> None:
        e, other = rows[chosen, 0], rows[chosen, 1]
        lost = np.isnan(other)
        if not len(e):
            return
        print(
            f"| {name} | {len(e)} | {np.median(e):.3f} | {e.mean():.3f} | {(e < CELL_M / 2).mean():.0%} | "
            f"{(e < CELL_M).mean():.0%} | {np.median(other[~lost]):.3f} | {other[~lost].mean():.3f} | "
            f"{(other < CELL_M).mean():.0%} | {lost.sum()} |"
        )

    print(title)
    whole, distance, quality = rows[:, 4] == 1, rows[:, 3], rows[:, 2]
    line("fully in view", whole)
    for low, high in ((0, 1), (1, 1.5), (1.5, 2), (2, 3), (3, 5)):
        line(f"... at {low:g} to {high:g} m", whole & (distance >= low) & (distance < high))
    line("cut or hidden", ~whole)
    for low, high in ((0, 0.5), (0.5, 0.8), (0.8, 0.99), (0.99, 1.01)):
        line(f"quality {low:g} to {min(high, 1):g}", (quality >= low) & (quality < high))
    line("all", np.ones(len(rows), bool))


if __name__ == "__main__":
    everything = MeshBank.of_catalogue()
    report("dev, perfect masks", measure(everything, "dev", 800, seed=0))
    report("train, perfect masks", measure(everything, "train", 800, seed=0))
    report("dev, masks of the shipped segmentation", measure(everything, "dev", 400, seed=0, grounder=Grounder.load()))
