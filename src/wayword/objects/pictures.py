"""Pictures of a database for people: the preview of one object's crops, and the contact sheet of all objects."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from wayword.errors import WaywordError
from wayword.lettering import fitting, plain, text_font
from wayword.objects import files
from wayword.objects.cropping import Pixels
from wayword.objects.files import Record
from wayword.objects.photos import MAX_FILE_BYTES, decode_photo, read_bytes

Color = tuple[int, int, int]

PAGE: Color = (250, 250, 248)
INK: Color = (38, 42, 50)
FAINT: Color = (140, 146, 156)
FOUND: Color = (206, 84, 0)
"""Of boxes, and of the names of objects that the check has something to say about."""

_SHOWN = 12  # photos on a preview, the latest ones
_HIGH = 192  # of each photo and crop on it
_TILE, _GAP, _MARGIN, _HEAD, _TEXT = 96, 6, 20, 40, 190
_TILES = 5  # views per object on a contact sheet


def preview_file(record: Record, fresh: Mapping[str, bytes]) -> bytes | None:
    """PNG: each photo with the box around the object and, beside it, the crop; None without photos.

    Files that are not written yet are taken from ``fresh``.
    """

    def load(file: str) -> Image.Image | None:
        path = record.folder / file
        if file not in fresh and not path.is_file():
            return None
        data = fresh[file] if file in fresh else read_bytes(path, MAX_FILE_BYTES, follow_links=False)
        return Image.fromarray(decode_photo(data, path, smallest=1).pixels)

    rows = []
    for number, info in list(record.photos.items())[-_SHOWN:]:
        crop, photo = load(files.crop_name(number)), load(files.photo_name(number))
        if crop is None:
            continue
        photo = _outlined(photo, info) if photo is not None else None
        text = f"{number}  {info.get('cropped_by', '')}"
        if info.get("confidence", 1) < 1:
            text += f" {info['confidence']:.2f}"
        rows.append(_row(photo, crop.resize((_HIGH, _HIGH), Image.Resampling.LANCZOS), plain(text)))
    if not rows:
        return None
    columns = 1 if len(rows) < 3 else 2 if len(rows) < 7 else 3
    width, height = max(row.width for row in rows), max(row.height for row in rows)
    lines = math.ceil(len(rows) / columns)
    page = Image.new("RGB", (_MARGIN + columns * (width + _MARGIN), _MARGIN + lines * (height + _GAP)), PAGE)
    for i, row in enumerate(rows):
        page.paste(row, (_MARGIN + i % columns * (width + _MARGIN), _MARGIN + i // columns * (height + _GAP)))
    buffer = io.BytesIO()
    page.save(buffer, "PNG", compress_level=3)  # made while others wait for the lock
    return buffer.getvalue()


def contact_sheet(
    objects: Sequence[tuple[str, Sequence[Pixels], Sequence[str]]], marked: Collection[str] = ()
) -> Image.Image:
    """One page, two objects in a row: name, phrases, up to five views. The names in ``marked`` stand out."""
    if not objects:
        raise WaywordError("no objects to draw on a contact sheet")
    columns = min(2, len(objects))
    cell = _TEXT + _TILES * (_TILE + _GAP)
    width = 2 * _MARGIN + columns * (cell + _MARGIN) - _MARGIN
    height = _HEAD + math.ceil(len(objects) / columns) * (_TILE + _MARGIN) + _MARGIN // 2
    page = Image.new("RGB", (width, height), PAGE)
    pen = ImageDraw.Draw(page)
    count = f"{len(objects)} objects" if len(objects) > 1 else "1 object"
    pen.text((_MARGIN, _HEAD / 2), count, INK, text_font(18), anchor="lm")
    for i, (name, views, phrases) in enumerate(objects):
        left, top = _MARGIN + i % columns * (cell + _MARGIN), _HEAD + i // columns * (_TILE + _MARGIN)
        _label(pen, name, phrases, left, top, FOUND if name in marked else INK)
        if len(views) > _TILES:
            more = f"+{len(views) - _TILES} more views"
            pen.text((left, top + _TILE), more, FAINT, text_font(12), anchor="ls")
        for k, view in enumerate(views[:_TILES]):
            tile = Image.fromarray(np.asarray(view)).resize((_TILE, _TILE), Image.Resampling.LANCZOS)
            page.paste(tile, (left + _TEXT + k * (_TILE + _GAP), top))
        if not views:
            spot = (left + _TEXT, top, left + _TEXT + _TILE, top + _TILE)
            pen.rectangle(spot, outline=FAINT)
            pen.text((left + _TEXT + _TILE / 2, top + _TILE / 2), "no photo", FAINT, text_font(13), anchor="mm")
    return page


def _outlined(photo: Image.Image, info: Mapping[str, Any]) -> Image.Image:
    """The photo at the preview's height with the box on it."""
    small = photo.resize((max(1, round(photo.width * _HIGH / photo.height)), _HIGH), Image.Resampling.LANCZOS)
    if small.width > 2 * _HIGH:  # a panorama
        small = small.resize((2 * _HIGH, _HIGH), Image.Resampling.LANCZOS)
    if "box" in info and "source_size" in info:
        width, height = info["source_size"]
        if width > 0 and height > 0:
            # A person may have written anything there: ordered and cut off at the edges.
            x0, x1 = sorted(min(max(value / width, 0.0), 1.0) * (small.width - 1) for value in info["box"][::2])
            y0, y1 = sorted(min(max(value / height, 0.0), 1.0) * (small.height - 1) for value in info["box"][1::2])
            ImageDraw.Draw(small).rectangle((x0, y0, x1, y1), outline=FOUND, width=3)
    return small


def _row(photo: Image.Image | None, crop: Image.Image, text: str) -> Image.Image:
    left = photo.width + _GAP if photo is not None else 0
    row = Image.new("RGB", (left + _HIGH, _HIGH + 24), PAGE)
    if photo is not None:
        row.paste(photo, (0, 0))
    row.paste(crop, (left, 0))
    ImageDraw.Draw(row).text((0, _HIGH + 11), text, FAINT, text_font(14), anchor="lm")
    return row


def _label(pen: ImageDraw.ImageDraw, name: str, phrases: Sequence[str], left: float, top: float, ink: Color) -> None:
    """The name, and under it the phrases, each on one line that fits."""
    room = _TEXT - 12
    pen.text((left, top + 8), fitting(name, room, 17), ink, text_font(17), anchor="lm", stroke_width=0.3)
    for k, phrase in enumerate(phrases[:5]):
        pen.text((left, top + 26 + 14 * k), fitting(phrase, room, 12), FAINT, text_font(12), anchor="lm")
    if not phrases:
        pen.text((left, top + 26), "no phrases", FAINT, text_font(12), anchor="lm")
