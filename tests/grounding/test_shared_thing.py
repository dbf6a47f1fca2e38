"""Which box of each photo holds the thing that all of them show: small cases worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.errors import WaywordError
from wayword.grounding.photo_candidates import MIDDLE, TRAITS, Candidates
from wayword.grounding.shared_thing import Choice, ChoiceConfig, choose_boxes, shared_traits, signs, softmax

RED, GREEN, BLUE = np.eye(3, dtype=np.float32)
CONFIDENCE = (1.0, 0.0, 0.0)


def candidates(odds: list[float], vectors: list[np.ndarray]) -> Candidates:
    """Boxes that differ in their odds and in what they look like."""
    traits = np.zeros((len(odds), len(TRAITS)))
    traits[:, 0] = odds
    boxes = np.array([[10 * k, 0, 10 * k + 9, 9] for k in range(len(odds))], np.float32)
    return Candidates(boxes, traits, np.array(vectors), np.array(vectors))


def config(agreement: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> ChoiceConfig:
    """Odds count once; agreement as given."""
    odds = (1.0, *(0.0 for _ in TRAITS[1:]))
    return ChoiceConfig(Choice(odds, CONFIDENCE), Choice((*odds, *agreement), CONFIDENCE))


def test_a_photo_alone_is_judged_by_its_own_odds() -> None:
    ((best, sure),) = choose_boxes([candidates([0.0, math.log(3), 0.0], [RED, GREEN, BLUE])], config())
    assert best == 1
    # Shares 1/5, 3/5, 1/5; the confidence is the sigmoid of the log odds of 3/5, which is 3/5 again.
    assert sure == pytest.approx(0.6)


def test_nobody_is_sure_of_a_middle() -> None:
    # The same odds, but the likeliest box is only the middle of its photo: nobody found anything.
    photo = candidates([0.0, math.log(3), 0.0], [RED, GREEN, BLUE])
    photo.traits[1, MIDDLE] = 1.0
    assert choose_boxes([photo], config()) == [(1, 0.0)]
    # Together it is the same; a photo whose middle is not what is taken keeps its confidence.
    other = candidates([0.0, math.log(3), 0.0], [RED, GREEN, BLUE])
    other.traits[2, MIDDLE] = 1.0
    (first, sure), (second, surer) = choose_boxes([photo, other], config())
    assert (first, sure, second) == (1, 0.0, 1)
    assert surer == pytest.approx(0.6)


def test_what_is_common_wins_over_what_looks_likely_once() -> None:
    first = candidates([1.0, 0.0], [RED, BLUE])  # red is a little likelier here ...
    second = candidates([0.0, 0.0], [GREEN, BLUE])  # ... but only blue is in both
    third = candidates([0.5, 0.0], [GREEN, BLUE])
    assert [best for best, _ in choose_boxes([first, second, third], config())] == [0, 0, 0]
    assert [best for best, _ in choose_boxes([first, second, third], config((1.0, 0.0, 0.0)))] == [1, 1, 1]


def test_the_traits_of_agreement_by_hand() -> None:
    first, second = candidates([0.0, 0.0], [RED, BLUE]), candidates([math.log(3), 0.0], [BLUE, GREEN])
    traits, _ = shared_traits([first, second], config().alone)
    # In the second photo blue has the share 3/4 and green 1/4. Red agrees with neither (A = 0), blue with 3/4.
    # Less their mean, 3/8, and ten times that:
    np.testing.assert_allclose(traits[:, -3], [-3.75, 3.75])
    # The best of the second photo: for red 0.15 log(3/4 + 0.001), for blue 1 more; the mean falls out again.
    np.testing.assert_allclose(traits[:, -2], [-5.0, 5.0])
    np.testing.assert_allclose(traits[:, -1], [-1.125, 1.125])  # three times 3/8, both ways


def test_copies_of_one_photo_say_nothing_new() -> None:
    photo = candidates([0.3, 0.2], [RED, RED])
    traits, _ = shared_traits([photo, photo], config().alone)
    np.testing.assert_allclose(traits[:, -3:], 0.0, atol=1e-6)


def test_signs_are_log_odds_score_and_one() -> None:
    np.testing.assert_allclose(signs(np.array([math.log(3), 0.0])), [math.log(3), math.log(3), 1.0])
    np.testing.assert_allclose(softmax(np.array([1000.0, 1000.0])), [0.5, 0.5])


def test_weights_of_another_length_are_refused() -> None:
    with pytest.raises(WaywordError, match="10 weights alone and three more together"):
        ChoiceConfig(Choice((1.0,), CONFIDENCE), Choice((1.0,), CONFIDENCE))


def test_the_shipped_weights_are_read() -> None:
    shipped = ChoiceConfig.load()
    assert shipped.together.weights[-3:] > (0.0, 0.0, 0.0)  # agreement speaks for a box
