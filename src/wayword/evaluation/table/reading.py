"""Reading the same instructions for many systems: once each, and to the same bits whatever was read before.

Workers share flights among them as they happen to be free; with these readings that changes nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from wayword.language.chunker import load_chunker
from wayword.language.encoder import CachedPhrases
from wayword.language.minilm import MiniLM
from wayword.language.objref import load_objref
from wayword.language.phrases_db import Database, PhraseList
from wayword.language.pipeline import LanguageModel, Parsed
from wayword.language.reference_model import load_reference_model
from wayword.policy import FsPVN, Policy, make_policy
from wayword.shipped import DEFAULT_GROUNDER

READINGS_KEPT = 1024


class TableReader(LanguageModel):
    """The shipped language model; what it has read against a database it remembers.

    The language model keeps the vectors of phrases, and a vector's last bits depend on which phrases were embedded
    beside it. Here those of a database are embedded together and those of an instruction together, so that a
    reading depends on the two alone: processes that share a table need not agree on who reads what, or when.
    """

    def __init__(self, model: LanguageModel | None = None) -> None:
        """``model``: the one to read with instead of the shipped one; it must embed with MiniLM."""
        if model is None:
            minilm = MiniLM()
            model = LanguageModel(CachedPhrases(minilm), load_chunker(minilm), load_objref(), load_reference_model())
        assert isinstance(model.encoder, CachedPhrases)
        self._minilm = model.encoder.encoder
        super().__init__(model.encoder, model.chunker, model.objref, model.reference_model, model.config)
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


def steady_policy(name: str, weights: Path | str | None = None, grounder: Path | str = DEFAULT_GROUNDER) -> Policy:
    """``make_policy``, but what it reads does not depend on what it read before: for flights that workers share."""
    policy = make_policy(name, weights, grounder)
    if isinstance(policy, FsPVN) and isinstance(policy.language.encoder, CachedPhrases):
        policy.language = TableReader(policy.language)
    return policy
