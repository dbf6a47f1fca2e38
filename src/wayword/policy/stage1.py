"""Stage 1 at flight time: instruction and masks to visitation distributions, through onnxruntime.

text.onnx         tokens (1, L), encoded (1, L, 384) if it asks for it  ->  states (1, L, H), mean state (1, H)
visitation.onnx   psi (N, R, H), mean state (N, H), S (N, R, 64, 64),
                  others (N, 6, 64, 64)                                 ->  d^p, d^g as probabilities (N, 2, 4097)

Both are made from ``model.safetensors`` by ``wayword.learning.policy.export``; a test holds them against torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import DataError
from wayword.grounding.backend import open_session
from wayword.language.anonymise import PLACEHOLDER
from wayword.mapping.context_map import OTHER_CHANNELS
from wayword.mapping.grid import PREDICTION_CELLS
from wayword.policy.mirror import mirrored_distributions, mirrored_maps, together
from wayword.policy.tokens import OBJECT, Vocabulary, mirrored
from wayword.policy.word_states import WordStates
from wayword.weight_folder import CONFIG, REMEDY, WeightFolder, locate, read_settings

SCHEMA = 1
SHIPPED = Path(__file__).parent / "weights"
MOST_REFERENCES = 12
"""Of an instruction; further ones are left out: none of the corpus comes near."""


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

    def __init__(self, weights: Path | str, mirror: bool = True) -> None:
        folder = WeightFolder.read(locate(weights, SHIPPED), SCHEMA)
        self.mirror = mirror
        with folder.parsing() as settings:
            self.vocabulary = Vocabulary(tuple(settings["vocabulary"]))
        self._text = open_session(*folder.file("text.onnx"))
        self._encoder = WordStates() if any(each.name == "encoded" for each in self._text.get_inputs()) else None
        self._visitation = open_session(*folder.file("visitation.onnx"))
        self._check(folder)

    def _check(self, folder: WeightFolder) -> None:
        """Ask both networks once, so that other networks, some of NaN, or a foreign vocabulary never fly."""
        words = len(self.vocabulary)
        if not self._knows(words - 1) or self._knows(words):
            raise DataError(folder.path / CONFIG, f"has {words} words, text.onnx knows others; {REMEDY}")
        try:
            self.predict(
                [self.encode([PLACEHOLDER])],
                [np.zeros((1, PREDICTION_CELLS, PREDICTION_CELLS), np.float32)],
                np.zeros((1, OTHER_CHANNELS, PREDICTION_CELLS, PREDICTION_CELLS), np.float32),
            )
        except Exception as error:  # onnxruntime raises its own kinds, which share no base class
            raise DataError(folder.path / "visitation.onnx", f"is not the network wanted here; {REMEDY}") from error

    def _knows(self, number: int) -> bool:
        """Whether the text network has an embedding for a word of this number."""
        try:
            states, _ = self._run(np.array([number]), [""])
        except Exception:  # onnxruntime's own kinds again
            return False
        return bool(np.isfinite(states).all())

    def encode(self, tokens: list[str]) -> Words:
        """Read one anonymised instruction."""
        words = self._encode(tokens)
        return replace(words, mirrored=self._encode(mirrored(tokens))) if self.mirror else words

    def _encode(self, tokens: list[str]) -> Words:
        numbers = self.vocabulary.numbers(tokens)
        states, mean = self._run(numbers, tokens)
        return Words(states[0][numbers == OBJECT], mean[0])

    def _run(self, numbers: NDArray[np.int64], tokens: Sequence[str]) -> list[NDArray[np.float32]]:
        inputs: dict[str, NDArray[Any]] = {"tokens": numbers[None]}
        if self._encoder is not None:
            inputs["encoded"] = self._encoder.of(tokens)[None]
        result: list[NDArray[np.float32]] = self._text.run(None, inputs)
        return result

    def predict(
        self, words: Sequence[Words], references: Sequence[NDArray[np.float32]], others: NDArray[np.float32]
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
        self, words: Sequence[Words], references: Sequence[NDArray[np.float32]], others: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        count, most = len(words), max(1, *(len(masks) for masks in references))
        psi = np.zeros((count, most, words[0].psi.shape[1]), np.float32)
        masks = np.zeros((count, most, *others.shape[2:]), np.float32)
        for n, (word, mask) in enumerate(zip(words, references, strict=True)):
            psi[n, : len(mask)] = word.psi[: len(mask)]
            masks[n, : len(mask)] = mask
        mean = np.stack([word.mean for word in words])
        inputs = {"psi": psi, "mean": mean, "references": masks, "others": others}
        result: NDArray[np.float32] = self._visitation.run(None, inputs)[0]
        return result


def read_policy_config(weights: Path) -> dict[str, Any]:
    """What ``config.json`` of a folder of the policy's weights says."""
    return read_settings(weights / CONFIG, SCHEMA)
