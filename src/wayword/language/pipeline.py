"""From an instruction to references and an anonymised sentence: Section 5, "Language Representation".

    text -> Speller -> Chunker -> find_listed -> join_compounds -> ObjRef, no_objects
         -> ReferenceModel -> resolve_pronouns, taken_up -> anonymise

Each step is a component with its own module and can be replaced in ``LanguageModel``. Nothing here is random
and nothing needs a network: the weights ship with the package.

    language = LanguageModel.load()
    parsed = language.parse("stop in front of the globe", load_phrases("test"))
    parsed.references[0].best          # "globe"
    parsed.anonymised.text             # "stop in front of <obj>"
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.language.anaphora import taken_up
from wayword.language.anonymise import Anonymised, anonymise
from wayword.language.chunker import Chunk, Chunker
from wayword.language.compounds import join_compounds
from wayword.language.encoder import CachedPhrases, PhraseEncoder, check_text
from wayword.language.listed import ListedPhrases, find_listed
from wayword.language.minilm import MiniLM
from wayword.language.no_objects import no_objects
from wayword.language.objref import ObjRef, load_objref, nearest_distances
from wayword.language.parts import find_parts
from wayword.language.phrases_db import Database, PhraseList
from wayword.language.pronouns import is_pronoun, resolve_pronouns
from wayword.language.reference_model import (
    EmbeddedDatabase,
    ReferenceModel,
    embed_database,
    load_reference_model,
)
from wayword.language.spelling import CorrectedText, Correction, Speller
from wayword.registry import CHUNKERS

DATABASES_KEPT = 8


@dataclass(frozen=True)
class ParseConfig:
    """What can be switched off.

    Attributes:
        spelling: put misspelt words right first.
        pronouns: let "it" and "them" refer to what was named before (an extension of the paper).
        compounds: read "the pile of stones" as one name where the database knows it.
        phrases: let what is listed word for word, and the class of a noun, overrule the networks: "the left shoe" is
            a shoe, "the wall" no object; after "the red brick", "the brick" is that one.
    """

    spelling: bool = True
    pronouns: bool = True
    compounds: bool = True
    phrases: bool = True


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
        antecedents: for a resolved pronoun and a name said again, the numbers of the chunks it stands for.
        probabilities: P(o | r) by object name, in the order of the database; empty if it is no reference. "Them" has
            the mean of what it stands for.
        none: P(none of these | r); 0 if it is no reference.
    """

    start: int
    end: int
    text: str
    original: tuple[int, int]
    objref: float
    is_reference: bool
    antecedents: tuple[int, ...]
    probabilities: dict[str, float]
    none: float

    @property
    def antecedent(self) -> int | None:
        """The first of the chunks it stands for."""
        return self.antecedents[0] if self.antecedents else None

    @cached_property
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
        self._databases: OrderedDict[PhraseList, _Prepared] = OrderedDict()

    @classmethod
    def load(cls, config: ParseConfig | None = None, chunker: Chunker | str = "shipped") -> LanguageModel:
        """Everything that ships with the package; ``chunker`` is another one, or its name (docs/extending.md)."""
        minilm = MiniLM()
        chunks_by: Chunker = (
            CHUNKERS.make(chunker, offered={"encoder": minilm}) if isinstance(chunker, str) else chunker
        )
        return cls(CachedPhrases(minilm), chunks_by, load_objref(), load_reference_model(), config)

    def parse(self, text: str, database: Database) -> Parsed:
        """Read one instruction against an object database. A text without words gives an empty result."""
        prepared = self._prepare(PhraseList.of(database))
        speller, listed = prepared.speller, prepared.listed
        corrected = speller.correct(text) if speller else CorrectedText(check_text(text), text, ())
        chunks = self.chunker.chunk(corrected.text)
        if self.config.phrases:
            chunks = find_listed(corrected.text, chunks, listed)
        if self.config.compounds:
            chunks = join_compounds(
                corrected.text,
                chunks,
                lambda phrases: nearest_distances(self.encoder.embed(phrases), prepared.embedded),
                lambda phrases: self._meanings(phrases, prepared.embedded),
                listed,
            )
        parsed = self._classify(chunks, corrected, prepared)
        spans = [(chunk.start, chunk.end) for chunk in parsed if chunk.is_reference]
        return Parsed(text, corrected.text, corrected.corrections, parsed, anonymise(corrected.text, spans))

    def _meanings(self, phrases: Sequence[str], database: EmbeddedDatabase) -> list[str | None]:
        """The object that P(o | r) gives each phrase to; None for "none of these"."""
        best = self.reference_model.probabilities(self.encoder.embed(phrases), database).argmax(axis=1)
        return [database.names[number] if number < len(database.names) else None for number in best]

    def _classify(self, chunks: list[Chunk], corrected: CorrectedText, prepared: _Prepared) -> tuple[ParsedChunk, ...]:
        if not chunks:
            return ()
        text, database, listed = corrected.text, prepared.embedded, prepared.listed
        phrases = [listed.looked_up(chunk.text) if self.config.phrases else chunk.text for chunk in chunks]
        vectors = self.encoder.embed(phrases)
        scores = self.objref.scores(vectors, database)
        ruled_out = no_objects(text, chunks, listed) if self.config.phrases else [False] * len(chunks)
        named = [
            bool(score > 0) and not is_pronoun(phrase) and not out
            for phrase, score, out in zip(phrases, scores, ruled_out, strict=True)
        ]
        table = self.reference_model.probabilities(vectors, database)
        if self.config.phrases:
            self._take_parts(text, chunks, named, table, database)
        antecedents: list[tuple[int, ...]] = [()] * len(chunks)
        if self.config.pronouns:
            antecedents = resolve_pronouns(text, chunks, named)
        if self.config.phrases:
            known = [is_named and int(row.argmax()) < len(row) - 1 for is_named, row in zip(named, table, strict=True)]
            again = taken_up([chunk.text for chunk in chunks], known)
            antecedents = [old if new is None else (new,) for old, new in zip(antecedents, again, strict=True)]
        result: list[ParsedChunk] = []
        for number, (chunk, score, before) in enumerate(zip(chunks, scores, antecedents, strict=True)):
            if before:  # it refers to what was named there, whatever its own words are near to
                table[number] = table[list(before)].mean(axis=0)
            is_reference = named[number] or bool(before)
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

    def _take_parts(
        self, text: str, chunks: list[Chunk], named: list[bool], table: NDArray[np.float64], database: EmbeddedDatabase
    ) -> None:
        """Parts of the thing before them are no references; that thing is looked up by the whole phrase if it is known.

        Changes ``named`` and ``table``.
        """
        none = len(database.names)
        for number, whole in find_parts(text, chunks).items():
            if not named[number - 1]:
                continue
            row = self.reference_model.probabilities(self.encoder.embed([whole.text]), database)[0]
            best = row if row.argmax() != none else table[number - 1]
            if named[number] and table[number].argmax() not in (none, best.argmax()):
                continue  # another object of the database
            named[number], table[number - 1] = False, best

    def _prepare(self, database: PhraseList) -> _Prepared:
        """The database's vectors and word lists, made once per database."""
        if database not in self._databases:
            names = [entry.name for entry in database]
            if len(set(names)) < len(names):
                raise WaywordError("two objects of the database have the same name; rename one")
            speller = None
            if self.config.spelling:
                speller = Speller(phrase for entry in database for phrase in (entry.name, *entry.phrases))
            self._databases[database] = _Prepared(
                embed_database(database, self.encoder), speller, ListedPhrases(database)
            )
            while len(self._databases) > DATABASES_KEPT:
                self._databases.popitem(last=False)
        self._databases.move_to_end(database)
        return self._databases[database]


@dataclass(frozen=True)
class _Prepared:
    """What is made once of a database."""

    embedded: EmbeddedDatabase
    speller: Speller | None
    listed: ListedPhrases
