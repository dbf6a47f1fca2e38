"""How much a database takes, what a draw of it holds, what becomes of previews, and what is noted, case by case."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wayword.errors import DataError, WaywordError
from wayword.objects import ObjectDatabase, TaughtObject, files, store
from wayword.objects.database import differences, reduced_photo
from wayword.objects.exemplars import Exemplar, view_pixels
from wayword.objects.files import Record
from wayword.objects.names import MAX_NAME, MAX_PHRASE, MAX_PHRASES
from wayword.objects.store import need_photo, remove, renew, teach


def view(seed: int, size: int = 48) -> Exemplar:
    rng = np.random.default_rng(seed)
    pixels = rng.integers(110, 140, (size, size, 3), dtype=np.uint8)
    pixels[12:30, 14:32] = rng.integers(0, 255, 3)
    return view_pixels(pixels)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    teach(tmp_path / "db", "globe", [view(1), view(2)], ["the globe", "blue ball"])
    return tmp_path / "db"


# How much ---------------------------------------------------------------------------------------------------


def test_numbers_of_a_database() -> None:
    assert (files.MAX_OBJECTS, files.MAX_PHOTOS, MAX_NAME, MAX_PHRASE, MAX_PHRASES) == (10_000, 500, 80, 200, 200)
    assert (files.SCHEMA, files.MANIFEST, files.OBJECT, files.PREVIEW) == (
        1, "manifest.json", "object.json", "preview.png",
    )  # fmt: skip


def test_two_hundred_phrases_and_no_more(db: Path) -> None:
    teach(db, "globe", phrases=[f"thing {i}" for i in range(198)])
    assert len(ObjectDatabase.load(db).find("globe").phrases) == 200
    with pytest.raises(WaywordError, match="'globe' would have more than 200 phrases"):
        teach(db, "globe", phrases=["one more"])
    assert teach(db, "globe", phrases=["The Globe", "a thing 7"]).phrases == ()  # it has those already


def test_as_many_photos_as_may_be(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_PHOTOS", 3)
    assert teach(db, "globe", [view(3)]).photos == ("003",)
    with pytest.raises(WaywordError, match="more than 3 photos"):
        teach(db, "globe", [view(4)])
    monkeypatch.setattr(files, "MAX_PHOTOS", 3)
    assert len(ObjectDatabase.load(db).find("globe").photos) == 3
    Image.fromarray(np.asarray(view(5).crop)).save(db / "globe" / "mine.png")
    with pytest.raises(DataError, match="holds more than 3 photos"):
        ObjectDatabase.load(db)


def test_as_many_objects_as_may_be(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_OBJECTS", 2)
    monkeypatch.setattr(files, "MAX_OBJECTS", 2)
    teach(db, "cup", phrases=["a cup"])
    with pytest.raises(DataError, match="is full: a database has at most 2 objects"):
        teach(db, "spoon", phrases=["a spoon"])
    teach(db, "cup", phrases=["my mug"])  # one that is there may still learn
    assert ObjectDatabase.load(db).names == ("cup", "globe")
    monkeypatch.setattr(files, "MAX_OBJECTS", 1)
    with pytest.raises(DataError, match="holds 2 folders"):
        ObjectDatabase.load(db)


def test_a_name_and_a_phrase_at_their_longest(db: Path) -> None:
    teach(db, "n" * 80, phrases=["p" * 200])
    assert ObjectDatabase.load(db).find("N" * 80).phrases == ("p" * 200,)
    for name, phrase in (("n" * 81, "p"), ("n", "p" * 201)):
        with pytest.raises(WaywordError, match=r"has (81|201) characters; give at most (80|200)"):
            teach(db, name, phrases=[phrase])


# What is taught -------------------------------------------------------------------------------------------------


def test_the_same_view_twice_in_one_lesson_is_one(db: Path) -> None:
    result = teach(db, "cup", [view(7), view(8), view(7)], ["a cup", "A  cup", "the cup", "red cup"])
    assert (result.new, result.photos, result.phrases) == (True, ("001", "002"), ("a cup", "red cup"))
    again = teach(db, "CUP", [view(8), view(9)], ["Red Cup", "mug"])
    assert (again.new, again.photos, again.phrases) == (False, ("003",), ("mug",))
    assert again.record.name == "cup"
    assert again.record.phrases == ("a cup", "red cup", "mug")
    # The same view of another object is a view of that one too.
    assert teach(db, "globe", [view(7)]).photos == ("003",)


def test_the_manifest_has_the_hash_of_every_file(db: Path) -> None:
    teach(db, "cup", [view(7)], ["a cup"])
    teach(db, "cup", [view(8)])
    remove(db, "globe", photo="001")
    manifest = json.loads((db / "manifest.json").read_text())
    assert manifest["schema"] == 1
    assert set(manifest["objects"]) == {"cup", "globe"}
    for folder, known in manifest["objects"].items():
        on_disk = {path.name: files.photo_digest(path.read_bytes()) for path in (db / folder).iterdir()}
        assert known == on_disk
    assert "001.crop.png" not in manifest["objects"]["globe"]


def test_words_need_a_photo_somewhere(db: Path) -> None:
    need_photo(db, "GLOBE", [])
    need_photo(db, "spoon", [view(3)])
    teach(db, "ghost", phrases=["a ghost"])
    for name in ("ghost", "spoon"):
        with pytest.raises(WaywordError, match=f"'{name}' has no photo"):
            need_photo(db, name, [])
    with pytest.raises(WaywordError, match="has no photo"):
        need_photo(db / "none", "globe", [])
    Image.fromarray(np.asarray(view(5).crop)).save(db / "ghost" / "mine.png")
    need_photo(db, "ghost", [])


# Previews ---------------------------------------------------------------------------------------------------


def drawn(record: Record, added: object) -> bytes | None:
    """Says which photos the picture shows."""
    return " ".join(record.photos).encode() or None


def test_previews_follow_the_photos_or_go(db: Path) -> None:
    preview = db / "globe" / "preview.png"
    assert teach(db, "globe", phrases=["earth"]).preview is None
    assert teach(db, "globe", [view(3)], draw_preview=drawn).preview == preview
    assert preview.read_bytes() == b"001 002 003"
    remove(db, "globe", photo="002", draw_preview=drawn)
    assert preview.read_bytes() == b"001 003"
    remove(db, "globe", phrase="earth")  # nobody draws it anew: what would show the past goes
    assert not preview.exists()
    Image.fromarray(np.asarray(view(5).crop)).save(db / "globe" / "mine.png")
    assert renew(db, draw_preview=drawn) == ("globe: took in 'mine.png' as photo 004",)
    assert preview.read_bytes() == b"001 003 004"
    assert renew(db) == ()
    assert preview.exists()  # nothing has changed, and it still shows what is
    teach(db, "globe", phrases=["planet"])
    assert not preview.exists()
    assert teach(db, "ghost", phrases=["a ghost"], draw_preview=drawn).preview is None


def test_reading_writes_nothing(db: Path, tmp_path: Path) -> None:
    """Not even a lock: a database may lie where nothing can be written, whatever there is to be noted about it."""
    mine = tmp_path / "by hand" / "globe"
    mine.mkdir(parents=True)
    (mine / "object.json").write_text('{"name": "globe"}')
    assert ObjectDatabase.load(mine.parent).notes == ("there is no manifest.json yet",)
    assert [path.name for path in mine.parent.rglob("*")] == ["globe", "object.json"]
    before = {path: path.stat().st_mtime_ns for path in db.rglob("*")}
    ObjectDatabase.load(db).crops(32)
    assert {path: path.stat().st_mtime_ns for path in db.rglob("*")} == before


def test_where_there_is_no_database_nothing_is_taken_out(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    for change in (lambda: remove(tmp_path, "globe"), lambda: renew(tmp_path), lambda: teach(tmp_path, "a", [view(1)])):
        with pytest.raises(DataError, match="holds other things and no object database"):
            change()
    with pytest.raises(DataError, match="is not a folder"):
        remove(tmp_path / "none", "globe")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_photos_of_a_database_are_not_to_be_changed(db: Path) -> None:
    Image.fromarray(np.asarray(view(5).crop)).save(db / "globe" / "mine.png")
    database = ObjectDatabase.load(db)
    assert database.find("globe").labels == ("001", "002", "mine.png")
    for photo in (*database.find("globe").photos, *database.crops(8)["globe"]):
        with pytest.raises(ValueError, match="read-only"):
            photo[0, 0] = 0
    for photo in database.sample(np.random.default_rng(0)).crops(8)["globe"]:
        with pytest.raises(ValueError, match="read-only"):
            photo[0, 0] = 0


def test_what_renewing_says(db: Path) -> None:
    (db / "globe" / "001.crop.png").unlink()
    for number in (7, 8, 9):
        Image.fromarray(np.asarray(view(number).crop)).save(db / "globe" / f"{number}.png")
    (db / "globe" / "009.photo.jpg").write_bytes((db / "globe" / "002.photo.jpg").read_bytes())
    assert renew(db) == (
        "globe: took in '7.png', '8.png', '9.png' as photo 010, 011, 012",
        "globe: photo 001 is gone and no longer listed",
        "globe: cleared away '001.photo.jpg', '009.photo.jpg', which nothing referred to",
    )
    assert sorted(path.name for path in (db / "globe").iterdir()) == [
        "002.crop.png", "002.photo.jpg", "010.crop.png", "010.photo.jpg", "011.crop.png", "011.photo.jpg",
        "012.crop.png", "012.photo.jpg", "object.json",
    ]  # fmt: skip
    assert ObjectDatabase.load(db).notes == ()
    assert ObjectDatabase.load(db).find("globe").labels == ("002", "010", "011", "012")


def test_only_so_many_are_listed(db: Path) -> None:
    for number in range(7):
        teach(db, f"cup {number}", phrases=[f"cup {number}"])
    listed = "'cup 0', 'cup 1', 'cup 2', 'cup 3', 'cup 4', 'cup 5' and 2 more"
    with pytest.raises(DataError, match=f"has no object 'spoon'; it has {listed}"):
        remove(db, "spoon")
    database = ObjectDatabase(tuple(TaughtObject(f"t{i:02d}") for i in range(13)))
    with pytest.raises(WaywordError, match=r"it has 't00', .*'t11' and 1 more"):
        database.find("spoon")
    with pytest.raises(WaywordError, match=r"'t10', 't11'$"):
        database.subset(database.names[:12]).find("spoon")
    with pytest.raises(WaywordError, match="it has none"):
        ObjectDatabase(()).find("spoon")


def test_taking_out_leaves_something_or_nothing(db: Path) -> None:
    remove(db, "globe", photo="001")
    remove(db, "globe", photo="002")
    with pytest.raises(WaywordError, match="no photo '002'; it has none"):
        remove(db, "globe", photo="002")
    remove(db, "globe", phrase="THE BLUE BALL")  # a determiner makes no difference
    with pytest.raises(WaywordError, match="'globe' has no phrase 'blue ball'; it has 'the globe'"):
        remove(db, "globe", phrase="blue ball")
    with pytest.raises(WaywordError, match="nothing would remain of 'globe'"):
        remove(db, "globe", phrase="globe")
    assert remove(db, "Globe") is None
    assert not (db / "globe").exists()
    assert json.loads((db / "manifest.json").read_text())["objects"] == {}


# In memory --------------------------------------------------------------------------------------------------


def taught(count: int = 3) -> ObjectDatabase:
    """Object i has i photos, each of one grey, and i phrases."""
    return ObjectDatabase(
        tuple(
            TaughtObject(
                f"t{i}",
                tuple(np.full((40, 40, 3), 25 * i + k, np.uint8) for k in range(i)),
                tuple(f"t{i} phrase {k}" for k in range(i)),
                tuple(f"{k:03d}" for k in range(i)),
            )
            for i in range(count)
        )
    )


def test_a_draw_holds_no_more_than_asked_and_nothing_twice() -> None:
    whole, rng = taught(9), np.random.default_rng(2)
    whole.crops(16)
    seen: dict[str, set[str]] = {name: set() for name in whole.names}
    for _ in range(40):
        drawn = whole.sample(rng)
        assert drawn.names == whole.names
        for item, full in zip(drawn.objects, whole.objects, strict=True):
            most = min(5, len(full.photos))
            assert len(item.photos) == len(set(item.labels)) == most
            assert len(item.phrases) == len(set(item.phrases)) == most
            assert list(item.labels) == sorted(item.labels)  # in their order
            assert list(item.phrases) == sorted(item.phrases)
            greys = [int(photo[0, 0, 0]) for photo in item.photos]
            assert greys == [int(full.photos[0][0, 0, 0]) + int(label) for label in item.labels]
            assert drawn.crops(16)[item.name][:, 0, 0, 0].tolist() == greys
            seen[item.name] |= set(item.labels)
    assert all(seen[item.name] == set(item.labels) for item in whole.objects)
    two = whole.sample(rng, images=2, phrases=3).find("t8")
    assert (len(two.photos), len(two.phrases)) == (2, 3)


def test_crops_are_photos_made_smaller() -> None:
    rng = np.random.default_rng(0)
    photo = rng.integers(0, 256, (50, 50, 3), dtype=np.uint8)
    database = ObjectDatabase((TaughtObject("thing", (photo, photo[::-1])), TaughtObject("ghost")))
    assert [*database.crops()] == ["thing", "ghost"]
    for size in (1, 10, 25, 32):
        crops = database.crops(size)
        assert crops["ghost"].shape == (0, size, size, 3)
        assert np.array_equal(crops["thing"][1], reduced_photo(photo[::-1], size))
        assert crops["thing"].shape == (2, size, size, 3)
    # By a whole factor the middle of the blocks counts most, but never what is far from them.
    steps = np.repeat(np.repeat(np.arange(0, 250, 50, np.uint8)[:, None], 10, axis=0), 50, axis=1)
    small = reduced_photo(np.stack([steps] * 3, axis=-1), 5)[..., 0]
    assert (np.abs(small.astype(int) - np.arange(0, 250, 50)[:, None]) <= 15).all()
    for size in (0, -1):
        with pytest.raises(WaywordError, match=f"crops of {size} pixels"):
            database.crops(size)


def test_who_has_no_phrase_is_called_by_its_name() -> None:
    database = taught(3)
    assert database.phrases() == {"t1": ("t1 phrase 0",), "t2": ("t2 phrase 0", "t2 phrase 1")}
    assert {entry.name: entry.phrases for entry in database.phrase_list} == {
        "t0": ("t0",), "t1": ("t1 phrase 0",), "t2": ("t2 phrase 0", "t2 phrase 1"),
    }  # fmt: skip
    part = database.subset(["t2", "t0"])
    assert part.names == ("t2", "t0")
    assert part.path is None
    assert len(part) == 2


def test_differences_in_words() -> None:
    def record(name: str, *orphans: str) -> Record:
        return Record(Path("db") / name, name, orphans=orphans)

    records = [record("cup"), record("globe", "007.crop.png", "008.photo.jpg"), record("mug")]
    now = [{"a": "1", "b": "2", "c": "3"}, {"a": "1"}, {"a": "1"}]
    then = {"cup": {"a": "9", "b": "2", "d": "4"}, "globe": {"a": "1"}, "spoon": {}, "fork": {}}
    assert differences(records, then, now) == [
        "the folder 'fork' is gone",
        "the folder 'spoon' is gone",
        "cup: changed: 'a'",
        "cup: new: 'c'",
        "cup: gone: 'd'",
        "globe: not listed in object.json and not used: 007.crop.png, 008.photo.jpg",
        "mug: the folder is new",
    ]
    assert differences(records, None, now) == ["there is no manifest.json yet"]
    assert differences([], None, []) == []
    assert differences([], {}, []) == []


def test_the_next_number_is_one_that_nobody_had() -> None:
    folder = Path("db/cup")
    assert Record(folder, "cup").next_number() == 1
    photos = {"002": {}, "010": {}}
    assert Record(folder, "cup", photos=photos).next_number() == 11
    assert Record(folder, "cup", photos=photos, gone=("011",)).next_number() == 12
    assert Record(folder, "cup", photos=photos, gone=("001",), orphans=("0120.crop.png",)).next_number() == 121
