"""Kernels are cached on disk where that is possible, and work where it is not."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core import caching
from numba.core.dispatcher import Dispatcher

import wayword
from wayword.compiled import compiled, kernel_digest

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


def test_kernels_run_as_python_where_numba_is_told_not_to_compile(tmp_path: Path) -> None:
    (tmp_path / "kernel_of_a_test.py").write_text(MODULE)
    command = (
        "import kernel_of_a_test as k; from wayword.policy.steps.route import route; print(k.double(21), k.double)"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("42 <function double")


def test_mistakes_in_a_kernel_are_not_taken_for_a_missing_cache() -> None:
    with pytest.raises(TypeError):
        compiled()(42)  # type: ignore[arg-type]


WORLD = "CELL_M = 0.5\nSIZE = (3, 4)\n"
INNER = """
from compiled_world import SIZE
from wayword.compiled import compiled


@compiled({options})
def corner(x):
    return x * SIZE[0] + SIZE[1]
"""
OUTER = """
import compiled_world
from compiled_inner import corner
from wayword.compiled import compiled


@compiled()
def cells(x):
    return corner(x) / compiled_world.CELL_M + later(x)


@compiled()
def later(x):
    return 0.0
"""
FILES = ("compiled_world", "compiled_inner", "compiled_outer")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three modules: a kernel, one it calls in another file, and constants of both in a third."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python's own cache knows whole seconds only
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, text in zip(FILES, (WORLD, INNER.format(options=""), OUTER), strict=True):
        (tmp_path / f"{name}.py").write_text(text)
    yield tmp_path
    for name in FILES:
        sys.modules.pop(name, None)


def cells(folder: Path, **changes: tuple[str, str]) -> tuple[float, int]:
    """What the outer kernel says in a new process, so to speak, and how often it came from the cache."""
    for name, (old, new) in changes.items():
        path = folder / f"{name}.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    for name in FILES:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    kernel: Any = importlib.import_module("compiled_outer").cells
    return kernel(2.0), sum(kernel.stats.cache_hits.values())


def test_no_constant_of_a_kernel_goes_stale(house: Path) -> None:
    # The outer kernel's own file never changes. (2 * 3 + 4) / 0.5 = 20.
    assert cells(house) == (20.0, 0)
    assert cells(house) == (20.0, 1)
    assert cells(house, compiled_world=("CELL_M = 0.5", "CELL_M = 0.25")) == (40.0, 0)
    assert cells(house, compiled_world=("(3, 4)", "(3, 5)")) == (44.0, 0)  # a constant of the one it calls
    assert cells(house, compiled_inner=("x * SIZE", "-x * SIZE")) == (-4.0, 0)  # (-2 * 3 + 5) / 0.25
    assert cells(house, compiled_inner=("@compiled()", "@compiled(fastmath=True)")) == (-4.0, 0)
    assert cells(house) == (-4.0, 1)
    assert cells(house, compiled_world=("SIZE", "OTHER = 1\nSIZE")) == (-4.0, 1)  # not compiled in: nothing to do


TABLE = np.arange(3.0)
DEPTH = {"a": 1}


def of_table(x: int) -> float:
    return float(TABLE[x])


def of_itself(x: int) -> int:
    return 1 if x <= 0 else of_itself(x - 1)


def of_a_mapping(x: int) -> int:
    return x + len(DEPTH)


def test_digests_know_arrays_options_and_kernels_that_call_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = compiled()(of_table)
    before = kernel_digest(kernel)
    assert before == kernel_digest(compiled()(of_table)) != kernel_digest(compiled(fastmath=True)(of_table))
    monkeypatch.setitem(globals(), "TABLE", np.arange(3.0, dtype=np.float32))
    assert kernel_digest(kernel) != before
    assert len(kernel_digest(compiled()(of_itself))) == 64
    with pytest.raises(TypeError, match="nothing would notice its change"):
        kernel_digest(compiled()(of_a_mapping))


def kernels() -> Iterator[tuple[str, Any]]:
    """Every kernel of the package, with its name."""
    root = Path(wayword.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if any(mark in path.read_text(encoding="utf-8") for mark in ("\n@compiled(", "\n@kernel", "\n@inlined")):
            name = ".".join(path.relative_to(root.parent).with_suffix("").parts)
            module: ModuleType = importlib.import_module(name)
            yield from ((f"{name}.{key}", v) for key, v in vars(module).items() if isinstance(v, Dispatcher))


def test_every_kernel_has_a_digest_and_a_cache() -> None:
    every = dict(kernels())
    assert len(every) > 40
    for name, kernel in every.items():
        assert len(kernel_digest(kernel)) == 64, name
        assert type(kernel._cache).__module__ == "wayword.compiled", name  # none decorated with bare njit
    assert "njit" not in "".join(
        path.read_text(encoding="utf-8")
        for path in Path(wayword.__file__).parent.rglob("*.py")
        if path.name != "compiled.py"
    )
