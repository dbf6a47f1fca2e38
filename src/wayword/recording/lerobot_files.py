"""Flights as a LeRobotDataset v3: what LeRobot's trainers and viewers open (docs/recordings.md).

    with LeRobotFiles(folder) as files:
        files.add("stop in front of the globe", images, poses, actions, success)    # once per flight

    meta/info.json, meta/stats.json                    features, counts, statistics for normalising
    meta/tasks.parquet                                 one row per different instruction
    meta/episodes/chunk-000/file-000.parquet           one row per flight: its instruction and its frames
    data/chunk-000/file-000.parquet ...                one row per decision, with its picture as PNG

Pictures are PNG inside the tables, not films: at 128 x 72 that is small, and what the policy saw stays to the bit.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.errors import WaywordError
from wayword.io import write_json
from wayword.task import DECISION_S

IMAGE, STATE, ACTION = "observation.images.front", "observation.state", "action"
_EPISODES_PER_FILE = 400
_STATE = ["x_m", "y_m", "z_m", "roll_rad", "pitch_rad", "yaw_rad"]
_ACTION = ["forward_m_s", "yaw_rate_rad_s", "stop"]
_QUANTILES = (1, 10, 50, 90, 99)


def need_pyarrow() -> None:
    """Say what to install."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise WaywordError('--format lerobot needs pyarrow: pip install -e ".[lerobot]"') from error


def check_empty(folder: Path) -> None:
    """A dataset is written once, whole."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WaywordError(f"{folder}: is there already; choose a new folder for --out")


class LeRobotFiles:
    """Writes one dataset; its folder appears when the ``with`` block is left without an error."""

    def __init__(self, folder: Path) -> None:
        need_pyarrow()
        check_empty(folder)
        self.folder = folder
        self._tasks: dict[str, int] = {}
        self._episodes: list[dict[str, Any]] = []
        self._frames = 0
        self._writer: Any = None
        self._numbers: dict[str, list[NDArray[np.float64]]] = {STATE: [], ACTION: []}
        self._pixels: list[NDArray[np.float64]] = []
        self._shape: tuple[int, ...] = ()

    def __enter__(self) -> Self:
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self._work = tempfile.TemporaryDirectory(prefix=f".{self.folder.name}-", dir=self.folder.parent)
        self._root = Path(self._work.name) / "dataset"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._writer is not None:
                self._writer.close()
            if kind is None:
                self._finish()
                if self.folder.is_dir():
                    self.folder.rmdir()  # empty, as was checked
                os.replace(self._root, self.folder)
        finally:
            self._work.cleanup()

    def add(
        self,
        instruction: str,
        images: NDArray[np.uint8],
        poses: NDArray[np.float64],
        actions: NDArray[np.float64],
        success: bool,
    ) -> None:
        """A flight: pictures (T, H, W, 3), poses (T, 6) and actions (T, 3) at its decisions, and whether it arrived."""
        import pyarrow as pa

        count, number = len(images), len(self._episodes)
        if not count == len(poses) == len(actions):
            raise ValueError(f"{count} images, {len(poses)} poses and {len(actions)} actions: one of each per decision")
        if self._shape and images.shape[1:] != self._shape:
            raise ValueError(f"images of {images.shape[1:]} after {self._shape}; a dataset has one size")
        self._shape = images.shape[1:]
        task = self._tasks.setdefault(instruction, len(self._tasks))
        last = np.arange(count) == count - 1
        columns = {
            IMAGE: pa.array([{"bytes": _png(image), "path": None} for image in images], _picture()),
            STATE: _rows(poses),
            ACTION: _rows(actions),
            "next.reward": pa.array((last & success).astype(np.float32)),
            "next.done": pa.array(last),
            "next.success": pa.array(last & success),
            "timestamp": pa.array((np.arange(count) * DECISION_S).astype(np.float32)),
            "frame_index": pa.array(np.arange(count)),
            "episode_index": pa.array(np.full(count, number)),
            "index": pa.array(np.arange(self._frames, self._frames + count)),
            "task_index": pa.array(np.full(count, task)),
        }
        self._write(number, pa.table(columns))
        self._numbers[STATE].append(np.asarray(poses, np.float64))
        self._numbers[ACTION].append(np.asarray(actions, np.float64))
        self._pixels.append(images[:: max(count // 4, 1)].reshape(-1, 3)[::7] / 255)
        file = number // _EPISODES_PER_FILE
        self._episodes.append({
            "episode_index": number, "tasks": [instruction], "length": count,
            "dataset_from_index": self._frames, "dataset_to_index": self._frames + count,
            "data/chunk_index": file // 1000, "data/file_index": file % 1000,
            "meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0,
        })  # fmt: skip
        self._frames += count

    def _write(self, number: int, table: Any) -> None:
        import pyarrow.parquet as pq

        if number % _EPISODES_PER_FILE == 0:
            if self._writer is not None:
                self._writer.close()
            file = number // _EPISODES_PER_FILE
            path = self._root / f"data/chunk-{file // 1000:03d}/file-{file % 1000:03d}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(path, table.schema)
        self._writer.write_table(table)

    def _finish(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self._episodes:
            raise WaywordError("there is no flight to write")
        path = self._root / "meta/episodes/chunk-000/file-000.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(self._episodes), path)
        pq.write_table(_tasks(list(self._tasks)), self._root / "meta/tasks.parquet")
        write_json(self._root / "meta/info.json", self._info())
        pixels = np.concatenate(self._pixels)
        stats = {name: _statistics(np.concatenate(values)) for name, values in self._numbers.items()}
        stats[IMAGE] = _statistics(pixels, (3, 1, 1))
        write_json(self._root / "meta/stats.json", stats)

    def _info(self) -> dict[str, Any]:
        one = {"shape": [1], "names": None}
        numbers = ("frame_index", "episode_index", "index", "task_index")
        return {
            "codebase_version": "v3.0",
            "robot_type": "wayword",
            "total_episodes": len(self._episodes),
            "total_frames": self._frames,
            "total_tasks": len(self._tasks),
            "chunks_size": 1000,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": round(1 / DECISION_S),
            "splits": {"train": f"0:{len(self._episodes)}"},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": None,
            "features": {
                IMAGE: {"dtype": "image", "shape": list(self._shape), "names": ["height", "width", "channels"]},
                STATE: {"dtype": "float32", "shape": [6], "names": _STATE},
                ACTION: {"dtype": "float32", "shape": [3], "names": _ACTION},
                "next.reward": {"dtype": "float32", **one},
                "next.done": {"dtype": "bool", **one},
                "next.success": {"dtype": "bool", **one},
                "timestamp": {"dtype": "float32", **one},
                **{name: {"dtype": "int64", **one} for name in numbers},
            },
        }


def _picture() -> Any:
    import pyarrow as pa

    return pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def _png(image: NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "PNG")
    return buffer.getvalue()


def _rows(values: NDArray[np.float64]) -> Any:
    """(T, N) as lists of N."""
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(values, np.float32).ravel())
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _tasks(tasks: list[str]) -> Any:
    """The table of instructions as pandas reads it: the texts are its index, which only its own remark can say."""
    import pyarrow as pa

    index = {"field_name": "task", "name": "task", "pandas_type": "unicode", "numpy_type": "object", "metadata": None}
    number = {**index, "field_name": "task_index", "name": "task_index", "pandas_type": "int64", "numpy_type": "int64"}
    remark = {"index_columns": ["task"], "column_indexes": [], "columns": [number, index], "pandas_version": "2.2.0"}
    table = pa.table({"task_index": pa.array(np.arange(len(tasks))), "task": pa.array(tasks)})
    return table.replace_schema_metadata({"pandas": json.dumps(remark)})


def _statistics(values: NDArray[np.float64], shape: tuple[int, ...] | None = None) -> dict[str, Any]:
    """Per column, in the shape that LeRobot's normalisers expect."""
    columns = {"min": values.min(0), "max": values.max(0), "mean": values.mean(0), "std": values.std(0)}
    columns |= {f"q{share:02d}": np.percentile(values, share, axis=0) for share in _QUANTILES}
    lists = {name: (row if shape is None else row.reshape(shape)).tolist() for name, row in columns.items()}
    return {**lists, "count": [len(values)]}
