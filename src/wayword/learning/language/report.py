"""Every figure of the language side, measured in one go with the shipped weights.

Gold data: hand-annotated chunks and references of natural ``dev`` (unseen objects) and of a part of natural
``train`` that the alignment does not learn from. The natural instructions are by language-model annotators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wayword.episodes.corpus import load_natural
from wayword.episodes.instructions.phrases import phrases
from wayword.episodes.instructions.writer import generate_written
from wayword.evaluation.intervals import Interval, bootstrap_mean, wilson
from wayword.language.alignment import NULL
from wayword.language.encoder import CachedPhrases, PhraseConfig, PhraseEncoder
from wayword.language.phrases_db import load_phrases
from wayword.language.pipeline import LanguageModel, ParseConfig
from wayword.language.reference_model import ReferenceConfig, ReferenceModel
from wayword.learning.language.chunk_data import read_chunks
from wayword.learning.language.fit_references import ReferenceFit, fit_references
from wayword.learning.language.glove import GloveMeans
from wayword.learning.language.gold_references import GoldText, read_gold
from wayword.learning.language.grounded import (
    Grounded,
    from_alfred,
    from_episodes,
    from_written,
    read_alfred,
    scene_objects,
)
from wayword.learning.language.measure_references import (
    Counts,
    draw_database,
    mentions,
    parse_times,
    score_objref,
    score_parse,
    score_pronouns,
    score_retrieval,
    unlisted,
)
from wayword.learning.language.phrase_pool import PhrasePool
from wayword.learning.language.score_alignment import (
    AlignmentScore,
    Association,
    Scorer,
    baseline_choices,
    best_null_threshold,
    model_choices,
    model_target_scores,
    score_chunks,
    target_accuracy,
)
from wayword.learning.language.score_chunks import Score, score_chunker
from wayword.learning.language.train_alignment import AlignmentModel
from wayword.learning.language.train_language import LanguageTraining, alfred_texts, chunk_cache, navigation_texts
from wayword.learning.language.treebank import read_treebank

HELD_OUT_SEED = 12
"""Of the generated instructions the alignment is scored on."""


@dataclass(frozen=True)
class Sources:
    """Where the report finds what it needs.

    Attributes:
        gold: folder with nav_chunks.jsonl, nav_objrefs.jsonl and nav_train_objrefs.jsonl.
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


@dataclass(frozen=True)
class Measured:
    """A figure before it is published: fractions and their interval in percent, or ``unit`` as given."""

    interval: Interval
    unit: str = "%"
    has_interval: bool = True


Report = dict[str, Measured]


def language_report(sources: Sources, say: Callable[[str], None] = lambda _: None) -> Report:
    """Measure everything ``sources`` allows, by figure key."""
    model = LanguageModel.load()
    dev = read_gold(sources.gold / "nav_objrefs.jsonl")
    report: Report = {}
    say("chunker")
    report |= _chunker(model, sources)
    say("object references")
    report |= _references(model, dev)
    say("P(o | r)")
    report |= _retrieval(model.reference_model, model.encoder, dev)
    if sources.glove is not None and sources.trained is not None:
        say("GloVe")
        pool, glove = PhrasePool.load(sources.trained / "pool" / "phrases.json"), GloveMeans(sources.glove)
        report |= _glove("language.glove", glove, pool, dev)
        # Without articles, as our own phrases are: kinder to a mean of words than the paper was.
        report |= _glove("language.glove_bare", CachedPhrases(glove, PhraseConfig(prompt="{}")), pool, dev)
    if sources.trained is not None:
        say("alignment")
        report |= _navigation_alignment(sources.trained, read_gold(sources.gold / "nav_train_objrefs.jsonl"))
        if sources.alfred is not None:
            say("alignment, ALFRED")
            report |= _alfred_alignment(sources.trained, sources.alfred)
    return report


def _chunker(model: LanguageModel, sources: Sources) -> Report:
    report = _f1("language.chunk.nav", score_chunker(model.chunker, read_chunks(sources.gold / "nav_chunks.jsonl")))
    if sources.ewt is not None:
        report |= _f1(
            "language.chunk.ewt", score_chunker(model.chunker, read_treebank(sources.ewt / "ewt-test.conllu.gz"))
        )
    return report


def _references(model: LanguageModel, dev: Sequence[GoldText]) -> Report:
    database = load_phrases("dev")
    report = _f1("language.objref.dev", score_objref(model, dev, database)[0])
    without = LanguageModel(
        model.encoder, model.chunker, model.objref, model.reference_model, ParseConfig(pronouns=False)
    )
    for name, each in (("on", model), ("off", without)):
        report[f"language.pronouns.{name}.resolved"] = Measured(wilson(*score_pronouns(each, dev, database)))
        report |= _f1(f"language.parse.dev.pronouns_{name}", score_parse(each, dev, database))
    fresh = LanguageModel.load()
    times = parse_times(fresh, dev, database)
    report["bench.language.parse_ms"] = Measured(bootstrap_mean(times, np.random.default_rng(0)), "ms")
    return report


def _retrieval(
    model: ReferenceModel, encoder: PhraseEncoder, dev: Sequence[GoldText], prefix: str = "language"
) -> Report:
    said = mentions(dev)
    report: Report = {}
    for name, database in (("dev8", load_phrases("dev")), ("all80", load_phrases("all"))):
        found = score_retrieval(said, database, encoder, model)
        report[f"{prefix}.p_o_r.{name}.top1"] = _rate(found.top1)
        report[f"{prefix}.p_o_r.{name}.accepted"] = _rate(found.accepted)
        new = unlisted(said, database)
        report[f"{prefix}.p_o_r.{name}.unlisted_top1"] = _rate(found.top1[new])
        key = f"{prefix}.in_db.auroc" if name == "dev8" else f"{prefix}.in_db.{name}.auroc"
        report[key] = Measured(Interval(found.auroc, found.auroc, found.auroc, len(said)), "", False)
    # Other people write other phrases: five at random of everything the inventory has for an object.
    inventory = {
        entry.name: [phrase.text for phrase in phrases(entry.name) if phrase.kind != "vague"]
        for entry in load_phrases("dev")
    }
    rng = np.random.default_rng(0)
    draws = [score_retrieval(said, draw_database(inventory, rng), encoder, model) for _ in range(50)]
    rates = np.array([draw.top1.mean() for draw in draws])
    report[f"{prefix}.p_o_r.dev8.random_phrases_top1"] = Measured(bootstrap_mean(rates, rng))
    return report


def _glove(prefix: str, encoder: PhraseEncoder, pool: PhrasePool, dev: Sequence[GoldText]) -> Report:
    """The paper's embedding with width and background fitted the same way."""
    database = {entry.name: entry for entry in load_phrases("seen")}
    fitted: ReferenceConfig = fit_references(pool, database, encoder, ReferenceFit())[0]
    return _retrieval(ReferenceModel(fitted), encoder, dev, prefix)


def _navigation_alignment(trained: Path, gold: Sequence[GoldText]) -> Report:
    alignment = AlignmentModel.load(trained / "alignment")
    chunk = chunk_cache(trained)
    training = LanguageTraining(held_out=tuple(text.text for text in gold))
    counts = Association(navigation_texts(training, chunk))
    natural = _natural_gold(gold)
    seen = [entry.name for entry in load_phrases("seen")]
    generated = from_written(generate_written("train", 120, HELD_OUT_SEED, seen), chunk)
    report = _against_baselines("language.align.natural", natural, model_choices(alignment, natural), counts)
    report |= _against_baselines("language.align.generated", generated, model_choices(alignment, generated), counts)
    report["language.align.acc"] = report["language.align.natural.acc"]
    return report


def _natural_gold(gold: Sequence[GoldText]) -> list[Grounded]:
    """Annotated train instructions with the objects near their paths as candidates."""
    by_text = {text.text: text for text in gold}
    result = []
    for each in from_episodes(load_natural("train"), lambda _: []):
        if each.text in by_text:
            chunks = [chunk for chunk in by_text[each.text].chunks if chunk.kind != "part"]
            names = tuple((chunk.object or NULL) if chunk.kind == "object" else NULL for chunk in chunks)
            spans = tuple((chunk.start, chunk.end) for chunk in chunks)
            result.append(Grounded(each.text, spans, each.candidates, names))
    return result


def _against_baselines(
    prefix: str, texts: Sequence[Grounded], chosen: Sequence[Sequence[str]], counts: Association
) -> Report:
    report = _aligned(prefix, score_chunks(texts, chosen))
    scorers: tuple[tuple[str, Scorer], ...] = (("pmi", counts.pmi), ("frequent", counts.most_frequent))
    for name, scorer in scorers:
        report |= _aligned(f"{prefix}.{name}", score_chunks(texts, baseline_choices(scorer, texts, None)), False)
        threshold = best_null_threshold(scorer, texts)
        with_null = score_chunks(texts, baseline_choices(scorer, texts, threshold))
        report[f"{prefix}.{name}.acc_with_null"] = _aligned(f"{prefix}.x", with_null)[f"{prefix}.x.acc_with_null"]
    return report


def _aligned(prefix: str, score: AlignmentScore, with_null: bool = True) -> Report:
    report = {f"{prefix}.acc": Measured(wilson(score.right_objects, score.objects))}
    if with_null:
        right, total = score.right_objects + score.right_nulls, score.objects + score.nulls
        report[f"{prefix}.acc_with_null"] = Measured(wilson(right, total))
    return report


def _alfred_alignment(trained: Path, folder: Path) -> Report:
    """The instruction's target, out of everything in the scene."""
    alignment = AlignmentModel.load(trained / "alignment-alfred")
    chunk = chunk_cache(trained)
    scenes = scene_objects(read_alfred(folder / "goto-train.jsonl.gz"))
    steps = read_alfred(folder / "goto-valid_seen.jsonl.gz")
    texts = from_alfred(steps, chunk, lambda step: scenes.get(step.scene, set()) | set(step.objects))
    counts = Association(alfred_texts(LanguageTraining(), folder, chunk))
    named = [text for text in texts if (text.target or "") in text.text.lower().replace(" ", "")]
    report: Report = {}
    for suffix, some in (("", texts), ("_named", named)):
        rows = {
            "": model_target_scores(alignment, some),
            ".pmi": [[{name: counts.pmi(p, name) for name in t.candidates} for p in t.phrases] for t in some],
            ".frequent": [
                [{name: counts.most_frequent(p, name) for name in t.candidates} for p in t.phrases] for t in some
            ],
        }
        for name, scores in rows.items():
            right = round(target_accuracy(scores, some) * len(some))
            report[f"language.align.alfred{name}.target{suffix}_acc"] = Measured(wilson(right, len(some)))
    return report


def _f1(prefix: str, score: Score | Counts) -> Report:
    """Precision and recall are rates with intervals; F1 has none."""
    if isinstance(score, Score):
        right, said, wanted = score.correct, score.predicted, score.gold
    else:
        right, said, wanted = score.right, score.said, score.wanted
    f1 = Measured(Interval(score.f1, score.f1, score.f1, wanted), "%", False)
    return {
        f"{prefix}.f1": f1,
        f"{prefix}.precision": Measured(wilson(right, said)),
        f"{prefix}.recall": Measured(wilson(right, wanted)),
    }


def _rate(hits: np.ndarray) -> Measured:
    return Measured(wilson(int(hits.sum()), len(hits)))
