"""Random draws of many things: who is taught, who is not, and what colours alone would say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.pack_files import write_pack
from support.toy_grounder import toy_frame, toy_grounder
from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.learning.grounding.databases import certain, colour_exemplars
from wayword.learning.grounding.draws import DrawConfig, measure_draws, pack_meshes
from wayword.learning.grounding.trials import Trials, box_colours, colour_scores
from wayword.sim.models.catalogue import catalogue_mesh, names

SMALL = DrawConfig(draws=1, frames=4, fewest=6, most=6, gallery_frames=64)


def test_colours_choose_the_box_that_looks_like_the_photos() -> None:
    image = toy_frame((30, 30, 0), (90, 30, 2))[None]
    boxes = np.array([[24, 24, 36, 36], [84, 24, 96, 36]], np.float32)
    looks = box_colours(image, boxes)
    for own in (0, 1):
        scores = colour_scores(looks, np.array([0.5, 0.5]), looks[[own]])
        # The own histogram is at distance 0: its kernel is 1, and log P(b) = log(1/2) is left.
        assert scores[own] == pytest.approx(np.log(0.5))
        assert int(scores.argmax()) == own
    assert box_colours(image, np.zeros((0, 4), np.float32)).shape[0] == 0


def test_outcomes_of_several_draws_add_up() -> None:
    total = Trials(right=[True], present=[0.9])
    total.add(Trials(right=[False, True], coloured=[False], absent=[0.1]))
    assert (total.right, total.coloured, total.present, total.absent) == ([True, False, True], [False], [0.9], [0.1])


def test_colour_exemplars_belong_to_their_objects() -> None:
    crops = {"a": np.full((2, 3, 32, 32), -1, np.float32), "b": np.full((1, 3, 32, 32), 1, np.float32)}
    colours = colour_exemplars(crops)
    assert colours.names == ("a", "b")
    assert colours.owners.tolist() == [0, 0, 1]
    assert (colours.vectors[0, 0], colours.vectors[2, -1]) == (1.0, 1.0)  # all black, all white


def test_a_draw_of_seen_objects_has_every_figure() -> None:
    meshes = {name: catalogue_mesh(name) for name in names("seen")[:9]}
    figures = measure_draws(Grounder.load("sim"), meshes, SMALL, certain)
    assert set(figures) == {
        "proposals.recall10", "top1", "top1_histogram", "mask_iou", "absent.auroc", "unknown.auroc", "untaught.auroc",
    }  # fmt: skip
    assert figures["top1"][0].mean > 0.6
    assert figures["top1"][0].n == figures["top1_histogram"][0].n
    again = measure_draws(Grounder.load("sim"), meshes, SMALL, certain)
    assert again["top1"][0] == figures["top1"][0]


def test_too_few_things_for_a_draw_are_refused() -> None:
    meshes = {name: catalogue_mesh(name) for name in names("seen")[:7]}
    with pytest.raises(WaywordError, match="at least 8"):
        measure_draws(toy_grounder(), meshes, SMALL)


def test_a_pack_gives_its_things_at_sizes_of_their_own(tmp_path: Path) -> None:
    boxes = [("lamp", "lamp", (1, 0.5, 0.5), (180, 90, 40)), ("horse", "horse", (0.5, 1, 0.5), (40, 90, 180))]
    meshes = pack_meshes(write_pack(tmp_path / "mine.npz", boxes))
    assert set(meshes) == {"lamp 0", "horse 1"}
    assert all(0.13 < mesh.longest_edge < 0.62 for mesh in meshes.values())
