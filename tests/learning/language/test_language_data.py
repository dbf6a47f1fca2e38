"""What the language side learns from: treebanks, episodes, ALFRED, features on disk, word lists, GloVe."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import support.extra_torch  # noqa: F401 - what follows needs it
from wayword.episodes import Episode, PlacedObject, Pose2, Segment
from wayword.episodes.instructions.writer import Reference, WrittenInstruction, generate_written
from wayword.errors import DataError
from wayword.language.alignment import NULL
from wayword.language.chunker import Chunk
from wayword.language.encoder import TokenFeatures
from wayword.language.phrases_db import load_phrases
from wayword.learning.language.augment import Roughness, roughen
from wayword.learning.language.build_vocabulary import VocabularySources, build_vocabulary, count_words, main
from wayword.learning.language.chunk_data import batches, compute_features, load_features, pad
from wayword.learning.language.glove import GloveMeans
from wayword.learning.language.gold_references import GOLD_FOLDER, read_gold
from wayword.learning.language.grounded import (
    AlfredStep,
    ChunkCache,
    from_alfred,
    from_episodes,
    from_written,
    read_alfred,
    scene_objects,
)
from wayword.learning.language.treebank import AnnotatedText, read_treebank

DATA = GOLD_FOLDER


def conllu(*rows: str) -> str:
    """Rows "number form tag head relation misc" as CoNLL-U."""
    lines = []
    for row in rows:
        number, form, tag, head, relation, *misc = row.split()
        lines.append("\t".join([number, form, "_", tag, "_", "_", head, relation, "_", misc[0] if misc else "_"]))
    return "\n".join(lines) + "\n\n"


def chunks_of(path: Path) -> list[list[str]]:
    return [[item.text[start:end] for start, end in item.chunks] for item in read_treebank(path)]


# Treebank ---------------------------------------------------------------------------------------------------


def test_contractions_stand_in_the_text_once(tmp_path: Path) -> None:
    path = tmp_path / "t.conllu"
    path.write_text(
        "# text = It's the fox's den\n"
        + conllu(
            "1-2 It's _ _ _",
            "1 It PRON 6 nsubj",
            "2 's AUX 6 cop",
            "3 the DET 4 det",
            "4-5 fox's _ _ _",
            "4 fox NOUN 6 nmod:poss",
            "5 's PART 4 case",
            "6 den NOUN 0 root",
        )
    )
    (sentence,) = read_treebank(path)
    assert sentence.text == "It's the fox's den"
    assert chunks_of(path) == [["It", "the fox's den"]]


def test_parts_that_are_not_spelt_out_and_empty_nodes(tmp_path: Path) -> None:
    # "dunno" = do + n't + know: only the last is spelt in the token. Node 3.1 is not in the text at all.
    path = tmp_path / "t.conllu"
    path.write_text(
        conllu(
            "1-3 dunno _ _ _",
            "1 do AUX 3 aux",
            "2 n't PART 3 advmod",
            "3 know VERB 0 root",
            "3.1 know VERB _ _",
            "4 him PRON 3 obj SpaceAfter=No",
            "5 . PUNCT 3 punct",
        )
    )
    assert [item.text for item in read_treebank(path)] == ["dunno him."]
    assert chunks_of(path) == [["him"]]


def test_names_numbers_and_hyphens(tmp_path: Path) -> None:
    path = tmp_path / "t.conllu"
    path.write_text(
        conllu("1 Ann PROPN 4 nsubj", "2 Lee PROPN 1 flat", "3 never ADV 4 advmod", "4 slept VERB 0 root")
        + conllu("1 about ADV 2 advmod", "2 90 NUM 3 nummod", "3 degrees NOUN 0 root")
        + conllu(
            "1 a DET 4 det",
            "2 red ADJ 4 amod SpaceAfter=No",
            "3 - PUNCT 4 punct SpaceAfter=No",
            "4 hat NOUN 0 root",
        )
    )
    assert chunks_of(path) == [["Ann Lee"], ["about 90 degrees"], ["a red-hat"]]


def test_missing_treebank_is_one_line(tmp_path: Path) -> None:
    for name in ("none.conllu", "none.conllu.gz"):
        with pytest.raises(DataError, match="cannot be read") as caught:
            read_treebank(tmp_path / name)
        assert "\n" not in str(caught.value)
    (tmp_path / "bad.conllu.gz").write_bytes(b"not gzip at all")
    with pytest.raises(DataError, match="cannot be read"):
        read_treebank(tmp_path / "bad.conllu.gz")


# Rough copies -----------------------------------------------------------------------------------------------

SENTENCES = [
    AnnotatedText("Go past the red box, it's on your left.", ((8, 19), (21, 23), (29, 38)), True),
    AnnotatedText("The old boat; the two: both!", ((0, 12), (14, 21), (23, 27))),
    AnnotatedText("stop", ()),
    AnnotatedText("the well", ((0, 8),)),
]


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(SENTENCES),
    st.integers(0, 2**32),
    st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 7),
)
def test_chunks_of_rough_copies_lie_in_the_text(
    sentence: AnnotatedText, seed: int, shares: tuple[float, float, float, float, float, float, float]
) -> None:
    rough = Roughness(*shares)
    copy = roughen(sentence, SENTENCES, ["the tall ship"], np.random.default_rng(seed), rough)
    edges = [edge for chunk in copy.chunks for edge in chunk]
    assert edges == sorted(edges)
    assert all(copy.text[start:end].strip() == copy.text[start:end] != "" for start, end in copy.chunks)
    assert copy.imperative == sentence.imperative
    assert copy == roughen(sentence, SENTENCES, ["the tall ship"], np.random.default_rng(seed), rough)


def test_no_roughness_changes_nothing(rng: np.random.Generator) -> None:
    for sentence in SENTENCES:
        assert roughen(sentence, SENTENCES, ["the x"], rng, Roughness(0, 0, 0, 0, 0, 0, 0)) == sentence


# Features on disk -------------------------------------------------------------------------------------------


class Letters:
    """A ``TokenEncoder`` for tests: a token per word, its features (length, first letter)."""

    def tokens(self, texts: Sequence[str]) -> list[TokenFeatures]:
        result = []
        for text in texts:
            words, offsets, at = text.split(), [], 0
            for word in words:
                at = text.index(word, at)
                offsets.append((at, at + len(word)))
                at += len(word)
            rows = [[len(word), ord(word[0])] for word in words]
            result.append(
                TokenFeatures(
                    np.array(rows, np.float32).reshape(-1, 2),
                    np.array(offsets, np.int64).reshape(-1, 2),
                    np.arange(len(words)),
                )
            )
        return result


def test_features_are_written_once_and_read_back(tmp_path: Path) -> None:
    sentences = [AnnotatedText("go past the box", ((8, 15),)), AnnotatedText("", ()), AnnotatedText("it", ((0, 2),))]
    stem = tmp_path / "nav"
    assert load_features(stem) is None
    assert list(compute_features(sentences, Letters(), stem, step=2)) == [2, 3]
    stored = load_features(stem)
    assert stored is not None
    assert len(stored) == 3
    assert stored.starts.tolist() == [0, 4, 4, 5]
    assert stored.tags.tolist() == [0, 0, 1, 2, 1]  # go O, past O, the B, box I; it B
    assert stored.features[:, 0].tolist() == [2, 4, 3, 3, 2]
    # A run that was killed between the two files has not finished: it counts as nothing.
    (tmp_path / "nav.features.npy").unlink()
    assert load_features(stem) is None


def test_batches_hold_every_sentence_once_and_padding_is_marked(tmp_path: Path, rng: np.random.Generator) -> None:
    texts = ["a", "b c", "", "d e f", "g h i", "j"]
    list(compute_features([AnnotatedText(text, ()) for text in texts], Letters(), tmp_path / "x"))
    stored = load_features(tmp_path / "x")
    assert stored is not None
    plan = batches([stored], 2, rng)
    assert sorted(number for group in plan for _, number in group) == [0, 1, 3, 4, 5]  # the empty one has no words
    features, tags = pad([(stored, 1), (stored, 3)])
    assert features.shape == (2, 3, 2)
    assert tags.tolist() == [[0, 0, -1], [0, 0, 0]]
    assert features[0, 2].tolist() == [0, 0]
    assert features[1, :, 1].tolist() == [ord("d"), ord("e"), ord("f")]


# Instructions with candidates -------------------------------------------------------------------------------


def two_segments() -> Episode:
    # The path runs along y = 1 from x = 0.5 to 2.5 and on to 4.5; the duck is 1.0 m from the first half only, the
    # tub 1.2 m from the second only, the anvil 2 m from everything.
    path = np.array([[0.5 + 0.1 * i, 1.0] for i in range(41)])
    objects = (
        PlacedObject("duck", 0.6, 2.0, 0.0),
        PlacedObject("tub", 4.2, 2.2, 0.0),
        PlacedObject("anvil", 2.5, 3.0, 0.0),
    )
    segments = (Segment(20, "past the duck"), Segment(40, "to the tub"))
    return Episode("e", "train", 4.7, objects, Pose2(0.5, 1.0, 0.0), path, segments, "nobody")


def spans(text: str) -> list[tuple[int, int]]:
    """A chunker for tests: "the X"."""
    return [(at, at + 4 + len(text[at + 4 :].split()[0])) for at in range(len(text)) if text.startswith("the ", at)]


def test_candidates_are_the_objects_near_the_segments_path() -> None:
    first, second = from_episodes([two_segments()], spans)
    assert (first.candidates, second.candidates) == (("duck", NULL), ("tub", NULL))
    assert (first.phrases, second.phrases) == (("the duck",), ("the tub",))


def test_gold_of_generated_instructions_by_hand() -> None:
    # "the tower with the blades" is one reference whose chunk is "the tower"; "the blades" lies behind its base and is
    # left out; "it" is a pronoun, so NULL for a model of phrases; "the left" refers to nothing.
    text = "pass the tower with the blades then it on the left"
    tower = Reference("windmill", text.index("the tower"), text.index(" then"), text.index(" with"), "phrase")
    it = Reference("windmill", text.index("it on"), text.index("it on") + 2, text.index("it on") + 2, "pronoun")
    written = WrittenInstruction(text, (tower, it), (), "plain")
    episode = two_segments()
    one = Episode("e", "train", 4.7, episode.objects, episode.start, episode.path, (Segment(40, text),), "nobody")

    def chunk(_: str) -> list[tuple[int, int]]:
        parts = ("the tower", "the blades", "the left")
        found = [(text.index(part), text.index(part) + len(part)) for part in parts]
        return sorted([*found, (it.start, it.end)])

    (grounded,) = from_written([(one, [written])], chunk)
    assert grounded.phrases == ("the tower", "it", "the left")
    assert grounded.gold == ("windmill", NULL, NULL)


def test_generated_gold_names_objects_of_the_layout() -> None:
    seen = [entry.name for entry in load_phrases("seen")]
    made = generate_written("train", 3, 5, seen)
    texts = from_written(made, spans)
    assert texts
    for text in texts:
        assert len(text.gold) == len(text.chunks)
        assert set(text.gold) <= {*seen, NULL}
        assert text.candidates[-1] == NULL


def write_alfred(path: Path, *rows: object) -> Path:
    path.write_bytes(gzip.compress("\n".join(json.dumps(row) for row in rows).encode()))
    return path


def test_alfred_steps_scenes_and_targets(tmp_path: Path) -> None:
    rows = [
        {"instruction": "go to the Sink", "target": "SinkBasin", "scene": "f1", "objects": ["Mug", "SinkBasin"]},
        {"instruction": "turn left", "target": "Bed", "scene": "f1", "objects": []},
        {"instruction": "to the bed", "target": "Bed", "scene": "f2", "objects": ["Lamp"]},
    ]
    steps = read_alfred(write_alfred(tmp_path / "goto.jsonl.gz", *rows))
    assert steps[0] == AlfredStep("go to the Sink", "sinkbasin", "f1", ("mug", "sinkbasin"))
    assert scene_objects(steps) == {"f1": {"mug", "sinkbasin", "bed"}, "f2": {"lamp", "bed"}}
    made = from_alfred(steps, spans, lambda step: {step.target})
    assert [(text.phrases, text.candidates, text.target) for text in made] == [
        (("the sink",), ("sinkbasin", NULL), "sinkbasin"),
        (("the bed",), ("bed", NULL), "bed"),  # the step without chunks is left out
    ]


@pytest.mark.parametrize(("row", "line"), [({"instruction": "x"}, 2), ([1], 2), ({"objects": 3}, 2)])
def test_bad_alfred_names_the_line(tmp_path: Path, row: object, line: int) -> None:
    good = {"instruction": "go", "target": "Bed", "scene": "f1", "objects": []}
    with pytest.raises(DataError, match=f"goto.gz:{line}: not a step"):
        read_alfred(write_alfred(tmp_path / "goto.gz", good, row))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b'{"a": 1}\n' * 2000)[:-20])
    with pytest.raises(DataError):
        read_alfred(tmp_path / "cut.gz")
    with pytest.raises(DataError, match=r"goto-train.jsonl.gz"):
        read_alfred(tmp_path / "nowhere.gz")


class Counting:
    """A ``Chunker`` that counts its calls."""

    calls = 0

    def chunk(self, text: str) -> list[Chunk]:
        self.calls += 1
        return [Chunk(start, end, text[start:end]) for start, end in spans(text)]


def test_chunks_are_remembered_across_runs(tmp_path: Path) -> None:
    path, chunker = tmp_path / "chunks.jsonl", Counting()
    cache = ChunkCache(chunker, path)
    assert cache("past the é box") == cache("past the é box") == [(5, 10)]
    assert chunker.calls == 1
    cache.save()
    assert ChunkCache(chunker, path)("past the é box") == [(5, 10)]
    assert chunker.calls == 1
    path.write_text('["cut off')
    with pytest.raises(DataError, match="delete it"):
        ChunkCache(chunker, path)


def test_gold_references_name_their_bad_line(tmp_path: Path) -> None:
    good = (DATA / "nav_objrefs.jsonl").read_text(encoding="utf-8").splitlines()[0]
    path = tmp_path / "gold.jsonl"
    for bad in (
        "{}",
        "[",
        '{"id": "x", "text": "ab", "chunks": [{"start": 0, "end": 2, "kind": "thing", "object": null}]}',
    ):
        path.write_text(f"{good}\n{bad}\n", encoding="utf-8")
        with pytest.raises(DataError, match=r"gold.jsonl:2: not an annotated"):
            read_gold(path)
    with pytest.raises(DataError, match="data/gold"):
        read_gold(tmp_path / "none.jsonl")


def test_every_gold_chunk_of_an_object_names_one_of_its_split() -> None:
    for name, split in (("nav_objrefs.jsonl", "dev"), ("nav_train_objrefs.jsonl", "seen")):
        known = {entry.name for entry in load_phrases(split)}
        for text in read_gold(DATA / name):
            for chunk in text.chunks:
                assert text.text[chunk.start : chunk.end] == chunk.text
                assert (chunk.object in known) == (chunk.kind in ("object", "pronoun")), (text.id, chunk)


# Word lists and GloVe ---------------------------------------------------------------------------------------


def test_vocabulary_by_hand(tmp_path: Path) -> None:
    corpus = [{"segments": [{"instruction": "go go past teh barrel"}]}]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    write_alfred(tmp_path / "alfred.gz", *[{"instruction": "go sink"}] * 5)
    rows = "".join(f"{n}\t{word}\t_\tX\t_\t{mark}\t0\troot\t_\t_\n" for n, (word, mark) in enumerate(
        [("the", "_"), ("the", "_"), ("recieve", "Typo=Yes"), ("once", "_")], start=1))  # fmt: skip
    (tmp_path / "ewt.gz").write_bytes(gzip.compress(rows.encode()))
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {"go": 1, "##ing": 2, "a": 3, "once": 4}}}))
    (tmp_path / "words.txt").write_text("the 30\nbarrel 10\n")
    (tmp_path / "typos.jsonl").write_text('{"typo": "teh", "intended": "the", "source": "nav-train"}\n')
    sources = VocabularySources(
        *(
            tmp_path / name
            for name in ("train.jsonl", "alfred.gz", "ewt.gz", "tokenizer.json", "words.txt", "typos.jsonl")
        )
    )
    words = build_vocabulary(sources)
    # go: 2 of 5 words of the corpus and 5 of 10 of ALFRED, each at one half; 0.01 for being a word of the encoder.
    assert words["go"] == pytest.approx(0.5 * 1e5 * 2 / 5 + 0.5 * 1e5 * 5 / 10 + 0.01)
    # barrel: 1 of 5; 10 of 40 in the dictionary (25,000 per 100,000) at a twentieth, and 0.01.
    assert words["barrel"] == pytest.approx(0.5 * 1e5 / 5 + 0.05 * 25_000 + 0.01)
    # the: twice in the treebank's three right words, at a tenth.
    assert words["the"] == pytest.approx(0.1 * 1e5 * 2 / 3 + 0.05 * 75_000 + 0.01)
    assert "once" in words  # once is too rare by itself, but a word of the encoder
    assert not {"teh", "recieve", "a", "##ing"} & words.keys()
    main(sources, tmp_path / "out.gz")
    first = (tmp_path / "out.gz").read_bytes()
    main(sources, tmp_path / "out.gz")
    assert (tmp_path / "out.gz").read_bytes() == first
    assert count_words(["It’s the fox's"]) == {"it's": 1, "the": 1, "fox's": 1}
    (tmp_path / "words.txt").write_text("the thirty\n")
    with pytest.raises(DataError, match="words and counts"):
        build_vocabulary(sources)


def test_glove_means_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "glove.json"
    path.write_text(json.dumps({"dimensions": 2, "vectors": {"red": [3.0, 0.0, 9.0], "duck": [1.0, 4.0, 9.0]}}))
    encoder = GloveMeans(path)
    # The mean of (3, 0) and (1, 4) is (2, 2), scaled to length one; what follows the dimensions is not a coordinate.
    vectors: NDArray[np.float32] = encoder.embed(["the Red duck", "red", "unheard of"])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(vectors, [[half, half], [1.0, 0.0], [0.0, 0.0]], atol=1e-6)
    assert encoder.dimension == 2
    path.write_text("{}")
    with pytest.raises(DataError, match="wink-embeddings"):
        GloveMeans(path)
