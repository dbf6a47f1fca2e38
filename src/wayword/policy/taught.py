"""What a policy is taught about objects: the language half and the image half of a database.

Taught.of(ObjectDatabase.load("my-objects"), grounder)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.grounding.density import Exemplars
from wayword.grounding.shortlist import MOST_CANDIDATES, ExemplarGallery
from wayword.grounding.taught_photos import taught_exemplars
from wayword.language.phrases_db import ObjectPhrases, PhraseList
from wayword.objects import ObjectDatabase

LEAST_MEANT = 1e-3
"""P(o | r) below which an instruction cannot mean an object of a large database."""


@dataclass(frozen=True, eq=False)
class TaughtDatabase:
    """Phrases and embedded photos of the same objects, in the same order."""

    phrases: PhraseList | tuple[ObjectPhrases, ...]
    exemplars: Exemplars
    gallery: ExemplarGallery | None = None
    """The same exemplars, where a large database may have to be narrowed down."""

    def __post_init__(self) -> None:
        if tuple(entry.name for entry in self.phrases) != self.exemplars.names:
            raise WaywordError("phrases and photos are about different objects, or in different orders")

    @staticmethod
    def of(database: ObjectDatabase | Path | str, grounder: Grounder) -> TaughtDatabase:
        """Embed a database, or the one in a folder.

        An object without phrases is called by its name; one without photos can be talked about but not seen.
        """
        loaded = database if isinstance(database, ObjectDatabase) else ObjectDatabase.load(Path(database))
        exemplars = taught_exemplars(loaded, grounder)
        return TaughtDatabase(loaded.phrase_list, exemplars, ExemplarGallery(exemplars, grounder.config.density))

    def candidates(self, meanings: Iterable[Mapping[str, float]]) -> Exemplars:
        """Whom an instruction with these P(o | r) is about: all objects of a small database.

        Of a large one, those that some reference may mean, the likeliest first, and all others as one.
        """
        if self.gallery is None or self.gallery.whole:
            return self.exemplars
        best: dict[str, float] = {}
        for meaning in meanings:
            values = np.fromiter(meaning.values(), np.float64, len(meaning))
            names = list(meaning)
            for place in np.flatnonzero(values >= LEAST_MEANT).tolist():
                best[names[place]] = max(best.get(names[place], 0.0), float(values[place]))
        return self.gallery.shortlist(sorted(best, key=lambda name: -best[name])[:MOST_CANDIDATES])
