"""Runs the networks: onnxruntime on one thread, from files whose hashes are known.

    Network   float32 arrays (N, ...) in, a tuple of float32 arrays (N, ...) out

The .onnx files are made from ``model.safetensors`` by ``wayword.learning.grounding.export``; a test holds the
two against each other. On one core onnxruntime takes a third to a half of eager torch's time, and the package
does not need torch to fly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from wayword.errors import DataError
from wayword.weight_folder import REMEDY, read_checked


class Network(Protocol):
    """A network as the segmentation calls it."""

    def __call__(self, inputs: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        """All outputs for a batch."""
        ...


class OnnxNetwork:
    """One .onnx file."""

    def __init__(self, path: Path, sha256: str | None = None, threads: int = 1) -> None:
        self._path, self._session = path, open_session(path, sha256, threads)
        self.maker = None if sha256 is None else f"{sha256} onnxruntime {onnxruntime.__version__}"
        """The file and what runs it, where that is known."""
        self._input = self._session.get_inputs()[0].name

    def __call__(self, inputs: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        """All outputs for a batch."""
        try:
            return tuple(self._session.run(None, {self._input: inputs}))
        except Exception as error:  # onnxruntime raises its own kinds, which share no base class
            raise DataError(self._path, f"is not the network that is wanted here; {REMEDY}") from error


def open_session(path: Path, sha256: str | None = None, threads: int = 1) -> Any:
    """An onnxruntime session of a file that has the digest its ``config.json`` states."""
    content = read_checked(path, sha256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises its own kinds, which share no base class
        raise DataError(path, f"is not a network onnxruntime can read; {REMEDY}") from error
