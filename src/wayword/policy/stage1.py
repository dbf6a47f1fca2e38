"""Stage 1 at flight time: instruction and masks to visitation distributions, through onnxruntime.

text.onnx         tokens (1, L)                                         ->  states (1, L, H), mean state (1, H)
visitation.onnx   psi (N, R, H), mean state (N, H), S (N, R, 64, 64),
                  others (N, 6, 64, 64)                                 ->  d^p, d^g as probabilities (N, 2, 4097)

Both are made from ``model.safetensors`` by ``wayword.learning.policy.export``; a test holds them against torch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import DataError
from wayword.grounding.backend import open_session
from wayword.policy.mirror import mirrored_distributions, mirrored_maps, together
from wayword.policy.tokens import OBJECT, Vocabulary, mirrored

SCHEMA = 1
SHIPPED = Path(__file__).parent / "weights"


@dataclass(frozen=True, eq=False)
class Words:
    """An anonymised instruction, encoded."""

    psi: NDArray[np.float32]
    """(R, H): context embedding of each reference."""
    mean: NDArray[np.float32]
    """(H,): the object-independent instruction representation."""
    mirrored: Words | None = None
    """The same instruction with left for right."""


class Stage1Runtime:
    """The two exported networks and the vocabulary.

    With ``mirror``, stage 1 is asked twice, the second time in a mirror, and answers with what both agree on (an
    extension of the paper): KL on natural dev instructions 0.41 instead of 0.45 for d^p, 1.24 instead of 1.29 for d^g.
    """

    def __init__(self, folder: Path, mirror: bool = True) -> None:
        raw = read_config(folder)
        self.mirror = mirror
        try:
            hashes = raw["sha256"]
            self.vocabulary = Vocabulary(tuple(raw["vocabulary"]))
            self._text = open_session(folder / "text.onnx", hashes["text.onnx"])
            self._visitation = open_session(folder / "visitation.onnx", hashes["visitation.onnx"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(folder / "config.json", "is damaged; reinstall or train again") from error

    def encode(self, tokens: list[str]) -> Words:
        """Read one anonymised instruction."""
        words = self._encode(tokens)
        return replace(words, mirrored=self._encode(mirrored(tokens))) if self.mirror else words

    def _encode(self, tokens: list[str]) -> Words:
        numbers = self.vocabulary.numbers(tokens)
        states, mean = self._text.run(None, {"tokens": numbers[None]})
        return Words(states[0][numbers == OBJECT], mean[0])

    def predict(
        self, words: list[Words], references: list[NDArray[np.float32]], others: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Distributions (N, 2, 4097) of N drones with any number of references each, (R_n, 64, 64)."""
        result = self._predict(words, references, others)
        if self.mirror:
            turned = [word.mirrored for word in words if word.mirrored is not None]
            flipped = self._predict(turned, [masks[:, ::-1] for masks in references], mirrored_maps(others))
            result = together(result, mirrored_distributions(flipped))
        if not np.isfinite(result).all():
            raise ValueError("stage 1 predicted something that is not finite")
        return result

    def _predict(
        self, words: list[Words], references: list[NDArray[np.float32]], others: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        count, most = len(words), max(1, *(len(masks) for masks in references))
        psi = np.zeros((count, most, len(words[0].mean)), np.float32)
        masks = np.zeros((count, most, *others.shape[2:]), np.float32)
        for n, (word, mask) in enumerate(zip(words, references, strict=True)):
            psi[n, : len(mask)] = word.psi[: len(mask)]
            masks[n, : len(mask)] = mask
        mean = np.stack([word.mean for word in words])
        inputs = {"psi": psi, "mean": mean, "references": masks, "others": others}
        result: NDArray[np.float32] = self._visitation.run(None, inputs)[0]
        return result


def read_config(folder: Path) -> dict[str, Any]:
    """What ``config.json`` of a folder of weights says."""
    path = folder / "config.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        schema = raw["schema"]
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); reinstall or train again") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(path, "is damaged; reinstall or train again") from error
    if schema != SCHEMA:
        raise DataError(path, f"has schema {schema}; this version reads {SCHEMA}")
    return dict(raw)
