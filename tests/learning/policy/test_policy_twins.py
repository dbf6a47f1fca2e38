"""What flies is what was trained: shipped networks against torch, and the world that trains against ``FsPVN.act``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from support.extra_torch import torch
from wayword.episodes import examples, load_natural
from wayword.grounding import Grounder
from wayword.grounding.grounder import Regions
from wayword.learning.policy.control_net import ControlNet, ControlSize
from wayword.learning.policy.dataset import Item
from wayword.learning.policy.executions import join_frames
from wayword.learning.policy.networks import Size, Stage1
from wayword.learning.policy.readings import ReadingPair, reading_of
from wayword.learning.policy.seeing import Eyes, SeeingWorld
from wayword.learning.policy.teacher import TeacherConfig, TeacherWorld, oracle_actor, teacher_examples
from wayword.mapping import object_context_map
from wayword.pilot import open_database
from wayword.policy.control import SHIPPED, Control, ControlConfig, read_control_record, to_actions
from wayword.policy.fspvn import FsPVN, FsPVNConfig
from wayword.policy.interface import Observations
from wayword.policy.stage1 import Stage1Runtime, read_policy_config
from wayword.policy.taught import TaughtDatabase
from wayword.policy.tokens import Vocabulary, placeholders
from wayword.sim.arena import Arena, Situation
from wayword.sim.render.bank import MeshBank
from wayword.sim.vehicle import VehicleConfig
from wayword.task import MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S

WEIGHTS = ("fspvn", "fspvn_bc")
SAID = (["go", "past", "<obj>", "on", "its", "left"], ["stop"], ["<obj>", "then", "circle", "<obj>", "zebra"])


def tensors(folder: Path, part: str) -> dict[str, torch.Tensor]:
    """The weights of one network of a folder."""
    every = load_file(folder / "model.safetensors")
    return {name.removeprefix(part): torch.from_numpy(v) for name, v in every.items() if name.startswith(part)}


def torch_stage1(weights: str) -> tuple[Stage1, Vocabulary]:
    """Shipped weights of stage 1 in torch."""
    settings = read_policy_config(SHIPPED / weights)
    vocabulary = Vocabulary(tuple(settings["vocabulary"]))
    net = Stage1(len(vocabulary), Size(**settings["size"]))
    net.load_state_dict(tensors(SHIPPED / weights, "stage1."))
    return net.eval(), vocabulary


def torch_control(weights: str) -> ControlNet:
    """Shipped weights of stage 2 in torch."""
    config, record = read_control_record(SHIPPED / weights)
    net = ControlNet(config, ControlSize(**record["size"]))
    net.load_state_dict(tensors(SHIPPED / weights, "control."))
    return net.eval()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_shipped_stage_1_answers_as_torch_does(weights: str, rng: np.random.Generator) -> None:
    net, vocabulary = torch_stage1(weights)
    runtime = Stage1Runtime(weights, mirror=False)
    words = [runtime.encode(tokens) for tokens in SAID]
    masks = [rng.random((len(word.psi), 64, 64), np.float32) for word in words]
    others = rng.random((len(words), 6, 64, 64), np.float32)
    answers = runtime.predict(words, masks, others)
    for n, tokens in enumerate(SAID):
        numbers = torch.from_numpy(vocabulary.numbers(tokens))[None]
        places = torch.from_numpy(np.append(placeholders(tokens), -1))[None]  # -1: a reference that is none
        padded = torch.from_numpy(np.concatenate([masks[n], np.zeros((1, 64, 64), np.float32)]))[None]
        with torch.inference_mode():
            psi, mean = net.read(numbers, torch.tensor([len(tokens)]), places)
            there = torch.softmax(net(psi, mean, padded, torch.from_numpy(others[n : n + 1])), 2)[0]
        np.testing.assert_allclose(words[n].psi, psi[0, :-1].numpy(), atol=1e-5)
        np.testing.assert_allclose(words[n].mean, mean[0].numpy(), atol=1e-5)
        np.testing.assert_allclose(answers[n], there.numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_shipped_stage_2_answers_as_torch_does(weights: str, rng: np.random.Generator) -> None:
    control, net = Control.load(weights), torch_control(weights)
    inputs = rng.random((9, control.config.size), np.float32)
    with torch.inference_mode():
        there = net(torch.from_numpy(inputs)).numpy()
    np.testing.assert_allclose(control._network(inputs)[0], there, atol=1e-5)


def test_stage_1_looks_at_the_map_of_mapping(rng: np.random.Generator) -> None:
    """What goes into LingUNet is ``object_context_map`` of the pooled masks."""
    net, _ = torch_stage1("fspvn")
    shown: list[torch.Tensor] = []
    net.lingunet.register_forward_pre_hook(lambda _, inputs: shown.append(inputs[0]))
    psi = rng.standard_normal((2, 3, net.size.context)).astype(np.float32)
    references, others = rng.random((2, 3, 64, 64), np.float32), rng.random((2, 6, 64, 64), np.float32)
    with torch.inference_mode():
        net(*(torch.from_numpy(part) for part in (psi, psi[:, 0], references, others)))
    pooled = [part.reshape(2, -1, 32, 2, 32, 2).mean(axis=(3, 5)) for part in (references, others)]
    np.testing.assert_allclose(shown[0].numpy(), object_context_map(psi, *pooled), atol=1e-5)


class Onlooker:
    """A grounder that keeps the images it was shown last."""

    def __init__(self, grounder: Grounder) -> None:
        self.grounder, self.config = grounder, grounder.config
        self.images = np.zeros(0, np.uint8)

    def regions(self, images: np.ndarray) -> list[Regions]:
        self.images = images
        return self.grounder.regions(images)


@pytest.mark.parametrize("mirror", [False, True])
def test_the_world_that_trains_shows_what_the_policy_sees_in_flight(mirror: bool) -> None:
    """Process B's world and ``FsPVN.act`` get the same images and poses: same maps, distributions and actions."""
    flown = [examples(episode, 2)[0] for episode in load_natural("dev")[:3]]
    policy = FsPVN.load("fspvn", config=FsPVNConfig(mirror=mirror))
    taught = TaughtDatabase.of(open_database("dev"), policy.grounder)
    known, (net, vocabulary) = taught.exemplars, torch_stage1("fspvn")
    policy.reset([example.instruction for example in flown], [taught] * 3)
    readings = [ReadingPair(reading_of(policy.parsed(n), known.names), None) for n in range(3)]
    nothing = join_frames([(np.zeros(6), np.zeros((0, 4)), np.zeros(0), np.zeros((0, known.vectors.shape[1])))])
    items = [Item(example, nothing, reading) for example, reading in zip(flown, readings, strict=True)]
    photos = {name: known.vectors[known.owners == n] for n, name in enumerate(known.names)}
    eyes: Any = Onlooker(policy.grounder)
    bank = MeshBank.of_catalogue(sorted({item.name for example in flown for item in example.objects}))
    world = SeeingWorld(
        items, Eyes(bank, eyes, photos, vocabulary, mirror=mirror), net, policy.control.config,
        np.random.default_rng(4),
    )  # fmt: skip
    control = torch_control("fspvn")
    for _ in range(12):
        slots = world.flying
        actions = policy.act(Observations(slots, eyes.images, world.poses[slots]))
        with torch.inference_mode():
            asked = to_actions(control(torch.from_numpy(world.inputs(slots))).numpy())
        for n in slots:
            thought = policy.thought(int(n))
            # Readings are kept with five decimals, hence no closer.
            np.testing.assert_allclose(world._worlds[n].references, thought.references, atol=1e-5)
            np.testing.assert_array_equal(world.coverage[n], thought.coverage)
            np.testing.assert_allclose(world.distributions[n], thought.distributions, atol=2e-5)
        np.testing.assert_allclose(asked, actions, atol=1e-3)
        everyone = np.zeros((world.count, 3))
        everyone[slots] = actions
        world.step(everyone)
        world.look()


def test_the_world_that_trains_moves_as_the_arena_does() -> None:
    """The same actions lead to the same places, to the bit, as long as nothing is touched."""
    flown = teacher_examples(2, seed=5, segments=(2,))
    world = TeacherWorld(
        flown, TeacherConfig(noise=None, vehicle=VehicleConfig()), ControlConfig(), np.random.default_rng(0)
    )
    bank = MeshBank.of_catalogue(sorted({item.name for example in flown for item in example.objects}))
    arena = Arena(len(flown), bank)
    slots = range(len(flown))
    arena.reset(slots, [Situation(e.objects, e.start, arena_m=e.episode.arena_m) for e in flown], list(slots))
    oracle = oracle_actor(world)
    while len(flying := world.flying):
        np.testing.assert_array_equal(flying, arena.flying)
        actions = np.zeros((len(flown), 3))
        actions[flying] = oracle(flying) * (MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S, 1.0)
        world.step(actions)
        arena.step(actions)
        np.testing.assert_array_equal(world.poses, arena.poses)
        world.look()
    assert not arena.contacts.any()
    assert not len(arena.flying)
