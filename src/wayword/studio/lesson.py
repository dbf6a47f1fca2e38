"""Teaching in the page: photos that were uploaded, what they show, what that could be taken for, and saving it.

Nothing is written before ``save``: a photo that cannot be used leaves the database as it was. An uploaded name is
for messages only; no file is ever named after it.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
from PIL import Image

from wayword.errors import DataError, WaywordError
from wayword.objects import Exemplar, ObjectDatabase, TaughtObject, files, need_photo, teach
from wayword.objects.cropping import Box
from wayword.objects.exemplars import UNSURE, crop_file, photo_file, view
from wayword.objects.names import clean_name, clean_phrase, name_key
from wayword.objects.photos import MAX_FILE_BYTES, Photo, decode_photo
from wayword.pictures.object_sheets import draw_preview
from wayword.studio.workshop import Workshop, merged

MOST_PHOTOS = 20
"""That wait to be saved."""
_LIKELY = 0.05
"""Confusions below this probability are not worth a line."""


class Lesson:
    """One visitor's object that is not saved yet."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.exemplars: list[Exemplar] = []

    def add(self, filename: str, content: bytes) -> str:
        """Take a photo; says what was found in it. A photo that cannot be used raises and changes nothing."""
        name = shown_name(filename)
        if len(self.exemplars) >= MOST_PHOTOS:
            raise WaywordError(f"{MOST_PHOTOS} photos are waiting already; save them first")
        check_size(name, len(content))
        if not content:
            raise DataError(name, "is empty")
        try:
            exemplar = view(decode_photo(content, name), None, self.workshop.croppers)
        except DataError:
            raise
        except WaywordError as error:
            raise DataError(name, str(error)) from error
        self.exemplars.append(exemplar)
        sure = f"confidence {exemplar.confidence:.2f}"
        if exemplar.confidence < UNSURE:
            return f"{name}: cut out by {exemplar.cropped_by}, {sure}; look at the crop, it may be wrong"
        return f"{name}: cut out by {exemplar.cropped_by}, {sure}"

    def recrop(self, number: int, shares: tuple[float, float, float, float]) -> None:
        """Cut a waiting photo out anew: left, upper, right and lower edge as shares of the photo."""
        if not 0 <= number < len(self.exemplars):
            raise WaywordError("that photo is not here any more")
        exemplar = self.exemplars[number]
        if exemplar.photo is None:
            raise WaywordError("only the crop of that photo was kept")
        width, height = exemplar.source_size
        left, top, right, bottom = (min(max(share, 0.0), 1.0) for share in shares)
        box = Box(left * width, top * height, right * width, bottom * height)
        self.exemplars[number] = view(Photo(exemplar.photo, exemplar.source_size), box)

    def shares(self, number: int) -> tuple[float, float, float, float]:
        """Where the object is in a waiting photo, as ``recrop`` takes it."""
        exemplar = self.exemplars[number]
        (width, height), (x0, y0, x1, y1) = exemplar.source_size, exemplar.box.values
        return x0 / width, y0 / height, x1 / width, y1 / height

    def forget(self) -> None:
        """Throw the waiting photos away."""
        self.exemplars = []

    def preview(self) -> np.ndarray | None:
        """Each waiting photo with the box around the object, and its crop; None without photos."""
        fresh: dict[str, bytes] = {}
        photos = {}
        for number, exemplar in enumerate(self.exemplars, start=1):
            label = f"{number:03d}"
            fresh[files.crop_name(label)] = crop_file(exemplar)
            if (photo := photo_file(exemplar)) is not None:
                fresh[files.photo_name(label)] = photo
            photos[label] = files.photo_fields(exemplar)
        picture = draw_preview(files.Record(Path("waiting"), "waiting", photos=photos), fresh)
        return None if picture is None else np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))

    def confusions(self, name: str, phrases: str, known: ObjectDatabase) -> list[str]:
        """Which known objects it could be taken for, the worst first, in words."""
        item = TaughtObject(clean_name(name), tuple(e.crop for e in self.exemplars), split_phrases(phrases))
        if not item.photos and not item.phrases:
            raise WaywordError("give at least one photo or one phrase")
        others = tuple(other for other in known.objects if name_key(other.name) != name_key(item.name))
        report = self.workshop.compare(merged(ObjectDatabase((item,)), ObjectDatabase(others)))
        lines = []
        for what, chances in (("looks like", report.image_confusion), ("is called like", report.phrase_confusion)):
            both = np.maximum(chances[0], chances[:, 0])
            for k in np.argsort(-both).tolist():
                if k != 0 and both[k] >= _LIKELY:
                    lines.append((float(both[k]), f"{what} the {report.names[k]}: taken for it with {both[k]:.2f}"))
        lines.sort(key=lambda line: -line[0])
        return [text for _, text in lines[:6]] or ["nothing known looks or is called like it"]

    def save(self, name: str, phrases: str) -> str:
        """Store the waiting photos and the phrases; returns the object's name."""
        need_photo(self.workshop.folder, name, self.exemplars)
        taught = teach(self.workshop.folder, name, self.exemplars, split_phrases(phrases), draw_preview)
        self.forget()
        return taught.record.name


def split_phrases(text: str) -> tuple[str, ...]:
    """Phrases, one on a line or between commas."""
    return tuple(clean_phrase(part) for part in re.split(r"[\n,;]", text) if part.strip())


def check_size(name: str, size: int) -> None:
    """Refuse a photo that is too large, before anything reads it."""
    if size > MAX_FILE_BYTES:
        raise DataError(name, f"has {size / 2**20:.0f} MB; at most {MAX_FILE_BYTES / 2**20:g} MB are taken")


def shown_name(filename: str) -> str:
    """The last part of an uploaded file's name, printable and short."""
    last = re.split(r"[/\\]", filename)[-1]
    plain = "".join(character if character.isprintable() else "?" for character in last).strip(". ")
    return (plain if len(plain) <= 60 else f"{plain[:57]}...") or "the photo"
