"""What the language components need from a text encoder, and a cache with a prompt around any of them.

Two small protocols, so that another embedding can be put in:

- ``PhraseEncoder`` turns phrases into unit vectors g(r) that are compared by their dot product;
- ``TokenEncoder`` turns texts into one feature vector per token, with character offsets.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError

MAX_CHARACTERS = 20_000
"""Longer texts are refused; an instruction has about a hundred characters."""

_DETERMINER = re.compile(r"^(the|an?|this|that|these|those|my|your|ur|its|their)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class TokenFeatures:
    """The tokens of one text, in order.

    Attributes:
        features: (T, D) float32, one row per token.
        offsets: (T, 2) int64, where each token stands in the text.
        words: (T,) int64, the number of the word each token is part of; non-decreasing from 0.
    """

    features: NDArray[np.float32]
    offsets: NDArray[np.int64]
    words: NDArray[np.int64]


class PhraseEncoder(Protocol):
    """Phrases in, unit vectors out."""

    @property
    def dimension(self) -> int:
        """Length of each vector."""

    def embed(self, phrases: Sequence[str]) -> NDArray[np.float32]:
        """(N, dimension) float32 unit vectors for N phrases."""


@runtime_checkable
class NamedEncoder(Protocol):
    """A ``PhraseEncoder`` whose vectors can be kept on the disk: it says what makes them."""

    @property
    def maker(self) -> str:
        """Changes whenever the vectors may."""

    def embed_afresh(self, phrases: Sequence[str]) -> NDArray[np.float32]:
        """As ``embed``, from these phrases alone: whatever was embedded before does not change the last bit."""


class TokenEncoder(Protocol):
    """Texts in, a feature vector per token out."""

    def tokens(self, texts: Sequence[str]) -> list[TokenFeatures]:
        """One ``TokenFeatures`` per text; a text without tokens gives empty arrays."""


@dataclass(frozen=True)
class PhraseConfig:
    """How phrases are presented to the encoder.

    Attributes:
        prompt: the phrase is put in place of ``{}``; "{}" alone gives the bare phrase.
        strip_determiner: "the globe" and "a globe" both become "globe" first, so that the prompt reads well.
        cache_size: how many vectors are kept; the least recently used goes first.
    """

    prompt: str = "a photo of a {}"
    strip_determiner: bool = True
    cache_size: int = 65_536


class CachedPhrases:
    """A ``PhraseEncoder`` that adds the prompt and remembers every vector by its string."""

    def __init__(self, encoder: PhraseEncoder, config: PhraseConfig | None = None) -> None:
        self.config = config or PhraseConfig()
        if self.config.prompt.count("{}") != 1:
            raise WaywordError(f"the prompt {self.config.prompt!r} must hold '{{}}' once, where the phrase goes")
        if self.config.cache_size < 1:
            raise WaywordError("cache_size must be at least 1")
        self.encoder = encoder
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self.encoder.dimension

    def embed(self, phrases: Sequence[str]) -> NDArray[np.float32]:
        """(N, dimension) unit vectors; equal up to case, spacing and determiner means equal vectors."""
        if isinstance(phrases, str):
            raise WaywordError("embed takes a list of phrases, not one string; write embed([phrase])")
        texts = [self.present(phrase) for phrase in phrases]
        result = np.empty((len(texts), self.dimension), np.float32)
        missing = list(dict.fromkeys(text for text in texts if text not in self._known))
        fresh = dict(zip(missing, self.encoder.embed(missing), strict=True)) if missing else {}
        for row, text in enumerate(texts):
            if text in fresh:
                result[row] = fresh[text]
            else:
                self._known.move_to_end(text)
                result[row] = self._known[text]
        for text, vector in fresh.items():
            self._known[text] = vector
        while len(self._known) > self.config.cache_size:
            self._known.popitem(last=False)
        return result

    @property
    def maker(self) -> str:
        """The prompt, and the network with its runtime; empty for an encoder that does not say what it is."""
        inner = self.encoder.maker if isinstance(self.encoder, NamedEncoder) else ""
        return f"{self.config.prompt} {self.config.strip_determiner} {inner}" if inner else ""

    def embed_afresh(self, phrases: Sequence[str]) -> NDArray[np.float32]:
        """(N, dimension) unit vectors, computed from these phrases together and not remembered."""
        return self.encoder.embed([self.present(phrase) for phrase in phrases])

    def present(self, phrase: str) -> str:
        """The text that is encoded for ``phrase``."""
        words = " ".join(check_text(phrase).lower().split())
        if not words:
            raise WaywordError("a phrase is empty; give at least one word to embed")
        if self.config.strip_determiner:
            words = _DETERMINER.sub("", words)
        return self.config.prompt.replace("{}", words)


def check_text(text: str) -> str:
    """``text`` itself if it can be processed; otherwise one clear error."""
    if not isinstance(text, str):
        raise WaywordError(f"the text must be a string, not {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise WaywordError(f"the text has {len(text)} characters; give at most {MAX_CHARACTERS}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WaywordError(
            f"the text holds half a character (U+{ord(text[error.start]):04X}) at position {error.start}; "
            "read it as UTF-8"
        ) from error
    return text
