from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from support.extra_torch import load_file, torch
from support.sureal_run import SMALL, few_examples, settings
from wayword.compute import Crew
from wayword.errors import WaywordError
from wayword.learning.policy import sureal
from wayword.learning.policy.actors import Logbook, Order, fly_order
from wayword.learning.policy.dataset import Item
from wayword.learning.policy.networks import Stage1
from wayword.learning.policy.sureal import Exchange, ProcessA, ProcessB
from wayword.learning.policy.train_visitation import Data


@pytest.fixture(scope="module")
def data() -> Data:
    return few_examples()


def test_merge_pairs_an_instruction_with_its_newest_execution(tmp_path: Path, data: Data) -> None:
    items: list[Item] = list(data.samples.items)
    short, shorter = items[0].execution.first(3), items[1].execution.first(2)
    exchange = Exchange(tmp_path)
    exchange.send_executions(0, [2], [short])
    exchange.send_executions(1, [2, 3], [shorter, short])
    assert exchange.merge(items, -1) == 1
    assert [len(item.execution) for item in items] == [6, 6, 2, 3]
    assert exchange.merge(items, 1) == 1  # nothing new


def test_half_a_pair_of_files_is_not_merged(tmp_path: Path, data: Data) -> None:
    items = list(data.samples.items)
    exchange = Exchange(tmp_path)
    exchange.send_executions(0, [0], [items[0].execution.first(2)])
    (tmp_path / "executions-000000.json").unlink()  # as if the sender was killed between the two
    assert exchange.merge(items, -1) == -1
    assert len(items[0].execution) == 6


def test_parameters_arrive_once(tmp_path: Path) -> None:
    sender, receiver = Exchange(tmp_path), Exchange(tmp_path)
    assert receiver.newest_parameters() is None
    sender.send_parameters({"w": torch.ones(2)}, 5)
    found = receiver.newest_parameters()
    assert found is not None
    assert found[1] == 5
    assert receiver.newest_parameters() is None


def _rounds(folder: Path, data: Data, rounds: int) -> tuple[ProcessA, ProcessB]:
    config, inputs = settings(folder, data)
    exchange = Exchange(folder / "exchange")
    a = ProcessA(folder, config, inputs, data, exchange)
    b = ProcessB(folder, config, inputs, data, exchange)
    b.eyes = replace(b.eyes, prefixes=0.0)
    for _ in range(rounds):
        for _ in range(config.plan.send_every):
            a.step()
        b.step()
    return a, b


def test_both_processes_learn_and_exchange_and_are_the_same_under_a_seed(tmp_path: Path, data: Data) -> None:
    first, second = _rounds(tmp_path / "1", data, 2), _rounds(tmp_path / "2", data, 2)
    for one, two in zip(first[0].net.parameters(), second[0].net.parameters(), strict=True):
        assert torch.equal(one, two)
    for one, two in zip(first[1].run.control.parameters(), second[1].run.control.parameters(), strict=True):
        assert torch.equal(one, two)
    a, b = first
    assert a.run.step == 4
    assert b.run.step == 2
    # The rate falls from 1e-4 to nothing: the second of two iterations begins half-way.
    assert b.run.optimiser.param_groups[0]["lr"] == pytest.approx(0.5e-4 + 1e-6)
    assert a.merged >= 0  # process A has met a flight of process B
    # Process B flew with parameters that process A sent: they moved away from where both began.
    started = Stage1(len(data.samples.vocabulary), SMALL)
    torch.manual_seed(0)
    assert any(not torch.equal(p, q) for p, q in zip(b.stage1.parameters(), started.parameters(), strict=True))


def _with_actors(folder: Path, data: Data, stale: int = 4) -> ProcessB:
    config, inputs = settings(folder, data)
    config = replace(config, plan=replace(config.plan, sync=False, actors=2, stale=stale))
    return ProcessB(folder, config, inputs, data, Exchange(folder / "exchange"))


def test_actors_fly_with_what_they_are_sent_and_a_dead_one_is_replaced(tmp_path: Path, data: Data) -> None:
    b = _with_actors(tmp_path, data)
    with closing(b.steps(Crew(2, retries=3, apart=True))) as steps:
        first = next(steps)
        assert first["lag"] == 0
        actors = {child.pid for child in multiprocessing.active_children()}
        assert len(actors) == 2
        victim = actors.pop()
        assert victim is not None
        os.kill(victim, signal.SIGKILL)
        lags = [next(steps)["lag"] for _ in range(4)]
        others = {child.pid for child in multiprocessing.active_children()}
        assert victim not in others
        assert len(others) == 2
    assert b.run.step == 5
    assert max(lags) >= 1  # two fly at a time: what one brings was begun before the other's was learned from
    assert multiprocessing.active_children() == []
    # What a flight was depends on its order alone, not on who flew it.
    order = next(b._orders())
    once, again = fly_order(b.cockpit, order), fly_order(b.cockpit, order)
    for one, two in zip(once.executions, again.executions, strict=True):
        np.testing.assert_array_equal(one.poses, two.poses)


def test_flights_that_are_too_old_are_not_learned_from(
    tmp_path: Path, data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    def two_in_turn(work: Callable[[Order], Logbook], orders: Iterator[Order], crew: Crew) -> Iterator[Logbook]:
        flying = [next(orders), next(orders)]
        while True:
            yield work(flying.pop(0))
            flying.append(next(orders))

    monkeypatch.setattr(sureal, "each", two_in_turn)
    patient, strict = _with_actors(tmp_path / "patient", data, 1), _with_actors(tmp_path / "strict", data, 0)
    assert [(r["lag"], r["too old"]) for r in islice(patient.steps(Crew(2)), 3)] == [(0, 0), (1, 0), (1, 0)]
    # Versions 0 and 0 are under way; the second comes when the first was learned from, and so does every second one.
    assert [(r["lag"], r["too old"]) for r in islice(strict.steps(Crew(2)), 3)] == [(0, 0), (0, 1), (0, 2)]


def test_actors_are_not_for_what_must_repeat_itself(tmp_path: Path, data: Data) -> None:
    config, inputs = settings(tmp_path, data)
    with pytest.raises(WaywordError, match="either them or --sync"):
        sureal.train(tmp_path / "run", replace(config, plan=replace(config.plan, actors=1)), inputs)


def test_words_come_from_the_stage_1_it_starts_from(
    tmp_path: Path, data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, inputs = settings(tmp_path, data)
    given = []
    monkeypatch.setattr(sureal, "load_data", lambda config, folder, vision, vocabulary: given.append(vocabulary))
    sureal.data_of(tmp_path / "run", config, inputs)
    assert given[0].words == data.samples.vocabulary.words
    again = replace(inputs, stage1=tmp_path / "run" / "a")
    sureal.data_of(tmp_path / "next", config, again)  # a run can start from a run
    assert given[1] == given[0]
    with pytest.raises(WaywordError, match="train stage 1 first"):
        sureal.data_of(tmp_path / "run", config, replace(inputs, stage1=tmp_path / "nowhere"))


def _start(folder: Path, iterations: int) -> subprocess.Popen[str]:
    tests = Path(__file__).parents[2]
    path = os.pathsep.join([str(tests), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    return subprocess.Popen(
        [sys.executable, str(tests / "support" / "sureal_run.py"), str(folder), str(iterations)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert _start(whole, 3).wait(timeout=300) == 0
    first = _start(killed, 3)
    deadline = time.monotonic() + 200
    while not (killed / "b" / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)  # somewhere in the second round
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert _start(killed, 3).wait(timeout=300) == 0
    for part in ("a", "b"):
        one, two = (load_file(folder / part / "checkpoint.safetensors") for folder in (whole, killed))
        assert one.keys() == two.keys()
        assert all(torch.equal(one[name], two[name]) for name in one)
