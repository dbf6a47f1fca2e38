"""Names that a package shows and loads when they are first asked for.

    __all__ = ["Film", "track_of"]
    __getattr__ = lazy_names(__name__, {"film": ("Film",), "track": ("track_of",)})

So that looking at one module of a package does not load networks, renderers and compilers of the others (PEP 562).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of ``package``, whose ``modules`` define the names beside them."""
    places = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{places[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
