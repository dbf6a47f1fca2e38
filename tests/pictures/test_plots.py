"""The plots of reports: dots, lines and paths stand where their numbers say."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

import numpy as np
import pytest

from wayword.episodes import Example
from wayword.intervals import Interval, wilson
from wayword.pictures.plots import DotRow, distance_plot, dot_plot, flight_map, rate_plot
from wayword.task import SUCCESS_RADIUS_M


def circles(plot: str, kind: str) -> list[tuple[float, float]]:
    nodes = ElementTree.fromstring(plot).iter("circle")
    return [(float(n.attrib["cx"]), float(n.attrib["cy"])) for n in nodes if n.attrib["class"] == kind]


def test_plots_are_well_formed_and_say_what_they_show(dev_pairs: list[Example]) -> None:
    plots = [
        dot_plot("<t>", [DotRow("<a>", 0, wilson(1, 2), "50 %")], 0, 1, ""),
        rate_plot("<t>", "words", ["5", "9"], {"<a>": {"5": wilson(1, 1), "9": wilson(0, 1)}}),
        distance_plot({"<a>": [0.1, 5.0]}),
        flight_map(dev_pairs[0], dev_pairs[0].path),
    ]
    for plot in plots:
        root = ElementTree.fromstring(plot)
        assert root.attrib["role"] == "img"
        assert [child.tag for child in root][:2] == ["title", "desc"]
        assert root[1].text
    assert "<a>: 5: 100 %, 9: 0 %" in (ElementTree.fromstring(plots[1])[1].text or "")
    assert "<a>: median 2.55 m" in (ElementTree.fromstring(plots[2])[1].text or "")


def test_dots_stand_at_their_means_and_stay_on_the_axis() -> None:
    # The axis from 0 to 2 goes from x = 160 to x = 620 - 160 = 460: 0.5 is at 160 + 300 / 4 = 235.
    rows = [DotRow("a", 1, Interval(0.5, 0.0, 1.0, 9), ""), DotRow("b", 9, Interval(9.0, 8.0, 10.0, 9), "")]
    plot = dot_plot("t", rows, 0, 2, " m")
    assert circles(plot, "s1") == [(235, 17), (460, 43)]  # eight colours: the ninth is the first again


def test_systems_of_a_rate_plot_stand_beside_each_other() -> None:
    rates = {"a": {"5": Interval(1.0, 0.9, 1.0, 9)}, "b": {"5": Interval(0.0, 0.0, 0.1, 9), "9": wilson(0, 9)}}
    plot = rate_plot("t", "words", ["5", "9"], rates)
    ((x, y),) = circles(plot, "s0")
    (x2, y2), _ = circles(plot, "s1")
    assert (y, y2) == (14, 230)  # 100 per cent above, none below
    assert x2 - x == 14
    # Two groups share 600 - 70 = 530 pixels: the middle of the first is at 70 + 530 / 4.
    assert (x + x2) / 2 == pytest.approx(70 + 530 / 4, abs=0.06)


def test_eight_systems_stay_within_their_group() -> None:
    groups = [str(k) for k in range(6)]
    plot = rate_plot("t", "words", groups, {str(k): dict.fromkeys(groups, wilson(1, 1)) for k in range(8)})
    xs = sorted(float(part.split('"')[0]) for part in plot.split('cx="')[1:])
    assert len(set(xs)) == 8 * 6
    for left, right in itertools.pairwise([xs[8 * k : 8 * k + 8] for k in range(6)]):
        assert right[0] - left[-1] > left[1] - left[0]  # a gap between groups


def test_the_mark_of_success_is_at_its_distance() -> None:
    plot = ElementTree.fromstring(distance_plot({"a": [0.1, 0.2]}, most_m=1.0))
    mark = next(node for node in plot.iter("path") if node.attrib["class"] == "mark")
    assert mark.attrib["d"].startswith(f"M{60 + 540 * SUCCESS_RADIUS_M:.1f} 230")


def test_a_drone_outside_the_arena_is_still_on_its_map(dev_pairs: list[Example]) -> None:
    out = np.array([[2.0, 2.0], [-1.0, 5.7]])
    root = ElementTree.fromstring(flight_map(dev_pairs[0], out))
    side = float(root.attrib["viewBox"].split()[2])
    end = next(node for node in root.iter("circle") if node.attrib["class"] == "ended")
    assert 0 < float(end.attrib["cx"]) < side
    assert 0 < float(end.attrib["cy"]) < side
