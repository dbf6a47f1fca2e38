"""The trace: numbers that can be read back, in world coordinates where it says so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wayword.mapping.grid import PREDICTION_CELLS, UNOBSERVED
from wayword.pilot.pilot import Pilot
from wayword.policy.thought_record import sparse, tenths, thought_record
from wayword.recording.trace import format_trace


def test_sparse_cells() -> None:
    grid = np.zeros((3, 4), np.float32)
    grid[0, 2], grid[2, 3], grid[1, 1] = 0.25, 0.00123, 0.0009
    assert sparse(grid) == [[0, 2, 0.25], [2, 3, 0.0012]]


def test_tenths() -> None:
    assert tenths(np.array([[0.0, 0.09, 0.1], [0.55, 0.999, 1.0]], np.float32)) == ["001", "599"]


def test_dump_has_a_line_per_entry_and_per_decision() -> None:
    trace = {"instruction": 'say "é"', "path": [[1, 2], [3, 4]], "decisions": [{"a": 1}, {"a": 2}], "none": []}
    text = format_trace(trace)
    assert json.loads(text) == trace
    assert text.splitlines()[2:6] == [
        '  "path": [[1, 2], [3, 4]],',
        '  "decisions": [',
        '    {"a": 1},',
        '    {"a": 2}',
    ]
    with pytest.raises(ValueError, match="not JSON compliant"):
        format_trace({"value": float("nan")})


def test_a_thought_as_plain_numbers() -> None:
    pilot = Pilot.load()
    pilot.reset("stop in front of the globe", "test")
    image = np.random.default_rng(0).integers(0, 256, (72, 128, 3), dtype=np.uint8)
    pilot.act(image, [1.0, 2.0, 0.7, 0.0, 0.0, np.pi / 2])
    thought = pilot.thought
    record = json.loads(json.dumps(thought_record(thought), allow_nan=False))
    boxes = len(thought.grounding.boxes)
    assert [len(record[key]) for key in ("boxes", "p_box", "p_object_of_box", "footprints")] == [boxes] * 4
    assert len(record["p_object_of_reference"]) == len(record["alignment"]) == len(record["references"]) == 1
    assert sum(record["p_object_of_reference"][0]) == pytest.approx(1.0, abs=1e-3)
    assert [len(row) for row in record["coverage"]] == [32] * 32
    for row, name in enumerate(("d_p", "d_g")):
        kept = record[name]
        mass = sum(p for _, _, p in kept["cells"]) + kept["unobserved"]
        assert 0.5 < mass < 1.01
        assert kept["unobserved"] == pytest.approx(float(thought.distributions[row, UNOBSERVED]), abs=1e-4)
        # The start looks along +y: column c is (c - 31.5) cells ahead, so along y; row r is to the left, along -x.
        at = int(thought.distributions[row, :UNOBSERVED].argmax())
        line, column = divmod(at, PREDICTION_CELLS)
        cell = 4.7 / 32
        assert kept["peak"]["x"] == pytest.approx(1.0 - (line - 31.5) * cell, abs=1e-3)
        assert kept["peak"]["y"] == pytest.approx(2.0 + (column - 31.5) * cell, abs=1e-3)
