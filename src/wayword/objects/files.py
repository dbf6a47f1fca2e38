"""How a database lies on the disk, and how it is read without trusting it.

    DIR/manifest.json           {"schema": 1, "objects": {folder: {file: sha256}}}
    DIR/globe/object.json       {"schema": 1, "name": ..., "phrases": [...], "photos": {"001": {...}}}
    DIR/globe/001.crop.png      the square that the networks see
    DIR/globe/001.photo.jpg     the reduced photo it was cut from
    DIR/globe/preview.png       photos, boxes and crops for people; nothing depends on it
    DIR/globe/any other.jpg     a photo that a person put there, see ``Record.loose``

``object.json`` says what belongs to an object; the manifest only tells whether a person has changed something
since Wayword wrote it. Fields of ``object.json`` that we do not know are kept.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wayword.errors import DataError, WaywordError
from wayword.guarded import listing, parse_json, read_bytes
from wayword.objects.exemplars import Exemplar
from wayword.objects.names import MAX_PHRASES, clean_name, clean_phrase, name_key, phrase_key, short
from wayword.objects.photos import MAX_FILE_BYTES

SCHEMA = 1
MANIFEST, OBJECT, PREVIEW = "manifest.json", "object.json", "preview.png"
MAX_OBJECTS, MAX_PHOTOS = 10_000, 500
_MAX_JSON_BYTES = 16 * 2**20
_OURS = re.compile(r"[0-9]{3,6}\.(crop\.png|photo\.jpg)")
_NUMBERS = re.compile(r"\[\n\s+((?:[-+.eE0-9]+,?\s+)+)\]")  # a list of numbers, which goes on one line
# By its ending a file is meant as a photo; what it is, is judged by its content.
_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".heic", ".heif", ".avif", ".gif", ".bmp", ".tif", ".tiff")

Manifest = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Record:
    """What the folder of one object says.

    Attributes:
        folder: where it lies.
        name: as the person wrote it.
        phrases: as the person wrote them.
        photos: what is known of each photo, by its number; those whose crop is there.
        gone: numbers of photos that are listed but whose crop is not there any more.
        loose: pictures that a person put into the folder.
        orphans: numbered files that are not listed, left by an interrupted command or copied from elsewhere.
        more: fields of object.json that we do not know.
    """

    folder: Path
    name: str
    phrases: tuple[str, ...] = ()
    photos: dict[str, dict[str, Any]] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)

    def next_number(self) -> int:
        """The first number that no photo of this object has or had."""
        used = [*self.photos, *self.gone, *(orphan.split(".")[0] for orphan in self.orphans)]
        return 1 + max((int(number) for number in used), default=0)


def crop_name(number: str) -> str:
    """The file of a crop."""
    return f"{number}.crop.png"


def photo_name(number: str) -> str:
    """The file of a reduced photo."""
    return f"{number}.photo.jpg"


def photo_fields(exemplar: Exemplar) -> dict[str, Any]:
    """What object.json says about a photo."""
    return {
        "source_size": list(exemplar.source_size),
        "box": [round(value) for value in exemplar.box.values],
        "cropped_by": exemplar.cropped_by,
        "confidence": round(exemplar.confidence, 3),
    }


def as_json(value: Any) -> bytes:
    """Indented UTF-8 that a person can edit."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return _NUMBERS.sub(lambda match: "[" + " ".join(match[1].split()) + "]", text).encode()


def record_file(record: Record) -> bytes:
    """The content of ``object.json``."""
    known = {"schema": SCHEMA, "name": record.name, "phrases": list(record.phrases), "photos": record.photos}
    return as_json({**known, **record.more})


def manifest_file(manifest: Manifest) -> bytes:
    """The content of ``manifest.json``."""
    return as_json({"schema": SCHEMA, "objects": {folder: manifest[folder] for folder in sorted(manifest)}})


def photo_digest(data: bytes) -> str:
    """The hash that the manifest keeps of a file."""
    return hashlib.sha256(data).hexdigest()


def read_manifest(root: Path) -> Manifest | None:
    """The hashes; None if a database was made by hand and has no manifest yet."""
    path = root / MANIFEST
    if not path.exists() and not path.is_symlink():
        return None
    objects = _read_json(path, "delete it and run: wayword objects check --renew").get("objects")
    if not isinstance(objects, dict) or not all(
        isinstance(files, dict) and all(isinstance(value, str) for value in files.values())
        for files in objects.values()
    ):
        raise DataError(path, "is not a manifest; delete it and run: wayword objects check --renew")
    return objects


def read_records(root: Path) -> list[Record]:
    """All objects in the order of their folders; one ``DataError`` if something is wrong with any."""
    if not root.is_dir():
        raise DataError(root, "is not a folder; make a database with: wayword teach NAME photo.jpg --db DIR")
    folders = [root / name for name in _entries(root) if not name.startswith(".") and (root / name).is_dir()]
    if len(folders) > MAX_OBJECTS:
        raise DataError(root, f"holds {len(folders)} folders; a database has at most {MAX_OBJECTS} objects")
    _check_names(root, (folder.name for folder in folders))
    records = [read_record(folder) for folder in folders]
    by_name: dict[str, Record] = {}
    for record in records:
        twin = by_name.setdefault(name_key(record.name), record)
        if twin is not record:
            message = f"{twin.folder.name} and {record.folder.name} are both named {short(record.name)}; rename one"
            raise DataError(root, message)
    return records


def find_record(records: Iterable[Record], name: str) -> Record | None:
    """The object of that name, if there is one."""
    key = name_key(name)
    return next((record for record in records if name_key(record.name) == key), None)


def read_record(folder: Path) -> Record:
    """One object; validates everything but the pixels."""
    if folder.is_symlink():
        raise DataError(folder, "is a link; put the folder itself there")
    path = folder / OBJECT
    if not path.exists() and not path.is_symlink():
        raise DataError(folder, 'has no object.json; write one with {"name": "...", "phrases": ["..."]}')
    values = _read_json(path, "mend it, or remove the folder and teach the object again")
    known = {key: values.pop(key, None) for key in ("schema", "name", "phrases", "photos")}
    try:
        name = clean_name(known["name"])
        phrases = clean_phrases(known["phrases"])
    except WaywordError as error:
        raise DataError(path, str(error)) from error
    photos = _checked_photos(path, known["photos"])
    present = _entries(folder)
    gone = tuple(number for number in photos if crop_name(number) not in present)
    there = {number: info for number, info in photos.items() if number not in gone}
    numbered = [file for file in present if _OURS.fullmatch(file)]
    listed = {name(number) for number in there for name in (crop_name, photo_name)}
    others = (file for file in present if file not in numbered and file != PREVIEW and not file.startswith("."))
    loose = tuple(file for file in others if file.lower().endswith(_PICTURES))
    _check_names(folder, loose)
    if len(photos) + len(loose) > MAX_PHOTOS:
        raise DataError(folder, f"holds more than {MAX_PHOTOS} photos; take some out")
    orphans = tuple(file for file in numbered if file not in listed)
    return Record(folder, name, phrases, there, gone, loose, orphans, values)


def clean_phrases(values: Any) -> tuple[str, ...]:
    """Valid, tidy phrases without repetitions; None counts as none."""
    if values is None:
        return ()
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise WaywordError('"phrases" must be a list of texts')
    if len(values) > MAX_PHRASES:
        raise WaywordError(f"{len(values)} phrases are too many; give at most {MAX_PHRASES}")
    tidy = [clean_phrase(value) for value in values]
    return tuple({phrase_key(phrase): phrase for phrase in reversed(tidy)}.values())[::-1]


def tracked_files(record: Record) -> list[str]:
    """The files of an object that the manifest keeps hashes of."""
    numbered = [name(number) for number in record.photos for name in (crop_name, photo_name)]
    folder = str(record.folder)
    return [OBJECT, *(file for file in numbered if os.path.isfile(os.path.join(folder, file))), *record.loose]


def hashes(record: Record) -> dict[str, str]:
    """What the manifest would say about an object as it is now."""
    folder = str(record.folder)
    return {
        file: photo_digest(read_bytes(os.path.join(folder, file), MAX_FILE_BYTES, follow_links=False))
        for file in tracked_files(record)
    }


def _checked_photos(path: Path, photos: Any) -> dict[str, dict[str, Any]]:
    if photos is None:
        return {}
    if not isinstance(photos, dict):
        raise DataError(path, '"photos" must be {"001": {...}, ...}')
    for number, info in photos.items():
        if not re.fullmatch(r"[0-9]{3,6}", number) or not isinstance(info, dict):
            raise DataError(path, f'"photos" holds {short(number)}; a photo is listed as "001": {{...}}')
        for key, length in (("source_size", 2), ("box", 4)):
            if key in info and not (
                isinstance(info[key], list) and len(info[key]) == length and all(map(_is_number, info[key]))
            ):
                raise DataError(path, f'photo {number}: "{key}" must be a list of {length} numbers')
        if not _is_number(info.get("confidence", 1)) or not str(info.get("cropped_by", "")).isprintable():
            raise DataError(path, f'photo {number}: "confidence" must be a number and "cropped_by" a word')
    return dict(sorted(photos.items()))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _read_json(path: Path, remedy: str) -> dict[str, Any]:
    data = read_bytes(path, _MAX_JSON_BYTES, follow_links=False)
    try:
        values = parse_json(data.decode("utf-8-sig"))  # some editors put a mark before the text
        json.dumps(values, ensure_ascii=False, allow_nan=False).encode()  # what cannot be written back is refused now
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise DataError(path, f"is not valid JSON in UTF-8; {remedy}", line) from error
    if not isinstance(values, dict):
        raise DataError(path, f"must hold {{...}}; {remedy}")
    schema = values.get("schema", SCHEMA)
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise DataError(path, f'"schema" must be {SCHEMA}')
    if schema > SCHEMA:
        raise DataError(path, f"was written by a newer wayword (schema {schema}); update wayword")
    return values


def _entries(folder: Path) -> list[str]:
    return listing(folder)


def _check_names(folder: Path, names: Iterable[str]) -> None:
    """Names appear in messages, so control characters would reach the screen; odd spaces may stay."""
    for name in names:
        if not all(character.isprintable() or unicodedata.category(character) == "Zs" for character in name):
            raise DataError(folder, f"holds {short(name)}, a name that cannot be printed; rename it")
