"""The Oracle's flights with and without segmentation."""

from __future__ import annotations

import numpy as np
import pytest

from support.policy_data import photos_of, some_examples
from wayword.camera import Camera
from wayword.grounding import Grounder
from wayword.learning.policy.executions import Execution
from wayword.learning.policy.flights import FlightConfig, record
from wayword.learning.policy.imagined import imagined_frame
from wayword.sim.render.bank import MeshBank

COUNT = 6


@pytest.fixture(scope="module")
def grounder() -> Grounder:
    return Grounder.load("sim")


@pytest.fixture(scope="module")
def photos(grounder: Grounder) -> dict[str, np.ndarray]:
    return photos_of(grounder)


def flown(grounder: Grounder, photos: dict[str, np.ndarray] | None, imagined: float) -> list[Execution]:
    examples = some_examples(COUNT)
    bank = MeshBank.of_catalogue(sorted({item.name for example in examples for item in example.objects}))
    return record(examples, bank, grounder, FlightConfig(stride=6, imagined=imagined), 0, photos)


def same(one: Execution, two: Execution) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in ("poses", "counts", "footprints", "p_box", "embeddings")
    )


def test_imagined_objects_stand_where_they_are_and_are_certain(
    grounder: Grounder, photos: dict[str, np.ndarray]
) -> None:
    for example, execution in zip(some_examples(COUNT), flown(grounder, photos, 1.0), strict=True):
        places = np.array([(item.x, item.y) for item in example.objects])
        for x, y, _, _ in execution.footprints[execution.footprints[:, 3] > 0.9]:
            assert np.linalg.norm(places - (x, y), axis=1).min() < 0.25
        assert execution.counts.sum() > 0
        assert (execution.p_box == 1).all()


def test_a_share_is_imagined_and_the_rest_is_segmented(grounder: Grounder, photos: dict[str, np.ndarray]) -> None:
    real, half = flown(grounder, photos, 0.0), flown(grounder, photos, 0.5)
    certain = [bool((execution.p_box == 1).all()) for execution in half]
    assert 0 < sum(certain) < COUNT
    for one, two in zip(real, half, strict=True):
        np.testing.assert_array_equal(one.poses[0], two.poses[0])
        assert not (one.p_box == 1).all()


def test_without_imagining_photos_change_nothing(grounder: Grounder, photos: dict[str, np.ndarray]) -> None:
    assert all(map(same, flown(grounder, photos, 0.0), flown(grounder, None, 0.0)))


def test_imagined_flights_are_the_same_twice(grounder: Grounder, photos: dict[str, np.ndarray]) -> None:
    assert all(map(same, flown(grounder, photos, 0.5), flown(grounder, photos, 0.5)))


def test_imagined_flights_without_photos_are_refused(grounder: Grounder) -> None:
    with pytest.raises(ValueError, match="need photos"):
        flown(grounder, None, 1.0)


def test_an_imagined_frame_by_hand() -> None:
    """Two objects, one of them with too few pixels to have a box: the other one's photo is the only look."""
    ids = np.zeros((72, 128), np.uint8)
    ids[40:50, 60:70], ids[45, 10:14] = 2, 1
    photos = {"globe": np.zeros((2, 3), np.float32), "planter": np.array([[0.1, 0.2, 0.3]], np.float32)}
    pose = np.array([2.0, 2.0, 0.7, 0.0, 0.0, 0.0])
    rng = np.random.default_rng(0)
    _, stands, p_box, looks = imagined_frame(ids, ["globe", "planter"], photos, pose, Camera(), rng)
    assert stands.shape == (1, 4)
    assert stands[0, 0] > 2.0  # ahead of the drone, which looks along x
    assert abs(stands[0, 1] - 2.0) < 0.1
    np.testing.assert_array_equal(p_box, [1.0])
    np.testing.assert_allclose(looks, [[0.1, 0.2, 0.3]])


def test_an_empty_frame_has_no_boxes() -> None:
    empty, photos = np.zeros((72, 128), np.uint8), {"globe": np.zeros((2, 3), np.float32)}
    frame = imagined_frame(empty, ["globe"], photos, np.zeros(6), Camera(), np.random.default_rng(0))
    assert [len(part) for part in frame[1:]] == [0, 0, 0]
