from __future__ import annotations

import io
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageOps

from wayword.errors import DataError, WaywordError
from wayword.objects import Box, CropConfig, SaliencyCropper, square_crop, view_photo, view_pixels
from wayword.objects.exemplars import crop_file, photo_file
from wayword.objects.photos import MAX_FILE_BYTES, MAX_PIXELS, decode_photo, read_photo

RED = (200, 30, 30)


def scene(width: int = 320, height: int = 240, box: tuple[int, int, int, int] = (120, 80, 200, 170)) -> Image.Image:
    """A red thing on a grey-green ground with some texture."""
    rng = np.random.default_rng(5)
    ground = np.array([120, 140, 110]) + rng.normal(0, 5, (height, width, 1))
    image = Image.fromarray(ground.clip(0, 255).astype(np.uint8))
    ImageDraw.Draw(image).rectangle((box[0], box[1], box[2] - 1, box[3] - 1), fill=RED)
    return image


def encoded(image: Image.Image, form: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width: int, height: int, *extra: bytes) -> bytes:
    """A PNG that states a size and holds next to nothing."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n"
        + header
        + b"".join(extra)
        + chunk(b"IDAT", zlib.compress(b"\0" * 99))
        + chunk(b"IEND", b"")
    )


def refusal(data: bytes, tmp_path: Path, name: str = "photo.jpg") -> str:
    """The one line that a file with this content gets."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        view_photo(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text


# Ordinary photos --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_the_content_decides_and_not_the_ending(tmp_path: Path, form: str) -> None:
    path = tmp_path / "holiday.txt"
    path.write_bytes(encoded(scene(), form))
    photo = read_photo(path)
    assert (photo.pixels.shape, photo.source_size, photo.opaque) == ((240, 320, 3), (320, 240), None)
    assert np.abs(photo.pixels[120, 160].astype(int) - RED).max() < 12


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_the_exif_rotation_is_respected(tmp_path: Path, form: str, orientation: int) -> None:
    image = scene(64, 32, (0, 0, 20, 10))  # red in one corner tells all eight apart
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(image, form, exif=exif)
    expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
    photo = decode_photo(data, "p")
    assert np.array_equal(photo.pixels, expected)
    assert photo.source_size == ((64, 32) if orientation < 5 else (32, 64))


def test_orientation_6_by_hand() -> None:
    # 6: the stored picture is turned clockwise to stand upright, so its upper left corner comes to the upper right.
    exif = Image.Exif()
    exif[0x0112] = 6
    photo = decode_photo(encoded(scene(64, 32, (0, 0, 20, 10)), "PNG", exif=exif), "p")
    assert tuple(photo.pixels[5, 30]) == RED
    assert tuple(photo.pixels[5, 5]) != RED


def test_place_time_and_every_other_remark_are_dropped(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010F] = "SECRETCAM"
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (47.0, 22.0, 1.0)
    path = tmp_path / "p.jpg"
    path.write_bytes(encoded(scene(), "JPEG", exif=exif, comment=b"SECRETNOTE", icc_profile=b"SECRETICC" * 20))
    exemplar = view_photo(path)
    for data in (crop_file(exemplar), photo_file(exemplar)):
        assert data is not None
        assert b"SECRET" not in data
        assert b"Exif" not in data
        image = Image.open(io.BytesIO(data))
        assert not dict(image.getexif())
        assert not set(image.info) - {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


def test_damaged_remarks_do_not_matter(tmp_path: Path) -> None:
    photo = decode_photo(encoded(scene(), "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff garbage"), "p")
    assert photo.source_size == (320, 240)


def test_a_large_photo_is_worked_on_smaller_and_boxes_stay_in_its_own_pixels(tmp_path: Path) -> None:
    path = tmp_path / "p.jpg"
    path.write_bytes(encoded(scene().resize((4000, 3000)), "JPEG"))
    exemplar = view_photo(path)
    assert exemplar.source_size == (4000, 3000)
    assert np.abs(np.array(exemplar.box.values) - np.array([120, 80, 200, 170]) * 12.5).max() < 80
    assert exemplar.crop.shape == (256, 256, 3)
    assert exemplar.photo is not None
    assert max(exemplar.photo.shape) == 640


def test_a_second_picture_inside_a_jpeg_is_left_alone() -> None:
    data = encoded(scene(), "MPO", save_all=True, append_images=[scene(64, 64, (1, 1, 9, 9))])
    assert decode_photo(data, "p").source_size == (320, 240)


def test_a_video_behind_a_jpeg_is_left_alone() -> None:
    assert decode_photo(encoded(scene(), "JPEG") + b"\xff\xda\0\x08" * 500, "p").source_size == (320, 240)


# Modes ------------------------------------------------------------------------------------------------------


def test_cmyk_keeps_its_colours() -> None:
    photo = decode_photo(encoded(Image.new("RGB", (64, 64), (230, 20, 20)).convert("CMYK"), "JPEG"), "p")
    red, green, blue = photo.pixels[32, 32].astype(int)
    assert red > 180
    assert max(green, blue) < 70


def test_16_bit_grey_is_scaled_not_cut_off() -> None:
    values = np.full((32, 32), 0x4080, np.uint16)
    values[8:24, 8:24] = 0xC000
    photo = decode_photo(encoded(Image.fromarray(values), "PNG"), "p")
    assert (tuple(photo.pixels[0, 0]), tuple(photo.pixels[16, 16])) == ((64, 64, 64), (192, 192, 192))


@pytest.mark.parametrize("mode", ["1", "L", "P"])
def test_grey_and_palette_pictures(mode: str) -> None:
    photo = decode_photo(encoded(scene().convert(mode), "PNG"), "p")
    assert photo.pixels.shape == (240, 320, 3)
    assert photo.opaque is None


@pytest.mark.parametrize(("mode", "form"), [("RGBA", "PNG"), ("RGBA", "WEBP"), ("LA", "PNG")])
def test_a_transparent_backdrop_says_where_the_object_is(mode: str, form: str) -> None:
    image = Image.new("RGBA", (100, 80), (255, 0, 255, 0))
    ImageDraw.Draw(image).rectangle((30, 20, 59, 69), fill=(250, 250, 250, 255))
    options = {"lossless": True} if form == "WEBP" else {}
    photo = decode_photo(encoded(image.convert(mode), form, **options), "p")
    assert photo.opaque == (30, 20, 60, 70)
    assert tuple(photo.pixels[0, 0]) == (128, 128, 128)
    assert tuple(photo.pixels[40, 40]) == (250, 250, 250)


def test_a_transparent_palette_colour() -> None:
    image = Image.new("P", (40, 40), 0)
    image.putpalette([9, 9, 9, 200, 30, 30])
    image.paste(1, (10, 10, 30, 30))
    assert decode_photo(encoded(image, "PNG", transparency=0), "p").opaque == (10, 10, 30, 30)


def test_a_wholly_transparent_picture(tmp_path: Path) -> None:
    assert "transparent" in refusal(encoded(Image.new("RGBA", (64, 64)), "PNG"), tmp_path)


# Hostile files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"GIF89a" + b"\0" * 60, "GIF"),
        (b"BM" + b"\0" * 60, "BMP"),
        (b"\0\0\0\x18ftypheic" + b"\0" * 60, "HEIC"),
        (b"\0\0\0\x18ftypavif" + b"\0" * 60, "AVIF"),
        (b"II*\0" + b"\0" * 60, "TIFF"),
        (b"%!PS-Adobe-3.0 EPSF-3.0", "document"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "text"),
        (b"just words", "no photo"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "no photo"),
    ],
)
def test_other_formats_are_refused_by_name(tmp_path: Path, data: bytes, what: str) -> None:
    assert what in refusal(data, tmp_path)


def test_an_empty_file(tmp_path: Path) -> None:
    assert "is empty" in refusal(b"", tmp_path)


def test_a_missing_file_a_folder_and_a_zero_byte(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jpg", tmp_path, tmp_path / "a\0b.jpg"):
        with pytest.raises(DataError, match=r"cannot be read|is a folder"):
            view_photo(path)


@pytest.mark.skipif(os.name == "nt", reason="no pipes in the file system")
def test_pipes_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.jpg")
    for path in (tmp_path / "p.jpg", Path("/dev/zero")):
        with pytest.raises(DataError, match="not a regular file"):
            view_photo(path)


def test_a_file_of_too_many_bytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "p.jpg"
    path.write_bytes(b"\xff\xd8\xff")
    os.truncate(path, MAX_FILE_BYTES + 1)
    with pytest.raises(DataError, match="at most 64 MB"):
        view_photo(path)


def bomb_webp(kind: bytes) -> bytes:
    side = 16_383
    body = {
        b"VP8X": b"\0\0\0\0" + (side - 1).to_bytes(3, "little") * 2,
        b"VP8L": b"\x2f" + (side - 1 | side - 1 << 14).to_bytes(4, "little") + b"\0" * 5,
        b"VP8 ": b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", side, side),
    }[kind]
    content = b"WEBP" + kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(content)) + content


@pytest.mark.parametrize(
    "data",
    [
        png_of(30_000, 30_000),
        png_of(2_000_000_000, 2_000_000_000),
        encoded(scene(), "JPEG").replace(struct.pack(">HH", 240, 320), struct.pack(">HH", 65_000, 65_000)),
        bomb_webp(b"VP8X"),
        bomb_webp(b"VP8L"),
        bomb_webp(b"VP8 "),
    ],
    ids=["png", "png-absurd", "jpeg", "webp-extended", "webp-lossless", "webp-lossy"],
)
def test_decompression_bombs_are_refused_before_decoding(tmp_path: Path, data: bytes) -> None:
    start = time.process_time()
    assert "pixels" in refusal(data, tmp_path)
    assert time.process_time() - start < 0.5
    assert MAX_PIXELS < 16_383**2


def test_a_text_bomb_inside_a_png(tmp_path: Path) -> None:
    text = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(80_000_000)))
    assert "damaged" in refusal(png_of(64, 64, text), tmp_path)


def test_a_jpeg_of_very_many_passes(tmp_path: Path) -> None:
    data = encoded(scene(), "JPEG", progressive=True)
    last = data.rindex(b"\xff\xda")
    scan = data[last:-2]
    assert decode_photo(data, "p").source_size == (320, 240)
    assert "passes" in refusal(data[:-2] + scan * 100 + data[-2:], tmp_path)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("keep", [12, 25, 0.5, 0.95])
def test_cut_off_files(tmp_path: Path, form: str, keep: float) -> None:
    data = encoded(scene(), form)
    assert "damaged" in refusal(data[: int(keep if keep > 1 else keep * len(data))], tmp_path)


def test_a_png_with_flipped_bytes(tmp_path: Path) -> None:
    data = bytearray(encoded(scene(), "PNG"))
    for at in range(100, 140):
        data[at] ^= 0xFF
    assert "damaged" in refusal(bytes(data), tmp_path)


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_animated_files(tmp_path: Path, form: str) -> None:
    frames = [scene(), scene(box=(10, 10, 60, 60))]
    assert "animated" in refusal(encoded(frames[0], form, save_all=True, append_images=frames[1:]), tmp_path)


def test_too_small(tmp_path: Path) -> None:
    assert "at least 16 x 16" in refusal(encoded(Image.new("RGB", (15, 200)), "PNG"), tmp_path)


def test_a_long_strip_does_not_become_a_huge_square(tmp_path: Path) -> None:
    path = tmp_path / "strip.png"
    path.write_bytes(encoded(Image.new("RGB", (30_000, 16), (9, 80, 9)), "PNG"))
    exemplar = view_photo(path, Box(0, 0, 30_000, 16))
    assert exemplar.crop.shape == (256, 256, 3)


def test_decoders_run_safely_beside_each_other(tmp_path: Path) -> None:
    # catch_warnings is not safe in threads; what must hold is that no result and no error gets lost.
    data, results = encoded(scene(), "JPEG"), []
    threads = [threading.Thread(target=lambda: results.append(decode_photo(data, "p").source_size)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(320, 240)] * 6


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(form=st.sampled_from(["JPEG", "PNG", "WEBP"]), edits=st.data())
def test_any_change_of_bytes_gives_a_photo_or_one_error(form: str, edits: st.DataObject) -> None:
    data = bytearray(encoded(scene(48, 40, (10, 10, 30, 30)), form))
    for _ in range(edits.draw(st.integers(1, 6))):
        data[edits.draw(st.integers(0, len(data) - 1))] = edits.draw(st.integers(0, 255))
    try:
        photo = decode_photo(bytes(data), "p")
    except DataError:
        return
    assert photo.pixels.dtype == np.uint8
    assert photo.pixels.shape[2] == 3


# Boxes and crops --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box(10, 10, 10, 50), "empty"),
        (lambda: Box(50, 10, 10, 50), "empty"),
        (lambda: Box(float("nan"), 0, 1, 1), "finite"),
        (lambda: Box(400, 10, 500, 60).inside(320, 240), "inside the photo"),
        (lambda: Box(315, 10, 500, 60).inside(320, 240), "inside the photo"),
    ],
)
def test_boxes_that_cannot_be(make: Callable[[], Box], message: str) -> None:
    with pytest.raises(WaywordError, match=message):
        make()


def test_a_square_by_hand() -> None:
    # Columns count 0..9. The box spans columns 3..5 and rows 2..6 (4 high), so the square is 4 x 4 about (4, 4).
    image = np.repeat(np.arange(10, dtype=np.uint8)[None, :, None], 8, axis=0).repeat(3, axis=2)
    crop = square_crop(image, Box(3, 2, 5, 6), CropConfig(margin=0))
    assert crop[:, :, 0].tolist() == [[2, 3, 4, 5]] * 4
    # At the left edge the square moves instead of leaving the image.
    assert square_crop(image, Box(0, 2, 1, 6), CropConfig(margin=0))[0, :, 0].tolist() == [0, 1, 2, 3]
    # Upright now: 10 rows that count 0..9, 8 columns. A box of 2 x 10 needs 10 columns where there are 8: centred on
    # column 1 the square would begin at -4, so both missing columns are on the left and repeat the first one.
    tall = image.transpose(1, 0, 2).copy()
    tall[:, 0] = 77
    crop = square_crop(tall, Box(0, 0, 2, 10), CropConfig(margin=0))
    assert crop.shape == (10, 10, 3)
    assert (crop[:, :3] == 77).all()
    assert crop[:, 9, 0].tolist() == list(range(10))


@settings(max_examples=60, deadline=None)
@given(
    size=st.tuples(st.integers(16, 90), st.integers(16, 90)),
    corner=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    extent=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_every_box_inside_gives_a_square(
    size: tuple[int, int], corner: tuple[float, float], extent: tuple[float, float]
) -> None:
    width, height = size
    x, y = corner[0] * (width - 8), corner[1] * (height - 8)
    box = Box(x, y, x + 8 + extent[0] * (width - 8 - x), y + 8 + extent[1] * (height - 8 - y))
    crop = square_crop(np.zeros((height, width, 3), np.uint8), box, CropConfig(side=64))
    assert crop.shape[0] == crop.shape[1] <= 64


def test_the_salient_thing_is_found_and_a_flat_picture_is_not_trusted() -> None:
    image = np.asarray(scene())
    box, confidence = SaliencyCropper().crop_box(image)
    assert np.abs(np.array(box.values) - [120, 80, 200, 170]).max() <= 6
    assert confidence > 0.5
    assert SaliencyCropper().crop_box(image)[0] == box
    assert SaliencyCropper().crop_box(np.full((240, 320, 3), 90, np.uint8)) == (Box(40, 30, 280, 210), 0.0)


def test_a_box_is_of_whole_pixels_of_the_picture_that_was_looked_at() -> None:
    # 640 x 86 pixels are looked at as 128 x 17, as 17.2 cannot be: 5 pixels across in one, 86 / 17 = 5.06 down.
    photo = np.full((86, 640, 3), 200, np.uint8)
    photo[25:66, 290:350] = (200, 20, 20)
    box, sure = SaliencyCropper().crop_box(photo)
    assert sure > 0.5
    edges = np.array(box.values) * np.array([128 / 640, 17 / 86, 128 / 640, 17 / 86])
    np.testing.assert_allclose(edges, edges.round(), atol=1e-9)
    assert np.abs(edges - [58, 5, 70, 13]).max() <= 1


def test_the_thing_near_the_middle_goes_before_one_at_the_edge() -> None:
    image = scene()
    ImageDraw.Draw(image).rectangle((0, 0, 70, 60), fill=(30, 30, 200))
    box, _ = SaliencyCropper().crop_box(np.asarray(image))
    assert box.x0 > 100


def test_a_box_goes_before_every_cropper() -> None:
    exemplar = view_pixels(np.asarray(scene()), Box(10, 20, 110, 90))
    assert (exemplar.box, exemplar.cropped_by, exemplar.confidence) == (Box(10, 20, 110, 90), "box", 1.0)
    with pytest.raises(WaywordError, match="uint8"):
        view_pixels(np.zeros((9, 9, 3), np.float32))  # type: ignore[arg-type,unused-ignore]


class Answering:
    """A ``Cropper`` with a fixed answer, which counts how often it is asked."""

    def __init__(self, name: str, box: Box, confidence: float) -> None:
        self.name, self.box, self.confidence, self.asked = name, box, confidence, 0

    def crop_box(self, image: np.ndarray) -> tuple[Box, float]:
        self.asked += 1
        return self.box, self.confidence


@pytest.mark.parametrize(
    ("first", "second", "chosen", "asked"),
    [
        (0.9, 0.99, "first", 0),  # sure: the second is not asked
        (0.5, 0.99, "first", 0),  # just sure enough
        (0.4, 0.8, "second", 1),
        (0.4, 0.3, "first", 1),  # neither is sure: the surer one
        (0.2, 0.2, "first", 1),
    ],
)
def test_croppers_are_asked_until_one_is_sure(first: float, second: float, chosen: str, asked: int) -> None:
    one, two = Answering("first", Box(10, 10, 60, 60), first), Answering("second", Box(50, 50, 99, 99), second)
    exemplar = view_pixels(np.asarray(scene()), croppers=(one, two))
    assert exemplar.cropped_by == chosen
    assert exemplar.confidence == (first if chosen == "first" else second)
    assert exemplar.box == (one.box if chosen == "first" else two.box)
    assert (one.asked, two.asked) == (1, asked)


def test_the_box_of_a_cropper_is_in_pixels_of_the_original(tmp_path: Path) -> None:
    # 1280 x 960 is looked at as 640 x 480: a box found there lies at twice its coordinates.
    scene(320, 240).resize((1280, 960)).save(tmp_path / "big.png")
    exemplar = view_photo(tmp_path / "big.png", croppers=(Answering("a", Box(10, 20, 110, 90), 0.7),))
    assert exemplar.source_size == (1280, 960)
    assert exemplar.box.values == pytest.approx((20, 40, 220, 180))
    assert exemplar.photo is not None
    assert exemplar.photo.shape == (480, 640, 3)


def test_a_box_by_hand_asks_nobody() -> None:
    finder = Answering("a", Box(0, 0, 9, 9), 1.0)
    view_pixels(np.asarray(scene()), Box(10, 20, 110, 90), (finder,))
    assert finder.asked == 0
