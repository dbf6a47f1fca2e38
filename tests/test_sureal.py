from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from policy_data import items_of, photos_of

from wayword.grounding import Grounder
from wayword.learning.grounding.loop import LoopConfig, Run
from wayword.learning.policy.control_run import ControlRun, ControlTraining
from wayword.learning.policy.dataset import Item, SampleConfig, Samples
from wayword.learning.policy.networks import Size, Stage1
from wayword.learning.policy.sureal import Exchange, ProcessA, ProcessB, SurealTraining
from wayword.learning.policy.train_visitation import Data, VisitationTraining
from wayword.policy.tokens import Vocabulary

SMALL = Size(words=6, hidden=4, channels=8, filtered=4, last=8, dropout=0.1)


@pytest.fixture(scope="module")
def grounder() -> Grounder:
    return Grounder.load("sim")


@pytest.fixture(scope="module")
def data(grounder: Grounder) -> Data:
    photos = photos_of(grounder)
    items = items_of(4, photos)
    vocabulary = Vocabulary.build([item.readings.whole.tokens for item in items])
    return Data(
        Samples(items, photos, grounder.config.density, vocabulary, SampleConfig(moments=2)), np.full(4, 0.25), grounder
    )


def settings(folder: Path, data: Data) -> SurealTraining:
    """A run that starts from untrained networks."""
    torch.manual_seed(0)
    run = Run(folder / "visitation", Stage1(len(data.samples.vocabulary), SMALL), LoopConfig(10, 1.0))
    run.save()
    control = ControlTraining(episodes=2)
    ControlRun(folder / "control", control).save()
    nowhere = folder / "unused"
    return SurealTraining(
        VisitationTraining(nowhere, nowhere, nowhere, size=SMALL, examples=2),
        control, folder / "visitation", folder / "control", flights=2, send_every=2, iterations=2, sync=True,
    )  # fmt: skip


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
    config = settings(folder, data)
    exchange = Exchange(folder / "exchange")
    a, b = ProcessA(folder, config, data, exchange), ProcessB(folder, config, data, exchange)
    b.eyes = replace(b.eyes, prefixes=0.0)
    for _ in range(rounds):
        for _ in range(config.send_every):
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
    assert a.merged >= 0  # process A has met a flight of process B
    # Process B flew with parameters that process A sent: they moved away from where both began.
    started = Stage1(len(data.samples.vocabulary), SMALL)
    torch.manual_seed(0)
    assert any(not torch.equal(p, q) for p, q in zip(b.stage1.parameters(), started.parameters(), strict=True))
