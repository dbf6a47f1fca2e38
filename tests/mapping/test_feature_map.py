"""Leaky integration, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.mapping import FeatureMap, project_masks
from wayword.mapping.feature_map import feature_camera

POSE = np.array([1.0, 2.35, 0.7, 0.0, 0.0, 0.0])
BEHIND = np.array([3.7, 2.35, 0.7, 0.0, 0.0, np.pi])
AHEAD = (16, 20)
"""A cell that lies well within view from both."""


def plain(*values: float) -> np.ndarray:
    """Features of a picture that shows the same everywhere."""
    return np.broadcast_to(np.array(values, np.float32)[:, None, None], (len(values), 18, 32)).copy()


def test_the_latest_views_count_most() -> None:
    # Once: 0.2 x 1 of the sums 0.2. Twice: features 0.8 x 0.2 x 1 + 0.2 x 4 = 0.96, views 0.8 x 0.2 + 0.2 = 0.36,
    # so 0.96 / 0.36 = 2.667: nearer to the second view, 4, than to the first, 1.
    seen_map = FeatureMap(2, Camera())
    seen_map.update(plain(1.0, -2.0), POSE)
    assert seen_map.semantic[:, *AHEAD] == pytest.approx([1.0, -2.0])
    seen_map.update(plain(4.0, 0.0), POSE)
    assert seen_map.semantic[:, *AHEAD] == pytest.approx([0.96 / 0.36, -0.32 / 0.36])


def test_what_comes_into_view_later_counts_whole_and_what_is_out_of_view_stays() -> None:
    seen_map = FeatureMap(1, Camera())
    seen_map.update(plain(1.0), POSE)
    before = seen_map.semantic.copy()
    coarse = feature_camera(Camera(), 18, 32)
    first, second = (project_masks(plain(1.0), pose, coarse)[0] for pose in (POSE, BEHIND))
    seen_map.update(plain(3.0), BEHIND)
    only_first, only_second = (first > 0.99) & (second == 0), (second > 0.99) & (first == 0)
    assert only_first.any()
    assert only_second.any()
    assert seen_map.semantic[0][only_first] == pytest.approx(before[0][only_first])
    assert seen_map.semantic[0][only_second] == pytest.approx(3.0)
    assert (seen_map.semantic[0][(first == 0) & (second == 0)] == 0).all()
    assert seen_map.coverage[AHEAD] == 1.0


def test_features_of_another_network_are_refused() -> None:
    with pytest.raises(WaywordError, match=r"must be \(2, h, w\), not \(3, 18, 32\)"):
        FeatureMap(2, Camera()).update(plain(1.0, 2.0, 3.0), POSE)
