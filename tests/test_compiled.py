"""Kernels are cached on disk where that is possible, and work where it is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit
from numba.core import caching

from wayword.compiled import compiled

MODULE = """
from wayword.compiled import compiled


@compiled(nogil=True)
def double(x):
    return 2 * x
"""


def triple(x: float) -> float:
    return 3 * x


def test_a_kernel_is_cached_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))  # wherever the tests themselves keep theirs
    (tmp_path / "kernel_of_a_test.py").write_text(MODULE)
    command = "import kernel_of_a_test as k; print(k.double(21), sum(k.double.stats.cache_hits.values()))"
    runs = [
        subprocess.run([sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.split() for run in runs] == [["42", "0"], ["42", "1"]]
    assert list((tmp_path / "cache").rglob("*.nbi"))


def test_without_a_place_for_the_cache_kernels_are_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    # What numba meets on a read-only installation with a read-only home: no locator can write anywhere.
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator available"):
        njit(cache=True)(triple)
    kernel = compiled(nogil=True)(triple)
    assert kernel(14) == 42
    assert kernel.targetoptions["nogil"]
    assert not kernel.stats.cache_hits


def test_mistakes_in_a_kernel_are_not_taken_for_a_missing_cache() -> None:
    with pytest.raises(TypeError):
        compiled()(42)  # type: ignore[arg-type]
