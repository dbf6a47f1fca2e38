from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.extra_torch import torch
from wayword.errors import WaywordError
from wayword.learning.policy.control_run import ControlRun, ControlTraining
from wayword.learning.policy.dataset import encoded_words
from wayword.learning.policy.export import save_policy
from wayword.learning.policy.networks import Stage1, TextEncoder, at_placeholders, visitation_loss
from wayword.learning.policy.sizes import Size
from wayword.learning.policy.train_visitation import encoder_of, load_start
from wayword.mapping.grid import UNOBSERVED
from wayword.policy.mirror import mirrored_distributions, mirrored_maps, together
from wayword.policy.stage1 import Stage1Runtime
from wayword.policy.tokens import Vocabulary, mirrored, placeholders

SMALL = Size(words=6, hidden=4, channels=8, filtered=4, last=8, dropout=0.0)


def inputs(count: int, references: int, context: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return (
        torch.randn(count, references, context), torch.randn(count, context),
        torch.rand(count, references, 64, 64), torch.rand(count, 6, 64, 64),
    )  # fmt: skip


@pytest.mark.parametrize("size", [SMALL, Size(4, 3, 64, 5, 8, 4, 8, skip=False, positions=False)])
def test_logits_over_all_cells_and_the_unobserved(size: Size) -> None:
    net = Stage1(10, size).eval()
    logits = net(*inputs(2, 3, size.context))
    assert logits.shape == (2, 2, UNOBSERVED + 1)
    assert bool(torch.isfinite(logits).all())


PAIR = replace(SMALL, members=2)


def test_a_committee_answers_with_the_geometric_mean_of_its_members() -> None:
    net = Stage1(10, PAIR).eval()
    parts = inputs(2, 3, PAIR.context)
    first, second = (torch.softmax(logits, dim=2) for logits in net.answers(*parts))
    assert not torch.allclose(first, second)
    mean = (first * second).sqrt()
    expected = mean / mean.sum(dim=2, keepdim=True)
    torch.testing.assert_close(torch.softmax(net(*parts), dim=2), expected, rtol=1e-4, atol=1e-7)


def test_a_member_alone_answers_as_in_its_committee() -> None:
    net, alone = Stage1(10, PAIR).eval(), Stage1(10, SMALL).eval()
    alone.load_state_dict({name: value for name, value in net.state_dict().items() if not name.startswith("more.")})
    tokens, lengths, places = torch.tensor([[3, 4, 5]]), torch.tensor([3]), torch.tensor([[1]])
    (psi, mean), (own_psi, own_mean) = net.read(tokens, lengths, places), alone.read(tokens, lengths, places)
    torch.testing.assert_close(psi[..., : SMALL.context], own_psi)
    torch.testing.assert_close(net.single(tokens)[1], mean)
    masks, others = inputs(1, 1, PAIR.context)[2:]
    torch.testing.assert_close(net.answers(psi, mean, masks, others)[0], alone(own_psi, own_mean, masks, others))


def test_members_learn_each_for_itself() -> None:
    # The gradient of one member's loss does not reach the other.
    net, gold = Stage1(10, PAIR), torch.softmax(torch.randn(2, 2, UNOBSERVED + 1), dim=2)
    sum(visitation_loss(net.answers(*inputs(2, 3, PAIR.context))[0], gold)).mean().backward()
    assert all(value.grad is None for value in net.more.parameters())
    assert any(value.grad is not None for value in net.lingunet.parameters())


def test_samples_of_a_batch_do_not_touch() -> None:
    net = Stage1(10, SMALL).eval()
    parts = inputs(3, 2, SMALL.context)
    together = net(*parts)
    torch.testing.assert_close(net(*(part[1:2] for part in parts)), together[1:2], rtol=1e-4, atol=1e-5)


def test_references_without_a_mask_change_nothing() -> None:
    net = Stage1(10, SMALL).eval()
    psi, mean, masks, others = inputs(1, 2, SMALL.context)
    wide = net(torch.cat([psi, psi], 1), mean, torch.cat([masks, torch.zeros_like(masks)], 1), others)
    torch.testing.assert_close(net(psi, mean, masks, others), wide, rtol=1e-4, atol=1e-5)


def test_padding_does_not_change_a_sentence() -> None:
    encoder = TextEncoder(10, SMALL).eval()
    short, padded = torch.tensor([[3, 4, 5]]), torch.tensor([[3, 4, 5, 0, 0], [3, 3, 3, 3, 3]])
    states, mean = encoder(padded, torch.tensor([3, 5]))
    single_states, single_mean = encoder.single(short)
    torch.testing.assert_close(states[:1, :3], single_states)
    torch.testing.assert_close(mean[:1], single_mean)


def test_context_embeddings_are_the_states_at_the_placeholders() -> None:
    states = torch.arange(12.0).reshape(1, 4, 3)
    found = at_placeholders(states, torch.tensor([[2, 0, -1]]))
    torch.testing.assert_close(found, torch.tensor([[[6.0, 7, 8], [0, 1, 2], [0, 0, 0]]]))


def test_the_loss_is_the_divergence_from_gold_by_hand() -> None:
    # Predicted: uniform over 4097. Gold d^p: half on two cells: KL = log(4097) - log(2). Gold d^g: all unobserved:
    # KL = log(4097).
    logits, gold = torch.zeros(1, 2, UNOBSERVED + 1), torch.zeros(1, 2, UNOBSERVED + 1)
    gold[0, 0, 5] = gold[0, 0, 9] = 0.5
    gold[0, 1, UNOBSERVED] = 1.0
    visit, goal = visitation_loss(logits, gold)
    assert float(visit) == pytest.approx(math.log(4097 / 2), rel=1e-5)
    assert float(goal) == pytest.approx(math.log(4097), rel=1e-5)


def test_the_loss_vanishes_for_a_perfect_prediction() -> None:
    gold = torch.softmax(torch.randn(2, 2, UNOBSERVED + 1), dim=2)
    visit, goal = visitation_loss(gold.log() + 3.0, gold)
    assert float(visit.abs().max()) < 1e-4
    assert float(goal.abs().max()) < 1e-4


def test_the_mirror_exchanges_left_and_right() -> None:
    # A cell at row 10 (v = -21.5 cells, to the right) goes to row 53; columns (forward) stay; boundaries 3 and 4 swap.
    maps = np.zeros((1, 8, 64, 64), np.float32)
    maps[0, 0, 10, 40], maps[0, 6, 0, 0] = 1.0, 2.0
    flipped = mirrored_maps(maps)
    assert flipped[0, 0, 53, 40] == 1.0
    assert flipped[0, 7, 63, 0] == 2.0
    gold = np.zeros((1, 2, UNOBSERVED + 1), np.float32)
    gold[0, 1, 10 * 64 + 40], gold[0, 0, UNOBSERVED] = 0.7, 1.0
    turned = mirrored_distributions(gold)
    assert turned[0, 1, 53 * 64 + 40] == np.float32(0.7)
    assert turned[0, 0, UNOBSERVED] == 1.0
    np.testing.assert_array_equal(mirrored_distributions(turned), gold)


READING = replace(SMALL, encoded=5, queries=2, layers=2)


@pytest.mark.parametrize("size", [SMALL, PAIR, READING, replace(READING, members=2)])
def test_the_exported_network_answers_as_torch_does(tmp_path: Path, size: Size) -> None:
    vocabulary = Vocabulary.build([["go", "past", "<obj>", "left"]] * 3)
    torch.manual_seed(1)
    net = Stage1(len(vocabulary), size).eval()
    control = ControlRun(tmp_path / "control", ControlTraining(episodes=1))
    control.export()
    save_policy(tmp_path / "policy", net, vocabulary, size, tmp_path / "control", {})
    runtime = Stage1Runtime(tmp_path / "policy", mirror=False)
    said = [["go", "past", "<obj>"], ["left"], ["<obj>", "past", "<obj>", "go"]]
    words = [runtime.encode(tokens) for tokens in said]
    assert [len(word.psi) for word in words] == [1, 0, 2]
    rng = np.random.default_rng(0)
    masks = [rng.random((len(word.psi), 64, 64), np.float32) for word in words]
    others = rng.random((3, 6, 64, 64), np.float32)
    found = runtime.predict(words, masks, others)
    encoder = encoder_of(size)
    np.testing.assert_allclose(found.sum(axis=2), 1.0, atol=1e-4)
    for n, tokens in enumerate(said):
        numbers = torch.from_numpy(vocabulary.numbers(tokens))[None]
        places = torch.from_numpy(np.append(placeholders(tokens), -1))[None]  # -1: a reference that is none
        mask = torch.from_numpy(np.concatenate([masks[n], np.zeros((1, 64, 64), np.float32)]))[None]
        with torch.no_grad():
            encoded = torch.from_numpy(encoded_words(encoder, tokens))[None]
            psi, mean = net.read(numbers, torch.tensor([len(tokens)]), places, encoded)
            logits = net(psi, mean, mask, torch.from_numpy(others[n : n + 1]))
        np.testing.assert_allclose(found[n], torch.softmax(logits, 2)[0].numpy(), rtol=1e-3, atol=1e-6)


def test_asked_both_ways_stage_1_does_not_prefer_a_side(tmp_path: Path) -> None:
    vocabulary = Vocabulary.build([["go", "past", "<obj>", "left", "right"]] * 3)
    torch.manual_seed(1)
    ControlRun(tmp_path / "control", ControlTraining(episodes=1)).export()
    save_policy(tmp_path / "policy", Stage1(len(vocabulary), SMALL), vocabulary, SMALL, tmp_path / "control", {})
    runtime = Stage1Runtime(tmp_path / "policy")
    tokens = ["past", "<obj>", "left"]
    maps = np.random.default_rng(0).random((7, 64, 64), np.float32)
    found = runtime.predict([runtime.encode(tokens)], [maps[:1]], maps[None, 1:])
    flipped = mirrored_maps(maps)
    other = runtime.predict([runtime.encode(mirrored(tokens))], [flipped[:1]], flipped[None, 1:])
    np.testing.assert_allclose(found.sum(axis=2), 1.0, atol=1e-5)
    np.testing.assert_allclose(mirrored_distributions(other), found, rtol=1e-4, atol=1e-9)
    alone = Stage1Runtime(tmp_path / "policy", mirror=False)
    assert not np.allclose(alone.predict([alone.encode(tokens)], [maps[:1]], maps[None, 1:]), found, rtol=1e-3)


def test_two_opinions_together_by_hand() -> None:
    one, other = np.array([[0.5, 0.5, 0.0]], np.float32), np.array([[0.5, 0.0, 0.5]], np.float32)
    np.testing.assert_allclose(together(one, other), [[1.0, 0.0, 0.0]])  # the one place both allow
    np.testing.assert_allclose(together(one, one[:, ::-1]), [[0.0, 1.0, 0.0]], atol=1e-7)
    apart = np.array([[1.0, 0.0]], np.float32)
    np.testing.assert_allclose(together(apart, apart[:, ::-1]), [[0.5, 0.5]])  # nothing in common: both stay


def test_weights_that_are_not_what_their_config_says_are_refused(tmp_path: Path) -> None:
    vocabulary = Vocabulary.build([["go"] * 3])
    control = ControlRun(tmp_path / "control", ControlTraining(episodes=1))
    control.export()
    folder = tmp_path / "policy"
    save_policy(folder, Stage1(len(vocabulary), SMALL), vocabulary, SMALL, tmp_path / "control", {})
    (folder / "text.onnx").write_bytes(b"something else")
    with pytest.raises(WaywordError, match=r"is not the file its config\.json describes"):
        Stage1Runtime(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(WaywordError, match="is damaged"):
        Stage1Runtime(folder)


def test_queries_weigh_words_and_never_padding() -> None:
    net = TextEncoder(10, READING).eval()
    tokens, lengths = torch.tensor([[3, 4, 5], [6, 7, 0]]), torch.tensor([3, 2])
    encoded = torch.randn(2, 3, 384)
    torch.nn.init.zeros_(net.queries.weight)
    states, summary = net(tokens, lengths, encoded)
    assert summary.shape == (2, READING.summary) == (2, 3 * READING.context)
    mean = states[1, :2].mean(dim=0)
    torch.testing.assert_close(summary[1], torch.cat([mean, mean, mean]))  # a query that prefers none: the mean again
    net.queries.weight.data[0] = 1e4 * (states[1, 0] - states[1, 1])
    first = net(tokens, lengths, encoded)[1][1, READING.context : 2 * READING.context]
    torch.testing.assert_close(first, states[1, 0])  # one that prefers a word by far: that word
    alone = net.single(tokens[1:, :2], encoded[1:, :2])[1]
    torch.testing.assert_close(alone[0], net(tokens, lengths, encoded)[1][1])


def test_weights_without_an_encoder_go_on_with_one_as_they_were(tmp_path: Path) -> None:
    words = Vocabulary.build([["go", "past", "<obj>"] * 3])
    wide = replace(READING, layers=1)
    ControlRun(tmp_path / "control", ControlTraining(episodes=1)).export()
    old, net = Stage1(len(words), SMALL).eval(), Stage1(len(words), wide).eval()
    save_policy(tmp_path / "policy", old, words, SMALL, tmp_path / "control", {})
    load_start(net, words, tmp_path / "policy")
    assert float(net.text.encoded.weight.detach().abs().max()) > 0  # not zero itself, or it could never learn
    said = torch.from_numpy(words.numbers(["past", "<obj>"]))[None], torch.tensor([2]), torch.tensor([[1]])
    masks, others = inputs(1, 1, 1)[2:]
    answer = net(*net.read(*said, torch.randn(1, 2, 384)), masks, others)
    torch.testing.assert_close(answer, old(*old.read(*said), masks, others))
    answer.sum().backward()
    assert float(net.text.lstm.weight_ih_l0.grad[:, SMALL.words :].abs().sum()) > 0  # and it can be heard from now on
    with pytest.raises(WaywordError, match="of another size"):
        load_start(Stage1(len(words), READING), words, tmp_path / "policy")  # a second layer cannot begin as nothing


@pytest.mark.parametrize("size", [SMALL, PAIR])
def test_training_goes_on_from_weights_with_other_words(tmp_path: Path, size: Size) -> None:
    before, after = Vocabulary.build([["go", "past"] * 3]), Vocabulary.build([["stop", "go"] * 3])
    ControlRun(tmp_path / "control", ControlTraining(episodes=1)).export()
    old, net = Stage1(len(before), size), Stage1(len(after), size)
    save_policy(tmp_path / "policy", old, before, size, tmp_path / "control", {})
    load_start(net, after, tmp_path / "policy")
    rows, old_rows = net.text.embedding.weight, old.text.embedding.weight
    assert torch.equal(rows[after.numbers(["go"])], old_rows[before.numbers(["go"])])
    assert torch.equal(rows[after.numbers(["stop"])], old_rows[before.numbers(["unheard"])])  # new to the weights
    assert torch.equal(net.lingunet.output.weight, old.lingunet.output.weight)
    with pytest.raises(WaywordError, match="of another size"):
        load_start(Stage1(len(after), Size()), after, tmp_path / "policy")
