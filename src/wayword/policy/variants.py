"""FsPVN and what is compared with it: which weights each takes, and what is taken away from or given to it.

Weights are folders beside each other: ``fspvn`` and, where a variant was trained on its own, ``fspvn_bc``,
``fspvn_nou``, ``fspvn_noi``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.language.pipeline import LanguageModel
from wayword.policy.control import Control
from wayword.policy.fspvn import FsPVN, FsPVNConfig
from wayword.policy.perfect import PerfectFsPVN
from wayword.policy.stage1 import SHIPPED, Stage1Runtime


@dataclass(frozen=True)
class Variant:
    """One row of the table."""

    suffix: str = ""
    """Its own weights are called fspvn + this; "" if it flies with FsPVN's."""
    needs_own: bool = False
    """Without its own weights it cannot fly; otherwise it then takes FsPVN's."""
    config: FsPVNConfig = FsPVNConfig()  # noqa: RUF009 - frozen
    kind: type[FsPVN] = FsPVN
    taken_away: str = ""
    """In words, for the note under the table."""


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        "fspvn": Variant(),
        "fspvn_bc": Variant("_bc", needs_own=True),
        "fspvn_nou": Variant("_nou", config=FsPVNConfig(empty_instructions=True), taken_away="the instruction"),
        "fspvn_noi": Variant("_noi", config=FsPVNConfig(blank_images=True), taken_away="the image"),
        "fspvn_perfect": Variant(kind=PerfectFsPVN),
    }
)


def weights_of(name: str, main: Path | None = None) -> Path:
    """The folder a variant loads; ``main`` is FsPVN's own, the shipped one if not given."""
    variant, folder = VARIANTS[name], main.resolve() if main is not None else SHIPPED / "fspvn"
    own = folder.with_name(folder.name + variant.suffix)
    if (own / "config.json").is_file():
        return own
    if not variant.needs_own and (folder / "config.json").is_file():
        return folder
    raise WaywordError(f"{own if variant.needs_own else folder}: holds no weights of {name}; train them first")


def load_variant(
    name: str, main: Path | None = None, language: LanguageModel | None = None, grounder: Grounder | None = None
) -> FsPVN:
    """FsPVN or a variant of it, ready to fly; several in one process can share the parts that all have."""
    variant, folder = VARIANTS[name], weights_of(name, main)
    stages = Stage1Runtime(folder, variant.config.mirror), Control.load(folder)
    policy = variant.kind(language or LanguageModel.load(), grounder or Grounder.load("sim"), *stages, variant.config)
    policy.name = name
    return policy


def note_of(name: str, main: Path | None = None) -> str:
    """What its weights were trained with, where that is not plain from the name; "" otherwise."""
    variant = VARIANTS[name]
    if not variant.taken_away:
        return ""
    own = weights_of(name, main) != weights_of("fspvn", main)
    return f"trained without {variant.taken_away}" if own else f"FsPVN's weights, {variant.taken_away} taken away"
