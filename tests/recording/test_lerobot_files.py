"""A LeRobotDataset v3, read back as its own reader does: tables by pyarrow, texts as the index of the tasks."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wayword.errors import WaywordError
from wayword.recording.lerobot_files import ACTION, IMAGE, STATE, LeRobotFiles

pytestmark = pytest.mark.needs_pyarrow


def test_two_flights(tmp_path: Path, rng: np.random.Generator) -> None:
    import pyarrow.parquet as pq

    images = rng.integers(0, 255, (5, 72, 128, 3), dtype=np.uint8)
    poses, actions = rng.normal(size=(5, 6)), rng.normal(size=(5, 3))
    with LeRobotFiles(tmp_path / "set") as files:
        files.add("stop at the globe", images[:3], poses[:3], actions[:3], True)
        files.add("stop at the globe", images[3:], poses[3:], actions[3:], False)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]  # no temporary folder is left
    info = json.loads((tmp_path / "set/meta/info.json").read_text())
    assert (info["codebase_version"], info["fps"]) == ("v3.0", 2)
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (2, 5, 1)
    rows = pq.read_table(tmp_path / "set/data/chunk-000/file-000.parquet").to_pydict()
    assert set(rows) == set(info["features"])
    seen = [np.asarray(Image.open(io.BytesIO(cell["bytes"]))) for cell in rows[IMAGE]]
    np.testing.assert_array_equal(seen, images)  # to the bit
    np.testing.assert_allclose(rows[STATE], poses, rtol=1e-6)
    np.testing.assert_allclose(rows[ACTION], actions, rtol=1e-6)
    assert rows["timestamp"] == [0.0, 0.5, 1.0, 0.0, 0.5]
    assert rows["next.done"] == [False, False, True, False, True]
    assert rows["next.success"] == [False, False, True, False, False]
    assert rows["index"] == list(range(5))
    episodes = pq.read_table(tmp_path / "set/meta/episodes/chunk-000/file-000.parquet").to_pydict()
    assert (episodes["dataset_from_index"], episodes["dataset_to_index"]) == ([0, 3], [3, 5])
    assert pq.read_table(tmp_path / "set/meta/tasks.parquet").to_pydict()["task"] == ["stop at the globe"]
    stats = json.loads((tmp_path / "set/meta/stats.json").read_text())
    assert stats[ACTION]["mean"] == pytest.approx(actions.mean(0).tolist())
    assert np.array(stats[IMAGE]["mean"]).shape == (3, 1, 1)


def test_half_a_dataset_is_none(tmp_path: Path) -> None:
    def stop_half_way() -> None:
        with LeRobotFiles(tmp_path / "set") as files:
            files.add("go", np.zeros((1, 72, 128, 3), np.uint8), np.zeros((1, 6)), np.zeros((1, 3)), True)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_half_way()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine").touch()
    with pytest.raises(WaywordError, match="choose a new folder"):
        LeRobotFiles(tmp_path / "set")
