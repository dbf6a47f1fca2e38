"""How alike views and phrases are, as kernel values for the paper's density estimates.

    K(x, y) = exp(-||f(x) - f(y)||^2 / (2 sigma^2))     1 for the same, towards 0 for unrelated

A ``Similarity`` holds one kernel for images and one for phrases, each with the background density b that
"none of these" has. ``default_similarity`` needs no network: colour histograms for images, unless another kernel
is given (``wayword.grounding.photo_similarity`` has that of ImgEmb), and, for phrases, sentence vectors if the
text encoder is there, else the letters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.objects.cropping import Pixels
from wayword.objects.names import phrase_key

Matrix = NDArray[np.float64]
Vectors = NDArray[np.float32]

_BINS = 6
# (sigma^2, b) by the likelihood of databases of 8 out of the 64 training objects, asked about one of them and about a
# ninth. One crop of a rendered flight against 5 is then right among 8 objects in 73 % (histograms), one phrase
# against 4 in 96 % (sentences) and 92 % (letters).
_HISTOGRAM = (0.07, 0.05)
_SENTENCES = (0.05, 0.001)
_LETTERS = (0.07, 0.0001)


class Similarity(Protocol):
    """What the check needs to know about likeness."""

    @property
    def name(self) -> str:
        """A few words for the report."""

    def image_kernel(self, first: Pixels, second: Pixels) -> Matrix:
        """(N, M) kernel values between crops (N, 32, 32, 3) and (M, 32, 32, 3)."""

    def phrase_kernel(self, first: Sequence[str], second: Sequence[str]) -> Matrix:
        """(N, M) kernel values between phrases."""

    @property
    def image_background(self) -> float:
        """b of the images, on the scale of a kernel whose peak is 1."""

    @property
    def phrase_background(self) -> float:
        """b of the phrases."""


@dataclass(frozen=True)
class VectorSimilarity:
    """A ``Similarity`` from any two embeddings into unit vectors.

    Attributes:
        name: a few words for the report.
        embed_images: (N, 32, 32, 3) uint8 to (N, D) unit vectors.
        embed_phrases: N phrases to (N, E) unit vectors.
        image_variance: sigma^2 of the image kernel.
        phrase_variance: sigma^2 of the phrase kernel.
        image_background: b of the images.
        phrase_background: b of the phrases.
    """

    name: str
    embed_images: Callable[[Pixels], Vectors]
    embed_phrases: Callable[[Sequence[str]], Vectors]
    image_variance: float
    phrase_variance: float
    image_background: float
    phrase_background: float

    def image_kernel(self, first: Pixels, second: Pixels) -> Matrix:
        """(N, M) kernel values between crops."""
        return gaussian_kernel(self.embed_images(first), self.embed_images(second), self.image_variance)

    def phrase_kernel(self, first: Sequence[str], second: Sequence[str]) -> Matrix:
        """(N, M) kernel values between phrases."""
        return gaussian_kernel(self.embed_phrases(first), self.embed_phrases(second), self.phrase_variance)


class ImageKernel(NamedTuple):
    """How images are compared: a few words for the report, unit vectors of (N, 32, 32, 3) crops, sigma^2 and b."""

    name: str
    embed: Callable[[Pixels], Vectors]
    variance: float
    background: float


def default_similarity(images: ImageKernel | None = None) -> VectorSimilarity:
    """Colour histograms if no other kernel is given, and the best phrase vectors that this installation has."""
    images = images or ImageKernel("colours of the photos", colour_histograms, *_HISTOGRAM)
    sentences = _sentence_vectors()
    embed, (variance, background) = sentences or (letter_vectors, _LETTERS)
    name = f"{images.name}, {'sentence vectors' if sentences else 'letters'} of the phrases"
    return VectorSimilarity(name, images.embed, embed, images.variance, variance, images.background, background)


def gaussian_kernel(first: Vectors, second: Vectors, variance: float) -> Matrix:
    """(N, M) values of exp(-d^2 / (2 variance)) between unit vectors (N, D) and (M, D)."""
    if not len(first) or not len(second):
        return np.zeros((len(first), len(second)))
    squared = np.maximum(2.0 - 2.0 * (first.astype(np.float64) @ second.astype(np.float64).T), 0.0)
    result: Matrix = np.exp(squared / (-2.0 * variance))
    return result


def colour_histograms(crops: Pixels) -> Vectors:
    """(N, 216) unit vectors: square roots of colour histograms, the middle of the crop counting most.

    The dot product of two is the Bhattacharyya coefficient of the histograms.
    """
    count, size = len(crops), crops.shape[1] if crops.ndim == 4 else 0
    result = np.zeros((count, _BINS**3), np.float32)
    if not count:
        return result
    axis = (np.arange(size) + 0.5) / size - 0.5
    window = np.exp(-(axis[:, None] ** 2 + axis[None] ** 2) / (2 * 0.25**2)).ravel()
    place = np.clip(crops.reshape(count, -1, 3).astype(np.float64) / 256 * _BINS - 0.5, 0, _BINS - 1)
    low = np.floor(place).astype(np.int64)
    part = place - low
    high = np.minimum(low + 1, _BINS - 1)
    for corner in range(8):  # each pixel is shared out to the eight bins around its colour
        up = np.array([corner >> 2 & 1, corner >> 1 & 1, corner & 1], dtype=bool)
        r, g, b = np.moveaxis(np.where(up, high, low), -1, 0)
        share = np.where(up, part, 1 - part).prod(axis=-1) * window
        numbers = (r * _BINS + g) * _BINS + b
        for row in range(count):
            result[row] += np.bincount(numbers[row], share[row], _BINS**3).astype(np.float32)
    result /= result.sum(axis=1, keepdims=True)
    return np.sqrt(result, out=result)


def letter_vectors(phrases: Sequence[str]) -> Vectors:
    """(N, 2048) unit vectors of letter triples: what remains of likeness without a text encoder."""
    vectors = np.zeros((len(phrases), 2048), np.float32)
    for row, phrase in enumerate(phrases):
        text = f" {phrase_key(phrase)} "
        for start in range(len(text) - 2):
            number = 0
            for character in text[start : start + 3]:
                number = (number * 131 + ord(character)) % 2048
            vectors[row, number] += 1
        vectors[row] /= np.linalg.norm(vectors[row])
    return vectors


def _sentence_vectors() -> tuple[Callable[[Sequence[str]], Vectors], tuple[float, float]] | None:
    """The shipped text encoder with its kernel's numbers, or None where it cannot be had."""
    try:
        from wayword.language.encoder import CachedPhrases
        from wayword.language.minilm import MiniLM

        encoder = CachedPhrases(MiniLM())
    except (ImportError, WaywordError):
        return None
    try:
        from wayword.language.reference_model import load_reference_model

        config = load_reference_model().config
        return encoder.embed, (config.variance, config.background)
    except (ImportError, WaywordError):
        return encoder.embed, _SENTENCES
