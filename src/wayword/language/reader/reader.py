"""The reader: from a text of any length to what is to be flown.

    reader = Reader.load()
    parsed = LanguageModel.load().parse("go past the planter, then stop behind the globe", database)
    reading = reader.read(parsed, database)
    reading.steps         # pass "1", goto "2" behind
    reading.things["2"]   # the globe, with P(o | r)

A command becomes steps, a description of a way becomes legs, anything else a refusal that says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from wayword.episodes.commands import Select, Step
from wayword.language.minilm import MiniLM
from wayword.language.phrases_db import Database, PhraseList
from wayword.language.pipeline import Parsed
from wayword.language.reader.beyond import beyond_steps, choice_among_some
from wayword.language.reader.corrections import without_taken_back
from wayword.language.reader.groups import with_groups, without_taken_out
from wayword.language.reader.kept_clear import with_kept_clear
from wayword.language.reader.likely_names import likely_name
from wayword.language.reader.marked import Marked, mark_text
from wayword.language.reader.mentions import COLOURS, MARKS, Entity, Mentions, find_mentions, words_said
from wayword.language.reader.network import BELOW, Array, Encoded, ReaderNetwork, load_network
from wayword.language.reader.program import (
    CHOICES,
    NUMBER,
    POINTS_TO_OBJECTS,
    POINTS_TO_QUANTITIES,
    VOCABULARY,
    Grammar,
    Pointer,
    ProgramToken,
    Quantity,
    read_program,
)
from wayword.language.reader.reach import out_of_reach
from wayword.language.reader.reading import Reading, Thing
from wayword.language.reader.refusals import beyond_me, means_by_place, not_known, nothing_to_do, one_height, what_i_do
from wayword.language.reader.terse import directions_alone, is_height, is_no_move, is_plea, is_question
from wayword.language.reader.turn_counts import with_counts
from wayword.language.reader.unfinished import is_unfinished

WEIGHTS = Path(__file__).parents[1] / "weights" / "reader"
START = len(VOCABULARY)
CERTAIN = 0.5
"""Probability from which on a leg begins at a piece."""
VIEWS = 3
"""How many sets of placeholders a text is read with."""
SHORTEST_LEG = 12
"""Characters."""


class Reader:
    """Reads parsed texts."""

    def __init__(self, network: ReaderNetwork, encoder: MiniLM) -> None:
        self._network = network
        self._encoder = encoder

    @classmethod
    def load(cls, weights: Path = WEIGHTS, encoder: MiniLM | None = None) -> Reader:
        """The shipped reader, or the one saved in a folder."""
        return cls(load_network(weights), encoder or MiniLM())

    def read(self, parsed: Parsed, database: Database) -> Reading:
        """What ``parsed`` asks for; ``database`` is the one it was parsed against."""
        names = [entry.name for entry in database]
        mentions = find_mentions(parsed, database)
        views = self._views(mentions)
        marked = views[0]
        names_nothing = all(reference.best is None for reference in parsed.references)
        if names_nothing and (answer := _answer(parsed, names)) is not None:
            return answer
        if len(marked.ids) <= 2:
            return Reading("refusal", refusal=nothing_to_do(parsed.original, names))
        below = self._encoder.hidden([view.ids.tolist() for view in views], BELOW)
        encoded = [self._network.encode(states, marked.marks) for states in below]
        described, commanded = (np.mean([view.kind[kind] for view in encoded]) for kind in (1, 0))
        if described > commanded:
            boundary = np.mean([view.boundary for view in encoded], axis=0)
            return Reading("description", legs=_legs(boundary, marked, parsed.text))
        sides = {number: measure.side for number, measure in enumerate(mentions.measures) if measure.side}
        line = self._decode(encoded, marked, hours=[Pointer("quantity", number) for number in sides])
        steps, rules = read_program(line, [measure.value for measure in mentions.measures], sides)
        steps = with_kept_clear(with_counts(without_taken_back(steps, mentions), parsed.text), mentions)
        if not steps:
            if (beyond := beyond_steps(parsed.text, steps, mentions.mentions)) is not None:
                return Reading("refusal", refusal=beyond_me(beyond, names))
            if (place := out_of_reach(parsed.text, mentions.mentions)) is not None:
                return Reading("refusal", refusal=one_height(names, place))
            strange = self._stranger(encoded, marked, mentions)
            if strange is not None:
                return _unknown([strange], database)
            if is_question(parsed.original):
                return Reading("refusal", refusal=what_i_do(names), is_answer=True)
            return Reading("refusal", refusal=nothing_to_do(parsed.original, names))
        steps = without_taken_out(steps, mentions)
        if not steps:
            return Reading("refusal", refusal=not_known((), names))
        beyond = beyond_steps(parsed.text, steps, mentions.mentions)
        if beyond is not None:
            return Reading("refusal", refusal=beyond_me(beyond, names))
        steps, entities = with_groups(steps, mentions, database)
        mentions = replace(mentions, entities=entities)
        named = {key for step in steps for key in step.mentioned}
        place = out_of_reach(parsed.text, [each for each in mentions.mentions if f"e{each.entity}" in named])
        if place is not None:
            return Reading("refusal", refusal=one_height(names, place))
        is_gap_by_place = any(step.do == "between" and not rules.keys().isdisjoint(step.objects) for step in steps)
        if is_gap_by_place and not means_by_place(parsed.text):
            return Reading("refusal", refusal=not_known((), names))
        if rules and (choice := choice_among_some(parsed.text, _kinds(database))) is not None:
            return Reading("refusal", refusal=beyond_me(choice, names))
        reading = _reading(steps, rules, mentions, database)
        is_about_things = any(thing.name is not None for thing in reading.things.values())
        if reading.kind == "steps" and not is_about_things and is_no_move(parsed.text):
            return Reading("refusal", refusal=nothing_to_do(parsed.original, names))
        return reading

    def _views(self, mentions: Mentions) -> list[Marked]:
        """The text with its objects under several sets of placeholders; what they mean is the mean over these."""
        words = self._network.config.placeholders.split()
        turns = VIEWS if any(each.mark == "exact" for each in mentions.mentions) else 1
        order = [words[k:] + words[:k] for k in range(0, len(words), max(1, len(words) // turns))]
        views = [mark_text(mentions, self._encoder, turned) for turned in order[:turns]]
        # Letters that touch a name ("globes") become other pieces with another word: such a view cannot be added up.
        return [view for view in views if np.array_equal(view.marks, views[0].marks)]

    def _stranger(self, encoded: Sequence[Encoded], marked: Marked, mentions: Mentions) -> Entity | None:
        """The unknown thing a refused text would be about, if it reads like a command about it: "fly to the moon"."""
        for view in encoded:
            view.forget()
        line = self._decode(encoded, marked, at_least_one=True)
        about = [token.number for token in line if isinstance(token, Pointer) and token.kind == "entity"]
        unknown = [number for number in about if number >= 0 and mentions.entities[number].mark == "unknown"]
        is_goal = line[0] in ("goto", "circle", "search", "pass", "face") and len(about) == len(unknown) == 1
        return mentions.entities[unknown[0]] if is_goal else None

    def _decode(
        self, encoded: Sequence[Encoded], marked: Marked, hours: Sequence[ProgramToken] = (), at_least_one: bool = False
    ) -> list[ProgramToken]:
        """The best token at every place by all views, of those that may come; ``at_least_one`` step if asked.

        ``hours`` are quantities that nothing but a turn can have: "your two o'clock".
        """
        grammar, line = Grammar(), list[ProgramToken]()
        network = self._network
        vectors = [network.word(START)] * len(encoded)
        while grammar.now is not None:
            scores = [network.step(view, vector, len(line)) for view, vector in zip(encoded, vectors, strict=True)]
            words, pieces = (np.mean([each[part] for each in scores], axis=0) for part in (0, 1))
            if at_least_one and not line:
                words[NUMBER["end"]] = -np.inf
            if grammar.now == "degrees" and set(hours).difference(line):
                words[[NUMBER[choice] for choice in CHOICES["degrees"]]] = -np.inf
            token, piece = _best(grammar, words, pieces, marked, line)
            is_word = isinstance(token, str)
            vectors = [network.word(NUMBER[token]) if is_word else network.piece(view, piece) for view in encoded]  # type: ignore[index]
            grammar.push(token)
            line.append(token)
        return line


def _kinds(database: Database) -> frozenset[str]:
    """Colours, and the words that its objects are called by."""
    return COLOURS.union(*words_said(PhraseList.of(database)).values())


def _answer(parsed: Parsed, names: list[str]) -> Reading | None:
    """What a rule makes of a text that names nothing known; None if the network is to read it."""
    steps = directions_alone(parsed.text)
    if steps:
        return Reading("steps", steps)
    if is_height(parsed.text):
        return Reading("refusal", refusal=one_height(names), is_answer=True)
    unfinished = is_unfinished(parsed.text)
    if is_plea(parsed.text) or (unfinished and is_question(parsed.original)):
        return Reading("refusal", refusal=what_i_do(names), is_answer=True)
    if unfinished:
        return Reading("refusal", refusal=nothing_to_do(parsed.original, names))
    return None


def _best(
    grammar: Grammar, words: Array, pieces: Array, marked: Marked, line: list[ProgramToken]
) -> tuple[ProgramToken, int]:
    """The best token that may come now, and the piece it points to; mentions of one entity count together.

    A quantity is for one step as long as there are others that no step has: in "ahead one metre, left, ahead two
    metres, left, ahead three" the network, asked alone, points to the first every time.
    """
    due = grammar.now or "do"
    choices = grammar.choices()
    scores: dict[ProgramToken, float] = {choice: float(words[NUMBER[choice]]) for choice in choices}
    places: dict[ProgramToken, int] = {}
    woven = line[len(line) - line[::-1].index("weave") :] if due == "more" else []
    kinds = POINTS_TO_QUANTITIES.get(due, frozenset())
    for piece, owner, is_entity in zip(marked.targets, marked.owners, marked.is_entity, strict=True):
        if (is_entity and due not in POINTS_TO_OBJECTS) or (not is_entity and MARKS[marked.marks[piece]] not in kinds):
            continue
        token = Pointer("entity" if is_entity else "quantity", int(owner))
        if (due == "more" and (grammar.full or token in woven)) or (due == "object" and line[-1:] == [token]):
            continue  # nothing stands between a thing and itself
        scores[token] = float(np.logaddexp(scores.get(token, -np.inf), pieces[piece]))
        places.setdefault(token, int(piece))
    if not scores:  # a thing is due, and the text names none
        return _fallback(due), 0
    best = max(scores, key=lambda token: scores[token])
    if kinds and isinstance(best, Pointer) and best in line and (unused := _unused(kinds, marked, line)):
        best = max(unused, key=lambda token: scores[token])
    return best, places.get(best, 0)


def _unused(kinds: frozenset[Quantity], marked: Marked, line: list[ProgramToken]) -> frozenset[ProgramToken]:
    """Quantities of these kinds that no step has yet."""
    return frozenset(
        Pointer("quantity", int(owner))
        for piece, owner, is_entity in zip(marked.targets, marked.owners, marked.is_entity, strict=True)
        if not is_entity and MARKS[marked.marks[piece]] in kinds
    ).difference(line)


def _fallback(due: str) -> ProgramToken:
    return "rule:nearest" if due in ("object", "more") else Pointer("entity", -1)


def _legs(boundary: Array, marked: Marked, text: str) -> tuple[tuple[int, int], ...]:
    """Spans of the legs: cut where the network is certain that one begins."""
    certain = 1 / (1 + np.exp(-boundary[1:-1])) > CERTAIN
    cuts = [0]
    for start in marked.starts[1:-1][certain]:
        if start - cuts[-1] >= SHORTEST_LEG and len(text) - start >= SHORTEST_LEG:
            cuts.append(int(start))
    spans = []
    for begin, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        leg = text[begin:end]
        spans.append((begin + len(leg) - len(leg.lstrip()), begin + len(leg.rstrip())))
    return tuple(spans)


def _unknown(entities: Sequence[Entity], database: Database) -> Reading:
    """A refusal that names what is not known, and asks about what may be meant."""
    phrases = tuple(entity.phrase for entity in entities)
    guesses = [entity.guess or likely_name(entity.phrase, database) for entity in entities]
    known = [entry.name for entry in database]
    line = not_known(phrases, known, [guess for guess in guesses if guess is not None])
    return Reading("refusal", refusal=line, unknown=phrases)


def _reading(steps: tuple[Step, ...], rules: dict[str, Select], mentions: Mentions, database: Database) -> Reading:
    """Steps about numbered things, or a refusal that names what is not known."""
    used = [key for step in steps for key in step.mentioned]
    used += [rule.of for rule in rules.values() if rule.of is not None]
    entities = {key: int(key[1:]) for key in dict.fromkeys(used) if key[0] == "e"}
    strangers = [number for number in entities.values() if number < 0 or not mentions.entities[number].known]
    if strangers:
        return _unknown([mentions.entities[number] for number in strangers if number >= 0], database)
    keys = {key: str(number) for number, key in enumerate(dict.fromkeys(used), 1)}
    things: dict[str, Thing] = {}
    for key, name in keys.items():
        if key in entities:
            entity = mentions.entities[entities[key]]
            things[name] = Thing(entity.phrase, dict(entity.probabilities))
        else:
            rule = rules[key]
            of = None if rule.of is None else keys[rule.of]
            words = rule.rule.replace("-", " ") + (f" (number {rule.rank})" if rule.rank > 1 else "")
            things[name] = Thing(words, {}, replace(rule, of=of))
    return Reading("steps", tuple(step.renamed(lambda key: keys[key]) for step in steps), things)
