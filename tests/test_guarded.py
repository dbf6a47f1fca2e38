"""Hostile files: every reader of what a user names ends in one line, in bounded time and memory."""

from __future__ import annotations

import json
import os
import shutil
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from safetensors.numpy import save_file

from support.judge_data import answer
from wayword.camera import Camera
from wayword.cli.launch import main
from wayword.episodes import load_episodes
from wayword.episodes.commands import load_commands
from wayword.errors import DataError, WaywordError
from wayword.figures import load_results
from wayword.flight import Fence
from wayword.flight.blackbox import FORMAT, encode_image
from wayword.flight.calibration import Calibration
from wayword.flight.replay import load_recording
from wayword.guarded import DEPTH, listing, parse_json, read_bytes, read_json
from wayword.judge.answers import read_answers
from wayword.judge.flights import read_flights
from wayword.judge.study import Study, design
from wayword.language.phrases_db import load_phrases
from wayword.learning.ar.backgrounds import FolderFrames
from wayword.learning.ar.shards import read_objects
from wayword.learning.common.train_config import read_train_config
from wayword.pilot.free_flight import read_layout
from wayword.policy.control import SHIPPED, Control
from wayword.policy.stage1 import Stage1Runtime
from wayword.sim.models.baked import BakedPack
from wayword.weight_folder import content_digest, read_settings, read_tensors

STUDY = design(["dev-000/1-2"], ["FsPVN"], 1, 0, Random(1))


def called(path: Path, name: str) -> Path:
    """The hostile file under another name, in the same folder."""
    if path.is_symlink() or path.exists():
        path.rename(path.with_name(name))
    return path.with_name(name)


READERS: dict[str, Callable[[Path], object]] = {
    "episodes": load_episodes,
    "fence": Fence.load,
    "calibration": Calibration.load,
    "camera": Camera.from_file,
    "layout": lambda path: read_layout(str(path), "go", ["globe"]),
    "phrases": load_phrases,
    "black box": load_recording,
    "settings": read_settings,
    "tensors": read_tensors,
    "commands": load_commands,
    "figures": load_results,
    "results to judge": lambda path: read_flights([path], lambda report: []),
    "key of a study": lambda path: Study.load(called(path, "key.json").parent),
    "answers sent back": lambda path: read_answers(path.parent, STUDY, [path]),
    "poses of frames": lambda path: FolderFrames(called(path, "poses.json").parent),
    "table of objects": lambda path: read_objects(called(path, "objects.json").parent),
    "settings of a training": read_train_config,
    "index of a baked pack": lambda path: BakedPack(called(path, "pack.json").with_suffix(".npz")),
}


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(30 * 2**30)


def deep(path: Path) -> None:
    path.write_bytes(b"[" * 200_000 + b"]" * 200_000)


def digits(path: Path) -> None:
    path.write_bytes(b'{"corners": ' + b"9" * 100_000 + b"}")


def many(path: Path) -> None:
    path.write_bytes(b"[" + b"[]," * 3_000_000 + b"[]]")


def empty(path: Path) -> None:
    path.touch()


def nothing(path: Path) -> None:
    """There is no such file."""


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("make", [pipe, device, sparse, deep, digits, many, empty, nothing, Path.mkdir])
def test_every_reader_refuses_in_one_line(tmp_path: Path, reader: str, make: Callable[[Path], None]):
    path = tmp_path / "hostile.json"
    make(path)
    tracemalloc.start()
    with pytest.raises(WaywordError, match=r"\w+\.(json|npz)") as caught:
        READERS[reader](path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert most < 200 * 2**20


def test_the_limits_of_json():
    assert parse_json('{"a": [1, 2.5, "[[[{{{"]}') == {"a": [1, 2.5, "[[[{{{"]}
    assert parse_json("[" * DEPTH + "]" * DEPTH) is not None
    with pytest.raises(ValueError, match="within each other"):
        parse_json("[" * (DEPTH + 1) + "]" * (DEPTH + 1))
    assert parse_json('{"a":' * DEPTH + "1" + "}" * DEPTH) is not None
    for opening, closing in (('{"a":', "}"), ('[{"a":', "}]")):  # braces alone, and both in turn
        with pytest.raises(ValueError, match="within each other"):
            parse_json(opening * (DEPTH + 1) + "1" + closing * (DEPTH + 1))
    # Brackets in a text are none, whatever is escaped in it.
    assert parse_json(json.dumps(["[" * 100, '\\"' + "[" * 100, "\\"])) is not None
    assert parse_json("[" + "9" * 300 + "]")[0] > 1e299
    with pytest.raises(ValueError, match="301 digits"):
        parse_json("[" + "9" * 301 + "]")
    for constant in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(ValueError, match=f"{constant} found"):
            parse_json(f"[{constant}]")
    assert parse_json("[-Infinity]", constants=True) == [-np.inf]


def test_files_and_folders(tmp_path: Path):
    file = tmp_path / "a.json"
    file.write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(file) == [1]
    assert read_bytes(file, 6) == file.read_bytes()
    with pytest.raises(DataError, match="at most"):
        read_bytes(file, 5)
    file.write_bytes(b"\xff")
    with pytest.raises(DataError, match="UTF-8"):
        read_json(file)
    link = tmp_path / "b.json"
    link.symlink_to(file)
    assert read_bytes(link, 5) == b"\xff"
    with pytest.raises(DataError, match="is a link"):
        read_bytes(link, 5, follow_links=False)
    assert listing(tmp_path) == ["a.json", "b.json"]
    with pytest.raises(DataError, match="more than 1 files"):
        listing(tmp_path, 1)


def test_a_fence_of_very_many_corners(tmp_path: Path):
    file, turns = tmp_path / "fence.json", np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    file.write_text(json.dumps({"corners": np.column_stack([np.cos(turns), np.sin(turns)]).round(5).tolist()}))
    with pytest.raises(WaywordError, match="corners; at most 200"):
        Fence.load(file)


@pytest.mark.parametrize("size", [{"width": 16000}, {"width": 640.5}, {"height": True}, {"width": "640"}])
def test_a_calibration_of_no_size(tmp_path: Path, size: dict):
    file = tmp_path / "camera.json"
    Calibration.pinhole(640, 360).save(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | size))
    with pytest.raises(WaywordError, match=r"camera\.json"):
        Calibration.load(file)


def _line(record: dict) -> bytes:
    data = json.dumps(record).encode()
    return b"%08x %s\n" % (zlib.crc32(data), data)


def _records() -> list[dict]:
    fence = {"corners": [[0, 0], [4, 0], [4, 4]], "low_m": 0.3, "high_m": 1.5}
    decision = {"forward_m_s": 0.1, "yaw_rate_rad_s": 0.0, "stop": False, "made_s": 1.0, "image_s": 0.9,
                "obstacles": [[1.0, 1.0, 0.1]]}  # fmt: skip
    telemetry = {"pose": [1, 1, 0.7, 0, 0, 0], "velocity": [0, 0, 0], "pose_s": 1.0, "link_s": 1.0, "mode": "offboard",
                 "mode_s": 1.0, "armed": True, "landed": False, "battery": 0.9}  # fmt: skip
    inputs = {"now_s": 1.1, "telemetry": telemetry, "image_s": 0.9, "decision": 1.0, "policy_alive": True,
              "land_asked": False}  # fmt: skip
    command = {"kind": "velocity", "forward_m_s": 0.1, "yaw_rate_rad_s": 0.0, "anchor": None, "reasons": [],
               "left_m_s": 0.0}  # fmt: skip
    image = encode_image(np.zeros((4, 4, 3), np.uint8))
    return [
        {"kind": "begin", "format": FORMAT},
        {"kind": "governor", "config": {}, "fence": fence, "started_s": 0.0},
        {"kind": "decision", "decision": decision, "pose": [1, 1, 0.7, 0, 0, 0], "image": image},
        {"kind": "tick", "inputs": inputs, "command": command},
    ]


DAMAGE: dict[str, Callable[[list[dict]], object]] = {
    "text for a number": lambda r: r[2]["decision"].update(forward_m_s="0.1"),
    "a short pose": lambda r: r[2].update(pose=[1, 1, 0.7]),
    "a short pose of telemetry": lambda r: r[3]["inputs"]["telemetry"].update(pose=[1, 1]),
    "text in a velocity": lambda r: r[3]["inputs"]["telemetry"].update(velocity=[0, 0, "0"]),
    "text as time": lambda r: r[3]["inputs"].update(now_s="1"),
    "no telemetry": lambda r: r[3]["inputs"].pop("telemetry"),
    "no command": lambda r: r[3].pop("command"),
    "no fence": lambda r: r[1].pop("fence"),
    "a fence that is none": lambda r: r[1]["fence"].update(corners=[[0, 0]]),
    "a thing of two numbers": lambda r: r[2]["decision"].update(obstacles=[[1, 1]]),
    "an image of nothing": lambda r: r[2].update(image=""),
    "a broken image": lambda r: r[2].update(image="AAAA" + r[2]["image"][4:]),
    "an image cut off": lambda r: r[2].update(image=r[2]["image"][:40]),
    "an image of another kind": lambda r: r[2].update(image=7),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_black_box_that_was_tampered_with(tmp_path: Path, damage: str):
    path, records = tmp_path / "flight.box", _records()
    path.write_bytes(b"".join(map(_line, records)))
    assert len(load_recording(path).ticks) == 1
    DAMAGE[damage](records)
    path.write_bytes(b"".join(map(_line, records)))
    with pytest.raises(DataError, match=r"flight\.box: is damaged"):
        load_recording(path)


def test_an_image_that_would_unpack_to_gigabytes(tmp_path: Path):
    path, records = tmp_path / "flight.box", _records()
    records[2]["image"] = encode_image(np.zeros((4200, 4200, 3), np.uint8))
    path.write_bytes(b"".join(map(_line, records)))
    with pytest.raises(DataError, match="pixels"):
        load_recording(path)


@pytest.mark.parametrize("member", [np.float32(1.0), np.array([{}], object), np.array("text"), "bytes"])
def test_members_of_a_pack_that_are_no_arrays_of_numbers(tmp_path: Path, member: object):
    arrays = {"v": np.zeros((3, 3), np.float32), "uv": np.zeros((3, 2), np.float32), "f": np.zeros((1, 3), np.uint16)}
    file = tmp_path / "pack.npz"
    (tmp_path / "pack.json").write_text(
        json.dumps([{"name": "cup", "vertices": 3, "faces": 1, "texture_bytes": 0, "noun": "cup"}])
    )
    if isinstance(member, str):
        np.savez(file, **arrays)
        import zipfile

        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("tex", b"no array")
    else:
        np.savez(file, **arrays, tex=member)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"pack\.(npz|json)"):
        BakedPack(file)


def test_weights_of_no_numbers_and_of_another_network(tmp_path: Path):
    save_file({"w": np.array([1.0, np.nan], np.float32)}, tmp_path / "model.safetensors")
    with pytest.raises(DataError, match="w holds numbers that are not finite"):
        read_tensors(tmp_path / "model.safetensors")
    folder = tmp_path / "fspvn"
    shutil.copytree(SHIPPED / "fspvn", folder)
    Control.load(folder)
    other = next(path for path in sorted(folder.glob("*.onnx")) if path.name != "control.onnx")
    shutil.copy(other, folder / "control.onnx")
    record = json.loads((folder / "control.json").read_text())
    record["sha256"]["control.onnx"] = content_digest(other.read_bytes())
    (folder / "control.json").write_text(json.dumps(record))
    with pytest.raises(DataError, match=r"control\.onnx"):
        Control.load(folder)


def test_a_vocabulary_that_does_not_fit_its_network(tmp_path: Path):
    folder = tmp_path / "fspvn"
    shutil.copytree(SHIPPED / "fspvn", folder)
    Stage1Runtime(folder)
    config = json.loads((folder / "config.json").read_text())
    words = config["vocabulary"]
    for foreign in (words[:-1], [*words, "tensor"], words[3:], [*words[:-1], 7], []):
        (folder / "config.json").write_text(json.dumps({**config, "vocabulary": foreign}))
        with pytest.raises(DataError, match=r"config\.json: (has \d+ words|is damaged)"):
            Stage1Runtime(folder)


def test_stage_1_with_the_wrong_network(tmp_path: Path):
    folder = tmp_path / "fspvn"
    shutil.copytree(SHIPPED / "fspvn", folder)
    config = json.loads((folder / "config.json").read_text())
    shutil.copy(folder / "text.onnx", folder / "visitation.onnx")
    config["sha256"]["visitation.onnx"] = config["sha256"]["text.onnx"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match=r"visitation\.onnx: is not the network wanted here"):
        Stage1Runtime(folder)


@pytest.mark.parametrize(
    "key",
    [
        {"items": [{"id": "0" * 16, "example": "a", "system": "b", "check": [1e400, 2]}]},
        {"items": 7},
        {"items": [[]]},
        {"sheets": ["0" * 16]},
        {"sheets": {"0" * 16: [["0" * 16]]}},
        {"study": "../../key"},
    ],
)
def test_a_key_that_is_none(tmp_path: Path, key: dict):
    STUDY.save(tmp_path)
    assert Study.load(tmp_path) == STUDY
    changed = {**json.loads((tmp_path / "key.json").read_text()), **key}
    (tmp_path / "key.json").write_text(json.dumps(changed).replace("Infinity", "1e400"))
    with pytest.raises(DataError, match=r"key\.json: is not the key of a study"):
        Study.load(tmp_path)


def test_answers_with_something_else_in_their_place(tmp_path: Path):
    rater, sheet = next(iter(STUDY.sheets.items()))
    good = answer(STUDY, rater, sheet[0])
    (tmp_path / "answers").mkdir()
    lines = [json.dumps(good), json.dumps({**good, "problem": ["none"]}), "[" * 100_000, "9" * 1000]
    (tmp_path / "answers" / f"{rater}.jsonl").write_text("\n".join(lines))
    answers, torn = read_answers(tmp_path, STUDY)
    assert len(answers) == 1
    assert torn == 3


@pytest.mark.parametrize(
    "line",
    ['{"text": "go", "steps": [{"do": ["goto"]}], "family": "a"}', "[" * 100_000, "9" * 1000, "NaN", '"go"', "{}"],
)
def test_commands_that_are_none(tmp_path: Path, line: str):
    (tmp_path / "mine.jsonl").write_text(f"\n{line}\n")
    with pytest.raises(DataError, match=r"mine\.jsonl:2: "):
        load_commands(tmp_path / "mine.jsonl")


@pytest.mark.parametrize(
    "verb",
    [
        "eval --policy stop --episodes FILE",
        "fly go --layout FILE",
        "flight check --fence FILE",
        "flight check --camera FILE",
        "flight replay FILE",
        "flight calibrate FILE.png FILE.png",
        "judge make FILE --out study",
        "judge report FOLDER",
        "objects list --db FILE",
        "world objects --pack FILE",
        "results --docs FOLDER",
        pytest.param("train policy --config FILE --out out", marks=pytest.mark.needs_torch),
    ],
)
@pytest.mark.parametrize("make", [pipe, device])
def test_every_verb_ends_in_one_line_and_exit_2(
    tmp_path: Path,
    verb: str,
    make: Callable[[Path], None],
    capsys: pytest.CaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    named = {"judge report FOLDER": "key.json", "results --docs FOLDER": "results.json"}
    name = named.get(verb, "hostile.png" if ".png" in verb else "hostile")
    make(tmp_path / name)
    words = [word.replace("FOLDER", ".").replace("FILE", "hostile") for word in verb.split()]
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.count("\n") == 1
    assert "hostile" in said or name in said
