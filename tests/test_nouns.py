"""Things are called by what they are: a participle such as ``found`` says what was done to a thing, not what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "wayword"
PARTICIPLES = frozenset({
    "asked", "chosen", "drawn", "found", "given", "got", "gotten", "heard", "kept",
    "made", "picked", "said", "seen", "shown", "spoken", "taken", "told", "wanted",
})  # fmt: skip
EVENTS = {("recording/mcap_log.py", "said")}
"""Methods that log what has happened: the drone moved, commanded, said."""


def names_given(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that a module gives to variables, arguments, attributes, functions and classes, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node.lineno


def participles(source: str) -> list[tuple[str, int]]:
    """Those of them that are bare participles, private or not."""
    return [(name, line) for name, line in names_given(ast.parse(source)) if name.strip("_").lower() in PARTICIPLES]


def test_things_are_not_called_by_what_was_done_to_them() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        names = participles(path.read_text(encoding="utf-8"))
        wrong += [f"{place}:{line} {name}" for name, line in names if (place, name) not in EVENTS]
    assert not wrong, "call it by a noun that says what it holds:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("found = 1", ["found"]),
        ("for seen in frames: pass", ["seen"]),
        ("a, (kept, b) = pairs", ["kept"]),
        ("result = [made for made in parts]", ["made"]),
        ("if (told := ask()): pass", ["told"]),
        ("def fly(chosen): pass", ["chosen"]),
        ("class Flight:\n    shown: int", ["shown"]),
        ("self._taken = 0", ["_taken"]),
        ("def _said(): pass", ["_said"]),
        ("class Heard: pass", ["Heard"]),
        ("with open(path) as given: pass", ["given"]),
        # What is only used, and names in which a noun says what was found or seen, are fine.
        ("print(found)", []),
        ("found_boxes, seen_from, kept_until_s = f(wanted=1)", []),
    ],
)
def test_where_a_name_can_be_given(source: str, names: list[str]) -> None:
    assert [name for name, _ in participles(source)] == names
