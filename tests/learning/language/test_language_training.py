"""Training the chunker: base noun phrases from a treebank, rough copies, resume, and the same head in numpy."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.extra_torch import torch
from wayword.errors import DataError, WaywordError
from wayword.language import load_chunker
from wayword.language.chunker import BioHead, HeadConfig
from wayword.learning.common.train_config import claim
from wayword.learning.language import train_chunker as training
from wayword.learning.language.augment import Roughness, is_thing, misspell, roughen
from wayword.learning.language.chunk_data import read_chunks
from wayword.learning.language.matches import Matches
from wayword.learning.language.treebank import AnnotatedText, read_treebank

# word, tag, head, relation; "_" joins a word to the one before it
SENTENCES = [
    "Pass VERB 0 root|the DET 3 det|pile NOUN 1 obj|of ADP 5 case|stones NOUN 3 nmod",
    "a DET 4 det|very ADV 3 advmod|tall ADJ 4 amod|tree NOUN 0 root|that PRON 6 nsubj|fell VERB 4 acl:relcl",
    "the DET 2 det|teacher NOUN 4 nmod:poss|_'s PART 2 case|house NOUN 0 root",
    "turn VERB 0 root|a DET 3 det|little ADJ 1 obl|to ADP 6 case|your PRON 6 nmod:poss|left NOUN 1 obl",
    "Stop VERB 0 root|near ADP 4 case|the DET 4 det|two NUM 1 obl|_. PUNCT 1 punct",
]
CHUNKS = [
    ["the pile", "stones"],
    ["a very tall tree", "that"],
    ["the teacher's house"],
    ["a little", "your left"],
    ["the two"],
]


def write_treebank(path: Path, repeat: int = 1) -> None:
    lines = []
    for sentence in SENTENCES * repeat:
        rows = [row.split() for row in sentence.split("|")]
        for number, (word, tag, head, relation) in enumerate(rows, start=1):
            joined = number < len(rows) and rows[number][0].startswith("_")
            mood = "Mood=Imp" if relation == "root" and tag == "VERB" else "_"
            misc = "SpaceAfter=No" if joined else "_"
            form = word.removeprefix("_")
            lines.append("\t".join([str(number), form, "_", tag, "_", mood, head, relation, "_", misc]))
        lines.append("")
    path.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))


def test_base_noun_phrases(tmp_path: Path) -> None:
    write_treebank(tmp_path / "t.conllu.gz")
    sentences = read_treebank(tmp_path / "t.conllu.gz")
    found = [[item.text[start:end] for start, end in item.chunks] for item in sentences]
    assert found == CHUNKS
    assert [item.imperative for item in sentences] == [True, False, False, True, True]
    (tmp_path / "bad.conllu").write_text("1\tword\n")
    with pytest.raises(DataError, match=r"bad.conllu:1: a CoNLL-U row has 10 columns"):
        read_treebank(tmp_path / "bad.conllu")


def test_rough_copies_keep_their_chunks(rng: np.random.Generator) -> None:
    sentence = AnnotatedText("Pass the red box, it's on your left.", ((5, 16), (18, 20), (26, 35)), True)
    rough = Roughness(punctuation=1, join=0, article=1, typo=0, short_form=1, sloppy=1)
    copy = roughen(sentence, [], [], rng, rough)
    # No comma, no full stop, no article; "it's" is one word and a chunk as a whole; "your" is short.
    assert copy.text == "Pass red box its on ur left"
    assert [copy.text[start:end] for start, end in copy.chunks] == ["red box", "its", "ur left"]
    joined = roughen(sentence, [sentence], ["the old boat"], rng, Roughness(join=1, sloppy=0, swap=1))
    assert joined.text.count("the old boat") == 2
    assert len(joined.chunks) == 6
    assert is_thing("the old boat")
    assert not is_thing("the left")


def test_misspelling_is_one_slip(rng: np.random.Generator) -> None:
    for _ in range(50):
        word = misspell("between", rng)
        assert abs(len(word) - 7) <= 1
        assert word[0] in "be"


def test_score() -> None:
    score = Matches.of([(2, 2, 4), (1, 2, 2)])
    assert (score.right, score.answers, score.gold, score.sentences) == (3, 4, 6, 2)
    assert (score.precision, score.recall) == (0.75, 0.5)
    assert score.f1 == pytest.approx(0.6)  # 2 * 3 / (4 + 6)
    # Two draws of two sentences: both the first 4/6, both the second 2/4, one of each 6/10.
    interval = score.f1_interval(np.random.default_rng(0))
    assert (interval.mean, interval.low, interval.high, interval.n) == pytest.approx((0.6, 0.5, 2 / 3, 2))
    assert Matches.of([(0, 0, 0)]).f1_interval(np.random.default_rng(0)).mean == 1.0  # nothing to find, nothing said
    assert "F1 60.00 (6 wanted in 2 sentences)" in str(score)


def test_torch_and_numpy_heads_agree() -> None:
    torch.manual_seed(0)
    config = HeadConfig(width=12, hidden=8, blocks=2, kernel=3)
    head = training.TrainableHead(config, dropout=0.3).eval()
    features = torch.randn(1, 7, 12)
    with torch.inference_mode():
        expected = head(features, torch.ones(1, 7))[0].numpy()
        padded = head(torch.cat([features, torch.randn(1, 3, 12)], 1), (torch.arange(10) < 7).float()[None])
    weights = {name: value.numpy() for name, value in head.state_dict().items()}
    np.testing.assert_allclose(BioHead(config, weights).scores(features[0].numpy()), expected, atol=1e-5)
    np.testing.assert_allclose(padded[0, :7].numpy(), expected, atol=1e-5)


def test_schedule() -> None:
    # Half-way through the warm-up, at the peak, half-way down the cosine, at the end.
    assert [training.schedule(x) for x in (0.05, 0.1, 0.55, 1.0)] == pytest.approx([0.5, 1.0, 0.5, 0.0])


@pytest.fixture
def inputs(tmp_path: Path) -> training.ChunkerInputs:
    write_treebank(tmp_path / "ewt-train.conllu.gz", repeat=4)
    write_treebank(tmp_path / "ewt-dev.conllu.gz")
    navigation = tmp_path / "nav.jsonl"
    navigation.write_text('{"text": "go past the red box", "chunks": [[8, 19]]}\n' * 4)
    return training.ChunkerInputs(tmp_path, navigation)


CONFIG = training.ChunkerTraining(head=HeadConfig(hidden=16), epochs=3, batch=4, navigation_copies=2)


def test_a_killed_run_goes_on_to_the_same_weights(
    tmp_path: Path, inputs: training.ChunkerInputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = training.train_chunker(CONFIG, inputs, tmp_path / "whole")
    assert scores["ewt-dev"].gold == sum(map(len, CHUNKS))
    checkpoint = training._checkpoint

    def killed(*arguments: object) -> None:
        checkpoint(*arguments)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(training, "_checkpoint", killed)
        with pytest.raises(KeyboardInterrupt):
            training.train_chunker(CONFIG, inputs, tmp_path / "parts")
    training.train_chunker(CONFIG, inputs, tmp_path / "parts")
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "parts")]
    assert weights[0] == weights[1]
    assert load_chunker(weights=tmp_path / "parts").chunk("") == []


def test_another_configuration_is_refused(tmp_path: Path, inputs: training.ChunkerInputs) -> None:
    claim(tmp_path / "out" / "work", "language/chunker", replace(CONFIG, epochs=4), inputs)
    with pytest.raises(WaywordError, match=r"other settings \(epochs 4, now 3\)"):
        training.train_chunker(CONFIG, inputs, tmp_path / "out")


def test_bad_annotations_name_their_line(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    for line, message in (("{", "expected"), ('{"text": "ab", "chunks": [[1, 9]]}', "must lie in the text")):
        path.write_text('{"text": "a", "chunks": []}\n' + line + "\n")
        with pytest.raises(DataError, match=f"gold.jsonl:2: .*{message}"):
            read_chunks(path)
