"""The reader's network in numpy: two BERT layers on MiniLM's lower ones, and a small decoder that points.

    x    (T, 384)   states after the second layer of MiniLM, plus a vector per mark
    h    (T, 384)   after two more layers, which began as MiniLM's third and fourth and were trained further
    k, b            kind of the text from h (its first piece and its mean); score of "a leg begins here" per piece
    m    (T, D)     h projected; what the decoder attends to
    y    (D,)       decoder state after a token: self-attention over the tokens so far, attention over m, feed-forward
    s               scores of the words of the vocabulary, E y, and of the pieces, (K h) . (Q y) / sqrt D

Matrices are stored as int8 with a scale per row. No torch is needed to read a text.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from wayword.errors import WaywordError
from wayword.io import atomic_path, write_json
from wayword.weight_folder import CONFIG, REMEDY, TENSORS, read_settings, read_tensors, reading

Array = NDArray[np.float32]
EPSILON = 1e-5
WIDTH, HEADS = 384, 12
BELOW = 2
"""Layers of MiniLM below the reader's own."""


@dataclass(frozen=True)
class ReaderConfig:
    """Shape of the network, saved beside its weights."""

    layers: int = 2
    width: int = 256
    heads: int = 8
    blocks: int = 2
    inner: int = 768
    marks: int = 9
    words: int = 0
    longest: int = 100
    kinds: int = 2
    placeholders: str = "box"
    """Words that stand for exactly named objects, in the order in which a text names them: one word piece each, and
    things that can stand anywhere."""


class Encoded:
    """A text after the encoder; what the decoder needs of it is computed once."""

    def __init__(
        self, states: Array, kind: Array, boundary: Array, keys: Array, cross: list[tuple[Array, Array]]
    ) -> None:
        self.states = states
        self.kind = kind
        self.boundary = boundary
        self.keys = keys
        self.cross = cross
        self.past: list[tuple[list[Array], list[Array]]] = []
        self.forget()

    def forget(self) -> None:
        """Begin the line of tokens anew."""
        self.past = [([], []) for _ in self.cross]


class ReaderNetwork:
    """The forward pass."""

    def __init__(self, config: ReaderConfig, weights: dict[str, Array]) -> None:
        self.config = config
        self._w = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
        if not all(np.isfinite(value).all() for value in self._w.values()):
            raise WaywordError("the reader's weights hold values that are not finite")
        needed = {"marks.weight", "words.weight", "places.weight", "memory.weight", "point_key.weight"}
        if not needed <= set(self._w) or self._w["words.weight"].shape != (config.words, config.width):
            raise WaywordError("the reader's weights do not fit its configuration")

    @property
    def weights(self) -> dict[str, Array]:
        """Every tensor by its name."""
        return dict(self._w)

    def _linear(self, x: Array, name: str) -> Array:
        result: Array = x @ self._w[f"{name}.weight"].T + self._w[f"{name}.bias"]
        return result

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
        result: Array = centred / scale * self._w[f"{name}.weight"] + self._w[f"{name}.bias"]
        return result

    def encode(self, first: Array, marks: NDArray[np.int64]) -> Encoded:
        """Run the layers on MiniLM's states of one text."""
        x = first + self._w["marks.weight"][marks]
        for layer in range(self.config.layers):
            name = f"encoder.{layer}"
            query, key, value = np.split(self._linear(x, f"{name}.qkv"), 3, axis=-1)
            x = self._norm(x + self._linear(_attend(query, key, value, HEADS), f"{name}.attended"), f"{name}.norm1")
            wide = _gelu(self._linear(x, f"{name}.wide"))
            x = self._norm(x + self._linear(wide, f"{name}.narrow"), f"{name}.norm2")
        pooled = np.concatenate([x[0], x.mean(axis=0)])
        memory = self._linear(x, "memory")
        cross = []
        for block in range(self.config.blocks):
            key, value = np.split(self._linear(memory, f"decoder.{block}.cross_kv"), 2, axis=-1)
            cross.append((key, value))
        return Encoded(
            memory,
            self._linear(pooled, "kind"),
            self._linear(x, "boundary")[:, 0],
            self._linear(memory, "point_key"),
            cross,
        )

    def word(self, number: int) -> Array:
        """What the decoder is given for a word of the vocabulary."""
        vector: Array = self._w["words.weight"][number]
        return vector

    def piece(self, encoded: Encoded, number: int) -> Array:
        """What the decoder is given for a pointer to a piece."""
        return self._linear(encoded.states[number], "pointed")

    def step(self, encoded: Encoded, vector: Array, at: int) -> tuple[Array, Array]:
        """Scores of the words and of the pieces after one more token at place ``at``."""
        y = vector + self._w["places.weight"][at]
        for block in range(self.config.blocks):
            name = f"decoder.{block}"
            query, key, value = np.split(self._linear(self._norm(y, f"{name}.norm1"), f"{name}.qkv"), 3)
            keys, values = encoded.past[block]
            keys.append(key)
            values.append(value)
            mixed = _attend(query[None], np.stack(keys), np.stack(values), self.config.heads)[0]
            y = y + self._linear(mixed, f"{name}.attended")
            query = self._linear(self._norm(y, f"{name}.norm2"), f"{name}.cross_q")
            mixed = _attend(query[None], *encoded.cross[block], self.config.heads)[0]
            y = y + self._linear(mixed, f"{name}.crossed")
            y = y + self._linear(_gelu(self._linear(self._norm(y, f"{name}.norm3"), f"{name}.wide")), f"{name}.narrow")
        y = self._norm(y, "final")
        pointing = encoded.keys @ self._linear(y, "point_query") / np.float32(np.sqrt(self.config.width))
        return self._linear(y, "output"), pointing


def _attend(query: Array, key: Array, value: Array, heads: int) -> Array:
    """(T, D) queries over (S, D) keys and values, in ``heads`` parts."""
    q, k, v = (part.reshape(len(part), heads, -1).transpose(1, 0, 2) for part in (query, key, value))
    scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(q.shape[-1]))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    result: Array = (weights @ v).transpose(1, 0, 2).reshape(len(query), -1)
    return result


def _gelu(x: Array) -> Array:
    """The tanh form: numpy has no error function."""
    result: Array = 0.5 * x * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))
    return result


def save_network(config: ReaderConfig, weights: dict[str, Array], folder: Path) -> None:
    """Write ``model.safetensors`` (matrices as int8 with a scale per row) and ``config.json``."""
    tensors: dict[str, NDArray[np.generic]] = {}
    for name, value in weights.items():
        if value.ndim == 2 and value.size > 4096:
            scale = np.maximum(np.abs(value).max(axis=1) / 127, 1e-12).astype(np.float32)
            tensors[f"{name}.int8"] = np.rint(value / scale[:, None]).clip(-127, 127).astype(np.int8)
            tensors[f"{name}.scale"] = scale
        else:
            tensors[name] = np.ascontiguousarray(value, np.float32)
    with atomic_path(folder / TENSORS) as temporary:
        save_file(tensors, temporary)
    write_json(folder / CONFIG, asdict(config))


def load_network(weights: Path) -> ReaderNetwork:
    """Read what ``save_network`` wrote."""
    message = f"the reader's weights are missing or damaged; {REMEDY}"
    with reading(weights / CONFIG, message):
        config = ReaderConfig(**read_settings(weights / CONFIG, message=message))
    with reading(weights / TENSORS, message):
        stored = read_tensors(weights / TENSORS, message)
        tensors: dict[str, Array] = {}
        for name, value in stored.items():
            if name.endswith(".int8"):
                tensors[name[:-5]] = value.astype(np.float32) * stored[f"{name[:-5]}.scale"][:, None]
            elif f"{name.removesuffix('.scale')}.int8" not in stored:
                tensors[name] = value
        return ReaderNetwork(config, tensors)
