"""How the renderer's kernels are compiled.

Kernels run without numba's reference counting: passing an array to an inlined helper per pixel otherwise
costs two atomic operations per array, more than the shading itself. Hence kernels allocate nothing; the
little scratch space they need is passed in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wayword.compiled import compiled

_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy", "_nrt": False}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that is called from Python, on first use; cached on disk."""
    return compiled(**_OPTIONS)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a helper into every kernel that calls it."""
    return compiled(forceinline=True, **_OPTIONS)(function)
