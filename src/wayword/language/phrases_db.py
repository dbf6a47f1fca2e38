"""The language half of an object database: every object's name and the phrases people use for it.

Three ways to write one down, all read by ``load_phrases``:

- a JSON file {name: [phrases]};
- a folder with one sub-folder per object, each with an ``object.json`` {"name": ..., "phrases": [...]};
- the word ``seen``, ``dev``, ``test`` or ``all`` for the objects of Wayword's own world, five phrases each,
  written from the objects' looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json
from wayword.language.encoder import check_text

SHIPPED = Path(__file__).parent / "databases"
SPLITS = ("seen", "dev", "test")
MAX_OBJECTS = 10_000
MAX_PHRASE = 200
"""Characters; a phrase names a thing, it is not a story."""


@dataclass(frozen=True)
class ObjectPhrases:
    """One object of a database, as language sees it."""

    name: str
    phrases: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise WaywordError("an object has no name")
        if not self.phrases:
            raise WaywordError(f"object '{self.name}' has no phrases; give at least one")
        for phrase in self.phrases:
            check_text(phrase)
            if not any(character.isalnum() for character in phrase) or len(phrase) > MAX_PHRASE:
                raise WaywordError(
                    f"object '{self.name}': the phrase {phrase[:30]!r} must hold a letter or digit "
                    f"and at most {MAX_PHRASE} characters"
                )


Database = Sequence[ObjectPhrases]


class PhraseList(tuple[ObjectPhrases, ...]):
    """A database that is looked up quickly: thousands of phrases are hashed once, not at every sentence."""

    folder: Path | None
    """Where it lies on the disk; its vectors can be cached there."""

    def __new__(cls, entries: Iterable[ObjectPhrases] = (), folder: Path | None = None) -> PhraseList:
        """The entries, which lie in ``folder``."""
        phrases = super().__new__(cls, entries)
        phrases.folder = folder
        phrases._hash = tuple.__hash__(phrases)
        return phrases

    @classmethod
    def of(cls, database: Database) -> PhraseList:
        """A database as it is, if it is one already, or made of any other sequence."""
        return database if isinstance(database, cls) else cls(database)

    def __hash__(self) -> int:
        return self._hash

    _hash: int


def load_phrases(source: Path | str) -> PhraseList:
    """Read a database; see the head of this module for what ``source`` may be."""
    if str(source) in SPLITS:
        return load_phrases(SHIPPED / f"{source}.json")
    if str(source) == "all":
        return PhraseList(entry for split in SPLITS for entry in load_phrases(SHIPPED / f"{split}.json"))
    path = Path(source)
    if path.is_dir():
        return _from_folder(path)
    values = _read(path)
    if not isinstance(values, dict):
        raise DataError(path, 'expected {"name": ["phrase", ...], ...}')
    return _checked(path, [_entry(path, name, phrases) for name, phrases in values.items()])


def from_mapping(phrases: Mapping[str, Sequence[str]]) -> PhraseList:
    """A database from a plain {name: [phrases]}."""
    return PhraseList(ObjectPhrases(name, tuple(values)) for name, values in phrases.items())


def _from_folder(folder: Path) -> PhraseList:
    files = sorted(folder.glob("*/object.json"))
    if not files:
        raise DataError(folder, "holds no objects; expected a sub-folder with an object.json for each")
    entries = []
    for path in files:
        values = _read(path)
        if not isinstance(values, dict) or not isinstance(values.get("name"), str):
            raise DataError(path, 'expected {"name": ..., "phrases": [...]}')
        entries.append(_entry(path, values["name"], values.get("phrases")))
    return PhraseList(_checked(folder, entries), folder)


def _entry(path: Path, name: str, phrases: Any) -> ObjectPhrases:
    if not isinstance(phrases, list) or not all(isinstance(phrase, str) for phrase in phrases):
        raise DataError(path, f"the phrases of '{name}' must be a list of texts")
    try:
        return ObjectPhrases(name, tuple(phrases))
    except WaywordError as error:
        raise DataError(path, str(error)) from error


def _checked(path: Path, entries: list[ObjectPhrases]) -> PhraseList:
    names = [entry.name for entry in entries]
    if not 0 < len(names) <= MAX_OBJECTS:
        raise DataError(path, f"holds {len(names)} objects; a database has 1 to {MAX_OBJECTS}")
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise DataError(path, f"the object '{twice[0]}' stands there twice; rename one")
    return PhraseList(entries)


def _read(path: Path) -> Any:
    return read_json(path, remedy=f"name a JSON file, a folder, or one of {', '.join((*SPLITS, 'all'))}")
