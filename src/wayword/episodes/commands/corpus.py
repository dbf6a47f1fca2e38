"""Commands as people type them: templates with slots, their meaning, and the texts that come of them.

    {"text": "go past {A}, then stop at {B}", "steps": [...], "family": "pass"}

A slot stands for a whole phrase that names one object. The writers were language models, not people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wayword.episodes.commands.steps import Select, Step
from wayword.errors import DataError, WaywordError
from wayword.guarded import parse_json, read_text

DATA = Path(__file__).parents[1] / "data" / "commands"
COMMAND_SPLITS = ("train", "more", "dev")
"""``more`` belongs to the training: seven further writers, apart because older readers were trained without it."""
SLOT = re.compile(r"\{([A-E])\}")
LONGEST_TEXT = 600


@dataclass(frozen=True)
class Command:
    """One template."""

    text: str
    steps: tuple[Step, ...]
    family: str
    select: Mapping[str, Select] = field(default_factory=dict)

    @property
    def slots(self) -> tuple[str, ...]:
        """Slots of the text, each once, in the order of the text."""
        return tuple(dict.fromkeys(SLOT.findall(self.text)))

    @property
    def refuses(self) -> bool:
        """Whether there is nothing to fly."""
        return not self.steps

    def to_json(self) -> dict[str, Any]:
        """As the files have it."""
        record: dict[str, Any] = {
            "text": self.text,
            "steps": [step.to_json() for step in self.steps],
            "family": self.family,
        }
        if self.select:
            record["select"] = {key: rule.to_json() for key, rule in self.select.items()}
        return record

    @staticmethod
    def from_json(record: Any) -> Command:
        """Read one line of a file."""
        if not isinstance(record, Mapping) or not {"text", "steps", "family"} <= set(record):
            raise WaywordError("a command needs text, steps and family")
        if foreign := sorted(set(record) - {"text", "steps", "family", "select"}):
            raise WaywordError(f"a command has no field {foreign[0]!r}")
        text, steps, select = record["text"], record["steps"], record.get("select", {})
        if not isinstance(text, str) or not 1 <= len(text) <= LONGEST_TEXT or re.search(r"[{}]", SLOT.sub("", text)):
            raise WaywordError(f"text must have 1 to {LONGEST_TEXT} characters and no braces but slots {{A}} to {{E}}")
        if not isinstance(steps, list) or not isinstance(select, Mapping) or not isinstance(record["family"], str):
            raise WaywordError("steps must be a list, select an object and family a text")
        command = Command(
            text,
            tuple(Step.from_json(step) for step in steps),
            record["family"],
            {str(key): Select.from_json(rule) for key, rule in select.items()},
        )
        known = {*command.slots, *command.select}
        used = [key for step in command.steps for key in step.mentioned]
        used += [rule.of for rule in command.select.values() if rule.of is not None]
        if stranger := next((key for key in used if key not in known), None):
            raise WaywordError(f"object {stranger!r} is neither a slot of the text nor selected")
        return command


@dataclass(frozen=True)
class FilledCommand:
    """A template with objects in its slots: what is typed, and what it means in a layout that holds them."""

    command: Command
    names: Mapping[str, str]
    """Object of each slot."""
    text: str
    """What is typed."""
    spans: tuple[tuple[int, int, str], ...]
    """Where each slot's phrase stands in it: first character, one past the last, slot."""


def fill(command: Command, names: Mapping[str, str], phrases: Mapping[str, str]) -> FilledCommand:
    """Put a phrase into every slot; at the head of the text, or of a sentence, it gets a capital as typed text has."""
    parts: list[str] = []
    spans: list[tuple[int, int, str]] = []
    at, length = 0, 0
    for match in SLOT.finditer(command.text):
        before, phrase = command.text[at : match.start()], phrases[match[1]]
        capital = (not before.strip() and not parts) or before.rstrip().endswith((".", "!", "?"))
        if capital and command.text[:1] == command.text[:1].upper():
            phrase = phrase[:1].upper() + phrase[1:]
        parts += [before, phrase]
        length += len(before)
        spans.append((length, length + len(phrase), match[1]))
        length += len(phrase)
        at = match.end()
    parts.append(command.text[at:])
    return FilledCommand(command, dict(names), "".join(parts), tuple(spans))


def load_commands(source: Path | str) -> list[Command]:
    """The commands of a split ("train", "more" or "dev") or of a file in the same format."""
    path = DATA / f"{source}.jsonl" if str(source) in COMMAND_SPLITS else Path(source)
    return list(_read(path))


def _read(path: Path) -> Iterator[Command]:
    text = read_text(path, remedy="give a file of commands, train, more or dev")
    count = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield Command.from_json(parse_json(line))
        except WaywordError as error:
            raise DataError(path, str(error), number) from None
        except (ValueError, RecursionError):
            raise DataError(path, "is not JSON", number) from None
        except TypeError:  # a list or an object where a name is wanted
            raise DataError(path, "is not a command", number) from None
        count += 1
    if not count:
        raise DataError(path, "holds no commands")


def families(commands: Sequence[Command]) -> tuple[str, ...]:
    """Families in the order of first appearance."""
    return tuple(dict.fromkeys(command.family for command in commands))
