"""Every figure of the language side, measured in one go with the shipped weights.

Gold data: hand-annotated chunks and references of natural ``dev`` (unseen objects) and of a part of natural
``train`` that the alignment does not learn from. The natural instructions are by language-model annotators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wayword.episodes.instructions.phrases import phrases
from wayword.errors import WaywordError
from wayword.intervals import bootstrap_auroc, bootstrap_mean, wilson
from wayword.language.chunker import Chunker
from wayword.language.encoder import CachedPhrases, PhraseConfig, PhraseEncoder
from wayword.language.phrases_db import load_phrases
from wayword.language.pipeline import LanguageModel, ParseConfig
from wayword.language.reference_model import ReferenceConfig, ReferenceModel
from wayword.language.spacy_chunker import SpacyChunker
from wayword.language.spelling import Speller
from wayword.learning.language.chunk_data import read_chunks
from wayword.learning.language.fit_references import ReferenceFit, fit_references
from wayword.learning.language.glove import GloveMeans
from wayword.learning.language.gold_references import GoldText, read_gold
from wayword.learning.language.measure_references import (
    draw_phrases,
    mentions,
    parse_times,
    score_objref,
    score_parse,
    score_pronouns,
    score_retrieval,
    unlisted,
    untaught,
)
from wayword.learning.language.measured import SEED, Measured, MeasuredFigures, f1_figures, rate
from wayword.learning.language.phrase_pool import PhrasePool
from wayword.learning.language.report_alignment import alfred_alignment, navigation_alignment
from wayword.learning.language.score_chunks import chunk_times, score_chunker
from wayword.learning.language.score_spelling import clean_words, read_typos, score_typos, spoilt_words
from wayword.learning.language.treebank import read_treebank


@dataclass(frozen=True)
class Sources:
    """Where the report finds what it needs.

    Attributes:
        gold: folder with nav_chunks.jsonl, nav_objrefs.jsonl, nav_train_objrefs.jsonl and typos.jsonl.
        trained: folder a training run wrote (alignment models and the phrase pool); None leaves alignment out.
        ewt: folder of the treebank; None leaves its figure out.
        alfred: folder of ALFRED; None leaves its figures out.
        glove: the GloVe file; None leaves the comparison out.
    """

    gold: Path
    trained: Path | None = None
    ewt: Path | None = None
    alfred: Path | None = None
    glove: Path | None = None


def language_report(sources: Sources, say: Callable[[str], None] = lambda _: None) -> MeasuredFigures:
    """Measure everything ``sources`` allows, by figure key."""
    model = LanguageModel.load()
    dev = read_gold(sources.gold / "nav_objrefs.jsonl")
    report: MeasuredFigures = {}
    say("measuring: chunker")
    report |= _chunkers(model, sources, say)
    say("measuring: spelling")
    report |= _spelling(sources)
    say("measuring: object references")
    report |= _references(model, dev)
    say("measuring: P(o | r)")
    report |= _retrieval(model.reference_model, model.encoder, dev)
    if sources.glove is not None and sources.trained is not None:
        say("measuring: GloVe")
        pool, glove = PhrasePool.load(sources.trained / "pool" / "phrases.json"), GloveMeans(sources.glove)
        report |= _glove("language.glove", glove, pool, dev)
        # Without articles, as our own phrases are: kinder to a mean of words than the paper was.
        report |= _glove("language.glove_bare", CachedPhrases(glove, PhraseConfig(prompt="{}")), pool, dev)
    if sources.trained is not None:
        say("measuring: alignment")
        report |= navigation_alignment(sources.trained, read_gold(sources.gold / "nav_train_objrefs.jsonl"))
        if sources.alfred is not None:
            say("measuring: alignment, ALFRED")
            report |= alfred_alignment(sources.trained, sources.alfred)
    return report


def _chunkers(model: LanguageModel, sources: Sources, say: Callable[[str], None]) -> MeasuredFigures:
    """Ours and, where it is installed, spaCy's noun chunks: the paper's chunker."""
    gold = {"language.chunk.nav": read_chunks(sources.gold / "nav_chunks.jsonl")}
    if sources.ewt is not None:
        gold["language.chunk.ewt"] = read_treebank(sources.ewt / "ewt-test.conllu.gz")
    backends: list[tuple[Chunker, str, str]] = [(model.chunker, "", "")]
    try:
        spacy = SpacyChunker()
        backends.append((spacy, "_spacy", spacy.version))
    except WaywordError as error:
        say(f"no comparison with spaCy: {error}")
    report: MeasuredFigures = {}
    for chunker, suffix, note in backends:
        for prefix, sentences in gold.items():
            report |= f1_figures(prefix, score_chunker(chunker, sentences), suffix, note)
        times = chunk_times(chunker, gold["language.chunk.nav"])
        mean = bootstrap_mean(times, np.random.default_rng(SEED))
        report[f"bench.language.chunk_ms{suffix}"] = Measured(mean, "ms", note)
    return report


def _spelling(sources: Sources) -> MeasuredFigures:
    """Typing errors put right and made worse, by where they were found; sound words of the treebank spoilt."""
    speller = Speller()
    report: MeasuredFigures = {}
    typos = read_typos(sources.gold / "typos.jsonl")
    for source, pairs in typos.items():
        score, _ = score_typos(speller, pairs)
        prefix = f"language.spelling.{source.replace('-', '_')}"
        report[f"{prefix}.right"] = Measured(wilson(score.right, score.total))
        report[f"{prefix}.wrong"] = Measured(wilson(score.wrong, score.total))
    if sources.ewt is not None:
        words = clean_words(sources.ewt / "ewt-test.conllu.gz")
        for typo in {typo for pairs in typos.values() for typo, _ in pairs}:
            words.pop(typo, None)
        spoilt = sum(words[word] for word in spoilt_words(speller, words))
        report["language.spelling.ewt_spoilt"] = Measured(wilson(spoilt, words.total()))
    return report


def _references(model: LanguageModel, dev: Sequence[GoldText]) -> MeasuredFigures:
    database = load_phrases("dev")
    report = f1_figures("language.objref.dev", score_objref(model, dev, database)[0])
    without = LanguageModel(
        model.encoder, model.chunker, model.objref, model.reference_model, ParseConfig(pronouns=False)
    )
    for name, each in (("on", model), ("off", without)):
        report[f"language.pronouns.{name}.resolved"] = Measured(wilson(*score_pronouns(each, dev, database)))
        report |= f1_figures(f"language.parse.dev.pronouns_{name}", score_parse(each, dev, database))
    fresh = LanguageModel.load()
    times = parse_times(fresh, dev, database)
    report["bench.language.parse_ms"] = Measured(bootstrap_mean(times, np.random.default_rng(SEED)), "ms")
    return report


def _retrieval(
    model: ReferenceModel, encoder: PhraseEncoder, dev: Sequence[GoldText], prefix: str = "language"
) -> MeasuredFigures:
    pairs = mentions(dev)
    report: MeasuredFigures = {}
    for name, database in (("dev8", load_phrases("dev")), ("all80", load_phrases("all"))):
        retrieval = score_retrieval(pairs, database, encoder, model)
        report[f"{prefix}.p_o_r.{name}.top1"] = rate(retrieval.top1)
        report[f"{prefix}.p_o_r.{name}.accepted"] = rate(retrieval.accepted)
        new = unlisted(pairs, database)
        if new.any():
            report[f"{prefix}.p_o_r.{name}.unlisted_top1"] = rate(retrieval.top1[new])
        key = f"{prefix}.in_db.auroc" if name == "dev8" else f"{prefix}.in_db.{name}.auroc"
        seeded = np.random.default_rng(SEED)
        report[key] = Measured(bootstrap_auroc(retrieval.known, retrieval.removed, seeded, paired=True), "")
    # Names of the inventory that the database does not list: right, or taken for another object where theirs is gone.
    names = untaught(load_phrases("dev"))
    for name, database in (("dev8", load_phrases("dev")), ("all80", load_phrases("all"))):
        retrieval = score_retrieval(names, database, encoder, model)
        report[f"{prefix}.p_o_r.{name}.untaught_top1"] = rate(retrieval.top1)
        report[f"{prefix}.p_o_r.{name}.untaught_accepted"] = rate(retrieval.accepted)
        report[f"{prefix}.p_o_r.{name}.untaught_taken"] = rate(retrieval.mistaken)
    # Other people write other phrases: five at random of everything the inventory has for an object.
    inventory = {
        entry.name: [phrase.text for phrase in phrases(entry.name) if phrase.kind != "vague"]
        for entry in load_phrases("dev")
    }
    rng = np.random.default_rng(0)
    draws = [score_retrieval(pairs, draw_phrases(inventory, rng), encoder, model) for _ in range(50)]
    rates = np.array([draw.top1.mean() for draw in draws])
    report[f"{prefix}.p_o_r.dev8.random_phrases_top1"] = Measured(bootstrap_mean(rates, rng))
    return report


def _glove(prefix: str, encoder: PhraseEncoder, pool: PhrasePool, dev: Sequence[GoldText]) -> MeasuredFigures:
    """The paper's embedding with width and background fitted the same way."""
    database = {entry.name: entry for entry in load_phrases("seen")}
    fitted: ReferenceConfig = fit_references(pool, database, encoder, ReferenceFit())[0]
    return _retrieval(ReferenceModel(fitted), encoder, dev, prefix)
