"""PVN2 in flight: what flies is what was trained, and what cannot fly says so in one line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.extra_torch import torch
from support.pvn2_weights import WORDS, untrained
from wayword.camera import Camera
from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.runner import fly_examples
from wayword.evaluation.table import systems
from wayword.evaluation.table.columns import Column
from wayword.learning.policy.pvn2_network import Pvn2Stage1, integrate, project_frames, seen_from
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Observations, Policy, make_policy, needs_objects
from wayword.policy.mirror import mirrored_distributions, mirrored_maps, together
from wayword.policy.pvn2 import PVN2, PVN2_ALL, PVN2_SEEN, Pvn2Runtime, plain_layers
from wayword.policy.stage1 import SHIPPED
from wayword.policy.tokens import mirrored, tokenise
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank

POSES = np.array([[1.0, 2.0, 0.7, 0.0, 0.05, 0.3], [1.4, 2.1, 0.7, 0.02, 0.0, 0.6]])
TOLD = "past the globe, then stop left of the zebra"


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Untrained ones, beside FsPVN's as they would ship."""
    folder = tmp_path_factory.mktemp("weights")
    shutil.copytree(SHIPPED / "fspvn", folder / "fspvn")
    untrained(folder / "pvn2_seen")
    return folder


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Pvn2Stage1:
    """The same in torch."""
    return untrained(tmp_path_factory.mktemp("again") / "pvn2_seen")


def images_of(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(0, 256, (count, 72, 128, 3), dtype=np.uint8)


def test_onnx_is_torch(weights: Path, net: Pvn2Stage1, rng: np.random.Generator) -> None:
    flown, images = Pvn2Runtime(weights / "pvn2_seen", mirror=False), images_of(rng, 3)
    numbers = torch.from_numpy(WORDS.numbers(tokenise(TOLD)))[None]
    semantic = rng.normal(size=(3, 8, 64, 64)).astype(np.float32)
    others = rng.random((3, 5, 64, 64)).astype(np.float32)
    with torch.inference_mode():
        text = net.read(numbers, torch.tensor([numbers.shape[1]]))
        features = net.image(torch.from_numpy(images)).numpy()
        logits = net(text.expand(3, -1), torch.from_numpy(semantic), torch.from_numpy(others))
    assert flown.read(TOLD) == pytest.approx(text.numpy(), abs=1e-5)
    assert flown.look(images) == pytest.approx(features, abs=1e-4, rel=1e-5)
    distributions = flown.predict([flown.read(TOLD)] * 3, semantic, others)
    assert distributions == pytest.approx(torch.softmax(logits, dim=2).numpy(), abs=1e-5)
    assert distributions.sum(axis=2) == pytest.approx(1.0, abs=1e-4)


def test_a_flight_sees_what_training_sees(
    weights: Path, net: Pvn2Stage1, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two steps of a flight against the differentiable way from the same pictures, asked both ways."""
    policy, images = PVN2_SEEN.load(weights / "pvn2_seen"), images_of(rng, 2)
    answers: list[np.ndarray] = []
    predict = policy.stage1.predict
    monkeypatch.setattr(policy.stage1, "predict", lambda *inputs: answers.append(predict(*inputs)) or answers[-1])
    policy.reset([TOLD], [None])
    for image, pose in zip(images, POSES, strict=True):
        actions = policy.act(Observations(np.array([0]), image[None], pose[None]))
    assert actions.shape == (1, 3)
    assert np.isfinite(actions).all()
    start, coverage = POSES[0, [0, 1, 5]], policy._flights[0].map.coverage
    others = plain_layers(coverage, start)[None]
    expected = []
    with torch.inference_mode():
        ground = project_frames(net.image(torch.from_numpy(images)), torch.from_numpy(POSES).float(), Camera())
        ahead = seen_from(integrate(ground, [1])[0], start)
        for tokens, semantic, layers in (
            (tokenise(TOLD), ahead, others),
            (mirrored(tokenise(TOLD)), ahead.flip(2), mirrored_maps(others)),
        ):
            numbers = torch.from_numpy(WORDS.numbers(tokens))[None]
            text = net.read(numbers, torch.tensor([numbers.shape[1]]))
            expected.append(torch.softmax(net(text, semantic, torch.from_numpy(layers.copy())), dim=2).numpy())
    assert answers[1] == pytest.approx(together(expected[0], mirrored_distributions(expected[1])), abs=1e-4)


def test_drones_do_not_disturb_each_other(weights: Path, rng: np.random.Generator) -> None:
    policy, images = make_policy("pvn2_seen", weights / "pvn2_seen"), images_of(rng, 2)
    assert isinstance(policy, PVN2)
    assert isinstance(policy, Policy)
    assert not needs_objects(policy)
    policy.reset([TOLD, "stop"], [None, None])
    both = policy.act(Observations(np.array([0, 1]), images, POSES))
    policy.reset(["stop"], [None])
    alone = policy.act(Observations(np.array([0]), images[1:], POSES[1:]))
    assert both[1] == pytest.approx(alone[0], abs=1e-5)


def test_it_flies_an_example_the_same_way_twice(weights: Path, dev_pairs: list[Example], bank: MeshBank) -> None:
    run = RunConfig(arena=ArenaConfig(horizon=4))
    tracks = [
        fly_examples(PVN2_SEEN.load(weights / "pvn2_seen"), dev_pairs[:2], bank, run, [None, None]) for _ in range(2)
    ]
    assert [flight.track for flight in tracks[0]] == [flight.track for flight in tracks[1]]


def test_a_camera_of_other_pixels_is_fitted(weights: Path, rng: np.random.Generator) -> None:
    policy = PVN2_SEEN.load(weights / "pvn2_seen", Camera(256, 144))
    policy.reset([TOLD], [None])
    large = rng.integers(0, 256, (1, 144, 256, 3), dtype=np.uint8)
    assert policy.act(Observations(np.array([0]), large, POSES[:1])).shape == (1, 3)


def refusal(folder: Path) -> str:
    with pytest.raises(WaywordError) as caught:
        PVN2_SEEN.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_weights_that_cannot_fly_say_so_in_one_line(weights: Path, tmp_path: Path) -> None:
    assert "holds no weights of pvn2_seen; `wayword train pvn2 --objects seen` makes them" in refusal(tmp_path / "none")
    assert "is not of PVN2's weights" in refusal(weights / "fspvn")
    for name in ("image.onnx", "text.onnx", "visitation.onnx", "control.onnx"):
        broken = shutil.copytree(weights / "pvn2_seen", tmp_path / name)
        (broken / name).write_bytes(b"no network")
        assert name in refusal(broken)
    swapped = shutil.copytree(weights / "pvn2_seen", tmp_path / "swapped")
    settings = json.loads((swapped / "config.json").read_text())
    for change, words in (
        ({"vocabulary": settings["vocabulary"][:-1]}, "text.onnx knows others"),
        ({"schema": 7}, "has schema 7"),
        ({"objects": "all"}, "was trained with --objects all, which is not pvn2_seen"),
        ({"image": {"features": 5}}, "image.onnx: is not the network wanted here"),
        ({"image": None}, "config.json: is damaged"),
    ):
        (swapped / "config.json").write_text(json.dumps({**settings, **change}))
        assert words in refusal(swapped)


def test_rows_of_the_table_need_weights_beside_fspvns(weights: Path, tmp_path: Path) -> None:
    assert not systems.missing_weights("pvn2_seen", weights / "fspvn")
    assert "holds no weights of pvn2_all" in systems.missing_weights("pvn2_all", weights / "fspvn")
    assert PVN2_ALL.beside() == SHIPPED / "pvn2_all"
    policy = systems.load_system("pvn2_seen", weights / "fspvn")
    assert policy.name == "pvn2_seen"
    column = Column("dev", "natural")
    assert systems.databases("pvn2_seen", column, [], tmp_path) == []
    one = systems.fingerprint("pvn2_seen", column, tmp_path, weights / "fspvn")
    untrained(tmp_path / "pvn2_seen", seed=1)
    assert systems.fingerprint("pvn2_seen", column, tmp_path, tmp_path / "fspvn") != one
    assert not systems.system_of("pvn2_seen").learned
    assert systems.system_note("pvn2_seen", weights / "fspvn") == ""


def test_it_flies_without_torch(weights: Path) -> None:
    code = (
        "import sys; from wayword.policy import make_policy; "
        f"make_policy('pvn2_seen', {str(weights / 'pvn2_seen')!r}).reset(['stop'], [None]); "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
