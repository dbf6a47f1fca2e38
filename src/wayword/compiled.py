"""Numba with a cache on disk, and without one where no folder can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with a cache; on a read-only installation the function is compiled in every process."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # numba: no locator available, nowhere to put the cache
            return njit(**options)(function)

    return decorate
