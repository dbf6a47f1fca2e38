"""How many workers a command has, and where they are."""

from __future__ import annotations

import pytest

from wayword.cli.main import read
from wayword.compute import Crew
from wayword.errors import WaywordError

VERBS = [
    ["eval"], ["eval", "table"], ["eval", "commands"], ["eval", "paragraphs"], ["eval", "governed"],
    ["eval", "vehicles"], ["eval", "sides"], ["eval", "swap", "--grounder", "lab"], ["train", "policy"],
    ["flight", "faults"],
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_with_many_jobs_takes_a_cluster(verb: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    given = _options(verb, "--ray", "10.0.0.5:6379", "--workers", "40")
    assert given.crew() == Crew(40, "10.0.0.5:6379")
    assert _options(verb).crew().ray is None
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.6:6379")
    assert _options(verb).crew() == Crew(None, "10.0.0.6:6379")  # as many as the cluster has cores
    assert _options(verb, "--ray", "local").crew() == Crew(None, "local")
    with pytest.raises(WaywordError, match="--workers 0: at least 1"):
        _options(verb, "--workers", "0").crew()


def test_what_makes_data_takes_one_as_well() -> None:
    for verb in (["data", "generate"], ["ar", "generate", "--out", "frames"]):
        assert _options(verb, "--ray", "local").ray == "local"
    assert _options(["train", "grounding"], "--ray", "local").ray == "local"


def _options(verb: list[str], *words: str):  # type: ignore[no-untyped-def]
    command = read([*verb, *words])
    return getattr(command, "what", command)
