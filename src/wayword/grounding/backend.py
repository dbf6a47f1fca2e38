"""Runs the networks: onnxruntime on one thread, from files whose hashes are known.

    Network   float32 arrays (N, ...) in, a tuple of float32 arrays (N, ...) out

The .onnx files are made from ``model.safetensors`` by ``wayword.learning.grounding.export``; a test holds the
two against each other. On one core onnxruntime takes a third to a half of eager torch's time, and the package
does not need torch to fly.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from wayword.errors import DataError


class Network(Protocol):
    """A network as the segmentation calls it."""

    def __call__(self, inputs: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        """All outputs for a batch."""
        ...


class OnnxNetwork:
    """One .onnx file."""

    def __init__(self, path: Path, sha256: str | None = None, threads: int = 1) -> None:
        self._session = open_session(path, sha256, threads)
        self._input = self._session.get_inputs()[0].name

    def __call__(self, inputs: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        """All outputs for a batch."""
        return tuple(self._session.run(None, {self._input: inputs}))


def open_session(path: Path, sha256: str | None = None, threads: int = 1) -> Any:
    """An onnxruntime session of a file that has the digest its ``config.json`` states."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); reinstall or train again") from error
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(path, "is not the file its config.json describes; reinstall or train again")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises its own kinds, which share no base class
        raise DataError(path, "is not a network onnxruntime can read; reinstall or train again") from error
