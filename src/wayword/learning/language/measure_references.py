"""The measurements of ObjRef, P(o | r), pronouns and the whole parse against hand-annotated instructions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.language.encoder import PhraseEncoder
from wayword.language.phrases_db import Database, ObjectPhrases
from wayword.language.pipeline import LanguageModel
from wayword.language.pronouns import is_pronoun
from wayword.language.reference_model import ReferenceModel, embed_database
from wayword.learning.language.gold_references import GoldText
from wayword.learning.language.phrase_pool import without_determiner


@dataclass(frozen=True)
class Counts:
    """Right, said and wanted; what follows from them."""

    right: int
    said: int
    wanted: int

    @property
    def precision(self) -> float:
        """Share of what was said that is right."""
        return self.right / self.said if self.said else 0.0

    @property
    def recall(self) -> float:
        """Share of what was wanted that was found."""
        return self.right / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        total = self.said + self.wanted
        return 2 * self.right / total if total else 1.0


def mentions(texts: Sequence[GoldText]) -> list[tuple[str, str]]:
    """(phrase, object) of every chunk that names an object."""
    return [
        (chunk.text, chunk.object) for text in texts for chunk in text.chunks if chunk.kind == "object" and chunk.object
    ]


def score_objref(model: LanguageModel, texts: Sequence[GoldText], database: Database) -> tuple[Counts, list[str]]:
    """ObjRef on the gold chunks, pronouns included (they are no object references for it), and its mistakes."""
    chunks = [chunk for text in texts for chunk in text.chunks if chunk.kind != "part"]
    embedded = embed_database(database, model.encoder)
    scores = model.objref.scores(model.encoder.embed([chunk.text for chunk in chunks]), embedded)
    said = np.array([score > 0 and not is_pronoun(chunk.text) for score, chunk in zip(scores, chunks, strict=True)])
    wanted = np.array([chunk.kind == "object" for chunk in chunks])
    wrong = [chunk.text for chunk, a, b in zip(chunks, said, wanted, strict=True) if a != b]
    return Counts(int((said & wanted).sum()), int(said.sum()), int(wanted.sum())), wrong


def score_parse(model: LanguageModel, texts: Sequence[GoldText], database: Database) -> Counts:
    """The whole way from text: a reference is right if its span and its object are.

    Wanted are the chunks that name an object or stand for one by a pronoun.
    """
    right = said = wanted = 0
    for text in texts:
        gold = {(c.start, c.end): c.object for c in text.chunks if c.kind in ("object", "pronoun")}
        found = {chunk.original: chunk.best for chunk in model.parse(text.text, database).references}
        right += sum(found.get(span, "") == name for span, name in gold.items())
        said += len(found)
        wanted += len(gold)
    return Counts(right, said, wanted)


def score_pronouns(model: LanguageModel, texts: Sequence[GoldText], database: Database) -> tuple[int, int]:
    """(resolved to the right object, all) over pronouns that stand for an object; through the whole parse."""
    right = total = 0
    for text in texts:
        found = {chunk.original: chunk.best for chunk in model.parse(text.text, database).references}
        for chunk in text.chunks:
            if chunk.kind == "pronoun":
                total += 1
                right += found.get((chunk.start, chunk.end)) == chunk.object
    return right, total


@dataclass(frozen=True)
class Retrieval:
    """P(o | r) on mentions.

    Attributes:
        top1: (N,) whether the most probable object is the right one ("none of these" not counted as an answer).
        accepted: (N,) whether it is, with "none of these" as a possible answer.
        auroc: of 1 - P(none) between mentions with their object in the database and with it removed.
    """

    top1: NDArray[np.bool_]
    accepted: NDArray[np.bool_]
    auroc: float


def score_retrieval(
    said: Sequence[tuple[str, str]], database: Database, encoder: PhraseEncoder, model: ReferenceModel
) -> Retrieval:
    """Ask ``database`` for every mention, with and without the object it means."""
    embedded = embed_database(database, encoder)
    numbers = {name: number for number, name in enumerate(embedded.names)}
    owners = np.array([numbers[name] for _, name in said])
    rows = np.arange(len(said))
    densities = model.densities(encoder.embed([phrase for phrase, _ in said]), embedded)
    removed = densities.copy()
    removed[rows, owners] = 0.0  # without the object, its term is missing from the sum and nothing else changes
    best = densities.argmax(axis=1)
    top1 = best == owners
    accepted = top1 & (densities[rows, best] > model.config.background)
    return Retrieval(top1, accepted, auroc(densities.sum(axis=1), removed.sum(axis=1)))


def unlisted(said: Sequence[tuple[str, str]], database: Database) -> NDArray[np.bool_]:
    """(N,) whether a mention, without its article, is not among the phrases of its object word for word."""
    listed = {(phrase.lower(), entry.name) for entry in database for phrase in entry.phrases}
    return np.array([(without_determiner(phrase.lower()), name) not in listed for phrase, name in said])


def draw_database(inventory: dict[str, list[str]], rng: np.random.Generator, count: int = 5) -> Database:
    """Five random phrases for every object."""
    return [
        ObjectPhrases(name, tuple(phrases[row] for row in rng.permutation(len(phrases))[:count]))
        for name, phrases in inventory.items()
    ]


def auroc(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> float:
    """Chance that a positive scores above a negative; ties count half."""
    above = (positive[:, None] > negative[None]).mean()
    return float(above + 0.5 * (positive[:, None] == negative[None]).mean())


def parse_times(model: LanguageModel, texts: Sequence[GoldText], database: Database) -> NDArray[np.float64]:
    """Milliseconds of CPU time per instruction, each text met for the first time by a warm model."""
    model.parse("warm up beside the sofa", database)
    result = []
    for text in texts:
        begin = time.process_time()
        model.parse(text.text, database)
        result.append(1000 * (time.process_time() - begin))
    return np.array(result)
