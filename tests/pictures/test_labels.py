"""Names on a map stay inside it, apart from each other and from what must stay visible."""

from __future__ import annotations

import numpy as np

from wayword.pictures.labels import place_labels, solid_box


def test_labels_stay_inside_and_apart() -> None:
    rng = np.random.default_rng(1)
    solid = [np.array([x, y, x + 40, y + 40]) for x, y in rng.uniform(0, 512, (12, 2))]
    boxes = place_labels(solid, [np.array([90, 20])] * 12, np.zeros((0, 2)), 552)
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 <= top
        assert right <= 552 >= bottom
        for other in boxes[:i]:
            width = min(right, other[2]) - max(left, other[0])
            height = min(bottom, other[3]) - max(top, other[1])
            assert min(width, height) <= 3


def test_a_label_makes_way_for_a_point() -> None:
    solid, sizes = [np.array([250.0, 250, 300, 300])], [np.array([60, 16])]
    (first,) = place_labels(solid, sizes, np.zeros((0, 2)), 552)
    middle = (first[:2] + first[2:]) / 2
    (second,) = place_labels(solid, sizes, np.repeat(middle[None], 3, axis=0), 552)
    assert not ((second[:2] <= middle) & (middle <= second[2:])).all()


def test_the_solid_box_is_around_what_is_drawn() -> None:
    mask = np.zeros((10, 20), bool)
    mask[3:5, 7:12] = True
    assert solid_box(mask, np.zeros(2)).tolist() == [7, 3, 12, 5]
    assert solid_box(np.zeros((10, 20), bool), np.array([4.0, 6.0])).tolist() == [4, 6, 4, 6]  # all of it is hidden
