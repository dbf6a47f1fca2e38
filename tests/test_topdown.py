"""Map, flight card and contact sheet: things are where they should be, and nothing is cut off."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import pytest
from PIL import Image

from wayword.errors import WaywordError
from wayword.lettering import plain, text_font
from wayword.sim.models.mesh import finish
from wayword.sim.models.primitives import box, cylinder
from wayword.sim.pictures.contact_sheet import contact_sheet
from wayword.sim.pictures.flight_card import FlightCard, Layout, fit_text, line_height, wrap
from wayword.sim.pictures.topdown import FLOWN, TopDown, dashes, place_labels
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.camera import project


@dataclass(frozen=True)
class At:
    name: str
    x: float
    y: float
    yaw: float = 0.0


BANK = MeshBank({"crate": finish([box(0.4, 0.2, 0.1)]), "drum": finish([cylinder(0.2, 0.1)])})
MAP = TopDown(BANK, size_px=552)
PATH = np.column_stack([np.linspace(1.0, 3.5, 40), 2 + np.sin(np.linspace(0, 3, 40))])


def changed(before: Image.Image, after: Image.Image) -> np.ndarray:
    """Mean column and row (N, 2) -> (2,) of the pixels that differ, and their number."""
    rows, columns = np.nonzero((np.asarray(before) != np.asarray(after)).any(axis=-1))
    return np.array([columns.mean() + 0.5, rows.mean() + 0.5, len(rows)])


def test_x_is_right_and_y_is_up() -> None:
    # 552 pixels for 4.7 m and two margins of 0.2 m: the arena begins 0.2 * 552 / 5.1 = 21.65 pixels from the rim.
    low, high = MAP.to_pixels([[0.0, 0.0], [4.7, 4.7]])
    np.testing.assert_allclose([*low, *high], [21.647, 530.353, 530.353, 21.647], atol=1e-3)
    points = np.random.default_rng(0).uniform(0, 4.7, (20, 2))
    expected = project(np.column_stack([points, np.zeros(20)]), MAP.pose, MAP.renderer.camera)[:, :2]
    np.testing.assert_allclose(MAP.to_pixels(points), expected, atol=1e-6)


def test_objects_are_drawn_where_they_stand() -> None:
    objects = [At("drum", 1.0, 3.5), At("crate", 3.7, 0.9, 1.0)]
    ids = MAP._render(objects)[1]
    for i, item in enumerate(objects):
        rows, columns = np.nonzero(ids == i + 1)
        expected = MAP.to_pixels([[item.x, item.y]])[0]
        np.testing.assert_allclose([columns.mean() + 0.5, rows.mean() + 0.5], expected, atol=1.5)
    assert (ids == 1).sum() == pytest.approx(math.pi * (0.2 * MAP.px_per_m) ** 2, rel=0.06)
    assert MAP.picture(objects).size == (552, 552)


def test_marks_are_drawn_at_their_points() -> None:
    before = MAP.picture([])
    point = np.array([1.3, 3.1])
    for draw, reach in ((MAP.draw_start, 0.1), (MAP.draw_goal, 0.49)):
        after = before.copy()
        draw(after, point)
        x, y, count = changed(before, after)
        np.testing.assert_allclose([x, y], MAP.to_pixels(point)[0], atol=0.6)
        assert count < math.pi * (reach * MAP.px_per_m) ** 2
    after = before.copy()
    MAP.draw_drone(after, [1.3, 3.1, 0.7, 0, 0, math.pi / 2])
    x, y, _ = changed(before, after)
    assert x == pytest.approx(MAP.to_pixels(point)[0, 0], abs=0.6)
    assert y < MAP.to_pixels(point)[0, 1] - 20  # it faces +y, so its view lies above it on the picture


def test_paths_follow_their_points_and_leave_the_map_quietly() -> None:
    image = MAP.picture([])
    MAP.draw_path(image, PATH)
    pixels = np.asarray(image)
    for column, row in MAP.to_pixels(PATH).astype(int):
        assert tuple(pixels[row, column]) == FLOWN
    MAP.draw_path(image, PATH + 100)
    MAP.draw_path(image, PATH[:1])
    MAP.draw_drone(image, [-9.0, 9.0, 0.0])


def test_dashes_have_their_lengths() -> None:
    # 10 long in dashes of 3 with gaps of 2: 0-3 and 5-8; the corner at 4 lies in a gap, the one at 6 in a dash.
    line = np.array([[0, 0], [4, 0], [4, 2], [8, 2]], dtype=float)
    first, second = dashes(line, 3, 2)
    np.testing.assert_allclose(first, [[0, 0], [3, 0]])
    np.testing.assert_allclose(second, [[4, 1], [4, 2], [6, 2]])


def test_labels_stay_inside_and_apart() -> None:
    rng = np.random.default_rng(1)
    solid = [np.array([x, y, x + 40, y + 40]) for x, y in rng.uniform(0, 512, (12, 2))]
    boxes = place_labels(solid, [np.array([90, 20])] * 12, np.zeros((0, 2)), 552)
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 <= top
        assert right <= 552 >= bottom
        for other in boxes[:i]:
            width = min(right, other[2]) - max(left, other[0])
            height = min(bottom, other[3]) - max(top, other[1])
            assert min(width, height) <= 3


def test_plain_text() -> None:
    assert plain("Café — the\n “déjà vu” straße 中") == "Cafe - the “deja vu” strasse ?"


@pytest.mark.parametrize("length", [1, 40, 120, 400])
def test_instructions_fit(length: int) -> None:
    caption = Layout().caption
    text = ("Go past the telescope, then curl around the rubber duck until you face it. " * 6)[:length]
    lines, size = fit_text(text, caption.width - 40, caption.height - 32, 30)
    assert " ".join(lines) == " ".join(text.split())
    assert len(lines) * line_height(size) <= caption.height - 32
    assert max(text_font(size).getlength(line) for line in lines) <= caption.width - 40
    assert size >= (17 if length == 400 else 24)


def test_words_that_are_too_long_are_broken_and_endless_text_is_cut() -> None:
    assert "".join(wrap("x" * 300, 200, text_font(20))) == "x" * 300
    lines, size = fit_text("word " * 500, 300, 100, 30)
    assert lines[-1].endswith("...")
    assert len(lines) * line_height(size) <= 100


def card() -> FlightCard:
    return FlightCard("flight", "Go there.", MAP, [At("drum", 1.0, 3.5)], demonstration=PATH, policy="policy")


def test_flight_card() -> None:
    view = np.full((72, 128, 3), (10, 200, 90), dtype=np.uint8)
    one = card()
    frame = one.frame(view, [*PATH[9], 0.7, 0, 0, 0.3], PATH[:10], {"time": "1.0 s"})
    assert frame.shape == (720, 1280, 3)
    assert frame.dtype == np.uint8
    box = one.layout.view
    np.testing.assert_array_equal(frame[box.top + 180, box.left + 320], (10, 200, 90))
    at = MAP.to_pixels(PATH[4:5])[0].astype(int) + one.layout.map.corner
    np.testing.assert_array_equal(frame[at[1], at[0]], FLOWN)
    # A frame leaves no traces in the next one, and the outcome changes nothing but its own corner.
    np.testing.assert_array_equal(frame, one.frame(view, [*PATH[9], 0.7, 0, 0, 0.3], PATH[:10], {"time": "1.0 s"}))
    done = one.frame(view, [*PATH[9], 0.7, 0, 0, 0.3], PATH[:10], {"time": "1.0 s"}, "Arrived", True)
    rows, columns = np.nonzero((done != frame).any(axis=-1))
    assert rows.min() >= one.layout.status.top
    assert columns.min() >= one.layout.map.left - 2


def test_flight_card_of_nothing() -> None:
    bare = FlightCard("", "", MAP)
    frame = bare.frame(np.zeros((360, 640, 3), np.uint8), [1, 1, 0], np.zeros((0, 2)), {})
    assert frame.shape == (720, 1280, 3)
    with pytest.raises(WaywordError, match="size_px"):
        FlightCard("", "", TopDown(BANK, size_px=300))


def test_flight_card_is_quick() -> None:
    one, view = card(), np.zeros((72, 128, 3), np.uint8)
    times = []
    for i in range(2, 12):
        start = time.process_time()
        one.frame(view, [*PATH[i], 0.7, 0, 0, 0.3], PATH[: 3 * i], {"time": "1 s", "speed": "0.7 m/s"})
        times.append(time.process_time() - start)
    assert min(times) < 0.025


def test_contact_sheet() -> None:
    page = contact_sheet(["crate", "drum"] * 5, BANK)
    assert page.width > 1800
    assert np.asarray(page).std() > 10
    with pytest.raises(WaywordError, match="unicorn"):
        contact_sheet(["unicorn"], BANK)
    with pytest.raises(WaywordError):
        contact_sheet([], BANK)


def test_bad_maps_are_refused() -> None:
    with pytest.raises(WaywordError):
        TopDown(BANK, arena_m=-1.0)
    with pytest.raises(WaywordError):
        TopDown(BANK, arena_m=float("nan"))
