"""From data to the shipped weights of the language side, in the order in which they need each other.

    chunker      EWT + annotated navigation sentences                     (train_chunker)
    alignment    natural train + generated instructions; ALFRED apart      (train_alignment)
    pool         what the alignment says each object is called             (phrase_pool)
    references   width and background of P(o | r)                          (fit_references)
    objref       the object-reference classifier                           (train_objref)

Every stage leaves its result in its own folder of ``out``. The long ones (chunker, chunks, alignments) keep the
settings that made them and are skipped if they are there already with the same: a run that was stopped goes on
where it was. The last two take a minute or two and are done again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from wayword.episodes.corpus import load_natural
from wayword.episodes.instructions.writer import generate_written
from wayword.errors import DataError
from wayword.io import write_json
from wayword.language.chunker import WEIGHTS, load_chunker
from wayword.language.encoder import CachedPhrases
from wayword.language.minilm import MiniLM
from wayword.language.objref import save_objref
from wayword.language.phrases_db import load_phrases
from wayword.language.reference_model import save_reference_model
from wayword.learning.language.fit_references import ReferenceFit, fit_references
from wayword.learning.language.grounded import (
    ChunkCache,
    Grounded,
    from_alfred,
    from_episodes,
    from_written,
    read_alfred,
)
from wayword.learning.language.phrase_pool import PhrasePoolConfig, pool_phrases
from wayword.learning.language.train_alignment import AlignmentModel, AlignmentTraining, train_alignment
from wayword.learning.language.train_objref import ObjRefTraining, label_phrases, train_objref

StageProgress = Callable[[str, int, int], None]
"""(stage, steps done, steps in all)."""

GENERATED_SEED = 11
"""Of the generated instructions the alignment learns from, at seed 0; the held-out ones of the report use another."""


@dataclass(frozen=True)
class LanguageTraining:
    """What the stages after the chunker learn from, and how."""

    generated: int = 500
    """Generated episodes the alignment learns from, beside the natural ones."""
    alfred_steps: int = 8_000
    """Steps of ALFRED, drawn at random."""
    held_out: tuple[str, ...] = ()
    """Instructions that no stage may learn from (those with gold references)."""
    alignment: AlignmentTraining = field(default_factory=AlignmentTraining)
    """Of p(r | o)."""
    pool: PhrasePoolConfig = field(default_factory=PhrasePoolConfig)
    """When an alignment is believed."""
    references: ReferenceFit = field(default_factory=ReferenceFit)
    """Of P(o | r)."""
    objref: ObjRefTraining = field(default_factory=ObjRefTraining)
    """Of the classifier."""
    seed: int = 0
    """Of the generated instructions and the draw of ALFRED's steps."""


@dataclass(frozen=True)
class TrainedLanguage:
    """What a run reports about itself."""

    navigation: int
    """Instructions the alignment learned from."""
    pool_phrases: int
    """Different phrases of objects in the pool."""
    null_phrases: int
    """Different phrases that mean none."""
    objref_f1: float
    """On objects held out of the network's training, in percent."""
    variance: float
    """Kernel width sigma^2 of P(o | r)."""
    background: float
    """Background density b of P(o | r)."""


def train_references(
    config: LanguageTraining,
    out: Path,
    chunker: Path | None,
    alfred: Path | None,
    progress: StageProgress = lambda *_: None,
) -> TrainedLanguage:
    """All stages after the chunker.

    Args:
        config: see there.
        out: one sub-folder per stage; objref and references are what ships.
        chunker: folder of the trained chunker; the shipped one if None.
        alfred: folder with goto-train.jsonl.gz; without it ALFRED is left out.
        progress: told how far each stage is.
    """
    torch.set_num_threads(1)
    encoder = CachedPhrases(MiniLM())
    chunk = chunk_cache(out, chunker)
    settings = _plain(config, alfred) | {"chunker": _mark(chunker)}
    texts = navigation_texts(config, _watched(chunk, progress))
    navigation = _alignment(out / "alignment", texts, config, settings, "alignment", progress)
    pool = pool_phrases(navigation.align_all(texts), config.pool)
    pool.save(out / "pool" / "phrases.json")
    if alfred is not None:
        # ALFRED gives the alignment a score; its phrases stay out of the pool. With them ObjRef did no better on
        # held-out objects (F1 96.7 against 96.9), and some of its things (a bathtub, plates) are unseen ones here.
        known = alfred_texts(config, alfred, _watched(chunk, progress))
        _alignment(out / "alignment-alfred", known, config, settings, "alignment (ALFRED)", progress)
    chunk.save()
    database = {entry.name: entry for entry in load_phrases("seen")}
    reference, _ = fit_references(
        pool, database, encoder, config.references, _counter(progress, "P(o | r)", len(config.references.variances))
    )
    save_reference_model(reference, out / "references", sorted(database))
    data, names = label_phrases(pool, encoder)
    fit = train_objref(
        data, names, database, encoder, config.objref, _counter(progress, "ObjRef", config.objref.folds + 1)
    )
    save_objref(fit.objref.config, fit.weights, out / "objref")
    write_json(out / "objref" / "training.json", settings)
    return TrainedLanguage(
        len(texts),
        sum(len(phrases) for phrases in pool.objects.values()),
        len(pool.null),
        100 * fit.f1,
        reference.variance,
        reference.background,
    )


def chunk_cache(out: Path, chunker: Path | None = None) -> ChunkCache:
    """The chunker in ``chunker`` (the shipped one if None), with what a run in ``out`` has chunked already."""
    path = out / "work" / f"chunks-{_mark(chunker)}.jsonl"
    return ChunkCache(load_chunker(weights=chunker or WEIGHTS), path)


def _mark(chunker: Path | None) -> str:
    """Tells one trained chunker from another."""
    path = (chunker or WEIGHTS) / "model.safetensors"
    try:
        return f"{zlib.crc32(path.read_bytes()):08x}"
    except OSError as error:
        raise DataError(path, "the chunker is missing; train it first") from error


def navigation_texts(config: LanguageTraining, chunk: Callable[[str], list[tuple[int, int]]]) -> list[Grounded]:
    """Natural train and generated instructions about the seen objects, without the held-out ones."""
    held = set(config.held_out)
    names = [entry.name for entry in load_phrases("seen")]
    natural = from_episodes(load_natural("train"), chunk)
    pairs = generate_written("train", config.generated, GENERATED_SEED + 1000 * config.seed, names)
    return [text for text in [*natural, *from_written(pairs, chunk)] if text.text not in held and text.chunks]


def alfred_texts(
    config: LanguageTraining, folder: Path, chunk: Callable[[str], list[tuple[int, int]]]
) -> list[Grounded]:
    """Steps of ALFRED to learn from: what is near the end of the walk is known, so the target is the candidate."""
    steps = read_alfred(folder / "goto-train.jsonl.gz")
    rng = np.random.default_rng([config.seed, 12])
    sample = [steps[row] for row in sorted(rng.permutation(len(steps))[: config.alfred_steps])]
    return from_alfred(sample, chunk, lambda step: {step.target})


def _alignment(
    folder: Path,
    texts: list[Grounded],
    config: LanguageTraining,
    settings: dict[str, Any],
    name: str,
    progress: StageProgress,
) -> AlignmentModel:
    done = folder / "training.json"
    if done.is_file() and json.loads(done.read_text(encoding="utf-8")) == settings:
        return AlignmentModel.load(folder)
    done.unlink(missing_ok=True)
    model = train_alignment(texts, config.alignment, _counter(progress, name, config.alignment.rounds + 1))
    model.save(folder)
    write_json(done, settings)
    return model


def _counter(progress: StageProgress, stage: str, total: int) -> Callable[[int], None]:
    done = 0

    def advance(amount: int) -> None:
        nonlocal done
        done += amount
        progress(stage, done, total)

    return advance


def _watched(chunk: ChunkCache, progress: StageProgress) -> Callable[[str], list[tuple[int, int]]]:
    """``chunk`` that tells how many texts it has seen, and saves now and then for a later resume."""
    count = 0

    def watched(text: str) -> list[tuple[int, int]]:
        nonlocal count
        count += 1
        if count % 2000 == 0:
            chunk.save()
        progress("chunking", count, 0)
        return chunk(text)

    return watched


def _plain(config: LanguageTraining, alfred: Path | None) -> dict[str, Any]:
    """The settings as JSON, the same on every machine."""
    held = zlib.crc32("\n".join(config.held_out).encode())
    values = asdict(config) | {"held_out": f"{held:08x}", "alfred": alfred is not None}
    plain: dict[str, Any] = json.loads(json.dumps(values))
    return plain
