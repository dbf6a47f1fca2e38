"""The whole training of the segmentation in miniature, its settings and its verb."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.extra_torch import load_file, torch
from support.shards import write_shards
from wayword.cli.train_grounding import TrainGrounding
from wayword.errors import WaywordError
from wayword.grounding import DensityConfig, Grounder, GroundingConfig, ProposalConfig
from wayword.grounding.weight_files import NETWORKS, find_weights
from wayword.learning.common.loop import NO_LIMIT
from wayword.learning.common.stage_process import run_here
from wayword.learning.common.train_config import read_options, read_train_config
from wayword.learning.common.typed_json import from_plain, to_plain
from wayword.learning.grounding import assemble as assembling
from wayword.learning.grounding import train_grounding as training
from wayword.learning.grounding.assemble import assemble
from wayword.learning.grounding.export import load_nets
from wayword.learning.grounding.sizes import MetricSize, ProposalSize, Sizes
from wayword.learning.grounding.train_grounding import GroundingSources, GroundingTraining, train_grounding

ROOT = Path(__file__).parents[3]


def miniature() -> GroundingTraining:
    base = GroundingTraining().with_minutes(None)
    short = {name: replace(getattr(base, name).loop, steps=2) for name in ("proposals", "metric", "refine")}
    return replace(
        base,
        proposals=replace(base.proposals, loop=short["proposals"], batch=2, size=ProposalSize((4, 4, 4, 4, 4))),
        metric=replace(base.metric, loop=short["metric"], objects=2, views=2, size=MetricSize((4, 4, 4), 4)),
        refine=replace(base.refine, loop=short["refine"], batch=4, per_frame=2),
    )


@pytest.fixture
def in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trainings run in this process; a dozen frames are too few to fit probabilities on."""
    fitted = GroundingConfig(ProposalConfig(), DensityConfig(), 4, 0.4)
    monkeypatch.setattr(training, "run_stages", lambda queues, variables=None: [run_here(s) for q in queues for s in q])
    monkeypatch.setattr(assembling, "fit", lambda grounder, shards, seed: (fitted, {"seed": seed}))


def test_the_same_settings_make_the_same_weights_to_the_bit(tmp_path: Path, in_turn: None) -> None:
    shards = write_shards(tmp_path / "shards")
    first = train_grounding(miniature().with_seed(7), GroundingSources(shards), tmp_path / "1", tmp_path / "w1")
    again = read_options(tmp_path / "w1" / "train_config.json", "grounding", GroundingTraining)
    assert again == miniature().with_seed(7)
    train_grounding(again, GroundingSources(shards), tmp_path / "2", tmp_path / "w2")
    train_grounding(again.with_seed(8), GroundingSources(shards), tmp_path / "3", tmp_path / "w3")
    for name in ("model.safetensors", "proposals.onnx", "metric.onnx", "refine.onnx"):
        assert (tmp_path / "w1" / name).read_bytes() == (tmp_path / "w2" / name).read_bytes()
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("w1", "w3"))
    for part in ("proposals.", "metric.", "refine."):
        assert any(not torch.equal(one[key], other[key]) for key in one if key.startswith(part))
    Grounder.load(tmp_path / "w1")
    said = read_train_config(tmp_path / "w1" / "train_config.json")
    assert said == first
    assert said.inputs() == {"data": shards}
    assert (said.seed, said.repeatable) == (7, True)
    # Another run starts from the first: the chain is kept, and the run folder belongs to its settings.
    on = replace(again, start=str(tmp_path / "w1"))
    train_grounding(on, GroundingSources(shards), tmp_path / "4", tmp_path / "w4")
    chain = read_train_config(tmp_path / "w4" / "train_config.json").started_from["start"]
    assert chain["train_config"]["options"] == said.options
    with pytest.raises(WaywordError, match=r"other settings \(start not there|start .*now None"):
        train_grounding(again, GroundingSources(shards), tmp_path / "4", tmp_path / "w4")


def test_one_network_alone_assembles_nothing(tmp_path: Path, in_turn: None) -> None:
    shards = write_shards(tmp_path / "shards")
    train_grounding(miniature(), GroundingSources(shards), tmp_path / "run", tmp_path / "out", "refine")
    assert (tmp_path / "run" / "refine" / "train_config.json").exists()
    assert not (tmp_path / "run" / "metric").exists()
    assert not (tmp_path / "out").exists()


def test_one_network_trained_on_is_put_together_with_those_it_started_beside(tmp_path: Path, in_turn: None) -> None:
    shards = write_shards(tmp_path / "shards")
    train_grounding(miniature(), GroundingSources(shards), tmp_path / "1", tmp_path / "w1")
    on = replace(miniature(), start=str(tmp_path / "w1"))
    train_grounding(on, GroundingSources(shards), tmp_path / "2", tmp_path / "w2", "proposals")
    before, after = (load_file(tmp_path / name / "model.safetensors") for name in ("w1", "w2"))
    same = {part: all(torch.equal(before[k], after[k]) for k in before if k.startswith(part)) for part in NETWORKS}
    assert same == {"proposals": False, "metric": True, "refine": True}
    Grounder.load(tmp_path / "w2")
    # Runs that were made one by one keep their chain, and what the rest is from.
    assemble(shards, tmp_path / "2", tmp_path / "w3", on.sizes, start=tmp_path / "w1")
    chain = read_train_config(tmp_path / "w3" / "train_config.json").started_from
    assert set(chain) == {"proposals", "start"}


def test_a_place_of_ones_own_starts_from_the_weights_for_real_rooms(tmp_path: Path) -> None:
    place = TrainGrounding(frames=tmp_path).settings()
    assert place.start == "real"
    assert place.metric.loop.minutes == 15
    assert place.sizes == load_nets_sizes("real")  # wider than the usual ones
    assert TrainGrounding(frames=tmp_path, start="nothing").settings().sizes == Sizes()
    assert TrainGrounding(frames=tmp_path, embedding=32).settings().metric.size.dimension == 32
    assert place.proposals.loop.learning_rate == training.FINE_TUNING_RATE
    assert TrainGrounding(frames=tmp_path, start="sim", minutes=3).settings().start == "sim"
    assert TrainGrounding(frames=tmp_path, start="nothing").settings().start is None


def load_nets_sizes(name: str) -> Sizes:
    return Sizes(*load_nets(find_weights(name))[1])


def test_the_settings_of_the_weights_for_real_rooms_can_be_read() -> None:
    """Arena, panoramas and invented rooms; one pack is left to the report, so nothing is gone on from."""
    settings = TrainGrounding(config=ROOT / "docs" / "training" / "grounding_real.json").settings()
    settings.frames.ar.check()
    assert settings.start is None
    assert settings.frames.ar.photo.simulated_share + settings.frames.ar.photo.room_share < 1
    both = settings.proposals.loop.minutes + settings.refine.loop.minutes
    assert both <= settings.metric.loop.minutes <= 120  # the two cores end together
    assert settings.seed == settings.frames.seed == settings.metric.seed == 0


def test_frames_are_made_of_panoramas_or_of_a_place_not_of_both(tmp_path: Path) -> None:
    panorama = tmp_path / "a.hdr"
    assert GroundingSources(panoramas=(panorama,)).pictures
    assert not GroundingSources(data=tmp_path).pictures
    with pytest.raises(WaywordError, match="name one of them"):
        TrainGrounding(frames=tmp_path, panoramas=(panorama,), out=tmp_path / "out").run()


def test_the_options_of_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = TrainGrounding().settings()
    assert usual == GroundingTraining().with_minutes(135)
    # The metric has a core to itself, proposals and refinement share the other.
    assert [getattr(usual, n).loop.minutes for n in ("metric", "proposals", "refine")] == pytest.approx([135, 81, 54])
    assert from_plain(GroundingTraining, json.loads(json.dumps(to_plain(usual)))) == usual
    made = TrainGrounding(by_steps=True, seed=3, start="sim", embedding=8, count=10).settings()
    assert made.metric.loop.minutes == NO_LIMIT
    assert made.sizes.metric.dimension == 8
    assert made.refine.loop.learning_rate == training.FINE_TUNING_RATE
    assert made.seed == made.frames.seed == made.metric.seed == made.refine.seed == made.proposals.seed == 3
    TrainGrounding(show=True, embedding=8).run()
    (tmp_path / "mine.json").write_text(capsys.readouterr().out)
    assert TrainGrounding(config=tmp_path / "mine.json").settings().metric.size.dimension == 8
    for verb, message in (
        (TrainGrounding(tmp_path, minutes=0.0), "--minutes 0"),
        (TrainGrounding(), "name --data DIR"),
        (TrainGrounding(tmp_path, start="nobody"), "neither shipped grounding weights"),
        (TrainGrounding(config=tmp_path / "mine.json", minutes=3), "--minutes: --config has all settings"),
    ):
        with pytest.raises(WaywordError, match=message):
            verb.run()
