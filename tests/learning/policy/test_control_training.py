"""Stage 2's networks, its teacher world and its training."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.extra_torch import torch
from wayword.episodes import Example
from wayword.errors import DataError
from wayword.learning.policy.control_net import ControlNet, ValueNet
from wayword.learning.policy.control_run import ControlRun, ControlTraining, exported_control, load_networks
from wayword.learning.policy.noise import Noise, NoiseConfig
from wayword.learning.policy.ppo import PPOConfig
from wayword.learning.policy.rewards import RewardConfig
from wayword.learning.policy.sizes import PAPER_SIZE, ControlSize
from wayword.learning.policy.teacher import (
    TeacherConfig,
    TeacherWorld,
    fly_world,
    oracle_actor,
    teacher_examples,
)
from wayword.learning.policy.train_control import ControlSources, train
from wayword.mapping.grid import CELL_M, UNOBSERVED
from wayword.policy.control import PAPER, Control, ControlConfig
from wayword.task import MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S

QUICK = ControlTraining(
    size=ControlSize(channels=4, hidden=16),
    ppo=PPOConfig(passes=1, minibatches=2),
    teacher=TeacherConfig(horizon=8),
    iterations=4,
    cloning=2,
    flights=4,
    episodes=3,
    held_out=2,
    evaluate_every=2,
)


@pytest.fixture(scope="module")
def pool() -> list[Example]:
    return teacher_examples(3, seed=5, segments=(2,))


def test_networks_have_the_papers_size_and_start_carefully() -> None:
    # Released: 34.6k parameters with a head of 16 outputs of which 5 are used, here 5: 11 * 33 = 363 fewer.
    # Image 4 * 4 * 9 + 4, masks 2 * 4 * 9 + 4, dense 512 * 32 + 32 and 544 * 32 + 32, head 32 * 5 + 5.
    net = ControlNet(PAPER, PAPER_SIZE)
    assert sum(p.numel() for p in net.parameters()) == 148 + 76 + 16416 + 17440 + 165
    assert ValueNet(PAPER, PAPER_SIZE)(torch.rand(3, PAPER.size)).shape == (3,)
    outputs = ControlNet()(torch.rand(7, ControlConfig().size)).detach().numpy()
    assert outputs.shape == (7, 5)
    np.testing.assert_allclose(outputs[:, [1, 3]], 0.3, atol=0.1)
    assert (outputs[:, 4] < -2).all()  # an untrained policy does not stop at once


def test_the_oracle_succeeds_in_the_teacher_world(pool: list[Example]) -> None:
    world = TeacherWorld(pool, TeacherConfig(noise=None), ControlConfig(), np.random.default_rng(0))
    oracle, none = oracle_actor(world), np.zeros
    assert (world.distributions[:, 1, UNOBSERVED] > 0).any()  # not every goal is in view from the start
    flights = fly_world(world, lambda slots, _: (oracle(slots), none(len(slots)), none(len(slots))), RewardConfig())
    numbers = flights.numbers()
    assert numbers["success"] == numbers["stopped"] == 1
    assert numbers["error_m"] < 0.15
    assert (world.distributions[:, 1, UNOBSERVED] < 0.05).all()  # the goal is seen by the time it is reached
    assert not len(world.flying)
    for inputs, rewards, path in zip(flights.inputs, flights.rewards, flights.paths, strict=True):
        assert inputs.shape == (len(rewards), ControlConfig().size)
        assert np.isfinite(inputs).all()
        assert len(path) == 1 + 25 * (len(rewards) - 1)  # 25 sub-steps per decision, none for the stop


def test_things_are_mapped_where_they_stand_once_observed(pool: list[Example]) -> None:
    config = TeacherConfig(noise=None, misplaced_m=0.0, missized=(1.0, 1.0))
    world = TeacherWorld(pool[:4], config, ControlConfig(things=True), np.random.default_rng(0))
    oracle = oracle_actor(world)
    fly_world(world, lambda slots, _: (oracle(slots), np.zeros(len(slots)), np.zeros(len(slots))), RewardConfig())
    for n, example in enumerate(world.examples):
        assert (world.things[n] <= world.coverage[n] + 1e-6).all()
        for item in example.objects:
            row, column = int(item.y / CELL_M), int(item.x / CELL_M)
            assert world.things[n, row, column] == pytest.approx(world.coverage[n, row, column], abs=1e-5)


def test_the_gap_to_the_nearest_thing_by_hand(pool: list[Example]) -> None:
    # A column of 0.18 m and a body of 0.08 m touch at 0.26 m. Flown straight at a thing 0.6 m ahead until it holds
    # the body back, the gap falls to nothing; turned away from it at the start, it was 0.34 m.
    world = TeacherWorld(pool[:1], TeacherConfig(noise=None), ControlConfig(), np.random.default_rng(0))
    x, y, yaw = world.starts[0]
    world._columns[0] = 0.0
    world._columns[0, 0] = (x + 0.6 * np.cos(yaw), y + 0.6 * np.sin(yaw), 0.18)
    world.step(np.zeros((1, 3)))
    assert world.gaps_m(np.array([0]))[0] == pytest.approx(0.34, abs=1e-6)
    for _ in range(6):
        world.step(np.array([[MAX_SPEED_M_S, 0.0, 0.0]]))
    assert world.gaps_m(np.array([0]))[0] == pytest.approx(0.0, abs=1e-6)
    assert world.fleet.contacts[0] == 1


def test_a_flight_ends_at_the_horizon_and_others_fly_on(pool: list[Example]) -> None:
    world = TeacherWorld(pool[:3], TeacherConfig(noise=None, horizon=3), ControlConfig(), np.random.default_rng(0))
    world.step(np.array([[MAX_SPEED_M_S, 0, 0], [0, 0, 1], [0, MAX_YAW_RATE_RAD_S, 0]]))
    assert world.flying.tolist() == [0, 2]
    before = world.poses
    for _ in range(2):
        world.step(np.tile(np.array([MAX_SPEED_M_S, 0, 0]), (3, 1)))  # that of the one that has ended is not flown
    assert not len(world.flying)
    assert world.stopped.tolist() == [False, True, False]
    np.testing.assert_array_equal(world.poses[1], before[1])
    assert np.linalg.norm(world.poses[0, :2] - world.starts[0, :2]) > 0.5


def test_what_flies_is_the_moving_average_of_the_control_network(tmp_path: Path) -> None:
    # After one iteration keep = min(0.5, 1 / 10): 0.1 of what it was and 0.9 of what it is; after the second
    # keep = min(0.5, 2 / 11) = 2 / 11.
    run = ControlRun(tmp_path, replace(QUICK, average=0.5))
    name = next(iter(run.averaged))
    start = run.averaged[name].clone()
    for number, value in ((0, 1.0), (1, 3.0)):
        run.step = number
        with torch.no_grad():
            run.control.state_dict()[name].fill_(value)
        run.update_average()
    expected = 2 / 11 * (0.1 * start + 0.9) + 9 / 11 * 3.0
    torch.testing.assert_close(run.averaged[name], expected)
    run.save()
    again = ControlRun(tmp_path, replace(QUICK, average=0.5))
    torch.testing.assert_close(again.averaged[name], expected)
    again.export()
    torch.testing.assert_close(load_networks(tmp_path)[0].state_dict()[name], expected)


def test_noise_makes_distributions_and_is_kept_through_an_episode(pool: list[Example]) -> None:
    def two(seed: int, config: NoiseConfig) -> list[np.ndarray]:
        start = np.array([1.5, 2.0, 0.4])
        noise = Noise(pool[0].path, pool[1].path - pool[1].path[0], start, config, np.random.default_rng(seed))
        results = [np.empty((2, UNOBSERVED + 1), np.float32) for _ in range(2)]
        for result in results:
            noise.write(np.full((32, 32), 0.5, np.float32), result)
        return results

    for seed in range(8):
        first, second = two(seed, NoiseConfig())
        np.testing.assert_allclose(first.sum(1, dtype=np.float64), 1, atol=1e-4)
        assert (first >= 0).all()
        # The next step resembles this one more than another episode does.
        assert np.abs(second - first).sum() < np.abs(two(seed + 100, NoiseConfig())[0] - first).sum()
        np.testing.assert_array_equal(first, two(seed, NoiseConfig())[0])
    # Sizes of zero leave a plain distribution, half of it unobserved.
    none = NoiseConfig(0, 0, 0, (1.0, 1.0), 0, 0, 0, (0.1, 0.1), 0)
    first, second = two(0, none)
    np.testing.assert_allclose(first, second, atol=1e-7)
    np.testing.assert_allclose(first[:, UNOBSERVED], 0.5, atol=1e-4)


def test_a_killed_run_goes_on_to_the_bit(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    whole = train(tmp_path / "whole", QUICK).tensors()

    class AfterThree:
        calls = 0

        def is_set(self) -> bool:
            self.calls += 1
            return self.calls > 3

    train(tmp_path / "parts", QUICK, stop=AfterThree())  # type: ignore[arg-type]
    run = train(tmp_path / "parts", QUICK)
    assert run.step == 4
    for name, value in run.tensors().items():
        assert torch.equal(value, whole[name]), name
    with (tmp_path / "whole" / "log.csv").open() as file:
        assert {"clean_success", "noisy_emd_m"} <= {row["name"] for row in csv.DictReader(file)}


def test_a_run_goes_on_from_exported_weights_and_settles_first(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    first = train(tmp_path / "first", QUICK)
    first.export()
    begun = load_networks(tmp_path / "first")[0].state_dict()
    inputs = ControlSources(tmp_path / "first")
    settling = replace(QUICK, settling=2, iterations=2, evaluate_every=100)
    settled = train(tmp_path / "settled", settling, inputs)
    for name, value in settled.control.state_dict().items():
        assert torch.equal(value, begun[name]), name  # two iterations for the values alone
    random = ValueNet(QUICK.inputs, QUICK.size)
    assert settled.value.state_dict().keys() == random.state_dict().keys()
    improved = train(tmp_path / "improved", replace(settling, iterations=3), inputs)
    assert any(not torch.equal(value, begun[name]) for name, value in improved.control.state_dict().items())


def test_weights_of_another_stage_2_are_not_gone_on_from(tmp_path: Path) -> None:
    train(tmp_path / "first", replace(QUICK, iterations=1)).export()
    for other in (replace(QUICK, size=ControlSize(channels=8, hidden=16)), replace(QUICK, inputs=PAPER)):
        with pytest.raises(DataError, match="other inputs or another size"):
            exported_control(tmp_path / "first", other)
    (tmp_path / "first" / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(DataError, match="choose other weights"):
        exported_control(tmp_path / "first", QUICK)


def test_what_was_trained_flies_without_torch(tmp_path: Path, pool: list[Example]) -> None:
    config = replace(QUICK, method="bc", iterations=1)
    train(tmp_path, config)
    control, _ = load_networks(tmp_path)
    flown = Control.load(tmp_path)
    assert flown.config == config.inputs
    world = TeacherWorld(pool[:2], TeacherConfig(), config.inputs, np.random.default_rng(0))
    flown.reset(world.starts)
    actions = flown.act(world.flying, world.distributions, world.starts, world.coverage, world.things)
    with torch.no_grad():
        outputs = control(torch.from_numpy(world.inputs(world.flying))).numpy()
    np.testing.assert_allclose(actions[:, 0], 0.7 * np.clip(outputs[:, 0], 0, 1), atol=1e-5)
    np.testing.assert_allclose(actions[:, 1], np.clip(outputs[:, 2], -1, 1), atol=1e-5)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(DataError, match="train again"):
        load_networks(tmp_path)
    (tmp_path / "checkpoint.safetensors").write_bytes(b"nothing")
    with pytest.raises(DataError, match="delete the folder"):
        train(tmp_path, config)
