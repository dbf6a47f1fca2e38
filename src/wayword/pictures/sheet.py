"""The one way pictures are laid out on a page: tiles in rows, with a title above or a caption below."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from PIL import Image, ImageDraw

from wayword.errors import WaywordError
from wayword.pictures.colours import FAINT_INK, INK, LIGHT_PAGE, WHITE, Rgb
from wayword.pictures.lettering import draw_text

MARGIN = 20
TITLE_PX = 40
"""Height of the strip with the title, which replaces the upper margin."""
CAPTION_PX = 24


def tile_sheet(
    tiles: Sequence[Image.Image],
    columns: int,
    *,
    gap: int = 0,
    margin: int = 0,
    head: int | None = None,
    page: Rgb = WHITE,
    least_width: int = 0,
) -> Image.Image:
    """Tiles in rows of ``columns``; a column is as wide as its widest tile, a row as high as its highest.

    ``gap`` pixels between tiles, ``margin`` around them all, ``head`` instead of the margin above.
    """
    if not tiles:
        raise WaywordError("there is nothing to draw on the sheet")
    columns = min(columns, len(tiles))
    rows = [tiles[start : start + columns] for start in range(0, len(tiles), columns)]
    widths = [max(tile.width for tile in tiles[column::columns]) for column in range(columns)]
    heights = [max(tile.height for tile in row) for row in rows]
    lefts = _starts(widths, margin, gap)
    tops = _starts(heights, margin if head is None else head, gap)
    size = max(lefts[-1] + widths[-1] + margin, least_width), tops[-1] + heights[-1] + margin
    sheet = Image.new("RGB", size, page)
    for row, top in zip(rows, tops, strict=True):
        for tile, left in zip(row, lefts, strict=False):
            sheet.paste(tile, (left, top))
    return sheet


def _starts(sizes: Sequence[int], first: int, gap: int) -> list[int]:
    """Where things of these sizes begin that stand in a row, the first at ``first``."""
    return list(itertools.accumulate((size + gap for size in sizes[:-1]), initial=first))


def titled_sheet(title: str, tiles: Sequence[Image.Image], columns: int, gap: int, least_width: int = 0) -> Image.Image:
    """Tiles on a light page with a title in its upper left corner."""
    sheet = tile_sheet(tiles, columns, gap=gap, margin=MARGIN, head=TITLE_PX, page=LIGHT_PAGE, least_width=least_width)
    draw_text(ImageDraw.Draw(sheet), (MARGIN, TITLE_PX / 2), title, 18, INK)
    return sheet


def with_caption(picture: Image.Image, text: str, colour: Rgb = FAINT_INK) -> Image.Image:
    """The picture with a line of text below, on a light ground."""
    tile = Image.new("RGB", (picture.width, picture.height + CAPTION_PX), LIGHT_PAGE)
    tile.paste(picture, (0, 0))
    draw_text(ImageDraw.Draw(tile), (0, picture.height + CAPTION_PX // 2 - 1), text, 14, colour)
    return tile


def count_of_objects(count: int) -> str:
    """The title of a sheet of objects."""
    return f"{count} objects" if count != 1 else "1 object"
