"""Weights measured on labelled frames: the truth in, the figures out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from support.shards import write_shards
from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.learning.grounding.frame_report import _shows, database_views, every_frame, measure_frames


def test_the_best_box_must_lie_on_what_is_meant() -> None:
    overlap = np.array([[0.8, 0.1], [0.2, 0.25]], np.float32)  # two true boxes, two proposals
    assert _shows(overlap, np.array([0.9, 0.1]), np.array([0]))
    assert not _shows(overlap, np.array([0.9, 0.1]), np.array([1]))  # it shows the other thing
    assert not _shows(overlap, np.array([0.1, 0.9]), np.array([1]))  # an overlap of 0.25 shows nothing
    assert not _shows(np.zeros((2, 0), np.float32), np.zeros(0), np.array([0]))


def test_frames_over_pictures_and_simulated_ones_are_measured_apart(tmp_path: Path) -> None:
    folder = write_shards(tmp_path / "shards")
    for k, path in enumerate(sorted(folder.glob("*.safetensors"))):
        arrays = load_file(path)
        arrays["photo"] = np.full(len(arrays["rgb"]), k == 0, np.uint8)
        save_file(arrays, path)
    data = every_frame(folder)
    assert data.photo.sum() == 6
    assert not data.photo[data.frame[np.concatenate(list(database_views(data).values()))]].any()  # photos are clean
    figures = measure_frames(Grounder.load("sim"), data, 4)
    assert set(figures) == {"pictures", "simulated"}
    for each in figures.values():
        assert each.recall.n == 8  # two rectangles of 16 x 20 pixels in each of four frames
        assert "boxes found" in each.line()
        named = each.publishable("pictures.real", "wayword train frames-report")
        assert named["grounding.frames.pictures.real.recall10"].n == 8
        assert named["grounding.frames.pictures.real.top1"].unit == "%"
        assert 0 <= each.masks.low <= each.masks.high <= 1
    again = measure_frames(Grounder.load("sim"), data, 4)
    assert json.dumps([f.recall.mean for f in figures.values()]) == json.dumps([f.recall.mean for f in again.values()])


def test_a_folder_without_shards_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="holds no shards"):
        every_frame(tmp_path)
