"""PVN2's way from pictures to the prediction grid: the same numbers in training, with gradients, as in flight."""

from __future__ import annotations

import numpy as np
import pytest

from support.extra_torch import torch
from support.pvn2_weights import LOOKS, SMALL
from wayword.camera import Camera
from wayword.learning.policy.networks import LingUNet
from wayword.learning.policy.pvn2_network import (
    GroundingFilter,
    Pvn2Stage1,
    integrate,
    project_frames,
    seen_from,
)
from wayword.learning.policy.sizes import ImageSize, Size
from wayword.mapping import FeatureMap, project_masks, world_to_prediction
from wayword.mapping.feature_map import feature_camera

POSES = np.array([[1.0, 2.0, 0.7, 0.0, 0.05, 0.3], [1.4, 2.1, 0.7, 0.02, 0.0, 0.6], [1.9, 2.6, 0.7, 0.0, 0.0, 1.2]])


def test_projection_is_that_of_the_mapping(rng: np.random.Generator) -> None:
    features = rng.normal(size=(3, 4, 18, 32)).astype(np.float32)
    ground = project_frames(torch.from_numpy(features), torch.from_numpy(POSES).float(), Camera())
    assert ground.shape == (3, 5, 32, 32)
    for k, pose in enumerate(POSES):
        expected = project_masks(features[k], pose, feature_camera(Camera(), 18, 32))
        assert ground[k, :-1].numpy() == pytest.approx(expected, abs=2e-4)
        ones = project_masks(np.ones((1, 18, 32), np.float32), pose, feature_camera(Camera(), 18, 32))
        assert ground[k, -1].numpy() == pytest.approx(ones[0], abs=2e-4)


def test_integration_is_that_of_the_flight(rng: np.random.Generator) -> None:
    features = rng.normal(size=(3, 4, 18, 32)).astype(np.float32)
    ground = project_frames(torch.from_numpy(features), torch.from_numpy(POSES).float(), Camera())
    maps, views = integrate(ground, [0, 2, 2])
    flown = FeatureMap(4, Camera())
    for k, pose in enumerate(POSES):
        flown.update(features[k], pose)
        if k == 0:
            assert maps[0].numpy() == pytest.approx(flown.semantic, abs=1e-3)
    certain = (ground[:, -1].amax(dim=0) > 0.05).numpy()  # a sliver of a view is divided by next to nothing
    assert maps[2].numpy()[:, certain] == pytest.approx(flown.semantic[:, certain], abs=1e-3)
    assert torch.equal(maps[1], maps[2])
    assert views[2].numpy()[certain].all()
    assert not views[0].all()


def test_the_prediction_grid_is_that_of_the_mapping(rng: np.random.Generator) -> None:
    maps, start = rng.normal(size=(2, 3, 32, 32)).astype(np.float32), np.array([1.3, 3.1, 0.7])
    ahead = seen_from(torch.from_numpy(maps), start)
    for k in range(2):
        assert ahead[k].numpy() == pytest.approx(world_to_prediction(maps[k], start), abs=1e-4)


def test_the_grounding_filter_by_hand() -> None:
    # sigmoid(0) = 0.5 for each of 2 x 3 weights, of length sqrt(6 / 4); normalised each is 1 / sqrt(6). On (3, -5):
    # -2 / sqrt(6), and LeakyReLU leaves a hundredth of it.
    grounding = GroundingFilter(2, 2, 3)
    torch.nn.init.zeros_(grounding.kernel.weight)
    torch.nn.init.zeros_(grounding.kernel.bias)
    result = grounding(torch.tensor([[[3.0], [-5.0]]]), torch.zeros(1, 2))
    assert result.flatten().tolist() == pytest.approx([-0.02 / 6**0.5] * 3)


@pytest.mark.parametrize("size", [SMALL, Size.paper()], ids=["small", "as released"])
def test_everything_learns_from_the_distributions(size: Size) -> None:
    torch.manual_seed(0)
    net = Pvn2Stage1(9, size, LOOKS)
    text = net.read(torch.tensor([[3, 4, 0], [5, 6, 7]]), torch.tensor([2, 3]))
    images = torch.randint(0, 255, (3, 72, 128, 3), dtype=torch.uint8)
    maps, _ = integrate(project_frames(net.image(images), torch.from_numpy(POSES).float(), Camera()), [1, 2])
    logits = net(text, seen_from(maps, np.array([1.0, 2.0, 0.3])), torch.rand(2, 5, 64, 64))
    assert logits.shape == (2, 2, 4097)
    torch.softmax(logits, dim=2)[:, :, 2000].sum().backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in net.parameters())
    assert float(net.image.layers[0].weight.grad.abs().max()) > 0


def test_fspvn_keeps_its_own_lingunet() -> None:
    """The map's channels are the only thing that PVN2's LingUNet has of its own."""
    ours, theirs = LingUNet(Size()), LingUNet(Size(), ImageSize().features + 3 + 5)
    shapes = [{name: tuple(p.shape) for name, p in net.named_parameters()} for net in (ours, theirs)]
    assert shapes[0].keys() == shapes[1].keys()
    assert [name for name in shapes[0] if shapes[0][name] != shapes[1][name]] == ["first.0.weight"]
    assert shapes[1]["first.0.weight"][1] == 32 + 3 + 5 + 2
