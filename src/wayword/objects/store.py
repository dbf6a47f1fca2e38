"""Changing a database: ``teach``, ``remove`` and ``renew``.

Every change is first written in full to ``.work`` inside the database and then moved into place, under the lock,
in an order that leaves a valid database behind whatever the moment at which the process dies:

    a new object        its complete folder appears by one rename, then the manifest is replaced
    one more photo      crop and photo get numbers that nothing refers to yet; replacing object.json makes them
                        part of the object; then the manifest is replaced
    taking out          object.json, or the folder, goes first; then the manifest; the files last

The preview of an object is a picture for people, drawn by whom the caller names and moved into place with the rest;
one that is not drawn anew is taken away, because it would show what was.

So a reader never waits and never sees half a change. What an interrupted command leaves in ``.work`` is thrown
away by the next writer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wayword.errors import DataError, WaywordError
from wayword.guarded import read_bytes
from wayword.objects import files
from wayword.objects.cropping import Cropper
from wayword.objects.exemplars import Exemplar, crop_file, photo_file, view_photo
from wayword.objects.files import MAX_OBJECTS, MAX_PHOTOS, OBJECT, PREVIEW, Record
from wayword.objects.names import MAX_PHRASES, clean_name, phrase_key, short, slug
from wayword.objects.photos import MAX_FILE_BYTES
from wayword.objects.write_session import WORK, begin_session

DrawPreview = Callable[[Record, Mapping[str, bytes]], bytes | None]
"""PNG of an object's photos and crops, None without any; files that are not written yet are in the mapping."""


@dataclass(frozen=True)
class TeachingResult:
    """What ``teach`` did.

    Attributes:
        record: the object as it is now.
        new: whether it was not there before.
        photos: numbers of the photos that were added.
        phrases: the phrases that were added.
        preview: the picture with the crops; None if the object has no photos.
    """

    record: Record
    new: bool
    photos: tuple[str, ...]
    phrases: tuple[str, ...]
    preview: Path | None


def teach(
    root: Path | str,
    name: str,
    exemplars: Sequence[Exemplar] = (),
    phrases: Sequence[str] = (),
    draw_preview: DrawPreview | None = None,
) -> TeachingResult:
    """Add views and phrases to the object ``name``, which is made if it is not there, as is the database.

    A photo or phrase that the object already has is not added twice.
    """
    root, name, phrases = Path(root), clean_name(name), files.clean_phrases(tuple(phrases))
    if not exemplars and not phrases:
        raise WaywordError(f"nothing to teach about {short(name)}; give at least one photo or one --phrase")
    _prepare(root)
    with begin_session(root) as session:
        records, manifest = files.read_records(root), files.read_manifest(root) or {}
        old_record = files.find_record(records, name)
        if old_record is None and len(records) >= MAX_OBJECTS:
            raise DataError(root, f"is full: a database has at most {MAX_OBJECTS} objects")
        record = old_record or Record(root / slug(name), name)
        if old_record is None and (record.folder.exists() or record.folder.is_symlink()):
            raise DataError(record.folder, f"is in the way of the object {short(name)}; move it")
        added_files, record, numbers = _with_views(record, exemplars)
        known = {phrase_key(phrase) for phrase in record.phrases}
        added = tuple(phrase for phrase in phrases if phrase_key(phrase) not in known)
        record = replace(record, phrases=record.phrases + added)
        if len(record.phrases) > MAX_PHRASES:
            raise WaywordError(f"{short(record.name)} would have more than {MAX_PHRASES} phrases; take some out first")
        added_files[OBJECT] = files.record_file(record)
        preview = _preview(record, added_files, draw_preview)
        if old_record is None:
            session.write_folder(record.folder, {**added_files, **preview})
        else:
            for file, data in {**added_files, **preview}.items():  # object.json comes after the photos it lists
                session.write(record.folder / file, data)
        entry = {file: files.photo_digest(data) for file, data in added_files.items()}
        key = record.folder.name
        session.write_manifest({**manifest, key: {**(manifest.get(key, {}) if old_record else {}), **entry}})
        session.commit()
        _drop_old_preview(record, preview)
    return TeachingResult(record, old_record is None, numbers, added, record.folder / PREVIEW if preview else None)


def need_photo(root: Path | str, name: str, exemplars: Sequence[Exemplar]) -> None:
    """Refuse words about something that nobody has shown: it could never be found in a picture.

    ``teach`` itself takes them, for whoever brings the photos later.
    """
    name = clean_name(name)
    if exemplars:
        return
    record = files.find_record(files.read_records(Path(root)), name) if Path(root).is_dir() else None
    if record is None or not (record.photos or record.loose):
        raise WaywordError(f"{short(name)} has no photo, and words alone do not show it; give at least one photo")


def remove(
    root: Path | str,
    name: str,
    photo: str | None = None,
    phrase: str | None = None,
    draw_preview: DrawPreview | None = None,
) -> Record | None:
    """Take out one photo, one phrase, or, if neither is given, the whole object; returns what remains of it."""
    root = Path(root)
    _check_database(root)
    with begin_session(root) as session:
        records, manifest = files.read_records(root), files.read_manifest(root) or {}
        record = _known(root, records, name)
        key = record.folder.name
        if photo is None and phrase is None:
            os.rename(record.folder, root / WORK / "removed")
            session.write_manifest({folder: entry for folder, entry in manifest.items() if folder != key})
            session.commit()
            return None
        photos, phrases = dict(record.photos), record.phrases
        if photo is not None and photos.pop(photo, None) is None:
            raise WaywordError(f"{short(record.name)} has no photo {short(photo)}; it has {_listed(record.photos)}")
        if phrase is not None:
            phrases = tuple(known for known in phrases if phrase_key(known) != phrase_key(phrase))
            if phrases == record.phrases:
                raise WaywordError(f"{short(record.name)} has no phrase {short(phrase)}; it has {_listed(phrases)}")
        if not (photos or phrases or record.loose):
            raise WaywordError(f"nothing would remain of {short(record.name)}; remove the whole object instead")
        record = replace(record, photos=photos, phrases=phrases)
        data = files.record_file(record)
        session.write(record.folder / OBJECT, data)
        preview = _preview(record, {}, draw_preview)
        for file, picture in preview.items():
            session.write(record.folder / file, picture)
        dropped = (files.crop_name(photo), files.photo_name(photo)) if photo is not None else ()
        entry = {file: value for file, value in manifest.get(key, {}).items() if file not in dropped}
        session.write_manifest({**manifest, key: {**entry, OBJECT: files.photo_digest(data)}})
        session.commit()
        _drop_old_preview(record, preview)
        for file in dropped:
            (record.folder / file).unlink(missing_ok=True)
    return record


def renew(
    root: Path | str, croppers: Sequence[Cropper] = (), draw_preview: DrawPreview | None = None
) -> tuple[str, ...]:
    """Accept what a person changed by hand and write the manifest anew; says what was taken in or cleared away.

    Photos that were put into a folder are replaced by crop and reduced copy, as if they had been taught.
    """
    root = Path(root)
    _check_database(root)
    notes: list[str] = []
    with begin_session(root) as session:
        # Everything that can be refused is looked at before anything is changed.
        plans = []
        for record in files.read_records(root):
            views = [view_photo(record.folder / file, None, croppers, follow_links=False) for file in record.loose]
            added, updated, numbers = _with_views(record, views)
            if added or record.gone:
                added[OBJECT] = files.record_file(updated)
                added.update(_preview(updated, added, draw_preview))
            plans.append((record, added, numbers))
        for record, added, numbers in plans:
            for file, data in added.items():
                session.write(record.folder / file, data)
            if numbers:
                notes.append(f"{record.name}: took in {_listed(record.loose)} as photo {', '.join(numbers)}")
            if record.gone:
                notes.append(f"{record.name}: photo {', '.join(record.gone)} is gone and no longer listed")
            if record.orphans:
                notes.append(f"{record.name}: cleared away {_listed(record.orphans)}, which nothing referred to")
        session.commit()
        for record, added, _ in plans:
            if added:
                _drop_old_preview(record, added)
            for file in (*record.loose, *record.orphans):
                (record.folder / file).unlink(missing_ok=True)
        session.write_manifest({record.folder.name: files.hashes(record) for record in files.read_records(root)})
        session.commit()
    return tuple(notes)


def _with_views(record: Record, exemplars: Sequence[Exemplar]) -> tuple[dict[str, bytes], Record, tuple[str, ...]]:
    """The files for new views, the record that lists them, and their numbers; known crops are left out."""
    if len(record.photos) + len(exemplars) > MAX_PHOTOS:
        raise WaywordError(f"{short(record.name)} would have more than {MAX_PHOTOS} photos; take some out first")
    crops = (record.folder / files.crop_name(number) for number in record.photos)
    known = {files.photo_digest(read_bytes(path, MAX_FILE_BYTES, follow_links=False)) for path in crops}
    added: dict[str, bytes] = {}
    photos = dict(record.photos)
    number, numbers = record.next_number(), []
    for exemplar in exemplars:
        crop, photo = crop_file(exemplar), photo_file(exemplar)
        if files.photo_digest(crop) in known:
            continue
        known.add(files.photo_digest(crop))
        label = f"{number:03d}"
        added[files.crop_name(label)] = crop
        if photo is not None:
            added[files.photo_name(label)] = photo
        photos[label] = files.photo_fields(exemplar)
        numbers.append(label)
        number += 1
    return added, replace(record, photos=photos, gone=(), loose=(), orphans=()), tuple(numbers)


def _preview(record: Record, added: Mapping[str, bytes], draw: DrawPreview | None) -> dict[str, bytes]:
    picture = None if draw is None else draw(record, added)
    return {PREVIEW: picture} if picture is not None else {}


def _drop_old_preview(record: Record, written: Mapping[str, bytes]) -> None:
    if PREVIEW not in written:
        (record.folder / PREVIEW).unlink(missing_ok=True)


def _prepare(root: Path) -> None:
    """Make the folder of a new database; refuse a folder that is full of other things."""
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WaywordError(f"{root}: cannot be made ({error.strerror}); name another place for --db") from error
    _check_database(root)


def _check_database(root: Path) -> None:
    if not root.is_dir():
        raise DataError(root, "is not a folder; make a database with: wayword teach NAME photo.jpg --db DIR")
    if (root / files.MANIFEST).exists() or any(root.glob(f"*/{OBJECT}")):
        return
    if any(not entry.name.startswith(".") for entry in root.iterdir()):
        raise DataError(root, "holds other things and no object database; name a new or empty folder for --db")


def _known(root: Path, records: Sequence[Record], name: str) -> Record:
    record = files.find_record(records, clean_name(name))
    if record is None:
        raise DataError(root, f"has no object {short(name)}; it has {_listed([r.name for r in records])}")
    return record


def _listed(values: Collection[str]) -> str:
    """The first few, in quotes."""
    quotes = [short(value) for value in list(values)[:6]]
    more = f" and {len(values) - 6} more" if len(values) > 6 else ""
    return (", ".join(quotes) or "none") + more
