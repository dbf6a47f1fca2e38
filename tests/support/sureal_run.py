"""Runs SuReAL on a handful of examples in step: started by the test that kills it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from support.extra_torch import torch
from support.policy_data import items_of, photos_of
from wayword.grounding import Grounder
from wayword.grounding.weight_files import find_weights
from wayword.io import write_json
from wayword.learning.common.loop import LoopConfig, Run
from wayword.learning.policy import sureal
from wayword.learning.policy.control_run import ControlRun, ControlTraining
from wayword.learning.policy.dataset import SampleConfig, Samples
from wayword.learning.policy.networks import Stage1
from wayword.learning.policy.sizes import Size
from wayword.learning.policy.train_visitation import Data, VisitationTraining
from wayword.policy.tokens import Vocabulary

SMALL = Size(words=6, hidden=4, channels=8, filtered=4, last=8, dropout=0.1)


def settings(folder: Path, data: Data, iterations: int = 2) -> tuple[sureal.SurealTraining, sureal.SurealInputs]:
    """A run that starts from untrained networks."""
    torch.manual_seed(0)
    Run(folder / "visitation", Stage1(len(data.samples.vocabulary), SMALL), LoopConfig(10, 1.0)).save()
    write_json(folder / "visitation" / "vocabulary.json", list(data.samples.vocabulary.words))
    control = ControlTraining(episodes=2)
    ControlRun(folder / "control", control).save()
    plan = sureal.SurealPlan(flights=2, send_every=2, iterations=iterations, imagined=0.0, sync=True)
    inputs = sureal.SurealInputs(folder / "unused", find_weights("sim"), folder / "visitation", folder / "control")
    return sureal.SurealTraining(VisitationTraining(size=SMALL, examples=2), control, plan), inputs


def few_examples() -> Data:
    """Four examples whose objects are seen in every frame."""
    grounder = Grounder.load("sim")
    photos = photos_of(grounder)
    items = items_of(4, photos)
    vocabulary = Vocabulary.build([item.readings.whole.tokens for item in items])
    samples = Samples(items, photos, grounder.config.density, vocabulary, SampleConfig(moments=2))
    return Data(samples, np.full(4, 0.25), grounder)


def main(folder: Path, iterations: int) -> None:
    """Start, or go on."""
    torch.set_num_threads(1)
    data = few_examples()
    sureal.load_data = lambda config, folder, vision, vocabulary: data  # type: ignore[assignment]
    begun = (folder / "visitation").exists()
    config, inputs = settings(folder / "again" if begun else folder, data, iterations)
    if begun:
        inputs = replace(inputs, data=folder / "unused", stage1=folder / "visitation", stage2=folder / "control")
    print("begun", flush=True)
    sureal.train(folder, config, inputs)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
