"""Reading the same instructions for many systems: once each, and to the same bits whatever was read before."""

from __future__ import annotations

from collections import OrderedDict

from wayword.language.chunker import load_chunker
from wayword.language.encoder import CachedPhrases
from wayword.language.minilm import MiniLM
from wayword.language.objref import load_objref
from wayword.language.phrases_db import Database, PhraseList
from wayword.language.pipeline import LanguageModel, Parsed
from wayword.language.reference_model import load_reference_model

READINGS_KEPT = 1024


class TableReader(LanguageModel):
    """The shipped language model; what it has read against a database it remembers.

    The language model keeps the vectors of phrases, and a vector's last bits depend on which phrases were embedded
    beside it. Here those of a database are embedded together and those of an instruction together, so that a
    reading depends on the two alone: processes that share a table need not agree on who reads what, or when.
    """

    def __init__(self) -> None:
        self._minilm = MiniLM()
        super().__init__(CachedPhrases(self._minilm), load_chunker(self._minilm), load_objref(), load_reference_model())
        self._known: OrderedDict[tuple[str, PhraseList], Parsed] = OrderedDict()

    def parse(self, text: str, database: Database) -> Parsed:
        """As ``LanguageModel.parse``."""
        key = (text, PhraseList.of(database))
        if key not in self._known:
            self.encoder = CachedPhrases(self._minilm)
            self._prepare(key[1])
            self.encoder = CachedPhrases(self._minilm)
            self._known[key] = super().parse(text, database)
            if len(self._known) > READINGS_KEPT:
                self._known.popitem(last=False)
        return self._known[key]
