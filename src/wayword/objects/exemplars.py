"""One view of an object as a database keeps it: the square crop, and a small copy of the photo it came from.

``view_photo`` makes it from a photo file, ``view_pixels`` from an image in memory. Both files that are
stored are encoded from bare pixels, so that nothing else of the original can come along.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from wayword.errors import DataError, WaywordError
from wayword.objects.cropping import Box, CropConfig, Cropper, JointCropper, Pixels, square_crop
from wayword.objects.photos import Photo, read_photo
from wayword.objects.saliency import SaliencyCropper

PHOTO_SIDE = 640
"""Pixels of the longer side of the copy that is kept of a photo."""
UNSURE = 0.5
"""Below this confidence a person should look at the crop."""


@dataclass(frozen=True)
class Exemplar:
    """One view of an object.

    Attributes:
        crop: (S, S, 3), the object.
        photo: (h, w, 3), the reduced photo it was cut from; None if only the crop is kept.
        source_size: width and height of the original photo, upright.
        box: around the object, in pixels of the original photo.
        cropped_by: who found the box: the cropper's name, "box" for a person, "alpha" for a transparent backdrop.
        confidence: of the box, 0 to 1.
    """

    crop: Pixels
    photo: Pixels | None
    source_size: tuple[int, int]
    box: Box
    cropped_by: str
    confidence: float


def view_photo(
    path: Path | str,
    box: Box | None = None,
    croppers: Sequence[Cropper] = (),
    config: CropConfig | None = None,
    follow_links: bool = True,
) -> Exemplar:
    """The exemplar of a photo file; ``box`` is in pixels of the photo as a person sees it, upright."""
    photo = read_photo(path, follow_links)
    try:
        return view(photo, box, croppers, config)
    except WaywordError as error:
        raise DataError(path, str(error)) from error


def view_photos(
    paths: Sequence[Path | str],
    cropper: JointCropper,
    boxes: Sequence[Box | None] = (),
    config: CropConfig | None = None,
) -> list[Exemplar]:
    """The exemplars of several photos of one object, which is looked for in all of them together.

    Photos with a box of their own (None: without) or with a transparent backdrop are cut there.
    """
    known_boxes = list(boxes) or [None] * len(paths)
    photos = [read_photo(path) for path in paths]
    open_ones = [i for i, photo in enumerate(photos) if known_boxes[i] is None and photo.opaque is None]
    reduced = {i: _reduced(photos[i].pixels) for i in open_ones}
    answers = dict(zip(open_ones, cropper.crop_boxes([reduced[i] for i in open_ones]), strict=True))
    exemplars = []
    for i, (path, photo) in enumerate(zip(paths, photos, strict=True)):
        try:
            if i not in answers:
                exemplars.append(view(photo, known_boxes[i], (), config))
                continue
            box, confidence = answers[i]
            place = _unreduced(photo, reduced[i], box)
            exemplars.append(_cut(photo, reduced[i], place, cropper.name, confidence, config))
        except WaywordError as error:
            raise DataError(path, str(error)) from error
    return exemplars


def view_pixels(
    image: Pixels, box: Box | None = None, croppers: Sequence[Cropper] = (), config: CropConfig | None = None
) -> Exemplar:
    """The exemplar of an image (H, W, 3) uint8, for instance a frame of a simulated flight."""
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
        raise WaywordError(f"an image must be (H, W, 3) of uint8, not {image.shape} of {image.dtype}")
    return view(Photo(image, (image.shape[1], image.shape[0])), box, croppers, config)


def view(
    photo: Photo, box: Box | None = None, croppers: Sequence[Cropper] = (), config: CropConfig | None = None
) -> Exemplar:
    """Find the object, unless ``box`` says where it is, and cut it out.

    The ``croppers`` are asked in turn until one is sure; if none is, the surest is believed, the first of equals.
    Without any, the classical one is asked.
    """
    height, width = photo.pixels.shape[:2]
    reduced = _reduced(photo.pixels)
    if box is not None:
        place = box.inside(*photo.source_size).scaled(width / photo.source_size[0], height / photo.source_size[1])
        return _cut(photo, reduced, place, "box", 1.0, config)
    if photo.opaque is not None:
        return _cut(photo, reduced, Box(*photo.opaque), "alpha", 1.0, config)
    place, by, confidence = _find(reduced, croppers or (SaliencyCropper(),))
    return _cut(photo, reduced, _unreduced(photo, reduced, place), by, confidence, config)


def _unreduced(photo: Photo, reduced: Pixels, box: Box) -> Box:
    """A box of the reduced copy in the photo."""
    height, width = photo.pixels.shape[:2]
    return box.scaled(width / reduced.shape[1], height / reduced.shape[0]).inside(width, height)


def _cut(photo: Photo, reduced: Pixels, place: Box, by: str, confidence: float, config: CropConfig | None) -> Exemplar:
    """The exemplar at a place in the photo."""
    height, width = photo.pixels.shape[:2]
    across, down = width / photo.source_size[0], height / photo.source_size[1]
    return Exemplar(
        crop=square_crop(photo.pixels, place, config),
        photo=reduced,
        source_size=photo.source_size,
        box=place.scaled(1 / across, 1 / down),
        cropped_by=by,
        confidence=confidence,
    )


def _find(image: Pixels, croppers: Sequence[Cropper]) -> tuple[Box, str, float]:
    """The box, who found it and how sure that one is."""
    answers: list[tuple[Box, str, float]] = []
    for cropper in croppers:
        box, confidence = cropper.crop_box(image)
        answers.append((box, cropper.name, float(confidence)))
        if confidence >= UNSURE:
            return answers[-1]
    return max(answers, key=lambda answer: answer[2])


def crop_file(exemplar: Exemplar) -> bytes:
    """The crop as PNG."""
    return _encoded(exemplar.crop, "PNG")


def photo_file(exemplar: Exemplar) -> bytes | None:
    """The reduced photo as JPEG."""
    return _encoded(exemplar.photo, "JPEG", quality=88) if exemplar.photo is not None else None


def _reduced(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    scale = min(1.0, PHOTO_SIDE / max(height, width))
    if scale == 1.0:
        return pixels
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0))


def _encoded(pixels: Pixels, form: str, **options: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, form, **options)
    return buffer.getvalue()
