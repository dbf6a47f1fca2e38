from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.errors import WaywordError
from wayword.grounding.nms import iou, nms
from wayword.grounding.proposals import ProposalConfig, Proposer, decode, image_tensor, pick


def test_iou_by_hand() -> None:
    # 4 x 4 and 4 x 4 shifted by (2, 2): overlap 4, union 28. The third touches at an edge only.
    boxes = [[2, 2, 6, 6], [0, 0, 4, 4], [4, 0, 8, 4]]
    np.testing.assert_allclose(iou([[0, 0, 4, 4]], boxes), [[4 / 28, 1.0, 0.0]])


def test_iou_of_an_empty_box_is_zero() -> None:
    assert iou([[3, 3, 3, 3]], [[3, 3, 3, 3]])[0, 0] == 0
    assert iou(np.zeros((0, 4)), [[0, 0, 1, 1]]).shape == (0, 1)


def test_nms_by_hand() -> None:
    # Box 1 overlaps the better box 2 by 9/11 = 0.82 and goes; box 0 overlaps it by 5/15 = 0.33 and stays.
    boxes = [[0, 0, 10, 1], [4, 0, 14, 1], [5, 0, 15, 1]]
    assert nms(boxes, [0.5, 0.7, 0.9], 0.5, 10).tolist() == [2, 0]
    assert nms(boxes, [0.5, 0.7, 0.9], 0.9, 10).tolist() == [2, 1, 0]
    assert nms(boxes, [0.5, 0.7, 0.9], 0.9, 2).tolist() == [2, 1]
    assert nms(np.zeros((0, 4)), [], 0.5, 10).tolist() == []


@given(st.integers(0, 1000))
def test_nms_keeps_the_best_and_nothing_that_overlaps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0, 50, (20, 2))
    boxes, scores = np.concatenate([corner, corner + rng.uniform(1, 30, (20, 2))], axis=1), rng.random(20)
    kept = nms(boxes, scores, 0.4, 20)
    assert kept[0] == scores.argmax()
    overlaps = iou(boxes[kept], boxes[kept]) - np.eye(len(kept))
    assert overlaps.max() <= 0.4 + 1e-6
    assert (np.diff(scores[kept]) <= 0).all()


def test_decode_by_hand() -> None:
    # Cell 35 of 32 columns is row 1, column 3: centre ((3 + 0.5) 4, (1 + 0.5) 4) = (14, 6). The left distance
    # of 20 reaches beyond the frame and is cut.
    sides = np.array([[20, 3, 5, 4]], np.float32)
    np.testing.assert_allclose(decode(np.array([35]), sides), [[0, 3, 19, 10]])


def answer(cells: dict[tuple[int, int], float]) -> tuple[np.ndarray, np.ndarray]:
    logits = np.full((18, 32), -8.0, np.float32)
    for place, value in cells.items():
        logits[place] = value
    return logits, np.full((4, 18, 32), 6.0, np.float32)


def test_pick_calibrates_suppresses_and_cuts() -> None:
    # Two cells of one object (IoU of boxes 4 px apart: 8 / 16 = 0.5) and one far away, slope 2, offset -1:
    # sigmoid(2 x 1.5 - 1) = 0.880797, sigmoid(2 x 0.2 - 1) = 0.354344.
    logits, sides = answer({(5, 5): 1.5, (5, 6): 1.0, (10, 20): 0.2})
    found = pick(logits, sides, ProposalConfig(overlap=0.45, slope=2.0, offset=-1.0))
    np.testing.assert_allclose(found.objectness, [0.880797, 0.354344], atol=1e-5)
    np.testing.assert_allclose(found.boxes, [[16, 16, 28, 28], [76, 36, 88, 48]])
    np.testing.assert_allclose(found.logits, [1.5, 0.2])


def test_pick_gives_at_most_ten_and_may_give_none() -> None:
    logits, sides = answer({(i, j): 3.0 for i in range(1, 18, 5) for j in range(1, 32, 5)})
    assert len(pick(logits, sides, ProposalConfig()).boxes) == 10
    logits, sides = answer({})
    assert pick(logits, sides, ProposalConfig()).boxes.shape == (0, 4)


def test_extreme_scores_are_probabilities() -> None:
    logits, sides = answer({(5, 5): 3e38, (10, 20): -3e38})
    found = pick(logits, sides, ProposalConfig())
    assert found.objectness.tolist() == [1.0]


def test_proposer_keeps_frames_apart() -> None:
    def network(inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        first, second = answer({(5, 5): 2.0}), answer({(9, 9): 2.0, (2, 25): 1.0})
        return np.stack([first[0], second[0]]), np.stack([first[1], second[1]])

    found = Proposer(network)(np.zeros((2, 72, 128, 3), np.uint8))
    assert [len(part.boxes) for part in found] == [1, 2]


def test_image_tensor_range_and_refusals() -> None:
    frame = np.zeros((1, 72, 128, 3), np.uint8)
    frame[0, 0, 0] = (255, 0, 128)
    tensor = image_tensor(frame)
    assert tensor.shape == (1, 3, 72, 128)
    np.testing.assert_allclose(tensor[0, :, 0, 0], [1, -1, 128 / 127.5 - 1], atol=1e-6)
    for bad in (frame[0], frame[:, :40], frame.astype(np.float32), np.zeros((1, 72, 128, 4), np.uint8)):
        with pytest.raises(WaywordError, match="letterbox"):
            image_tensor(bad)
