"""Instructions whose chunks were annotated by hand with what they refer to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from wayword.errors import DataError

GOLD_FOLDER = Path(__file__).parent / "data" / "gold"
"""Annotated by hand: never trained on."""
KINDS = ("object", "pronoun", "part", "other")


@dataclass(frozen=True)
class GoldChunk:
    """A noun chunk.

    Attributes:
        start: first character.
        end: one past its last character.
        text: the chunk.
        kind: "object" (names one), "pronoun" (stands for one), "part" (of one, or half of a name) or "other".
        object: the object meant by an "object" or a "pronoun".
    """

    start: int
    end: int
    text: str
    kind: str
    object: str | None


@dataclass(frozen=True)
class GoldText:
    """An annotated instruction; ``id`` is the episode's id and the segment's number from 0."""

    id: str
    text: str
    chunks: tuple[GoldChunk, ...]


def read_gold(path: Path) -> list[GoldText]:
    """Read a .jsonl of {"id", "text", "chunks": [{"start", "end", "kind", "object"}]}."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); the gold files stand in {GOLD_FOLDER}") from error
    texts = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            text = row["text"]
            chunks = tuple(
                GoldChunk(item["start"], item["end"], text[item["start"] : item["end"]], item["kind"], item["object"])
                for item in row["chunks"]
            )
            if any(chunk.kind not in KINDS or not chunk.text for chunk in chunks):
                raise ValueError("bad chunk")
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(path, "not an annotated instruction", number) from error
        texts.append(GoldText(row["id"], text, chunks))
    return texts
