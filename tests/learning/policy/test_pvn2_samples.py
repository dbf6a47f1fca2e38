"""What PVN2 is shown: pictures from recorded poses, whole words, and which objects the instruction speaks of."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from support.extra_torch import torch
from support.pvn2_weights import FLIGHTS, LOOKS, SMALL, reading_about
from wayword.camera import Camera
from wayword.episodes import SPLITS, load_natural
from wayword.episodes.instructions import generate_written
from wayword.errors import WaywordError
from wayword.learning.policy.dataset import Item
from wayword.learning.policy.flights import record, training_examples
from wayword.learning.policy.pvn2_items import (
    Pvn2Item,
    Telling,
    objects_meant,
    poses_only,
    pvn2_item,
    pvn2_vocabulary,
    read_others,
)
from wayword.learning.policy.pvn2_losses import Auxiliaries, AuxiliaryWeights, loss_terms, pvn2_answer
from wayword.learning.policy.pvn2_network import Pvn2Stage1
from wayword.learning.policy.pvn2_others import OthersConfig, make_others, other_names
from wayword.learning.policy.pvn2_samples import Pvn2Samples, Pvn2Sampling, cell_of, frames_until, join_samples
from wayword.learning.policy.readings import ReadingPair
from wayword.policy.mirror import mirrored_distributions
from wayword.policy.tokens import tokenise
from wayword.sim.models.catalogue import names
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look


@pytest.fixture(scope="module")
def samples() -> Pvn2Samples:
    """Two natural examples, of which the first object of the layout is said to be spoken of."""
    examples, bank = training_examples("train", True)[:2], MeshBank.of_catalogue(names("seen"))
    flights = record(examples, bank, None, FLIGHTS)
    readings = [reading_about(example) for example in examples]
    items = [pvn2_item(Item(e, f, ReadingPair(r, r))) for e, f, r in zip(examples, flights, readings, strict=True)]
    return Pvn2Samples(items, pvn2_vocabulary(items), names("seen"), bank, Pvn2Sampling(moments=2, frames=3))


def test_words_are_read_as_they_are(samples: Pvn2Samples) -> None:
    item = samples.items[0]
    assert item.whole.tokens == tuple(tokenise(item.example.instruction))
    assert "<obj>" not in item.whole.tokens
    assert item.prefix is not None
    assert item.whole.tokens[: len(item.prefix.tokens)] == item.prefix.tokens
    assert item.whole.objects == {item.example.objects[0].name}
    assert not objects_meant(replace(reading_about(item.example), table=()))  # nothing refers to anything
    assert len(poses_only(item.execution)) == len(item.execution)


def test_frames_are_spread_over_the_flight_and_every_moment_is_among_them() -> None:
    assert frames_until([2, 5], 10) == [0, 1, 2, 3, 4, 5]
    assert frames_until([7, 20], 5) == [0, 7, 10, 20]
    assert frames_until([0, 0], 3) == [0]
    assert cell_of(0.0, 4.7) == (31, 0)


def test_the_same_seed_draws_the_same_batch(samples: Pvn2Samples) -> None:
    one, two, other = (samples.draw(np.random.default_rng(seed), 3) for seed in (1, 1, 2))
    for entry in fields(one):
        assert np.array_equal(getattr(one, entry.name), getattr(two, entry.name)), entry.name
    assert not np.array_equal(one.gold, other.gold)
    assert one.images.shape == (one.frames.sum(), 72, 128, 3)
    assert one.gold.sum(axis=2) == pytest.approx(1.0, abs=1e-4)
    assert (one.subjects.sum(axis=1) == 1).all()
    assert (one.lexicon.argmax(axis=1) == one.classes[one.subjects == 1]).all()


def test_padding_changes_nothing(samples: Pvn2Samples) -> None:
    torch.manual_seed(0)
    net = Pvn2Stage1(len(samples.vocabulary), SMALL, LOOKS).eval()
    alone = [samples.final(item) for item in samples.items]
    with torch.no_grad():
        both = pvn2_answer(net, join_samples(alone), Camera()).logits
        for k, one in enumerate(alone):
            assert both[k].numpy() == pytest.approx(pvn2_answer(net, one, Camera()).logits[0].numpy(), abs=1e-4)


def test_a_mirror_image_mirrors_the_map_and_what_is_gold(samples: Pvn2Samples) -> None:
    arguments = samples.items[0], False, [1, 2], Look()
    plain, turned = (samples._sample(*arguments, flipped, None) for flipped in (False, True))
    assert np.array_equal(turned.gold, mirrored_distributions(plain.gold))
    assert np.array_equal(turned.others[:, 0], plain.others[:, 0, ::-1])
    assert np.array_equal(turned.images, plain.images)
    # The map that LingUNet is given is the mirror image too.
    seen: list[torch.Tensor] = []
    net = Pvn2Stage1(len(samples.vocabulary), SMALL, LOOKS).eval()
    net.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[1]))
    with torch.no_grad():
        for batch in (plain, turned):
            pvn2_answer(net, batch, Camera())
    assert torch.equal(seen[1], seen[0].flip(2))


def test_the_auxiliary_objectives_by_hand(samples: Pvn2Samples) -> None:
    """Heads of zeros know nothing: ln 64 for one of 64 objects, ln 2 for every yes or no."""
    torch.manual_seed(0)
    net = Pvn2Stage1(len(samples.vocabulary), SMALL, LOOKS).eval()
    heads = Auxiliaries(net, 64)
    for parameter in heads.parameters():
        torch.nn.init.zeros_(parameter)
    batch = samples.draw(np.random.default_rng(3), 2)
    loss, answer = loss_terms(net, heads, batch, Camera())
    assert float(loss.classes.detach()) == pytest.approx(np.log(64), abs=1e-4)
    assert float(loss.mentions.detach()) == pytest.approx(np.log(2), abs=1e-4)
    assert float(loss.words.detach()) == pytest.approx(np.log(2), abs=1e-4)
    assert float(loss.sparsity.detach()) == pytest.approx(float(answer.world.detach().abs().mean()))
    kl = float((loss.visit + loss.goal).detach().mean())
    half = loss.total(AuxiliaryWeights(0.0, 2.0, 0.0, 0.0))
    assert float(half.detach()) == pytest.approx(kl + 2 * np.log(2), abs=1e-3)
    # Where nothing was in view there is nothing to name.
    blind = replace(batch, classes=np.full_like(batch.classes, -1))
    assert float(loss_terms(net, heads, blind, Camera())[0].classes.detach()) == 0.0


def test_the_other_objects_have_layouts_of_their_own(tmp_path: Path) -> None:
    config = OthersConfig(episodes=1, flights=FLIGHTS)
    make_others(tmp_path, config, 1)
    items = read_others(tmp_path)
    assert items
    dev_and_test = set(other_names())
    assert len(dev_and_test) == 16
    for item in items:
        assert isinstance(item, Pvn2Item)
        assert {thing.name for thing in item.example.objects} <= dev_and_test
        assert item.whole.objects <= {thing.name for thing in item.example.objects}
        assert item.whole.objects
    make_others(tmp_path, config, 1)  # it is all there
    with pytest.raises(WaywordError, match="episodes 1, now 2"):
        make_others(tmp_path, OthersConfig(episodes=2, flights=FLIGHTS), 1)
    # Neither the natural layouts nor those that evaluations draw, with whatever seed, are among them.
    own = {item.example.episode.objects for item in items}
    for split in ("dev", "test"):
        measured = [episode.objects for episode in load_natural(split)]
        measured += [e.objects for seed in range(3) for e, _ in generate_written(split, 1, seed, names(SPLITS[split]))]
        assert not own & set(measured)
        texts = {segment.instruction for episode in load_natural(split) for segment in episode.segments}
        assert not texts & {segment.instruction for item in items for segment in item.example.episode.segments}
    (tmp_path / "references.jsonl").write_text("{}\n")
    with pytest.raises(WaywordError, match=r"references\.jsonl: does not go with episodes\.jsonl") as caught:
        read_others(tmp_path)
    assert "\n" not in str(caught.value)


def test_what_the_first_segment_asks_for_ends_there(samples: Pvn2Samples) -> None:
    item = samples.items[0]
    telling, path, frames = item.part(prefix=True)
    assert isinstance(telling, Telling)
    begin, end = item.example.episode.bounds(item.example.first)
    assert np.array_equal(path, item.example.episode.path[begin : end + 1])
    assert 0 < frames <= len(item.execution)
    assert item.part(prefix=False)[2] == len(item.execution)
