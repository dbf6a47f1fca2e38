"""The object-reference classifier: the rule by hand, its training, and how it does on unseen objects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_references import Compass

import support.extra_torch  # noqa: F401 - what follows needs it
from wayword.errors import DataError, WaywordError
from wayword.language.objref import FARTHEST, ObjRef, ObjRefConfig, load_objref, nearest_distances, save_objref
from wayword.language.phrases_db import ObjectPhrases, from_mapping, load_phrases
from wayword.language.pipeline import LanguageModel
from wayword.language.reference_model import EmbeddedDatabase, embed_database
from wayword.learning.language.gold_references import GOLD_FOLDER, read_gold
from wayword.learning.language.measure_references import score_objref
from wayword.learning.language.phrase_pool import PhrasePool
from wayword.learning.language.train_objref import ObjRefTraining, in_digits, label_phrases, train_objref

GOLD = GOLD_FOLDER / "nav_objrefs.jsonl"
TINY = {
    "hidden.weight": np.array([[1.0, 0.0], [0.0, -1.0]], np.float32),
    "hidden.bias": np.array([0.0, 0.5], np.float32),
    "output.weight": np.array([[2.0, 10.0]], np.float32),
    "output.bias": np.array([-0.5], np.float32),
}


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return LanguageModel.load()


def test_the_rule_by_hand():
    # g = (0, 1): hidden = (0, -0.5) -> leaky (0, -0.005); odds = 10 * -0.005 - 0.5 = -0.55.
    # The database has one phrase at 0 degrees, squared distance 2. scale 3, weight 0.5, threshold -2:
    # s = 3 (-0.55 - 0.5 * 2 + 2) = 1.35.
    classifier = ObjRef(ObjRefConfig(2, 2, weight=0.5, threshold=-2.0, scale=3.0), TINY)
    database = embed_database(from_mapping({"a": ["0"]}), Compass())
    asked = Compass().embed(["90"])
    assert classifier.network(asked) == pytest.approx([-0.55], abs=1e-5)
    assert nearest_distances(asked, database) == pytest.approx([2.0], abs=1e-5)
    assert classifier.scores(asked, database) == pytest.approx([1.35], abs=1e-4)


def test_an_empty_database_is_far_from_everything():
    empty = EmbeddedDatabase((), np.zeros((0, 2), np.float32), np.zeros(0, np.int64))
    assert nearest_distances(Compass().embed(["0", "7"]), empty).tolist() == [FARTHEST] * 2


def test_weights_are_checked_and_damage_is_said(tmp_path: Path):
    with pytest.raises(WaywordError):
        ObjRef(ObjRefConfig(3, 2), TINY)
    with pytest.raises(WaywordError):
        ObjRef(ObjRefConfig(2, 2), {**TINY, "output.bias": np.array([np.nan], np.float32)})
    save_objref(ObjRefConfig(2, 2, 0.1, 0.2, 0.3), TINY, tmp_path)
    assert load_objref(tmp_path).config == ObjRefConfig(2, 2, 0.1, 0.2, 0.3)
    (tmp_path / "model.safetensors").write_bytes(b"half a file")
    with pytest.raises(DataError, match="train again"):
        load_objref(tmp_path)


def test_training_tells_objects_from_directions_and_is_deterministic():
    # Objects lie on the right half of the circle, phrases that mean none on the left.
    objects = {f"o{n}": {str(n * 10 - 40 + k): 3 for k in range(4)} for n in range(8)}
    pool = PhrasePool(objects, {str(140 + 2 * k): 3 for k in range(40)})
    database = {f"o{n}": ObjectPhrases(f"o{n}", (str(n * 10 - 40),)) for n in range(8)}
    data, names = label_phrases(pool, Compass())
    config = ObjRefTraining(epochs=15, folds=4, hidden=4, dropout=0.0)
    one, two = (train_objref(data, names, database, Compass(), config) for _ in range(2))
    assert one.f1 > 0.95
    assert one.objref.config == two.objref.config
    assert all(np.array_equal(one.weights[name], two.weights[name]) for name in one.weights)
    embedded = embed_database(list(database.values()), Compass())
    assert (one.objref.scores(Compass().embed(["5", "-30"]), embedded) > 0).all()
    assert (one.objref.scores(Compass().embed(["170", "200"]), embedded) < 0).all()


def test_numbers_in_digits():
    assert in_digits("about forty-five degrees") == "about 45 degrees"
    assert in_digits("ten o'clock") == "10 o'clock"
    assert in_digits("the one-armed robot") == "the one-armed robot"


def test_an_empty_pool_is_refused():
    with pytest.raises(WaywordError, match="alignment"):
        label_phrases(PhrasePool({}, {}), Compass())


@pytest.mark.parametrize(
    "phrase",
    [
        "it",
        "the left",
        "a sharp right",
        "your right side",
        "90 degrees",
        "about 40 degrees",
        "the gap",
        "you",
        "front",
        "a bit",
        "10 o'clock",
    ],
)
def test_these_are_not_objects(model: LanguageModel, phrase: str):
    parsed = model.parse(f"stop by {phrase}", load_phrases("dev"))
    assert not parsed.references, parsed


@pytest.mark.parametrize(
    "phrase", ["the sand timer", "that frosted ring", "phone box", "the rubber ducky", "the spaceship", "a white bath"]
)
def test_these_are_objects(model: LanguageModel, phrase: str):
    assert [r.text for r in model.parse(f"go past {phrase} and stop", load_phrases("dev")).references] == [phrase]


def test_f1_on_chunks_about_unseen_objects(model: LanguageModel):
    counts, wrong = score_objref(model, read_gold(GOLD), load_phrases("dev"))
    assert counts.gold > 300
    assert counts.f1 >= 0.97, wrong
