"""``wayword flight`` from the outside: what it prints, what it refuses, what it leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.cli import flight_tools as module
from wayword.cli.launch import main
from wayword.flight.replay import load_recording
from wayword.mapping import WorldMap
from wayword.policy.thought_record import tenths


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    main(["flight", *words])
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(["flight", *words])
    assert caught.value.code == 2
    return capsys.readouterr().err


def test_a_simulated_flight_leaves_video_trace_and_black_box(tmp_path, capsys):
    out = tmp_path / "flight.png"
    text = said(capsys, "fly", "stop in front of the globe", "--out", str(out))
    assert "ok   policy: answers" in text
    assert out.exists()
    trace = json.loads(out.with_suffix(".json").read_text())
    assert trace["instruction"] == "stop in front of the globe"
    assert {"thought", "forward_m_s", "stop"} <= set(trace["decisions"][0])
    assert len(trace["flown"]) > 50
    told = said(capsys, "replay", str(out.with_suffix(".box")))
    assert "the governor gives the same commands again, to the bit" in told
    assert "ended: landed" in told


def test_a_flight_with_another_camera_says_so_in_its_black_box(tmp_path, capsys):
    camera, out = tmp_path / "camera.json", tmp_path / "flight.png"
    camera.write_text('{"width": 640, "height": 360, "hfov_deg": 60.0, "mount_pitch_deg": 20.0}')
    said(capsys, "fly", "stop in front of the globe", "--camera", str(camera), "--out", str(out))
    recording = load_recording(out.with_suffix(".box"))
    assert recording.camera == Camera(hfov_deg=60.0, mount_pitch_deg=20.0)
    assert recording.config.side_rad == 0.5
    # The film looked again at the recorded images with the same camera, so it decided and observed the same.
    trace = json.loads(out.with_suffix(".json").read_text())
    assert trace["camera"]["hfov_deg"] == 60.0
    world = WorldMap(0, recording.camera)
    world.update(np.zeros((0, 4), np.float32), [], np.zeros((0, 0)), recording.sights[0].pose)
    assert trace["decisions"][0]["thought"]["coverage"] == tenths(world.coverage)


def test_check_reads_the_list(capsys):
    text = said(capsys, "check", "--watch", "1")
    assert text.startswith("simulator: stops 1.1 s after the last setpoint")
    assert "ok   battery: 90 %" in text
    assert text.count("yaw") == 2


def test_bad_input_is_one_line(tmp_path, capsys):
    assert "say for example" in refused(capsys, "fly", "")
    assert "is no vehicle address" in refused(capsys, "fly", "stop at the globe", "--vehicle", "drone")
    udp = ("--vehicle", "udpin://127.0.0.1:14998")
    assert "needs --video" in refused(capsys, "fly", "stop at the globe", *udp)
    assert "needs --camera FILE" in refused(capsys, "check", *udp, "--video", "rtsp://127.0.0.1:1/cam")
    assert "cannot be read" in refused(capsys, "check", "--camera", str(tmp_path / "none.json"))
    assert "cannot be read" in refused(capsys, "check", "--fence", str(tmp_path / "none.json"))
    assert "cannot be read" in refused(capsys, "replay", str(tmp_path / "none.box"))
    (tmp_path / "a.jpg").write_bytes(b"no picture")
    assert "is no picture" in refused(capsys, "calibrate", str(tmp_path / "a.jpg"))
    assert list(tmp_path.iterdir()) == [tmp_path / "a.jpg"]


@pytest.mark.parametrize(
    "words",
    [
        ("fly", "--vehicle", "udpin://127.0.0.1:14998", "--video", "rtsp://127.0.0.1:1/cam"),
        ("fly", "--vehicle", "sim"),
        ("rehearse", "--vehicle", "udpin://127.0.0.1:14998"),
    ],
)
def test_no_vehicle_is_spoken_to_for_a_text_that_is_refused(words, tmp_path, capsys):
    out = ("--out", str(tmp_path / "flight.png"))
    for text in ("what is the weather like?", "fly to the rhinoceros"):
        with pytest.raises(SystemExit) as caught:
            main(["flight", words[0], text, *words[1:], *out])
        assert caught.value.code == 3
        said = capsys.readouterr().err
        assert "flower pot" in said  # what it knows
        assert "--anyway" not in said  # which `wayword flight` does not offer
    assert not any(tmp_path.iterdir())


def test_the_fault_tables_go_between_the_marks(tmp_path, monkeypatch):
    page = tmp_path / "safety.md"
    page.write_text(f"before\n{module._MARKS[0]}\nold\n{module._MARKS[1]}\nafter\n")
    module._insert(page, "new\n")
    module._insert(page, "newer\n")
    assert page.read_text() == f"before\n{module._MARKS[0]}\n\nnewer\n\n{module._MARKS[1]}\nafter\n"
    shipped = Path(__file__).parents[2] / "docs" / "safety.md"
    assert all(mark in shipped.read_text(encoding="utf-8") for mark in module._MARKS)
