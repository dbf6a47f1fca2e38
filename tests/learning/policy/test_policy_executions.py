from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wayword.errors import WaywordError
from wayword.learning.policy.executions import (
    Execution,
    join_frames,
    read_all_executions,
    read_executions,
    write_executions,
)


def execution(frames: int, seed: int) -> Execution:
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(frames):
        boxes = int(rng.integers(0, 4))
        parts.append((
            rng.normal(size=6), rng.random((boxes, 4), np.float32), rng.random(boxes, np.float32),
            rng.normal(size=(boxes, 64)).astype(np.float32),
        ))  # fmt: skip
    return join_frames(parts)


def same(a: Execution, b: Execution) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("poses", "counts", "footprints", "p_box", "embeddings")
    )


def test_what_is_written_is_read(tmp_path: Path) -> None:
    made = [execution(5, 0), execution(1, 1), execution(7, 2)]
    write_executions(tmp_path / "shard-00000.safetensors", made)
    write_executions(tmp_path / "shard-00001.safetensors", made[:1])
    found = read_all_executions(tmp_path)
    assert len(found) == 4
    assert all(same(a, b) for a, b in zip(found, [*made, made[0]], strict=True))


def test_the_first_frames_keep_their_boxes() -> None:
    whole = execution(6, 3)
    part = whole.first(4)
    assert len(part) == 4
    assert len(part.footprints) == whole.counts[:4].sum()
    np.testing.assert_array_equal(part.footprints, whole.footprints[: len(part.footprints)])


def test_arrays_that_do_not_go_together_are_refused() -> None:
    good = execution(3, 4)
    with pytest.raises(ValueError, match="do not go together"):
        Execution(good.poses, good.counts + 1, good.footprints, good.p_box, good.embeddings)


@pytest.mark.parametrize("content", [b"", b"not a shard at all"])
def test_a_damaged_shard_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "shard-00000.safetensors"
    path.write_bytes(content)
    with pytest.raises(WaywordError, match="record it anew"):
        list(read_executions(path))
