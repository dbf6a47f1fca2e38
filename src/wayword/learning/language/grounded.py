"""Instructions with the objects they may speak of: what the alignment model learns from.

Three sources, one form: natural episodes, generated episodes, and ALFRED's "go to" steps (where the objects
are those known to be in the scene and the gold target gives something to score against).
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wayword.episodes.format import Episode
from wayword.episodes.geometry import Array, distances_to_path
from wayword.episodes.instructions.writer import WrittenInstruction
from wayword.errors import DataError
from wayword.io import write_text
from wayword.language.alignment import NULL, PROXIMITY_M
from wayword.language.chunker import Chunker

Span = tuple[int, int]


@dataclass(frozen=True)
class Grounded:
    """An instruction, its noun chunks and its candidates.

    Attributes:
        text: the instruction.
        chunks: character offsets of the noun chunks.
        candidates: objects that may be spoken of, NULL last.
        gold: per chunk, the object it refers to ("" for none); empty if unknown.
        target: the one object the instruction leads to, where the data says so.
    """

    text: str
    chunks: tuple[Span, ...]
    candidates: tuple[str, ...]
    gold: tuple[str, ...] = ()
    target: str | None = None

    @property
    def phrases(self) -> tuple[str, ...]:
        """The chunks as the language model sees them: lower case, single spaces."""
        return tuple(" ".join(self.text[start:end].lower().split()) for start, end in self.chunks)


def from_episodes(episodes: Iterable[Episode], chunk: Callable[[str], Sequence[Span]]) -> list[Grounded]:
    """One ``Grounded`` per segment: candidates are the objects within 1.41 m of the segment's path."""
    result = []
    for episode in episodes:
        places = np.array([(placed.x, placed.y) for placed in episode.objects])
        names = [placed.name for placed in episode.objects]
        for number, segment in enumerate(episode.segments):
            first, last = episode.bounds(number)
            result.append(
                Grounded(
                    segment.instruction,
                    tuple(chunk(segment.instruction)),
                    (*near(places, names, episode.path[first : last + 1]), NULL),
                )
            )
    return result


def from_written(
    pairs: Iterable[tuple[Episode, Sequence[WrittenInstruction]]], chunk: Callable[[str], Sequence[Span]]
) -> list[Grounded]:
    """Generated episodes, with the generator's own references as gold.

    Chunks that stand for a part of an object ("its roof") are left out: whether they mean the object is a matter
    of taste. Pronouns count as NULL, since a phrase model cannot know what "it" is.
    """
    result = []
    for episode, written in pairs:
        plain = from_episodes([episode], chunk)
        for text, instruction in zip(plain, written, strict=True):
            chunks, gold = [], []
            for start, end in text.chunks:
                inside = [r for r in instruction.references if start < r.end and end > r.start]
                if any(r.form == "part" or start >= r.base_end for r in inside):
                    continue
                chunks.append((start, end))
                gold.append(next((r.name for r in inside if r.form == "phrase"), NULL))
            result.append(replace(text, chunks=tuple(chunks), gold=tuple(gold)))
    return result


def near(places: Array, names: Sequence[str], path: Array) -> list[str]:
    """Names of the objects within 1.41 m of ``path``, in the order given."""
    distances = distances_to_path(places, path)
    return [name for name, distance in zip(names, distances, strict=True) if distance <= PROXIMITY_M]


@dataclass(frozen=True)
class AlfredStep:
    """One "go to" step of ALFRED."""

    instruction: str
    target: str
    scene: str
    objects: tuple[str, ...]


def read_alfred(path: Path) -> list[AlfredStep]:
    """Read goto-*.jsonl.gz; object names in lower case."""
    steps = []
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    row = json.loads(line)
                    names = tuple(str(name).lower() for name in row["objects"])
                    steps.append(AlfredStep(str(row["instruction"]), str(row["target"]).lower(), row["scene"], names))
                except (ValueError, KeyError, TypeError) as error:
                    raise DataError(path, "not a step of ALFRED", number) from error
    except (OSError, EOFError) as error:
        raise DataError(path, "cannot be read; name the folder with goto-train.jsonl.gz") from error
    return steps


def scene_objects(steps: Iterable[AlfredStep]) -> dict[str, set[str]]:
    """Everything known to stand in each scene: what is listed, and what any step there led to."""
    scenes: dict[str, set[str]] = defaultdict(set)
    for step in steps:
        scenes[step.scene] |= {*step.objects, step.target}
    return dict(scenes)


def from_alfred(
    steps: Sequence[AlfredStep], chunk: Callable[[str], Sequence[Span]], candidates: Callable[[AlfredStep], set[str]]
) -> list[Grounded]:
    """One ``Grounded`` per step that has chunks, with the candidates chosen by the caller."""
    result = []
    for step in steps:
        chunks = tuple(chunk(step.instruction))
        if chunks:
            names = (*sorted(candidates(step)), NULL)
            result.append(Grounded(step.instruction, chunks, names, target=step.target))
    return result


class ChunkCache:
    """A chunker that remembers, in memory and in a file: chunking is the slow part of preparing text."""

    def __init__(self, chunker: Chunker, path: Path | None = None) -> None:
        self._chunker = chunker
        self._path = path
        self._known: dict[str, list[Span]] = {}
        if path is not None and path.is_file():
            try:
                rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
                self._known = {text: [(start, end) for start, end in spans] for text, spans in rows}
            except (ValueError, TypeError) as error:
                raise DataError(path, "this file of chunks is damaged; delete it") from error

    def __call__(self, text: str) -> list[Span]:
        """Spans of the noun chunks of ``text``."""
        if text not in self._known:
            self._known[text] = [(chunk.start, chunk.end) for chunk in self._chunker.chunk(text)]
        return self._known[text]

    def save(self) -> None:
        """Write what is known to the file."""
        if self._path is not None:
            lines = (json.dumps([text, spans], ensure_ascii=False) for text, spans in self._known.items())
            write_text(self._path, "\n".join(lines) + "\n")
