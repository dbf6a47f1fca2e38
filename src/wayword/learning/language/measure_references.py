"""The measurements of ObjRef, P(o | r), pronouns and the whole parse against hand-annotated instructions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.episodes.instructions.phrases import phrases
from wayword.language.encoder import PhraseEncoder
from wayword.language.phrases_db import Database, ObjectPhrases
from wayword.language.pipeline import LanguageModel
from wayword.language.pronouns import is_pronoun
from wayword.language.reference_model import ReferenceModel, embed_database
from wayword.learning.language.gold_references import GoldText
from wayword.learning.language.matches import Matches
from wayword.learning.language.phrase_pool import without_determiner


def mentions(texts: Sequence[GoldText]) -> list[tuple[str, str]]:
    """(phrase, object) of every chunk that names an object."""
    return [
        (chunk.text, chunk.object) for text in texts for chunk in text.chunks if chunk.kind == "object" and chunk.object
    ]


def score_objref(model: LanguageModel, texts: Sequence[GoldText], database: Database) -> tuple[Matches, list[str]]:
    """ObjRef on the gold chunks, pronouns included (they are no object references for it), and its mistakes."""
    counted = [(number, c) for number, text in enumerate(texts) for c in text.chunks if c.kind != "part"]
    chunks = [chunk for _, chunk in counted]
    embedded = embed_database(database, model.encoder)
    scores = model.objref.scores(model.encoder.embed([chunk.text for chunk in chunks]), embedded)
    answers = np.array([score > 0 and not is_pronoun(chunk.text) for score, chunk in zip(scores, chunks, strict=True)])
    gold = np.array([chunk.kind == "object" for chunk in chunks])
    wrong = [chunk.text for chunk, a, b in zip(chunks, answers, gold, strict=True) if a != b]
    sums = np.zeros((len(texts), 3), np.int64)
    np.add.at(sums, [number for number, _ in counted], np.stack([answers & gold, answers, gold], axis=1))
    return Matches(sums), wrong


def score_parse(model: LanguageModel, texts: Sequence[GoldText], database: Database) -> Matches:
    """The whole way from text: a reference is right if its span and its object are.

    Wanted are the chunks that name an object or stand for one by a pronoun.
    """
    rows = []
    for text in texts:
        gold = {(c.start, c.end): c.object for c in text.chunks if c.kind in ("object", "pronoun")}
        answers = {chunk.original: chunk.best for chunk in model.parse(text.text, database).references}
        rows.append((sum(answers.get(span, "") == name for span, name in gold.items()), len(answers), len(gold)))
    return Matches.of(rows)


def score_pronouns(model: LanguageModel, texts: Sequence[GoldText], database: Database) -> tuple[int, int]:
    """(resolved to the right object, all) over pronouns that stand for an object; through the whole parse."""
    right = total = 0
    for text in texts:
        answers = {chunk.original: chunk.best for chunk in model.parse(text.text, database).references}
        for chunk in text.chunks:
            if chunk.kind == "pronoun":
                total += 1
                right += answers.get((chunk.start, chunk.end)) == chunk.object
    return right, total


@dataclass(frozen=True)
class Retrieval:
    """P(o | r) on mentions.

    Attributes:
        top1: (N,) whether the most probable object is the right one ("none of these" not counted as an answer).
        accepted: (N,) whether it is, with "none of these" as a possible answer.
        known: (N,) the sum of all densities: what 1 - P(none) grows with.
        removed: (N,) the same with the mention's object removed from the database. The AUROC between the two
            says how well "in the database" is told from "not in it".
        mistaken: (N,) whether it is given to another object then, instead of to "none of these".
    """

    top1: NDArray[np.bool_]
    accepted: NDArray[np.bool_]
    known: NDArray[np.float64]
    removed: NDArray[np.float64]
    mistaken: NDArray[np.bool_]


def score_retrieval(
    pairs: Sequence[tuple[str, str]], database: Database, encoder: PhraseEncoder, model: ReferenceModel
) -> Retrieval:
    """Ask ``database`` for every mention, with and without the object it means."""
    embedded = embed_database(database, encoder)
    numbers = {name: number for number, name in enumerate(embedded.names)}
    owners = np.array([numbers[name] for _, name in pairs])
    rows = np.arange(len(pairs))
    densities = model.densities(encoder.embed([phrase for phrase, _ in pairs]), embedded)
    removed = densities.copy()
    removed[rows, owners] = 0.0  # without the object, its term is missing from the sum and nothing else changes
    best = densities.argmax(axis=1)
    top1 = best == owners
    accepted = top1 & (densities[rows, best] > model.backgrounds(densities))
    mistaken = removed.max(axis=1) > model.backgrounds(removed)
    return Retrieval(top1, accepted, densities.sum(axis=1), removed.sum(axis=1), mistaken)


def unlisted(pairs: Sequence[tuple[str, str]], database: Database) -> NDArray[np.bool_]:
    """(N,) whether a mention, without its article, is not among the phrases of its object word for word."""
    listed = {(phrase.lower(), entry.name) for entry in database for phrase in entry.phrases}
    return np.array([(without_determiner(phrase.lower()), name) not in listed for phrase, name in pairs])


def untaught(database: Database) -> list[tuple[str, str]]:
    """(phrase, object) of everything the inventory calls the objects of ``database`` that is not listed there."""
    names = [
        (phrase.text, entry.name)
        for entry in database
        for phrase in phrases(entry.name)
        if phrase.kind in ("name", "noun", "look")
    ]
    return [each for each, new in zip(names, unlisted(names, database), strict=True) if new]


def draw_phrases(inventory: dict[str, list[str]], rng: np.random.Generator, count: int = 5) -> Database:
    """Five random phrases for every object."""
    return [
        ObjectPhrases(name, tuple(called[row] for row in rng.permutation(len(called))[:count]))
        for name, called in inventory.items()
    ]


def parse_times(model: LanguageModel, texts: Sequence[GoldText], database: Database) -> NDArray[np.float64]:
    """Milliseconds of CPU time per instruction, each text met for the first time by a warm model."""
    model.parse("warm up beside the sofa", database)
    result = []
    for text in texts:
        begin = time.process_time()
        model.parse(text.text, database)
        result.append(1000 * (time.process_time() - begin))
    return np.array(result)
