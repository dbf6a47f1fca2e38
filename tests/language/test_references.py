"""P(o | r) and databases of phrases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from wayword.episodes.instructions.phrases import phrases as said_of
from wayword.errors import DataError, WaywordError
from wayword.intervals import auroc
from wayword.language.encoder import CachedPhrases
from wayword.language.minilm import MiniLM
from wayword.language.phrases_db import ObjectPhrases, from_mapping, load_phrases
from wayword.language.reference_model import (
    EmbeddedDatabase,
    ReferenceConfig,
    ReferenceModel,
    embed_database,
    load_reference_model,
    save_reference_model,
)
from wayword.learning.language.fit_references import ReferenceFit, fit_references
from wayword.learning.language.gold_references import GOLD_FOLDER, read_gold
from wayword.learning.language.measure_references import mentions, score_retrieval, unlisted
from wayword.learning.language.phrase_pool import PhrasePool

GOLD = GOLD_FOLDER / "nav_objrefs.jsonl"


class Compass:
    """A ``PhraseEncoder`` for tests: phrases are degrees on a circle."""

    dimension = 2

    def embed(self, phrases: Sequence[str]) -> NDArray[np.float32]:
        angles = np.radians([float(phrase.split()[-1]) for phrase in phrases])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.fixture(scope="module")
def encoder() -> CachedPhrases:
    return CachedPhrases(MiniLM())


def test_kernel_density_on_two_points():
    # r at 0 degrees. Object a has phrases at 0 and 180: squared distances 0 and 4; object b one at 90: 2.
    # With sigma^2 = 0.5 the kernels are exp(-d): 1, e^-4, e^-2.
    #   k_a = (1 + e^-4) / 2,  k_b = e^-2,  b = 0.1
    database = embed_database(from_mapping({"a": ["0", "180"], "b": ["90"]}), Compass())
    model = ReferenceModel(ReferenceConfig(variance=0.5, background=0.1))
    k_a, k_b = (1 + np.exp(-4)) / 2, np.exp(-2)
    assert model.densities(Compass().embed(["0"]), database) == pytest.approx(np.array([[k_a, k_b]]), rel=1e-5)
    total = k_a + k_b + 0.1
    wanted = np.array([[k_a / total, k_b / total, 0.1 / total]])
    assert model.probabilities(Compass().embed(["0"]), database) == pytest.approx(wanted, rel=1e-5)


def test_a_phrase_that_one_object_alone_is_near_to_counts_against_the_background():
    # contrast 8, at most 10. Densities 0.4 and 0.01: 40 times, so c = 40 / 8 = 5 and b(r) = 0.1 / 5.
    # 0.04 and 0.01: 4 times, not 8: b as it is. One object alone, or one beside nothing: a tenth of b. None near: b.
    model = ReferenceModel(ReferenceConfig(0.5, 0.1, contrast=8.0))
    densities = np.array([[0.4, 0.01], [0.04, 0.01], [0.3, 0.0], [0.0, 0.0]])
    assert model.backgrounds(densities) == pytest.approx([0.02, 0.1, 0.01, 0.1])
    assert model.backgrounds(np.array([[0.3]])) == pytest.approx([0.01])
    assert model.backgrounds(np.zeros((2, 0))) == pytest.approx([0.1, 0.1])
    assert ReferenceModel(ReferenceConfig(0.5, 0.1, 8.0, 1.0)).backgrounds(densities) == pytest.approx([0.1] * 4)
    with pytest.raises(WaywordError, match="at least 1"):
        ReferenceConfig(0.5, 0.1, contrast=0.5)


def test_contrast_finds_names_that_were_not_taught(encoder: CachedPhrases):
    # Looks and synonyms of seen objects that are not listed, with eight neighbouring objects in the database. More
    # find their object, and few are taken for one of eight others.
    seen, shipped = load_phrases("seen"), load_reference_model()
    plain = ReferenceModel(replace(shipped.config, most_contrast=1.0))
    counts = np.zeros(3)
    for at in range(0, 64, 16):
        here, there = embed_database(seen[at : at + 8], encoder), embed_database(seen[at + 8 : at + 16], encoder)
        said = [(name, number) for number, entry in enumerate(seen[at : at + 8]) for name in _not_listed(entry)][::3]
        vectors, owners = encoder.embed([name for name, _ in said]), np.array([number for _, number in said])
        counts += [
            (shipped.probabilities(vectors, here).argmax(axis=1) == owners).mean() / 4,
            (plain.probabilities(vectors, here).argmax(axis=1) == owners).mean() / 4,
            (shipped.probabilities(vectors, there).argmax(axis=1) < 8).mean() / 4,
        ]
    assert counts[0] > counts[1] + 0.01
    assert counts[0] > 0.7
    assert counts[2] < 0.2


def _not_listed(entry: ObjectPhrases) -> list[str]:
    called = said_of(entry.name)
    return [phrase.text for phrase in called if phrase.kind in ("noun", "look") and phrase.text not in entry.phrases]


def test_unrelated_objects_and_repeated_phrases_change_nothing():
    model = ReferenceModel(ReferenceConfig(variance=0.01, background=0.01))
    asked = Compass().embed(["1"])
    small = model.probabilities(asked, embed_database(from_mapping({"a": ["0"], "b": ["20"]}), Compass()))
    many = {f"far {n}": [str(150 + n)] for n in range(50)}
    large = model.probabilities(asked, embed_database(from_mapping({"a": ["0", "0"], "b": ["20"], **many}), Compass()))
    assert large[0, [0, 1, -1]] == pytest.approx(small[0, [0, 1, -1]], abs=1e-9)


def test_far_from_everything_is_none_of_these():
    model = ReferenceModel(ReferenceConfig(variance=0.001, background=0.01))
    row = model.probabilities(Compass().embed(["180"]), embed_database(from_mapping({"a": ["0"]}), Compass()))[0]
    assert row[-1] == pytest.approx(1.0)
    assert row.sum() == pytest.approx(1.0)


def test_empty_database_means_none():
    empty = EmbeddedDatabase((), np.zeros((0, 2), np.float32), np.zeros(0, np.int64))
    assert ReferenceModel(ReferenceConfig(0.1, 0.1)).probabilities(Compass().embed(["0"]), empty).tolist() == [[1.0]]


@pytest.mark.parametrize(("variance", "background"), [(0.0, 0.1), (0.1, 0.0), (float("nan"), 0.1), (0.1, float("inf"))])
def test_impossible_numbers_are_refused(variance: float, background: float):
    with pytest.raises(WaywordError):
        ReferenceConfig(variance, background)


def test_fit_finds_a_width_between_names_of_one_and_of_two_objects():
    # Objects 40 degrees apart, their phrases within 3: the fitted kernel must be wide enough for 3 degrees
    # (squared distance 0.003) and narrow against 40 (0.47).
    pool = PhrasePool({f"o{n}": {str(40 * n + 3): 2, str(40 * n - 3): 2} for n in range(9)}, {})
    database = {f"o{n}": ObjectPhrases(f"o{n}", (str(40 * n),)) for n in range(9)}
    fitted, value = fit_references(pool, database, Compass(), ReferenceFit(databases=10, size=5))
    assert fitted.variance < 0.1
    assert value > np.log(0.9)
    with pytest.raises(WaywordError):
        fit_references(pool, {"o1": database["o1"]}, Compass(), ReferenceFit())


def test_reference_model_is_saved_and_damage_is_said(tmp_path: Path):
    save_reference_model(ReferenceConfig(0.1, 0.02), tmp_path, ["a"])
    assert load_reference_model(tmp_path).config == ReferenceConfig(0.1, 0.02)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(DataError, match="train again"):
        load_reference_model(tmp_path)


def test_dev_mentions_find_their_object(encoder: CachedPhrases):
    said = mentions(read_gold(GOLD))
    assert len(said) > 300
    model = load_reference_model()
    few = score_retrieval(said, load_phrases("dev"), encoder, model)
    assert few.top1.mean() >= 0.98
    assert few.top1[unlisted(said, load_phrases("dev"))].mean() >= 0.9
    assert auroc(few.known, few.removed) >= 0.98
    assert score_retrieval(said, load_phrases("all"), encoder, model).top1.mean() >= 0.97


@pytest.mark.parametrize("split", ["seen", "dev", "test"])
def test_shipped_databases_have_five_phrases_each(split: str):
    entries = load_phrases(split)
    assert len(entries) == {"seen": 64, "dev": 8, "test": 8}[split]
    assert all(len(set(entry.phrases)) == 5 for entry in entries)
    assert {entry.name for entry in entries} <= {entry.name for entry in load_phrases("all")}


def test_a_folder_is_a_database(tmp_path: Path):
    for name, phrases in {"duck": ["duck", "bird"], "tub": ["tub"]}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "object.json").write_text(json.dumps({"name": name, "phrases": phrases}))
    assert load_phrases(tmp_path) == (ObjectPhrases("duck", ("duck", "bird")), ObjectPhrases("tub", ("tub",)))


@pytest.mark.parametrize(
    "content",
    ["[1]", "{", '{"a": "b"}', '{"a": []}', '{"a": [" "]}', '{"a": [3]}', '{"": ["x"]}', "{}", '{"a": ["\\ud800"]}'],
)
def test_bad_databases_are_one_clear_line(tmp_path: Path, content: str):
    path = tmp_path / "db.json"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        load_phrases(path)
    assert "\n" not in str(caught.value)


def test_missing_database_names_the_choices(tmp_path: Path):
    with pytest.raises(DataError, match="seen, dev, test, all"):
        load_phrases(tmp_path / "nowhere")
