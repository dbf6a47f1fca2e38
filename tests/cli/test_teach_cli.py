from __future__ import annotations

import json
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from wayword.cli.main import run
from wayword.errors import WaywordError
from wayword.objects import ObjectDatabase, check_objects, teach


def wayword(*arguments: object) -> None:
    """What ``wayword`` does with these arguments."""
    run([str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    """The one line that a wrong command gets."""
    with pytest.raises(WaywordError) as caught:
        wayword(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def photo(path: Path, seed: int, scale: int = 1) -> Path:
    """A blue ball on a textured ground, 400 x 300 times ``scale``."""
    rng = np.random.default_rng(seed)
    image = Image.fromarray(rng.normal(140, 6, (300, 400, 1)).repeat(3, axis=2).astype(np.uint8))
    x, y = int(rng.integers(80, 200)), int(rng.integers(60, 150))
    ImageDraw.Draw(image).ellipse((x, y, x + 100, y + 100), fill=(30, 60, 200))
    image.resize((400 * scale, 300 * scale)).save(path)
    return path


def output(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.strip().splitlines()


def test_teach_list_show_check_remove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "db"
    photos = [photo(tmp_path / f"{i}.jpg", i) for i in range(5)]
    wayword("teach", "globe", *photos, "--phrase", "the globe", "--phrase", "blue ball on a stand", "--db", db)
    lines = output(capsys)
    assert "globe (new): photos +5, 5 in all; phrases +2, 2 in all" in lines
    assert lines[-1] == str(db / "globe" / "preview.png")
    assert Image.open(lines[-1]).size[0] > 300

    wayword("teach", "Globe", photos[0], "--phrase", "earth", "--db", db)
    lines = output(capsys)
    assert "1 of the photos was there already" in lines
    assert "globe: photos +0, 5 in all; phrases +1, 3 in all" in lines

    wayword("teach", "globe", "--phrase", "the planet", "--db", db)  # words alone, about something that was shown
    assert output(capsys)[0] == "globe: photos +0, 5 in all; phrases +1, 4 in all"
    wayword("objects", "remove", "globe", "--phrase", "the planet", "--db", db)
    teach(db, "lamp", phrases=["the lamp"])
    capsys.readouterr()

    wayword("objects", "list", "--db", db)
    text = capsys.readouterr().out
    assert "2 objects" in text
    assert "the lamp" in text

    wayword("objects", "show", "GLOBE", "--db", db)
    lines = output(capsys)
    assert lines[0] == "globe"
    assert '  "earth"' in lines
    assert any(line.startswith("  photo 003: ") and "from 400 x 300" in line for line in lines)

    wayword("objects", "check", "--db", db, "--out", tmp_path / "sheet.png")
    lines = output(capsys)
    assert any("lamp: no photo" in line for line in lines)
    assert lines[-1] == str(tmp_path / "sheet.png")
    assert Image.open(tmp_path / "sheet.png").size[0] > 800

    wayword("objects", "remove", "globe", "--photo", "003", "--db", db)
    wayword("objects", "remove", "lamp", "--db", db)
    assert output(capsys) == ["globe: 4 photos and 3 phrases left", "lamp: removed"]
    assert ObjectDatabase.load(db).names == ("globe",)


def test_the_check_looks_as_the_drone_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dev = Path(str(files("wayword.objects") / "data" / "dev"))
    wayword("objects", "check", "--db", dev, "--out", tmp_path / "sheet.png")
    lines = output(capsys)
    assert any("image vectors" in line for line in lines)
    assert not any("look alike" in line for line in lines)
    # Their colours are alike, their vectors are not: the report before flying must not cry wolf.
    assert check_objects(ObjectDatabase.load(dev)).image_confusion.max() > 0.2

    twins = tmp_path / "twins"
    for name, first in (("globe", 0), ("ball", 5)):
        views = [photo(tmp_path / f"{i}.jpg", i) for i in range(first, first + 5)]
        wayword("teach", name, *views, "--phrase", f"the {name}", "--db", twins)
    wayword("objects", "check", "--db", twins, "--out", tmp_path / "sheet.png")
    alike = next(line for line in output(capsys) if "ball and globe look alike" in line)
    assert float(alike.split()[-1]) == pytest.approx(0.5, abs=0.05)


def test_teaching_five_telephone_photos_takes_less_than_five_seconds(tmp_path: Path) -> None:
    photos = [photo(tmp_path / f"{i}.jpg", i, scale=10) for i in range(5)]
    start = time.process_time()
    wayword("teach", "globe", *photos, "--phrase", "the globe", "--db", tmp_path / "db")
    assert time.process_time() - start < 5


def test_boxes_go_with_photos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two, db = photo(tmp_path / "1.png", 1), photo(tmp_path / "2.png", 2), tmp_path / "db"
    wayword("teach", "globe", one, two, "--box", 10, 20, 110, 100, "--box", 0, 0, 50, 60, "--db", db)
    values = json.loads((db / "globe" / "object.json").read_text())
    assert [values["photos"][number]["box"] for number in ("001", "002")] == [[10, 20, 110, 100], [0, 0, 50, 60]]
    assert values["photos"]["001"]["cropped_by"] == "box"
    assert "cut out 10 20 110 100, as you said" in capsys.readouterr().out
    assert "once for each photo" in refused("teach", "globe", one, two, "--box", 1, 2, 30, 40, "--db", db)
    assert "inside the photo" in refused("teach", "globe", one, "--box", 900, 2, 990, 40, "--db", db)
    assert "empty" in refused("teach", "globe", one, "--box", 90, 2, 9, 40, "--db", db)


def test_the_proposal_network_cuts_the_photos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "db"
    wayword("teach", "globe", photo(tmp_path / "ball.png", 3), "--db", db)
    said = capsys.readouterr().out
    assert "not sure" not in said
    known = json.loads((db / "globe" / "object.json").read_text())["photos"]["001"]
    assert known["cropped_by"] == "proposals"
    assert known["box"] == pytest.approx([100, 145, 200, 245], abs=20)


def test_a_box_by_hand_is_taken_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = photo(tmp_path / "ball.png", 3)
    wayword("teach", "corner", picture, "--box", 0, 0, 40, 30, "--db", tmp_path / "db")
    assert f"{picture}: cut out 0 0 40 30, as you said" in output(capsys)


def test_an_unsure_crop_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image.new("RGB", (200, 200), (90, 90, 90)).save(tmp_path / "wall.png")
    wayword("teach", "wall", tmp_path / "wall.png", "--db", tmp_path / "db")
    lines = output(capsys)
    assert lines[0].endswith("confidence 0.00: not sure")
    assert lines[1] == "please look at the preview: one crop may show something else; if so, remove it and use --box"


def test_mistakes_leave_no_trace(tmp_path: Path) -> None:
    good, db = photo(tmp_path / "good.jpg", 1), tmp_path / "db"
    (tmp_path / "bad.jpg").write_bytes(good.read_bytes()[:500])
    assert "bad.jpg: is damaged" in refused("teach", "globe", good, tmp_path / "bad.jpg", "--db", db)
    assert "path" in refused("teach", "../globe", good, "--db", db)
    assert "at least one photo" in refused("teach", "globe", "--db", db)
    assert "'globe' has no photo" in refused("teach", "globe", "--phrase", "the globe", "--db", db)
    for verb in (["teach", "globe", good], ["objects", "remove", "globe"], ["objects", "check", "--renew"], ["studio"]):
        assert "ships with Wayword" in refused(*verb, "--db", "test")
    assert "invisible" in refused("teach", "globe", good, "--phrase", "a\x1b[2J", "--db", db)
    assert not db.exists()
    assert "is not a folder" in refused("objects", "list", "--db", db)
    wayword("teach", "globe", good, "--db", db)
    assert "no object 'lamp'; it has 'globe'" in refused("objects", "show", "lamp", "--db", db)
    assert "no object 'lamp'" in refused("objects", "remove", "lamp", "--db", db)
    assert ".png" in refused("objects", "check", "--db", db, "--out", tmp_path / "sheet.pdf")
    wayword("objects", "remove", "globe", "--db", db)
    assert "no objects yet" in refused("objects", "check", "--db", db)


def test_changes_by_hand_are_reported_and_renewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "db"
    wayword("teach", "globe", photo(tmp_path / "1.jpg", 1), "--phrase", "globe", "--db", db)
    photo(db / "globe" / "mine.jpg", 2)
    capsys.readouterr()
    wayword("objects", "check", "--db", db, "--out", tmp_path / "sheet.png")
    said = capsys.readouterr()
    assert "changed by hand: globe: new: 'mine.jpg'" in said.err
    assert "--renew" in said.err
    wayword("objects", "check", "--db", db, "--renew", "--out", tmp_path / "sheet.png")
    said = capsys.readouterr()
    assert "took in 'mine.jpg' as photo 002" in said.out
    assert said.err == ""


def test_names_are_printed_as_they_are_not_as_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    teach(tmp_path / "db", "[red]cup[bold]", phrases=["[bold]"])
    wayword("objects", "list", "--db", tmp_path / "db")
    wayword("objects", "show", "[red]cup[bold]", "--db", tmp_path / "db")
    assert capsys.readouterr().out.count("[red]cup[bold]") == 2
