from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from wayword.errors import DataError, WaywordError
from wayword.language import phrases_db
from wayword.objects import (
    Box,
    Exemplar,
    ObjectDatabase,
    TaughtObject,
    VectorSimilarity,
    check_objects,
    colour_histograms,
    default_similarity,
    remove,
    renew,
    teach,
    view_pixels,
)
from wayword.objects import names as naming
from wayword.objects.checks import confusion, difference_hash, near_duplicates
from wayword.objects.lock import locked
from wayword.objects.similarity import gaussian_kernel, letter_vectors


def picture(color: tuple[int, int, int], seed: int = 0, size: int = 64) -> Image.Image:
    """A coloured thing somewhere on a textured grey ground."""
    rng = np.random.default_rng(seed)
    image = Image.fromarray((rng.normal(130, 6, (size, size, 1)).repeat(3, axis=2)).astype(np.uint8))
    x, y = rng.integers(8, size // 2, 2)
    ImageDraw.Draw(image).ellipse((x, y, x + size // 3, y + size // 3), fill=color)
    return image


def seen(color: tuple[int, int, int], seed: int = 0) -> Exemplar:
    return view_pixels(np.asarray(picture(color, seed)))


def contents(root: Path) -> dict[str, bytes]:
    """Every file of a database but the lock."""
    return {
        str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file() and p.name != ".lock"
    }


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Two objects: a globe with two photos and two phrases, a red cup with one of each."""
    root = tmp_path / "db"
    teach(root, "globe", [seen((30, 60, 200), 1), seen((40, 70, 190), 2)], ["the globe", "blue ball on a stand"])
    teach(root, "red cup", [seen((210, 20, 20), 3)], ["the cup"])
    return root


# Names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("globe", "globe"),
        ("Rubber Duck", "rubber-duck"),
        ("  rubber   duck ", "rubber-duck"),
        ("Rubber-Duck", "rubber-duck_"),
        ("café", "cafe_"),
        ("🦆", "object_"),
        ("小鸭", "object_"),
        ("CON", "object-con_"),
        ("nul", "object-nul_"),
        ("com1.txt", "object-com1-txt_"),
        ("a" * 80, "a" * 48 + "_"),
    ],
)
def test_folders_of_names(name: str, folder: str) -> None:
    made = naming.slug(naming.clean_name(name))
    assert made == folder or (folder.endswith("_") and made.startswith(folder) and len(made) == len(folder) + 8)


@given(st.text(max_size=90))
def test_every_name_is_refused_or_gets_a_safe_folder(name: str) -> None:
    try:
        clean = naming.clean_name(name)
    except WaywordError:
        return
    folder = naming.slug(clean)
    assert set(folder) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")
    assert 0 < len(folder) <= 64
    assert folder.split("-")[0].split("_")[0] not in {"con", "prn", "aux", "nul", *(f"com{i}" for i in range(10))}
    assert naming.clean_name(clean) == clean


@given(st.text(alphabet="abAB -_é.1", min_size=1, max_size=6), st.text(alphabet="abAB -_é.1", min_size=1, max_size=6))
def test_two_objects_never_share_a_folder(first: str, second: str) -> None:
    try:
        one, two = naming.clean_name(first), naming.clean_name(second)
    except WaywordError:
        return
    assert (naming.slug(one) == naming.slug(two)) == (naming.name_key(one) == naming.name_key(two))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../x", "path"),
        ("/etc/passwd", "path"),
        ("..\\x", "path"),
        ("C:duck", "path"),
        ("..", "letter, digit or symbol"),
        ("", "empty"),
        (" \t ", "U\\+0009"),
        ("a\0b", "U\\+0000"),
        ("line\nbreak", "U\\+000A"),
        ("\x1b[31mred", "U\\+001B"),
        ("turned \u202e around", "U\\+202E"),
        ("zero\u200bwidth", "U\\+200B"),
        ("half \ud800", "U\\+D800"),
        ("x" * 81, "at most 80"),
        ("x" * 10_000_000, "at most 80"),
    ],
)
def test_names_that_are_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(WaywordError, match=message) as caught:
        teach(tmp_path / "db", name, phrases=["thing"])
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()
    assert not (tmp_path / "db").exists()


@pytest.mark.parametrize("phrase", ["", "!!!", "x" * 201, "x" * 10_000_000, "two\nlines", "nul\0", "\x9b31m", 7])
def test_phrases_that_are_refused(db: Path, phrase: str) -> None:
    before = contents(db)
    with pytest.raises(WaywordError):
        teach(db, "globe", phrases=["good", phrase])
    assert contents(db) == before
    assert naming.MAX_PHRASE == phrases_db.MAX_PHRASE


# Teaching and loading ---------------------------------------------------------------------------------------


def test_a_database_reads_back_as_it_was_taught(db: Path) -> None:
    database = ObjectDatabase.load(db)
    assert database.names == ("globe", "red cup")
    assert database.notes == ()
    assert database.phrases() == {"globe": ("the globe", "blue ball on a stand"), "red cup": ("the cup",)}
    exemplar = seen((210, 20, 20), 3)
    assert np.array_equal(database.find("RED CUP").photos[0], exemplar.crop)
    assert sorted(path.name for path in (db / "red-cup").iterdir()) == [
        "001.crop.png",
        "001.photo.jpg",
        "object.json",
    ]
    values = json.loads((db / "red-cup" / "object.json").read_text())
    assert (values["schema"], values["name"], values["phrases"]) == (1, "red cup", ["the cup"])
    assert values["photos"]["001"]["source_size"] == [64, 64]
    assert [entry.name for entry in phrases_db.load_phrases(db)] == ["globe", "red cup"]  # language reads the same


def test_teaching_a_known_object_adds_to_it_once(db: Path) -> None:
    again = teach(db, "Globe", [seen((30, 60, 200), 1), seen((50, 80, 220), 4)], ["The  Globe", "map ball"])
    assert (again.new, again.photos, again.phrases) == (False, ("003",), ("map ball",))
    globe = ObjectDatabase.load(db).find("globe")
    assert (globe.name, len(globe.photos), len(globe.phrases), globe.labels) == ("globe", 3, 3, ("001", "002", "003"))
    with pytest.raises(WaywordError, match="nothing to teach"):
        teach(db, "globe")


def test_true_names_survive_in_any_script(tmp_path: Path) -> None:
    names = ("小鸭", "🧑\u200d🚀", "café au lait", "CON", "a_b", "a b", "a-b")
    for name in names:
        teach(tmp_path / "db", name, phrases=["thing"])
    assert set(ObjectDatabase.load(tmp_path / "db").names) == set(names)


def test_a_folder_with_other_things_is_not_taken_for_a_database(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(DataError, match="no object database"):
        teach(tmp_path, "globe", phrases=["globe"])
    assert contents(tmp_path) == {"thesis.txt": b"precious"}
    with pytest.raises(DataError, match="is not a folder"):
        ObjectDatabase.load(tmp_path / "none")


def test_remove(db: Path) -> None:
    left = remove(db, "globe", photo="001")
    assert left is not None
    assert list(left.photos) == ["002"]
    remove(db, "globe", phrase="Blue ball on a stand")
    globe = ObjectDatabase.load(db).find("globe")
    assert (globe.labels, globe.phrases) == (("002",), ("the globe",))
    assert not (db / "globe" / "001.crop.png").exists()
    with pytest.raises(WaywordError, match="'002'"):
        remove(db, "globe", photo="001")
    with pytest.raises(WaywordError, match="whole object"):
        remove(db, "red cup", photo="001", phrase="the cup")
    with pytest.raises(DataError, match="no object 'spoon'; it has 'globe', 'red cup'"):
        remove(db, "spoon")
    remove(db, "red cup")
    assert ObjectDatabase.load(db).names == ("globe",)
    assert ObjectDatabase.load(db).notes == ()
    remove(db, "globe")
    assert len(ObjectDatabase.load(db)) == 0


def test_batches_samples_and_subsets(db: Path) -> None:
    teach(db, "ghost", phrases=["a ghost"])
    database = ObjectDatabase.load(db)
    crops = database.crops(32)
    assert {name: batch.shape for name, batch in crops.items()} == {
        "ghost": (0, 32, 32, 3),
        "globe": (2, 32, 32, 3),
        "red cup": (1, 32, 32, 3),
    }
    assert database.crops(32)["globe"] is crops["globe"]
    with pytest.raises(ValueError, match="read-only"):
        crops["globe"][0] = 0
    drawn = database.sample(np.random.default_rng(3), images=1, phrases=1)
    same = database.sample(np.random.default_rng(3), images=1, phrases=1)
    assert drawn.phrases() == same.phrases()
    row = database.find("globe").labels.index(drawn.find("globe").labels[0])
    assert np.array_equal(drawn.crops(32)["globe"][0], crops["globe"][row])
    counts = {drawn.sample(np.random.default_rng(i), 1, 1).names for i in range(3)}
    assert counts == {database.names}
    picked = database.subset(["red cup", "GLOBE"])
    assert picked.names == ("red cup", "globe")
    assert picked.crops(32)["globe"] is crops["globe"]
    with pytest.raises(WaywordError, match="no object 'spoon'"):
        database.subset(["spoon"])
    with pytest.raises(WaywordError, match="twice"):
        ObjectDatabase((TaughtObject("cup"), TaughtObject("CUP")))


# Edited by hand ---------------------------------------------------------------------------------------------


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_phrases_changed_by_hand_are_noticed_and_accepted(db: Path) -> None:
    edit(db / "globe" / "object.json", phrases=["earth"], comment="from the attic")
    database = ObjectDatabase.load(db)
    assert database.find("globe").phrases == ("earth",)
    assert database.notes == ("globe: changed: 'object.json'",)
    assert renew(db) == ()
    assert ObjectDatabase.load(db).notes == ()
    teach(db, "globe", phrases=["planet"])
    assert json.loads((db / "globe" / "object.json").read_text())["comment"] == "from the attic"


def test_a_photo_put_there_by_hand_is_cropped_noted_and_taken_in(db: Path) -> None:
    exif = Image.Exif()
    exif[0x010F] = "SECRETCAM"
    picture((30, 60, 210), 9, 400).save(db / "globe" / "IMG 7.JPG", exif=exif, format="JPEG")
    before = ObjectDatabase.load(db)
    assert before.notes == ("globe: new: 'IMG 7.JPG'",)
    assert before.find("globe").labels == ("001", "002", "IMG 7.JPG")
    assert renew(db) == ("globe: took in 'IMG 7.JPG' as photo 003",)
    after = ObjectDatabase.load(db)
    assert after.find("globe").labels == ("001", "002", "003")
    assert np.array_equal(after.find("globe").photos[2], before.find("globe").photos[2])
    assert after.notes == ()
    assert not (db / "globe" / "IMG 7.JPG").exists()
    assert not any(b"SECRET" in data for data in contents(db).values())


def test_what_is_deleted_by_hand_is_noted(db: Path) -> None:
    (db / "globe" / "001.crop.png").unlink()
    shutil.rmtree(db / "red-cup")
    database = ObjectDatabase.load(db)
    assert database.find("globe").labels == ("002",)
    assert database.notes == (
        "the folder 'red-cup' is gone",
        "globe: not listed in object.json and not used: 001.photo.jpg",
        "globe: gone: '001.crop.png', '001.photo.jpg'",
    )
    renew(db)
    assert ObjectDatabase.load(db).notes == ()


def test_the_number_of_a_photo_that_is_gone_is_not_given_again(db: Path) -> None:
    # object.json still lists 002; another photo under this number would pass for it.
    for file in ("002.crop.png", "002.photo.jpg"):
        (db / "globe" / file).unlink()
    assert teach(db, "globe", [seen((50, 80, 220), 4)]).photos == ("003",)
    assert ObjectDatabase.load(db).find("globe").labels == ("001", "003")


def test_a_database_made_by_hand(tmp_path: Path) -> None:
    folder = tmp_path / "db" / "My Globe"
    folder.mkdir(parents=True)
    picture((30, 60, 210)).save(folder / "a.png")
    (folder / "object.json").write_bytes(b'\xef\xbb\xbf{"name": "globe", "phrases": ["the globe"]}')
    database = ObjectDatabase.load(tmp_path / "db")
    assert (database.names, len(database.objects[0].photos)) == (("globe",), 1)
    assert database.notes == ("there is no manifest.json yet",)
    assert not teach(tmp_path / "db", "globe", phrases=["earth"]).new
    renew(tmp_path / "db")
    assert ObjectDatabase.load(tmp_path / "db").notes == ()


def test_a_crop_painted_over_by_hand_may_have_any_shape(db: Path) -> None:
    picture((9, 200, 9)).crop((0, 0, 64, 40)).save(db / "globe" / "001.crop.png")
    database = ObjectDatabase.load(db)
    assert database.find("globe").photos[0].shape[0] == database.find("globe").photos[0].shape[1]
    assert database.notes == ("globe: changed: '001.crop.png'",)


Harm = Callable[[Path], object]


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda d: (d / "globe/object.json").write_text("{"), "object.json.*not valid JSON"),
        (lambda d: (d / "globe/object.json").write_bytes(b"\xff\xfe{}"), "not valid JSON"),
        (lambda d: (d / "globe/object.json").write_text("[" * 100_000), "not valid JSON"),
        (lambda d: (d / "globe/object.json").write_text('{"name": "a", "x": NaN}'), "not valid JSON"),
        (lambda d: (d / "globe/object.json").write_text("[]"), "must hold"),
        (lambda d: (d / "globe/object.json").unlink(), "has no object.json"),
        (lambda d: edit(d / "globe/object.json", name=7), "name must be a text"),
        (lambda d: edit(d / "globe/object.json", name="\x1b[2J"), r"U\+001B"),
        (lambda d: edit(d / "globe/object.json", name="Red CUP"), "both named"),
        (lambda d: edit(d / "globe/object.json", phrases="globe"), "list of texts"),
        (lambda d: edit(d / "globe/object.json", phrases=["x" * 300]), "at most 200"),
        (lambda d: edit(d / "globe/object.json", phrases=["x"] * 300), "too many"),
        (lambda d: edit(d / "globe/object.json", photos={"../../x": {}}), "a photo is listed as"),
        (lambda d: edit(d / "globe/object.json", photos={"001": {"box": [1, 2]}}), "list of 4 numbers"),
        (lambda d: edit(d / "globe/object.json", schema=2), "newer wayword"),
        (lambda d: edit(d / "globe/object.json", schema="x"), "schema"),
        (lambda d: (d / "globe/001.crop.png").write_bytes(b"junk"), "001.crop.png: is no photo"),
        (lambda d: os.truncate(d / "globe/001.crop.png", 200), "001.crop.png: is damaged"),
        (lambda d: (d / "globe/extra.jpg").write_bytes(b"GIF89a"), "extra.jpg: is a GIF"),
        (lambda d: (d / "globe/x\x1b.jpg").write_bytes(b"x"), "cannot be printed"),
        (lambda d: (d / "manifest.json").write_text("nonsense"), "manifest.json.*--renew"),
        (lambda d: (d / "manifest.json").write_text('{"objects": {"globe": 3}}'), "is not a manifest"),
        (lambda d: (d / "empty folder").mkdir(), "has no object.json"),
    ],
)
def test_corrupt_content_is_one_clear_line(db: Path, harm: Harm, message: str) -> None:
    harm(db)
    with pytest.raises(DataError, match=message) as caught:
        ObjectDatabase.load(db)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("what", ["globe/001.crop.png", "globe/object.json", "globe/new.jpg", "globe", "manifest.json"])
def test_links_do_not_lead_out_of_a_database(db: Path, tmp_path: Path, what: str) -> None:
    target = db / what
    if target.exists():
        target.rename(tmp_path / "outside")
    else:
        picture((1, 2, 3)).save(tmp_path / "outside", format="PNG")
    target.symlink_to(tmp_path / "outside")
    with pytest.raises(DataError, match="is a link"):
        ObjectDatabase.load(db)
    with pytest.raises(WaywordError):
        renew(db) if what != "manifest.json" else teach(db, "spoon", phrases=["spoon"])


def test_a_refused_photo_leaves_renew_without_effect(db: Path) -> None:
    picture((9, 9, 200)).save(db / "globe" / "fine.png")
    (db / "red-cup" / "bad.jpg").write_bytes(b"\xff\xd8\xff junk")
    before = contents(db)
    with pytest.raises(DataError, match=r"bad\.jpg"):
        renew(db)
    assert contents(db) == before


# Writers side by side, writers that die ---------------------------------------------------------------------

DRIVER = """
import os, random, shutil, signal, sys, time
from functools import partial
from pathlib import Path
import numpy as np
from wayword.errors import WaywordError
from wayword.objects import ObjectDatabase, remove, renew, teach, view_pixels
from wayword.objects import store
from wayword.pictures.object_sheets import draw_preview

teach, remove, renew = (partial(change, draw_preview=draw_preview) for change in (teach, remove, renew))
root = Path(sys.argv[1])
rng = np.random.default_rng(0)

def view(i):
    image = np.random.default_rng(i).integers(0, 90, (48, 48, 3), dtype=np.uint8)
    image[12:36, 10:30] = (200, 30, 5 * i % 256)
    return view_pixels(image)

def state(path):
    database = ObjectDatabase.load(path)
    return {item.name: (len(item.photos), item.phrases) for item in database.objects}

def forked(work):
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)
"""


def drive(script: str, root: Path, timeout_s: float = 100.0) -> None:
    code = DRIVER + textwrap.dedent(script)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)], capture_output=True, text=True, timeout=timeout_s, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
def test_killed_before_any_step_on_the_disk_the_database_is_as_before_or_as_after(tmp_path: Path) -> None:
    drive(
        """
        base, work = root / "base", root / "work"
        teach(base, "globe", [view(1), view(2)], ["the globe"])
        teach(base, "cup", [view(3)], ["the cup"])
        loose = root / "loose"
        shutil.copytree(base, loose)
        from PIL import Image
        Image.fromarray(view(7).photo).save(loose / "globe" / "mine.png")
        fresh = [view(4), view(5)]
        operations = {
            "new": (base, lambda: teach(work, "duck", fresh, ["duck"])),
            "more": (base, lambda: teach(work, "globe", fresh, ["earth"])),
            "photo": (base, lambda: remove(work, "globe", photo="001")),
            "object": (base, lambda: remove(work, "globe")),
            "renew": (loose, lambda: renew(work)),
        }
        STEPS = ("open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.truncate")
        for what, (start, operation) in operations.items():
            before, step, after = state(start), 0, None
            states = []
            while True:
                shutil.rmtree(work, ignore_errors=True)
                shutil.copytree(start, work)
                def doomed(limit=step):
                    count = 0
                    def hook(event, arguments):
                        nonlocal count
                        if event in STEPS and str(work) in str(arguments[0]):
                            # Only steps that change something: reading is not a place to die.
                            if event != "open" or set(str(arguments[1])) & set("wax+"):
                                if count == limit:
                                    os.kill(os.getpid(), signal.SIGKILL)
                                count += 1
                    sys.addaudithook(hook)
                    operation()
                status = os.waitpid(forked(doomed), 0)[1]
                states.append(state(work))
                if step % 4 == 0:
                    teach(work, "later", phrases=["still works"])
                    assert not (work / ".work").exists()
                if not os.WIFSIGNALED(status):
                    assert status == 0, (what, step)
                    after = states[-1]
                    break
                step += 1
            assert step >= 5, (what, step)
            assert all(found in (before, after) for found in states), (what, before, after, states)
        """,
        tmp_path,
    )


@needs_fork
def test_killed_at_random_moments_the_database_loads(tmp_path: Path) -> None:
    drive(
        """
        teach(root / "db", "globe", [view(1)], ["the globe"])
        random.seed(1)
        def busy():
            for i in range(10_000):
                teach(root / "db", "globe", [view(i % 50 + 2)], [f"globe {i % 40}"])
                teach(root / "db", "cup", [view(60)], ["cup"])
                if i % 3 == 2:
                    remove(root / "db", "cup")
        for round in range(25):
            child = forked(busy)
            time.sleep(random.uniform(0.0, 0.12))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            found = state(root / "db")
            assert found["globe"][0] >= 1 and set(found) <= {"globe", "cup"}
        teach(root / "db", "spoon", phrases=["spoon"])  # nobody holds the lock
        """,
        tmp_path,
    )


@needs_fork
def test_many_writers_and_a_reader_at_once(tmp_path: Path) -> None:
    drive(
        """
        teach(root / "db", "shared", phrases=["shared"])
        def writer(number):
            for i in range(2):
                teach(root / "db", f"thing {number} {i}", [view(10 * number + i)], ["thing"])
                teach(root / "db", "shared", [view(100 + 10 * number + i)], [f"phrase {number} {i}"])
                teach(root / "db", f"gone {number}", phrases=["soon gone"])
                remove(root / "db", f"gone {number}")
        children = [forked(lambda n=n: writer(n)) for n in range(4)]
        running, reads = set(children), 0
        while running:
            assert "shared" in state(root / "db")
            reads += 1
            for child in list(running):
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    assert status == 0
                    running.discard(child)
        found = state(root / "db")
        assert reads > 1 and len(found) == 9
        assert found["shared"][0] == 8 and len(found["shared"][1]) == 9
        assert ObjectDatabase.load(root / "db").notes == ()
        """,
        tmp_path,
    )


def test_a_writer_waits_for_the_lock_and_says_who_has_it(db: Path) -> None:
    with locked(db):
        with pytest.raises(WaywordError, match=f"process {os.getpid()}"), locked(db, wait_s=0.05):
            pass
        done = threading.Thread(target=teach, args=(db, "spoon", (), ["spoon"]))
        done.start()
    done.join(10)
    assert "spoon" in ObjectDatabase.load(db).names


def test_a_lock_file_left_behind_does_not_lock(db: Path) -> None:
    (db / ".lock").write_text("999999\n")
    teach(db, "spoon", phrases=["spoon"])


def test_a_full_disk_changes_nothing(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, write = contents(db), Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "0001":
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(WaywordError, match="No space left"):
        teach(db, "globe", [seen((9, 9, 9), 8)], ["earth"])
    monkeypatch.undo()
    assert contents(db) == before


# The check --------------------------------------------------------------------------------------------------


def test_confusion_by_hand() -> None:
    # Two objects with two samples each; within an object the kernel is 0.8, between them 0.2, background 0.25:
    # P(other | x) = 0.2 / (0.8 + 0.2 + 0.25) = 0.16 for each sample.
    kernel = np.array([[1, 0.8, 0.2, 0.2], [0.8, 1, 0.2, 0.2], [0.2, 0.2, 1, 0.8], [0.2, 0.2, 0.8, 1]])
    assert confusion(kernel, [2, 2], 0.25) == pytest.approx(np.array([[0, 0.16], [0.16, 0]]))
    # Single samples that are the same: own likeness counts as 1, so 1 / (1 + 1 + 0).
    assert confusion(np.ones((2, 2)), [1, 1], 0.0)[0, 1] == pytest.approx(0.5)
    # An object without samples is confused with nothing; the single sample borrows 0.8 from the others.
    three = confusion(np.array([[1, 0.8, 0.1], [0.8, 1, 0.1], [0.1, 0.1, 1]]), [2, 0, 1], 0.0)
    assert three[2, 0] == pytest.approx(0.1 / 0.9)
    assert (three[1] == 0).all()
    assert (three[:, 1] == 0).all()


def test_kernels_by_hand() -> None:
    # Orthogonal unit vectors are at squared distance 2: exp(-2 / (2 * 0.5)) = exp(-2).
    assert gaussian_kernel(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), 0.5) == pytest.approx(
        np.array([[1, np.exp(-2)], [np.exp(-2), 1]])
    )
    plain = np.zeros((2, 32, 32, 3), np.uint8)
    plain[1] = 255
    vectors = colour_histograms(plain)
    assert vectors @ vectors.T == pytest.approx(np.eye(2), abs=1e-6)  # black and white share no bin
    letters = letter_vectors(["the globe", "Globe", "barrel"])
    assert letters[0] @ letters[1] == pytest.approx(1.0)
    assert letters[0] @ letters[2] < 0.3


def test_near_duplicates_are_pictures_not_colours() -> None:
    first = np.asarray(picture((200, 30, 30), 1, 128))
    brighter = np.clip(first.astype(int) + 4, 0, 255).astype(np.uint8)
    recoloured = np.asarray(picture((30, 30, 200), 1, 128))
    elsewhere = np.asarray(picture((200, 30, 30), 6, 128))
    assert difference_hash(first).shape == (64,)
    assert near_duplicates([first, brighter, recoloured, elsewhere]) == [(0, 1)]


def test_the_report_names_what_will_go_wrong(db: Path) -> None:
    teach(db, "mug", [seen((210, 20, 20), 3)], ["The Cup", "mug"])
    report = check_objects(ObjectDatabase.load(db))
    found = {(finding.kind, finding.objects) for finding in report.findings}
    assert ("few photos", ("globe",)) in found
    assert ("few phrases", ("mug",)) in found
    assert ("duplicate", ("mug", "red cup")) in found
    assert ("look alike", ("mug", "red cup")) in found
    assert ("shared phrase", ("mug", "red cup")) in found
    assert not any(finding.objects == ("globe", "mug") for finding in report.findings)
    alike = next(finding for finding in report.findings if finding.kind == "look alike")
    assert alike.probability is not None
    assert alike.probability > 0.4


def test_the_similarity_can_be_replaced(db: Path) -> None:
    def all_alike(things: Sequence[str] | NDArray[np.uint8]) -> NDArray[np.float32]:
        return np.ones((len(things), 1), np.float32)

    report = check_objects(ObjectDatabase.load(db), VectorSimilarity("none", all_alike, all_alike, 1, 1, 0, 0))
    assert report.image_confusion[0, 1] == pytest.approx(0.5)
    assert report.similarity == "none"


def test_without_the_text_encoder_letters_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wayword.language.minilm", None)
    similarity = default_similarity()
    assert "letters" in similarity.name
    assert similarity.phrase_kernel(["red ball"], ["the red ball", "barrel"])[0] == pytest.approx([1, 0], abs=0.01)


def test_view_boxes_are_kept_in_source_pixels() -> None:
    exemplar = view_pixels(np.zeros((1280, 1280, 3), np.uint8), Box(100, 200, 300, 400))
    assert exemplar.box == Box(100, 200, 300, 400)
    assert exemplar.photo is not None
    assert exemplar.photo.shape == (640, 640, 3)
