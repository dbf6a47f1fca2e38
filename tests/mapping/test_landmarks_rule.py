"""Landmarks against the same rules said plainly and slowly: every look of a flight, landmark by landmark."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.camera import Camera
from wayword.grounding.density import OTHERS
from wayword.mapping.landmarks import LandmarkConfig, Landmarks

HALF_VIEW = math.radians(42) - 0.15
"""What is this far off the nose is sure to be in view."""


class Plain:
    """Landmarks as dicts; all numbers as the configuration documents them."""

    def __init__(self, columns: int, names: tuple[str, ...]) -> None:
        self.columns, self.names = columns, names
        self.marks: list[dict] = []
        self.given = 0
        self.became: dict[int, int] = {}

    def update(self, places, p_box, of_box, pose) -> list[int]:
        px, py, yaw = pose[0], pose[1], pose[5]
        answers, used = [-1] * len(p_box), set()
        for k in sorted(range(len(p_box)), key=lambda i: -p_box[i]):  # the surest box chooses first
            x, y, radius, quality = (float(v) for v in places[k])
            if p_box[k] < 0.35 or quality < 0.12 or min(x, y) < -0.25 or max(x, y) > 4.7 + 0.25:
                continue
            away = math.hypot(x - px, y - py)
            if away < 1.2 and (min(x, y) < 0.3 or max(x, y) > 4.4):  # the red and white edge, from nearby
                continue
            free = [m for m in self.marks if m["number"] not in used]
            mark = min(free, key=lambda m: math.hypot(m["x"] - x, m["y"] - y), default=None)
            if mark is None or math.hypot(mark["x"] - x, mark["y"] - y) > 0.42 + 0.08 * away:
                mark = {"number": self.given, "x": x, "y": y, "radius": radius, "precision": 0.0, "weight": 0.0,
                        "missed": 0, "evidence": np.zeros(self.columns)}  # fmt: skip
                self.given += 1
                self.marks.append(mark)
            used.add(mark["number"])
            answers[k] = mark["number"]
            worth = p_box[k] * quality
            precision = worth / (0.05 + 0.07 * away) ** 2
            for key, value in (("x", x), ("y", y), ("radius", radius)):
                mark[key] = (mark["precision"] * mark[key] + precision * value) / (mark["precision"] + precision)
            mark["precision"] += precision
            mark["weight"] += worth
            mark["missed"] = max(mark["missed"] - 1, 0)
            mark["evidence"] = mark["evidence"] + 0.5 * worth * np.log(np.maximum(of_box[k], 0.01))
        self.miss(px, py, yaw, used)
        self.merge()
        return answers

    def miss(self, px, py, yaw, used) -> None:
        views = []
        for m in self.marks:
            bearing = math.atan2(m["y"] - py, m["x"] - px) - yaw
            bearing -= 2 * math.pi * math.floor((bearing + math.pi) / (2 * math.pi))
            views.append((math.hypot(m["x"] - px, m["y"] - py), bearing))
        for (away, bearing), m in zip(views, self.marks, strict=True):
            if m["number"] in used or abs(bearing) >= HALF_VIEW or away <= 0.9 or away >= 2.5:
                continue
            if not any(d < away and abs(bearing - b) < math.atan2(0.3, d) for d, b in views):
                m["missed"] += 1
        self.marks = [m for m in self.marks if m["missed"] < 4]

    def merge(self) -> None:
        kept: list[dict] = []
        for m in sorted(self.marks, key=lambda m: -m["precision"]):
            twins = [k for k in kept if math.hypot(k["x"] - m["x"], k["y"] - m["y"]) < 0.6 * 0.42]
            if not twins:
                kept.append(m)
                continue
            twins[0]["evidence"] = twins[0]["evidence"] + m["evidence"]
            twins[0]["weight"] += m["weight"]
            self.became[m["number"]] = twins[0]["number"]
        self.marks = sorted(kept, key=lambda m: m["number"])

    @staticmethod
    def chances(mark: dict) -> np.ndarray:
        raised = np.exp(mark["evidence"] - mark["evidence"].max())
        return raised / raised.sum()

    def recognised(self) -> list[int]:
        best: dict[str, float] = {}
        things = []
        for m in sorted([m for m in self.marks if m["weight"] >= 0.6], key=lambda m: -m["weight"]):
            chances = self.chances(m)
            name = (*self.names, "none of these")[int(chances.argmax())]
            if max(chances[:-1]) < 0.3 and m["weight"] < 4.0:
                continue
            if name not in ("none of these", OTHERS):
                if m["weight"] < 0.5 * best.get(name, 0.0):
                    continue
                best[name] = max(best.get(name, 0.0), m["weight"])
            things.append(m["number"])
        return sorted(things)

    def believed(self, number: int, row: np.ndarray) -> np.ndarray:
        while number in self.became:
            number = self.became[number]
        found = [m for m in self.marks if m["number"] == number]
        return self.chances(found[0]) if found else row


def flight(seed: int, columns: int):
    """Looks at a handful of things, some of them near each other, from all around and with every kind of error."""
    rng = np.random.default_rng(seed)
    things = rng.uniform(-0.3, 5.0, (int(rng.integers(2, 7)), 2))
    things[1] = things[0] + rng.normal(0, 0.4, 2)
    kinds = rng.integers(0, columns, len(things))
    for _ in range(int(rng.integers(3, 12))):
        pose = np.array([*rng.uniform(0, 4.7, 2), 0.7, 0.0, 0.0, rng.uniform(-7, 7)])
        if rng.random() < 0.6:
            aim = things[rng.integers(len(things))] - pose[:2]
            pose[5] = math.atan2(aim[1], aim[0]) + rng.normal(0, 0.3)
        seen = np.flatnonzero(rng.random(len(things)) < 0.5)
        places = np.column_stack(
            [things[seen] + rng.normal(0, 0.15, (len(seen), 2)), rng.uniform(0.02, 0.4, len(seen)),
             rng.choice([0.1, 0.12, 0.5, 1.0], len(seen))]
        ).astype(np.float32)  # fmt: skip
        of_box = rng.dirichlet(np.full(columns, 0.3), len(seen))
        of_box[np.arange(len(seen)), kinds[seen]] += rng.choice([0.0, 1.0, 4.0])
        of_box /= of_box.sum(axis=1, keepdims=True)
        yield places, rng.choice([0.3, 0.35, 0.5, 0.8, 1.0], len(seen)), of_box, pose


@settings(max_examples=150, derandomize=True)
@given(st.integers(0, 10**9), st.booleans())
def test_a_flight_leaves_what_the_rules_say(seed: int, large: bool) -> None:
    names = ("globe", "planter", OTHERS) if large else ("globe", "planter")
    fast, plain = Landmarks(names, Camera().at_model_size()), Plain(len(names) + 1, names)
    looks = []
    for places, p_box, of_box, pose in flight(seed, len(names) + 1):
        numbers = fast.update(places, p_box, of_box, pose)
        assert numbers.tolist() == plain.update(places, p_box, of_box, pose)
        looks.append((numbers, of_box))
        marks = {m["number"]: m for m in plain.marks}
        assert [m.number for m in fast.confirmed] == [m["number"] for m in plain.marks if m["weight"] >= 0.6]
        assert [m.number for m in fast.recognised] == plain.recognised()
        for mark in fast._all:
            m = marks[mark.number]
            assert (mark.x, mark.y, mark.radius) == pytest.approx((m["x"], m["y"], m["radius"]))
            assert (mark.precision, mark.weight, mark.missed) == pytest.approx(
                (m["precision"], m["weight"], m["missed"])
            )
            np.testing.assert_allclose(mark.probabilities, plain.chances(m), atol=1e-9)
        for name in names:
            scores = [(plain.chances(m)[names.index(name)], m["number"]) for m in plain.marks if m["weight"] >= 0.6]
            best, score = fast.find(fast.one_hot(name))
            assert score == pytest.approx(max((s for s, _ in scores), default=0.0))
            if best is not None:
                assert dict((n, s) for s, n in scores)[best.number] == pytest.approx(score)
    for numbers, of_box in looks:
        rows = [plain.believed(int(n), row) for n, row in zip(numbers, of_box, strict=True)]
        np.testing.assert_allclose(fast.believed(numbers, of_box), np.array(rows).reshape(of_box.shape), atol=1e-9)


def test_the_numbers_that_are_documented() -> None:
    assert LandmarkConfig() == LandmarkConfig(
        join_m=0.42, join_per_m=0.08, least_box=0.35, least_quality=0.12, temper=0.5, floor=0.01, error_m=0.05,
        error_per_m=0.07, forget=4, confirmed=0.6, recognised=0.3, solid=4.0, twin=0.5, beyond_m=0.25,
        rim_m=0.3, rim_from_m=1.2,
    )  # fmt: skip


def looked(weights: dict[tuple[float, float], float], row: tuple[float, ...]) -> Landmarks:
    """Landmarks seen for as long as their weight says, each time as ``row``."""
    marks = Landmarks(("globe", "planter"), Camera())
    for (x, y), weight in weights.items():
        for worth in [1.0] * int(weight) + ([weight % 1] if weight % 1 else []):
            marks.update(
                np.array([(x, y, 0.1, worth)], np.float32), [1.0], np.array([row]), np.array([x - 1, y, 1, 0, 0, 0])
            )
    return marks


@pytest.mark.parametrize(("looks", "number"), [(0.5, 0), (0.75, 1)])
def test_a_landmark_is_there_after_six_tenths_of_a_look(looks: float, number: int) -> None:
    assert len(looked({(2.0, 2.0): looks}, (0.9, 0.05, 0.05)).confirmed) == number


@pytest.mark.parametrize(("looks", "number"), [(3.75, 0), (4.0, 1)])
def test_what_looks_like_nothing_that_was_taught_is_a_thing_after_four_looks(looks: float, number: int) -> None:
    assert len(looked({(2.0, 2.0): looks}, (0.05, 0.05, 0.9)).recognised) == number


@pytest.mark.parametrize(("looks", "number"), [(1.75, 1), (2.0, 2)])
def test_of_two_that_look_like_one_thing_the_second_has_half_as_many_looks(looks: float, number: int) -> None:
    marks = looked({(2.0, 1.0): 4.0, (2.0, 3.0): looks}, (0.9, 0.05, 0.05))
    assert len(marks.confirmed) == 2
    assert len(marks.recognised) == number


def test_looks_at_two_things_that_came_together_are_not_looks_at_two_others_that_did() -> None:
    """Two pairs 0.75 m apart, at x = 2.5 and x = 4.0: each is drawn together by near looks, one after the other."""
    marks = Landmarks(("globe", "planter"), Camera(), LandmarkConfig(join_m=0.7))
    globe, planter = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05)

    def see(places: list[tuple[float, float]], row: tuple[float, ...], pose: tuple[float, ...]) -> list[int]:
        prints = np.array([(*place, 0.15, 1.0) for place in places], np.float32)
        return marks.update(prints, np.ones(len(places)), np.array([row] * len(places)), pose).tolist()

    pose = (0.7, 1.4, 0.7, 0.0, 0.0, 0.0)
    first, second = see([(2.5, 1.0), (2.5, 1.75)], globe, pose), see([(4.0, 1.0), (4.0, 1.75)], planter, pose)
    for x, row in ((2.5, globe), (4.0, planter)):
        for y in (1.40, 1.25, 1.3, 1.3, 1.35):
            see([(x, y)], row, (x - 0.2, 1.4, 0.7, 0.0, 0.0, 0.0))
    assert len(marks.confirmed) == 2
    believed = marks.believed(np.array(first + second), np.full((4, 3), 1 / 3))
    assert believed.argmax(axis=1).tolist() == [0, 0, 1, 1]
