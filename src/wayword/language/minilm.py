"""The all-MiniLM-L6-v2 sentence encoder, shipped with the package and run by onnxruntime.

    hidden{l}   (B, T, 384)   layer l = 0 (embeddings) ... 6, for B texts of T word pieces
    sentence    (B, 384)      mean of hidden6 over the pieces, unit length

Where the file comes from and how close it is to the original: data/README.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray
from tokenizers import Tokenizer

from wayword.errors import DataError, WaywordError
from wayword.language.encoder import TokenFeatures, check_text

DATA = Path(__file__).parent / "data"
WIDTH = 384
LAYERS = 6


@dataclass(frozen=True)
class MiniLMConfig:
    """How the encoder is run.

    Attributes:
        layers: which hidden layers make up a token's features, joined in this order. The last layer is
            trained for sentence similarity and has lost much of the syntax: base noun phrases on EWT dev,
            same head, F1 from layer 6 alone 89.4, from layer 4 alone 93.8, from 2 + 4 + 6 together 94.3.
        batch: texts per call of the network.
        window: word pieces per call; longer texts are cut into windows that overlap by a quarter.
        threads: threads of one call. One is right when several processes run side by side.
    """

    layers: tuple[int, ...] = (2, 4, 6)
    batch: int = 32
    window: int = 128
    threads: int = 1


class MiniLM:
    """Both a ``PhraseEncoder`` (``embed``) and a ``TokenEncoder`` (``tokens``)."""

    def __init__(self, config: MiniLMConfig | None = None, weights: Path = DATA) -> None:
        self.config = config or MiniLMConfig()
        if not all(0 <= layer <= LAYERS for layer in self.config.layers) or not self.config.layers:
            raise WaywordError(f"layers must be numbers from 0 to {LAYERS}, not {self.config.layers}")
        if not 16 <= self.config.window <= 256 or self.config.batch < 1 or self.config.threads < 1:
            raise WaywordError("window must be 16 to 256, batch and threads at least 1")
        self._folder = weights
        self._session = _load_session(weights / "minilm.onnx", self.config.threads)
        self._tokenizer = _load_tokenizer(weights / "tokenizer.json")

    @property
    def dimension(self) -> int:
        """Length of a phrase vector."""
        return WIDTH

    def embed(self, phrases: Sequence[str]) -> NDArray[np.float32]:
        """(N, 384) float32 unit vectors. A phrase beyond 128 word pieces is cut there."""
        pieces = [
            encoding.ids[: self.config.window - 1] + encoding.ids[-1:]
            if len(encoding.ids) > self.config.window
            else encoding.ids
            for encoding in self._tokenizer.encode_batch([check_text(phrase) for phrase in phrases])
        ]
        vectors = np.empty((len(pieces), WIDTH), np.float32)
        for rows, ids, mask in _batches(pieces, self.config.batch):
            (vectors[rows],) = self._session.run(["sentence"], {"ids": ids, "mask": mask})
        return vectors

    @property
    def maker(self) -> str:
        """The file of the network, how it is run, and by what."""
        return f"{_digest(self._folder)} {self.config.window} onnxruntime {onnxruntime.__version__}"

    def embed_afresh(self, phrases: Sequence[str]) -> NDArray[np.float32]:
        """``embed``, which remembers nothing."""
        return self.embed(phrases)

    def pieces(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Numbers of the word pieces of ``text`` and where each stands, without [CLS] and [SEP]."""
        encoding = self._tokenizer.encode(check_text(text))
        return list(encoding.ids[1:-1]), list(encoding.offsets[1:-1])

    def hidden(self, pieces: Sequence[list[int]], layer: int) -> list[NDArray[np.float32]]:
        """(T, 384) states after ``layer`` of each list of at most 256 pieces, [CLS] and [SEP] as given.

        What lies above the layer is not computed.
        """
        states = [np.zeros((0, WIDTH), np.float32)] * len(pieces)
        for rows, ids, mask in _batches(list(pieces), self.config.batch):
            (values,) = self._session.run([f"hidden{layer}"], {"ids": ids, "mask": mask})
            for row, value in zip(rows, values, strict=True):
                states[row] = value[: len(pieces[row])]
        return states

    def tokens(self, texts: Sequence[str]) -> list[TokenFeatures]:
        """Features (T, 384 x layers) of every word piece, without [CLS] and [SEP]."""
        encodings = self._tokenizer.encode_batch([check_text(text) for text in texts])
        windows: list[tuple[int, int, int, int]] = []  # text, first piece, first kept, end of the kept
        pieces: list[list[int]] = []
        features: list[NDArray[np.float32]] = []
        for number, encoding in enumerate(encodings):
            start, *inner, end = encoding.ids
            features.append(np.empty((len(inner), WIDTH * len(self.config.layers)), np.float32))
            for first, keep, stop in _windows(len(inner), self.config.window - 2):
                windows.append((number, first, keep, stop))
                pieces.append([start, *inner[first : first + self.config.window - 2], end])
        names = [f"hidden{layer}" for layer in self.config.layers]
        for rows, ids, mask in _batches(pieces, self.config.batch):
            hidden = np.concatenate(self._session.run(names, {"ids": ids, "mask": mask}), axis=-1)
            for row, values in zip(rows, hidden, strict=True):
                number, first, keep, stop = windows[row]
                features[number][keep:stop] = values[1 + keep - first : 1 + stop - first]
        return [
            TokenFeatures(
                values,
                np.array(encoding.offsets[1:-1], np.int64).reshape(-1, 2),
                np.array(encoding.word_ids[1:-1], np.int64),
            )
            for values, encoding in zip(features, encodings, strict=True)
        ]


def _windows(length: int, size: int) -> Iterator[tuple[int, int, int]]:
    """(first, keep, stop): read pieces from ``first`` on, use [keep, stop), with context on both sides."""
    margin = size // 8
    keep = 0
    while keep < length:
        first = max(0, keep - margin) if keep else 0
        stop = length if first + size >= length else first + size - margin
        yield first, keep, stop
        keep = stop


def _batches(
    pieces: list[list[int]], size: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Rows of similar length together, padded: (rows, ids, mask)."""
    order = np.argsort([len(ids) for ids in pieces], kind="stable")
    for begin in range(0, len(order), size):
        rows = order[begin : begin + size]
        shape = (len(rows), max(len(pieces[row]) for row in rows))
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for line, row in enumerate(rows):
            ids[line, : len(pieces[row])] = pieces[row]
            mask[line, : len(pieces[row])] = 1
        yield rows, ids, mask


@lru_cache(maxsize=2)
def _digest(folder: Path) -> str:
    total = hashlib.sha256()
    for name in ("minilm.onnx", "tokenizer.json"):
        total.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return total.hexdigest()


@lru_cache(maxsize=2)
def _load_session(path: Path, threads: int) -> onnxruntime.InferenceSession:
    if not path.is_file():
        raise DataError(path, "the text encoder is missing; reinstall wayword")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # a damaged file is reported below, once
    # Multiply the int8 weights out once, at loading: twice as fast as doing it in every call.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises types of its own that share no base class
        raise DataError(path, "the text encoder is damaged; reinstall wayword") from error


def _load_tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # tokenizers raises plain Exception
        raise DataError(path, "the text encoder's tokenizer is missing or damaged; reinstall wayword") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
