"""Policies of LeRobot in our arena. The long test needs the real package: data of ours, trained by it, flown here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wayword.cli.main import run
from wayword.errors import WaywordError
from wayword.policy import make_policy
from wayword.policy.interface import Observations


def test_it_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="say which one, --weights"):
        make_policy("lerobot")
    with pytest.raises(WaywordError, match=r"has no config\.json; give a folder pretrained_model"):
        make_policy("lerobot", weights=tmp_path)


@pytest.mark.needs_lerobot
@pytest.mark.needs_pyarrow
def test_flights_are_opened_trained_on_and_flown(tmp_path: Path) -> None:
    import torch
    from lerobot.configs.types import FeatureType
    from lerobot.datasets.lerobot_dataset import LeRobotDataset
    from lerobot.policies.act.configuration_act import ACTConfig
    from lerobot.policies.factory import dataset_to_policy_features, make_pre_post_processors
    from lerobot.policies.factory import make_policy as make_lerobot_policy

    folder, weights = tmp_path / "flights", tmp_path / "pretrained_model"
    run(["data", "export", "--policy", "oracle", "--split", "dev", "--limit", "3", "--out", str(folder)])
    plain = LeRobotDataset("wayword/flights", root=folder)
    info = json.loads((folder / "meta/info.json").read_text())
    assert (plain.num_episodes, len(plain)) == (3, info["total_frames"])
    frame = plain[0]
    assert frame["observation.images.front"].shape == (3, 72, 128)
    assert 0 <= frame["observation.images.front"].min() < frame["observation.images.front"].max() <= 1
    assert isinstance(frame["task"], str)
    assert (frame["observation.state"].shape, frame["action"].shape) == ((6,), (3,))
    ends = [bool(plain[k]["next.done"]) for k in range(len(plain))]
    assert (sum(ends), ends[-1]) == (3, True)  # an end for each episode

    dataset = LeRobotDataset("wayword/flights", root=folder, delta_timestamps={"action": [0.0, 0.5, 1.0, 1.5]})
    features = dataset_to_policy_features(dataset.meta.features)
    config = ACTConfig(
        input_features={key: one for key, one in features.items() if one.type is not FeatureType.ACTION},
        output_features={key: one for key, one in features.items() if one.type is FeatureType.ACTION},
        chunk_size=4, n_action_steps=2, dim_model=32, n_heads=2, dim_feedforward=64, n_encoder_layers=1, use_vae=False,
        pretrained_backbone_weights=None, device="cpu", push_to_hub=False,
    )  # fmt: skip
    policy = make_lerobot_policy(config, ds_meta=dataset.meta)
    before, after = make_pre_post_processors(config, dataset_stats=dataset.meta.stats)
    optimizer = torch.optim.Adam(policy.parameters(), 1e-3)
    batch = next(iter(torch.utils.data.DataLoader(dataset, batch_size=8, shuffle=False)))
    losses = []
    for _ in range(8):  # the same batch over and over: it must be learned
        loss, _ = policy.forward(before(batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
    for part in (policy, before, after):
        part.save_pretrained(weights)

    ours = make_policy("lerobot", weights=weights)
    ours.reset(["go", "stop"], [None, None])
    images, poses = np.zeros((2, 72, 128, 3), np.uint8), np.zeros((2, 6))
    both = ours.act(Observations(np.arange(2), images, poses))
    assert both.shape == (2, 3)
    one = ours.act(Observations(np.array([1]), images[:1], poses[:1]))  # the first has landed
    assert one.shape == (1, 3)
    out = tmp_path / "flights.json"
    run(["eval", "--policy", "lerobot", "--weights", str(weights), "--split", "dev", "--limit", "3", "--out", str(out)])
    assert json.loads(out.read_text())["n"] == 3
