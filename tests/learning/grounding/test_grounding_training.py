from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.extra_torch import torch
from support.shards import write_shards
from wayword.errors import DataError, WaywordError
from wayword.learning.common.loop import LoopConfig, Run
from wayword.learning.grounding.augment import recolour
from wayword.learning.grounding.data import is_held_out, object_groups, open_shards, read_shard_arrays
from wayword.learning.grounding.inputs import GroundingInputs
from wayword.learning.grounding.train_metric import MetricTraining, Views
from wayword.learning.grounding.train_proposals import ProposalTraining, proposal_batch
from wayword.learning.grounding.train_refine import RefineTraining, refine_batch, train


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    return write_shards(tmp_path / "shards")


def test_shards_are_read_in_order(shards: Path) -> None:
    data, held_out = open_shards(shards)
    assert (data.frames, held_out.frames) == (12, 6)
    assert (np.diff(data.frame) >= 0).all()
    # Frame 8 is the third of the second shard; its boxes and pixels must come from there.
    second = read_shard_arrays(shards / "shard-00001.safetensors")
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
        with pytest.raises(DataError, match="damaged"):
            read_shard_arrays(path)


def test_boxes_follow_the_picture_through_zoom_and_mirror(shards: Path) -> None:
    # Wherever a frame is zoomed and mirrored to, the middle of each box must show an object's colour, not grey.
    data, _ = open_shards(shards)
    config = ProposalTraining(batch=12, zoomed=1.0)
    images, boxes = proposal_batch(data, config, np.random.default_rng(0))
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


def stopping_after(steps: int, stop: threading.Event) -> Callable[..., None]:
    update = Run.update

    def stopping(run: Run, *arguments: object) -> None:
        update(run, *arguments)  # type: ignore[arg-type]
        if run.step == steps:
            stop.set()

    return stopping


def test_a_stopped_run_goes_on(shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = LoopConfig(steps=6, minutes=5, log_every=1)
    config = RefineTraining(loop=loop, batch=8, per_frame=2, check_every=100)
    stop, inputs = threading.Event(), GroundingInputs(shards)
    with monkeypatch.context() as patch:
        patch.setattr(Run, "update", stopping_after(3, stop))
        train(tmp_path / "run", config, inputs, stop)
    train(tmp_path / "run", config, inputs)
    log = (tmp_path / "run" / "log.csv").read_text().splitlines()
    steps = [int(line.split(",")[0]) for line in log[1:] if ",loss," in line]
    assert steps == [1, 2, 3, 4, 5, 6]
    longer = replace(config, loop=replace(loop, steps=8))
    with pytest.raises(WaywordError, match=r"run: was begun with other settings \(loop.steps 6, now 8\)"):
        train(tmp_path / "run", longer, inputs)


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
