"""The alignment of Appendix D: the equation on a small table, learning it from unlabelled text, the pool."""

from __future__ import annotations

import numpy as np
import pytest

from support.extra_torch import torch
from wayword.errors import WaywordError
from wayword.language.alignment import NULL, Aligned, align_chunks, posterior
from wayword.learning.language.grounded import Grounded, near
from wayword.learning.language.phrase_lm import END, UNKNOWN, PhraseLM, PhraseVocabulary, log_likelihoods
from wayword.learning.language.phrase_pool import PhrasePoolConfig, pool_phrases
from wayword.learning.language.score_alignment import Association, baseline_choices, score_chunks
from wayword.learning.language.train_alignment import AlignmentModel, AlignmentTraining, train_alignment
from wayword.learning.language.unigram_alignment import unigram_alignment

QUICK = AlignmentTraining(rounds=2, first_steps=120, steps=40, batch=64)


def test_align_probe_on_two_by_two():
    # p(r | o):            globe   NULL          p(o):  globe 0.2, NULL 0.8
    #   "the globe"         0.5     0.1
    #   "the left"          0.1     0.3
    # "the globe": 0.5 * 0.2 = 0.10 against 0.1 * 0.8 = 0.08 -> globe, with 0.10 / 0.18 = 5/9
    # "the left":  0.1 * 0.2 = 0.02 against 0.3 * 0.8 = 0.24 -> NULL, with 0.24 / 0.26 = 12/13
    table = np.log([[0.5, 0.1], [0.1, 0.3]])
    first, second = align_chunks(["the globe", "the left"], ["globe", NULL], table, {"globe": 0.2, NULL: 0.8})
    assert (first.object, second.object) == ("globe", None)
    assert first.probability == pytest.approx(5 / 9)
    assert first.null == pytest.approx(4 / 9)
    assert second.probability == second.null == pytest.approx(12 / 13)


def test_the_prior_can_turn_the_choice():
    # p(r | o) says globe by 0.5 to 0.4; an object spoken of ten times as often wins: 0.5 * 1 < 0.4 * 10.
    table = np.log([[0.5, 0.4]])
    assert align_chunks(["it"], ["globe", "duck"], table, {"globe": 1, "duck": 10})[0].object == "duck"
    assert align_chunks(["it"], ["globe", "duck"], table, {"globe": 1, "duck": 1})[0].object == "globe"


def test_an_unknown_candidate_is_ruled_out():
    table = np.log([[0.9, 0.1]])
    assert align_chunks(["x"], ["new", NULL], table, {NULL: 0.5})[0].object is None
    with pytest.raises(WaywordError):
        posterior(table, np.array([-np.inf, -np.inf]))


def test_near_keeps_objects_within_141_cm():
    path = np.array([[0.0, 0.0], [2.0, 0.0]])
    places = np.array([[1.0, 1.40], [1.0, 1.42], [3.0, 0.9]])  # the last: sqrt(1 + 0.81) = 1.345
    assert near(places, ["a", "b", "c"], path) == ["a", "c"]


def test_language_model_is_a_distribution():
    # Two words and the end: all phrases of up to 3 words must have less than 1 of the mass, and most of it
    # when long phrases are improbable. With zero output weights every word has chance 1/4 (of pad, end, unknown
    # and "a"), so p("a") = p(a) p(end) = 1/16 and p("a a") = 1/64.
    vocabulary = PhraseVocabulary(["a"])
    model = PhraseLM(2, len(vocabulary), 4, 4)
    for parameter in model.output.parameters():
        torch.nn.init.zeros_(parameter)
    values = log_likelihoods(model, np.array([0, 1]), [vocabulary.encode("a"), vocabulary.encode("a a")])
    assert np.exp(values) == pytest.approx([1 / 16, 1 / 64])
    assert vocabulary.encode("a zebra") == [UNKNOWN + 1, UNKNOWN, END]


def toy_corpus(rng: np.random.Generator, count: int = 240) -> list[Grounded]:
    """Three objects with two names each; an instruction names one or two of those near it."""
    called = {"duck": ["the duck", "the yellow bird"], "tub": ["the tub", "the bath"]}
    called["robot"] = ["the robot", "the bot"]
    texts = []
    for _ in range(count):
        near_by = [list(called)[i] for i in rng.permutation(3)[:2]]
        spoken = near_by[: 1 + int(rng.integers(2))]
        parts = [called[name][int(rng.integers(2))] for name in spoken] + ["your left", "it"]
        text, spans = "", []
        for part in parts:
            spans.append((len(text), len(text) + len(part)))
            text += part + " "
        texts.append(Grounded(text, tuple(spans), (*near_by, NULL), (*spoken, NULL, NULL)))
    return texts


def test_objects_are_found_without_labels():
    texts = toy_corpus(np.random.default_rng(0))
    model = train_alignment(texts, QUICK)
    chosen = [[item.object or NULL for item in row] for row in model.align_all(texts)]
    score = score_chunks(texts, chosen)
    assert score.accuracy > 0.98
    assert score.accuracy_with_null > 0.98


def test_training_is_deterministic_and_saved(tmp_path):
    texts = toy_corpus(np.random.default_rng(1), 60)
    one, two = (train_alignment(texts, QUICK) for _ in range(2))
    pairs = [("the duck", "duck"), ("never heard of", NULL)]
    assert np.array_equal(one.log_likelihood(pairs), two.log_likelihood(pairs))
    one.save(tmp_path)
    again = AlignmentModel.load(tmp_path)
    assert np.allclose(again.log_likelihood(pairs), one.log_likelihood(pairs))
    assert again.prior == one.prior


def test_a_phrase_met_once_goes_to_null():
    # "sixty degrees" stands near the duck by chance; leaving the chunk itself out, nothing ties it to the duck.
    texts = toy_corpus(np.random.default_rng(2))
    groups = {(phrase, text.candidates): 1 for text in texts for phrase in text.phrases}
    expected = unigram_alignment({**groups, ("sixty degrees", ("duck", NULL)): 1})
    assert expected["sixty degrees", NULL] > 0.7


def test_baselines():
    # "duck" is near in all of its three mentions, "tub" in one of them: PMI goes for the duck.
    texts = [
        Grounded("the duck", ((0, 8),), ("duck", "tub", NULL), ("duck",)),
        Grounded("the duck", ((0, 8),), ("duck", NULL), ("duck",)),
        Grounded("the tub", ((0, 7),), ("tub", NULL), ("tub",)),
        Grounded("the tub", ((0, 7),), ("tub", "robot", NULL), ("tub",)),
        Grounded("the robot", ((0, 9),), ("tub", "robot", NULL), ("robot",)),
    ]
    counts = Association(texts)
    # pmi(duck, duck) = ln(2 * 5 / (2 * 2)) = ln 2.5; pmi(the, .) = ln(c * 5 / (5 * c)) = 0; the mean is half.
    assert counts.pmi("the duck", "duck") == pytest.approx(np.log(2.5) / 2)
    assert score_chunks(texts, baseline_choices(counts.pmi, texts, None)).accuracy == 1.0
    # The most frequent candidate is the tub (4 of 5 texts): right for its 2 mentions and for the lone duck.
    assert score_chunks(texts, baseline_choices(counts.most_frequent, texts, None)).right_objects == 3


def test_pool_takes_sure_alignments_and_drops_what_is_everywhere():
    rows = [[Aligned("the duck", "duck", 0.9, 0.05)]] * 3
    rows += [[Aligned("the gap", name, 0.8, 0.1)] for name in "abcdefg"]  # effective number of objects: 7
    rows += [[Aligned("the tub", "tub", 0.5, 0.4)], [Aligned("it", "duck", 0.99, 0.0)]]
    rows += [[Aligned("the left", None, 0.9, 0.9)]]
    pool = pool_phrases(rows, PhrasePoolConfig())
    assert pool.objects == {"duck": {"the duck": 3}}
    assert pool.null == {"it": 1, "the gap": 7, "the left": 1}
