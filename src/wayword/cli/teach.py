"""``wayword teach``: show it photos of a new object and say what people call it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from wayword.cli.common import say
from wayword.errors import WaywordError

Edges = tuple[float, float, float, float]


@dataclass(frozen=True)
class Teach:
    """Teach it an object: photos (JPEG, PNG, WebP) and phrases that name it. Takes seconds, trains nothing.

    Teaching an object that is already there adds to it. Only a crop and a small copy of each photo are kept,
    without place, time or any other remark.
    """

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")]
    """What the object is called in the database."""
    db: Path
    """The folder of the database; it is made if it is not there."""
    photos: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="[PHOTO ...]")] = ()
    """Photos of it, about five, from different sides; the object may be anywhere in them."""
    phrase: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="TEXT")] = ()
    """What people say for it, such as "the globe"; once for each phrase."""
    box: Annotated[tyro.conf.UseAppendAction[tuple[Edges, ...]], tyro.conf.arg(metavar="X0 Y0 X1 Y1")] = ()
    """Where the object is, in pixels of the upright photo, if it is not found by itself; once for each photo."""

    def run(self) -> None:
        """Read the photos, find the object in each, store, say where the preview is."""
        from wayword.grounding.photo_cropper import photo_croppers
        from wayword.objects import Box, SaliencyCropper, teach, view_photo
        from wayword.objects.exemplars import UNSURE
        from wayword.objects.names import clean_name, clean_phrase

        clean_name(self.name)  # what is wrong with the words is said before photos are read
        for phrase in self.phrase:
            clean_phrase(phrase)
        if self.box and len(self.box) != len(self.photos):
            count = "is one box" if len(self.box) == 1 else f"are {len(self.box)} boxes"
            raise WaywordError(f"there {count} for {len(self.photos)} photos; give --box once for each photo, in order")
        boxes = [Box(*edges) for edges in self.box]
        croppers = photo_croppers()
        exemplars = [view_photo(path, boxes[i] if boxes else None, croppers) for i, path in enumerate(self.photos)]
        taught = teach(self.db, self.name, exemplars, self.phrase)
        record = taught.record
        for path, exemplar in zip(self.photos, exemplars, strict=True):
            edges = " ".join(f"{value:.0f}" for value in exemplar.box.values)
            say(f"{path}: cut out {edges} by {exemplar.cropped_by}, confidence {exemplar.confidence:.2f}")
            if exemplar.cropped_by == SaliencyCropper.name:
                say("  the proposal network was not sure of any object, so the one that stands out most was taken")
            if exemplar.confidence < UNSURE:
                say("  not sure about this one: look at the preview; if it is wrong, remove it and use --box")
        known = len(exemplars) - len(taught.photos)
        if known:
            say(f"{known} of the photos {'was' if known == 1 else 'were'} there already")
        photos = f"photos +{len(taught.photos)}, {len(record.photos)} in all"
        phrases = f"phrases +{len(taught.phrases)}, {len(record.phrases)} in all"
        say(f"{record.name}{' (new)' if taught.new else ''}: {photos}; {phrases}")
        if taught.preview is not None:
            say(f"{taught.preview}")
