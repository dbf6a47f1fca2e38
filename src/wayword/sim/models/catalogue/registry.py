"""The table of builders: a family module registers each of its functions under a catalogue name."""

from __future__ import annotations

from collections.abc import Callable

from wayword.sim.models.mesh import Solid

Builder = Callable[[], list[Solid]]
BUILDERS: dict[str, Builder] = {}


def model(name: str) -> Callable[[Builder], Builder]:
    """Register the decorated builder as the model of the catalogue object ``name``."""

    def register(builder: Builder) -> Builder:
        if name in BUILDERS:
            raise ValueError(f"two builders for {name!r}")
        BUILDERS[name] = builder
        return builder

    return register
