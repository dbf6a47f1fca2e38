"""The object database O in memory: what grounding and training ask of it.

    o        an object: a name, exemplars Q_1 ... Q_q, phrases W_1 ... W_w
    crops    (q, s, s, 3) uint8, the exemplars of one object at one size; the networks use s = 32

``ObjectDatabase.load`` reads a folder (see ``wayword.objects.files``). Whatever a person changed in it since
Wayword wrote it is validated like everything else and accepted; ``notes`` says what that was. Pixels stay on the disk
until they are asked for (``stored_photos``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image

from wayword.errors import DataError, WaywordError
from wayword.language.phrases_db import ObjectPhrases, PhraseList
from wayword.objects import files
from wayword.objects.cropping import Cropper, Pixels
from wayword.objects.exemplars import view_photo
from wayword.objects.files import MANIFEST, Manifest, Record
from wayword.objects.lock import LOCK, locked
from wayword.objects.names import name_key, short
from wayword.objects.stored_photos import StoredPhoto, StoredPhotos

Result = TypeVar("Result")
_NAMED = 12
"""Objects that are named when another one is not there."""


@dataclass(frozen=True, eq=False)
class TaughtObject:
    """One object.

    Attributes:
        name: what the person called it.
        photos: square uint8 crops (S, S, 3), each of its own size.
        phrases: what people say for it.
        labels: the number or file of each photo in the folder, if it comes from one.
    """

    name: str
    photos: Sequence[Pixels] = ()
    phrases: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ObjectDatabase:
    """The objects that can be referred to.

    Attributes:
        objects: in the order of their folders.
        notes: what was changed by hand since the manifest was written, one line each.
        path: where it was read from, if this is all of it.
    """

    objects: tuple[TaughtObject, ...]
    notes: tuple[str, ...] = ()
    path: Path | None = None
    _resized: dict[int, dict[str, Pixels]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        keys = [name_key(item.name) for item in self.objects]
        if len(set(keys)) < len(keys):
            twice = next(item.name for item, key in zip(self.objects, keys, strict=True) if keys.count(key) > 1)
            raise WaywordError(f"the object {short(twice)} stands in the database twice; rename one")

    @classmethod
    def load(cls, path: Path | str, croppers: Sequence[Cropper] = ()) -> ObjectDatabase:
        """Read a database; ``croppers`` are for photos that a person put into it by hand."""
        root = Path(path)
        objects, notes = _undisturbed(root, lambda: _read(root, croppers))
        return cls(objects, notes, root)

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def names(self) -> tuple[str, ...]:
        """In the order of ``objects``."""
        return tuple(item.name for item in self.objects)

    def find(self, name: str) -> TaughtObject:
        """The object of that name; upper and lower case are the same."""
        item = self._by_key.get(name_key(name))
        if item is None:
            some = ", ".join(map(short, self.names[:_NAMED])) or "none"
            more = f" and {len(self) - _NAMED} more" if len(self) > _NAMED else ""
            raise WaywordError(f"the database has no object {short(name)}; it has {some}{more}")
        return item

    @cached_property
    def _by_key(self) -> dict[str, TaughtObject]:
        return {name_key(item.name): item for item in self.objects}

    @cached_property
    def phrase_list(self) -> PhraseList:
        """What people say for each object, as language asks for it; an object without phrases is called by its name."""
        entries = (ObjectPhrases(item.name, tuple(item.phrases) or (item.name,)) for item in self.objects)
        return PhraseList(entries, self.path)

    def phrases(self) -> dict[str, tuple[str, ...]]:
        """The phrases of each object that has any."""
        return {item.name: item.phrases for item in self.objects if item.phrases}

    def crops(self, size: int = 32) -> dict[str, Pixels]:
        """(q, size, size, 3) for each object, also those without photos; computed once per size, not to be changed."""
        if size < 1:
            raise WaywordError(f"crops of {size} pixels cannot be made")
        if size not in self._resized:
            self._resized[size] = {item.name: _batch(item.photos, size) for item in self.objects}
        return self._resized[size]

    def subset(self, names: Iterable[str]) -> ObjectDatabase:
        """A database of these objects only, in the order of ``names``."""
        objects = tuple(self.find(name) for name in names)
        resized = {size: {item.name: known[item.name] for item in objects} for size, known in self._resized.items()}
        return ObjectDatabase(objects, _resized=resized)

    def sample(self, rng: np.random.Generator, images: int = 5, phrases: int = 5) -> ObjectDatabase:
        """Random images and phrases of each object, without repetition; all of them where there are fewer.

        Sizes that ``crops`` has been asked for before are not computed again.
        """
        objects, resized = [], {size: dict[str, Pixels]() for size in self._resized}
        for item in self.objects:
            photo_numbers = np.sort(rng.permutation(len(item.photos))[:images])
            phrase_numbers = np.sort(rng.permutation(len(item.phrases))[:phrases])
            photos: Sequence[Pixels] = (
                item.photos.only(photo_numbers)
                if isinstance(item.photos, StoredPhotos)
                else tuple(item.photos[i] for i in photo_numbers)
            )
            labels = tuple(item.labels[i] for i in photo_numbers) if item.labels else ()
            objects.append(TaughtObject(item.name, photos, tuple(item.phrases[i] for i in phrase_numbers), labels))
            for size, known in self._resized.items():
                resized[size][item.name] = _frozen(known[item.name][photo_numbers])
        return ObjectDatabase(tuple(objects), _resized=resized)


def _read(root: Path, croppers: Sequence[Cropper]) -> tuple[tuple[TaughtObject, ...], tuple[str, ...]]:
    records, manifest = files.read_records(root), files.read_manifest(root)
    digests = [files.hashes(record) for record in records]
    objects = tuple(
        _object(record, own, (manifest or {}).get(record.folder.name, {}), croppers)
        for record, own in zip(records, digests, strict=True)
    )
    return objects, tuple(differences(records, manifest, digests))


def _object(
    record: Record, digests: Mapping[str, str], known: Mapping[str, str], croppers: Sequence[Cropper]
) -> TaughtObject:
    """The object of a record; ``digests`` are those of its files, ``known`` what the manifest says they are."""
    photos: dict[str, StoredPhoto | Pixels] = {}
    for number in record.photos:
        file = files.crop_name(number)
        photo = StoredPhoto(record.folder / file, bytes.fromhex(digests[file]))
        if known.get(file) != digests[file]:  # Wayword did not write it: look at it now
            photo.pixels()
        photos[number] = photo
    for file in record.loose:
        crop = view_photo(record.folder / file, None, croppers, follow_links=False).crop
        if not any(np.array_equal(crop, same) for same in StoredPhotos(tuple(photos.values()))):
            photos[file] = _frozen(crop)  # else it was taken in, but not cleared
    return TaughtObject(record.name, StoredPhotos(tuple(photos.values())), record.phrases, tuple(photos))


def differences(
    records: Sequence[Record], manifest: Manifest | None, digests: Sequence[Mapping[str, str]]
) -> list[str]:
    """What is not as the manifest says, in words; ``digests`` are those of each record's files."""
    if manifest is None:
        return [f"there is no {MANIFEST} yet"] if records else []
    notes = []
    here = {record.folder.name for record in records}
    notes += [f"the folder {short(folder)} is gone" for folder in sorted(set(manifest) - here)]
    for record, now in zip(records, digests, strict=True):
        if record.orphans:
            notes.append(f"{record.name}: not listed in object.json and not used: {', '.join(record.orphans)}")
        if record.folder.name not in manifest:
            notes.append(f"{record.name}: the folder is new")
            continue
        known = manifest[record.folder.name]
        changed = sorted(file for file in known.keys() & now.keys() if known[file] != now[file])
        for what, names in (
            ("changed", changed),
            ("new", sorted(now.keys() - known.keys())),
            ("gone", sorted(known.keys() - now.keys())),
        ):
            if names:
                notes.append(f"{record.name}: {what}: {', '.join(map(short, names))}")
    return notes


def _undisturbed(root: Path, read: Callable[[], tuple[Result, tuple[str, ...]]]) -> tuple[Result, tuple[str, ...]]:
    """Read without the lock; if anything is odd, somebody may be writing, so read again under the lock."""
    lock = root / LOCK  # its absence means that nobody has ever written here
    try:
        result, notes = read()
        if not notes or not lock.is_file():
            return result, notes
    except DataError:
        if not lock.is_file():
            raise
    try:
        with locked(root):
            return read()
    except DataError:
        raise
    except WaywordError:  # a place that may only be read, so nobody writes; or a very long write
        return read()


def _batch(photos: Sequence[Pixels], size: int) -> Pixels:
    batch = np.empty((len(photos), size, size, 3), np.uint8)
    for row, photo in enumerate(photos):
        batch[row] = reduced_photo(photo, size)
    return _frozen(batch)


def reduced_photo(photo: Pixels, size: int) -> Pixels:
    """A square photo with ``size`` pixels on a side."""
    return np.asarray(Image.fromarray(photo).resize((size, size), Image.Resampling.BILINEAR))


def _frozen(pixels: Pixels) -> Pixels:
    pixels.setflags(write=False)
    return pixels
