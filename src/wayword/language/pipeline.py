"""From an instruction to references and an anonymised sentence: Section 5, "Language Representation".

    text -> Speller -> Chunker -> join_compounds -> ObjRef -> resolve_pronouns -> ReferenceModel -> anonymise

Each step is a component with its own module and can be replaced in ``LanguageModel``. Nothing here is random
and nothing needs a network: the weights ship with the package.

    language = LanguageModel.load()
    parsed = language.parse("stop in front of the globe", load_phrases("test"))
    parsed.references[0].best          # "globe"
    parsed.anonymised.text             # "stop in front of <obj>"
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from wayword.errors import WaywordError
from wayword.language.anonymise import Anonymised, anonymise
from wayword.language.chunker import Chunk, Chunker, load_chunker
from wayword.language.compounds import join_compounds
from wayword.language.encoder import CachedPhrases, PhraseEncoder, check_text
from wayword.language.minilm import MiniLM
from wayword.language.objref import ObjRef, load_objref, nearest_distances
from wayword.language.phrases_db import Database, ObjectPhrases
from wayword.language.pronouns import is_pronoun, resolve_pronouns
from wayword.language.reference_model import (
    EmbeddedDatabase,
    ReferenceModel,
    embed_database,
    load_reference_model,
)
from wayword.language.spelling import CorrectedText, Correction, Speller

DATABASES_KEPT = 8


@dataclass(frozen=True)
class ParseConfig:
    """What can be switched off.

    Attributes:
        spelling: put misspelt words right first.
        pronouns: let "it" refer to the object named last (an extension of the paper).
        compounds: read "the pile of stones" as one name where the database knows it.
    """

    spelling: bool = True
    pronouns: bool = True
    compounds: bool = True


@dataclass(frozen=True)
class ParsedChunk:
    """A noun chunk and what became of it.

    Attributes:
        start: first character in the corrected text.
        end: one past its last character there.
        text: the chunk.
        original: the same span in the text as typed.
        objref: probability that it refers to an object.
        is_reference: whether it is taken as an object reference.
        antecedent: for a resolved pronoun, the number of the chunk it stands for.
        probabilities: P(o | r) by object name, in the order of the database; empty if it is no reference.
        none: P(none of these | r); 0 if it is no reference.
    """

    start: int
    end: int
    text: str
    original: tuple[int, int]
    objref: float
    is_reference: bool
    antecedent: int | None
    probabilities: dict[str, float]
    none: float

    @property
    def best(self) -> str | None:
        """The most probable object; None for "none of these" and for chunks that are no reference."""
        name = max(self.probabilities, key=lambda key: self.probabilities[key], default=None)
        return name if name is not None and self.probabilities[name] > self.none else None


@dataclass(frozen=True)
class Parsed:
    """What the policy needs of an instruction.

    Attributes:
        original: the text as typed.
        text: the text with its spelling corrected; all offsets count in this one.
        corrections: what was corrected.
        chunks: all noun chunks, in order.
        anonymised: the text with its references replaced.
    """

    original: str
    text: str
    corrections: tuple[Correction, ...]
    chunks: tuple[ParsedChunk, ...]
    anonymised: Anonymised

    @property
    def references(self) -> tuple[ParsedChunk, ...]:
        """The multiset R of object references, in order; number i stands at placeholder i."""
        return tuple(chunk for chunk in self.chunks if chunk.is_reference)


class LanguageModel:
    """The components, put together."""

    def __init__(
        self,
        encoder: PhraseEncoder,
        chunker: Chunker,
        objref: ObjRef,
        references: ReferenceModel,
        config: ParseConfig | None = None,
    ) -> None:
        self.config = config or ParseConfig()
        self.encoder = encoder
        self.chunker = chunker
        self.objref = objref
        self.reference_model = references
        self._databases: OrderedDict[tuple[ObjectPhrases, ...], tuple[EmbeddedDatabase, Speller | None]] = OrderedDict()

    @classmethod
    def load(cls, config: ParseConfig | None = None) -> LanguageModel:
        """Everything that ships with the package."""
        minilm = MiniLM()
        return cls(CachedPhrases(minilm), load_chunker(minilm), load_objref(), load_reference_model(), config)

    def parse(self, text: str, database: Database) -> Parsed:
        """Read one instruction against an object database. A text without words gives an empty result."""
        embedded, speller = self._prepare(tuple(database))
        corrected = speller.correct(text) if speller else CorrectedText(check_text(text), text, ())
        chunks = self.chunker.chunk(corrected.text)
        if self.config.compounds:
            chunks = join_compounds(
                corrected.text, chunks, lambda phrases: nearest_distances(self.encoder.embed(phrases), embedded)
            )
        parsed = self._classify(chunks, corrected, embedded)
        spans = [(chunk.start, chunk.end) for chunk in parsed if chunk.is_reference]
        return Parsed(text, corrected.text, corrected.corrections, parsed, anonymise(corrected.text, spans))

    def _classify(
        self, chunks: list[Chunk], corrected: CorrectedText, database: EmbeddedDatabase
    ) -> tuple[ParsedChunk, ...]:
        if not chunks:
            return ()
        phrases = [chunk.text for chunk in chunks]
        vectors = self.encoder.embed(phrases)
        scores = self.objref.scores(vectors, database)
        named = [score > 0 and not is_pronoun(phrase) for phrase, score in zip(phrases, scores, strict=True)]
        none_resolved: list[int | None] = [None] * len(chunks)
        antecedents = resolve_pronouns(phrases, named) if self.config.pronouns else none_resolved
        # A pronoun refers to what its antecedent refers to, so it is looked up by the antecedent's phrase.
        sources = [number if before is None else before for number, before in enumerate(antecedents)]
        table = self.reference_model.probabilities(vectors[sources], database)
        result = []
        for number, (chunk, score, before) in enumerate(zip(chunks, scores, antecedents, strict=True)):
            is_reference = named[number] or before is not None
            row = table[number] if is_reference else np.zeros(0)
            names = database.names if is_reference else ()
            result.append(
                ParsedChunk(
                    chunk.start,
                    chunk.end,
                    chunk.text,
                    corrected.to_original(chunk.start, chunk.end),
                    float(1 / (1 + np.exp(-np.clip(score, -30, 30)))),
                    is_reference,
                    before,
                    {name: float(value) for name, value in zip(names, row, strict=False)},
                    float(row[-1]) if is_reference else 0.0,
                )
            )
        return tuple(result)

    def _prepare(self, database: tuple[ObjectPhrases, ...]) -> tuple[EmbeddedDatabase, Speller | None]:
        """The database's vectors and word list, made once per database."""
        if database not in self._databases:
            names = [entry.name for entry in database]
            if len(set(names)) < len(names):
                raise WaywordError("two objects of the database have the same name; rename one")
            speller = None
            if self.config.spelling:
                speller = Speller(phrase for entry in database for phrase in (entry.name, *entry.phrases))
            self._databases[database] = (embed_database(database, self.encoder), speller)
            while len(self._databases) > DATABASES_KEPT:
                self._databases.popitem(last=False)
        self._databases.move_to_end(database)
        return self._databases[database]
