"""The sheet of tiles: sizes worked by hand, every tile where it belongs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from wayword.errors import WaywordError
from wayword.pictures.colours import LIGHT_PAGE
from wayword.pictures.sheet import (
    CAPTION_PX,
    MARGIN,
    TITLE_PX,
    count_of_objects,
    tile_sheet,
    titled_sheet,
    with_caption,
)


def tile(width: int, height: int, value: int) -> Image.Image:
    return Image.new("RGB", (width, height), (value, 0, 0))


def test_rows_and_columns_are_as_large_as_their_largest_tile() -> None:
    # Columns: max(10, 30) = 30 and 20; rows: max(5, 8) = 8 and 6. Gaps of 2, margin 3.
    tiles = [tile(10, 5, 10), tile(20, 8, 20), tile(30, 6, 30)]
    sheet = tile_sheet(tiles, 2, gap=2, margin=3, page=(0, 0, 99))
    assert sheet.size == (3 + 30 + 2 + 20 + 3, 3 + 8 + 2 + 6 + 3)
    pixels = np.asarray(sheet)
    corners = {10: (3, 3), 20: (3, 35), 30: (13, 3)}
    for value, (top, left) in corners.items():
        rows, columns = np.nonzero(pixels[..., 0] == value)
        assert (rows.min(), columns.min()) == (top, left)
    assert (pixels[..., 2] == 99).sum() == sheet.width * sheet.height - 10 * 5 - 20 * 8 - 30 * 6


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_no_tile_is_covered_or_cut(sizes: list[tuple[int, int]], columns: int, gap: int, margin: int) -> None:
    tiles = [tile(*size, k + 1) for k, size in enumerate(sizes)]
    pixels = np.asarray(tile_sheet(tiles, columns, gap=gap, margin=margin, page=(0, 0, 0)))[..., 0]
    for k, (width, height) in enumerate(sizes):
        assert (pixels == k + 1).sum() == width * height


def test_titles_and_captions_have_room_of_their_own() -> None:
    sheet = titled_sheet("two tiles", [tile(50, 30, 0)] * 2, 2, gap=10, least_width=200)
    assert sheet.size == (200, TITLE_PX + 30 + MARGIN)
    pixels = np.asarray(sheet)
    assert pixels[0, 0].tolist() == list(LIGHT_PAGE)
    assert (pixels[:TITLE_PX] != LIGHT_PAGE).any()
    captioned = with_caption(tile(90, 30, 0), "robot: right")
    assert captioned.size == (90, 30 + CAPTION_PX)
    assert (np.asarray(captioned)[30:] != LIGHT_PAGE).any()
    assert (np.asarray(captioned)[:30] == 0).all()
    assert [count_of_objects(count) for count in (1, 2)] == ["1 object", "2 objects"]


def test_an_empty_sheet_is_refused() -> None:
    with pytest.raises(WaywordError, match="nothing to draw"):
        tile_sheet([], 3)
