"""What policies do between their networks, against the same rules said plainly, with networks anyone can predict."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.toy_grounder import RED_AND_BLUE, toy_frame, toy_grounder
from wayword.episodes.commands import Step
from wayword.errors import WaywordError
from wayword.grounding.align import align
from wayword.grounding.density import OTHERS, Exemplars
from wayword.language.anonymise import PLACEHOLDER
from wayword.language.reader import Reading, Thing
from wayword.mapping import footprints, map_layers
from wayword.mapping.grid import UNOBSERVED
from wayword.mapping.landmarks import Landmark
from wayword.mapping.world_map import WorldMap
from wayword.policy import Observations, Oracle, OracleConfig
from wayword.policy.control import Control, ControlConfig
from wayword.policy.fspvn import FsPVN, FsPVNConfig, reference_table
from wayword.policy.mirror import mirrored_distributions, mirrored_maps, together
from wayword.policy.perfect import LEAST_PIXELS, true_grounding, true_labels, true_regions
from wayword.policy.stage1 import MOST_REFERENCES, Stage1Runtime, Words
from wayword.policy.steps.keep_clear import keep_clear
from wayword.policy.steps.planned import planned_distributions
from wayword.policy.taught import LEAST_MEANT, TaughtDatabase
from wayword.policy.thought_record import sparse, tenths
from wayword.policy.tokens import Vocabulary, _number_words, tokenise
from wayword.policy.wayfinder import Wayfinder

SEEDS = st.integers(0, 10**9)


# Mirror ------------------------------------------------------------------------------------------------------


@settings(max_examples=30, derandomize=True)
@given(SEEDS)
def test_a_mirror_exchanges_rows_and_the_last_two_boundaries(seed: int) -> None:
    rng = np.random.default_rng(seed)
    maps, distributions = rng.random((2, 6, 64, 64), np.float32), rng.random((2, 4097), np.float32)
    flipped, turned = mirrored_maps(maps), mirrored_distributions(distributions)
    for channel, other in enumerate((0, 1, 2, 3, 5, 4)):
        for row in (0, 13, 63):
            np.testing.assert_array_equal(flipped[:, channel, row], maps[:, other, 63 - row])
    for cell in (0, 63, 1000, 4095):
        row, column = divmod(cell, 64)
        np.testing.assert_array_equal(turned[:, cell], distributions[:, (63 - row) * 64 + column])
    np.testing.assert_array_equal(turned[:, UNOBSERVED], distributions[:, UNOBSERVED])


def test_two_opinions_are_their_geometric_mean_and_side_by_side_where_they_exclude_each_other() -> None:
    one, other = np.zeros((2, 2, 4097), np.float32)
    one[0, :3], other[0, :3] = (0.5, 0.3, 0.2), (0.2, 0.8, 0.0)
    one[1, 0], other[1, 1] = 1.0, 1.0
    found, total = together(one, other), math.sqrt(0.1) + math.sqrt(0.24)
    assert found[0, :3] == pytest.approx([math.sqrt(0.1) / total, math.sqrt(0.24) / total, 0.0])
    assert found[1, :3] == pytest.approx([0.5, 0.5, 0.0])


# Stage 1 -----------------------------------------------------------------------------------------------------


class Session:
    """A network that answers with the same and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, np.ndarray]] = []
        self.value = 1.0

    def run(self, _: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        self.asked.append(inputs)
        rng = np.random.default_rng(len(self.asked))
        answer = rng.random((len(inputs["psi"]), 2, 4097)).astype(np.float32) * self.value
        return [answer / answer.sum(axis=2, keepdims=True)]


def runtime(mirror: bool) -> Stage1Runtime:
    made = Stage1Runtime.__new__(Stage1Runtime)
    made.mirror, made._visitation = mirror, Session()
    return made


def test_drones_with_any_number_of_references_are_asked_together_and_once_more_in_a_mirror() -> None:
    rng = np.random.default_rng(0)
    other = [Words(rng.random((n, 3), np.float32), rng.random(3, np.float32)) for n in (3, 1, 0)]
    words = [
        Words(rng.random((n, 3), np.float32), rng.random(3, np.float32), o)
        for n, o in zip((3, 1, 0), other, strict=True)
    ]
    masks = [rng.random((n, 64, 64), np.float32) for n in (2, 1, 0)]  # of three references two have a mask
    layers = rng.random((3, 6, 64, 64), np.float32)
    made = runtime(True)
    found = made.predict(words, masks, layers)
    straight, turned = made._visitation.asked  # type: ignore[attr-defined]
    for asked, said, flip in ((straight, words, False), (turned, other, True)):
        assert asked["psi"].shape == (3, 2, 3)
        assert asked["references"].shape == (3, 2, 64, 64)
        for n, count in enumerate((2, 1, 0)):
            np.testing.assert_array_equal(asked["psi"][n, :count], said[n].psi[:count])
            np.testing.assert_array_equal(asked["mean"][n], said[n].mean)
            np.testing.assert_array_equal(asked["references"][n, :count], masks[n][:, ::-1] if flip else masks[n])
            assert not asked["psi"][n, count:].any()
            assert not asked["references"][n, count:].any()
    np.testing.assert_array_equal(straight["others"], layers)
    np.testing.assert_array_equal(turned["others"], mirrored_maps(layers))
    twin = Session()
    answers = [twin.run(None, asked)[0] for asked in (straight, turned)]
    np.testing.assert_array_equal(found, together(answers[0], mirrored_distributions(answers[1])))
    alone = runtime(False)
    np.testing.assert_array_equal(alone.predict(words, masks, layers), answers[0])
    alone._visitation.value = math.nan  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="not finite"):
        alone.predict(words, masks, layers)


# What is meant -----------------------------------------------------------------------------------------------


def test_a_table_of_references_over_all_objects_and_over_those_that_may_be_meant() -> None:
    def meaning(none: float, **p: float) -> Any:
        return SimpleNamespace(probabilities=p, none=none)

    whole = Exemplars(("a", "b"), np.zeros((0, 2), np.float32), np.zeros(0, np.int64))
    rows: Any = [meaning(0.2, a=0.5, b=0.3), meaning(0.5, a=0.5, b=1.0)]
    np.testing.assert_allclose(reference_table(rows, whole), [[0.5, 0.3, 0.2], [0.25, 0.5, 0.25]])
    few = Exemplars(("a", OTHERS), np.zeros((0, 2), np.float32), np.zeros(0, np.int64), SimpleNamespace())  # type: ignore[arg-type]
    np.testing.assert_allclose(reference_table(rows, few), [[0.5, 0, 0.5], [0.5, 0, 0.5]])
    np.testing.assert_allclose(reference_table([meaning(0.9, a=0.3, b=0.0)], few), [[0.25, 0, 0.75]])  # type: ignore[list-item]
    assert reference_table([], whole).shape == (0, 3)


@pytest.mark.parametrize("whole", [True, False])
def test_candidates_are_those_that_some_reference_means_the_likeliest_first(whole: bool) -> None:
    asked: list[list[str]] = []
    gallery = SimpleNamespace(whole=whole, shortlist=lambda names: asked.append(list(names)) or "few")
    every = Exemplars(("a",), np.zeros((0, 2), np.float32), np.zeros(0, np.int64))
    taught = TaughtDatabase((SimpleNamespace(name="a"),), every, gallery)  # type: ignore[arg-type]
    meanings = [
        {"a": 0.2, "b": 0.002, "c": 0.0009, "d": 0.4, "e": LEAST_MEANT},
        {"a": 0.6, "b": 0.0, "c": 0.0, "d": 0.0015, "e": 0.0},
    ]
    assert taught.candidates(meanings) is (every if whole else "few")  # type: ignore[comparison-overlap]
    assert asked == ([] if whole else [["a", "d", "b", "e"]])
    if not whole:
        taught.candidates([{f"{k:03}": 0.5 - 0.001 * k for k in range(200)}])
        assert asked[1] == [f"{k:03}" for k in range(100)]
    assert LEAST_MEANT == 0.001


# True labels -------------------------------------------------------------------------------------------------


def test_true_regions_are_boxes_around_at_least_twelve_pixels() -> None:
    ids = np.zeros((20, 30), np.uint8)
    ids[3:6, 10:14], ids[10, 5:16], ids[15:19, 20:30] = 1, 2, 4
    numbers, boxes, masks = true_regions(ids, 4)
    assert LEAST_PIXELS == 12
    assert numbers == [0, 3]  # the second has eleven pixels, the third none
    assert boxes.tolist() == [[10, 3, 14, 6], [20, 15, 30, 19]]
    np.testing.assert_array_equal(masks, [ids == 1, ids == 4])
    found = true_grounding(ids, ["globe", "duck", "cone", "mug"], ("mug", "duck"), np.array([[0.6, 0.3, 0.1]]))
    np.testing.assert_array_equal(found.p_object_of_box, [[0, 0, 1], [1, 0, 0]])  # nobody taught the globe
    np.testing.assert_allclose(found.alignment, [[0.0, 0.6]])
    np.testing.assert_allclose(found.masks[0], 0.6 * (ids == 4), atol=1e-6)
    np.testing.assert_array_equal(found.all_objects, (ids == 1) | (ids == 4))
    # Where the database is large, a taught thing that nobody spoke of is another taught object.
    names = ("mug", OTHERS)
    large = true_grounding(ids, ["globe", "duck", "cone", "mug"], names, np.array([[1.0, 0, 0]]), ("globe", "mug"))
    np.testing.assert_array_equal(large.p_object_of_box, [[0, 1, 0], [1, 0, 0]])


def test_a_box_has_the_label_of_what_half_of_its_mask_shows() -> None:
    ids = np.zeros((4, 12), np.uint8)
    ids[:, :3], ids[:, 3:6] = 1, 2
    grounder = toy_grounder()
    frame = toy_frame((30, 30, 0), (60, 30, 2), (90, 30, 1))
    (found,) = grounder(frame[None], [[0.5, 0.5, 0.0]], RED_AND_BLUE)
    masks = np.zeros((3, 4, 12), np.float32)
    masks[0, :, :5], masks[1, :, 2:8], masks[2, :, 3:9] = 0.9, 0.9, 0.51  # 12 of 20, 12 of 24, 12 of 24 pixels
    seen = SimpleNamespace(**{**found.__dict__, "box_masks": masks})
    made = true_labels(type(found)(**seen.__dict__), ids, ["blue", "green"])
    assert made.p_object_of_box.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1]]  # green was not taught
    masks[0, :, :] = 0.9  # 12 of 48
    assert true_labels(type(found)(**seen.__dict__), ids, ["blue", "green"]).p_object_of_box[0].tolist() == [0, 0, 1]
    np.testing.assert_allclose(made.alignment, align(made.p_object_of_box, made.p_box, made.p_object_of_reference))


# Oracle ------------------------------------------------------------------------------------------------------


@settings(max_examples=40, derandomize=True)
@given(SEEDS)
def test_the_oracle_decision_by_decision(seed: int) -> None:
    rng, config = np.random.default_rng(seed), OracleConfig()
    corners = np.cumsum([rng.uniform(1, 3, 2), *rng.normal(0, 0.6, (4, 2))], axis=0)
    oracle = Oracle()
    oracle.reset(["go"], [None])
    oracle.brief([corners])
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    dense = np.unique(np.concatenate([arc, np.linspace(0, arc[-1], int(arc[-1] / 0.05) + 2)]))
    path = np.column_stack([np.interp(dense, arc, corners[:, k]) for k in (0, 1)])
    done, here = 0.0, np.array([*corners[0], 0.7, 0.0, 0.0, rng.uniform(-4, 4)])
    for _ in range(60):
        found = oracle.act(Observations(np.array([0]), np.zeros((1, 72, 128, 3), np.uint8), here[None]))[0]
        window = [k for k in range(len(dense)) if done - 1e-9 <= dense[k] <= done + 0.6]
        done = dense[min(window, key=lambda k: math.dist(path[k], here[:2]))]
        left, to_end = dense[-1] - done, math.dist(path[-1], here[:2])
        carrot = [np.interp(done + 0.55, dense, path[:, k]) for k in (0, 1)]
        error = math.remainder(math.atan2(carrot[1] - here[1], carrot[0] - here[0]) - here[5], 2 * math.pi)
        near = left < 0.55
        if near and (to_end < 0.1 or (to_end < 0.2 and abs(error) > math.pi / 2)):
            assert found.tolist() == [0.0, 0.0, 1.0]
            return
        speed = min(0.7, max(max(left, to_end) / 0.9, 0.06)) * math.exp(-3 * abs(error))
        assert found == pytest.approx([speed, max(-1, min(1, 1.9 * error)), 0.0], abs=1e-9)
        step = found[:2] * 0.5 + rng.normal(0, 0.02, 2)
        here += np.array([step[0] * math.cos(here[5]), step[0] * math.sin(here[5]), 0, 0, 0, step[1]])
    assert config == OracleConfig(0.55, 0.6, 0.7, 1.9, 3.0, 0.9, 0.1, 0.2, 0.06)


# Words -------------------------------------------------------------------------------------------------------


def test_every_number_up_to_999_is_said_as_people_say_it() -> None:
    ones = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
    ]
    ones = ["", *ones, "seventeen", "eighteen", "nineteen"]
    tens = ["x", "x", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    for number in range(1000):
        small = number % 100
        said = [ones[small]] if small < 20 else [tens[small // 10], ones[small % 10]]
        if number >= 100:
            said = [ones[number // 100], *(said if small else ["hundred"])]
        assert _number_words(number) == ([word for word in said if word] or ["zero"])
    assert tokenise("3m, 12 cm 90degs 1000 2 meters") == [
        "three",
        "metres",
        ",",
        "twelve",
        "cm",
        "ninety",
        "degrees",
        "1000",
        "two",
        "meters",
    ]


def test_words_that_are_as_frequent_are_in_the_order_of_the_alphabet() -> None:
    made = Vocabulary.build([["b", "a", "b", "a", "c"], ["c", "c", "d", "d"]], least=2)
    assert made.words[3:] == ("c", "a", "b", "d")
    assert len(made) == 7
    assert Vocabulary.build([["a"] * 3, ["b"] * 2]).words[3:] == ("a",)  # three times by default


def test_big_arrays_are_written_briefly() -> None:
    grid = np.array([[0.0009, 0.001], [0.51234567, 1.0]], np.float32)
    assert sparse(grid) == [[0, 1, 0.001], [1, 0, 0.5123], [1, 1, 1.0]]
    assert tenths(grid) == ["00", "59"]
    assert tenths(np.array([[0.099, 0.101, 0.999]])) == ["019"]  # type: ignore[arg-type]


# FsPVN and Wayfinder with networks anyone can predict -----------------------------------------------------------


class Language:
    """Every word "thing" of a text is a reference, to the red object."""

    def parse(self, text: str, phrases: object) -> Any:
        count = text.split().count("thing")
        references = [SimpleNamespace(probabilities={"red": 1.0, "blue": 0.0}, none=0.0) for _ in range(count)]
        said = text.replace("thing", PLACEHOLDER)
        return SimpleNamespace(text=text, references=references, anonymised=SimpleNamespace(text=said))


class Stage1:
    """The goal is always three cells ahead; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple] = []

    def encode(self, tokens: list[str]) -> Words:
        return Words(np.zeros((tokens.count(PLACEHOLDER), 2), np.float32), np.zeros(2, np.float32))

    def predict(self, words: Any, references: Any, others: np.ndarray) -> np.ndarray:
        self.asked.append((words, references, others))
        result = np.zeros((len(words), 2, 4097), np.float32)
        result[:, :, 31 * 64 + 35] = 1.0
        return result


def made_policy(kind: type[FsPVN] = FsPVN, config: FsPVNConfig | None = None) -> Any:
    def network(inputs: np.ndarray) -> tuple[np.ndarray]:
        return (np.tile(np.array([0.5, 0.1, 0.2, 0.1, stop["logit"]], np.float32), (len(inputs), 1)),)

    stop = {"logit": -1.0}
    control = Control(network, ControlConfig(things=True))
    policy: Any = kind(Language(), toy_grounder(), Stage1(), control, config)  # type: ignore[arg-type]
    policy.stop = stop
    return policy


def taught() -> TaughtDatabase:
    return TaughtDatabase((SimpleNamespace(name="red"), SimpleNamespace(name="blue")), RED_AND_BLUE)  # type: ignore[arg-type]


FRAME = toy_frame((64, 50, 0), (20, 52, 2))
POSE = np.array([1.0, 2.0, 0.7, 0.0, 0.0, 0.3])


def moved_by(*change: float) -> np.ndarray:
    return POSE + np.array(change)


def seen(slots: list[int], poses: list[np.ndarray], frame: np.ndarray = FRAME) -> Observations:
    return Observations(np.array(slots), np.stack([frame] * len(slots)), np.stack(poses))


def test_a_flight_adds_up_in_its_own_map_from_where_it_was_told() -> None:
    policy = made_policy()
    policy.reset(["to the thing", "thing then thing"], [taught()] * 2)
    other = moved_by(0.5, 0.2, 0, 0, 0, 1.0)
    policy.act(seen([0, 1], [POSE, other]))
    moved = moved_by(0.2, 0.0, 0, 0, 0, 0.1)
    actions = policy.act(seen([0], [moved]))
    np.testing.assert_allclose(actions, [[0.35, 0.2, 0.0]], atol=1e-6)
    world = WorldMap(1, policy.camera)
    for pose in (POSE, moved):
        (one,) = policy.grounder(FRAME[None], [[1.0, 0.0, 0.0]], RED_AND_BLUE)
        stands = footprints(one.box_masks, one.boxes, pose, policy.camera)
        world.update(stands, one.p_box, one.alignment, pose)
    thought = policy.thought(0)
    np.testing.assert_array_equal(thought.references, world.references)
    np.testing.assert_array_equal(thought.all_objects, world.all_objects)
    np.testing.assert_array_equal(thought.coverage, world.coverage)
    np.testing.assert_array_equal(thought.start, [1.0, 2.0, 0.3])
    np.testing.assert_array_equal(thought.pose, moved)
    np.testing.assert_array_equal(thought.footprints, stands)
    assert policy.thought(1).references.shape == (2, 32, 32)
    np.testing.assert_allclose(policy.thought(1).start, [1.5, 2.2, 1.3])
    references, others = map_layers(world.references, world.all_objects, world.coverage, (1.0, 2.0, 0.3))
    np.testing.assert_array_equal(policy.stage1.asked[1][1][0], references)
    np.testing.assert_array_equal(policy.stage1.asked[1][2][0], others)
    kept = thought.references.copy()
    policy.act(seen([0], [moved + np.array([1.0, 0, 0, 0, 0, 2.0])]))
    np.testing.assert_array_equal(thought.references, kept)  # a thought stays what it was
    policy.reset(["to the thing"], [taught()])
    with pytest.raises(WaywordError, match="has not acted yet"):
        policy.thought(0)


def test_what_was_seen_before_the_instruction_is_on_the_map_and_is_no_start() -> None:
    policy = made_policy()
    policy.reset(["to the thing"], [taught()])
    policy.recall(FRAME, moved_by(0.0, 1.0, 0, 0, 0, 0))
    before = policy._flights[0].world.all_objects.copy()
    assert before.max() > 0.3
    policy.act(seen([0], [POSE]))
    assert (policy.thought(0).all_objects >= before).all()
    np.testing.assert_array_equal(policy.thought(0).start, [1.0, 2.0, 0.3])


def test_what_is_taken_away_is_not_there() -> None:
    policy = made_policy(config=FsPVNConfig(blank_images=True))
    policy.reset(["to the thing"], [taught()])
    policy.act(seen([0], [POSE]))
    assert not policy.thought(0).all_objects.any()
    assert policy.thought(0).coverage.any()
    policy = made_policy(config=FsPVNConfig(empty_instructions=True))
    policy.reset(["to the thing"], [taught()])
    assert policy.parsed(0).text == ""
    policy = made_policy()
    policy.reset(["thing " * 20], [taught()])
    assert len(policy._flights[0].table) == MOST_REFERENCES == 12
    with pytest.raises(WaywordError, match="1 instructions but 2 databases"):
        policy.reset(["go"], [taught()] * 2)


def described(*texts: str) -> tuple[Any, str]:
    """A Wayfinder that was told these segments of a description."""
    policy, text = made_policy(Wayfinder), " ".join(texts)
    begins = [sum(len(one) + 1 for one in texts[:k]) for k in range(len(texts))]
    legs = tuple((b, b + len(one)) for b, one in zip(begins, texts, strict=True))
    policy.reader = SimpleNamespace(read=lambda parsed, phrases: Reading("description", legs=legs))
    policy.reset([text], [taught()])
    return policy, text


def test_a_description_is_flown_two_segments_at_a_time_and_the_next_begin_where_those_ended() -> None:
    policy, _ = described("past the thing", "on", "to the thing", "left", "stop")
    assert policy.parsed(0).text == "past the thing on"
    assert policy._plans[0].legs == ["to the thing left", "stop"]
    policy.act(seen([0], [POSE]))
    moved = moved_by(0.3, 0.1, 0, 0, 0, 0.2)
    policy.stop["logit"] = 1.0
    assert policy.act(seen([0], [moved])).tolist() == [[0.0, 0.0, 0.0]]  # not the end
    assert policy.parsed(0).text == "to the thing left"
    flight = policy._flights[0]
    np.testing.assert_allclose(flight.start, moved[[0, 1, 5]])
    np.testing.assert_allclose(policy.control._trails.starts[0], moved[[0, 1, 5]])
    world = WorldMap(1, policy.camera)
    for look in policy._plans[0].map.sightings:
        world.update(look.stands, look.p_box, align(look.of_box, look.p_box, flight.table), look.pose)
    assert len(policy._plans[0].map.sightings) == 2
    np.testing.assert_array_equal(flight.world.all_objects, world.all_objects)
    np.testing.assert_array_equal(flight.world.coverage, world.coverage)
    assert policy.act(seen([0], [moved]))[0, 2] == 0.0
    assert policy.act(seen([0], [moved]))[0, 2] == 1.0  # no leg is left
    assert described("past the thing", "stop")[0]._plans[0].legs == []


def test_masks_are_those_of_all_looks_unless_they_are_to_stay() -> None:
    for settled in (True, False):
        policy, _ = described("to the thing")
        policy.settled = settled
        for _ in range(2):
            policy.act(seen([0], [POSE]))
        thought, plan = policy.thought(0), policy._plans[0]
        kept = WorldMap(1, policy.camera)
        for look in plan.map.sightings:
            kept.update(look.stands, look.p_box, align(look.of_box, look.p_box, np.array([[1.0, 0, 0]])), look.pose)
        wanted = plan.map.references(np.array([[1.0, 0.0, 0.0]])) if settled else kept.references
        np.testing.assert_array_equal(thought.references, wanted)
        assert not np.array_equal(plan.map.references(np.array([[1.0, 0.0, 0.0]])), kept.references)


def test_a_drone_that_is_held_up_flies_to_its_goal_by_itself_and_one_that_is_not_as_it_is_asked_to() -> None:
    policy, _ = described("to the thing")
    actions = [policy.act(seen([0], [POSE], toy_frame()))[0] for _ in range(4)]
    np.testing.assert_allclose(actions[0], [0.35, 0.2, 0.0], atol=1e-6)
    np.testing.assert_allclose(actions[1], [0.35, 0.2, 0.0], atol=1e-6)
    assert policy._plans[0].held_up.direct  # two decisions without motion
    assert actions[2].tolist() != pytest.approx([0.35, 0.2, 0.0])
    policy.clear = False
    np.testing.assert_allclose(policy.act(seen([0], [POSE], toy_frame())), [[0.35, 0.2, 0.0]], atol=1e-6)


def told(reading: Reading) -> Any:
    """A Wayfinder whose text was read as this."""
    policy = made_policy(Wayfinder)
    policy.reader = SimpleNamespace(read=lambda parsed, phrases: reading)
    policy.reset(["to the thing"], [taught()])
    return policy


def test_steps_are_flown_on_what_is_seen_and_shown_as_a_way() -> None:
    things = {"0": Thing("the red ball", {"red": 1.0})}
    policy = told(Reading("steps", (Step("avoid", "0"), Step("forward", metres=1.0), Step("goto", "0")), things))
    assert policy.step_number(0) == 1
    actions = policy.act(seen([0], [POSE]))
    np.testing.assert_allclose(actions, [[0.7, 0.0, 0.0]], atol=1e-6)
    plan, thought = policy._plans[0], policy.thought(0)
    assert plan.map.landmarks.find(plan.map.landmarks.one_hot("red"))[1] > 0.5
    np.testing.assert_array_equal(thought.action, actions[0])
    np.testing.assert_array_equal(
        thought.distributions, planned_distributions(plan.flyer.way, np.array([1.0, 2.0, 0.3]))
    )
    assert thought.all_objects.max() > 0.3
    assert not policy.stage1.asked
    plan.flyer.index = 2
    assert policy.step_number(0) is None
    assert policy.refusal(0) is None
    plan.flyer.lost = "0"
    assert policy.refusal(0) == "I did not find the red ball"


def test_the_way_to_what_was_looked_for_belongs_to_the_search() -> None:
    things = {"0": Thing("the red ball", {"red": 1.0})}
    policy = told(Reading("steps", (Step("stay"), Step("search", "0")), things))
    flyer = policy._plans[0].flyer
    assert [step.do for step in flyer.steps] == ["search", "goto"]
    for index, number in ((0, 1), (1, 1), (2, None)):
        flyer.index = index
        assert policy.step_number(0) == number


def test_what_is_refused_is_not_flown_unless_it_is_to_be_flown_anyway() -> None:
    policy = told(Reading("refusal", refusal="I do not know rockets"))
    assert policy.refusal(0) == "I do not know rockets"
    assert policy.step_number(0) is None
    assert policy.act(seen([0], [POSE])).tolist() == [[0.0, 0.0, 1.0]]
    assert policy.thought(0).distributions[:, UNOBSERVED].tolist() == [1.0, 1.0]
    policy.anyway = True
    policy.reset(["to the thing"], [taught()])
    assert policy.refusal(0) is None
    np.testing.assert_allclose(policy.act(seen([0], [POSE], toy_frame())), [[0.35, 0.2, 0.0]], atol=1e-6)


def test_slots_that_fly_steps_and_slots_that_fly_descriptions_do_not_mix() -> None:
    policy = made_policy(Wayfinder)
    readings = [
        Reading("steps", (Step("turn", degrees=-90.0),), {}),
        Reading("description"),
        Reading("refusal", refusal="no"),
        Reading("description"),
    ]
    policy.reader = SimpleNamespace(read=lambda parsed, phrases: readings.pop(0))
    policy.reset(["go", "to the thing", "go", "thing to thing"], [taught()] * 4)
    poses = [POSE + np.array([0.1 * k, 0, 0, 0, 0, 0]) for k in range(4)]
    actions = policy.act(seen([3, 2, 1, 0], poses, toy_frame()))
    np.testing.assert_allclose(actions, [[0.35, 0.2, 0], [0, 0, 1], [0.35, 0.2, 0], [0, -1, 0]], atol=1e-6)
    assert [len(masks) for masks in policy.stage1.asked[0][1]] == [2, 1]
    assert [policy.thought(slot).pose[0] for slot in (3, 2, 1, 0)] == pytest.approx([1.0, 1.1, 1.2, 1.3])
    assert Wayfinder.horizon == 240


def test_a_wish_that_would_touch_is_changed_by_how_fast_the_drone_is() -> None:
    policy, _ = described("to the thing")
    policy.act(seen([0], [POSE], toy_frame()))
    marks = policy._plans[0].map.landmarks
    ahead = (1.0 + 0.65 * math.cos(0.3), 2.0 + 0.65 * math.sin(0.3))
    marks._all[:] = [Landmark(0, *ahead, 0.1, np.array([0.0, -20.0, -20.0]), 100.0, weight=9.0)]
    disc = np.array([[*ahead, 0.3]])
    before, wish = POSE[[0, 1, 5]], (0.35, 0.2)
    for gone in (0.05, 0.1):
        here = before + np.array([gone, 0.0, 0.0])
        (action,) = policy.act(seen([0], [np.array([*here[:2], 0.7, 0, 0, here[2]])], toy_frame()))
        assert action[:2] == pytest.approx(keep_clear(here, gone / 0.5, wish, disc), abs=1e-6)
        assert action[:2] != pytest.approx(wish)
        before = here


def test_the_next_leg_has_its_own_patience() -> None:
    policy, _ = described("past the thing", "on", "to the thing")
    for _ in range(3):
        policy.act(seen([0], [POSE], toy_frame()))
    assert policy._plans[0].held_up.direct
    policy.stop["logit"] = 1.0
    policy.act(seen([0], [POSE], toy_frame()))
    assert policy.parsed(0).text == "to the thing"
    assert not policy._plans[0].held_up.direct
