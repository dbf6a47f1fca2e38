"""Learn p(r | o) and p(o) from instructions whose chunks are not labelled, by expectation-maximisation.

    E   q(o | r) = p(r | o) p(o) / sum over the candidates of the instruction          for every chunk
    M   p(r | o): gradient steps on sum q(o | r) log p(r | o);   p(o): expected mentions per chance to be mentioned

This is IBM Model 1, which the paper names as its model, with the LSTM in place of the table of counts; a table
of counts gives the first alignment (``unigram_alignment``). (The released code instead weighed each object by the
model's own p(r | o) inside one objective, which reinforces its first guesses.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from wayword.errors import DataError
from wayword.guarded import read_json
from wayword.io import atomic_path, write_json
from wayword.language.alignment import NULL, Aligned, align_chunks, posterior
from wayword.learning.common.tensor_files import read_torch
from wayword.learning.language.grounded import Grounded
from wayword.learning.language.phrase_lm import UNKNOWN, PhraseLM, PhraseVocabulary, log_likelihoods, pad_words
from wayword.learning.language.unigram_alignment import Expected, Group, expect, mention_rates, unigram_alignment

_WIDEST = 4096
"""Of a layer in a file; ours have 64."""


@dataclass(frozen=True)
class AlignmentTraining:
    """Everything that decides the result."""

    rounds: int = 4
    """M and E steps of the LSTM, after the alignment from word counts."""
    first_steps: int = 800
    """Gradient steps of the first M step."""
    steps: int = 250
    """Gradient steps of each further one."""
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

    def __init__(
        self, lm: PhraseLM, vocabulary: PhraseVocabulary, objects: Sequence[str], prior: dict[str, float]
    ) -> None:
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
            result.append(align_chunks(text.phrases, names, values, self.prior) if len(text.phrases) else [])
        return result

    def posteriors(self, text: Grounded) -> list[dict[str, float]]:
        """Per chunk, P(o | r) of every candidate met in training."""
        names = [name for name in text.candidates if name in self._numbers]
        values = self.log_likelihood([(phrase, name) for phrase in text.phrases for name in names])
        prior = np.log([self.prior[name] for name in names])
        table = posterior(values.reshape(len(text.phrases), len(names)), prior) if text.phrases else np.zeros((0, 0))
        return [dict(zip(names, row.tolist(), strict=True)) for row in table]

    def expect(self, groups: Mapping[Group, int]) -> Expected:
        """The E step over counted chunks."""
        pairs = list(dict.fromkeys((phrase, name) for phrase, names in groups for name in names))
        values = self.log_likelihood(pairs) + np.log([self.prior[name] for _, name in pairs])
        return expect(dict(zip(pairs, values.tolist(), strict=True)), groups)

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
        config, remedy = read_json(folder / "config.json"), "train the alignment model again"
        tensors = read_torch(folder / "model.safetensors", remedy)
        try:
            vocabulary = PhraseVocabulary(config["words"])
            if not 0 < max(config["embedding"], config["hidden"]) <= _WIDEST:
                raise ValueError("no network is so wide")
            lm = PhraseLM(len(config["objects"]), len(vocabulary), config["embedding"], config["hidden"])
            lm.load_state_dict(tensors)
            return cls(lm.eval(), vocabulary, config["objects"], config["prior"])
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise DataError(folder, f"its config.json and its weights do not go together; {remedy}") from error


def train_alignment(
    texts: Sequence[Grounded], config: AlignmentTraining, advance: Callable[[int], None] = lambda _: None
) -> AlignmentModel:
    """Fit the alignment model to ``texts``; ``advance`` is told of every finished round."""
    torch.manual_seed(config.seed)
    rng = np.random.default_rng([config.seed, 5])
    objects = sorted({name for text in texts for name in text.candidates} | {NULL})
    vocabulary = PhraseVocabulary.of(phrase for text in texts for phrase in text.phrases)
    lm = PhraseLM(len(objects), len(vocabulary), config.embedding, config.hidden)
    model = AlignmentModel(lm, vocabulary, objects, dict.fromkeys(objects, 1.0))
    optimiser = torch.optim.Adam(lm.parameters())
    groups = _groups(texts)
    expected = unigram_alignment(groups)
    advance(1)
    for round_number in range(config.rounds):
        share = round_number / max(1, config.rounds - 1)
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * (1 - 0.9 * share)
        steps = config.first_steps if round_number == 0 else config.steps
        _maximise(model, optimiser, expected, config, steps, rng)
        model.prior = mention_rates(expected, groups)
        expected = model.expect(groups)
        advance(1)
    model.prior = mention_rates(expected, groups)
    return model


def _groups(texts: Sequence[Grounded]) -> dict[Group, int]:
    groups: dict[Group, int] = defaultdict(int)
    for text in texts:
        for phrase in text.phrases:
            groups[phrase, text.candidates] += 1
    return dict(groups)


def _maximise(
    model: AlignmentModel,
    optimiser: torch.optim.Optimizer,
    expected: Expected,
    config: AlignmentTraining,
    steps: int,
    rng: np.random.Generator,
) -> None:
    pairs = list(expected)
    share = np.array([expected[pair] for pair in pairs])
    share /= share.sum()
    encoded = [model.vocabulary.encode(phrase) for phrase, _ in pairs]
    numbers = np.array([model.objects.index(name) for _, name in pairs], np.int64)
    model.lm.train()
    for _ in range(steps):
        rows = rng.choice(len(pairs), config.batch, p=share)
        words = pad_words([encoded[row] for row in rows])
        blank = torch.from_numpy(rng.random(words.shape) < config.blank) & (words > UNKNOWN)
        loss = -model.lm(torch.from_numpy(numbers[rows]), words.masked_fill(blank, UNKNOWN)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.lm.eval()
