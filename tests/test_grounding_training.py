from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from wayword.errors import DataError
from wayword.learning.grounding.data import is_held_out, object_groups, open_shards, read_shard

torch = pytest.importorskip("torch")

from wayword.learning.grounding.augment import recolour  # noqa: E402
from wayword.learning.grounding.loop import LoopConfig, Run  # noqa: E402
from wayword.learning.grounding.train_metric import MetricTraining, Views  # noqa: E402
from wayword.learning.grounding.train_proposals import ProposalTraining, batch  # noqa: E402
from wayword.learning.grounding.train_refine import RefineTraining, train  # noqa: E402
from wayword.learning.grounding.train_refine import batch as refine_batch  # noqa: E402


def write_shard(path: Path, seed: int, frames: int = 6) -> None:
    """Frames with two coloured rectangles each, at known places: identity k has its own colour."""
    rng = np.random.default_rng(seed)
    rgb = np.full((frames, 72, 128, 3), 90, np.uint8)
    ids = np.zeros((frames, 72, 128), np.uint8)
    rows = []
    for n in range(frames):
        for k in range(2):
            identity = int(rng.integers(4))
            x, y = int(rng.integers(5, 40)) + 60 * k, int(rng.integers(5, 40))
            rgb[n, y : y + 20, x : x + 16] = (230, 30, 60 * identity)
            ids[n, y : y + 20, x : x + 16] = k + 1
            rows.append((n, k + 1, identity, (x, y, x + 16, y + 20)))
    boxes = np.array([row[3] for row in rows], np.float32)
    tensors = {
        "rgb": rgb, "ids": ids, "boxes": boxes, "amodal": boxes,
        "frame": np.array([row[0] for row in rows], np.int32),
        "instance": np.array([row[1] for row in rows], np.uint8),
        "identity": np.array([row[2] for row in rows], np.int32),
        "pixels": np.full(len(rows), 320, np.int32),
        "pose": np.zeros((frames, 6)),
    }  # fmt: skip
    save_file(tensors, path)


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    folder = tmp_path / "shards"
    folder.mkdir()
    for i in range(3):
        write_shard(folder / f"shard-{i:05d}.safetensors", i)
    table = [{"number": i, "source": "pack", "noun": f"thing {i}"} for i in range(3)]
    table.append({"number": 3, "source": "random", "noun": "random"})
    (folder / "objects.json").write_text(json.dumps(table))
    return folder


def test_shards_are_read_in_order(shards: Path) -> None:
    data, held_out = open_shards(shards)
    assert (data.frames, held_out.frames) == (12, 6)
    assert (np.diff(data.frame) >= 0).all()
    # Frame 8 is the third of the second shard; its boxes and pixels must come from there.
    second = read_shard(shards / "shard-00001.safetensors")
    np.testing.assert_array_equal(data.images(np.array([8]))[0], second["rgb"][2])
    np.testing.assert_array_equal(data.boxes[data.rows(8)], second["boxes"][second["frame"] == 2])
    np.testing.assert_allclose(data.visible(), 1)


def test_groups_are_nouns_and_random_objects_their_own(shards: Path) -> None:
    assert object_groups(shards) == {0: "thing 0", 1: "thing 1", 2: "thing 2", 3: "object 3"}
    assert is_held_out("thing 0", 1.0)
    assert not is_held_out("thing 0", 0.0)
    assert 0.07 < np.mean([is_held_out(f"noun {i}") for i in range(3000)]) < 0.13


def test_bad_shards_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fewer than two"):
        open_shards(tmp_path)
    for content in (b"", b"\xff" * 40, (2).to_bytes(8, "little") + b"{]"):
        path = tmp_path / "bad.safetensors"
        path.write_bytes(content)
        with pytest.raises(DataError, match="is not a shard"):
            read_shard(path)


def test_boxes_follow_the_picture_through_zoom_and_mirror(shards: Path) -> None:
    # Wherever a frame is zoomed and mirrored to, the middle of each box must show an object's colour, not grey.
    data, _ = open_shards(shards)
    config = ProposalTraining(batch=12, zoomed=1.0)
    images, boxes = batch(data, config, np.random.default_rng(0))
    checked = 0
    for image, rows in zip(images.numpy(), boxes.numpy(), strict=True):
        for x0, y0, x1, y1 in rows:
            if x1 - x0 > 6 and y1 - y0 > 6:
                colour = image[:, int((y0 + y1) / 2), int((x0 + x1) / 2)]
                assert np.ptp(colour) > 0.25
                checked += 1
    assert checked > 10


def test_refinement_masks_match_their_crops(shards: Path) -> None:
    data, _ = open_shards(shards)
    crops, masks = refine_batch(data, np.arange(6), 0.0, np.random.default_rng(0), plain=True)
    # A margin of 0.1 around the box: the object covers the middle 1 / 1.2 of the crop each way.
    np.testing.assert_allclose(masks.mean(axis=(1, 2)), 1 / 1.44, atol=0.03)
    grey = np.abs(crops[:, 0] - crops[:, 1]) < 0.05
    assert (grey != (masks < 0.5))[:, 4:28, 4:28].mean() < 0.05


def test_views_of_an_object_share_its_colour(shards: Path) -> None:
    data, _ = open_shards(shards)
    views = Views(data, {0, 1, 2, 3}, MetricTraining(jitter=0.0))
    rng = np.random.default_rng(0)
    crops = views.crops(np.arange(len(views)), 3, rng, plain=True)
    middle = crops.reshape(len(views), 3, 3, 32, 32)[..., 16, 16]
    assert np.ptp(middle, axis=1).max() < 0.02
    assert len(set(views.draw(rng).tolist())) == len(views)


def test_recolour_keeps_range_and_is_seeded() -> None:
    images = np.random.default_rng(0).uniform(-1, 1, (8, 3, 32, 32)).astype(np.float32)
    first, second = (recolour(images, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.dtype == np.float32
    assert -1 <= first.min() <= first.max() <= 1
    assert np.abs(first - images).mean() > 0.01


def test_a_killed_run_goes_on(shards: Path, tmp_path: Path) -> None:
    loop = LoopConfig(steps=4, minutes=5, log_every=1)
    config = RefineTraining(loop=loop, batch=8, per_frame=2, check_every=100)
    train(shards, tmp_path / "run", config)
    longer = replace(config, loop=replace(loop, steps=6))
    train(shards, tmp_path / "run", longer)
    log = (tmp_path / "run" / "log.csv").read_text().splitlines()
    steps = [int(line.split(",")[0]) for line in log[1:] if ",loss," in line]
    assert steps == [1, 2, 3, 4, 5, 6]


def test_resuming_restores_optimiser_and_generator(tmp_path: Path) -> None:
    def made() -> Run:
        torch.manual_seed(0)
        return Run(tmp_path / "run", torch.nn.Linear(3, 2), LoopConfig(steps=100, minutes=5, log_every=1000))

    def step(run: Run) -> None:
        x = torch.from_numpy(run.rng.normal(size=(4, 3)).astype(np.float32))
        run.update(run.net(x).square().mean(), {})

    first = made()
    for _ in range(3):
        step(first)
    first.save()
    second = made()
    assert second.step == 3
    for _ in range(2):
        step(first)
        step(second)
    # The learning rate depends on the time spent, which differs by a hair.
    torch.testing.assert_close(first.net.weight, second.net.weight, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(first.averaged()["weight"], second.averaged()["weight"], rtol=1e-3, atol=1e-4)


def test_a_damaged_checkpoint_says_so(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.safetensors").write_bytes(b"half a file")
    with pytest.raises(DataError, match="delete the folder"):
        Run(tmp_path, torch.nn.Linear(3, 2), LoopConfig(steps=1, minutes=1))
