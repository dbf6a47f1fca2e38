from __future__ import annotations

import numpy as np
import pytest

from wayword.grounding.density import Exemplars
from wayword.intervals import wilson
from wayword.learning.grounding.databases import certain
from wayword.learning.grounding.fit import density_likelihood, logistic
from wayword.learning.grounding.report import Report, table
from wayword.learning.grounding.scenes import SceneConfig, scenes
from wayword.learning.grounding.similarity import histogram, log_density, n_way
from wayword.learning.grounding.trials import calibration, calibration_error


def test_calibration_by_hand() -> None:
    # Two bins: 0.1 and 0.3 below one half with one truth in two, 0.9 and 1.0 above, both true.
    curve = calibration([(0.1, False), (0.3, True), (0.9, True), (1.0, True)], bins=2)
    assert [(round(a, 6), b, n) for a, b, n in curve] == [(0.2, 0.5, 2), (0.95, 1.0, 2)]


def test_histogram_by_hand() -> None:
    # One crop half black, half white, two bins per channel: cells 0 and 7 hold one half each, square-rooted.
    crop = np.full((1, 3, 32, 32), -1.0, np.float32)
    crop[:, :, :, 16:] = 1.0
    expected = np.zeros(8)
    expected[[0, 7]] = np.sqrt(0.5)
    np.testing.assert_allclose(histogram(crop, 2)[0], expected, atol=1e-6)


def test_log_density_by_hand() -> None:
    # One query at 0, exemplars at 0 and 1, variance 0.5: log((1 + exp(-1)) / 2) = -0.379885.
    value = log_density(np.array([[0.0]], np.float32), np.array([[0.0], [1.0]], np.float32), 0.5)
    assert value == pytest.approx(-0.379885, abs=1e-5)


def test_n_way_of_separate_and_of_equal_objects() -> None:
    rng = np.random.default_rng(0)
    apart = [np.full((20, 2), 10.0 * o, np.float32) + rng.normal(size=(20, 2)).astype(np.float32) for o in range(6)]
    assert n_way(apart, 3, 4, 1.0, np.random.default_rng(1), trials=50).mean == 1.0
    same = [rng.normal(size=(40, 2)).astype(np.float32) for _ in range(6)]
    assert n_way(same, 6, 4, 1.0, np.random.default_rng(1), trials=400).mean == pytest.approx(0.25, abs=0.08)


def test_logistic_finds_the_slope_it_was_made_with() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000) * 2
    y = (rng.random(20_000) < 1 / (1 + np.exp(-(1.5 * x - 0.7)))).astype(np.float64)
    slope, offset = logistic(x, y)
    assert slope == pytest.approx(1.5, abs=0.1)
    assert offset == pytest.approx(-0.7, abs=0.1)


def test_density_likelihood_by_hand() -> None:
    # The region lies on its object's only exemplar: density 1; with background 0.25, -log(1 / 1.25) = 0.223144.
    # Asked for "none" instead: -log(0.25 / 1.25) = 1.609438. Mean 0.916291.
    x, one = np.array([[1.0, 0.0]], np.float32), Exemplars(("a",), np.array([[1.0, 0.0]], np.float32), np.array([0]))
    value = density_likelihood(np.log([0.1, 0.25, 1e-12]), [(x, one, 0), (x, one, -1)], 0.0)
    assert value == pytest.approx(0.916291, abs=1e-6)


def test_certain_references() -> None:
    np.testing.assert_array_equal(certain(["b", "zebra"], ("a", "b")), [[0, 1, 0], [0, 0, 1]])


def test_scenes_know_their_truth_and_are_seeded() -> None:
    config = SceneConfig("dev", 12, seed=4)
    made, again = scenes(config), scenes(config)
    np.testing.assert_array_equal(made.data.images(np.arange(12)), again.data.images(np.arange(12)))
    data = made.data
    for row in range(0, len(data.boxes), 5):
        mask = data.instances(data.frame[row : row + 1])[0] == data.instance[row]
        x0, y0, x1, y1 = data.boxes[row].astype(int)
        assert mask.sum() == data.pixels[row] == mask[y0:y1, x0:x1].sum()
        assert mask[y0].any()
        assert mask[:, x1 - 1].any()
        layout = made.layouts[int(data.frame[row])]
        assert made.objects[int(data.identity[row])] == layout[int(data.instance[row]) - 1]


def test_figures_are_publishable() -> None:
    report = Report()
    report.add("top1", wilson(9, 10), "%")
    figure = report.publishable("dev", "wayword report grounding")["grounding.top1.dev"]
    assert (figure.value, figure.n, figure.unit) == (90.0, 10, "%")
    assert "90.0 %" in table(report.figures)


def test_calibration_error_by_hand() -> None:
    # Four claims of 0.25, one of them true: off by 0. Two of 0.85, one true: |0.85 - 0.5| = 0.35. Over six: 0.1167.
    claims = [(0.25, True), (0.25, False), (0.25, False), (0.25, False), (0.85, True), (0.85, False)]
    found = calibration_error(claims, np.random.default_rng(0))
    assert found.mean == pytest.approx(2 * 0.35 / 6)
    assert found.low <= found.mean <= found.high
