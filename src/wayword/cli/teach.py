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
        from wayword.objects import Box, need_photo, teach, view_photos
        from wayword.objects.exemplars import UNSURE
        from wayword.objects.names import clean_name, clean_phrase
        from wayword.pictures.object_sheets import draw_preview
        from wayword.pilot.pilot import refuse_shipped

        refuse_shipped(self.db)
        clean_name(self.name)  # what is wrong with the words is said before photos are read
        for phrase in self.phrase:
            clean_phrase(phrase)
        if self.box and len(self.box) != len(self.photos):
            count = "is one box" if len(self.box) == 1 else f"are {len(self.box)} boxes"
            raise WaywordError(f"there {count} for {len(self.photos)} photos; give --box once for each photo, in order")
        boxes = [Box(*edges) for edges in self.box]
        if not self.photos and not self.phrase:
            raise WaywordError(f"nothing to teach about {self.name}; give at least one photo")
        if not self.photos:
            need_photo(self.db, self.name, ())
        exemplars = view_photos(self.photos, photo_croppers()[0], boxes)
        taught = teach(self.db, self.name, exemplars, self.phrase, draw_preview)
        record = taught.record
        for path, exemplar in zip(self.photos, exemplars, strict=True):
            edges = " ".join(f"{value:.0f}" for value in exemplar.box.values)
            how = "as you said" if exemplar.cropped_by == "box" else f"confidence {exemplar.confidence:.2f}"
            say(f"{path}: cut out {edges}, {how}{'' if exemplar.confidence >= UNSURE else ': not sure'}")
        doubtful = sum(exemplar.confidence < UNSURE for exemplar in exemplars)
        if doubtful:
            which = "one crop" if doubtful == 1 else f"{doubtful} of the crops"
            say(f"please look at the preview: {which} may show something else; if so, remove it and use --box")
        known = len(exemplars) - len(taught.photos)
        if known:
            say(f"{known} of the photos {'was' if known == 1 else 'were'} there already")
        photos = f"photos +{len(taught.photos)}, {len(record.photos)} in all"
        phrases = f"phrases +{len(taught.phrases)}, {len(record.phrases)} in all"
        say(f"{record.name}{' (new)' if taught.new else ''}: {photos}; {phrases}")
        if taught.preview is not None:
            say(f"{taught.preview}")
