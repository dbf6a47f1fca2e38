"""One name for one thing: no public name has two meanings, and a folder of weights is called the same everywhere."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
TWICE = {
    "main": "every training can be run as a module",
    "train": "the function behind each of those mains",
}
"""Names that may be defined more than once, and why."""
READERS = frozenset({
    "Control.load", "Grounder.load", "WeightFolder.read", "find_weights", "load_nets", "locate",
    "read_grounding_config", "read_policy_config",
})  # fmt: skip
"""What reads the weights of a policy, a segmentation or a network for photographs."""
WEIGHTS = frozenset({"weights", "grounder", "start", "control"})
"""What a parameter for them is called: ``grounder`` for those of the segmentation, ``start`` for those that a training
goes on from, ``control`` for those whose stage 2 alone is taken."""


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


def weight_parameters(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Parameters of functions that are handed on to what reads weights, as they are, and the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            parameters = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and call.args and ast.unparse(call.func) in READERS:
                    name = ast.unparse(call.args[0])
                    if name in parameters:
                        yield name, call.lineno


def test_weights_are_called_the_same_everywhere() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}:{line} {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for name, line in weight_parameters(ast.parse(path.read_text(encoding="utf-8")))
        if name not in WEIGHTS
    ]
    assert not wrong, f"call it weights or grounder: {wrong}"


def test_where_weights_are_read() -> None:
    source = "def load(folder, size):\n    return Grounder.load(folder), shape(size), find_weights(HERE)\n"
    assert list(weight_parameters(ast.parse(source))) == [("folder", 2)]
