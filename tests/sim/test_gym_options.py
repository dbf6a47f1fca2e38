"""The shaped reward and the encoded text of ``wayword/Arena-v0``."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.sim.gym import ArenaEnv, ArenaVectorEnv
from wayword.sim.gym_options import Shaping
from wayword.sim.render.bank import MeshBank


def test_shaping_worked_by_hand() -> None:
    shaping = Shaping(3)
    shaping.begin([0, 1, 2], np.array([2.0, 0.4, 1.0]))
    nobody = np.zeros(3, bool)
    # The first came 0.3 m nearer and touched something twice; the second arrived, the third gave up where it was.
    got = shaping.rewards(
        np.array([1.7, 0.4, 1.0]), np.array([2, 0, 0]), np.array([False, True, True]), np.array([False, True, False])
    )
    assert got == pytest.approx([0.3 - 0.5, 1.0, -0.5])
    assert shaping.rewards(np.array([1.8, 0.4, 1.0]), np.array([2, 0, 0]), nobody, nobody) == pytest.approx(
        [-0.1, 0, 0]
    )


def test_progress_adds_up_and_success_is_told(bank: MeshBank, dev_pairs: list[Example]) -> None:
    env = ArenaEnv(dev_pairs[:1], bank, reward="shaped")
    env.reset(seed=0)
    goal = dev_pairs[0].path[-1]
    before, total = np.linalg.norm(dev_pairs[0].path[0] - goal), 0.0
    for _ in range(4):
        _, reward, *_ = env.step(np.array([0.5, 0.0, 0.0], np.float32))
        total += reward
    after = np.linalg.norm(env.arena.flown(0)[-1] - goal)
    assert total == pytest.approx(before - after - 0.25 * env.arena.contacts[0])
    _, reward, stopped, _, info = env.step(np.array([0.0, 0.0, 1.0], np.float32))
    assert stopped
    assert (reward, info["success"]) == ((1.0, True) if after < 0.47 else (-0.5, False))


def test_a_vector_gives_each_its_own_and_nothing_for_a_reset(bank: MeshBank, dev_pairs: list[Example]) -> None:
    env = ArenaVectorEnv(2, dev_pairs[:4], bank, reward="shaped", text="encoded")
    seen, _ = env.reset(seed=0)
    assert seen["instruction"].shape == (2, 384)
    assert np.linalg.norm(seen["instruction"], axis=1) == pytest.approx([1, 1], abs=1e-3)
    env.step(np.array([[0.0, 0.0, 1.0], [0.5, 0.0, 0.0]]))
    _, rewards, *_ = env.step(np.array([[0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]))
    assert rewards[0] == 0.0


def test_encoded_text_is_in_its_space_and_wrong_names_are_refused(bank: MeshBank, dev_pairs: list[Example]) -> None:
    env = gymnasium.make("wayword/Arena-v0", examples=dev_pairs[:2], bank=bank, text="encoded", reward="shaped")
    seen, _ = env.reset(seed=0)
    assert env.observation_space.contains(seen)
    assert all(isinstance(space, gymnasium.spaces.Box) for space in env.observation_space.spaces.values())
    with pytest.raises(WaywordError, match="success or shaped"):
        ArenaEnv(dev_pairs[:1], bank, reward="dense")  # type: ignore[arg-type]
