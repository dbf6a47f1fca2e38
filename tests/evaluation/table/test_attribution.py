from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from wayword.episodes import Example, PlacedObject
from wayword.evaluation.table.attribution import (
    PASSED_M,
    BlameStage,
    Evidence,
    KnownMention,
    ReadReference,
    Relabelled,
    attribute,
    named_in,
)
from wayword.evaluation.table.detective import goal_of, passed_by
from wayword.grounding import Grounding, align
from wayword.mapping.grid import UNOBSERVED
from wayword.policy.perfect import true_labels

GLOBE, DUCK = PlacedObject("globe", 1.0, 1.0, 0.0), PlacedObject("rubber duck", 3.0, 3.0, 0.0)
TEXT = "past the ball to the duck"
#       0    5        13 17
BALL, THE_DUCK = (
    ReadReference("the ball", 5, 13, "globe", (1.1, 1.0), True),
    ReadReference("the duck", 17, 25, "rubber duck", None),
)
SAID = (KnownMention("globe", 5, 13), KnownMention("rubber duck", 17, 25))

# A flight in which nothing went wrong: the globe was seen and marked 10 cm off, the duck never came into view,
# d^g peaks 20 cm from the end, and the flight ended 30 cm from it.
GOOD = Evidence(
    instruction=TEXT,
    layout=(GLOBE, DUCK),
    references=(BALL, THE_DUCK),
    in_view=frozenset({"globe"}),
    passed=frozenset({"globe", "rubber duck"}),
    goal=(2.2, 3.0),
    gold_end=(2.0, 3.0),
    flown_end=(2.3, 3.0),
    arrived=True,
)
LOST = replace(GOOD, flown_end=(0.5, 3.0), arrived=False)


def reread(**changes: object) -> tuple[ReadReference, ...]:
    return (replace(BALL, **changes), THE_DUCK)  # type: ignore[arg-type]


def test_a_flight_that_arrived_was_lost_by_nobody() -> None:
    assert attribute(GOOD) == attribute(replace(GOOD, mentions=SAID))
    assert (attribute(GOOD).lost_by, attribute(GOOD).signs, attribute(GOOD).detail) == (None, (), "")


@pytest.mark.parametrize(
    ("changes", "stage", "words"),
    [
        # d^g is 0.2 m from the end, the flight ended 1.7 m from d^g: only control is left to blame.
        ({}, "control", "1.70 m"),
        # d^g is 0.4 m from the end; the flight went on to 0.1 m from d^g, so most of the 0.5 m is d^g's.
        ({"goal": (2.4, 3.0), "flown_end": (2.5, 3.0)}, "visitation", "0.40 m"),
        # d^g 0.5 m from the end is outside the 0.47 m of a success.
        ({"goal": (2.5, 3.0)}, "visitation", "0.50 m"),
        ({"goal": None}, "visitation", "not yet observed"),
        # The globe is marked 1.5 m away, by a box on the globe itself: the projection is wrong. With a box on
        # something else the segmentation is.
        ({"references": reread(peak=(2.5, 1.0), box_right=True)}, "map", "1.50 m"),
        ({"references": reread(peak=(2.5, 1.0), box_right=False)}, "grounding", "1.50 m"),
        ({"references": reread(peak=None)}, "grounding", "not found"),
        # 0.4 m off is near enough, whatever the box.
        ({"references": reread(peak=(1.4, 1.0), box_right=False)}, "control", ""),
        # What never came into view cannot be grounded: somebody later is to blame.
        ({"references": reread(peak=None), "in_view": frozenset()}, "control", ""),
        # Natural instructions: the globe is passed and nothing means it, so "the ball" should have.
        ({"references": reread(best=None)}, "language", "none of the objects"),
        ({"references": reread(best="rocket")}, "language", "rocket, which is not there"),
        # "a metre" and the like may mean nothing.
        ({"references": reread(best=None, text="just over a Metre")}, "control", ""),
        # If nothing but the duck is passed, no harm was done.
        ({"references": reread(best=None), "passed": frozenset({"rubber duck"})}, "control", ""),
        ({"instruction": "past the globe", "references": (THE_DUCK,)}, "language", "globe was mentioned"),
    ],
)
def test_the_first_stage_with_a_mistake_has_lost_the_flight(
    changes: dict[str, object], stage: BlameStage, words: str
) -> None:
    verdict = attribute(replace(LOST, **changes))  # type: ignore[arg-type]
    assert verdict.lost_by == stage
    assert words in verdict.detail


def test_an_earlier_mistake_goes_before_a_later_one_and_all_are_listed() -> None:
    everything = replace(LOST, references=(*reread(peak=None)[:1], replace(THE_DUCK, best=None)), goal=(0.0, 0.0))
    verdict = attribute(everything)
    assert (verdict.lost_by, verdict.signs) == ("language", ("language", "grounding", "visitation"))


def test_a_flight_that_arrived_can_show_mistakes() -> None:
    verdict = attribute(replace(GOOD, goal=None))
    assert (verdict.lost_by, verdict.signs) == (None, ("visitation",))


@pytest.mark.parametrize(
    ("changes", "relabelled", "stage", "words"),
    [
        # Nothing in the signs points to the labels: d^g is just elsewhere. True labels help, so they were weak.
        ({"goal": (0.5, 0.5)}, Relabelled(True), "grounding", "with true labels it arrives"),
        # Whatever else was wrong: without wrong labels it would have arrived.
        ({"references": reread(best=None)}, Relabelled(True), "grounding", "with true labels it arrives"),
        ({"references": reread(peak=None)}, Relabelled(True), "grounding", "it arrives; the globe was in view but not"),
        # True labels do not help: a wrong label was there, but did not lose the flight.
        (
            {"references": reread(peak=(2.5, 1.0), box_right=False)},
            Relabelled(False, ("control",)),
            "control",
            "1.70 m",
        ),
        # The globe is not found with true labels either: there was no box on it.
        ({"references": reread(peak=None)}, Relabelled(False, ("grounding",)), "grounding", "not found"),
        # Language still goes before all others.
        ({"references": reread(best=None)}, Relabelled(False, ("language", "control")), "language", "none of the"),
        ({"goal": (0.5, 0.5)}, Relabelled(False, ("visitation",)), "visitation", "d^g peaked"),
    ],
)
def test_a_flight_that_arrives_with_true_labels_was_lost_by_grounding(
    changes: dict[str, object], relabelled: Relabelled, stage: BlameStage, words: str
) -> None:
    verdict = attribute(replace(LOST, **changes), relabelled)  # type: ignore[arg-type]
    assert verdict.lost_by == stage
    assert words in verdict.detail
    assert verdict.with_true_labels is relabelled.arrived
    assert verdict.signs == attribute(replace(LOST, **changes)).signs  # type: ignore[arg-type]


def test_true_labels_of_own_boxes_by_hand() -> None:
    """A frame of 4 x 8 pixels: the globe (1) in the left three columns, the duck (2) in the right three.

    Box 0 is on the globe, box 1 has half of its pixels on the duck, box 2 a third of them on each and on the ground.
    """
    ids = np.array([[1, 1, 1, 0, 0, 2, 2, 2]] * 4, np.uint8)
    columns = [(0, 1, 2), (4, 5), (2, 3, 5)]
    masks = np.array([[[0.9 if c in own else 0.2 for c in range(8)]] * 4 for own in columns], np.float32)
    wrong = np.array([[0.0, 1.0, 0.0], [0.3, 0.3, 0.4], [1.0, 0.0, 0.0]])
    table = np.array([[0.8, 0.1, 0.1]])  # one reference, to the globe; the columns are globe, rocket, none of these
    p_box = np.array([1.0, 0.5, 1.0])
    own = Grounding(
        boxes=np.zeros((3, 4), np.float32), p_box=p_box, p_object_of_box=wrong, p_object_of_reference=table,
        alignment=align(wrong, p_box, table), box_masks=masks, masks=masks[:1], all_objects=masks[0],
        embeddings=np.zeros((3, 2), np.float32), names=("globe", "rocket"),
    )  # fmt: skip
    told = true_labels(own, ids, ["globe", "rubber duck"])
    # The duck was not taught: half a box of it is none of these, as is the box on nothing in particular.
    assert told.p_object_of_box.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    assert told.alignment.tolist() == [[0.8, 0.0, 0.0]]
    assert told.masks[0, 0].tolist() == pytest.approx([0.72, 0.72, 0.72, 0.16, 0.16, 0.16, 0.16, 0.16])
    assert told.box_masks is own.box_masks


@pytest.mark.parametrize(
    ("references", "words"),
    [
        ((THE_DUCK,), "'the ball' was not noticed"),
        ((replace(BALL, best="rubber duck"), THE_DUCK), "'the ball' was taken for rubber duck"),
        ((replace(BALL, best=None), THE_DUCK), "'the ball' was taken for no object"),
        # A reference where nothing is referred to, to an object nobody spoke of.
        ((BALL, THE_DUCK, ReadReference("past", 0, 4, "rocket")), "'past' was taken for rocket"),
    ],
)
def test_generated_instructions_know_what_they_refer_to(references: tuple[ReadReference, ...], words: str) -> None:
    verdict = attribute(replace(LOST, mentions=SAID, references=references))
    assert verdict.lost_by == "language"
    assert words in verdict.detail


def test_what_is_spurious_but_harmless_is_no_mistake() -> None:
    # A chunk that means nothing, one more that means an object spoken of, a pronoun that went unnoticed.
    more = (BALL, THE_DUCK, ReadReference("past", 0, 4, None), ReadReference("to", 14, 16, "globe", (1.0, 1.0), True))
    mentions = (*SAID, KnownMention("globe", 14, 16, named=False))
    assert "language" not in attribute(replace(LOST, mentions=mentions, references=more)).signs
    assert "language" not in attribute(replace(LOST, mentions=mentions)).signs


def test_names_are_found_word_by_word_and_the_longer_one_first() -> None:
    assert named_in("Pass the red brick, then the Globe.", ["brick", "red brick", "globe", "lobe"]) == [
        "red brick",
        "globe",
    ]
    assert named_in("a brick and a red brick", ["brick", "red brick"]) == ["red brick", "brick"]
    assert named_in("", ["globe"]) == []


def test_what_the_demonstration_passes(dev_pairs: list[Example]) -> None:
    example = dev_pairs[0]
    passed = passed_by(example)
    for item in example.objects:
        nearest = min(math.hypot(x - item.x, y - item.y) for x, y in example.path)
        assert (item.name in passed) == (nearest <= PASSED_M)


def test_the_goal_is_found_in_the_world() -> None:
    # Cell [row 31, col 41] has u = (41 - 31.5) c = 9.5 c ahead and v = -0.5 c to the left, c = 4.7 / 32 m. A drone
    # that started at (2, 1) facing +y has "ahead" along +y and "left" along -x.
    distributions = np.zeros((2, UNOBSERVED + 1), np.float32)
    distributions[1, 31 * 64 + 41], distributions[1, UNOBSERVED] = 0.6, 0.4
    thought = SimpleNamespace(distributions=distributions, start=np.array([2.0, 1.0, math.pi / 2]))
    cell = 4.7 / 32
    assert goal_of(thought) == pytest.approx((2 + 0.5 * cell, 1 + 9.5 * cell))  # type: ignore[arg-type]
    distributions[1] = 0
    distributions[1, 0], distributions[1, UNOBSERVED] = 0.4, 0.6
    assert goal_of(thought) is None  # type: ignore[arg-type]
