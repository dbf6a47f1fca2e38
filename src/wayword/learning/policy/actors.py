"""SuReAL's flying actors: they take the newest parameters of both stages, fly, and send back what happened.

Any number of them fly for process B, as processes of this machine or on a cluster of Ray. Examples, photos and meshes
go to each once. An order has the parameters with it, so that an actor knows nothing but what it was ordered to do: one
that dies is replaced, and its order flown again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from wayword.grounding import Grounder
from wayword.learning.policy.control_net import ControlNet, ValueNet
from wayword.learning.policy.control_run import ControlTraining
from wayword.learning.policy.dataset import Item
from wayword.learning.policy.executions import Execution
from wayword.learning.policy.networks import Stage1
from wayword.learning.policy.seeing import Eyes, SeeingWorld
from wayword.learning.policy.sizes import Size
from wayword.learning.policy.teacher import Flights, fly_world
from wayword.learning.policy.train_control import sampling_actor
from wayword.learning.policy.train_visitation import encoder_of
from wayword.policy.tokens import Vocabulary
from wayword.sim.render.bank import MeshBank

NetworkState = Mapping[str, NDArray[Any]]
"""The parameters of a network."""


@dataclass(frozen=True, eq=False)
class Cockpit:
    """What an actor needs besides its orders."""

    items: Sequence[Item]
    bank: MeshBank
    photos: Mapping[str, NDArray[np.float32]]
    vocabulary: Vocabulary
    grounder: Path
    size: Size
    """Of stage 1."""
    control: ControlTraining
    prefixes: float = Eyes.prefixes
    mirror: bool = Eyes.mirror
    imagined: float = Eyes.imagined
    blank_images: bool = Eyes.blank_images
    empty_instructions: bool = Eyes.empty_instructions


@dataclass(frozen=True, eq=False)
class Order:
    """Some flights, with parameters as they were at iteration ``version`` of process B."""

    version: int
    numbers: Sequence[int]
    """Which examples."""
    seed: tuple[int, ...]
    stage1: NetworkState
    control: NetworkState
    value: NetworkState


@dataclass(frozen=True, eq=False)
class Logbook:
    """What came of an order."""

    version: int
    numbers: Sequence[int]
    flights: Flights
    executions: list[Execution]
    exemplary: list[bool]
    """Whether each flight may stand for its instruction among process A's data."""


def state_of(net: nn.Module) -> NetworkState:
    """The parameters of a network, to be sent."""
    return {name: value.detach().cpu().numpy().copy() for name, value in net.state_dict().items()}


def fly_order(cockpit: Cockpit, order: Order) -> Logbook:
    """In an actor: fly, with no memory of earlier orders."""
    torch.set_num_threads(1)
    eyes, stage1, control, value = _equipment(cockpit)
    for net, state in ((stage1, order.stage1), (control, order.control), (value, order.value)):
        net.load_state_dict({name: torch.from_numpy(np.array(part)) for name, part in state.items()})
    rng = np.random.default_rng(order.seed)
    items = [cockpit.items[number] for number in order.numbers]
    world = SeeingWorld(items, eyes, stage1, cockpit.control.inputs, rng, cockpit.control.teacher)
    flights = fly_world(world, sampling_actor(control, value, rng), cockpit.control.reward)
    return Logbook(order.version, order.numbers, flights, world.executions(), world.exemplary)


@cache
def _equipment(cockpit: Cockpit) -> tuple[Eyes, Stage1, ControlNet, ValueNet]:
    """Made once in an actor."""
    grounder = Grounder.load(cockpit.grounder)
    eyes = Eyes(
        cockpit.bank, grounder, cockpit.photos, cockpit.vocabulary, prefixes=cockpit.prefixes, mirror=cockpit.mirror,
        imagined=cockpit.imagined, encoder=encoder_of(cockpit.size), blank_images=cockpit.blank_images,
        empty_instructions=cockpit.empty_instructions,
    )  # fmt: skip
    stage1 = Stage1(len(cockpit.vocabulary), cockpit.size)
    inputs, size = cockpit.control.inputs, cockpit.control.size
    return eyes, stage1, ControlNet(inputs, size), ValueNet(inputs, size)
