"""What users may rely on: the names of ``wayword`` and of its packages, and that asking for one is cheap."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import wayword
from wayword.lazy_names import lazy_names

STABLE = [
    "Action", "Arena", "ArenaConfig", "Camera", "DataError", "Episode", "Example", "FlightResult", "FsPVN",
    "Grounder", "LanguageModel", "MeshBank", "ObjectDatabase", "Observations", "Parsed", "Pilot", "Policy",
    "Thought", "WaywordError", "__version__", "examples", "fly", "load", "load_episodes", "load_natural",
    "make_policy", "open_database", "teach",
]  # fmt: skip
"""Changing this list is a decision: see docs/extending.md."""
LIGHT = {"wayword.lazy_names", "wayword.shipped"}
"""What is loaded with ``wayword``: a few lines each."""
PACKAGES = sorted(module.name for module in pkgutil.walk_packages(wayword.__path__, "wayword.") if module.ispkg)
SHOWN = [name for name in PACKAGES if not name.startswith("wayword.learning")]


def test_the_public_names_are_these() -> None:
    assert wayword.__all__ == STABLE
    for name in STABLE:
        assert getattr(wayword, name) is not None
    assert set(STABLE) <= set(dir(wayword))
    with pytest.raises(AttributeError, match="module 'wayword' has no attribute 'Pilots'"):
        _ = wayword.Pilots  # type: ignore[attr-defined]


def test_what_a_type_checker_sees_is_what_is_loaded() -> None:
    """The imports under TYPE_CHECKING and the table of lazy names say the same."""
    tree = ast.parse(Path(wayword.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in guarded.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports for alias in node.names if node.module != "pathlib"}
    lazy = {name: f"wayword.{module}" for module, names in wayword._MODULES.items() for name in names}
    assert seen == lazy
    assert {*lazy, "load", "__version__"} == set(STABLE)


@pytest.mark.parametrize("package", SHOWN)
def test_every_package_shows_its_names(package: str) -> None:
    module = importlib.import_module(package)
    names = module.__all__
    assert len(set(names)) == len(names)
    assert all(hasattr(module, name) for name in names)


def test_importing_wayword_loads_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import wayword; "
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith(('_', 'importlib', 'collections'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(done.stdout)
    assert {"wayword", "wayword.lazy_names"} <= set(loaded)
    heavy = {"numpy", "numba", "onnxruntime", "PIL", "scipy", "torch", "rich"}
    assert not {name.split(".")[0] for name in loaded} & heavy
    assert not [name for name in loaded if name.startswith("wayword.") and name not in LIGHT]


def test_no_verb_reads_from_the_tests() -> None:
    for path in (Path(wayword.__file__).parent).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not node.value.startswith("tests/"), f"{path}:{node.lineno} reads from tests/"
                assert node.value != "tests", f"{path}:{node.lineno} reads from tests/"


def test_lazy_names_are_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "lazily"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "heavy.py").write_text("class Thing: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("lazily")
    load = lazy_names("lazily", {"heavy": ("Thing",)})
    assert "lazily.heavy" not in sys.modules
    thing = load("Thing")
    assert vars(module)["Thing"] is thing
    with pytest.raises(AttributeError, match="'lazily' has no attribute 'thing'"):
        load("thing")
    for name in ("lazily", "lazily.heavy"):
        del sys.modules[name]
