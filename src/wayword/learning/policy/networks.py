"""Stage 1: from masks and an anonymised instruction to visitation distributions (Section 5, Appendix B).

    u_hat    (N, L)           token numbers of the anonymised instruction, padded with 0
    e        (N, L, 384)      what MiniLM makes of every word (``wayword.policy.word_states``), if it is asked
    h_i      (N, L, H)        states of the bi-directional LSTM
    psi(r)   (N, R, D)        context embedding: the state at each reference's placeholder
    h_hat    (N, H + Q H)     mean state: the object-independent instruction representation; Q means by learned queries
    S        (N, R, 64, 64)   accumulated masks of the references, on the prediction grid
    C        (N, C, G, G)     object context grounding map; G is 64, or 32 in the fast network
    F_k, G_k, H_k             LingUNet's feature maps: down, filtered by text, up
    d^p, d^g (N, 2, 4097)     logits over the cells of the prediction grid and "not yet observed"

``Size.paper()`` has the layers of the released LingUNet. The default works on cells of twice the width inside
and predicts four sub-cells each (a pixel shuffle), which takes a thirtieth of the multiplications; it also
sees where each cell lies relative to the start, and keeps a text-conditioned skip at full resolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from wayword.language.minilm import WIDTH
from wayword.learning.policy.sizes import Size
from wayword.mapping.context_map import OTHER_CHANNELS, object_context_map
from wayword.mapping.grid import PREDICTION_CELLS


class TextEncoder(nn.Module):
    """Bi-directional LSTM over the anonymised instruction."""

    def __init__(self, vocabulary: int, size: Size) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size.words, padding_idx=0)
        self.encoded = nn.Linear(WIDTH, size.encoded) if size.encoded else None
        inside = size.dropout if size.layers > 1 else 0.0
        self.lstm = nn.LSTM(
            size.words + size.encoded, size.hidden, size.layers, batch_first=True, bidirectional=True, dropout=inside
        )  # fmt: skip
        self.queries = nn.Linear(size.member_context, size.queries, bias=False) if size.queries else None
        self.dropout = nn.Dropout(size.dropout)

    def forward(self, tokens: Tensor, lengths: Tensor, encoded: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """States (N, L, H) and h_hat of each sentence."""
        vectors = self.dropout(self._vectors(tokens, encoded))
        packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=tokens.shape[1])
        mean = states.sum(dim=1) / lengths[:, None]
        if self.queries is None:
            return states, mean
        padding = torch.arange(tokens.shape[1], device=tokens.device) >= lengths[:, None]
        scores = self.queries(states).masked_fill(padding[..., None], -torch.inf)
        return states, torch.cat([mean, _weighed(states, scores)], dim=1)

    def _vectors(self, tokens: Tensor, encoded: Tensor | None) -> Tensor:
        own: Tensor = self.embedding(tokens)
        if self.encoded is None or encoded is None:
            return own
        return torch.cat([own, functional.gelu(self.encoded(self.dropout(encoded)))], dim=2)

    def single(self, tokens: Tensor, encoded: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The same for one sentence (1, L) without padding, in a form that can be exported."""
        states, _ = self.lstm(self._vectors(tokens, encoded))
        mean = states.mean(dim=1)
        return states, mean if self.queries is None else torch.cat([mean, _weighed(states, self.queries(states))], 1)


def _weighed(states: Tensor, scores: Tensor) -> Tensor:
    """(N, Q H): states (N, L, H) averaged by the softmax over words of scores (N, L, Q), one mean behind the other."""
    return (torch.softmax(scores, dim=1).transpose(1, 2) @ states).flatten(1)


def at_placeholders(states: Tensor, places: Tensor) -> Tensor:
    """psi(r): states (N, L, H) at ``places`` (N, R); places of -1 give zeros."""
    vectors = torch.gather(states, 1, places.clamp(min=0)[..., None].expand(-1, -1, states.shape[2]))
    return vectors * (places >= 0)[..., None]


class LingUNet(nn.Module):
    """Text-conditioned encoder and decoder with a head for the unobserved."""

    places: Tensor
    first_kernel: nn.Linear

    def __init__(self, size: Size, map_channels: int | None = None) -> None:
        """``map_channels``: of the map it is given, by default those of the object context grounding map."""
        super().__init__()
        self.size = size
        c, b, context = size.channels, size.filtered, size.member_summary
        inputs = (map_channels or size.member_context + OTHER_CHANNELS) + (2 if size.positions else 0)
        self.down = nn.ModuleList()
        self.kernels = nn.ModuleList()
        self.up = nn.ModuleList()
        if size.skip:
            self.first: nn.Module = nn.Sequential(nn.Conv2d(inputs, c, 1), nn.LeakyReLU(), _norm(c, size))
            self.first_kernel = nn.Linear(context, c * b)
            inputs = c
        for level in range(size.levels):
            norm = _norm(c, size) if level < size.levels - 1 else nn.Identity()
            self.down.append(
                nn.Sequential(
                    nn.Conv2d(inputs, inputs if not size.skip else c, 3, stride=2, padding=1),
                    nn.LeakyReLU(),
                    nn.Conv2d(inputs if not size.skip else c, c, 3, padding=1),
                    nn.LeakyReLU(),
                    norm,
                )
            )
            inputs = c
            self.kernels.append(nn.Linear(context, c * (b if level < size.levels - 1 else c)))
        for level in reversed(range(size.levels)):
            wide = c if level == size.levels - 1 else c + b
            out = size.last if level <= 1 else c
            if level == 0:
                break
            self.up.append(_Up(wide, out, size, norm=level < size.levels - 1))
        before = size.last + b
        self.unobserved = nn.Sequential(
            nn.Conv2d(before, 16, 3, stride=2, padding=1), nn.LeakyReLU(), nn.Conv2d(16, 2, 3, stride=2, padding=1)
        )
        shuffle = PREDICTION_CELLS // size.grid
        self.last = nn.Sequential(
            nn.Conv2d(before, size.last, 3, padding=1), nn.LeakyReLU(), nn.Upsample(scale_factor=2, mode="nearest")
        )
        self.output = nn.Conv2d(size.last + (b if size.skip else 0), 2 * shuffle * shuffle, 3, padding=1)
        self.shuffle = nn.PixelShuffle(shuffle) if shuffle > 1 else nn.Identity()
        if size.positions:
            axis = torch.linspace(-1, 1, size.grid)
            v, u = torch.meshgrid(axis, axis, indexing="ij")
            self.register_buffer("places", torch.stack([u, v])[None], persistent=False)

    def forward(self, context_map: Tensor, mean_state: Tensor) -> Tensor:
        """Logits (N, 2, 4097)."""
        size = self.size
        if size.positions:
            context_map = torch.cat([context_map, self.places.expand(context_map.shape[0], -1, -1, -1)], dim=1)
        # Of unit length each: the mean of all words weighs what it does without queries.
        parts = mean_state.chunk(1 + size.queries, dim=1)
        text = torch.cat([functional.normalize(part, dim=1) for part in parts], dim=1)
        x = self.first(context_map) if size.skip else context_map
        top = _filter(x, self.first_kernel(text)) if size.skip else None
        filtered = []
        for down, kernel in zip(self.down, self.kernels, strict=True):
            x = down(x)
            filtered.append(_filter(x, kernel(text)))
        h = filtered[-1]
        for up, skip in zip(self.up, reversed(filtered[:-1]), strict=True):
            h = torch.cat([up(h), skip], dim=1)
        unobserved = self.unobserved(h).mean(dim=(2, 3))
        h = self.last(h)
        if top is not None:
            h = torch.cat([h, top], dim=1)
        cells = self.shuffle(self.output(h))
        return torch.cat([cells.flatten(2), unobserved[..., None]], dim=2)


class _Up(nn.Module):
    """H_k: convolution, enlargement, convolution."""

    def __init__(self, inputs: int, outputs: int, size: Size, norm: bool) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1),
            nn.LeakyReLU(),
            nn.Upsample(scale_factor=2, mode="nearest"),
            nn.Conv2d(outputs, outputs, 3, padding=1),
            _norm(outputs, size) if norm else nn.Identity(),
        )

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.layers(x)
        return result


class _Member(nn.Module):
    """One more text encoder with its LingUNet."""

    def __init__(self, vocabulary: int, size: Size) -> None:
        super().__init__()
        self.text = TextEncoder(vocabulary, size)
        self.lingunet = LingUNet(size)


class Stage1(nn.Module):
    """Text encoder, object context grounding map and LingUNet; or a committee of several such pairs.

    Members of a committee learn side by side from the same samples, each from its own loss, and answer together: the
    normalised geometric mean of their distributions. Their psi(r) and h_hat stand one behind the other, D wide in all.
    """

    def __init__(self, vocabulary: int, size: Size) -> None:
        super().__init__()
        self.size = size
        self.text = TextEncoder(vocabulary, size)
        self.lingunet = LingUNet(size)
        self.more = nn.ModuleList(_Member(vocabulary, size) for _ in range(size.members - 1))
        self.dropout = nn.Dropout(size.dropout)

    @property
    def _texts(self) -> list[TextEncoder]:
        return [self.text, *(cast(_Member, member).text for member in self.more)]

    @property
    def _lingunets(self) -> list[LingUNet]:
        return [self.lingunet, *(cast(_Member, member).lingunet for member in self.more)]

    def read(
        self, tokens: Tensor, lengths: Tensor, places: Tensor, encoded: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """psi(r) (N, R, D) and h_hat (N, D)."""
        parts = [text(tokens, lengths, encoded) for text in self._texts]
        states, mean = torch.cat([part[0] for part in parts], dim=2), torch.cat([part[1] for part in parts], dim=1)
        return at_placeholders(self.dropout(states), places), self.dropout(mean)

    def single(self, tokens: Tensor, encoded: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """States (1, L, D) and h_hat (1, D) of one sentence (1, L), in a form that can be exported."""
        parts = [text.single(tokens, encoded) for text in self._texts]
        return torch.cat([part[0] for part in parts], dim=2), torch.cat([part[1] for part in parts], dim=1)

    def answers(self, psi: Tensor, mean_state: Tensor, references: Tensor, others: Tensor) -> list[Tensor]:
        """Logits (N, 2, 4097) of every member.

        ``others`` (N, 6, 64, 64): all objects, observability, four boundaries.
        """
        shrink = PREDICTION_CELLS // self.size.grid
        if shrink > 1:
            references, others = functional.avg_pool2d(references, shrink), functional.avg_pool2d(others, shrink)
        members = self._lingunets
        psis, means = psi.chunk(len(members), dim=2), mean_state.chunk(len(members), dim=1)
        return [
            lingunet(object_context_map(own_psi, references, others), own_mean)
            for lingunet, own_psi, own_mean in zip(members, psis, means, strict=True)
        ]

    def forward(self, psi: Tensor, mean_state: Tensor, references: Tensor, others: Tensor) -> Tensor:
        """Logits (N, 2, 4097) of all members together, from context embeddings and masks on the prediction grid."""
        return joint_logits(self.answers(psi, mean_state, references, others))


def joint_logits(answers: Sequence[Tensor]) -> Tensor:
    """Logits of the normalised geometric mean of the members' distributions."""
    if len(answers) == 1:
        return answers[0]
    return torch.stack([functional.log_softmax(logits, dim=2) for logits in answers]).mean(dim=0)


def visitation_loss(logits: Tensor, gold: Tensor) -> tuple[Tensor, Tensor]:
    """KL(gold || predicted) of d^p and d^g, each (N,)."""
    log_p = functional.log_softmax(logits, dim=2)
    entropy = torch.special.entr(gold).sum(dim=2)
    divergence = -(gold * log_p).sum(dim=2) - entropy
    return divergence[:, 0], divergence[:, 1]


def _filter(x: Tensor, kernel: Tensor) -> Tensor:
    """G_k: 1 x 1 convolution of each map with its own kernel, of unit length as a whole (as released)."""
    n, c, height, width = x.shape
    weights = functional.normalize(kernel, dim=1).reshape(n, -1, c) * c**0.5
    result: Tensor = (weights @ x.reshape(n, c, height * width)).reshape(n, -1, height, width)
    return result


def _norm(channels: int, size: Size) -> nn.Module:
    # Instance normalisation (as released) forgets how strong a mask is, and how much of the map it covers.
    return nn.GroupNorm(4, channels) if size.positions else nn.InstanceNorm2d(channels)
