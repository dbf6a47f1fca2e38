"""A database of more objects than are told apart at once: the same flight with and without cached vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wayword.errors import DataError
from wayword.evaluation.bench.many_objects import grow_database
from wayword.grounding import Grounder
from wayword.grounding.density import OTHERS, probabilities
from wayword.grounding.taught_photos import taught_exemplars
from wayword.language.encoder import CachedPhrases
from wayword.language.minilm import MiniLM
from wayword.language.pipeline import LanguageModel
from wayword.language.reference_model import embed_database
from wayword.objects import ObjectDatabase
from wayword.objects.stored_photos import StoredPhotos
from wayword.policy.fspvn import reference_table
from wayword.policy.taught import TaughtDatabase
from wayword.vector_cache import FOLDER, SMALL

OBJECTS = SMALL + 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("large") / "objects"
    grow_database(place, OBJECTS)
    return place


@pytest.fixture(scope="module")
def grounder() -> Grounder:
    return Grounder.load("sim")


def test_it_reads_back_without_reading_a_photo(folder: Path) -> None:
    database = ObjectDatabase.load(folder)
    assert len(database) == OBJECTS
    assert database.notes == ()
    item = database.find("AMBER bamboo anchor")
    assert isinstance(item.photos, StoredPhotos)
    assert len(item.photos) == len(item.phrases) == 5
    assert item.photos[0].shape == (64, 64, 3)
    assert not item.photos[0].flags.writeable
    assert len(item.photos[1:3]) == 2


def test_photos_have_the_same_vectors_with_and_without_cache(folder: Path, grounder: Grounder) -> None:
    plain = grounder.embed_database(ObjectDatabase.load(folder).crops())
    for _ in range(2):  # made, then read
        cached = taught_exemplars(ObjectDatabase.load(folder), grounder)
        assert cached.names == plain.names
        assert np.array_equal(cached.owners, plain.owners)
        assert np.array_equal(cached.vectors, plain.vectors)
    assert list((folder / FOLDER).glob("photos-*"))


def test_phrases_have_the_same_vectors_with_and_without_cache(folder: Path) -> None:
    phrases, minilm = ObjectDatabase.load(folder).phrase_list, MiniLM()
    made, known = (embed_database(phrases, CachedPhrases(minilm)).vectors for _ in range(2))
    without = embed_database(list(phrases), CachedPhrases(minilm)).vectors
    used = CachedPhrases(minilm)
    used.embed(["robot", "a photo", "the bathtub"])  # what was embedded before does not matter
    assert list((folder / FOLDER).glob("phrases-*"))
    for other in (known, without, embed_database(list(phrases), used).vectors):
        assert np.array_equal(made, other)
    grown = embed_database([*phrases[50:], *phrases[:50]], CachedPhrases(minilm)).vectors
    assert np.array_equal(np.concatenate([grown[-250:], grown[:-250]]), made)


def test_a_photo_that_is_changed_afterwards_is_not_taken_for_the_old_one(folder: Path) -> None:
    database = ObjectDatabase.load(folder)
    path = folder / "robot" / "001.crop.png"
    before = path.read_bytes()
    try:
        path.write_bytes((folder / "robot" / "002.crop.png").read_bytes())
        with pytest.raises(DataError, match="changed since the database was loaded"):
            database.find("robot").photos[0]
        assert ObjectDatabase.load(folder).notes == ("robot: changed: '001.crop.png'",)
    finally:
        path.write_bytes(before)


def test_an_instruction_narrows_the_database_down(folder: Path, grounder: Grounder) -> None:
    taught = TaughtDatabase.of(folder, grounder)
    parsed = LanguageModel.load().parse("go past the robot, then stop at the amber bamboo bell", taught.phrases)
    assert [r.best for r in parsed.references] == ["robot", "amber bamboo bell"]
    candidates = taught.candidates(r.probabilities for r in parsed.references)
    assert {"robot", "amber bamboo bell"} <= set(candidates.names) < {*taught.exemplars.names, OTHERS}
    table = reference_table(parsed.references, candidates)
    for row, r in zip(table, parsed.references, strict=True):
        assert row.sum() == pytest.approx(1)
        assert row[candidates.names.index(r.best or "")] == pytest.approx(r.probabilities[r.best or ""], abs=1e-9)
        assert row[candidates.names.index(OTHERS)] == 0
    # A look at each dev object: what is no candidate is seen to be another taught thing.
    own = [int(np.flatnonzero(taught.exemplars.owners == taught.exemplars.names.index(name))[0])
           for name in ("robot", "bathtub")]  # fmt: skip
    p = probabilities(taught.exemplars.vectors[own], candidates, grounder.config.density)
    whole = probabilities(taught.exemplars.vectors[own], taught.exemplars, grounder.config.density)
    robot = taught.exemplars.names.index("robot")
    assert np.allclose(p[:, candidates.names.index("robot")], whole[:, robot], atol=1e-6)
    assert np.allclose(p[:, -1], whole[:, -1], atol=1e-6)
