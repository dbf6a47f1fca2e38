"""Commands by rule, beside those that were written: many surface forms for each kind of step.

The forms (``reader_forms``) of a kind differ in verbs and in order, since what a text means depends on few of its
words; what a form leaves open (a side, a number of turns, a length) is drawn, said in one of several ways, and set in
the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wayword.episodes.commands import Command, Select, Step, Until
from wayword.learning.language.reader_augment import rename
from wayword.learning.language.reader_forms import Rng, angle, forms, length, pick_form, slots, to_the_right

_TURNS = (1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 0.5, 0.5, 0.25, 0.75, 1.5)


class Speaker:
    """Says commands."""

    def __init__(self) -> None:
        self.forms = forms()
        self.extras: Sequence[tuple[str, str]] = [(phrase, mark) for phrase, mark in self.forms["extras"]]
        self.about = [(texts, Step.from_json(step)) for texts, step in self.forms["about_selected"]]

    def say(self, rng: Rng) -> Command:
        """A command of one to four steps."""
        parts: list[Command] = []
        for number in range(int(rng.choice([1, 1, 1, 2, 2, 3, 4]))):
            part = self.clause(rng)
            names = {key: f"{key}{number}" for key in (*slots(part.text), *part.select)}
            parts.append(rename(part, names))
            if any(step.do == "stay" for step in part.steps) and number == 0:
                break
        text, steps, select = parts[0].text, parts[0].steps, dict(parts[0].select)
        for part in parts[1:]:
            follow = pick_form(self.forms["next"], rng)
            text += follow + part.text
            steps += part.steps
            select |= part.select
        if len(parts) > 1 and rng.random() < 0.25:
            text, steps = self._pronoun(text, steps, rng)
        return Command(text[:1].upper() + text[1:] if rng.random() < 0.5 else text, steps, "grammar", select)

    def run(self, rng: Rng) -> Command:
        """Three to nine moves in a row, as a list has them; sometimes with a thing at its end."""
        parts = [self._move(rng) if rng.random() < 0.5 else self._turn(rng) for _ in range(int(rng.integers(3, 10)))]
        if rng.random() < 0.3:
            parts[-1] = self.clause(rng)
        follow = pick_form(self.forms["run"], rng)
        texts = [part.text.strip().rstrip(".") for part in parts]
        if rng.random() < 0.1:
            texts, follow = [f"{number}. {text}" for number, text in enumerate(texts, 1)], "\n"
        text = follow.join(texts)
        return Command(text, tuple(step for part in parts for step in part.steps), "grammar", parts[-1].select)

    def _pronoun(self, text: str, steps: tuple[Step, ...], rng: Rng) -> tuple[str, tuple[Step, ...]]:
        """One more clause about the object that was named last."""
        last = slots(text)
        if not last or steps[-1].object != last[-1]:
            return text, steps
        it = last[-1]
        more, step = (
            (" and circle it", Step("circle", it)),
            (", then look at it", Step("face", it)),
            (", and go around it twice", Step("circle", it, turns=2.0)),
            (" and stop behind it", Step("goto", it, stop="behind")),
            (", orbit it once", Step("circle", it)),
            (" and wait left of it", Step("goto", it, stop="left")),
            (", stop right of it", Step("goto", it, stop="right")),
            (", then pass it", Step("pass", it)),
        )[int(rng.integers(8))]
        return text + more, (*steps, step)

    def clause(self, rng: Rng) -> Command:
        """One clause; each kind about as often as any other."""
        makers: list[Callable[[Rng], Command]] = [
            self._goto, self._side, self._side, self._away, self._pass, self._circle, self._circle, self._between,
            self._weave, self._move, self._move, self._turn, self._until, self._face, self._search, self._avoid,
            self._not, self._select, self._select, self._simple,
        ]  # fmt: skip
        return makers[int(rng.integers(len(makers)))](rng)

    def _goto(self, rng: Rng) -> Command:
        return _command(pick_form(self.forms["goto"], rng), Step("goto", "A"))

    def _side(self, rng: Rng) -> Command:
        stop: Any = _one(rng, ["left", "right", "behind", "front", "facing"])
        if stop == "right":
            return _command(to_the_right(pick_form(self.forms["side"]["left"], rng)), Step("goto", "A", stop="right"))
        return _command(pick_form(self.forms["side"][stop], rng), Step("goto", "A", stop=stop))

    def _away(self, rng: Rng) -> Command:
        value, words = length(rng)
        if rng.random() < 0.3:
            return _command(
                pick_form(self.forms["before"], rng).replace("MM", words),
                Step("goto", "A", stop="front", distance_m=value),
            )
        return _command(pick_form(self.forms["away"], rng).replace("MM", words), Step("goto", "A", distance_m=value))

    def _pass(self, rng: Rng) -> Command:
        on: Any = _one(rng, ["left", "right", "any"])
        text = pick_form(self.forms["pass"]["any" if on == "any" else "left"], rng)
        return _command(to_the_right(text) if on == "right" else text, Step("pass", "A", on=on))

    def _circle(self, rng: Rng) -> Command:
        turns = float(rng.choice(_TURNS))
        direction: Any = str(rng.choice(["any", "any", "cw", "ccw"]))
        turn_forms, way = self.forms["turns"][f"{turns:g}"], pick_form(self.forms["directions"][direction], rng)
        text = (
            pick_form(self.forms["circle"], rng)
            .replace("TT", pick_form(turn_forms[0], rng))
            .replace("TN", pick_form(turn_forms[1], rng))
        )
        if "DD" not in text:
            direction = "any"
        text = " ".join(text.replace("DD", way).split())
        return _command(text, Step("circle", "A", turns=turns, direction=direction))

    def _between(self, rng: Rng) -> Command:
        end: Any = _one(rng, ["in", "through"])
        return _command(pick_form(self.forms["between"][end], rng), Step("between", objects=("A", "B"), end=end))

    def _weave(self, rng: Rng) -> Command:
        names = ["A", "B", "C", "D"][: int(rng.integers(2, 5))]
        listed = ["{" + name + "}" for name in names]
        last = str(rng.choice([" and ", " and ", ", ", ", and ", " then "]))
        text = pick_form(self.forms["weave"], rng).replace("LL", ", ".join(listed[:-1]) + last + listed[-1])
        return _command(text, Step("weave", objects=tuple(names)))

    def _move(self, rng: Rng) -> Command:
        value, words = length(rng)
        kind = int(rng.integers(8))
        if kind < 3:
            return _command(pick_form(self.forms["forward"], rng).replace("MM", words), Step("forward", metres=value))
        if kind == 3:
            return _command(pick_form(self.forms["some"], rng), Step("forward"))
        if kind < 6:
            return _command(pick_form(self.forms["back"], rng).replace("MM", words), Step("back", metres=value))
        text = pick_form(self.forms["sideways"], rng).replace("MM", words)
        left = rng.random() < 0.5
        return _command(text if left else to_the_right(text), Step("sideways", metres=value if left else -value))

    def _turn(self, rng: Rng) -> Command:
        left = rng.random() < 0.5
        if rng.random() < 0.5:
            value, words = angle(rng)
            text = pick_form(self.forms["turn_by"], rng).replace("GG", words)
        else:
            value = float(rng.choice([90.0, 90.0, 90.0, 180.0, 180.0, 360.0, 45.0]))
            text = pick_form(self.forms["turn"][f"{value:g}"], rng)
        if value in (180.0, 360.0) and "left" not in text and "port" not in text and "wise" not in text:
            return _command(text, Step("turn", degrees=value))
        return _command(text if left else to_the_right(text), Step("turn", degrees=value if left else -value))

    def _until(self, rng: Rng) -> Command:
        is_: Any = _one(rng, ["left", "right", "ahead", "behind", "close", "seen", "seen"])
        text = pick_form(self.forms["until"]["left" if is_ == "right" else is_], rng).replace(
            "WW", pick_form(self.forms["until_go"], rng)
        )
        text = text.replace("UU", str(rng.choice(self.forms["until_word"], p=[0.5, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05])))
        return _command(to_the_right(text) if is_ == "right" else text, Step("forward", until=Until("A", is_)))

    def _face(self, rng: Rng) -> Command:
        return _command(pick_form(self.forms["face"], rng), Step("face", "A"))

    def _search(self, rng: Rng) -> Command:
        if rng.random() < 0.5:
            return _command(pick_form(self.forms["search"], rng), Step("search", "A"))
        return _command(pick_form(self.forms["search_go"], rng), Step("search", "A"), Step("goto", "A"))

    def _avoid(self, rng: Rng) -> Command:
        goal = self._goto(rng) if rng.random() < 0.7 else self._side(rng)
        goal = rename(goal, {"A": "B"})
        text = pick_form(self.forms["avoid"], rng)
        joined = f"{text}{rng.choice([', ', ' and ', '. ', '; ', ' but '])}{goal.text}"
        if rng.random() < 0.5:
            joined = f"{goal.text}{rng.choice([', but ', ' but ', '. ', ', ', ' and '])}{text}"
        return _command(joined, Step("avoid", "A"), *goal.steps)

    def _not(self, rng: Rng) -> Command:
        return _command(pick_form(self.forms["not"], rng), Step("goto", "A"))

    def _select(self, rng: Rng) -> Command:
        rule: Any = _one(rng, list(self.forms["select"]))
        rank = int(rng.choice([2, 3, 4])) if rule in self.forms["ranked"] and rng.random() < 0.35 else 1
        phrase = pick_form(self.forms["select"][rule] if rank == 1 else self.forms["ranked"][rule], rng)
        if rank > 1:
            phrase = phrase.replace("ORD", pick_form(self.forms["ordinals"][str(rank)], rng))
        said_forms, step = self.about[int(rng.choice(len(self.about), p=[0.52, *([0.06] * 8)]))]
        if step.do == "avoid":
            step = Step("goto", "Z")
            said_forms = self.forms["goto"][:1]
        text = pick_form(said_forms, rng).replace("{A}", phrase) if rng.random() < 0.85 or step.do != "goto" else phrase
        if text == phrase:
            step = Step("goto", "Z")
        return Command(text, (step,), "grammar", {"Z": Select(rule, "B" if rule == "beside" else None, rank)})

    def _simple(self, rng: Rng) -> Command:
        kind = rng.random()
        if kind < 0.5:
            return _command(pick_form(self.forms["return"], rng), Step("return"))
        if kind < 0.65:
            return _command(pick_form(self.forms["some_back"], rng), Step("back", metres=None))
        return _command(pick_form(self.forms["stay"], rng), Step("stay"))


def _one(rng: Rng, choices: Sequence[str]) -> str:
    return choices[int(rng.integers(len(choices)))]


def _command(text: str, *steps: Step) -> Command:
    return Command(text, steps, "grammar")
