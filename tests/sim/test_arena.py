from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.episodes import Example, PlacedObject, Pose2
from wayword.errors import WaywordError
from wayword.sim import Arena, ArenaConfig, ArenaEnv, MeshBank, Situation
from wayword.sim.gym import ArenaVectorEnv
from wayword.sim.render.sensor import SensorConfig
from wayword.sim.vehicle import VehicleConfig

CONE = PlacedObject("traffic cone", 2.35, 2.35, 0.0)


def situation(x: float = 1.0, y: float = 2.35, yaw: float = 0.0) -> Situation:
    return Situation((CONE,), Pose2(x, y, yaw))


def arena_with(bank: MeshBank, *situations: Situation, config: ArenaConfig | None = None) -> Arena:
    arena = Arena(len(situations), bank, config)
    arena.reset(range(len(situations)), list(situations), list(range(len(situations))))
    return arena


def test_a_stop_ends_the_episode_where_the_drone_is(bank: MeshBank) -> None:
    arena = arena_with(bank, situation())
    arena.step([[0.7, 0.0, 0.0]])
    before = arena.fleet.pose
    arena.step([[0.7, 0.0, 1.0]])
    assert arena.endings == ["policy"]
    assert np.array_equal(arena.fleet.pose, before)
    assert arena.steps[0] == 2
    assert np.array_equal(arena.flown(0)[-1], before[0, :2])


def test_straight_flight_covers_the_lagged_distance(bank: MeshBank) -> None:
    # v(t) = 0.7 (1 - exp(-t / 0.5)); after 2 s the way is 0.7 (2 - 0.5 (1 - exp(-4))) = 1.0564 m.
    arena = arena_with(bank, situation(y=4.0))
    for _ in range(4):
        arena.step([[0.7, 0.0, 0.0]])
    assert arena.poses[0, 0] - 1.0 == pytest.approx(0.7 * (2 - 0.5 * (1 - math.exp(-4))), abs=1e-6)
    assert arena.flown(0).shape == (1 + 4 * 25, 2)


@pytest.mark.parametrize("model", ["lag", "rigid"])
def test_headings_are_kept_beside_the_path(bank: MeshBank, model: str) -> None:
    arena = arena_with(bank, situation(yaw=3.0), config=ArenaConfig(vehicle=VehicleConfig(model=model)))  # type: ignore[arg-type]
    for _ in range(2):
        arena.step([[0.2, 1.0, 0.0]])
    flown = arena.flown_poses(0)
    assert np.array_equal(flown[:, :2], arena.flown(0))
    assert flown[0, 2] == 3.0
    assert flown[-1] == pytest.approx(arena.fleet.pose[0, [0, 1, 5]])


def test_objects_are_solid_and_touches_are_counted(bank: MeshBank) -> None:
    arena = arena_with(bank, situation())
    for _ in range(8):
        arena.step([[0.7, 0.0, 0.0]])
    column = min(bank.column_m["traffic cone"], 0.22)
    nearest = np.linalg.norm(arena.flown(0) - [CONE.x, CONE.y], axis=1).min()
    assert nearest >= column + 0.08 - 1e-9
    assert arena.contacts[0] >= 1
    assert arena.endings == [None]


def test_what_stood_there_in_the_episode_before_is_not_solid_any_more(bank: MeshBank) -> None:
    arena = arena_with(bank, situation())
    arena.reset([0], [Situation((), Pose2(1.0, 2.35, 0.0))], [1])
    for _ in range(6):
        arena.step([[0.7, 0.0, 0.0]])
    # v(t) = 0.7 (1 - exp(-t / 0.5)); after 3 s the way is 0.7 (3 - 0.5 (1 - exp(-6))) = 1.7509 m, across the cone.
    assert arena.poses[0, 0] == pytest.approx(1.0 + 0.7 * (3 - 0.5 * (1 - math.exp(-6))), abs=1e-6)
    assert arena.contacts[0] == 0


def test_a_touch_can_end_the_episode(bank: MeshBank) -> None:
    arena = arena_with(bank, situation(), config=ArenaConfig(end_on_contact=True))
    while len(arena.flying):
        arena.step([[0.7, 0.0, 0.0]])
    assert arena.endings == ["contact"]


def test_the_horizon_ends_an_episode(bank: MeshBank) -> None:
    arena = arena_with(bank, situation(), config=ArenaConfig(horizon=3))
    for _ in range(3):
        assert arena.endings == [None]
        arena.step([[0.0, 1.0, 0.0]])
    assert arena.endings == ["horizon"]


def test_the_net_holds_the_drone_back(bank: MeshBank) -> None:
    arena = arena_with(bank, situation(x=4.4, y=4.0))
    for _ in range(12):
        arena.step([[0.7, 0.0, 0.0]])
    assert arena.poses[0, 0] == 4.7 + 1.0
    assert arena.flown(0)[:, 0].max() == 4.7 + 1.0


def test_ended_slots_stay_and_their_actions_are_ignored(bank: MeshBank) -> None:
    arena = arena_with(bank, situation(), situation(y=4.0))
    arena.step([[0.7, 0.0, 0.0], [0.7, 0.0, 0.0]])
    arena.step([[0.0, 0.0, 1.0], [0.7, 0.0, 0.0]])
    resting = arena.fleet.pose[0]
    arena.step([[np.nan, 0.0, 0.0], [0.7, 0.0, 0.0]])
    assert np.array_equal(arena.fleet.pose[0], resting)
    assert arena.flying.tolist() == [1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_action_that_is_not_finite_is_an_error_and_not_a_stop(bank: MeshBank, bad: float) -> None:
    arena = arena_with(bank, situation())
    with pytest.raises(WaywordError, match="slot 0 is not finite"):
        arena.step([[0.1, bad, 0.0]])
    with pytest.raises(WaywordError, match="shape"):
        arena.step([[0.1, 0.0]])


def test_watching_changes_nothing_about_a_flight(bank: MeshBank) -> None:
    config = ArenaConfig(vehicle=VehicleConfig(position_noise_m=0.01), sensor=SensorConfig())
    plain, watched = (arena_with(bank, situation(), config=config) for _ in range(2))
    pictures = 0

    def watch() -> None:
        nonlocal pictures
        pictures += 1

    for _ in range(5):
        plain.step([[0.6, 0.4, 0.0]])
        watched.step([[0.6, 0.4, 0.0]], watch)
    assert pictures == 25
    assert np.array_equal(plain.flown(0), watched.flown(0))
    assert np.array_equal(plain.poses, watched.poses)


@pytest.mark.parametrize("decision_s", [0.33, 0.001, 0.0, -1.0, math.nan, math.inf, 1e9])
def test_decisions_are_whole_numbers_of_sub_steps(decision_s: float) -> None:
    with pytest.raises(WaywordError, match="decision_s") as caught:
        ArenaConfig(decision_s=decision_s)
    assert "\n" not in str(caught.value)
    assert ArenaConfig(decision_s=0.33, vehicle=VehicleConfig(sub_step_s=0.03)).watched_parts == 1  # 11 sub-steps


def test_a_watched_decision_is_cut_evenly(bank: MeshBank) -> None:
    # 0.16 s are 8 sub-steps of 0.02 s: not five equal parts, but four.
    config = ArenaConfig(decision_s=0.16)
    plain, watched = (arena_with(bank, situation(), config=config) for _ in range(2))
    seen: list[float] = []
    plain.step([[0.7, 0.0, 0.0]])
    watched.step([[0.7, 0.0, 0.0]], lambda: seen.append(float(watched.fleet.pose[0, 0])))
    assert len(seen) == config.watched_parts == 4
    assert seen == sorted(seen)
    assert np.array_equal(plain.poses, watched.poses)


def test_watching_changes_nothing_at_the_net_either(bank: MeshBank) -> None:
    flights = []
    for watch in (None, lambda: None):
        arena = arena_with(bank, situation(x=4.4, y=4.0, yaw=0.6))
        for turn in (0, 0, 0, 0, 0, 1, 1, 1, 0):
            arena.step([[0.7, float(turn), 0.0]], watch)
        flights.append((arena.flown(0), arena.poses))
    assert flights[0][0][:, 0].max() == 5.7
    assert np.array_equal(flights[0][0], flights[1][0])
    assert np.array_equal(flights[0][1], flights[1][1])


def test_bad_settings_are_refused() -> None:
    with pytest.raises(WaywordError, match="horizon"):
        ArenaConfig(horizon=0)


# The Gymnasium environments ------------------------------------------------------------------------------


def test_the_environment_passes_gymnasiums_checks() -> None:
    check_env(gymnasium.make("wayword/Arena-v0").unwrapped)


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**31), random_looks=st.booleans())
def test_single_and_vector_environments_agree_frame_for_frame(seed: int, random_looks: bool) -> None:
    config = ArenaConfig(
        horizon=6,
        vehicle=VehicleConfig(randomise=(0.3, 1.0), position_noise_m=0.01),
        sensor=SensorConfig(noise_std=3.0),
    )
    count, decisions = 3, 9
    vector = gymnasium.make_vec("wayword/Arena-v0", num_envs=count, config=config, random_looks=random_looks)
    assert isinstance(vector, ArenaVectorEnv)
    single = ArenaEnv(config=config, random_looks=random_looks)
    rng = np.random.default_rng(seed)
    actions = rng.uniform([0, -1, 0], [0.7, 1, 0.6], (decisions, count, 3)).astype(np.float32)
    steps = [(*vector.reset(seed=seed)[:1], np.zeros(count), np.zeros(count, bool), np.zeros(count, bool))]
    steps += [vector.step(action)[:4] for action in actions]
    for i in range(count):
        observation, _ = single.reset(seed=seed + i)
        reward, terminated, truncated = 0.0, False, False
        for t in range(decisions + 1):
            if t and (terminated or truncated):
                observation, reward, terminated, truncated = single.reset()[0], 0.0, False, False
            elif t:
                observation, reward, terminated, truncated, _ = single.step(actions[t - 1, i])
            there, rewards, terminations, truncations = steps[t]
            assert np.array_equal(observation["image"], there["image"][i])
            assert np.array_equal(observation["pose"], there["pose"][i])
            assert observation["instruction"] == there["instruction"][i]
            assert (reward, terminated, truncated) == (rewards[i], terminations[i], truncations[i])


def test_the_same_seed_gives_the_same_bytes() -> None:
    env = ArenaEnv(random_looks=True)
    (first, _), (second, _), (other, _) = (env.reset(seed=seed) for seed in (7, 7, 8))
    assert first["image"].tobytes() == second["image"].tobytes() != other["image"].tobytes()


def test_reward_is_one_for_a_stop_at_the_end_and_only_then(dev_pairs: list[Example]) -> None:
    cut = dev_pairs[0]
    env = ArenaEnv(examples=[cut])
    env.reset(options={"example": cut.id})
    *_, info = env.step(np.array([0.0, 0.0, 1.0]))
    assert not info["success"]  # the start is far from the end
    with pytest.raises(WaywordError, match="reset"):
        env.step(np.zeros(3))
    home = Example(cut.id, cut.episode, cut.first, cut.count, cut.instruction, cut.start, cut.path[::-1].copy())
    env = ArenaEnv(examples=[home])
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(np.array([0.0, 0.0, 1.0]))
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert (info["ended_by"], info["example"]) == ("policy", cut.id)


@pytest.mark.parametrize(("away", "reward"), [(0.469, 1.0), (0.471, 0.0)])
def test_success_is_within_47_centimetres(dev_pairs: list[Example], away: float, reward: float) -> None:
    cut = dev_pairs[0]
    end = np.array([[cut.start.x + away, cut.start.y]])
    near = Example(cut.id, cut.episode, cut.first, cut.count, cut.instruction, cut.start, end)
    env = ArenaEnv(examples=[near], config=ArenaConfig(horizon=1))
    env.reset(seed=0)
    assert env.step(np.array([0.0, 0.0, 1.0]))[1] == reward
    env.reset(seed=0)
    _, late, _, truncated, _ = env.step(np.array([0.0, 0.0, 0.0]))
    assert (late, truncated) == (0.0, True)  # only a stop of the policy's own is rewarded


def test_seeds_of_a_vector_are_checked(dev_pairs: list[Example]) -> None:
    envs = ArenaVectorEnv(2, examples=dev_pairs[:4])
    first = envs.reset(seed=np.int64(3))[0]  # type: ignore[arg-type]
    assert np.array_equal(first["image"], envs.reset(seed=[3, 4])[0]["image"])
    with pytest.raises(WaywordError, match="3 seeds for 2"):
        envs.reset(seed=[1, 2, 3])


def test_unknown_examples_and_empty_lists_are_refused(dev_pairs: list[Example]) -> None:
    with pytest.raises(WaywordError, match="no example 'nowhere'"):
        ArenaEnv(examples=dev_pairs[:2]).reset(options={"example": "nowhere"})
    with pytest.raises(WaywordError, match="at least one episode"):
        ArenaEnv(examples=[])
