"""The reader's network in torch, with the names and shapes of ``wayword.language.reader.network``.

The encoder's layers begin as MiniLM's own, read from the shipped file; what lies below them stays as it is. Only tokens
that the grammar allows compete with each other, in training as in use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from wayword.language.minilm import DATA
from wayword.language.reader.marked import MARK
from wayword.language.reader.network import BELOW, EPSILON, HEADS, WIDTH, ReaderConfig
from wayword.language.reader.program import (
    NUMBER,
    POINTS_TO_OBJECTS,
    POINTS_TO_QUANTITIES,
    VOCABULARY,
    Grammar,
    Pointer,
    ProgramToken,
)
from wayword.learning.language.reader_examples import ENTITY, QUANTITY, ReaderExample

START = len(VOCABULARY)
"""The word the decoder begins with."""
KINDS = {MARK["m"]: "m", MARK["deg"]: "deg", MARK["bare"]: "bare"}


def pretrained(layers: int, path: Path = DATA / "minilm.onnx") -> dict[str, np.ndarray]:
    """The layers of MiniLM above those that stay as they are, from the shipped file, by our names."""
    import onnx  # type: ignore[import-not-found,import-untyped]
    from onnx import numpy_helper  # type: ignore[import-not-found,import-untyped]

    raw = {each.name: numpy_helper.to_array(each) for each in onnx.load(str(path)).graph.initializer}

    def matrix(name: str) -> np.ndarray:
        rows: np.ndarray = (raw[f"{name}.int8"].astype(np.float32) * raw[f"{name}.scale"]).T
        return rows

    weights: dict[str, np.ndarray] = {}
    for layer in range(BELOW, BELOW + layers):
        ours, theirs = f"encoder.{layer - BELOW}", f"encoder.layer.{layer}"
        for part in ("qkv", "attended", "wide", "narrow"):
            weights[f"{ours}.{part}.weight"] = matrix(f"layer{layer}.{part}.weight")
            weights[f"{ours}.{part}.bias"] = raw[f"layer{layer}.{part}.bias"]
        # The file has 1 / sqrt(d) inside the query; ours divides by itself.
        weights[f"{ours}.qkv.weight"][:WIDTH] *= math.sqrt(WIDTH // HEADS)
        weights[f"{ours}.qkv.bias"] = weights[f"{ours}.qkv.bias"].copy()
        weights[f"{ours}.qkv.bias"][:WIDTH] *= math.sqrt(WIDTH // HEADS)
        for number, part in ((1, "attention.output"), (2, "output")):
            for which in ("weight", "bias"):
                weights[f"{ours}.norm{number}.{which}"] = raw[f"{theirs}.{part}.LayerNorm.{which}"]
    return weights


def _attend(query: Tensor, key: Tensor, value: Tensor, heads: int, mask: Tensor | None, dropout: float) -> Tensor:
    q, k, v = (part.reshape(*part.shape[:2], heads, -1).transpose(1, 2) for part in (query, key, value))
    mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
    return mixed.transpose(1, 2).flatten(2)


class EncoderLayer(nn.Module):
    """A BERT layer."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.qkv, self.attended = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, EPSILON), nn.LayerNorm(WIDTH, EPSILON)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(B, T, 384) to the same."""
        rate = self.dropout.p if self.training else 0.0
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        x = self.norm1(x + self.dropout(self.attended(_attend(query, key, value, HEADS, mask, rate))))
        wide = functional.gelu(self.wide(x), approximate="tanh")
        result: Tensor = self.norm2(x + self.dropout(self.narrow(wide)))
        return result


class DecoderLayer(nn.Module):
    """Self-attention, attention over the text, feed-forward; each after a norm."""

    def __init__(self, config: ReaderConfig, dropout: float) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.qkv, self.attended = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.cross_q, self.cross_kv = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.crossed = nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, config.inner), nn.Linear(config.inner, width)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width, EPSILON) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, y: Tensor, memory: Tensor, causal: Tensor, mask: Tensor) -> Tensor:
        """(B, L, D) to the same."""
        rate = self.dropout.p if self.training else 0.0
        query, key, value = self.qkv(self.norm1(y)).chunk(3, dim=-1)
        y = y + self.dropout(self.attended(_attend(query, key, value, self.heads, causal, rate)))
        key, value = self.cross_kv(memory).chunk(2, dim=-1)
        mixed = _attend(self.cross_q(self.norm2(y)), key, value, self.heads, mask, rate)
        y = y + self.dropout(self.crossed(mixed))
        wide = functional.gelu(self.wide(self.norm3(y)), approximate="tanh")
        result: Tensor = y + self.dropout(self.narrow(wide))
        return result


class ReaderNet(nn.Module):
    """Encoder, heads and decoder."""

    def __init__(self, config: ReaderConfig, dropout: float = 0.1) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.marks = nn.Embedding(config.marks, WIDTH)
        self.encoder = nn.ModuleList(EncoderLayer(dropout) for _ in range(config.layers))
        self.memory = nn.Linear(WIDTH, width)
        self.kind = nn.Linear(2 * WIDTH, config.kinds)
        self.boundary = nn.Linear(WIDTH, 1)
        self.words = nn.Embedding(config.words, width)
        self.places = nn.Embedding(config.longest, width)
        self.pointed = nn.Linear(width, width)
        self.decoder = nn.ModuleList(DecoderLayer(config, dropout) for _ in range(config.blocks))
        self.final = nn.LayerNorm(width, EPSILON)
        self.output = nn.Linear(width, config.words)
        self.point_query, self.point_key = nn.Linear(width, width), nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(self.marks.weight, std=0.02)
        nn.init.normal_(self.words.weight, std=0.1)
        nn.init.normal_(self.places.weight, std=0.1)
        base = pretrained(config.layers)
        self.load_state_dict(
            {name: torch.from_numpy(value.copy()) for name, value in base.items() if name.startswith("encoder.")},
            strict=False,
        )

    def encode(self, below: Tensor, marks: Tensor, present: Tensor) -> Tensor:
        """(B, T, 384) states of the pieces from those of MiniLM's lower layers."""
        x = self.dropout(below + self.marks(marks))
        mask = torch.where(present, 0.0, -1e9)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, mask)
        result: Tensor = x
        return result

    def heads(self, states: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of the kinds (B, 2) and of boundaries (B, T)."""
        here = present.unsqueeze(-1).float()
        mean = (states * here).sum(1) / here.sum(1)
        return self.kind(torch.cat([states[:, 0], mean], -1)), self.boundary(states)[..., 0]

    def decode(self, states: Tensor, present: Tensor, tokens: Tensor, pieces: Tensor) -> tuple[Tensor, Tensor]:
        """Scores (B, L, V) of words and (B, L, T) of pieces after each token.

        Args:
            states: of the encoder.
            present: (B, T) which pieces are there.
            tokens: (B, L) numbers of words; START first.
            pieces: (B, L) the piece a token points to, or -1 for a word.
        """
        memory = self.memory(states)
        pointed = self.pointed(memory.gather(1, pieces.clamp(min=0)[..., None].expand(-1, -1, memory.shape[-1])))
        length = tokens.shape[1]
        y = torch.where((pieces >= 0)[..., None], pointed, self.words(tokens)) + self.places.weight[:length]
        y = self.dropout(y)
        causal = torch.triu(torch.full((length, length), -1e9), diagonal=1)[None, None]
        mask = torch.where(present, 0.0, -1e9)[:, None, None, :]
        for block in self.decoder:
            y = block(y, memory, causal, mask)
        y = self.final(y)
        pointing = self.point_query(y) @ self.point_key(memory).transpose(1, 2) / math.sqrt(self.config.width)
        return self.output(y), pointing


@dataclass(frozen=True)
class ReaderBatch:
    """Examples of similar length, padded; see ``ReaderNet`` for the shapes."""

    below: Tensor
    marks: Tensor
    present: Tensor
    tokens: Tensor
    pieces: Tensor
    allowed: Tensor
    """(B, L, V + T) what may come."""
    right: Tensor
    """(B, L, V + T) what is right: one word, or every mention of the entity."""
    cuts: Tensor
    kinds: Tensor


def collate_reader(examples: Sequence[ReaderExample], below: Sequence[NDArray[np.float16]]) -> ReaderBatch:
    """Pad and mask; ``below`` are MiniLM's states of each example."""
    size, words = len(examples), len(VOCABULARY) + 1
    width = max(len(each.ids) for each in examples)
    length = max(1, max(len(each.line) for each in examples))
    states, marks = torch.zeros(size, width, WIDTH), torch.zeros(size, width, dtype=torch.long)
    present = torch.zeros(size, width, dtype=torch.bool)
    tokens = torch.full((size, length), START)
    pieces = torch.full((size, length), -1)
    allowed = torch.zeros(size, length, words + width, dtype=torch.bool)
    right = torch.zeros(size, length, words + width, dtype=torch.bool)
    cuts = torch.zeros(size, width)
    for row, each in enumerate(examples):
        count = len(each.ids)
        states[row, :count] = torch.from_numpy(below[row].astype(np.float32))
        marks[row, :count] = torch.tensor(each.marks)
        present[row, :count] = True
        cuts[row, each.cuts] = 1.0
        _targets(each, tokens[row], pieces[row], allowed[row], right[row], words)
    kinds = torch.tensor([int(each.description) for each in examples])
    return ReaderBatch(states, marks, present, tokens, pieces, allowed, right, cuts, kinds)


def _targets(each: ReaderExample, tokens: Tensor, pieces: Tensor, allowed: Tensor, right: Tensor, words: int) -> None:
    grammar = Grammar()
    mentions = list(zip(each.targets, each.owners, each.is_entity, strict=True))
    for place, number in enumerate(each.line):
        due = grammar.now or "do"
        allowed[place, [NUMBER[choice] for choice in grammar.choices()]] = True
        if due in POINTS_TO_OBJECTS:
            allowed[place, [words + piece for piece, _, entity in mentions if entity]] = True
        kinds = POINTS_TO_QUANTITIES.get(due, frozenset())
        allowed[place, [words + p for p, _, entity in mentions if not entity and KINDS[each.marks[p]] in kinds]] = True
        token: ProgramToken
        if number >= ENTITY:
            entity = number < QUANTITY
            owner = number - (ENTITY if entity else QUANTITY)
            places = [piece for piece, who, is_entity in mentions if who == owner and bool(is_entity) == entity]
            right[place, [words + piece for piece in places]] = True
            token = Pointer("entity" if entity else "quantity", owner)
            if place + 1 < len(each.line):
                pieces[place + 1] = places[0]
        else:
            right[place, number] = True
            token = VOCABULARY[number]
            if place + 1 < len(each.line):
                tokens[place + 1] = number
        grammar.push(token)


def reader_losses(net: ReaderNet, batch: ReaderBatch) -> tuple[Tensor, Tensor, Tensor]:
    """Of the steps, of the kind and of the boundaries: means over tokens, texts and pieces."""
    states = net.encode(batch.below, batch.marks, batch.present)
    kind, boundary = net.heads(states, batch.present)
    kind_loss = functional.cross_entropy(kind, batch.kinds, label_smoothing=0.02)
    inside = batch.present & (batch.kinds == 1)[:, None]
    cut_loss = torch.zeros(())
    if inside.any():
        cut_loss = functional.binary_cross_entropy_with_logits(boundary[inside], batch.cuts[inside])
    words, pointing = net.decode(states, batch.present, batch.tokens, batch.pieces)
    scores = torch.cat([words, pointing], -1).masked_fill(~batch.allowed, -1e9)
    steps = batch.right.any(-1)
    log = scores.log_softmax(-1)
    likely = log.masked_fill(~batch.right, -1e9).logsumexp(-1)
    smooth = (log.masked_fill(~batch.allowed, 0.0).sum(-1) / batch.allowed.sum(-1).clamp(min=1))[steps]
    step_loss = -(0.97 * likely[steps] + 0.03 * smooth).sum() / steps.sum().clamp(min=1)
    return step_loss, kind_loss, cut_loss
