"""The noun-phrase chunker, Ch(u) of the paper: text in, base noun phrases with character offsets out.

Default: a small convolutional BIO head on frozen MiniLM features, trained on UD English EWT and navigation
sentences (``wayword.learning.language.train_chunker``). The paper used spaCy's; see ``spacy_chunker`` for that.

    x   (W, D)   features of the W words: those of each word's first word piece
    h   (W, H)   h_0 = relu(A x + a);  h_k = norm(h_{k-1} + relu(conv_k h_{k-1})), k = 1 ... blocks
    s   (W, 3)   scores of O, B, I, decoded so that no I follows an O
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from wayword.errors import WaywordError
from wayword.io import atomic_path, write_json
from wayword.language.bio import best_tags, chunks_from_tags
from wayword.language.encoder import TokenEncoder, TokenFeatures, check_text
from wayword.language.minilm import MiniLM, MiniLMConfig
from wayword.language.tidying import tidy
from wayword.weight_folder import CONFIG, REMEDY, TENSORS, read_settings, read_tensors, reading

WEIGHTS = Path(__file__).parent / "weights" / "chunker"
NORM_EPSILON = 1e-5


@dataclass(frozen=True)
class Chunk:
    """A base noun phrase: ``text`` is exactly the original's characters [start, end)."""

    start: int
    end: int
    text: str


class Chunker(Protocol):
    """The one contract of all chunkers."""

    def chunk(self, text: str) -> list[Chunk]:
        """The noun phrases of ``text``, in order and disjoint; an empty list if there are none."""


@dataclass(frozen=True)
class HeadConfig:
    """Shape of the BIO head, saved beside its weights.

    Attributes:
        layers: the encoder layers its features are made of.
        width: D, length of a word's features.
        hidden: H.
        blocks: number of convolutions.
        kernel: words each convolution sees; odd.
    """

    layers: tuple[int, ...] = (2, 4, 6)
    width: int = 1152
    hidden: int = 256
    blocks: int = 2
    kernel: int = 3


class BioHead:
    """The head's forward pass in numpy: no torch is needed to read an instruction."""

    def __init__(self, config: HeadConfig, weights: dict[str, NDArray[np.float32]]) -> None:
        self.config = config
        expected = head_shapes(config)
        shapes = {name: value.shape for name, value in weights.items()}
        if shapes != expected:
            wrong = sorted(name for name in expected | shapes if expected.get(name) != shapes.get(name))
            raise WaywordError(f"the chunker's weights do not fit its configuration ({', '.join(wrong[:3])})")
        if not all(np.isfinite(value).all() for value in weights.values()):
            raise WaywordError("the chunker's weights hold values that are not finite")
        self._weights = {name: value.astype(np.float32) for name, value in weights.items()}

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """(W, 3) scores of O, B, I from (W, D) word features."""
        weights, config = self._weights, self.config
        hidden = np.maximum(features @ weights["input.weight"].T + weights["input.bias"], 0)
        reach = config.kernel // 2
        for block in range(config.blocks):
            padded = np.pad(hidden, ((reach, reach), (0, 0)))
            kernel = weights[f"convs.{block}.weight"]  # (H, H, kernel)
            mixed = weights[f"convs.{block}.bias"] + sum(
                padded[shift : shift + len(hidden)] @ kernel[:, :, shift].T for shift in range(config.kernel)
            )
            hidden = hidden + np.maximum(mixed, 0)
            hidden = hidden - hidden.mean(axis=1, keepdims=True)
            hidden /= np.sqrt((hidden**2).mean(axis=1, keepdims=True) + NORM_EPSILON)
            hidden = hidden * weights[f"norms.{block}.weight"] + weights[f"norms.{block}.bias"]
        result: NDArray[np.float32] = hidden @ weights["output.weight"].T + weights["output.bias"]
        return result


class BioChunker:
    """The default chunker: a token encoder and a BIO head."""

    def __init__(self, encoder: TokenEncoder, head: BioHead) -> None:
        self._encoder = encoder
        self._head = head

    def chunk(self, text: str) -> list[Chunk]:
        """The noun phrases of ``text``, in order and disjoint."""
        features, words = word_features(self._encoder.tokens([check_text(text)])[0])
        tags = best_tags(self._head.scores(features))
        spans = ((int(words[first, 0]), int(words[end - 1, 1])) for first, end in chunks_from_tags(tags))
        chunks = (Chunk(start, end, text[start:end]) for span in spans for start, end in tidy(text, *span))
        # A phrase of punctuation or emoji alone refers to nothing.
        return [chunk for chunk in chunks if any(character.isalnum() for character in chunk.text)]


def load_chunker(encoder: TokenEncoder | None = None, weights: Path = WEIGHTS) -> BioChunker:
    """The shipped chunker, or the one saved in a folder.

    Args:
        encoder: share a ``MiniLM`` that is already loaded; by default one is loaded.
        weights: the folder of ``config.json`` and ``model.safetensors``.
    """
    head = load_head(weights)
    if encoder is None:
        encoder = MiniLM(MiniLMConfig(layers=head.config.layers))
    elif isinstance(encoder, MiniLM) and encoder.config.layers != head.config.layers:
        raise WaywordError(
            f"the chunker in {weights} reads encoder layers {head.config.layers}, "
            f"not {encoder.config.layers}; load the encoder with these"
        )
    return BioChunker(encoder, head)


def word_features(tokens: TokenFeatures) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """(W, D) features and (W, 2) character offsets of the words: each word's first piece stands for it."""
    if not len(tokens.words):
        return tokens.features, tokens.offsets
    first = np.flatnonzero(np.diff(tokens.words, prepend=-1))
    last = np.append(first[1:], len(tokens.words)) - 1
    offsets = np.stack([tokens.offsets[first, 0], tokens.offsets[last, 1]], axis=1)
    return tokens.features[first], offsets


def head_shapes(config: HeadConfig) -> dict[str, tuple[int, ...]]:
    """The name and shape of every weight of the head."""
    shapes: dict[str, tuple[int, ...]] = {
        "input.weight": (config.hidden, config.width),
        "input.bias": (config.hidden,),
        "output.weight": (3, config.hidden),
        "output.bias": (3,),
    }
    for block in range(config.blocks):
        shapes[f"convs.{block}.weight"] = (config.hidden, config.hidden, config.kernel)
        for name in (f"convs.{block}.bias", f"norms.{block}.weight", f"norms.{block}.bias"):
            shapes[name] = (config.hidden,)
    return shapes


def save_head(config: HeadConfig, weights: dict[str, NDArray[np.float32]], folder: Path) -> None:
    """Write ``config.json`` and ``model.safetensors`` (float16: half the size, same chunks) to ``folder``."""
    with atomic_path(folder / TENSORS) as temporary:
        save_file({name: np.ascontiguousarray(value, np.float16) for name, value in weights.items()}, temporary)
    write_json(folder / CONFIG, asdict(config))


def load_head(weights: Path) -> BioHead:
    """Read what ``save_head`` wrote."""
    message = f"the chunker's weights are missing or damaged; {REMEDY}"
    with reading(weights / CONFIG, message):
        values = read_settings(weights / CONFIG, message=message)
        config = HeadConfig(**{**values, "layers": tuple(values["layers"])})
    with reading(weights / TENSORS, message):
        return BioHead(config, read_tensors(weights / TENSORS, message))
