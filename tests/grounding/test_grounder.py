from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from support.toy_grounder import RED_AND_BLUE, toy_frame, toy_grounder
from wayword.errors import DataError, WaywordError
from wayword.grounding import Exemplars, Grounder
from wayword.grounding.weight_files import WEIGHTS


def test_the_right_box_gets_the_mask() -> None:
    # Red at (30, 30), blue at (90, 30); the reference means blue. Boxes reach 6 pixels around the cell's centre,
    # (30, 30) and (90, 30), and the margin of a tenth adds 1.2: pixels 83 to 96 are in the mask.
    answer = toy_grounder()(toy_frame((30, 30, 0), (90, 30, 2))[None], [[0.0, 1.0, 0.0]], RED_AND_BLUE)[0]
    assert len(answer.boxes) == 2
    best = answer.boxes[int(answer.alignment[0].argmax())]
    np.testing.assert_allclose(best, [84, 24, 96, 36])
    assert answer.masks[0, 30, 90] > 0.85
    assert answer.masks[0, 30, 30] < 0.01
    assert answer.all_objects[30, 30] > 0.9
    assert answer.all_objects[60, 60] == 0


def test_quantities_fit_together() -> None:
    answer = toy_grounder()(toy_frame((30, 30, 0), (90, 30, 2))[None], [[0.7, 0.2, 0.1]] * 3, RED_AND_BLUE)[0]
    boxes, references = len(answer.boxes), 3
    assert answer.p_object_of_box.shape == (boxes, 3)
    np.testing.assert_allclose(answer.p_object_of_box.sum(axis=1), 1)
    assert answer.alignment.shape == (references, boxes)
    by_hand = (answer.p_object_of_box[:, :2] @ np.array([0.7, 0.2])) * answer.p_box
    np.testing.assert_allclose(answer.alignment[0], by_hand)
    assert answer.masks.shape == (references, 72, 128)
    summed = np.minimum(1, (answer.alignment[0][:, None, None] * answer.box_masks).sum(axis=0))
    np.testing.assert_allclose(answer.masks[0], summed, atol=1e-6)


def test_a_batch_is_its_frames_one_by_one() -> None:
    frames = np.stack([toy_frame((30, 30, 0)), toy_frame(), toy_frame((90, 30, 2), (20, 50, 0))])
    together = toy_grounder()(frames, [[0.5, 0.5, 0.0]], RED_AND_BLUE)
    assert [len(answer.boxes) for answer in together] == [1, 0, 2]
    for frame, answer in zip(frames, together, strict=True):
        alone = toy_grounder()(frame[None], [[0.5, 0.5, 0.0]], RED_AND_BLUE)[0]
        np.testing.assert_allclose(alone.masks, answer.masks)


def test_references_and_databases_per_frame() -> None:
    frames = np.stack([toy_frame((30, 30, 0)), toy_frame((30, 30, 0))])
    only_blue = Exemplars(("blue",), np.eye(3, dtype=np.float32)[[2]], np.array([0]))
    first, second = toy_grounder()(
        frames, [np.array([[1.0, 0.0, 0.0]]), np.array([[1.0, 0.0]])], [RED_AND_BLUE, only_blue]
    )
    assert first.alignment.max() > 0.85
    assert second.alignment.max() < 0.01
    with pytest.raises(WaywordError, match="2 frames but"):
        toy_grounder()(frames, [np.array([[1.0, 0.0, 0.0]])], RED_AND_BLUE)


def test_no_frames_no_references_no_objects() -> None:
    grounder = toy_grounder()
    assert grounder(np.zeros((0, 72, 128, 3), np.uint8), np.zeros((1, 3)) + 1 / 3, RED_AND_BLUE) == []
    assert grounder(toy_frame((30, 30, 0))[None], np.zeros((0, 3)), RED_AND_BLUE)[0].masks.shape == (0, 72, 128)
    empty = grounder.embed_database({})
    assert grounder(toy_frame((30, 30, 0))[None], [[1.0]], empty)[0].masks.max() == 0


@pytest.mark.parametrize("bad", [[[0.5, 0.5]], [[0.5, 0.2, 0.1]], [[1.5, -0.5, 0.0]], [[np.nan, 0.5, 0.5]]])
def test_impossible_reference_probabilities(bad: list[list[float]]) -> None:
    with pytest.raises(WaywordError, match=r"P\(o \| r\)"):
        toy_grounder()(toy_frame()[None], bad, RED_AND_BLUE)


shipped = pytest.mark.skipif(not (WEIGHTS / "sim" / "config.json").exists(), reason="no weights in the package")


@shipped
@pytest.mark.needs_torch
def test_shipped_weights_equal_their_torch_networks() -> None:
    import torch

    from wayword.learning.grounding.export import load_nets

    nets, _ = load_nets(WEIGHTS / "sim")
    grounder = Grounder.load("sim")
    rng = np.random.default_rng(0)
    image = rng.uniform(-1, 1, (2, 3, 72, 128)).astype(np.float32)
    crops = rng.uniform(-1, 1, (5, 3, 32, 32)).astype(np.float32)
    with torch.no_grad():
        for network, net, x in (
            (grounder.proposer.network, nets.proposals, image),
            (grounder.embedder.network, nets.metric, crops),
            (grounder.refiner.network, nets.refine, crops),
        ):
            expected = net(torch.from_numpy(x))
            expected = expected if isinstance(expected, tuple) else (expected,)
            for ours, theirs in zip(network(x), expected, strict=True):
                np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-3, atol=1e-4)


@shipped
def test_shipped_weights_on_a_few_dev_frames() -> None:
    # A floor well below the published figures: 40 frames are few, and this guards against broken files.
    from wayword.intervals import auroc
    from wayword.learning.grounding.databases import certain, sampled_database
    from wayword.learning.grounding.scenes import SceneConfig, scenes
    from wayword.learning.grounding.trials import proposal_recall, run_trials
    from wayword.sim.models.catalogue import names

    grounder = Grounder.load("sim")
    made = scenes(SceneConfig("dev", 40, seed=7))
    photos = scenes(SceneConfig("dev", 120, "random", poses=4, seed=8))
    exemplars = sampled_database(grounder, photos, names("dev"), np.random.default_rng(0))
    done = run_trials(grounder, made, exemplars, certain)
    assert proposal_recall(grounder, made.data).mean > 0.85
    assert np.mean(done.right) > 0.8
    assert np.array(done.overlaps).mean(axis=0).max() > 0.5
    assert auroc(done.present, done.absent) > 0.9


@shipped
def test_damaged_weights_are_one_clear_line(tmp_path: Path) -> None:
    for file, content in (
        ("proposals.onnx", b"not a network"),
        ("config.json", b"{"),
        ("config.json", b'{"schema": 99}'),
        ("config.json", json.dumps({"schema": 1}).encode()),
    ):
        folder = tmp_path / "weights"
        shutil.copytree(WEIGHTS / "sim", folder)
        (folder / file).write_bytes(content)
        with pytest.raises(DataError) as caught:
            Grounder.load(folder)
        assert "\n" not in str(caught.value)
        assert file in str(caught.value)
        shutil.rmtree(folder)
    with pytest.raises(WaywordError, match=r"neither shipped grounding weights \(lab, real, sim\)"):
        Grounder.load("nowhere")
    with pytest.raises(WaywordError, match="nor a folder of them"):
        Grounder.load(tmp_path)


@shipped
def test_random_bytes_instead_of_an_image_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (2, 72, 128, 3), dtype=np.uint8)
    flat = np.stack([np.zeros((72, 128, 3), np.uint8), np.full((72, 128, 3), 255, np.uint8)])
    grounder = Grounder.load("sim")
    exemplars = grounder.embed_database({"noise": rng.uniform(-1, 1, (5, 3, 32, 32)).astype(np.float32)})
    for answer in grounder(np.concatenate([noise, flat]), [[1.0, 0.0]], exemplars):
        assert np.isfinite(answer.masks).all()
        assert 0 <= answer.masks.min() <= answer.masks.max() <= 1
