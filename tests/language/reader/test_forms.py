"""Steps that ask for the same flight."""

from __future__ import annotations

import pytest

from wayword.episodes.commands import Step
from wayword.language.reader.forms import same_steps

A, B = "globe", "planter"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([Step("goto", A), Step("circle", A)], [Step("circle", A)]),
        (
            [Step("turn", degrees=180.0), Step("goto", A, stop="behind")],
            [Step("search", A), Step("goto", A, stop="behind")],
        ),
        ([Step("turn", degrees=-180.0)], [Step("turn", degrees=180.0)]),
        ([Step("goto", A), Step("stay")], [Step("goto", A)]),
        ([Step("goto", A), Step("stay"), Step("goto", B)], [Step("goto", A), Step("goto", B)]),
        ([Step("goto", A), Step("face", A)], [Step("goto", A, stop="facing")]),
        ([Step("search", A)], [Step("search", A), Step("goto", A)]),
        ([Step("goto", A), Step("avoid", B)], [Step("avoid", B), Step("goto", A)]),
        ([Step("between", objects=(A, B))], [Step("between", objects=(B, A))]),
    ],
)
def test_equal(first: list[Step], second: list[Step]) -> None:
    assert same_steps(first, second)
    assert same_steps(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([Step("goto", A)], [Step("goto", B)]),
        ([Step("goto", A), Step("circle", B)], [Step("circle", B)]),
        ([Step("stay")], []),
        ([Step("turn", degrees=90.0)], [Step("turn", degrees=-90.0)]),
        ([Step("goto", A), Step("goto", B)], [Step("goto", B), Step("goto", A)]),
        ([Step("between", objects=(A, B), end="in")], [Step("between", objects=(A, B))]),
        ([Step("search", A), Step("goto", B)], [Step("search", A)]),
    ],
)
def test_different(first: list[Step], second: list[Step]) -> None:
    assert not same_steps(first, second)
