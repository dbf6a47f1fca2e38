from __future__ import annotations

import math
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wayword.camera import Camera
from wayword.cli.ground import Ground
from wayword.episodes import PlacedObject
from wayword.errors import WaywordError
from wayword.grounding.nms import iou
from wayword.grounding.photo_cropper import ProposalCropper
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig, Renderer

DEV = Path(str(files("wayword.objects") / "data" / "dev"))


def photo(name: str, distance_m: float = 1.2) -> tuple[np.ndarray, list[int]]:
    """A 320 x 240 photo of one object in the arena, and the box around it."""
    camera = Camera(320, 240, hfov_deg=55)
    renderer = Renderer(MeshBank.of_catalogue([name]), camera, RenderConfig(supersample=True, threads=1))
    pitch = math.atan2(0.4, distance_m) - math.radians(15)
    pose = [2.35, 2.35 - distance_m, 0.6, 0.0, pitch, math.pi / 2]
    drawn = renderer.render([renderer.scene([PlacedObject(name, 2.35, 2.35, 0.5)])], [pose])
    ys, xs = np.nonzero(drawn.ids[0])
    return drawn.rgb[0], [int(xs.min()), int(ys.min()), int(xs.max()) + 1, int(ys.max()) + 1]


def test_the_object_in_a_photo_is_found() -> None:
    pixels, true = photo("rubber duck")
    box, sure = ProposalCropper().crop_box(pixels)
    assert iou([box.values], [true])[0, 0] > 0.5
    assert sure > 0.5


@pytest.mark.parametrize("shape", [(8, 8), (1, 300), (500, 2), (900, 1600)])
def test_a_photo_of_nothing_still_gives_a_box(shape: tuple[int, int]) -> None:
    box, sure = ProposalCropper().crop_box(np.full((*shape, 3), 120, np.uint8))
    assert 0 <= box.x0 < box.x1 <= shape[1]
    assert 0 <= box.y0 < box.y1 <= shape[0]
    assert 0 <= sure <= 1


def test_ground_paints_the_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pixels, (x0, y0, x1, y1) = photo("rubber duck")
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    Ground(tmp_path / "photo.png", ("the yellow duck",), DEV, tmp_path / "out.png").run()
    painted = np.asarray(Image.open(tmp_path / "out.png")).astype(int)
    assert painted.shape == (480, 640, 3)  # a small photo is enlarged for the letters
    enlarged = np.asarray(Image.fromarray(pixels).resize((640, 480), Image.Resampling.BICUBIC)).astype(int)
    changed = np.abs(painted - enlarged).sum(axis=2) > 60
    assert changed[2 * y0 : 2 * y1, 2 * x0 : 2 * x1].mean() > 0.3
    outside = changed.copy()
    outside[max(2 * y0 - 40, 0) : 2 * y1 + 24, max(2 * x0 - 24, 0) : 2 * x1 + 300] = False  # the box and its text
    assert outside.mean() < 0.02
    assert '"the yellow duck" is here: rubber duck at ' in capsys.readouterr().out


def test_what_is_not_there_gets_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pixels, _ = photo("rubber duck")
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    Ground(tmp_path / "photo.png", ("the phone booth",), DEV, tmp_path / "out.png").run()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith('"the phone booth" is not here: nothing in the picture looks enough like phone booth (')


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((40, 40, 3), np.uint8)).save(tmp_path / "black.png")
    (tmp_path / "text.png").write_text("hello")
    black = tmp_path / "black.png"
    for verb in (
        Ground(tmp_path / "missing.png", ("x",), DEV, tmp_path / "out.png"),
        Ground(tmp_path / "text.png", ("x",), DEV, tmp_path / "out.png"),
        Ground(black, ("x",), DEV, tmp_path / "out.jpg"),
        Ground(black, (), DEV, tmp_path / "out.png"),
        Ground(black, ("x",), tmp_path / "nowhere", tmp_path / "out.png"),
        Ground(black, ("x",), DEV, tmp_path / "out.png", "nowhere"),
    ):
        with pytest.raises(WaywordError) as caught:
            verb.run()
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "out.png").exists()


def test_phrases_are_printed_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image.fromarray(np.zeros((40, 40, 3), np.uint8)).save(tmp_path / "[red]black.png")
    strange = ("[bold]duck[/red]", "\x1b[31mduck", "x" * 300, "鸭子 🦆")
    Ground(tmp_path / "[red]black.png", strange, DEV, tmp_path / "out.png").run()
    said = capsys.readouterr().out
    assert "[bold]duck[/red]" in said
    assert "\x1b" not in said
    assert (tmp_path / "out.png").exists()


def test_grounding_does_not_need_torch() -> None:
    code = "import sys, wayword.grounding; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
