"""One name for one thing: no public function or class is defined under the same name in two modules."""

from __future__ import annotations

import ast
from collections import defaultdict
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


def definitions() -> dict[str, list[str]]:
    """Public functions and classes at the top of a module, and the modules that define them."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                places[node.name].append(module)
    return places


def test_a_name_means_one_thing() -> None:
    twice = {name: modules for name, modules in definitions().items() if len(set(modules)) > 1}
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
