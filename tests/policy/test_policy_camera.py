"""Policies and the camera they are shown: one for both, of any size."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.runner import fly_examples
from wayword.pilot.episode_loop import RunConfig
from wayword.pilot.pilot import open_database
from wayword.policy import make_policy
from wayword.policy.fspvn import FsPVN
from wayword.sim import ArenaConfig, MeshBank

LARGE = Camera(640, 360, hfov_deg=60.0)


def test_true_ids_fit_the_pixels_of_the_networks(bank: MeshBank, dev_pairs: list[Example]) -> None:
    example, taught = dev_pairs[0], [open_database("dev")]
    masks = []
    for camera in (LARGE, LARGE.at_model_size()):
        policy = make_policy("fspvn_perfect", camera=camera)
        fly_examples(policy, [example], bank, RunConfig(arena=ArenaConfig(camera=camera, horizon=1)), taught)
        assert isinstance(policy, FsPVN)
        masks.append(policy.thought(0).grounding.all_objects > 0.5)
    assert masks[0].shape == (72, 128)
    assert masks[1].sum() > 100
    assert (masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum() > 0.9  # the same but for a pixel's rim


def test_a_policy_is_not_flown_with_a_camera_it_does_not_know(bank: MeshBank, dev_pairs: list[Example]) -> None:
    with pytest.raises(
        WaywordError, match="84 degrees across and 15 down, but the simulator's is 60 across and 15 down"
    ):
        fly_examples(
            make_policy("fspvn"),
            dev_pairs[:1],
            bank,
            RunConfig(arena=ArenaConfig(camera=LARGE)),
            [open_database("dev")],
        )
    blind = fly_examples(
        make_policy("stop", camera=LARGE), dev_pairs[:1], bank, RunConfig(arena=ArenaConfig(camera=LARGE))
    )
    assert len(blind[0].actions) == 1
    assert np.isfinite(blind[0].poses).all()
