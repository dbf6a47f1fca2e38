"""``wayword objects``: look at, check and weed an object database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from wayword.cli.build_objects import Build
from wayword.cli.common import check_png, console, save_picture, say, say_aside
from wayword.errors import WaywordError

_MOST_LINES = 12  # findings of a kind; the worst come first


@dataclass(frozen=True)
class List:
    """List the objects with their numbers of photos and phrases."""

    db: Path
    """The folder of the database, or dev or test for those that ship."""

    def run(self) -> None:
        """Print a table."""
        from rich.table import Table
        from rich.text import Text

        from wayword.objects import ObjectDatabase
        from wayword.pilot.pilot import database_folder

        database = ObjectDatabase.load(database_folder(self.db))
        table = Table("object", "photos", "phrases", "", title=Text(f"{len(database)} objects in {self.db}"))
        for item in database.objects:
            table.add_row(
                Text(item.name), str(len(item.photos)), str(len(item.phrases)), Text(", ".join(item.phrases[:5]))
            )
        console.print(table, highlight=False)
        _print_notes(database.notes)


@dataclass(frozen=True)
class Show:
    """Show one object: its phrases, its photos and how they were cropped."""

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")]
    """The object."""
    db: Path
    """The folder of the database, or dev or test for those that ship."""

    def run(self) -> None:
        """Print what is known; the path of the preview comes last."""
        from wayword.objects import ObjectDatabase
        from wayword.objects.files import PREVIEW, find_record, read_records
        from wayword.pilot.pilot import database_folder

        folder = database_folder(self.db)
        database = ObjectDatabase.load(folder)
        item = database.find(self.name)
        record = find_record(read_records(folder), item.name)
        if record is None:
            raise WaywordError(f"{self.db}: the object was taken out just now")
        say(item.name)
        for phrase in item.phrases:
            say(f'  "{phrase}"')
        for label, photo in zip(item.labels, item.photos, strict=True):
            known = record.photos.get(label, {})
            size, box = known.get("source_size"), known.get("box")
            source = f", from {size[0]:g} x {size[1]:g}" if size else ""
            place = f", box {' '.join(f'{value:g}' for value in box)}" if box else ""
            by = f" by {known['cropped_by']} {known.get('confidence', 1):.2f}" if "cropped_by" in known else ""
            say(f"  photo {label}: {len(photo)} x {len(photo)}{source}{place}{by}")
        _print_notes(note for note in database.notes if note.startswith(f"{item.name}: "))
        if (record.folder / PREVIEW).is_file():
            say(f"{record.folder / PREVIEW}")


@dataclass(frozen=True)
class CheckObjects:
    """The report before flying: missing views, duplicates, objects that will be taken for each other."""

    db: Path
    """The folder of the database, or dev or test for those that ship."""
    renew: bool = False
    """Accept what was changed by hand and write the manifest anew. Photos that you put into the folders are
    replaced by their crop and a small copy without remarks, as if they had been taught."""
    out: Path = Path("out/objects-check.png")
    """Where the contact sheet goes."""

    def run(self) -> None:
        """Check, print, draw."""
        from wayword.grounding.photo_cropper import photo_croppers
        from wayword.grounding.photo_similarity import photo_kernel
        from wayword.objects import ObjectDatabase, check_objects, renew
        from wayword.objects.similarity import default_similarity
        from wayword.pictures.object_sheets import database_sheet, draw_preview
        from wayword.pilot.pilot import database_folder, refuse_shipped

        check_png(self.out)
        croppers = photo_croppers()
        if self.renew:
            refuse_shipped(self.db)
            for note in renew(self.db, croppers, draw_preview):
                say(note)
        database = ObjectDatabase.load(database_folder(self.db), croppers)
        if not len(database):
            raise WaywordError(f"{self.db}: no objects yet; add one with: wayword teach NAME photo.jpg --db {self.db}")
        _print_notes(database.notes)
        if database.notes:
            say_aside("  accept with: wayword objects check --renew")
        report = check_objects(database, default_similarity(photo_kernel()))
        for kind in dict.fromkeys(finding.kind for finding in report.findings):
            texts = [finding.text for finding in report.findings if finding.kind == kind]
            for text in texts[:_MOST_LINES]:
                say(f"{kind:>13}  {text}")
            if len(texts) > _MOST_LINES:
                say(f"{'':>13}  and {len(texts) - _MOST_LINES} more")
        marked = {name for finding in report.findings for name in finding.objects}
        verdict = f"something to mend about {len(marked)} of them" if marked else "nothing to mend"
        say(f"{len(database)} objects, {verdict} (likeness by {report.similarity})")
        sheet = database_sheet([(item.name, item.photos, item.phrases) for item in database.objects], marked)
        save_picture(sheet, self.out)


@dataclass(frozen=True)
class Remove:
    """Take out an object, or one photo or phrase of it."""

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")]
    """The object."""
    db: Path
    """The folder of the database."""
    photo: str | None = None
    """Only this photo, by the number that ``show`` gives, such as 003."""
    phrase: str | None = None
    """Only this phrase."""

    def run(self) -> None:
        """Take out, say what remains."""
        from wayword.objects import remove
        from wayword.pictures.object_sheets import draw_preview
        from wayword.pilot.pilot import refuse_shipped

        refuse_shipped(self.db)
        left = remove(self.db, self.name, self.photo, self.phrase, draw_preview)
        if left is None:
            say(f"{self.name}: removed")
        else:
            say(f"{left.name}: {len(left.photos)} photos and {len(left.phrases)} phrases left")


@dataclass(frozen=True)
class ObjectsVerb:
    """Look at, check and weed an object database."""

    what: (
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Show, tyro.conf.subcommand("show")]
        | Annotated[CheckObjects, tyro.conf.subcommand("check")]
        | Annotated[Remove, tyro.conf.subcommand("remove")]
        | Annotated[Build, tyro.conf.subcommand("build")]
    )

    def run(self) -> None:
        """Run the chosen one."""
        self.what.run()


def _print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        say_aside(f"changed by hand: {note}")
