"""What a policy is taught about objects: the language half and the image half of a database.

Taught.of(ObjectDatabase.load("my-objects"), grounder)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.grounding.density import Exemplars
from wayword.language.phrases_db import ObjectPhrases
from wayword.objects import ObjectDatabase


@dataclass(frozen=True, eq=False)
class TaughtDatabase:
    """Phrases and embedded photos of the same objects, in the same order."""

    phrases: tuple[ObjectPhrases, ...]
    exemplars: Exemplars

    def __post_init__(self) -> None:
        if tuple(entry.name for entry in self.phrases) != self.exemplars.names:
            raise WaywordError("phrases and photos are about different objects, or in different orders")

    @staticmethod
    def of(database: ObjectDatabase | Path | str, grounder: Grounder) -> TaughtDatabase:
        """Embed a database, or the one in a folder.

        An object without phrases is called by its name; one without photos can be talked about but not seen.
        """
        loaded = database if isinstance(database, ObjectDatabase) else ObjectDatabase.load(Path(database))
        phrases = tuple(ObjectPhrases(entry.name, tuple(entry.phrases) or (entry.name,)) for entry in loaded.objects)
        return TaughtDatabase(phrases, grounder.embed_database(loaded.crops()))
