"""Sheets of a database: previews follow what is taught, and the sheet of all objects leaves none out."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wayword.errors import WaywordError
from wayword.objects import Box, Exemplar, remove, renew, teach, view_pixels
from wayword.objects.files import PREVIEW, Record
from wayword.pictures.colours import ACCENT
from wayword.pictures.object_sheets import database_sheet, draw_preview


def exemplar(seed: int) -> Exemplar:
    """A bright square on a dark ground, 96 x 64."""
    image = np.random.default_rng(seed).integers(0, 60, (64, 96, 3), dtype=np.uint8)
    image[16:48, 32:64] = 255 - seed
    return view_pixels(image, Box(32, 16, 64, 48))


def test_the_preview_shows_each_photo_with_its_box_and_its_crop(tmp_path: Path) -> None:
    lesson = teach(tmp_path, "square", [exemplar(1)], draw_preview=draw_preview)
    assert lesson.preview == tmp_path / "square" / PREVIEW
    picture = np.asarray(Image.open(lesson.preview).convert("RGB"))
    # A photo of 288 x 192 and a crop of 192 x 192 with 6 pixels between them and 24 for the caption; 20 at the sides.
    assert picture.shape == (20 + 192 + 24 + 20, 20 + 288 + 6 + 192 + 20, 3)
    # The box, three times as large: from (96, 48) to (192, 144).
    for x, y in ((96, 48), (191, 143), (191, 48)):
        assert picture[20 + y, 20 + x].tolist() == list(ACCENT)
    assert picture[20 + 96, 20 + 288 + 6 + 96].min() > 240  # the middle of the crop


def test_the_preview_goes_with_what_it_shows(tmp_path: Path) -> None:
    preview = tmp_path / "square" / PREVIEW
    teach(tmp_path, "square", [exemplar(1)], ["the square"], draw_preview)
    one = preview.read_bytes()
    teach(tmp_path, "square", [exemplar(2)], draw_preview=draw_preview)
    two = preview.read_bytes()
    assert Image.open(io.BytesIO(two)).height > Image.open(io.BytesIO(one)).height
    remove(tmp_path, "square", photo="002", draw_preview=draw_preview)
    assert preview.read_bytes() == one
    # Changed by somebody who draws nothing: no preview rather than a wrong one.
    teach(tmp_path, "square", [exemplar(3)])
    assert not preview.exists()
    Image.fromarray(exemplar(4).crop).save(tmp_path / "square" / "mine.png")
    renew(tmp_path, draw_preview=draw_preview)
    assert preview.exists()
    remove(tmp_path, "square", photo="001")
    assert not preview.exists()


@pytest.mark.parametrize("box", [[-50, 1e9, 300, -7], [0, 0, 0, 0], [96, 64, 0, 0]])
def test_boxes_that_people_wrote_stay_in_the_photo(tmp_path: Path, box: list[float]) -> None:
    lesson = teach(tmp_path, "square", [exemplar(1)])
    record = Record(lesson.record.folder, "square", photos={"001": {"box": box, "source_size": [96, 64]}})
    drawn = draw_preview(record, {})
    assert drawn is not None
    assert Image.open(io.BytesIO(drawn)).size == (526, 256)
    assert draw_preview(Record(tmp_path / "none", "none", photos={"001": {}}), {}) is None


def test_the_sheet_shows_objects_without_photos_too() -> None:
    views = [np.full((9, 9, 3), 30 * k, np.uint8) for k in range(7)]
    sheet = np.asarray(database_sheet([("globe", views, ["the globe"]), ("小鸭", [], ["x" * 200])], {"globe"}))
    # Two tiles of 190 + 5 * 102 pixels with 20 around and between them.
    assert sheet.shape == (40 + 96 + 20, 3 * 20 + 2 * (190 + 5 * 102), 3)
    for k in range(5):
        assert sheet[40 + 48, 20 + 190 + 102 * k + 48].tolist() == [30 * k] * 3
    accent = (sheet == ACCENT).all(axis=2)
    assert accent[:, :400].any()
    assert not accent[:, 720:].any()
    with pytest.raises(WaywordError, match="nothing to draw"):
        database_sheet([])
