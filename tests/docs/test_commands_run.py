"""Command lines of README and docs are run here in miniature, unless another test runs them: none is only read.

What a command needs is there (photos, a camera), and what would take hours is cut short by options that are added.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from PIL import Image

from support.pack_files import write_pack
from support.page_commands import PAGES, ROOT, shown
from wayword.camera import Camera
from wayword.cli.launch import main
from wayword.episodes import PlacedObject
from wayword.flight.calibration import Calibration
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import Renderer

GLOBE = '"stop in front of the globe"'
# In the order in which they are run: what one writes, a later one reads. With what is added, and what is printed last.
MINIATURES: dict[str, tuple[str, str]] = {
    f"fly {GLOBE} --world lab --grounder lab": ("--out lab.png", r"lab\.png"),
    'fly "keep away from the watermelon and go to the thing farthest from you"': ("--out far.png", r"far\.png"),
    f"fly {GLOBE} --mcap flight.mcap": ("--out mcap.png", r"flight\.mcap"),
    'teach globe photo1.jpg photo2.jpg --phrase "the globe" --phrase "blue ball on a stand" --db my_objects': (
        "",
        r"my_objects",
    ),
    f"flight fly {GLOBE} --db my_objects --camera camera.json": ("--out out/flight.png --no-film", r"out/flight\.box"),
    "flight replay out/flight.box": ("", r"decisions"),
    "flight replay out/flight.box --mcap flight.mcap": ("", r"flight\.mcap"),
    "eval --policy fspvn --split dev": ("--limit 2 --out fspvn.json", r"fspvn\.json"),
    "eval --policy fspvn --split dev --html report": ("--limit 1 --out page.json", r"report"),
    "eval table --html report": (
        "--systems stop --episodes natural --limit 2 --workers 1 --folder table --any-code",
        r"report",
    ),
    "eval commands --split dev --scenes hidden": ("--limit 1 --workers 1 --out hidden.jsonl", r"hidden\.jsonl"),
    "world objects --out objects.png": ("", r"objects\.png"),
    "world layout --seed 3 --out layout.png": ("", r"layout\.png"),
    "world demos --count 12 --out demos.jsonl": ("", r"demos"),
    "objects build --pack my_pack.npz --out runs/pack": ("--views 1", r"8 objects"),
    "data generate --db runs/pack --count 100 --out runs/pack.jsonl": ("--count 1 --processes 1", r"pack\.jsonl"),
    "eval --policy fspvn --episodes runs/pack.jsonl --objects my_pack.npz --db runs/pack --others 2": (
        "--limit 1 --out pack.json",
        r"pack\.json",
    ),
    "bench sim": ("--repeats 2", r"."),
}
BOXES = [
    (f"{colour} {noun}", noun, (0.3 * wide, 0.3, 0.4 * tall), rgb)
    for (colour, rgb), (noun, wide, tall) in zip(
        [
            ("red", (220, 20, 20)), ("green", (20, 200, 40)), ("blue", (30, 40, 220)), ("yellow", (230, 220, 30)),
            ("pink", (240, 120, 180)), ("white", (240, 240, 240)), ("orange", (240, 140, 20)),
            ("purple", (130, 30, 160)),
        ],
        [
            ("crate", 1.0, 1.0), ("pillar", 0.5, 1.6), ("bench", 2.0, 0.6), ("locker", 0.8, 1.8), ("cube", 1.2, 0.9),
            ("fridge", 1.1, 1.7), ("plank", 2.2, 0.4), ("post", 0.4, 1.4),
        ],
        strict=True,
    )
]  # fmt: skip
ELSEWHERE = {
    r'"go past the planter|"circle the|"find the globe|to the rocket': "cli/test_fly.py, cli/test_parse.py",
    r"^studio": "studio, and cli/test_every_verb.py",
    r"--episodes mine\.jsonl": "docs/test_tutorials.py, with world.md",
    r"my(policy|module|drone|chunker):": "docs/test_extending.py",
    r"^(train|ar) |--weights runs|--grounder my_room": "learning, cli/test_every_verb.py",
    r"^data (generate|export)|^world frames": "cli/test_every_verb.py",
    r"--vehicle udp|^flight calibrate": "flight",
    r"^judge|^eval (table|swap|commands)": "judge, evaluation, cli/test_every_verb.py",
    r"lerobot|--rerun": "policy/test_lerobot_policy.py, recording",
}
"""What is run by another test, of whole splits, trainings and vehicles in miniature; by what stands in the command."""


def commands(page: Path) -> list[str]:
    """What follows ``wayword`` in the blocks of a page, without remarks."""
    return [re.sub(r"\s+#.*|^\S+ +|\s{3,}\d.*", "", line).strip() for line in shown(page.read_text(encoding="utf-8"))]


def test_no_command_is_forgotten() -> None:
    pages = [page for page in PAGES if page.parent.name != "tutorials"]  # those are run as they stand
    there = {re.sub(r"  +", " ", command) for page in pages for command in commands(page)}
    assert set(MINIATURES) <= there
    assert [one for one in there - set(MINIATURES) if not any(re.search(rule, one) for rule in ELSEWHERE)] == []
    for places in ELSEWHERE.values():
        for place in re.findall(r"[\w/]+\.py|^\w+(?=,)|^\w+$", places):
            assert (ROOT / "tests" / place).exists(), place


def test_commands_do_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("mcap", reason="needs mcap: pip install -e '.[mcap]'")
    monkeypatch.chdir(tmp_path)
    renderer = Renderer(MeshBank.of_catalogue(["globe"]), Camera(320, 180))
    for number in (1, 2):
        scene = renderer.scene([PlacedObject("globe", 2.0, 2.0, 2.0 * number)])
        photo = renderer.render([scene], [[1.2, 2.0, 0.7, 0.0, 0.0, 0.0]]).rgb[0]
        Image.fromarray(photo).save(f"photo{number}.jpg")
    Calibration.pinhole(128, 72).save(Path("camera.json"))
    write_pack(Path("my_pack.npz"), BOXES)
    for command, (more, result) in MINIATURES.items():
        main(shlex.split(f"{command} {more}"))
        said = capsys.readouterr().out
        assert re.search(result, said), (command, said)
        if command.startswith("fly"):
            assert json.loads(next(Path().glob(f"{Path(more.split()[-1]).stem}.json")).read_text())["outcome"]
            assert re.search(r"^done in ", said, re.MULTILINE), (command, said)
