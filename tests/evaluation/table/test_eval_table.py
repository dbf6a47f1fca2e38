from __future__ import annotations

import inspect
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from support.extras import EXTRAS
from wayword.cli import eval_table
from wayword.cli.eval_table import EvalTable
from wayword.cli.launch import main
from wayword.episodes import SPLITS, Example, examples, held_out_seen, load_natural
from wayword.errors import WaywordError
from wayword.evaluation.report.failures import failure_page
from wayword.evaluation.runner import fly_examples
from wayword.evaluation.table import cells, columns, systems
from wayword.evaluation.table.attribution import KnownMention
from wayword.evaluation.table.cells import Cell, TableConfig, fly_table
from wayword.evaluation.table.columns import Column, layout_database, load_cases, mentions_of
from wayword.flying import episode_source
from wayword.objects import ObjectDatabase, TaughtObject
from wayword.policy import Average, Observations, Oracle, Policy, Watching, make_policy
from wayword.policy.perfect import true_grounding
from wayword.policy.variants import FSPVN, FSPVN_BC, FSPVN_NOI, FSPVN_PERFECT
from wayword.registry import POLICIES
from wayword.sim import MeshBank
from wayword.sim.models.catalogue import names

DEV, SEEN, TEST = Column("dev", "natural"), Column("seen", "natural"), Column("test", "natural")


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained policy; tests that fly it are skipped where PyTorch is not installed."""
    if missing := EXTRAS["needs_torch"].missing():
        pytest.skip(missing)
    import torch

    from wayword.learning.policy.control_run import ControlRun, ControlTraining
    from wayword.learning.policy.export import save_policy
    from wayword.learning.policy.networks import Stage1
    from wayword.learning.policy.sizes import Size
    from wayword.policy.tokens import Vocabulary

    folder = tmp_path_factory.mktemp("weights")
    torch.manual_seed(0)
    ControlRun(folder / "control", ControlTraining()).export()
    vocabulary, size = Vocabulary(("<pad>", "<unknown>", "<obj>", "past", "stop")), Size(8, 8, channels=8, filtered=8)
    save_policy(folder / "fspvn", Stage1(5, size), vocabulary, size, folder / "control", {})
    return folder / "fspvn"


@pytest.fixture
def few_photos(monkeypatch: pytest.MonkeyPatch) -> ObjectDatabase:
    """Grey photos of the seen objects, instead of flights of a minute."""
    grey = (np.full((32, 32, 3), 128, np.uint8),)
    made = ObjectDatabase(tuple(TaughtObject(name, grey, (name,)) for name in names("seen")))
    for module in (columns, systems):
        monkeypatch.setattr(module, "seen_database", lambda folder, progress=None: made)
    return made


# What is flown ---------------------------------------------------------------------------------------------


def test_seen_is_what_the_policy_never_trained_on(tmp_path: Path) -> None:
    from wayword.learning.policy.flights import training_examples

    held = {case.example.episode.id for case in load_cases(SEEN, tmp_path)}
    assert held == {episode.id for episode in load_natural("train") if held_out_seen(episode.id)}
    assert 0.08 < len(held) / len(load_natural("train")) < 0.12
    for overlapping in (False, True):
        trained = {example.episode.id for example in training_examples("train", overlapping)}
        assert not trained & held
        assert trained | held == {episode.id for episode in load_natural("train")}


def test_natural_columns_are_whole(tmp_path: Path) -> None:
    for column, count in ((DEV, 195), (TEST, 217), (SEEN, 206)):
        cases = load_cases(column, tmp_path)
        assert len(cases) == count
        assert all(case.example.count == 2 and case.mentions is None for case in cases)
    assert [case.example.id for case in load_cases(DEV, tmp_path, limit=3)] == [
        load_cases(DEV, tmp_path)[i].example.id for i in (0, 65, 130)
    ]


def test_test_objects_are_met_in_test_columns_only(
    tmp_path: Path, few_photos: ObjectDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "GENERATED_EPISODES", 2)
    tested = set(names("test"))
    for column in (DEV, SEEN, TEST, Column("dev", "generated"), Column("test", "generated")):
        cases = load_cases(column, tmp_path, workers=1)[:40]
        standing = {item.name for case in cases for item in case.example.objects}
        taught, large = (
            {name for base in systems.databases(system, column, cases, tmp_path) if base for name in base.names}
            for system in ("fspvn", "fspvn_bigo")
        )
        assert standing <= taught <= large
        if column.split == "test":
            assert taught == tested
            assert len(large) == 80
        else:
            assert not (standing | taught | large) & tested
            assert len(large) == 72


def test_generated_cases_say_what_they_refer_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "GENERATED_EPISODES", 2)
    cases = load_cases(Column("dev", "generated"), tmp_path, workers=1)
    assert cases
    for case in cases:
        assert case.mentions
        assert {mention.name for mention in case.mentions} <= {item.name for item in case.example.objects}
    again = load_cases(Column("dev", "generated"), tmp_path, workers=1)  # read from where they were kept
    assert [(c.example.instruction, c.mentions) for c in again] == [(c.example.instruction, c.mentions) for c in cases]
    assert episode_source.GENERATED_EPISODES == 400


def test_mentions_are_counted_in_the_joined_instruction() -> None:
    # "ab cd" and "ef gh" joined by a space: "gh" is at 3 in the second text and so at 5 + 1 + 3 = 9.
    written = [
        {"text": "ab cd", "references": [{"name": "globe", "start": 3, "end": 5, "base_end": 5, "form": "phrase"}]},
        {"text": "ef gh", "references": [{"name": "globe", "start": 3, "end": 5, "base_end": 5, "form": "pronoun"}]},
    ]
    cut = examples(load_natural("dev")[0], 2)[0]
    assert mentions_of(cut, written) == (KnownMention("globe", 3, 5), KnownMention("globe", 9, 11, named=False))


def test_a_seen_layout_is_taught_with_two_others(few_photos: ObjectDatabase) -> None:
    example = examples(load_natural("train")[0], 2)[0]
    taught = layout_database(example, few_photos).names
    assert {item.name for item in example.objects} < set(taught)
    assert len(taught) == len(example.objects) + 2
    assert layout_database(example, few_photos).names == taught
    assert set(layout_database(example, few_photos, 0).names) == {item.name for item in example.objects}


# Who flies -------------------------------------------------------------------------------------------------


def test_variants_take_their_own_weights_where_there_are_any(weights: Path, tmp_path: Path) -> None:
    own = shutil.copytree(weights, tmp_path / "fspvn")
    assert FSPVN_NOI.folder(own) == FSPVN_PERFECT.folder(own) == own
    assert FSPVN_NOI.note(own) == "FsPVN's weights, the image taken away"
    shutil.copytree(weights, tmp_path / "fspvn_noi")
    assert FSPVN_NOI.folder(own) == tmp_path / "fspvn_noi"
    assert FSPVN_NOI.note(own) == "trained without the image"
    assert FSPVN.note(own) == ""
    with pytest.raises(WaywordError, match="fspvn_bc: holds no weights"):
        FSPVN_BC.folder(own)
    assert systems.missing_weights("fspvn_bc", own)
    assert not systems.missing_weights("fspvn_bigo", own)


def test_only_perfect_segmentation_is_shown_the_truth(weights: Path, dev_pairs: list[Example]) -> None:
    for name in ("fspvn", "fspvn_nou", "fspvn_noi"):
        assert not isinstance(make_policy(name, weights), Watching)
    perfect = make_policy("fspvn_perfect", weights)
    assert isinstance(perfect, Watching)
    assert isinstance(perfect, Policy)
    perfect.reset([dev_pairs[0].instruction], [columns.shipped_database("dev")])
    with pytest.raises(WaywordError, match="wayword eval"):
        perfect.act(Observations(np.array([0]), np.zeros((1, 72, 128, 3), np.uint8), np.zeros((1, 6))))


def test_true_masks_ground_a_reference_on_its_object() -> None:
    # Objects: a 4 x 5 block of the globe, 20 pixels, and 8 pixels of the duck, too few for a box. The only reference
    # means the globe with probability 0.9; so ALIGN is 1 (it is the globe) x 1 (it is an object) x 0.9.
    ids = np.zeros((12, 20), np.uint8)
    ids[2:6, 3:8], ids[8:10, 0:4] = 2, 1
    found = true_grounding(ids, ["rubber duck", "globe"], ["globe", "rocket"], np.array([[0.9, 0.0, 0.1]]))
    assert found.boxes.tolist() == [[3, 2, 8, 6]]
    assert found.p_object_of_box.tolist() == [[1, 0, 0]]
    assert found.alignment == pytest.approx(np.array([[0.9]]))
    assert found.masks[0] == pytest.approx(0.9 * (ids == 2))
    assert true_grounding(ids, ["rubber duck", "globe"], ["rocket"], np.array([[1.0, 0.0]])).alignment.max() == 0
    assert len(true_grounding(np.zeros_like(ids), ["globe"], ["globe"], np.array([[1.0, 0.0]])).boxes) == 0


def test_a_reading_depends_on_text_and_database_alone() -> None:
    from wayword.evaluation.table.reading import TableReader
    from wayword.language.phrases_db import load_phrases
    from wayword.language.pipeline import LanguageModel

    text, taught, others = (
        "past the red booth and the duck, stop at the ball",
        load_phrases("dev"),
        load_phrases("test"),
    )
    fresh, used = TableReader(), TableReader()
    used.parse("go to the duck, then the red booth", others)
    used.parse("the ball", taught)
    assert fresh.parse(text, taught) == used.parse(text, taught)  # to the bit
    assert used.parse(text, taught) is used.parse(text, taught)
    usual = LanguageModel.load().parse(text, taught)
    for one, two in zip(fresh.parse(text, taught).references, usual.references, strict=True):
        assert (one.text, one.best) == (two.text, two.best)
        assert one.probabilities == pytest.approx(two.probabilities, abs=1e-3)


# The table -------------------------------------------------------------------------------------------------


def rows_of(cells: list[Cell]) -> list[list[dict]]:
    return [list(cell.rows) for cell in cells]


def test_a_stopped_table_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bank: MeshBank) -> None:
    monkeypatch.setattr(cells, "PART", 2)
    config = TableConfig(tmp_path, limit=5)
    whole = fly_table(["average", "oracle"], [DEV], TableConfig(tmp_path / "whole", limit=5), workers=1)
    flown: list[int] = []
    really = cells.fly_part

    def stops_after_four(bank: MeshBank, job: cells.Job) -> tuple[cells.Job, list[dict]]:
        if len(flown) == 4:
            raise KeyboardInterrupt
        flown.append(job.number)
        return really(bank, job)

    monkeypatch.setattr(cells, "fly_part", stops_after_four)
    with pytest.raises(KeyboardInterrupt):
        fly_table(["average", "oracle"], [DEV], config, workers=1)
    flown.clear()
    done: list[int] = []
    resumed = fly_table(["average", "oracle"], [DEV], config, workers=1, progress=done.append)
    assert len(flown) == 2  # 3 parts each, four of six were there
    assert sum(done) == 10
    assert rows_of(resumed) == rows_of(whole)
    flown.clear()
    fly_table(["average", "oracle"], [DEV], config, workers=1)
    assert flown == []
    # Parts are the same flights as one long run.
    cuts = [case.example for case in load_cases(DEV, tmp_path, limit=5)]
    policies: list[Policy] = [Average(), Oracle()]
    for cell, policy in zip(whole, policies, strict=True):
        metrics = [asdict(flight.metrics) for flight in fly_examples(policy, cuts, bank)]
        assert [row["example"] for row in cell.rows] == [cut.id for cut in cuts]
        assert [row["emd"] for row in cell.rows] == [round(m["emd"], 5) for m in metrics]


def test_two_processes_give_the_rows_of_one(tmp_path: Path, weights: Path) -> None:
    flown: tuple[str, ...] = ("average", "fspvn", "fspvn_noi")
    one, two = (
        fly_table(flown, [DEV], TableConfig(tmp_path / str(workers), limit=2, weights=weights), workers)
        for workers in (1, 2)
    )
    assert rows_of(one) == rows_of(two)


def test_other_code_weights_or_settings_are_never_taken_for_these(tmp_path: Path, weights: Path) -> None:
    config = TableConfig(tmp_path, limit=2)
    fly_table(["average"], [DEV], config, workers=1)
    job = cells.Job(config, "average", DEV, cells.cell_place("average", DEV, config), 0, cells.code_digest())
    assert cells._earlier_rows(job) is not None
    assert cells._earlier_rows(replace(job, code="other")) is None
    assert cells._earlier_rows(replace(job, code="other", config=TableConfig(tmp_path, any_code=True))) is not None
    other = shutil.copytree(weights, tmp_path / "fspvn")
    (other / "control.json").write_text((other / "control.json").read_text() + "\n")
    places = {
        cells.cell_place(system, column, TableConfig(tmp_path, seed, 2, folder))
        for system in ("fspvn", "fspvn_noi", "average")
        for column in (DEV, TEST)
        for seed in (0, 1)
        for folder in (weights, other)
    }
    assert len(places) == 3 * 2 * 2 * 2 - 4  # Average has no weights


def test_the_default_policy_flies_with_the_weights_that_are_named(tmp_path: Path, weights: Path) -> None:
    with pytest.raises(WaywordError, match="holds no weights of wayword"):
        systems.load_system("wayword", tmp_path / "nowhere")
    shipped, other = (systems.fingerprint("wayword", DEV, tmp_path, folder) for folder in (None, weights))
    assert shipped["weights"] != other["weights"]
    assert shipped["grounding"] != systems.fingerprint("wayword", DEV, tmp_path, grounder="sim")["grounding"]


def test_a_damaged_part_is_flown_again(tmp_path: Path) -> None:
    config = TableConfig(tmp_path, limit=2)
    before = fly_table(["average"], [DEV], config, workers=1)
    (part,) = tmp_path.glob("cells/average.dev.natural-*/part-0000.json")
    part.write_text(part.read_text()[:100])
    assert rows_of(fly_table(["average"], [DEV], config, workers=1)) == rows_of(before)


def test_the_command_flies_judges_and_draws(
    tmp_path: Path, weights: Path, few_photos: ObjectDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["eval", "table", "--split", "dev", "--systems", "average", "fspvn", "fspvn_noi", "fspvn_perfect",
          "--episodes", "natural", "--limit", "2", "--workers", "1", "--weights", str(weights),
          "--folder", str(tmp_path)])  # fmt: skip
    said = capsys.readouterr().out
    assert "perfect segmentation" in said
    assert "FsPVN's weights, the image taken away" in said
    report = json.loads((tmp_path / "table-dev.json").read_text())
    assert list(report["cells"]) == [f"{s}.dev.natural" for s in ("average", "fspvn", "fspvn_noi", "fspvn_perfect")]
    for key, cell in report["cells"].items():
        failed = sum(not flight["sr"] for flight in cell["flights"])
        assert cell["n"] == len(cell["flights"]) == 2
        assert sum(cell["lost_by"].values()) == (0 if key.startswith("average") else failed)
        assert set(cell["metrics"]) >= {"sr", "emd", "spl", "ndtw", "collisions"}
    page = (tmp_path / "failures-fspvn.dev.natural.html").read_text()
    assert page.count("<figure>") == sum(not f["sr"] for f in report["cells"]["fspvn.dev.natural"]["flights"])
    # What failed was flown again with true labels, by the one row that labels its boxes itself.
    for system, helped in (("fspvn", True), ("fspvn_noi", False), ("fspvn_perfect", False)):
        failed = [f for f in report["cells"][f"{system}.dev.natural"]["flights"] if not f["sr"]]
        assert failed
        for flight in failed:
            again = flight["verdict"]["with_true_labels"]
            assert again in (True, False) if helped else again is None
            assert flight["verdict"]["lost_by"] == "grounding" or not again
    assert "http" not in page  # needs nothing beside it
    assert len(page) < 500_000


def test_the_page_of_failures_shows_how_it_was_understood(bank: MeshBank, dev_pairs: list[Example]) -> None:
    words = dev_pairs[0].instruction
    marks = [
        {"span": [4, 8], "means": "<b>", "peak": [1, 1]},
        {"span": [0, 3], "means": None, "peak": None},
        {"span": [2, 6], "means": "overlaps", "peak": None},
    ]
    picture = {"path": [[1, 1], [2, 2]], "yaw": 0.5, "goal": [[2, 2, 1.0]], "unobserved": 0.1, "marks": marks}
    verdict = {"lost_by": "language", "detail": "'<b>' was taken for none"}
    row = {"example": dev_pairs[0].id, "sr": False, "ne": 1.0, "ended_by": "policy", "steps": 3}
    page = failure_page("t", [{**row, "verdict": verdict, "picture": picture}], dev_pairs[:1], bank)
    assert "<b>" not in page
    assert f"<p><mark>{words[:3]}</mark><sub>none of these</sub>{words[3]}<mark>{words[4:8]}</mark><sub>&lt;b" in page
    assert "overlaps" not in page
    assert "1 of 1 flights failed" in page
    assert "No flight failed" in failure_page("t", [{**row, "sr": True}], dev_pairs[:1], bank)


def test_figures_are_named_and_say_what_was_taken_away(tmp_path: Path) -> None:
    cells = fly_table(["average"], [DEV, SEEN], TableConfig(tmp_path, limit=2), workers=1)
    verdict = {"lost_by": "map", "signs": ["map"], "detail": ""}
    judged = tuple({**row, "sr": False, "verdict": verdict} for row in cells[0].rows)
    cells.append(Cell("fspvn_noi", TEST, judged, "trained without the image"))
    made = EvalTable(split="test").figures(cells)
    assert {"average.dev.natural.sr", "average.seen.natural.emd", "fspvn_noi.test.natural.emd"} <= set(made)
    assert made["fspvn_noi.test.natural.lost_by_map"].value == 100
    assert (
        made["average.seen.natural.sr"].command == "wayword eval table --split test --systems average --episodes seen"
    )
    assert made["fspvn_noi.test.natural.sr"].command.endswith("--episodes natural  # trained without the image")
    assert not any("lost_by" in key for key in made if key.startswith("average"))


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(["eval", "table", *words])
    assert stop.value.code == 2
    return capsys.readouterr().err


def test_mistakes_in_the_command_are_said_before_anything_is_flown(
    tmp_path: Path, weights: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "--limit 0" in refused(capsys, "--limit", "0")
    assert "--workers 0" in refused(capsys, "--workers", "0")
    assert "whole splits" in refused(capsys, "--publish", "--limit", "3")
    assert "clone" in refused(capsys, "--publish")
    assert "no weights of fspvn_bc" in refused(capsys, "--systems", "fspvn_bc", "--weights", str(weights))
    assert "nowhere: holds no weights of fspvn;" in refused(capsys, "--weights", "nowhere")
    damaged = shutil.copytree(weights, tmp_path / "damaged")
    (damaged / "control.onnx").write_bytes(b"")
    assert "control.onnx: is empty" in refused(capsys, "--weights", str(damaged))
    assert not (tmp_path / "runs").exists()


def test_names_agree() -> None:
    help_text = inspect.getsource(eval_table.EvalTable)
    assert all(name in help_text for name in systems.SYSTEMS)
    assert {system.policy for system in systems.SYSTEMS.values()} <= set(POLICIES.own)
    assert set(SPLITS) == {"train", "dev", "test"}


def test_eval_teaches_fspvn_the_splits_objects(
    tmp_path: Path, weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.json"
    main(["eval", "--policy", "fspvn", "--split", "dev", "--limit", "1", "--weights", str(weights), "--out", str(out)])
    report = json.loads(out.read_text())
    assert report["privileged"] is False
    assert f"--weights {weights}" in report["command"]
    with pytest.raises(SystemExit):
        main(["eval", "--policy", "fspvn", "--weights", str(weights), "--episodes", str(_episodes(tmp_path))])
    assert "--db" in capsys.readouterr().err


def _episodes(folder: Path) -> Path:
    (folder / "e.jsonl").write_text(json.dumps(load_natural("dev")[0].to_json()) + "\n")
    return folder / "e.jsonl"


def test_thinking_is_timed(weights: Path) -> None:
    from wayword.evaluation.bench.policy_speed import policy_speed

    speed = policy_speed(2, weights)
    assert 0 < speed.computing_ms.mean < 1000
    assert speed.slowest_ms >= speed.step_ms.mean
    assert speed.step_ms.n == 2
    assert sum(stage.mean for stage in speed.stages_ms.values()) == pytest.approx(speed.step_ms.mean)
    assert sum(share.mean for share in speed.shares.values()) == pytest.approx(1)
    assert all(share.mean > 0 for share in speed.shares.values())
