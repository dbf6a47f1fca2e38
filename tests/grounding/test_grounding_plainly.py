"""Regions, densities and choices against the same rules said pixel by pixel and pair by pair."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.toy_grounder import toy_frame, toy_grounder
from wayword.errors import WaywordError
from wayword.grounding import photo_candidates, photo_grounder, shortlist
from wayword.grounding.align import align, all_objects_mask, reference_masks
from wayword.grounding.crops import CROP, crop_and_resize, expand, letterbox, paste, square
from wayword.grounding.density import DensityConfig, Exemplars, densities, probabilities, spreads
from wayword.grounding.grounder import check_reference_probabilities, crop_tensor
from wayword.grounding.image_metric import MARGIN, ImageEmbedder
from wayword.grounding.nms import iou, nms
from wayword.grounding.photo_candidates import TRAITS, CandidateFinder, Candidates, _traits
from wayword.grounding.photo_grounder import PARTS, PhotoGrounder, _uncut
from wayword.grounding.proposals import ProposalConfig, Proposals, Proposer, decode, pick
from wayword.grounding.refine import MARGIN as REFINE_MARGIN
from wayword.grounding.shared_thing import Choice, ChoiceConfig, choose_boxes
from wayword.grounding.weight_files import GroundingConfig
from wayword.objects.cropping import Box

SEEDS = st.integers(0, 10**9)


def test_the_numbers_that_are_documented() -> None:
    assert ProposalConfig() == ProposalConfig(10, 60, 0.55, 0.05, 1.0, 0.0)
    assert DensityConfig() == DensityConfig(0.05, 0.05, 0.0, 0.25)
    assert GroundingConfig(ProposalConfig(), DensityConfig(), 3).threshold == 0.5
    assert (CROP, MARGIN, REFINE_MARGIN, shortlist.MOST_CANDIDATES) == (32, 0.05, 0.1, 100)
    assert (photo_candidates.PADDINGS, photo_candidates.MOST, photo_candidates.SAME) == ((0.0, 0.5, 1.2), 12, 0.7)
    assert (photo_grounder.MOST, photo_grounder.SAME) == (24, 0.5)
    # The whole photo, then parts of 0.6 of its sides: the corners and the middle, which cover it twice.
    assert len(PARTS) == 6
    assert PARTS[0] == (0.0, 0.0, 1.0, 1.0)
    for x0, y0, x1, y1 in PARTS[1:]:
        assert (x1 - x0, y1 - y0) == pytest.approx((0.6, 0.6))
    assert {(x, y) for x, y, _, _ in PARTS[1:]} == {(0.0, 0.0), (0.4, 0.0), (0.0, 0.4), (0.4, 0.4), (0.2, 0.2)}


# Regions -----------------------------------------------------------------------------------------------------


def bilinear(grid: np.ndarray, x: float, y: float) -> np.ndarray:
    """Between the four nearest pixels, (0, 0) being the middle of the first; at the rim the last one."""
    x, y = min(max(x, 0.0), grid.shape[1] - 1), min(max(y, 0.0), grid.shape[0] - 1)
    j, i = min(int(x), grid.shape[1] - 2), min(int(y), grid.shape[0] - 2)
    fx, fy = x - j, y - i
    upper, lower = (grid[r, j] * (1 - fx) + grid[r, j + 1] * fx for r in (i, i + 1))
    return upper * (1 - fy) + lower * fy


@settings(max_examples=25, derandomize=True)
@given(SEEDS)
def test_crops_are_means_of_as_many_samples_as_their_pixels_are_large(seed: int) -> None:
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (2, 14, 20, 3), dtype=np.uint8)
    corner = rng.uniform(-6, 16, 2)
    boxes = np.array([[*corner, *(corner + rng.uniform(1, 22, 2))]], np.float32)
    which, size = int(rng.integers(2)), (4, 5)
    found = crop_and_resize(images, [which], boxes, size)[0]
    x0, y0, x1, y1 = boxes[0].astype(np.float64)
    step_x, step_y = (x1 - x0) / 5, (y1 - y0) / 4
    across, down = max(1, math.ceil(step_x - 1e-3)), max(1, math.ceil(step_y - 1e-3))
    for i in range(4):
        for j in range(5):
            samples = [
                bilinear(
                    images[which].astype(np.float64),
                    x0 + (j + (u + 0.5) / across) * step_x - 0.5,
                    y0 + (i + (v + 0.5) / down) * step_y - 0.5,
                )
                for u in range(across)
                for v in range(down)
            ]
            np.testing.assert_allclose(found[:, i, j], np.mean(samples, axis=0) / 127.5 - 1, atol=2e-4)


@settings(max_examples=40, derandomize=True)
@given(SEEDS)
def test_pasting_samples_the_mask_at_the_middle_of_every_pixel_in_the_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    masks = rng.random((2, 6, 6), np.float32)
    corners = rng.uniform(-4, 12, (2, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(0.5, 14, (2, 2))], axis=1).astype(np.float32)
    boxes[0] = np.round(boxes[0] * 2) / 2  # edges on middles of pixels
    found = paste(masks, boxes, 10, 13)
    for mask, (x0, y0, x1, y1), out in zip(masks.astype(np.float64), boxes.astype(np.float64), found, strict=True):
        for i in range(10):
            for j in range(13):
                wanted = 0.0
                if x0 <= j + 0.5 < x1 and y0 <= i + 0.5 < y1:
                    place = (j + 0.5 - x0) / (x1 - x0) * 6 - 0.5, (i + 0.5 - y0) / (y1 - y0) * 6 - 0.5
                    wanted = float(bilinear(mask, *place))
                assert out[i, j] == pytest.approx(wanted, abs=1e-5)


@given(st.integers(5, 400), st.integers(5, 400), st.sampled_from([0.0, 0.5, 1.2]))
def test_a_letterbox_says_where_its_pixels_come_from(rows: int, columns: int, padding: float) -> None:
    _, scale, dx, dy = letterbox(np.zeros((rows, columns, 3), np.uint8), 72, 128, padding)
    assert (dx + columns * scale / 2, dy + rows * scale / 2) == pytest.approx((64, 36))  # its middle is the middle
    assert max(columns * scale / 128, rows * scale / 72) * (1 + padding) == pytest.approx(1.0)


def test_a_letterbox_shows_the_picture_in_its_colours() -> None:
    picture = np.zeros((72, 128, 3), np.uint8)
    picture[:, :64], picture[:, 64:] = (10, 200, 255), (255, 0, 77)
    np.testing.assert_array_equal(letterbox(picture, 72, 128)[0], picture)


@given(st.lists(st.floats(-50, 150), min_size=4, max_size=4), st.sampled_from([0.05, 0.1, 0.3]))
def test_boxes_with_a_margin(box: list[float], margin: float) -> None:
    x0, y0, x1, y1 = box
    dx, dy, half = margin * (x1 - x0), margin * (y1 - y0), max(x1 - x0, y1 - y0) * (0.5 + margin)
    np.testing.assert_allclose(expand([box], margin)[0], [x0 - dx, y0 - dy, x1 + dx, y1 + dy], atol=1e-3)
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    np.testing.assert_allclose(square([box], margin)[0], [x - half, y - half, x + half, y + half], atol=1e-3)


def test_crops_of_a_database_have_colours_in_minus_one_to_one() -> None:
    crops = np.zeros((1, 32, 32, 3), np.uint8)
    crops[0, 3, 5] = (255, 0, 51)
    found = crop_tensor(crops)
    np.testing.assert_allclose(found[0, :, 3, 5], [1.0, -1.0, -0.6], atol=1e-6)
    assert crop_tensor(found) is not None
    np.testing.assert_array_equal(crop_tensor(found), found)
    for bad in (crops[:, :31], crops.astype(np.int32), found.astype(np.float64), found[:, :2]):
        with pytest.raises(WaywordError, match="exemplars must be"):
            crop_tensor(bad)


# Boxes -------------------------------------------------------------------------------------------------------


def plain_iou(a: np.ndarray, b: np.ndarray) -> float:
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(w, 0) * max(h, 0)
    area = max(a[2] - a[0], 0) * max(a[3] - a[1], 0) + max(b[2] - b[0], 0) * max(b[3] - b[1], 0)
    return both / max(area - both, 1e-9)


def some_boxes(rng: np.random.Generator, count: int) -> np.ndarray:
    corner = rng.integers(0, 12, (count, 2))
    return np.concatenate([corner, corner + rng.integers(-1, 12, (count, 2))], axis=1).astype(np.float64)


@settings(max_examples=80, derandomize=True)
@given(SEEDS, st.sampled_from([0.25, 0.5, 0.55]), st.integers(1, 6))
def test_suppression_box_by_box(seed: int, threshold: float, most: int) -> None:
    rng = np.random.default_rng(seed)
    boxes, scores = some_boxes(rng, 12), rng.choice([0.2, 0.5, 0.9], 12)
    np.testing.assert_allclose(iou(boxes, boxes[:3]), [[plain_iou(a, b) for b in boxes[:3]] for a in boxes], atol=1e-6)
    kept: list[int] = []
    for k in sorted(range(12), key=lambda k: -scores[k]):  # of equal scores the first
        if len(kept) < most and all(float(iou(boxes[k], boxes[j])[0, 0]) <= threshold for j in kept):
            kept.append(k)
    assert nms(boxes, scores, threshold, most).tolist() == kept


@settings(max_examples=40, derandomize=True)
@given(SEEDS)
def test_boxes_are_picked_from_the_best_cells(seed: int) -> None:
    rng = np.random.default_rng(seed)
    config = ProposalConfig(most=4, candidates=9, overlap=0.4, least=0.3, slope=1.5, offset=-0.4)
    logits, sides = rng.normal(0, 2, (18, 32)).astype(np.float32), rng.uniform(1, 30, (4, 18, 32)).astype(np.float32)
    found, best = pick(logits, sides, config), np.argsort(-logits.ravel(), kind="stable")[:9]
    boxes, p = [], []
    for cell in best:
        row, column = divmod(int(cell), 32)
        left, up, right, down = sides[:, row, column]
        x, y = 4 * column + 2, 4 * row + 2
        boxes.append([max(x - left, 0), max(y - up, 0), min(x + right, 128), min(y + down, 72)])
        p.append(1 / (1 + math.exp(-(1.5 * float(logits[row, column]) - 0.4))))
    sure = [k for k in range(9) if p[k] >= 0.3]
    kept = [sure[k] for k in nms(np.array(boxes)[sure].reshape(-1, 4), np.array(p)[sure], 0.4, 4)]
    np.testing.assert_allclose(found.boxes, np.array(boxes)[kept].reshape(-1, 4), atol=1e-4)
    np.testing.assert_allclose(found.objectness, np.array(p)[kept], rtol=1e-6)
    np.testing.assert_allclose(found.logits, logits.ravel()[best[kept]])
    np.testing.assert_allclose(decode(best, sides.reshape(4, -1)[:, best].T), boxes, atol=1e-4)


# Which object ------------------------------------------------------------------------------------------------


def database(rng: np.random.Generator, objects: int) -> Exemplars:
    counts = rng.integers(0, 5, objects)
    owners = rng.permutation(np.repeat(np.arange(objects), counts)).astype(np.int64)
    vectors = rng.normal(size=(len(owners), 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    if len(vectors) > 2:
        vectors[1] = vectors[0]
    return Exemplars(tuple(map(str, range(objects))), vectors.astype(np.float32), owners)


@settings(max_examples=60, derandomize=True)
@given(SEEDS)
def test_equation_2_pair_by_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = database(rng, 4)
    config = DensityConfig(0.2, 0.05, float(rng.choice([0.0, 0.3])), 0.4)
    x = rng.normal(size=(3, 4)).astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    k = np.zeros((3, 4))
    for o in range(4):
        own = made.vectors[made.owners == o].astype(np.float64)
        different = np.unique(own, axis=0)
        n = len(different)
        pairs = sum(np.square(p - q).sum() for p in different for q in different)
        spread = 0.4 if n < 2 else (pairs + 4 * 0.4) / (n * (n - 1) + 4)
        assert spreads(made, 0.4)[o] == pytest.approx(spread, rel=1e-5)
        for b in range(3):
            width = 0.2 + config.spread * spread
            k[b, o] = np.mean([math.exp(-np.square(x[b] - q).sum() / (2 * width)) for q in own]) if len(own) else 0.0
    np.testing.assert_allclose(densities(x, made, config), k, atol=1e-5)
    rows = np.column_stack([k, np.full(3, 0.05)])
    np.testing.assert_allclose(probabilities(x, made, config), rows / rows.sum(axis=1, keepdims=True), atol=1e-5)


@settings(max_examples=40, derandomize=True)
@given(SEEDS)
def test_equations_1_and_3_sum_by_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    of_box, of_reference, p = rng.dirichlet(np.ones(4), 3), rng.dirichlet(np.ones(4), 2), rng.random(3)
    masks = rng.random((3, 2, 5)).astype(np.float32)
    wanted = [[p[b] * sum(of_box[b, o] * of_reference[r, o] for o in range(3)) for b in range(3)] for r in range(2)]
    alignment = align(of_box, p, of_reference)
    np.testing.assert_allclose(alignment, wanted)
    parts = [sum(3 * alignment[r, b] * masks[b].astype(np.float64) for b in range(3)) for r in range(2)]
    np.testing.assert_allclose(reference_masks(3 * alignment, masks), np.minimum(parts, 1.0), atol=1e-6)
    np.testing.assert_allclose(
        all_objects_mask(masks, p), np.max([p[b] * masks[b] for b in range(3)], axis=0), atol=1e-6
    )


@pytest.mark.parametrize(("total", "good"), [(1.0, True), (1.00009, True), (0.99991, True), (1.0002, False)])
def test_probabilities_of_a_reference_sum_to_one_in_four_digits(total: float, good: bool) -> None:
    row = [[total - 0.25, 0.25, 0.0]]
    if good:
        np.testing.assert_array_equal(check_reference_probabilities(row, 2), row)
        return
    with pytest.raises(WaywordError, match="must be at least 0 and sum to 1"):
        check_reference_probabilities(row, 2)
    with pytest.raises(WaywordError, match="need 3 columns"):
        check_reference_probabilities([[1.0, 0.0]], 2)


def test_a_grounding_is_made_of_its_own_parts() -> None:
    grounder = toy_grounder()
    frame = toy_frame((30, 30, 0), (90, 40, 2))
    ((boxes, embeddings, masks),) = grounder.regions(frame[None])
    made = Exemplars(("red", "green"), np.eye(3, dtype=np.float32)[:2], np.array([0, 1]))
    table = [[0.75, 0.25, 0.0], [0.0, 0.5, 0.5]]
    (found,) = grounder(frame[None], table, made)
    np.testing.assert_array_equal(found.boxes, boxes.boxes)
    np.testing.assert_array_equal(found.p_box, boxes.objectness)
    np.testing.assert_allclose(found.p_object_of_box, probabilities(embeddings, made, grounder.config.density))
    np.testing.assert_allclose(found.alignment, align(found.p_object_of_box, found.p_box, table))
    np.testing.assert_allclose(found.masks, reference_masks(found.alignment, masks))
    np.testing.assert_allclose(found.all_objects, all_objects_mask(masks, boxes.objectness))
    assert found.names == ("red", "green")
    assert len(found.boxes) == 2


# Photographs -------------------------------------------------------------------------------------------------


@settings(max_examples=40, derandomize=True)
@given(SEEDS)
def test_the_traits_of_boxes_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width, height = 200, 120
    corners = np.sort(rng.uniform(0, 1, (5, 2, 2)), axis=1) * (width, height)
    boxes = np.concatenate([corners[:, 0], corners[:, 1]], axis=1).astype(np.float32)
    boxes[0] = (1.9, 2.1, 198.1, 117.9)  # touches on the left and on the right
    boxes[4] = (50, 30, 50.4, 30.2)
    kinds, odds, sure = np.array([0, 0, 1, 2, 2]), rng.normal(size=5), 0.6
    if seed % 3 == 0:
        kinds[2] = 2
    found = _traits(boxes, odds, kinds, sure, width, height)
    assert found.shape == (5, len(TRAITS))
    for k, (x0, y0, x1, y1) in enumerate(boxes.astype(np.float64)):
        share = math.log(max(math.sqrt((x1 - x0) / width * (y1 - y0) / height), 0.02))
        off = math.hypot((x0 + x1) / 2 / width - 0.5, (y0 + y1) / 2 / height - 0.5)
        same = plain_iou(boxes[k].astype(float), boxes[2].astype(float)) if kinds[2] == 1 else 0.0
        touched = sum(bool(edge) for edge in (x0 < 2, y0 < 2, x1 > width - 2, y1 > height - 2))
        wanted = [odds[k], kinds[k] == 1, kinds[k] == 2, share, share**2, (2 * off) ** 2, 2 * off, same, 0.6 * same,
                  touched / 2]  # fmt: skip
        np.testing.assert_allclose(found[k], wanted, atol=1e-5)
    assert found[0, -1] == 1.0


class BoxEverywhere:
    """A proposal network that sees the same boxes, in pixels of 128 x 72, whatever it is shown."""

    def __init__(self, boxes: list[tuple[float, ...]], p: list[float]) -> None:
        self.boxes, self.p, self.asked = np.array(boxes, np.float32), np.array(p), 0

    def __call__(self, frames: np.ndarray) -> list[Proposals]:
        self.asked += 1
        return [Proposals(self.boxes, self.p, np.zeros(len(self.p), np.float32))]


def test_candidates_of_a_photo_are_proposals_at_three_sizes_what_stands_out_and_two_middles() -> None:
    # 256 x 144: scale 1/2, then with borders of 0.5 and 1.2 of the photo, 1/3 and 1/4.4, around the same middle.
    proposer = BoxEverywhere([(54, 26, 74, 46), (62, 34, 65, 37), (-20, 30, 30, 60)], [0.8, 0.9, 0.9999])
    salient = SimpleNamespace(crop_box=lambda image: (Box(10, 20, 60, 70), 0.7))
    embed = SimpleNamespace(embed=lambda crops: crops.mean(axis=(2, 3)))
    finder = CandidateFinder(proposer, embed, lambda image, boxes: boxes, salient)  # type: ignore[arg-type]
    found = finder(np.zeros((144, 256, 3), np.uint8))
    middle = [[128 - 10 * s, 72 - 10 * s, 128 + 10 * s, 72 + 10 * s] for s in (2.0, 3.0, 4.4)]
    left = [[max(128 - 84 * s, 0), 72 - 6 * s, 128 - 34 * s, min(72 + 24 * s, 144)] for s in (2.0, 3.0)]
    # Of the boxes of three pixels the first is less than 8 pixels wide; the third of the left ones is off the photo.
    tiny = [[128 - 2 * s, 72 - 2 * s, 128 + s, 72 + s] for s in (3.0, 4.4)]
    last = [[10, 20, 60, 70], [*Box.middle(256, 144).values], [64, 36, 192, 108]]
    wanted = [*left, *tiny, *middle]
    assert len(found.boxes) == len(wanted) + 3
    for box in wanted:
        assert np.abs(found.boxes - box).max(axis=1).min() < 0.01
    np.testing.assert_allclose(found.boxes[-3:], last, atol=1e-4)
    assert found.traits[:, 0].max() == 4.0  # log odds are cut at four
    assert sorted(set(np.round(found.traits[:-3, 0], 3))) == pytest.approx([math.log(4), math.log(9), 4.0], abs=1e-3)
    assert found.traits[-3:, 1:3].tolist() == [[1, 0], [0, 1], [0, 1]]
    assert found.traits[-3, 7:9] == pytest.approx([1.0, 0.7])
    # What stands out with no confidence at all is one more middle.
    finder.salient = SimpleNamespace(crop_box=lambda image: (Box(10, 20, 60, 70), 0.0))  # type: ignore[assignment]
    assert finder(np.zeros((144, 256, 3), np.uint8)).traits[-3:, 1:3].tolist() == [[0, 1]] * 3


def test_a_photo_is_looked_at_as_a_whole_with_a_border_and_in_parts() -> None:
    # 640 x 360: the whole at 1/5 and, with a border, 1/7.5; parts of 384 x 216 at 1/3.
    proposer = BoxEverywhere([(44, 26, 84, 46)], [0.8])
    grounder = PhotoGrounder(SimpleNamespace(proposer=proposer), None, DensityConfig(), 0.3)  # type: ignore[arg-type]
    boxes, p = grounder.propose(np.zeros((360, 640, 3), np.uint8))
    assert proposer.asked == 7
    wanted = []
    for x, y, s in [
        (320, 180, 5.0),
        (320, 180, 7.5),
        *((x, y, 3.0) for x in (192, 448) for y in (108, 252)),
        (320, 180, 3.0),
    ]:
        wanted.append([x - 20 * s, y - 10 * s, x + 20 * s, y + 10 * s])
    assert len(boxes) == len(p) == 7
    for box in wanted:
        assert np.abs(boxes - box).max(axis=1).min() < 1.5
    # Of a photo of 36 x 36 the parts, 21 x 21, are large enough; of one of 24 x 24, 14 x 14, they are not.
    for side, asked in ((36, 7), (24, 2)):
        proposer.asked = 0
        grounder.propose(np.zeros((side, side, 3), np.uint8))
        assert proposer.asked == asked


def test_a_box_is_cut_off_within_a_fiftieth_of_the_longer_side() -> None:
    # A part of 100 x 50 from (40, 30) of a photo of 200 x 100: two pixels at each of its four edges.
    part, whole = (40, 30, 140, 80), [42.1, 32.1, 137.9, 77.9]
    assert _uncut(np.array([whole]), part, 200, 100).tolist() == [True]
    for edge, change in enumerate((-0.2, -0.2, 0.2, 0.2)):
        box = np.array([whole])
        box[0, edge] += change
        assert _uncut(box, part, 200, 100).tolist() == [False]
        own = [(0, 30, 140, 80), (40, 0, 140, 80), (40, 30, 200, 80), (40, 30, 140, 100)][edge]
        box = np.array([[60.0, 45.0, 120.0, 65.0]])
        box[0, edge] = own[edge] + (1.0 if edge < 2 else -1.0)
        assert _uncut(box, own, 200, 100).tolist() == [True]  # there the photo ends


@settings(max_examples=40, derandomize=True)
@given(SEEDS)
def test_a_shared_thing_is_chosen_as_its_rule_is_written(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = len(TRAITS)
    alone, together = rng.normal(size=count), rng.normal(size=count + 3)
    confidence = tuple(rng.normal(size=3).tolist())
    photos = []
    for _ in range(int(rng.integers(2, 4))):
        vectors, looks = rng.normal(size=(2, int(rng.integers(2, 5)), 3)).astype(np.float32)
        traits = rng.normal(size=(len(vectors), count))
        traits[:, photo_candidates.MIDDLE] = rng.integers(0, 2, len(vectors))
        photos.append(Candidates(np.zeros((len(vectors), 4), np.float32), traits, vectors, looks))
    config = ChoiceConfig(Choice(tuple(alone), confidence), Choice(tuple(together), confidence))

    def shares(scores: np.ndarray) -> np.ndarray:
        return np.exp(scores) / np.exp(scores).sum()

    for i, (best, sure) in enumerate(choose_boxes(photos, config)):
        own, others = photos[i], [photo for j, photo in enumerate(photos) if j != i]
        q = [shares(other.traits @ alone) for other in others]
        a = np.mean([own.vectors @ o.vectors.T @ s for o, s in zip(others, q, strict=True)], axis=0)
        m = np.mean(
            [(own.vectors @ o.vectors.T + 0.15 * np.log(s + 1e-3)).max(axis=1) for o, s in zip(others, q, strict=True)],
            axis=0,
        )
        e = np.mean([own.looks @ o.looks.T @ s for o, s in zip(others, q, strict=True)], axis=0)
        agreement = np.column_stack([10 * (a - a.mean()), 10 * (m - m.mean()), 3 * (e - e.mean())])
        scores = np.column_stack([own.traits, agreement]) @ together
        assert best == int(scores.argmax())
        share = min(max(shares(scores).max(), 1e-3), 1 - 1e-3)
        odds = confidence[0] * math.log(share / (1 - share)) + confidence[1] * scores.max() + confidence[2]
        wanted = 0.0 if own.traits[best, photo_candidates.MIDDLE] else 1 / (1 + math.exp(-odds))
        assert sure == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_frames_of_a_proposer_are_answered_in_their_order() -> None:
    def network(inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        logits = np.full((len(inputs), 18, 32), -9.0, np.float32)
        for n, frame in enumerate(inputs):
            logits[n, 3, round(float(frame[0, 0, 0] + 1) * 10) + 2] = 3.0
        return logits, np.full((len(inputs), 4, 18, 32), 5.0, np.float32)

    frames = np.zeros((3, 72, 128, 3), np.uint8)
    frames[1], frames[2] = 128, 255
    found = Proposer(network)(frames)
    assert [part.boxes[0, 0] + 5 for part in found] == [10.0, 50.0, 90.0]


def test_more_crops_than_fit_into_a_batch_all_have_their_vectors() -> None:
    sizes: list[int] = []

    def network(crops: np.ndarray) -> tuple[np.ndarray]:
        sizes.append(len(crops))
        return (crops[:, :, 0, 0],)

    crops = np.zeros((513, 3, 32, 32), np.float32)
    crops[:, 0, 0, 0] = np.arange(513)
    np.testing.assert_array_equal(ImageEmbedder(network, 3).embed(crops)[:, 0], np.arange(513))
    assert sizes == [256, 256, 1]
