"""One name for one thing: no public class, function or type is defined under the same name in two modules."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
TWICE = {
    "main": "every training can be run as a module",
    "train": "the function behind each of those mains",
    "averaged_net": "each training of the segmentation has its own network to average",
    "batch": "and its own batches",
    "check": "and what it checks while it trains",
    "project_masks": "the same projection, compiled and with gradients",
}
"""Names that may be defined more than once, and why."""


def meanings(module: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Public names at the top of a module that stand for a function, a class or a type, and what each means.

    Two definitions of a function or class are two meanings. Two aliases mean the same if the same type is written after
    them, as in ``Point = tuple[float, float]``; arrays that differ in their numbers' precision count as one.
    """
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if not node.name.startswith("_"):
                yield node.name, module
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id[:1].isupper() and not target.id.isupper():
                written = ast.unparse(node.value)
                if not written.startswith("TypeVar("):
                    yield target.id, written.replace("float32", "float64")


def definitions() -> dict[str, dict[str, str]]:
    """For every such name what it means, and a module that says so."""
    places: dict[str, dict[str, str]] = defaultdict(dict)
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for name, meaning in meanings(module, ast.parse(path.read_text(encoding="utf-8"))):
            places[name].setdefault(meaning, module)
    return places


def test_a_name_means_one_thing() -> None:
    twice = {name: sorted(modules.values()) for name, modules in definitions().items() if len(modules) > 1}
    surprising = {name: modules for name, modules in twice.items() if name not in TWICE}
    assert not surprising, f"choose another name, one that says which: {surprising}"
    outside = {
        name: modules
        for name, modules in twice.items()
        if name not in ("main", "train") and sum(".learning." not in module for module in modules) > 1
    }
    assert set(outside) <= {"project_masks"}, outside
    settled = set(TWICE) - set(twice)
    assert not settled, f"defined once by now, so take it out of TWICE: {settled}"


def test_what_counts_as_a_meaning() -> None:
    source = (
        "Kind = Literal['near', 'far']\n"
        "Floats: TypeAlias = NDArray[np.float32]\n"
        "Job = TypeVar('Job')\n"
        "LIMIT_M = 3.0\n"
        "_Place = tuple[float, float]\n"
        "def fly(): ...\n"
        "class _Hidden: ...\n"
    )
    assert dict(meanings("here", ast.parse(source))) == {
        "Kind": "Literal['near', 'far']", "Floats": "NDArray[np.float64]", "fly": "here",
    }  # fmt: skip
