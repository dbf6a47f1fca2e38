"""The order of packages: imports point from what comes later in the data flow to what comes before, never back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import wayword

ROOT = Path(wayword.__file__).parent
ORDER = (
    "(root)",
    "compute",
    "episodes",
    "language",
    "objects",
    "grounding",
    "mapping",
    "policy",
    "sim",
    "pilot",
    "pictures",
    "learning",
    "flight",
    "recording",
    "evaluation",
    "flying",
    "judge",
    "studio",
    "cli",
)
"""A package may import those before it. The modules beside them, such as ``task`` and ``camera``, import no package."""


def modules() -> dict[str, Path]:
    """Every module of the project by its dotted name."""
    names = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


MODULES = modules()


def package_of(module: str) -> str:
    """The package a module belongs to; "(root)" for the modules beside the packages, "" for ``wayword`` itself."""
    parts = module.split(".")
    if len(parts) == 1:
        return ""
    if parts[1] == "__main__":
        return "cli"  # ``python -m wayword`` is the command line
    return parts[1] if (ROOT / parts[1]).is_dir() else "(root)"


def imports(path: Path, at_once: bool = False) -> Iterator[tuple[str, int]]:
    """Modules of the project that a file imports, with the line: anywhere, or ``at_once`` when it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name.split(".")[0] == "wayword")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "wayword":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield (whole if whole in MODULES else str(node.module)), node.lineno


def test_every_package_has_its_place() -> None:
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert folders == set(ORDER) - {"(root)"}


def test_imports_never_point_back() -> None:
    rank = {name: number for number, name in enumerate(ORDER)}
    wrong = [
        f"{module}:{line} imports {imported}"
        for module, path in sorted(MODULES.items())
        for imported, line in imports(path)
        if package_of(module) and package_of(imported) and rank[package_of(imported)] > rank[package_of(module)]
    ]
    assert not wrong, "\n".join(wrong)


def test_modules_do_not_import_each_other_in_circles() -> None:
    graph = {
        module: {name for name, _ in imports(path, at_once=True) if name in MODULES} - {module, "wayword"}
        for module, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join((*way[way.index(module) :], module))
        if module not in done:
            for name in sorted(graph[module]):
                # A package shows its modules' names; that its modules import each other is seen at the modules.
                if not name.startswith(f"{module}.") and not module.startswith(f"{name}."):
                    visit(name, (*way, module))
            done.add(module)

    for module in sorted(graph):
        visit(module, ())


def test_no_file_stands_beside_a_folder_of_its_name() -> None:
    twins = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if path.with_suffix("").is_dir()]
    assert not twins


def test_tests_stand_where_what_they_test_stands() -> None:
    """Folders of tests mirror the packages: who looks for the tests of ``sim/render`` finds ``tests/sim/render``."""
    here = Path(__file__).parent
    others = {"docs", "support", "data"}  # tests of the pages, helpers, and what the tests read
    folders = {path.parent.relative_to(here).as_posix() for path in here.rglob("*.py")} - {".", *others}
    packages = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if path.stem != "__init__"}
    packages.remove(".")
    assert folders <= packages, f"no package is called {sorted(folders - packages)}"
    without = {
        "sim/models/catalogue",
        "flight/testing",
    }  # models, which tests/sim/models checks; autopilots to test with
    assert packages - folders == without


def test_imports_are_absolute() -> None:
    relative = [
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative


def test_constants_of_the_task_stand_in_one_place() -> None:
    """4.7 m and 0.47 m are written as numbers in ``task`` alone; object models have dimensions of their own."""
    allowed = {ROOT / "task.py"}
    for path in ROOT.rglob("*.py"):
        if path in allowed or "models" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.Constant) and node.value in (4.7, 0.47)), f"{path}:{node.lineno}"


def test_the_order_is_the_one_that_is_documented() -> None:
    """CONTRIBUTING draws the order; newcomers read it there."""
    page = (ROOT.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    places = [page.find(f"`{name}/`") for name in ORDER[1:]]
    assert all(place >= 0 for place in places), [n for n, p in zip(ORDER[1:], places, strict=True) if p < 0]
    assert all(before < after for before, after in pairwise(places))


def test_the_places_of_common_changes_are_there() -> None:
    """CONTRIBUTING names one place for each of the newcomer's changes, and what stands there."""
    page = (ROOT.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.partition("## Where to change what")[2].splitlines() if ".py` |" in line]
    assert len(rows) == 8
    for _, _, place, advice, _ in rows:
        text = (ROOT / place.strip(" `")).read_text(encoding="utf-8")
        named = re.findall(r"`([A-Z]\w+)", advice)
        assert not named or any(name in text for name in named), f"{place}: has none of {named}"
