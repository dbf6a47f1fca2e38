"""Learn p(r | o) and p(o) from instructions whose chunks are not labelled, by expectation-maximisation.

    E   q(o | r) = p(r | o) p(o) / sum over the candidates of the instruction          for every chunk
    M   p(r | o): gradient steps on sum q(o | r) log p(r | o);   p(o): expected mentions per chance to be mentioned

This is IBM Model 1, which the paper names as its model, with the LSTM in place of the table of counts. The
first E step gives NULL half of every chunk and the candidates the rest. (The released code instead weighed each object by the
model's own p(r | o) inside one objective, which reinforces its first guesses.)
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file

from wayword.io import atomic_path, write_json
from wayword.language.alignment import NULL, Aligned, align
from wayword.learning.language.grounded import Grounded
from wayword.learning.language.phrase_lm import UNKNOWN, PhraseLM, Vocabulary, log_likelihoods, pad_words


@dataclass(frozen=True)
class AlignmentTraining:
    """Everything that decides the result."""

    rounds: int = 12
    """E and M steps."""
    steps: int = 150
    """Gradient steps per M step."""
    batch: int = 256
    """Pairs (r, o) per step, drawn in proportion to q."""
    learning_rate: float = 5e-3
    """Of Adam; falls linearly to a tenth over the rounds."""
    blank: float = 0.02
    """Share of words replaced by the unknown word in training, so that it gets a sensible probability."""
    embedding: int = 32
    """Length of a word vector."""
    hidden: int = 64
    """Width of the LSTM."""
    seed: int = 0
    """Of the initial weights and the draws."""


class AlignmentModel:
    """p(r | o) and p(o), ready to align."""

    def __init__(self, lm: PhraseLM, vocabulary: Vocabulary, objects: Sequence[str], prior: dict[str, float]) -> None:
        self.lm = lm
        self.vocabulary = vocabulary
        self.objects = tuple(objects)
        self.prior = prior
        self._numbers = {name: number for number, name in enumerate(self.objects)}

    def log_likelihood(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """log p(r | o) for (phrase, object) pairs."""
        objects = np.array([self._numbers[name] for _, name in pairs], np.int64)
        return log_likelihoods(self.lm, objects, [self.vocabulary.encode(phrase) for phrase, _ in pairs])

    def align(self, text: Grounded) -> list[Aligned]:
        """Equation (align:probe) for every chunk of ``text``; objects never met in training are left out."""
        return self.align_all([text])[0]

    def align_all(self, texts: Sequence[Grounded]) -> list[list[Aligned]]:
        """Align many instructions; each different (phrase, object) is evaluated once."""
        known = [tuple(name for name in text.candidates if name in self._numbers) for text in texts]
        pairs = list(
            dict.fromkeys((p, o) for text, names in zip(texts, known, strict=True) for p in text.phrases for o in names)
        )
        table = dict(zip(pairs, self.log_likelihood(pairs), strict=True)) if pairs else {}
        result = []
        for text, names in zip(texts, known, strict=True):
            values = np.array([[table[phrase, name] for name in names] for phrase in text.phrases])
            result.append(align(text.phrases, names, values, self.prior) if len(text.phrases) else [])
        return result

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors`` and ``config.json``."""
        with atomic_path(folder / "model.safetensors") as temporary:
            save_file({name: value.contiguous() for name, value in self.lm.state_dict().items()}, temporary)
        shape = {"embedding": self.lm.lstm.input_size, "hidden": self.lm.lstm.hidden_size}
        config = {**shape, "objects": self.objects, "prior": self.prior, "words": self.vocabulary.words}
        write_json(folder / "config.json", config)

    @classmethod
    def load(cls, folder: Path) -> AlignmentModel:
        """Read what ``save`` wrote."""
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        vocabulary = Vocabulary(config["words"])
        lm = PhraseLM(len(config["objects"]), len(vocabulary), config["embedding"], config["hidden"])
        lm.load_state_dict(load_file(folder / "model.safetensors"))
        return cls(lm.eval(), vocabulary, config["objects"], config["prior"])


def train_alignment(
    texts: Sequence[Grounded], config: AlignmentTraining, advance: Callable[[int], None] = lambda _: None
) -> AlignmentModel:
    """Fit the alignment model to ``texts``; ``advance`` is told of every finished round."""
    torch.manual_seed(config.seed)
    rng = np.random.default_rng([config.seed, 5])
    objects = sorted({name for text in texts for name in text.candidates} | {NULL})
    vocabulary = Vocabulary.of(phrase for text in texts for phrase in text.phrases)
    lm = PhraseLM(len(objects), len(vocabulary), config.embedding, config.hidden)
    model = AlignmentModel(lm, vocabulary, objects, dict.fromkeys(objects, 1.0))
    optimiser = torch.optim.Adam(lm.parameters())
    groups = _groups(texts)
    for round_number in range(config.rounds):
        expected = _expect(model, groups, first=round_number == 0)
        model.prior = _prior(expected, groups)
        share = round_number / max(1, config.rounds - 1)
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * (1 - 0.9 * share)
        _maximise(model, optimiser, expected, config, rng)
        advance(1)
    lm.eval()
    model.prior = _prior(_expect(model, groups), groups)
    return model


Group = tuple[str, tuple[str, ...]]
"""A phrase and the candidates of the instruction it stands in; equal ones are counted together."""


def _groups(texts: Sequence[Grounded]) -> dict[Group, int]:
    groups: dict[Group, int] = defaultdict(int)
    for text in texts:
        for phrase in text.phrases:
            groups[phrase, text.candidates] += 1
    return dict(groups)


def _expect(model: AlignmentModel, groups: dict[Group, int], first: bool = False) -> dict[tuple[str, str], float]:
    """Expected number of times each phrase was said of each object."""
    pairs = list(dict.fromkeys((phrase, name) for phrase, names in groups for name in names))
    values = np.zeros(len(pairs)) if first else model.log_likelihood(pairs)
    table = dict(zip(pairs, values, strict=True))
    expected: dict[tuple[str, str], float] = defaultdict(float)
    for (phrase, names), count in groups.items():
        joint = np.array([table[phrase, name] for name in names])
        if first:
            joint += [np.log(len(names) - 1) if name == NULL and len(names) > 1 else 0.0 for name in names]
        else:
            joint += np.log([model.prior[name] for name in names])
        weights = np.exp(joint - joint.max())
        for name, weight in zip(names, weights / weights.sum(), strict=True):
            expected[phrase, name] += count * float(weight)
    return expected


def _prior(expected: dict[tuple[str, str], float], groups: dict[Group, int]) -> dict[str, float]:
    """Expected mentions of an object per chunk that might have mentioned it; one mention is added for safety."""
    chances: dict[str, float] = defaultdict(float)
    for (_, names), count in groups.items():
        for name in names:
            chances[name] += count
    mentions: dict[str, float] = defaultdict(float)
    for (_, name), weight in expected.items():
        mentions[name] += weight
    return {name: (mentions[name] + 1.0) / (chance + len(chances)) for name, chance in sorted(chances.items())}


def _maximise(
    model: AlignmentModel,
    optimiser: torch.optim.Optimizer,
    expected: dict[tuple[str, str], float],
    config: AlignmentTraining,
    rng: np.random.Generator,
) -> None:
    pairs = list(expected)
    share = np.array([expected[pair] for pair in pairs])
    share /= share.sum()
    encoded = [model.vocabulary.encode(phrase) for phrase, _ in pairs]
    numbers = np.array([model.objects.index(name) for _, name in pairs], np.int64)
    model.lm.train()
    for _ in range(config.steps):
        rows = rng.choice(len(pairs), config.batch, p=share)
        words = pad_words([encoded[row] for row in rows])
        blank = torch.from_numpy(rng.random(words.shape) < config.blank) & (words > UNKNOWN)
        loss = -model.lm(torch.from_numpy(numbers[rows]), words.masked_fill(blank, UNKNOWN)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.lm.eval()
