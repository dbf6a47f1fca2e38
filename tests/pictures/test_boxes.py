"""Boxes and their texts."""

from __future__ import annotations

import numpy as np
from PIL import Image

from wayword.pictures.boxes import draw_boxes

GREEN, BLUE = (0, 255, 0), (0, 0, 255)


def test_boxes_are_drawn_with_any_text() -> None:
    picture = Image.new("RGB", (60, 40))
    draw_boxes(picture, [[10, 20, 30, 35]], ["глобус 🎈 0.93"], [GREEN])
    pixels = np.asarray(picture)
    # x from 10 to 29, y from 20 to 34: the right and lower edge of a box are the first pixels outside.
    assert pixels[20, 10].tolist() == pixels[34, 29].tolist() == list(GREEN)
    assert not pixels[35:].any()
    assert pixels[:19].any()  # the text above the box, in characters the font has


def test_colours_go_round_and_boxes_of_nothing_are_points() -> None:
    picture = Image.new("RGB", (60, 40))
    draw_boxes(picture, [[0, 0, 5, 5], [10, 10, 15, 15], [20, 20, 25, 25], [40, 30, 40, 30]], colours=[GREEN, BLUE])
    assert [picture.getpixel(at) for at in ((0, 0), (10, 10), (20, 20), (40, 30))] == [GREEN, BLUE, GREEN, BLUE]
    empty = Image.new("RGB", (60, 40))
    draw_boxes(empty, np.zeros((0, 4)))
    assert not np.asarray(empty).any()


def test_lines_grow_with_the_picture() -> None:
    for width, fixed, thickness in ((400, None, 1), (1600, None, 2), (400, 3, 3)):
        picture = Image.new("RGB", (width, 40))
        draw_boxes(picture, [[10, 5, 100, 35]], line_px=fixed)
        assert (np.asarray(picture)[5:35, 50, 0] == 255).sum() == 2 * thickness


def test_a_text_at_the_right_rim_is_written_whole() -> None:
    inside, rim = (Image.new("RGB", (200, 60)) for _ in range(2))
    draw_boxes(inside, [[20, 30, 40, 50]], ["space shuttle"])
    draw_boxes(rim, [[185, 30, 199, 50]], ["space shuttle"])
    # Above the boxes both have the same letters, moved.
    letters = [np.asarray(picture)[:28].max(axis=2) > 200 for picture in (inside, rim)]
    assert letters[0].sum() == letters[1].sum() > 50
    assert not letters[1][:, -1].any()


def test_no_text_lies_over_another() -> None:
    """Two boxes with one corner: the second text stands beside the first, not on it."""
    one, both = Image.new("RGB", (80, 40)), Image.new("RGB", (80, 40))
    draw_boxes(one, [[10, 20, 30, 35]], ["4"], letters_px=14)
    draw_boxes(both, [[10, 20, 30, 35], [11, 21, 30, 35]], ["4", "4"], letters_px=14)
    ink = [(np.asarray(picture)[:19] == 255).all(axis=-1).sum() for picture in (one, both)]
    assert ink[1] == 2 * ink[0] > 0
