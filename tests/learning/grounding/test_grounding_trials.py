"""The measurements behind the grounding report, on frames anyone can predict: bright pixels are objects."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.toy_grounder import RED_AND_BLUE, toy_frame, toy_grounder
from wayword.errors import DataError, WaywordError
from wayword.grounding import DensityConfig, Exemplars
from wayword.learning.grounding.data import Labelled, labelled, read_shard_arrays
from wayword.learning.grounding.databases import certain, sampled_database
from wayword.learning.grounding.exemplars import by_identity, good_views, row_crops
from wayword.learning.grounding.fit import fit_density, fit_objectness, fit_threshold
from wayword.learning.grounding.scenes import Scenes, label
from wayword.learning.grounding.sheet import answer_sheet
from wayword.learning.grounding.timing import stage_times
from wayword.learning.grounding.trials import LEVELS, proposal_recall, run_trials, unknown_objects
from wayword.sim.render.renderer import Frames

NAMES = ("red", "green", "blue")
SIDE = 12
"""The toy network's boxes: 12 pixels around the centre of a bright pixel's cell."""


def scene(*frames: list[tuple[int, int, int]]) -> Scenes:
    """Frames with objects of one bright pixel at (x, y) in channel c, which fill the toy network's box."""
    rgb = np.stack([toy_frame(*objects) for objects in frames])
    ids = np.zeros(rgb.shape[:3], np.uint8)
    for n, objects in enumerate(frames):
        for k, (x, y, _) in enumerate(objects):
            ids[n, y - 6 : y + 6, x - 6 : x + 6] = k + 1
    drawn = Frames(rgb, ids, np.ones(ids.shape, np.float32))
    data = labelled([label(drawn, [[channel for _, _, channel in objects] for objects in frames])])
    layouts = tuple(tuple(NAMES[channel] for _, _, channel in objects) for objects in frames)
    return Scenes(data, NAMES, layouts, np.zeros((len(frames), 6)))


RED, BLUE, GREEN = (30, 30, 0), (90, 30, 2), (62, 50, 1)


def test_labels_by_hand() -> None:
    # A block of 3 x 4 = 12 pixels counts as seen, one of 11 does not; boxes are tight, right and bottom exclusive.
    ids = np.zeros((1, 72, 128), np.uint8)
    ids[0, 10:13, 20:24] = 1
    ids[0, 40:41, 50:61] = 2
    shard = label(Frames(np.zeros((1, 72, 128, 3), np.uint8), ids, np.zeros(ids.shape, np.float32)), [[7, 8]])
    assert shard["boxes"].tolist() == [[20, 10, 24, 13]]
    assert (shard["identity"].tolist(), shard["pixels"].tolist(), shard["instance"].tolist()) == ([7], [12], [1])
    empty = label(
        Frames(np.zeros((1, 72, 128, 3), np.uint8), np.zeros_like(ids), np.zeros(ids.shape, np.float32)), [[]]
    )
    assert empty["boxes"].shape == (0, 4)


def test_trials_by_hand() -> None:
    made = scene([RED, BLUE], [RED])
    done = run_trials(toy_grounder(), made, RED_AND_BLUE, certain)
    # In view: red and blue in the first frame, red in the second. Out of view: blue in the second.
    assert done.right == [True, True, True]
    assert (len(done.present), len(done.absent)) == (3, 1)
    assert min(done.present) > 0.7
    assert done.absent[0] < 0.1
    # Two boxes x two references in the first frame, one box x two in the second; three of the six are true.
    assert [true for _, true in done.claims] == [True, False, False, True, True, False]
    assert all((value > 0.5) == true for value, true in done.claims)
    # The mask is the box with a tenth on every side: 14.4 x 14.4 around the true 12 x 12, IoU about 144 / 207.
    assert np.array(done.overlaps).shape == (3, len(LEVELS))
    assert np.array(done.overlaps).max(axis=1) == pytest.approx([144 / 207] * 3, abs=0.1)
    assert np.array(done.everything).max(axis=1) == pytest.approx([144 / 207] * 2, abs=0.1)


def test_an_object_with_a_few_pixels_in_view_is_neither_present_nor_absent() -> None:
    made = scene([RED], [RED])
    made.data.ids[0][1, 70, 120:123] = 2  # three pixels of something blue that stands in the layout
    made = Scenes(made.data, made.objects, (("red",), ("red", "blue")), made.poses)
    done = run_trials(toy_grounder(), made, RED_AND_BLUE, certain)
    assert len(done.absent) == 1  # the first frame only
    assert len(done.present) == 2


def test_a_wrong_box_is_wrong() -> None:
    # The database's photos of the two objects are swapped: every answer points at the other one.
    swapped = Exemplars(("red", "blue"), RED_AND_BLUE.vectors[::-1].copy(), RED_AND_BLUE.owners)
    done = run_trials(toy_grounder(), scene([RED, BLUE]), swapped, certain)
    assert done.right == [False, False]


def test_recall_counts_objects_over_eight_pixels_that_a_box_overlaps() -> None:
    made = scene([RED, BLUE], [RED])
    assert proposal_recall(toy_grounder(), made.data).mean == 1.0
    dark = scene([RED, BLUE], [RED])
    dark.data.rgb[0][1] = 0  # the network is blind for what is not bright: 2 of 3 found
    recall = proposal_recall(toy_grounder(), dark.data)
    assert (recall.mean, recall.n) == (2 / 3, 3)
    boxes = made.data.boxes.copy()
    boxes[0, 2] = boxes[0, 0] + 8  # eight pixels wide are not over eight
    thin = Labelled(**{**vars(made.data), "boxes": boxes})
    assert proposal_recall(toy_grounder(), thin).n == 2


def test_boxes_of_unknown_objects_lose_their_probability() -> None:
    known, unknown = unknown_objects(
        toy_grounder(), scene([RED, BLUE], [BLUE, GREEN]), RED_AND_BLUE, np.random.default_rng(0)
    )
    # Red and blue, then blue; green is in no database and says nothing here.
    assert len(known) == len(unknown) == 3
    assert min(known) > 0.8
    assert max(unknown) < 0.2


def test_good_views_by_hand() -> None:
    # x0, y0, x1, y1; pixels; whole box. Good; small; cut off left; cut off right; cut off below; thin; half hidden.
    rows = [
        ((20, 20, 36, 40), 200, (20, 20, 36, 40)),
        ((20, 20, 33, 33), 150, (20, 20, 33, 33)),
        ((0, 20, 16, 40), 200, (0, 20, 16, 40)),
        ((112, 20, 128, 40), 200, (112, 20, 128, 40)),
        ((20, 52, 36, 72), 200, (20, 52, 36, 72)),
        ((20, 20, 36, 40), 60, (20, 20, 36, 40)),
        ((20, 20, 36, 40), 200, (20, 20, 60, 40)),
    ]
    count = len(rows)
    data = labelled(
        [
            {
                "rgb": np.zeros((1, 72, 128, 3), np.uint8), "ids": np.zeros((1, 72, 128), np.uint8),
                "boxes": np.array([row[0] for row in rows], np.float32),
                "amodal": np.array([row[2] for row in rows], np.float32),
                "frame": np.zeros(count, np.int32), "instance": np.ones(count, np.uint8),
                "identity": np.arange(count, dtype=np.int32), "pixels": np.array([row[1] for row in rows], np.int32),
            }
        ]
    )  # fmt: skip
    assert good_views(data).tolist() == [0]
    assert by_identity(data, np.array([0, 3])) == {0: np.array([0]), 3: np.array([3])}


def test_crops_of_rows_show_what_is_there() -> None:
    made = scene([RED, BLUE], [GREEN])
    rows = np.array([2, 0])
    crops = row_crops(made.data, rows)
    assert crops.shape == (2, 3, 32, 32)
    assert crops.max(axis=(2, 3)).argmax(axis=1).tolist() == [1, 0]  # green of the second frame, red of the first
    elsewhere = row_crops(made.data, rows, np.array([[0, 0, 12, 12]] * 2, np.float32))
    assert elsewhere.max() == -1  # black


def bright_scenes(count: int = 8) -> Scenes:
    """Objects of 16 x 16 bright pixels, large enough to be photos in a database."""
    rng = np.random.default_rng(1)
    rgb, ids, identities = np.zeros((count, 72, 128, 3), np.uint8), np.zeros((count, 72, 128), np.uint8), []
    for n in range(count):
        chosen = rng.permutation(3)[:2]
        for k, channel in enumerate(chosen):
            x, y = 20 + 60 * k, int(rng.integers(10, 40))
            rgb[n, y : y + 16, x : x + 16, channel] = 255
            ids[n, y : y + 16, x : x + 16] = k + 1
        identities.append(chosen.tolist())
    data = labelled([label(Frames(rgb, ids, np.zeros(ids.shape, np.float32)), identities)])
    return Scenes(data, NAMES, tuple(tuple(NAMES[c] for c in row) for row in identities), np.zeros((count, 6)))


def test_a_sampled_database_has_five_photos_each_and_is_seeded() -> None:
    made = bright_scenes(16)
    first, again = (sampled_database(toy_grounder(), made, ("blue", "red"), np.random.default_rng(3)) for _ in range(2))
    assert first.names == ("blue", "red")
    assert np.bincount(first.owners).tolist() == [5, 5]
    assert first.vectors.argmax(axis=1).tolist() == [2] * 5 + [0] * 5
    np.testing.assert_array_equal(first.vectors, again.vectors)


def test_the_threshold_is_fitted_where_masks_fit_best() -> None:
    threshold, trials = fit_threshold(toy_grounder(), bright_scenes(20).data, 6, np.random.default_rng(0))
    assert trials == 6
    assert 0.05 <= threshold <= 0.9


def test_objectness_is_fitted_to_the_share_of_right_boxes() -> None:
    # All scores are alike (4.0), and each true object gets many overlapping boxes: P(b) is the share that fits.
    grounder = toy_grounder()
    slope, offset, boxes = fit_objectness(grounder.proposer, scene([RED, BLUE], [RED], [GREEN]).data, 3)
    assert boxes >= 4
    assert 1 / (1 + np.exp(-(4.0 * slope + offset))) > 0.9


def test_too_few_held_out_objects_are_one_line() -> None:
    with pytest.raises(WaywordError, match="only 3 held-out objects have enough views; generate more"):
        fit_density(toy_grounder(), bright_scenes(40).data, {0, 1, 2}, np.random.default_rng(0))


def test_the_sheet_shows_two_columns_of_frames() -> None:
    page = answer_sheet(toy_grounder(), scene([RED, BLUE], [RED], [GREEN]), RED_AND_BLUE, np.random.default_rng(0), 3)
    tile = (2 * 384 + 2, 216 + 24)
    assert page.size == (2 * tile[0] + 3 * 10, 2 * tile[1] + 3 * 10)
    colours = {pixel for _, pixel in page.getcolors(1 << 24)}
    assert any(red > 150 and green < 110 and blue > 120 for red, green, blue in colours)  # the pink of a mask


def test_every_stage_is_timed() -> None:
    times = stage_times(toy_grounder(), np.stack([toy_frame(RED), toy_frame(BLUE)]))
    assert {"proposals", "embedding", "refinement", "alignment", "one reference", "five references"} <= times.keys()
    assert all(value.low >= 0 and value.n == 2 for value in times.values())


# Shards of other shapes -------------------------------------------------------------------------------------


def test_frames_of_several_shards_are_found_by_number() -> None:
    one, two = scene([RED], [BLUE]).data, scene([GREEN]).data
    shards = [
        {name: getattr(part, name) for name in ("boxes", "amodal", "frame", "instance", "identity", "pixels")}
        | {"rgb": part.rgb[0], "ids": part.ids[0]}
        for part in (one, two)
    ]
    both = labelled(shards)
    assert both.frames == 3
    assert both.frame.tolist() == [0, 1, 2]
    assert both.identity[both.rows(2)].tolist() == [1]
    np.testing.assert_array_equal(both.images(np.array([2, 0])), np.stack([toy_frame(GREEN), toy_frame(RED)]))
    assert both.instances(np.array([2]))[0].max() == 1
    assert both.visible().tolist() == [1.0, 1.0, 1.0]


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_shard_or_one_line(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("shard") / "x.safetensors"
    path.write_bytes(data)
    with contextlib.suppress(DataError):  # anything else would be a traceback for the user
        assert isinstance(read_shard_arrays(path), dict)


def test_density_settings_are_checked() -> None:
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(WaywordError):
            DensityConfig(bad, 0.1)
        with pytest.raises(WaywordError):
            DensityConfig(0.1, bad)


def test_a_missing_shard_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="generate it again"):
        read_shard_arrays(tmp_path / "none.safetensors")
