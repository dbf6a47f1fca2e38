"""The natural corpus that ships with the package; ``data/README.md`` says how it was made."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import as_file, files
from types import MappingProxyType

from wayword.episodes.format import Episode
from wayword.episodes.loader import load_episodes
from wayword.errors import WaywordError

SPLITS: Mapping[str, str] = MappingProxyType({"train": "seen", "dev": "dev", "test": "test"})
"""Each split of the episodes and the catalogue split all its objects come from."""


@cache
def load_natural(split: str) -> tuple[Episode, ...]:
    """The natural episodes of "train", "dev" or "test", read and checked once per process."""
    if split not in SPLITS:
        raise WaywordError(f"there is no split '{split}'; choose one of {', '.join(SPLITS)}")
    with as_file(files("wayword.episodes") / "data" / f"{split}.jsonl") as path:
        return tuple(load_episodes(path))


@cache
def load_reworded() -> tuple[Episode, ...]:
    """For training alone: natural ``train`` episodes in other words, and generated ones in words of no grammar.

    Nothing of what is held out (``held_out_seen``) is among them.
    """
    with as_file(files("wayword.episodes") / "data" / "reworded.jsonl") as path:
        return tuple(load_episodes(path))


def held_out_seen(episode_id: str) -> bool:
    """Whether a natural ``train`` episode is kept from training the policy.

    One in ten, by a hash of its id: layouts and instructions about seen objects that the policy never met, for the
    "seen" column of the results.
    """
    return zlib.crc32(episode_id.encode()) % 10 == 0
