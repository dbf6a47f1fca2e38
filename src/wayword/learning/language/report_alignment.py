"""The figures of the alignment: how often a chunk is given the object it means, against two baselines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wayword.episodes.corpus import load_natural
from wayword.episodes.instructions.writer import generate_written
from wayword.intervals import wilson
from wayword.language.alignment import NULL
from wayword.language.phrases_db import load_phrases
from wayword.learning.language.gold_references import GoldText
from wayword.learning.language.grounded import (
    Grounded,
    from_alfred,
    from_episodes,
    from_written,
    read_alfred,
    scene_objects,
)
from wayword.learning.language.measured import Measured, MeasuredFigures
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
from wayword.learning.language.train_alignment import AlignmentModel
from wayword.learning.language.train_language import LanguageTraining, alfred_texts, chunk_cache, navigation_texts

HELD_OUT_SEED = 12
"""Of the generated instructions the alignment is scored on."""


def navigation_alignment(trained: Path, gold: Sequence[GoldText]) -> MeasuredFigures:
    """Every chunk of held-out instructions, natural and generated: its object out of those near the path."""
    alignment = AlignmentModel.load(trained / "alignment")
    chunk = chunk_cache(trained)
    training = LanguageTraining(held_out=tuple(text.text for text in gold))
    counts = Association(navigation_texts(training, chunk))
    natural = _natural_gold(gold)
    names = [entry.name for entry in load_phrases("seen")]
    generated = from_written(generate_written("train", 120, HELD_OUT_SEED, names), chunk)
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
    prefix: str, texts: Sequence[Grounded], choices: Sequence[Sequence[str]], counts: Association
) -> MeasuredFigures:
    report = _aligned(prefix, score_chunks(texts, choices))
    scorers: tuple[tuple[str, Scorer], ...] = (("pmi", counts.pmi), ("frequent", counts.most_frequent))
    for name, scorer in scorers:
        report |= _aligned(f"{prefix}.{name}", score_chunks(texts, baseline_choices(scorer, texts, None)), False)
        threshold = best_null_threshold(scorer, texts)
        with_null = score_chunks(texts, baseline_choices(scorer, texts, threshold))
        report[f"{prefix}.{name}.acc_with_null"] = _aligned(f"{prefix}.x", with_null)[f"{prefix}.x.acc_with_null"]
    return report


def _aligned(prefix: str, score: AlignmentScore, with_null: bool = True) -> MeasuredFigures:
    report = {f"{prefix}.acc": Measured(wilson(score.right_objects, score.objects))}
    if with_null:
        right, total = score.right_objects + score.right_nulls, score.objects + score.nulls
        report[f"{prefix}.acc_with_null"] = Measured(wilson(right, total))
    return report


def alfred_alignment(trained: Path, folder: Path) -> MeasuredFigures:
    """The instruction's target, out of everything in the scene."""
    alignment = AlignmentModel.load(trained / "alignment-alfred")
    chunk = chunk_cache(trained)
    scenes = scene_objects(read_alfred(folder / "goto-train.jsonl.gz"))
    steps = read_alfred(folder / "goto-valid_seen.jsonl.gz")
    texts = from_alfred(steps, chunk, lambda step: scenes.get(step.scene, set()) | set(step.objects))
    counts = Association(alfred_texts(LanguageTraining(), folder, chunk))
    named = [text for text in texts if (text.target or "") in text.text.lower().replace(" ", "")]
    report: MeasuredFigures = {}
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
