"""The whole training of the language side, from data to weights: what `wayword train language` does.

    train_language(LanguageSettings().with_seed(7), LanguageSources(ewt=...), Path("runs/language"))

First the chunker, unless there is one already, then the stages of ``train_language`` that need it. Every folder of
weights that comes out holds train_config.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from wayword.errors import WaywordError
from wayword.learning.common.train_config import TrainConfig, claim
from wayword.learning.language.gold_references import GOLD_FOLDER, read_gold
from wayword.learning.language.train_chunker import ChunkerInputs, ChunkerTraining, train_chunker
from wayword.learning.language.train_language import LanguageTraining, StageProgress, train_references

TRAINING = "language"
"""As train_config.json calls it."""
_WEIGHTS = ("objref", "references")


@dataclass(frozen=True)
class LanguageSettings:
    """Every setting of every stage."""

    chunker: ChunkerTraining | None = field(default_factory=ChunkerTraining)
    """None: one that is there already, the shipped one or that of ``LanguageSources.chunker``."""
    rest: LanguageTraining = field(default_factory=LanguageTraining)
    """Of all stages after it; what is held out stands in ``LanguageSources.gold``."""

    @property
    def seed(self) -> int:
        """As given to ``with_seed``."""
        return self.rest.seed

    @property
    def repeatable(self) -> bool:
        """No stage looks at the clock."""
        return True

    def with_seed(self, seed: int) -> LanguageSettings:
        """The same with this seed in every stage."""
        rest = replace(
            self.rest, seed=seed, alignment=replace(self.rest.alignment, seed=seed),
            references=replace(self.rest.references, seed=seed), objref=replace(self.rest.objref, seed=seed),
        )  # fmt: skip
        return replace(self, chunker=self.chunker and replace(self.chunker, seed=seed), rest=rest)


@dataclass(frozen=True)
class LanguageSources:
    """Folders that the user names."""

    ewt: Path | None = None
    """With ewt-train.conllu.gz and ewt-dev.conllu.gz."""
    alfred: Path | None = None
    """With goto-train.jsonl.gz."""
    gold: Path = GOLD_FOLDER
    """With nav_train_objrefs.jsonl: instructions that are kept out of training."""
    chunker: Path | None = None
    """A trained chunker; otherwise the shipped one, if none is trained."""


def check_sources(config: LanguageSettings, sources: LanguageSources) -> None:
    """Refuse what cannot be trained, before anything is begun."""
    if config.chunker is not None and sources.ewt is None:
        raise WaywordError("the chunker learns from UD English EWT; name its folder with --ewt, or --skip-chunker")
    if config.chunker is not None and sources.chunker is not None:
        raise WaywordError(f"--chunker {sources.chunker}: a chunker is trained; leave one of the two out")


def train_language(
    config: LanguageSettings, sources: LanguageSources, out: Path, progress: StageProgress = lambda *_: None
) -> tuple[Mapping[str, object], TrainConfig]:
    """Train all stages; returns what is worth knowing about them, by name, and what the run folder says of the run."""
    check_sources(config, sources)
    record = claim(out, TRAINING, config, sources)
    held = tuple(text.text for text in read_gold(sources.gold / "nav_train_objrefs.jsonl"))
    chunker, lines = sources.chunker, {}
    if config.chunker is not None and sources.ewt is not None:
        chunker = out / "chunker"
        scores = train_chunker(config.chunker, ChunkerInputs(sources.ewt), chunker)
        lines = {f"chunker, {name}": str(score) for name, score in scores.items()}
    trained = train_references(replace(config.rest, held_out=held), out, chunker, sources.alfred, progress)
    for name in _WEIGHTS:
        record.keep(out / name)
    return {**lines, **asdict(trained)}, record
