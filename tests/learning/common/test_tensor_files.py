"""Files that a run left behind, damaged or made by somebody hostile: one line each, and nothing is read first."""

from __future__ import annotations

import json
import os
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from wayword.errors import DataError
from wayword.learning.ar.shards import read_shard
from wayword.learning.common.loop import LoopConfig, Run
from wayword.learning.common.tensor_files import FILE_BYTES, read_arrays, read_header, read_state, read_torch
from wayword.learning.grounding.data import read_shard_arrays
from wayword.learning.policy.executions import Execution, read_executions, write_executions
from wayword.learning.policy.export import progress_of
from wayword.learning.policy.sureal import Exchange, averaged_of

TWO = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def write(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    """A file with any header, true or not."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def test_what_was_saved_is_read_to_the_bit(tmp_path: Path) -> None:
    tensors = {
        "net.weight": torch.arange(6, dtype=torch.float32).reshape(2, 3) / 7,
        "net.odd": torch.tensor([True, False, True]),  # what comes after it is not aligned
        "averaged.step": torch.tensor(3, dtype=torch.int64),
        "half": torch.tensor([0.1, 2.0], dtype=torch.float16),
        "none": torch.zeros((0, 4)),
    }
    save_file(tensors, tmp_path / "x.safetensors", {"state": '{"step": 4, "seconds": 1.5}'})
    again = read_torch(tmp_path / "x.safetensors", "train again")
    assert again.keys() == tensors.keys()
    for name, value in tensors.items():
        assert again[name].dtype == value.dtype
        assert torch.equal(again[name], value)
    assert list(read_torch(tmp_path / "x.safetensors", "train again", "averaged.")) == ["step"]
    assert read_state(tmp_path / "x.safetensors", "train again") == {"step": 4, "seconds": 1.5}


@pytest.mark.parametrize(
    ("header", "data"),
    [
        ({"a": TWO}, b"\0" * 7),  # cut off
        ({"a": TWO}, b"\0" * 9),  # something behind it
        ({"a": {**TWO, "shape": [2**40]}}, b"\0" * 8),
        ({"a": {**TWO, "shape": [2**40, 2**40, 0], "data_offsets": [0, 0]}}, b""),
        ({"a": {**TWO, "shape": [-2, -1]}}, b"\0" * 8),
        ({"a": {**TWO, "shape": [2.0]}}, b"\0" * 8),
        ({"a": {**TWO, "shape": [[2]]}}, b"\0" * 8),
        ({"a": {**TWO, "dtype": "object"}}, b"\0" * 8),
        ({"a": {**TWO, "dtype": ["F32"]}}, b"\0" * 8),
        ({"a": {**TWO, "data_offsets": [8, 0]}}, b"\0" * 8),
        ({"a": {**TWO, "data_offsets": [0]}}, b"\0" * 8),
        ({"a": TWO, "b": TWO}, b"\0" * 8),  # one place twice
        ({"a": TWO, "b": {**TWO, "data_offsets": [12, 20]}}, b"\0" * 20),  # a gap
        ({"a": 3}, b""),
        ({"__metadata__": {"state": 3}}, b""),
        ({"__metadata__": []}, b""),
        ([], b""),
        (b"[" * 100_000, b""),
        (b'{"a": ' + b"9" * 100_000 + b"}", b""),
        (b"\xff\xfe", b""),
    ],
)
def test_a_header_that_lies_is_one_line(tmp_path: Path, header: Any, data: bytes) -> None:
    path = write(tmp_path / "x.safetensors", header, data)
    with pytest.raises(DataError, match="is missing or damaged; train again"):
        read_arrays(path, "train again")


def test_nothing_is_read_of_what_is_too_large_or_no_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    with path.open("wb") as file:  # sparse: it takes no room on the disk
        file.truncate(FILE_BYTES + 1)
    os.mkfifo(tmp_path / "pipe")
    tracemalloc.start()
    for bad, why in ((path, "has 4.0 GB"), (tmp_path / "pipe", "regular"), (Path("/dev/zero"), "regular")):
        with pytest.raises(DataError, match=why):
            read_torch(bad, "train again")
    long = write(tmp_path / "long", {"a": TWO}, b"\0" * 8, length=2**62)
    for bad in (tmp_path, tmp_path / "none", long):
        with pytest.raises(DataError):
            read_header(bad, "train again")
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


@pytest.mark.parametrize("state", ["{", "[]", '{"step": -1, "seconds": 0}', '{"step": 1e999, "seconds": 0}', '"step"'])
def test_progress_that_is_none_is_one_line(tmp_path: Path, state: str) -> None:
    save_file({"a": torch.zeros(1)}, tmp_path / "checkpoint.safetensors", {"state": state})
    with pytest.raises(DataError, match="how far"):
        progress_of(tmp_path)


class Toy(nn.Module):
    def __init__(self, size: int = 3) -> None:
        super().__init__()
        self.layer = nn.Linear(size, 1)


def trained(folder: Path) -> dict[str, torch.Tensor]:
    """A run of one step, and what its checkpoint holds."""
    loop = Run(folder, Toy(), LoopConfig(steps=4, minutes=10))
    loop.update(loop.net.layer(torch.ones(1, 3)).sum(), {})  # type: ignore[operator]
    loop.save()
    return read_torch(folder / "checkpoint.safetensors", "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("net.layer.weight", torch.full((1, 3), float("nan"))),
        ("net.layer.weight", torch.zeros(1, 4)),
        ("averaged.layer.weight", torch.zeros(4, 1)),
        ("averaged.more", torch.zeros(1)),
        ("optimiser.0.exp_avg", torch.zeros(7)),
    ],
)
def test_a_checkpoint_of_something_else_is_one_line(tmp_path: Path, name: str, value: torch.Tensor) -> None:
    tensors = trained(tmp_path)
    Run(tmp_path, Toy(), LoopConfig(steps=4, minutes=10))  # as it is, the run goes on
    state = read_header(tmp_path / "checkpoint.safetensors", "").texts
    save_file({**tensors, name: value}, tmp_path / "checkpoint.safetensors", dict(state))
    with pytest.raises(DataError, match="delete the folder to start anew") as error:
        Run(tmp_path, Toy(), LoopConfig(steps=4, minutes=10))
    assert "\n" not in str(error.value)


def test_other_readers_of_runs_say_one_line_too(tmp_path: Path) -> None:
    write(tmp_path / "checkpoint.safetensors", {"a": TWO}, b"\0" * 7)
    with pytest.raises(DataError, match="train stage 1 first"):
        averaged_of(tmp_path)
    write(
        tmp_path / "shard-00000.safetensors",
        {"rgb": {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]}},
        b"12345678",
    )
    with pytest.raises(DataError, match="no shard"):
        read_shard(tmp_path / "shard-00000.safetensors")
    with pytest.raises(DataError, match="not a shard"):
        read_shard_arrays(tmp_path / "shard-00000.safetensors")
    exchange = Exchange(tmp_path / "exchange")
    write(exchange.stage1, {"__metadata__": {"step": "many"}, "a": TWO}, b"\0" * 8)
    with pytest.raises(DataError, match="its step"):
        exchange.newest_parameters()


def test_executions_whose_counts_lie_are_one_line(tmp_path: Path) -> None:
    boxes = (np.zeros((3, 4), np.float32), np.zeros(3, np.float32), np.zeros((3, 2), np.float16))
    flight = Execution(np.zeros((2, 6)), np.array([1, 2]), *boxes)
    path = tmp_path / "shard-00000.safetensors"
    write_executions(path, [flight])
    assert [len(each) for each in read_executions(path)] == [2]
    arrays = {name: torch.from_numpy(np.array(value)) for name, value in read_arrays(path, "").items()}
    for name, value in (("counts", [1, 3]), ("counts", [-1, 4]), ("frames", [3]), ("frames", [[2]])):
        save_file({**arrays, name: torch.tensor(value)}, path)
        with pytest.raises(DataError, match="record it anew"):
            list(read_executions(path))
    exchange = Exchange(tmp_path / "exchange")
    exchange.send_executions(1, [7], [flight])
    with pytest.raises(DataError, match="does not fit"):  # of an instruction that there is not
        exchange.merge([], 0)
