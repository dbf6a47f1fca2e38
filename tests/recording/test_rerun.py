"""Recordings for the Rerun viewer, read back: what is in them is what the trace and the report say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayword.cli.launch import main
from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.mapping.grid import UNOBSERVED
from wayword.policy.control import Control, ControlConfig
from wayword.recording.rerun_files import ControlTap, check_recording, check_recordings, file_name
from wayword.recording.rerun_rewards import intrinsic_rewards
from wayword.recording.rerun_words import escape_markdown, instruction_page
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank

SENTENCE = "go past the planter on its left, then stop in front of the globe"


class Read:
    """A recording as entities with rows in the order of their steps."""

    def __init__(self, path: Path) -> None:
        from rerun.chunk import RrdReader

        reader = RrdReader(path)
        self.recordings, self.blueprints = reader.recordings(), reader.blueprints()
        self.rows: dict[str, dict[int, dict[str, Any]]] = {}
        self.static: dict[str, dict[str, Any]] = {}
        self.timelines: set[str] = set()
        for chunk in reader.stream():
            entity, batch = str(chunk.entity_path).lstrip("/"), chunk.to_record_batch()
            self.timelines |= set(chunk.timeline_names)
            for row in range(chunk.num_rows):
                values = {
                    name.split(":")[-1]: batch.column(name)[row].as_py() for name in batch.schema.names if ":" in name
                }
                if chunk.is_static:
                    self.static.setdefault(entity, {}).update(values)
                else:
                    step = int(batch.column("step")[row].as_py())
                    self.rows.setdefault(entity, {})[step] = values

    def series(self, entity: str) -> list[float]:
        return [self.rows[entity][step]["scalars"][0] for step in sorted(self.rows[entity])]


@pytest.fixture(scope="module")
def flight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Read, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("recording")
    main(["fly", SENTENCE, "--policy", "fspvn", "--out", str(folder / "f.png"), "--rerun", str(folder / "f.rrd")])
    assert sorted(path.name for path in folder.iterdir()) == ["f.json", "f.png", "f.rrd"]  # no temporary file is left
    return Read(folder / "f.rrd"), json.loads((folder / "f.json").read_text())


@pytest.mark.needs_rerun
def test_every_quantity_of_the_figure_has_a_row_per_decision(flight: tuple[Read, dict[str, Any]]) -> None:
    read, trace = flight
    steps = list(range(len(trace["decisions"])))
    camera, world = "world/drone/camera", "world/map"
    for entity in (
        f"{camera}/image", f"{camera}/boxes", f"{camera}/masks/r0", f"{camera}/masks/r1", f"{camera}/all_objects",
        f"{world}/references/r0", f"{world}/references/r1", f"{world}/all_objects", f"{world}/unobserved",
        f"{world}/d_p", f"{world}/d_g", "visitation/d_p", "visitation/d_g", "p_unobserved/way", "p_unobserved/goal",
        "align/r0", "align/r1", "boxes", "p_box", "p_object_of_box", "world/drone", "pose", "commands/forward_m_s",
        "commands/yaw_rate_rad_s", "commands/stop", "rewards/total", "rewards/visitation", "rewards/exploration",
    ):  # fmt: skip
        assert sorted(read.rows[entity]) == steps, entity
    for entity in ("instruction", "p_object_of_reference/r0", "p_object_of_reference/r1", "world/ground", camera):
        assert entity in read.static, entity
    assert read.timelines == {"step", "sim_time"}
    assert len(read.recordings) == len(read.blueprints) == 1
    assert not any("demonstration" in entity for entity in (*read.static, *read.rows))  # nobody showed this one


@pytest.mark.needs_rerun
def test_the_numbers_are_the_traces(flight: tuple[Read, dict[str, Any]]) -> None:
    read, trace = flight
    for step, decision in enumerate(trace["decisions"]):
        thought = decision["thought"]
        assert read.rows["pose"][step]["scalars"] == decision["pose"]
        (at,) = read.rows["world/drone"][step]["translation"]
        assert at == pytest.approx(decision["pose"][:3], abs=1e-5)
        assert read.rows["p_unobserved/goal"][step]["scalars"][0] == pytest.approx(
            thought["d_g"]["unobserved"], abs=1e-4
        )
        assert np.array(read.rows["world/drone/camera/boxes"][step]["half_sizes"]).shape == (len(thought["boxes"]), 2)
        (aligned,) = read.rows["align/r1"][step]["values"]
        assert buffer(aligned) == pytest.approx(thought["alignment"][1], abs=1e-4)
        cells = np.array(buffer(read.rows["visitation/d_g"][step]["data"][0])).reshape(64, 64)
        assert cells.sum() == pytest.approx(1 - thought["d_g"]["unobserved"], abs=1e-3)
        for row, column, p in thought["d_g"]["cells"]:
            assert cells[int(row), int(column)] == pytest.approx(p, abs=1e-4)
    assert read.series("commands/forward_m_s") == [one["forward_m_s"] for one in trace["decisions"]]
    assert [p > 0.5 for p in read.series("commands/stop")] == [one["stop"] for one in trace["decisions"]]
    assert any(0 < p < 1 for p in read.series("commands/stop"))  # a probability, not the decision
    flown = max(read.rows["world/trail"])
    (trail,) = read.rows["world/trail"][flown]["strips"]
    assert trail[-1][:2] == pytest.approx(trace["flown"][-1], abs=1e-4)


def buffer(tensor: dict[str, Any]) -> list[float]:
    """The numbers of a tensor, whichever type they have."""
    value = tensor["buffer"]
    return list(value)


@pytest.mark.needs_rerun
def test_masks_are_pictures_in_the_references_colours(flight: tuple[Read, dict[str, Any]]) -> None:
    read, _ = flight
    for number, color in enumerate(((255, 94, 206), (74, 222, 232))):
        seen = np.array(
            [row["buffer"][0] for row in read.rows[f"world/drone/camera/masks/r{number}"].values()], np.uint8
        )
        pixels = seen.reshape(len(seen), 72, 128, 4)
        assert (pixels[..., :3] == color).all()
        assert pixels[..., 3].max() > 100  # it came into view
        assert np.median(pixels[..., 3]) == 0


@pytest.mark.needs_rerun
def test_rewards_add_up(flight: tuple[Read, dict[str, Any]]) -> None:
    read, _ = flight
    terms = [read.series(f"rewards/{name}") for name in ("visitation", "stop", "exploration", "action", "step")]
    assert np.sum(terms, axis=0) == pytest.approx(read.series("rewards/total"))
    assert read.series("rewards/step") == pytest.approx([-0.04] * len(terms[0]))
    assert read.series("rewards/stop")[:-1] == [0.0] * (len(terms[0]) - 1)
    assert read.series("rewards/stop")[-1] < 0


def test_flying_straight_along_the_prediction_is_rewarded() -> None:
    # d^p is a line ahead of the drone; each move covers more of it, so W1 falls and r_v is positive. v = 2.7 is one
    # more than the generous 1.7: r_a = 1. d^g is one cell, where the flight ends: r_s = 0.
    distributions = np.zeros((3, 2, UNOBSERVED + 1), np.float32)
    grid = distributions[:, 0, :UNOBSERVED].reshape(3, 64, 64)
    grid[:, 31:33, 32:46] = 1 / 28
    poses = np.zeros((3, 6))
    poses[:, 0] = (0.0, 0.7, 1.4)
    distributions[:, 1, :UNOBSERVED].reshape(3, 64, 64)[:, 31:33, 45:47] = 0.25
    outputs = np.zeros((3, 5), np.float32)
    outputs[1, 0] = 2.7
    found = intrinsic_rewards(distributions, outputs, poses, (14 * 4.7 / 32, 0.0), np.zeros(3))
    assert (found["visitation"][1:] > 0).all()
    assert found["action"] == pytest.approx([0, -1, 0], abs=1e-6)
    assert found["stop"] == pytest.approx([0, 0, -0.5 * 0.5**0.5], abs=1e-6)  # half a cell off each way
    assert found["exploration"] == pytest.approx(np.zeros(3))


@pytest.mark.needs_rerun
def test_an_evaluation_records_every_flight(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "flights", tmp_path / "r.json"
    main(["eval", "--policy", "oracle", "--split", "dev", "--limit", "3", "--batch", "2", "--rerun", str(folder),
          "--out", str(out)])  # fmt: skip
    assert str(folder) in capsys.readouterr().out
    flights = json.loads(out.read_text())["flights"]
    names = [f"{number:04d}-{row['example'].replace('/', '-')}.rrd" for number, row in enumerate(flights)]
    assert sorted(path.name for path in folder.iterdir()) == names
    for name, row in zip(names, flights, strict=True):
        read = Read(folder / name)
        assert len(read.rows["world/drone/camera/image"]) == row["steps"]
        assert read.series("distance_to_goal_m")[-1] == pytest.approx(row["ne"], abs=1e-3)
        assert "world/demonstration" in read.static
        assert "arrived" in read.static["instruction"]["text"][0]
        assert not any("masks" in entity for entity in read.rows)  # the oracle thinks nothing
    with pytest.raises(WaywordError, match="not empty"):
        check_recordings(folder)


@pytest.mark.needs_rerun
def test_a_stopped_flight_leaves_nothing(tmp_path: Path, bank: MeshBank, dev_pairs: list[Example]) -> None:
    from wayword.recording.rerun_log import FlightLog

    def stop_half_way() -> None:
        with FlightLog(tmp_path / "f.rrd", dev_pairs[0], bank, ArenaConfig(), "average", thinking=False) as log:
            log.decided(np.zeros(6), np.zeros((72, 128, 3), np.uint8), None, None)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_half_way()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs_rerun
def test_a_full_disk_is_said_and_nothing_sent_anywhere(tmp_path: Path) -> None:
    home, target = tmp_path / "home", tmp_path / "out"
    home.mkdir()
    target.mkdir()
    code = (
        "import resource, sys\n"
        "from wayword.cli.launch import main\n"
        "if sys.argv[1] == 'full': resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "main(['eval', '--policy', 'stop', '--split', 'dev', '--limit', '1', '--rerun', sys.argv[2]])\n"
    )
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}

    def run(how: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, how, str(target / how)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)

    full = run("full")
    assert full.returncode == 2, full.stderr
    assert "could not be written whole" in full.stderr
    assert list((target / "full").iterdir()) == []
    assert run("fine").returncode == 0
    assert len(list((target / "fine").glob("*.rrd"))) == 1
    assert not [path for path in home.rglob("*") if "rerun" in path.name]  # where its analytics would keep their id


NO_PLACE = [
    ("f.mp4", "end in .rrd"),
    ("nowhere/f.rrd", "there is no folder"),
    ("folder.rrd", "not an ordinary file"),
]


@pytest.mark.parametrize(("name", "message"), NO_PLACE)
def test_where_a_recording_cannot_go(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder.rrd").mkdir()
    with pytest.raises(WaywordError, match=message):
        check_recording(tmp_path / name)


@pytest.mark.needs_rerun
@pytest.mark.parametrize(("name", "message"), NO_PLACE)
def test_nothing_is_flown_for_a_recording_that_cannot_be_kept(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.rrd").mkdir()
    with pytest.raises(SystemExit) as stop:
        main(["fly", SENTENCE, "--out", str(tmp_path / "f.png"), "--rerun", str(tmp_path / name)])
    assert stop.value.code == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["folder.rrd"]


def test_without_the_extra_one_line_says_how_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rerun", None)
    for command in (["fly", SENTENCE, "--rerun", str(tmp_path / "f.rrd")], ["eval", "--rerun", str(tmp_path / "d")]):
        with pytest.raises(SystemExit) as stop:
            main(command)
        assert stop.value.code == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert 'pip install -e ".[rerun]"' in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_real_vehicle_has_its_black_box(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fly", SENTENCE, "--vehicle", "sim", "--rerun", str(tmp_path / "f.rrd")])
    assert "black box" in capsys.readouterr().err


def test_a_tap_changes_no_answer() -> None:
    answer = (np.arange(10, dtype=np.float32).reshape(2, 5),)

    def network(inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        return answer

    class Flies:
        control = Control(network, ControlConfig())

    assert ControlTap.of(object()) is None  # type: ignore[arg-type]
    tap = ControlTap.of(Flies())  # type: ignore[arg-type]
    assert tap is not None
    assert tap.row(0) is None
    assert Flies.control._network(np.zeros((2, 1), np.float32)) is answer
    assert tap.row(1) is not None
    assert (tap.row(1) == answer[0][1]).all()
    tap.remove()
    assert Flies.control._network is network


def test_peoples_own_words_are_no_markdown() -> None:
    assert escape_markdown("a *b* | `c`\n<d>") == r"a \*b\* \| \`c\` \<d\>"
    page = instruction_page("t", "# not a heading", None, "stopped")
    assert page.startswith("### \\# not a heading\n")
    assert file_name("../../etc/passwd") == "etc-passwd"
    assert file_name("…") == "flight"
    assert len(file_name("x" * 500)) == 60


@pytest.mark.needs_rerun
def test_poses_come_before_pictures_in_the_file(tmp_path: Path) -> None:
    """A viewer that has read as far as the first picture can put the drone, and with it the camera, in its place."""
    from rerun.chunk import RrdReader

    main(["fly", "--policy", "oracle", "--segments", "1", "--out", str(tmp_path / "f.png"), "--rerun",
          str(tmp_path / "f.rrd")])  # fmt: skip
    order = [str(chunk.entity_path) for chunk in RrdReader(tmp_path / "f.rrd").stream()]
    assert order.index("/world/drone") < order.index("/world/drone/camera/image")
