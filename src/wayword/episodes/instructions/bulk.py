"""Writing many generated episodes to a file, with several workers, in a way that can be interrupted.

Lines are appended to ``<out>.partial``; beside it ``<out>.partial.json`` says what they are part of. When all
are there the file is renamed to ``<out>``. Started again after Ctrl-C, a kill or a power cut, the same call
drops a line that was cut short and goes on from there: each episode depends on its index only.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from wayword.compute import Crew, Workers, in_order
from wayword.episodes.format import Episode
from wayword.episodes.instructions.drills import generate_drills
from wayword.episodes.instructions.writer import WrittenInstruction, generate_written
from wayword.errors import DataError, WaywordError
from wayword.io import write_json

_CHUNK = 40


@dataclass(frozen=True)
class Recipe:
    """What to write: the first ``count`` episodes of the endless sequence (split, seed, names, voice, drills)."""

    split: str
    count: int
    seed: int
    names: tuple[str, ...]
    voice: str | None = None
    drills: bool = False
    """Pairs that only the told side tells apart (``drills``) instead of demonstrations."""


def write_dataset(
    recipe: Recipe,
    out: Path | str,
    references: Path | str | None = None,
    workers: Workers = 2,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write the episodes to ``out`` and, one line per episode, what their words refer to and claim.

    ``progress`` is called with the number of episodes added, first with those found from an earlier run.
    """
    if recipe.count < 1:
        raise WaywordError("at least one episode is needed")
    crew = Crew(workers) if isinstance(workers, int) else workers
    targets = [Path(out)] + ([Path(references)] if references is not None else [])
    partials = [target.with_name(target.name + ".partial") for target in targets]
    note = targets[0].with_name(targets[0].name + ".partial.json")
    origin = {**asdict(recipe), "names": list(recipe.names), "made_with": grammar_digest(), "files": len(targets)}
    del origin["count"]  # a longer run may go on from a shorter one
    try:
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        done = _resume(partials, note, origin, recipe)
    except OSError as error:
        raise WaywordError(f"{out}: cannot be written ({error.strerror}); choose another place") from error
    if progress is not None:
        progress(done)
    with ExitStack() as stack:
        opened = [stack.enter_context(p.open("a", encoding="utf-8", newline="\n")) for p in partials]
        jobs = [(first, min(_CHUNK, recipe.count - first)) for first in range(done, recipe.count, _CHUNK)]
        for lines in in_order(functools.partial(_lines, recipe), jobs, crew):
            # The references go first: whatever the moment of a kill, no episode is without its own.
            for file, column in reversed(list(zip(opened, zip(*lines, strict=True), strict=False))):
                file.write("\n".join(column) + "\n")
                file.flush()
            if progress is not None:
                progress(len(lines))
    for partial, target in reversed(list(zip(partials, targets, strict=True))):
        os.replace(partial, target)
    note.unlink(missing_ok=True)


def instruction_record(episode: Episode, written: list[WrittenInstruction]) -> dict[str, Any]:
    """The references and claims of an episode's instructions as plain values."""
    return {
        "id": episode.id,
        "voice": written[0].voice,
        "instructions": [
            {
                "text": w.text,
                "references": [asdict(reference) for reference in w.references],
                "claims": [
                    {key: value for key, value in asdict(claim).items() if value not in (None, ())}
                    for claim in w.claims
                ],
            }
            for w in written
        ],
    }


@functools.cache
def grammar_digest() -> str:
    """Changes whenever the grammar, the phrases or the code that writes with them do."""
    folder = files("wayword.episodes.instructions")
    parts = [*folder.iterdir(), *(folder / "rules").iterdir()]
    texts = {p.name: p.read_bytes() for p in parts if p.name.endswith((".py", ".txt", ".json"))}
    return hashlib.sha256(b"".join(name.encode() + texts[name] for name in sorted(texts))).hexdigest()[:16]


def _resume(partials: list[Path], note: Path, origin: dict[str, Any], recipe: Recipe) -> int:
    """How many episodes an earlier run has left; its files are cut to complete lines."""
    if not note.exists():
        for partial in partials:
            partial.unlink(missing_ok=True)
        write_json(note, origin)
        return 0
    try:
        previous = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        previous = None
    if previous != origin:
        message = "belongs to an unfinished run with other settings or an older version; delete it to start afresh"
        raise DataError(note, message)
    offsets = [_line_ends(partial, recipe.count) for partial in partials]
    done = min(len(ends) for ends in offsets)
    for partial, ends in zip(partials, offsets, strict=True):
        if partial.exists():
            with partial.open("r+b") as file:
                file.truncate(ends[done - 1] if done else 0)
    return done


def _line_ends(path: Path, most: int) -> list[int]:
    """The byte after each complete line, of the first ``most`` lines."""
    ends: list[int] = []
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") or len(ends) == most:
                    break
                ends.append((ends[-1] if ends else 0) + len(line))
    return ends


def _lines(recipe: Recipe, job: tuple[int, int]) -> list[tuple[str, str]]:
    first, count = job
    pairs: Iterable[tuple[Episode, list[WrittenInstruction]]]
    if recipe.drills:
        drills = generate_drills(recipe.split, count, recipe.seed, recipe.names, first, recipe.voice)
        pairs = ((drill.episode, drill.written) for drill in drills)
    else:
        pairs = generate_written(recipe.split, count, recipe.seed, recipe.names, first, recipe.voice)
    return [(_json(episode.to_json()), _json(instruction_record(episode, written))) for episode, written in pairs]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
