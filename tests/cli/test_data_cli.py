"""``wayword data``: resumable generation and statistics."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from wayword.cli.data import DataVerb, GenerateEpisodes, Stats
from wayword.episodes import load_episodes
from wayword.episodes.instructions import Recipe, write_dataset
from wayword.errors import DataError, WaywordError
from wayword.sim.models.catalogue import names

SEEN = names("seen")


def recipe(count: int = 100, seed: int = 3) -> Recipe:
    return Recipe("train", count, seed, SEEN)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """100 episodes written in one go by one process."""
    folder = tmp_path_factory.mktemp("whole")
    write_dataset(recipe(), folder / "all.jsonl", folder / "refs.jsonl", workers=1)
    assert sorted(p.name for p in folder.iterdir()) == ["all.jsonl", "refs.jsonl"]
    return (folder / "all.jsonl").read_bytes(), (folder / "refs.jsonl").read_bytes()


def test_generate_writes_episodes_that_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, refs = tmp_path / "deep" / "dev.jsonl", tmp_path / "refs.jsonl"
    DataVerb(GenerateEpisodes(split="dev", count=5, seed=1, out=out, references=refs, processes=1)).run()
    assert capsys.readouterr().out.split() == [str(out), str(refs)]
    episodes = load_episodes(out, known_objects=names("dev"))
    records = [json.loads(line) for line in refs.read_text(encoding="utf-8").splitlines()]
    assert [e.id for e in episodes] == [r["id"] for r in records] == [f"dev-g1-{i:06d}" for i in range(5)]
    for episode, record in zip(episodes, records, strict=True):
        assert episode.annotator == "grammar/" + record["voice"]
        for segment, told in zip(episode.segments, record["instructions"], strict=True):
            assert segment.instruction == told["text"]
            assert all(r["start"] < r["base_end"] <= r["end"] for r in told["references"])
            assert told["claims"]


def test_objects_of_a_database_stand_in_the_layouts(tmp_path: Path) -> None:
    shipped = Path(str(resources.files("wayword.objects") / "data" / "test"))
    out = tmp_path / "mine.jsonl"
    DataVerb(GenerateEpisodes(split="train", db=shipped, count=2, out=out, processes=1)).run()
    assert {item.name for e in load_episodes(out) for item in e.objects} <= set(names("test"))


def test_two_processes_write_the_same(tmp_path: Path, whole: tuple[bytes, bytes]) -> None:
    write_dataset(recipe(), tmp_path / "a.jsonl", workers=2)
    assert (tmp_path / "a.jsonl").read_bytes() == whole[0]


def test_an_interrupted_run_goes_on(tmp_path: Path, whole: tuple[bytes, bytes]) -> None:
    out, refs = tmp_path / "a.jsonl", tmp_path / "r.jsonl"
    steps: list[int] = []

    def interrupt(amount: int) -> None:
        steps.append(amount)
        if len(steps) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_dataset(recipe(), out, refs, workers=1, progress=interrupt)
    assert steps == [0, 40]
    assert not out.exists()
    steps = [99, 99]  # do not interrupt again
    write_dataset(recipe(), out, refs, workers=1, progress=interrupt)
    assert steps == [99, 99, 40, 40, 20]
    assert (out.read_bytes(), refs.read_bytes()) == whole
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", "r.jsonl"]


def test_a_kill_in_the_middle_of_a_line_is_repaired(tmp_path: Path, whole: tuple[bytes, bytes]) -> None:
    out = tmp_path / "a.jsonl"

    def interrupt(amount: int) -> None:
        if amount:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_dataset(recipe(), out, workers=1, progress=interrupt)
    partial = tmp_path / "a.jsonl.partial"
    partial.write_bytes(partial.read_bytes()[:-700])  # half a line, as a kill leaves it
    write_dataset(recipe(), out, workers=1)
    assert out.read_bytes() == whole[0]


def test_a_longer_run_goes_on_from_a_shorter_one(tmp_path: Path, whole: tuple[bytes, bytes]) -> None:
    def interrupt(amount: int) -> None:
        if amount:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_dataset(recipe(60), tmp_path / "a.jsonl", workers=1, progress=interrupt)
    write_dataset(recipe(100), tmp_path / "a.jsonl", workers=1)
    assert (tmp_path / "a.jsonl").read_bytes() == whole[0]


def test_another_run_is_not_continued(tmp_path: Path) -> None:
    note = tmp_path / "a.jsonl.partial.json"
    note.write_text('{"seed": 9}')
    with pytest.raises(DataError, match=r"a\.jsonl\.partial\.json: belongs to an unfinished run with other settings"):
        write_dataset(recipe(), tmp_path / "a.jsonl", workers=1)


@pytest.mark.parametrize(
    ("verb", "message"),
    [
        (GenerateEpisodes(count=0), "--count 0: at least 1 is needed"),
        (GenerateEpisodes(seed=-1), "--seed -1: must be 0 or more"),
        (GenerateEpisodes(processes=0), "--processes 0: at least 1 is needed"),
        (GenerateEpisodes(voice="bard"), "there is no voice 'bard'; choose one of"),
        (GenerateEpisodes(count=1, out=Path("/dev/null/x.jsonl")), "cannot be written"),
        (Stats((Path("nowhere.jsonl"),)), "No such file"),
    ],
)
def test_mistakes_are_one_line(verb: GenerateEpisodes | Stats, message: str) -> None:
    with pytest.raises(WaywordError, match=message) as caught:
        verb.run()
    assert "\n" not in str(caught.value)


def test_stats_print_a_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a.jsonl"
    write_dataset(recipe(60), out, workers=1)
    Stats((out,)).run()
    table = capsys.readouterr().out
    assert "natural train" in table
    assert "2.3k" in table
    assert "different 4-grams" in table
    Stats((out,), json=True).run()
    figures = json.loads(capsys.readouterr().out)
    assert figures["natural train"]["instructions"] == 2550
    assert figures[str(out)]["compared_words"] == pytest.approx(figures["natural train"]["compared_words"], rel=0.02)


def test_stats_are_published_beside_those_of_the_natural_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "a.jsonl"
    write_dataset(recipe(60), out, workers=1)
    with pytest.raises(WaywordError, match=r"results\.json: not found"):
        Stats((out,), publish=True).run()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "results.json").write_text("{}")
    with pytest.raises(WaywordError, match="one file"):
        Stats(publish=True).run()
    Stats((out,), publish=True).run()
    figures = json.loads((tmp_path / "docs" / "results.json").read_text())
    assert figures["language.text.natural.vocabulary"]["n"] == 2550
    assert 10 < figures["language.text.generated.length_p50"]["value"] < 30
    assert "--count 60 " in figures["language.text.generated.distinct_4grams"]["command"]
