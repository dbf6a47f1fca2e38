"""Writing instructions: for single manoeuvres, for pairs of them, and for whole generated episodes."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wayword.episodes.format import Episode, Segment
from wayword.episodes.instructions.expand import Claim, Expansion, Memory, Mention, Token
from wayword.episodes.instructions.facts import Facts, segment_facts
from wayword.episodes.instructions.plan import make_plan
from wayword.episodes.instructions.typing_habits import type_out
from wayword.episodes.instructions.voices import VOICES, Voice, find_voice
from wayword.episodes.manoeuvres import Manoeuvre, measure_manoeuvre
from wayword.episodes.paths import PathConfig, generate_episodes
from wayword.errors import WaywordError

_DRAFTS = 6
_TELLING_VERBS = ("head", "swing", "hook", "leave", "come", "stop", "keeping", "until", "curve", "make")


@dataclass(frozen=True)
class Reference:
    """Words that refer to an object: ``text[start:end]``, of which ``text[start:base_end]`` is the noun chunk.

    ``form`` is "phrase" ("the tower with the blades"; its chunk is "the tower"), "pronoun" or "part".
    """

    name: str
    start: int
    end: int
    base_end: int
    form: str


@dataclass(frozen=True)
class WrittenInstruction:
    """An instruction with what it refers to and what it claims."""

    text: str
    references: tuple[Reference, ...]
    claims: tuple[Claim, ...]
    voice: str


@dataclass(frozen=True)
class _Draft:
    tokens: list[Token]
    mentions: list[Mention]
    claims: list[Claim]
    memory: Memory

    @property
    def words(self) -> int:
        return sum(t.is_word for t in self.tokens)

    @property
    def clumsiness(self) -> int:
        """Points for too many "and" and for the same verb twice."""
        words = [t.text.lower() for t in self.tokens if t.mention < 0]
        return 3 * max(words.count("and") - 2, 0) + sum(words.count(verb) > 1 for verb in _TELLING_VERBS)


def write_instruction(
    manoeuvres: Manoeuvre | Sequence[Manoeuvre],
    episode: Episode,
    rng: np.random.Generator,
    voice: str | None = None,
    segment: int | None = None,
) -> WrittenInstruction:
    """One instruction for one manoeuvre, or for two consecutive ones, of an episode.

    ``segment`` (counted from 0) is the one the first manoeuvre belongs to; it is looked for if not given.
    """
    parts = (manoeuvres,) if isinstance(manoeuvres, Manoeuvre) else tuple(manoeuvres)
    if len(parts) not in (1, 2):
        raise WaywordError(f"an instruction is about 1 or 2 segments, not {len(parts)}")
    first = _find(parts[0], episode) if segment is None else segment
    speaker = draw_voice(rng) if voice is None else find_voice(voice)
    memory = Memory(tuple(o.name for o in episode.objects))
    facts = [segment_facts(episode, first + k, m) for k, m in enumerate(parts)]
    draft = _draft(facts[0], (), speaker, rng, memory)
    if len(parts) == 2:
        draft = _join(draft, facts, speaker, rng)
    return _finish(draft, speaker, rng)


def generate_written(
    split: str,
    count: int,
    seed: int,
    names: Collection[str],
    first: int = 0,
    voice: str | None = None,
    config: PathConfig | None = None,
) -> Iterator[tuple[Episode, list[WrittenInstruction]]]:
    """Episodes ``first`` to ``first + count - 1`` of the endless sequence (split, seed, names, config), in words.

    The paths are those of ``generate_episodes``. Each episode has one voice and depends on its index only.
    """
    episodes = generate_episodes(split, count, seed, names, config, first)
    for index, (episode, manoeuvres) in enumerate(episodes, start=first):
        rng = np.random.default_rng([seed, zlib.crc32(split.encode()), index, 1])
        yield write_episode(episode, manoeuvres, rng, voice)


def write_episode(
    episode: Episode, manoeuvres: Sequence[Manoeuvre], rng: np.random.Generator, voice: str | None = None
) -> tuple[Episode, list[WrittenInstruction]]:
    """The episode with its segments told in one voice, and what was written for each."""
    speaker = draw_voice(rng) if voice is None else find_voice(voice)
    memory = Memory(tuple(o.name for o in episode.objects))
    written: list[WrittenInstruction] = []
    earlier: list[Facts] = []
    for index, manoeuvre in enumerate(manoeuvres):
        facts = segment_facts(episode, index, manoeuvre)
        draft = _draft(facts, earlier, speaker, rng, memory)
        memory = draft.memory
        memory.next_text()
        earlier.append(facts)
        written.append(_finish(draft, speaker, rng))
    pairs = zip(episode.segments, written, strict=True)
    segments = tuple(Segment(segment.end, instruction.text) for segment, instruction in pairs)
    return replace(episode, segments=segments, annotator=f"grammar/{speaker.name}"), written


def draw_voice(rng: np.random.Generator) -> Voice:
    """One of the voices, all equally likely."""
    return VOICES[int(rng.integers(len(VOICES)))]


def _find(manoeuvre: Manoeuvre, episode: Episode) -> int:
    for index in range(len(episode.segments)):
        if measure_manoeuvre(episode, index, manoeuvre.kind, manoeuvre.objects) == manoeuvre:
            return index
    raise WaywordError(f"no segment of '{episode.id}' does this manoeuvre; give the segment")


def _draft(facts: Facts, earlier: Sequence[Facts], voice: Voice, rng: np.random.Generator, memory: Memory) -> _Draft:
    """Write until the length suits the voice; the nearest to it if none does."""
    low, high = voice.words
    best: _Draft | None = None
    miss = 0
    for _ in range(_DRAFTS):
        plan = make_plan(facts, earlier, voice, rng)
        draft_memory = memory.copy()
        expansion = Expansion(voice, rng, draft_memory, plan.values, plan.amounts, plan.flags, facts.segment)
        tokens = _tidy(expansion.expand("sentence"))
        draft = _Draft(tokens, expansion.mentions, expansion.claims, draft_memory)
        off = max(low - draft.words, draft.words - high, 0) + draft.clumsiness
        if best is None or off < miss:
            best, miss = draft, off
        if off == 0:
            break
    assert best is not None
    return best


def _join(first: _Draft, facts: Sequence[Facts], voice: Voice, rng: np.random.Generator) -> _Draft:
    """Two segments in one text, run together or as two sentences."""
    second = _draft(facts[1], facts[:1], voice, rng, first.memory)
    joints = [[Token(".")]] if voice.stop > 0.5 else [[], [Token("then")]]
    if not (second.tokens and second.tokens[0].text in ("then", "now", "next", "and")):
        joints += [[Token(","), Token("then")], [Token("and"), Token("then")]]
    joint = joints[0] if rng.random() < 0.5 else joints[int(rng.integers(len(joints)))]
    shift = len(first.mentions)
    moved = [replace(t, mention=t.mention + shift) if t.mention >= 0 else t for t in second.tokens]
    tokens = _tidy([*first.tokens, *joint, *moved])
    return _Draft(tokens, first.mentions + second.mentions, first.claims + second.claims, second.memory)


def _finish(draft: _Draft, voice: Voice, rng: np.random.Generator) -> WrittenInstruction:
    tokens = _tidy(type_out(draft.tokens, voice, rng))
    if rng.random() < voice.stop and tokens[-1].text not in ".!?":
        tokens.append(Token("."))
    upper = voice.case == "sentence" or (voice.case == "either" and rng.random() < 0.6)
    text, spans = "", list[tuple[int, int]]()
    begin = upper
    for token in tokens:
        word = token.text if upper else token.text.lower()
        if begin and token.is_word:
            word = word[0].upper() + word[1:]
        begin = upper and token.text in (".", "!", "?")
        text += (" " if text and token.is_word else "") + word
        spans.append((len(text) - len(word), len(text)))
    references = []
    for index, mention in enumerate(draft.mentions):
        own = [(span, token.base) for span, token in zip(spans, tokens, strict=True) if token.mention == index]
        if own:
            ends = [span[1] for span, base in own if base]
            reference = Reference(mention.name, own[0][0][0], own[-1][0][1], ends[-1], mention.form)
            references.append(reference)
    references.sort(key=lambda r: r.start)
    return WrittenInstruction(text, tuple(references), tuple(draft.claims), voice.name)


def _tidy(tokens: Sequence[Token]) -> list[Token]:
    """Drop punctuation that came to stand at the start, at the end or beside a stronger mark."""
    result: list[Token] = []
    for token in tokens:
        if not token.is_word:
            if not result:
                continue
            if not result[-1].is_word:
                if result[-1].text == ",":
                    result[-1] = token
                continue
        result.append(token)
    while result and result[-1].text in ",;:":
        result.pop()
    return result
