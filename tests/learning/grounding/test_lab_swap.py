"""The swap in miniature: pictures of the empty lab, frames and weights made of them, a flight with these weights."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from wayword.cli.launch import main
from wayword.episodes import Example
from wayword.evaluation.runner import fly_examples
from wayword.grounding.weight_files import find_weights, read_grounding_config
from wayword.intervals import wilson
from wayword.learning.ar.backgrounds import FolderFrames
from wayword.learning.ar.collect import collect_frames
from wayword.learning.ar.config import ARConfig, ARLayoutConfig, PhotoConfig, PoolConfig, ViewConfig
from wayword.learning.ar.generate import Generator
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.ar.photos import PhotoStyle, noise_level, take_photo
from wayword.learning.ar.shards import generate_shards, read_shard, shards
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import make_policy
from wayword.sim.render.bank import MeshBank
from wayword.sim.worlds import WORLDS

pytestmark = pytest.mark.needs_torch
SMALL = ARConfig(
    shard_frames=12,
    objects=PoolConfig(random_objects=12),
    layout=ARLayoutConfig(min_objects=4, max_objects=6),
    views=ViewConfig(frames_per_layout=3, flights=2),
    photo=PhotoConfig(simulated_share=0.4),
)


@pytest.fixture(scope="module")
def lab_frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab") / "frames"
    collect_frames(folder, "lab", 10)
    return folder


@pytest.fixture(scope="module")
def data(lab_frames: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    pool = ObjectPool.build((), SMALL.objects, "train")
    list(generate_shards(Generator(pool, FolderFrames(lab_frames), SMALL, seed=0), folder, 24))
    return folder


def test_pictures_of_the_empty_lab_are_what_the_training_reads(lab_frames: Path) -> None:
    frames = FolderFrames(lab_frames)
    assert frames.photos.shape == (10, 72, 128, 3)
    assert frames.camera.hfov_deg == pytest.approx(84.0)
    assert len(np.unique(frames.poses, axis=0)) == 10
    with pytest.raises(SystemExit) as left:
        main(["world", "frames", "--out", str(lab_frames)])
    assert left.value.code == 2


def test_noise_is_measured_in_pictures_with_texture() -> None:
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:72, 0:128]
    room = 110 + 40 * np.sin(x / 9) + 20 * np.cos(y / 7)
    for level in (2.0, 8.0):
        grain = rng.normal(0, level, (6, 72, 128, 3))
        photos = np.clip(np.round(room[None, ..., None] + grain), 0, 255).astype(np.uint8)
        assert noise_level(photos) == pytest.approx(level, rel=0.15)


def test_an_object_gets_the_photographs_colours_blur_and_noise() -> None:
    rng = np.random.default_rng(0)
    photo = np.full((72, 128, 3), 100, np.uint8)
    layer, factor = np.zeros((72, 128, 4), np.float32), np.ones((72, 128), np.float32)
    layer[20:50, 40:80] = (120, 120, 120, 1)
    clean = take_photo(photo, layer, factor, PhotoStyle((1, 1, 1), 0, 0, 0), rng)
    assert (clean[20:50, 40:80] == 120).all()
    assert (clean[:20] == 100).all()
    worn = take_photo(photo, layer, factor, PhotoStyle((1.2, 1, 0.5), 0, 1.0, 4.0), rng).astype(float)
    inside = worn[24:46, 44:76].reshape(-1, 3)
    np.testing.assert_allclose(inside.mean(axis=0), [144, 120, 60], atol=0.6)
    np.testing.assert_allclose(inside.std(axis=0), 4.0, atol=0.5)
    assert 100 < worn[30:40, 39, 0].mean() < 140  # the outline is soft, and noise stays with the object
    assert (worn[:10] == 100).all()


def test_shards_mix_own_pictures_with_clean_ones(data: Path, lab_frames: Path) -> None:
    from wayword.learning.grounding.data import open_shards

    found, held_out = open_shards(data)
    photo = np.concatenate([found.photo, held_out.photo])
    assert 0 < photo.sum() < len(photo)
    taken_from = {tuple(pose) for pose in FolderFrames(lab_frames).poses}
    for path, part in zip(shards(data), (found, held_out), strict=True):
        own = [tuple(pose) in taken_from for pose in read_shard(path).pose]
        assert own == part.photo.tolist()  # a photograph stays where it was taken; simulated frames are elsewhere


def test_probabilities_are_fitted_as_they_are_used(data: Path) -> None:
    """Regions of the own pictures against exemplars of the clean ones, where there are both."""
    from wayword.learning.grounding import fit
    from wayword.learning.grounding.data import open_shards

    mixed, _ = open_shards(data)
    np.testing.assert_array_equal(fit.of_flights(mixed), mixed.photo)
    simulated = replace(mixed, photo=np.zeros_like(mixed.photo))
    assert fit.of_flights(simulated).all()


@pytest.fixture(scope="module")
def weights(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All three networks, two steps on from those of the simulator."""
    from wayword.learning.common.loop import LoopConfig
    from wayword.learning.grounding import train_metric, train_proposals, train_refine
    from wayword.learning.grounding.export import Nets, load_nets, save_weights
    from wayword.learning.grounding.inputs import GroundingInputs

    sim, runs = find_weights("sim"), tmp_path_factory.mktemp("runs")
    loop = LoopConfig(steps=2, minutes=5, learning_rate=1e-4)
    inputs = GroundingInputs(data, start=sim)
    nets = Nets(
        train_proposals.train(runs / "p", train_proposals.ProposalTraining(loop, batch=4), inputs),
        train_metric.train(runs / "m", train_metric.MetricTraining(loop, objects=4, views=2, least_pixels=12), inputs),
        train_refine.train(runs / "r", train_refine.RefineTraining(loop, batch=8), inputs),
    )
    config, _ = read_grounding_config(sim)
    save_weights(runs / "weights", nets, load_nets(sim)[1], config, {})
    return runs / "weights"


def test_fine_tuning_begins_where_the_shipped_weights_are(weights: Path) -> None:
    """Two steps later embeddings are near the shipped ones, and not the same; random weights would be far off."""
    from wayword.grounding import Grounder

    crops = {"a": np.random.default_rng(0).integers(0, 255, (6, 32, 32, 3)).astype(np.uint8)}
    before, after = (Grounder.load(f).embed_database(crops).vectors for f in (find_weights("sim"), weights))
    assert not np.array_equal(before, after)
    assert (before * after).sum(axis=1).min() > 0.8


def test_a_flight_in_the_lab_with_swapped_weights(weights: Path, bank: MeshBank, dev_pairs: list[Example]) -> None:
    from wayword.evaluation.table.columns import shipped_database

    lab = WORLDS["lab"]
    config = RunConfig(arena=replace(lab.arena(), horizon=2), look=lab.look)
    policy = make_policy("fspvn", grounder=weights)
    flight = fly_examples(policy, dev_pairs[:1], bank, config, [shipped_database("dev")], keep_images=True)[0]
    assert flight.images is not None
    usual = fly_examples(policy, dev_pairs[:1], bank, RunConfig(arena=replace(config.arena, lens=WORLDS["arena"].lens)),
                [shipped_database("dev")], keep_images=True)[0]  # fmt: skip
    assert usual.images is not None
    assert np.abs(flight.images[0].astype(int) - usual.images[0]).mean() > 20


@pytest.mark.parametrize(
    "command",
    [
        ["eval", "--policy", "fspvn", "--split", "dev", "--limit", "1"],
        ["eval", "table", "--split", "dev"],
        ["eval", "swap"],
        ["fly", "stop at the globe"],
        ["flight", "fly", "stop at the globe"],
    ],
)
def test_unknown_grounders_are_one_line(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main([*command, "--grounder", "nowhere"])
    assert left.value.code == 2
    message = capsys.readouterr().err.strip()
    assert "nowhere" in message
    assert "sim" in message
    assert len(message.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_both_segmentations_fly_the_same_instructions(weights: Path, tmp_path: Path) -> None:
    from wayword.cli.eval_swap import EvalSwap

    swap = EvalSwap(str(weights), split="dev", limit=1, workers=1, folder=tmp_path)
    swap.run()
    report = json.loads((tmp_path / "swap-lab-dev.json").read_text(encoding="utf-8"))
    rows = {name: report["cells"][name]["flights"] for name in ("noswap", "swap")}
    assert [row["example"] for row in rows["swap"]] == [row["example"] for row in rows["noswap"]]
    assert len(list((tmp_path / "cells").iterdir())) == 2  # other weights, other cell
    cell = SimpleNamespace(summary=lambda: {"sr": wilson(3, 4), "emd": wilson(1, 4)})
    figures = swap.figures({"noswap": cell, "swap": cell})  # type: ignore[dict-item]
    assert set(figures) == {"noswap.lab.sr", "noswap.lab.emd", "swap.lab.sr", "swap.lab.emd"}
    assert figures["swap.lab.sr"].value == 75
    assert "eval swap --world lab" in figures["swap.lab.sr"].command


def test_only_other_weights_are_swapped_and_only_whole_splits_published(tmp_path: Path) -> None:
    from wayword.cli.eval_swap import EvalSwap
    from wayword.errors import WaywordError
    from wayword.shipped import DEFAULT_GROUNDER

    with pytest.raises(WaywordError, match="compared with"):
        EvalSwap(DEFAULT_GROUNDER, folder=tmp_path).run()
    other = tmp_path / "weights"
    other.mkdir()
    (other / "config.json").write_text(json.dumps({}))
    with pytest.raises(WaywordError, match="whole test split"):
        EvalSwap(str(other), split="dev", publish=True, folder=tmp_path).run()
