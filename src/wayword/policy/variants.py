"""FsPVN and what is compared with it: which weights each takes, and what is taken away from or given to it.

Weights are folders beside each other: ``fspvn`` and, where a variant was trained on its own, ``fspvn_bc``,
``fspvn_nou``, ``fspvn_noi``. ``weights`` always names FsPVN's own, by name or folder; None is the shipped one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.language.pipeline import LanguageModel
from wayword.policy.fspvn import FsPVN, FsPVNConfig
from wayword.policy.perfect import PerfectFsPVN
from wayword.policy.stage1 import SHIPPED
from wayword.policy.wayfinder import PerfectWayfinder, ToldWayfinder, Wayfinder
from wayword.shipped import DEFAULT_GROUNDER
from wayword.weight_folder import holds_weights, locate


@dataclass(frozen=True)
class Variant:
    """One row of the table."""

    name: str
    suffix: str = ""
    """Its own weights are called fspvn + this; "" if it flies with FsPVN's."""
    needs_own: bool = False
    """Without its own weights it cannot fly; otherwise it then takes FsPVN's."""
    config: FsPVNConfig = FsPVNConfig()  # noqa: RUF009 - frozen
    kind: type[FsPVN] = FsPVN
    taken_away: str = ""
    """In words, for the note under the table."""

    def folder(self, weights: Path | str | None = None) -> Path:
        """The folder it loads."""
        main = SHIPPED / "fspvn" if weights is None else locate(weights, SHIPPED).resolve()
        own = main.with_name(main.name + self.suffix)
        if holds_weights(own):
            return own
        if not self.needs_own and holds_weights(main):
            return main
        raise WaywordError(f"{own if self.needs_own else main}: holds no weights of {self.name}; train them first")

    def load(
        self,
        weights: Path | str | None = None,
        grounder: Grounder | Path | str = DEFAULT_GROUNDER,
        language: LanguageModel | None = None,
        camera: Camera | None = None,
    ) -> FsPVN:
        """The policy, ready to fly; several in one process can share the parts that all have.

        ``camera`` is the one whose images it will be shown, by default the one it was trained with.
        """
        config = replace(self.config, camera=camera or Camera())
        policy = self.kind.load(self.folder(weights), grounder, config, language)
        policy.name = self.name
        return policy

    def note(self, weights: Path | str | None = None) -> str:
        """What its weights were trained with, where that is not plain from the name; "" otherwise."""
        if not self.taken_away:
            return ""
        own = self.folder(weights) != FSPVN.folder(weights)
        return f"trained without {self.taken_away}" if own else f"FsPVN's weights, {self.taken_away} taken away"


FSPVN = Variant("fspvn")
FSPVN_BC = Variant("fspvn_bc", "_bc", needs_own=True)
FSPVN_NOU = Variant("fspvn_nou", "_nou", config=FsPVNConfig(empty_instructions=True), taken_away="the instruction")
FSPVN_NOI = Variant("fspvn_noi", "_noi", config=FsPVNConfig(blank_images=True), taken_away="the image")
FSPVN_PERFECT = Variant("fspvn_perfect", kind=PerfectFsPVN)
WAYFINDER = Variant("wayword", kind=Wayfinder)
WAYFINDER_TOLD = Variant("wayword_told", kind=ToldWayfinder)
WAYFINDER_PERFECT = Variant("wayword_perfect", kind=PerfectWayfinder)
VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {variant.name: variant for variant in (FSPVN, FSPVN_BC, FSPVN_NOU, FSPVN_NOI, FSPVN_PERFECT)}
)
"""The paper's."""
WITH_WEIGHTS: Mapping[str, Variant] = MappingProxyType(
    {**VARIANTS, **{variant.name: variant for variant in (WAYFINDER, WAYFINDER_TOLD, WAYFINDER_PERFECT)}}
)
"""Everyone who flies with FsPVN's weights."""
