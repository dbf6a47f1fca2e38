"""How metrics are named, rounded and put into words; the numbers of the task they rest on."""

from __future__ import annotations

import io
import math
import re
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from rich.console import Console

from wayword import task
from wayword.evaluation.metrics import (
    ENDINGS,
    METRICS,
    EpisodeMetrics,
    navigation_error,
    ndtw,
    oracle_success,
    score,
    sdtw,
    spl,
    success,
)
from wayword.evaluation.summary import count_endings, format_number, metrics_table, summarise
from wayword.evaluation.verdicts import outcome_of
from wayword.intervals import Interval, bootstrap_mean, wilson
from wayword.path_distance import SPACING

ONE = EpisodeMetrics(True, 0.123, True, 0.456, 0.9, 0.8, 0.8, 0, 12, "policy")


def test_every_metric_has_a_title_and_a_unit() -> None:
    assert {name: tuple(metric) for name, metric in METRICS.items()} == {
        "sr": ("SR", "%"), "emd": ("EMD", "m"), "osr": ("OSR", "%"), "ne": ("NE", "m"), "spl": ("SPL", ""),
        "ndtw": ("nDTW", ""), "sdtw": ("SDTW", ""), "collisions": ("coll.", "per episode"),
        "steps": ("steps", "per episode"),
    }  # fmt: skip
    assert [*METRICS, "ended_by"] == [field.name for field in fields(EpisodeMetrics)]
    assert ENDINGS == ("policy", "horizon", "contact", "error")


def test_numbers_of_the_task() -> None:
    assert (task.ARENA_M, task.SUCCESS_RADIUS_M, task.DECISION_S, task.HORIZON, task.STOP_THRESHOLD) == (
        4.7, 0.47, 0.5, 50, 0.5,
    )  # fmt: skip
    assert (task.MAX_SPEED_M_S, task.MAX_YAW_RATE_RAD_S, task.ALTITUDE_M) == (0.7, 1.0, 0.7)
    assert (task.IMAGE_WIDTH, task.IMAGE_HEIGHT, task.HFOV_DEG, task.MOUNT_PITCH_DEG) == (128, 72, 84.0, 15.0)
    assert SPACING == 0.02


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(79.96, "%", "80.0"), (0.0, "%", "0.0"), (0.126, "m", "0.13"), (1234.5, "m", "1234.50"), (0.5, "", "0.50"),
     (0.0249, "per episode", "0.02"), (12.345, "ms", "12.3"), (0.01234, "ms", "0.0123"), (99.96, "fps", "100"),
     (100.0, "fps", "100"), (1234.5, "MB", "1,234"), (-123.4, "x", "-123")],
)  # fmt: skip
def test_digits_that_a_unit_deserves(value: float, unit: str, text: str) -> None:
    assert format_number(value, unit) == text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "arrived: stopped 0.46 m from the end, EMD 0.12 m, 12 decisions"),
        ({"sr": False}, "missed: stopped 0.46 m from the end, EMD 0.12 m, 12 decisions"),
        ({"ended_by": "horizon", "collisions": 2},
         "arrived: ran out of time 0.46 m from the end, EMD 0.12 m, 12 decisions, 2 contacts"),
        ({"ended_by": "contact", "collisions": 1, "sr": False},
         "missed: hit an object 0.46 m from the end, EMD 0.12 m, 12 decisions, 1 contacts"),
        ({"ended_by": "error", "sr": False},
         "missed: was ended by a fault 0.46 m from the end, EMD 0.12 m, 12 decisions"),
    ],
)  # fmt: skip
def test_a_flight_in_one_line(changes: dict[str, object], words: str) -> None:
    assert outcome_of(replace(ONE, **changes)) == words  # type: ignore[arg-type]


def test_rates_are_wilson_and_everything_else_is_drawn_with_the_same_seed() -> None:
    rng = np.random.default_rng(4)
    flights = [
        replace(
            ONE, sr=bool(rng.random() < 0.5), osr=bool(rng.random() < 0.7), **dict.fromkeys(("emd", "ne"), float(v))
        )
        for v in rng.uniform(0, 2, 30)
    ]
    summary = summarise(flights, seed=9)
    assert list(summary) == list(METRICS)
    assert summary["sr"] == wilson(sum(one.sr for one in flights), 30)
    assert summary["osr"] == wilson(sum(one.osr for one in flights), 30)
    assert summary["emd"] == summary["ne"] == bootstrap_mean([one.ne for one in flights], np.random.default_rng(9))
    assert summary["emd"] != summarise(flights, seed=10)["emd"]
    endings = [replace(ONE, ended_by=ending) for ending in ("error", "policy", "error")]  # type: ignore[arg-type]
    assert count_endings(endings) == {"policy": 1, "horizon": 0, "contact": 0, "error": 2}
    assert list(count_endings([])) == list(ENDINGS)


def test_columns_are_in_order_and_their_cells_below_them() -> None:
    rows = {"ours": {"sr": Interval(0.5, 0.25, 0.75, 8), "emd": Interval(1.0, 0.5, 2.0, 6)}, "none": {}}
    console = Console(file=io.StringIO(), width=200)
    console.print(metrics_table(rows))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    lines = [line.split() for line in re.sub("[─]", "", text).splitlines() if line.strip()]
    assert " ".join([word for line in lines[:2] for word in line]) == (
        "SR EMD OSR NE coll. system n % m % m SPL nDTW SDTW /flight"
    )
    assert ["ours", "8", "50.0", "1.00", *"––––––"] in lines
    assert ["[25.0,", "75.0]", "[0.50,", "2.00]"] in lines
    assert ["none", "0", *"––––––––"] in lines
    assert "Wilson for SR and OSR" in text


@pytest.mark.parametrize("seed", range(10))
def test_metrics_are_their_definitions(seed: int) -> None:
    """Positions one by one; resampled every 2 cm by walking; warping by the full table."""
    rng = np.random.default_rng(seed)
    gold, flown = (np.cumsum(rng.normal(0, 0.12, (6, 2)), axis=0) for _ in range(2))
    away = [math.dist(place, gold[-1]) for place in flown.tolist()]
    assert navigation_error(flown, gold) == pytest.approx(away[-1])
    assert success(flown, gold) == (away[-1] < 0.47)
    assert oracle_success(flown, gold) == (min(away) < 0.47)
    assert success(flown, gold, away[-1] + 1e-9)
    assert not success(flown, gold, away[-1])
    assert oracle_success(flown, gold, min(away) + 1e-9)
    assert not oracle_success(flown, gold, min(away))
    long, wanted = (sum(math.dist(a, b) for a, b in pairwise(p)) for p in (flown.tolist(), gold.tolist()))
    assert spl(flown, gold, 9.0) == pytest.approx(wanted / max(wanted, long))
    assert spl(flown, gold) == (pytest.approx(wanted / max(wanted, long)) if away[-1] < 0.47 else 0.0)

    def walked(path: np.ndarray) -> np.ndarray:
        places, left = [path[0]], 0.02
        for a, b in pairwise(path):
            done, length = 0.0, math.dist(a, b)
            while length - done >= left:
                done, left = done + left, 0.02
                places.append(a + (b - a) * done / length)
            left -= length - done
        return np.array([*places, path[-1]])

    one, two = walked(gold), walked(flown)
    cost = np.full((len(one) + 1, len(two) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(len(one)):
        for j in range(len(two)):
            best = min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
            cost[i + 1, j + 1] = best + math.dist(one[i], two[j])
    wanted_ndtw = math.exp(-cost[-1, -1] / (0.47 * len(one)))
    assert ndtw(flown, gold) == pytest.approx(wanted_ndtw)
    assert sdtw(flown, gold) == (pytest.approx(wanted_ndtw) if away[-1] < 0.47 else 0.0)
    assert ndtw(flown, gold, 0.94) == pytest.approx(math.sqrt(wanted_ndtw))
    scored = score(flown, gold, 3, 7, "contact")
    assert (scored.collisions, scored.steps, scored.ended_by) == (3, 7, "contact")
    assert (scored.ne, scored.ndtw) == (pytest.approx(away[-1]), pytest.approx(wanted_ndtw))
