"""The README's tables say what was published."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wayword.figures import Figure, load_results

ROOT = Path(__file__).parents[2]

DESCRIPTIONS = {
    "**FsPVN**": "fspvn",
    "with perfect segmentation": "fspvn_perfect",
    "stage 2 by cloning (BC)": "fspvn_bc",
    "told nothing (NoU)": "fspvn_nou",
    "shown nothing (NoI)": "fspvn_noi",
    "Oracle": "oracle",
}
COMMANDS = {
    "**all**": "all.success",
    "nothing this drone can do: refused with a reason": "right_refusals",
    "things touched per flight": "all.contacts",
}
PLAIN = ("goto", "sequence", "compound")
SEVERAL = ("circle", "weave", "between", "side", "moves", "until", "spatial", "negation")


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return dict(load_results(ROOT / "docs" / "results.json"))


@pytest.fixture(scope="module")
def rows() -> dict[str, list[str]]:
    """The cells of every row of every table, by the row's name."""
    lines = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in cells}


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_how_well_it_follows_descriptions(name: str, figures: dict[str, Figure], rows: dict[str, list[str]]) -> None:
    success, interval, distance = (numbers(cell) for cell in rows[name][:3])
    sr, emd = (figures[f"{DESCRIPTIONS[name]}.test.natural.{metric}"] for metric in ("sr", "emd"))
    assert success == [round(sr.value, 1)]
    assert sr.low is not None
    assert sr.high is not None
    assert interval == [round(sr.low, 1), round(sr.high, 1)]
    assert distance == [round(emd.value, 2)]


@pytest.mark.parametrize("name", COMMANDS)
def test_how_well_it_does_what_is_typed(name: str, figures: dict[str, Figure], rows: dict[str, list[str]]) -> None:
    figure = figures[f"commands.wayword.test.{COMMANDS[name]}"]
    places = 2 if name.startswith("things") else 1
    value, interval = (numbers(cell) for cell in rows[name])
    assert value == [round(figure.value, places)]
    assert figure.low is not None
    assert figure.high is not None
    assert interval == [round(figure.low, places), round(figure.high, places)]


def test_families_of_commands(figures: dict[str, Figure], rows: dict[str, list[str]]) -> None:
    shares = {name: figures[f"commands.wayword.test.{name}.success"].value for name in (*PLAIN, *SEVERAL)}
    plain = rows["plain goals / several goals in order / several kinds of steps"][0]
    assert numbers(plain) == [round(shares[name]) for name in PLAIN]
    (others,) = (cells[0] for name, cells in rows.items() if name.startswith("circles, slaloms"))
    low, high = numbers(others)
    assert low == round(min(shares[name] for name in SEVERAL))
    assert high == round(max(shares[name] for name in SEVERAL))
