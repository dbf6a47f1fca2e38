"""Sheets of an object database for people: the preview of one object's crops, and the sheet of all objects."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from wayword.guarded import read_bytes
from wayword.objects import files
from wayword.objects.cropping import Pixels
from wayword.objects.files import Record
from wayword.objects.photos import MAX_FILE_BYTES, decode_photo
from wayword.pictures.boxes import draw_boxes
from wayword.pictures.colours import ACCENT, FAINT_INK, INK, LIGHT_PAGE, Rgb
from wayword.pictures.lettering import cut_text, draw_text
from wayword.pictures.sheet import MARGIN, count_of_objects, tile_sheet, titled_sheet, with_caption

_MOST_PHOTOS = 12  # on a preview, the latest ones
_PHOTO_PX = 192  # height of each photo and crop on it
_GAP = 6
_VIEW_PX, _MOST_VIEWS, _WORDS_PX = 96, 5, 190  # per object on a sheet of all


def draw_preview(record: Record, fresh: Mapping[str, bytes]) -> bytes | None:
    """PNG: each photo with the box around the object and, beside it, the crop; None without photos.

    Files that are not written yet are taken from ``fresh``.
    """

    def load(file: str) -> Image.Image | None:
        path = record.folder / file
        if file not in fresh and not path.is_file():
            return None
        data = fresh[file] if file in fresh else read_bytes(path, MAX_FILE_BYTES, follow_links=False)
        return Image.fromarray(decode_photo(data, path, smallest=1).pixels)

    tiles = []
    for number, info in list(record.photos.items())[-_MOST_PHOTOS:]:
        crop, photo = load(files.crop_name(number)), load(files.photo_name(number))
        if crop is None:
            continue
        pictures = [crop.resize((_PHOTO_PX, _PHOTO_PX), Image.Resampling.LANCZOS)]
        if photo is not None:
            pictures.insert(0, _boxed_photo(photo, info))
        text = f"{number}  {info.get('cropped_by', '')}"
        if info.get("confidence", 1) < 1:
            text += f" {info['confidence']:.2f}"
        tiles.append(with_caption(tile_sheet(pictures, 2, gap=_GAP, page=LIGHT_PAGE), text))
    if not tiles:
        return None
    columns = 1 if len(tiles) < 3 else 2 if len(tiles) < 7 else 3
    buffer = io.BytesIO()
    page = tile_sheet(tiles, columns, gap=MARGIN // 2, margin=MARGIN, page=LIGHT_PAGE)
    page.save(buffer, "PNG", compress_level=3)  # made while others wait for the lock
    return buffer.getvalue()


def database_sheet(
    objects: Sequence[tuple[str, Sequence[Pixels], Sequence[str]]], marked: Collection[str] = ()
) -> Image.Image:
    """One page, two objects in a row: name, phrases, up to five views. The names in ``marked`` stand out."""
    tiles = [_object_tile(name, views, phrases, ACCENT if name in marked else INK) for name, views, phrases in objects]
    return titled_sheet(count_of_objects(len(objects)), tiles, 2, MARGIN)


def _object_tile(name: str, views: Sequence[Pixels], phrases: Sequence[str], ink: Rgb) -> Image.Image:
    """The name, under it the phrases, each on one line that fits, and to the right the views."""
    tile = Image.new("RGB", (_WORDS_PX + _MOST_VIEWS * (_VIEW_PX + _GAP), _VIEW_PX), LIGHT_PAGE)
    pen, room = ImageDraw.Draw(tile), _WORDS_PX - 12
    draw_text(pen, (0, 8), cut_text(name, room, 17), 17, ink, bold=0.3)
    for k, phrase in enumerate(phrases[:5] or ("no phrases",)):
        draw_text(pen, (0, 26 + 14 * k), cut_text(phrase, room, 12), 12, FAINT_INK)
    if len(views) > _MOST_VIEWS:
        draw_text(pen, (0, _VIEW_PX), f"+{len(views) - _MOST_VIEWS} more views", 12, FAINT_INK, "ls")
    for k, view in enumerate(views[:_MOST_VIEWS]):
        picture = Image.fromarray(np.asarray(view)).resize((_VIEW_PX, _VIEW_PX), Image.Resampling.LANCZOS)
        tile.paste(picture, (_WORDS_PX + k * (_VIEW_PX + _GAP), 0))
    if not views:
        pen.rectangle((_WORDS_PX, 0, _WORDS_PX + _VIEW_PX - 1, _VIEW_PX - 1), outline=FAINT_INK)
        draw_text(pen, (_WORDS_PX + _VIEW_PX / 2, _VIEW_PX / 2), "no photo", 13, FAINT_INK, "mm")
    return tile


def _boxed_photo(photo: Image.Image, info: Mapping[str, Any]) -> Image.Image:
    """The photo at the preview's height with the box on it."""
    width = min(max(1, round(photo.width * _PHOTO_PX / photo.height)), 2 * _PHOTO_PX)  # less for a panorama
    small = photo.resize((width, _PHOTO_PX), Image.Resampling.LANCZOS)
    if "box" in info and "source_size" in info and min(info["source_size"]) > 0:
        # A person may have written anything there: ordered and cut off at the edges.
        scale = np.array([width, _PHOTO_PX]) / info["source_size"]
        corners = np.clip(np.reshape(info["box"], (2, 2)) * scale, 0, [width, _PHOTO_PX])
        draw_boxes(small, [*corners.min(axis=0), *corners.max(axis=0)], colours=[ACCENT], line_px=3)
    return small
