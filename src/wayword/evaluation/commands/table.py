"""Many judged commands in one table: success per family with intervals, and what went wrong beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from wayword.episodes.commands.equal import canonical_steps
from wayword.evaluation.commands.flown_command import FlownCommand
from wayword.figures import Figure
from wayword.intervals import Interval, bootstrap_mean, wilson


@dataclass(frozen=True)
class CommandRow:
    """The flights of one family, or of all."""

    name: str
    success: Interval
    contacts: Interval
    """Per flight."""
    late: int
    """Flights that ran out of time."""
    refused: int
    """Flights that were refused."""
    told_nothing: Interval | None = None
    """The success of the same flights without a text."""


@dataclass(frozen=True)
class CommandSummary:
    """All that is printed of a run."""

    families: tuple[CommandRow, ...]
    kinds: tuple[CommandRow, ...]
    everything: CommandRow
    right_refusals: Interval | None
    """Of what must not be flown: not flown, and a reason said; None if nothing of the kind was flown."""
    false_refusals: Interval | None
    """Of what can be flown: refused all the same."""


def summarise_commands(
    flights: Sequence[FlownCommand], nothing: Sequence[FlownCommand] | None = None
) -> CommandSummary:
    """Rows per family, per kind of scene and over all; ``nothing`` are the same flights without a text."""

    def row(name: str, key: Callable[[FlownCommand], str]) -> CommandRow:
        own = [one for one in flights if key(one) == name]
        bare = None if nothing is None else [one for one in nothing if key(one) == name]
        return CommandRow(
            name,
            _success(own),
            bootstrap_mean([one.contacts for one in own], np.random.default_rng(0)),
            sum(one.ending == "horizon" for one in own),
            sum(one.refused for one in own),
            None if bare is None else _success(bare),
        )

    families = dict.fromkeys(one.scene.family for one in flights)
    kinds = dict.fromkeys(one.scene.kind for one in flights)
    nonsense = [one for one in flights if not one.scene.steps]
    sensible = [
        one for one in flights if any(step.do not in ("avoid", "stay") for step in canonical_steps(one.scene.steps))
    ]
    return CommandSummary(
        tuple(row(name, lambda one: one.scene.family) for name in families),
        tuple(row(name, lambda one: one.scene.kind) for name in kinds),
        row("all", lambda one: "all"),
        _success(nonsense) if nonsense else None,
        wilson(sum(one.refused for one in sensible), len(sensible)) if sensible else None,
    )


def _success(flights: Sequence[FlownCommand]) -> Interval:
    return wilson(sum(one.judgement.done for one in flights), len(flights))


def commands_table(summary: CommandSummary) -> Table:
    """To be printed by rich."""
    bare = summary.everything.told_nothing is not None
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False, caption="success with 95 % intervals (Wilson)")
    table.add_column("")
    for heading in ("n", "success %", "contacts\n/flight", "late", "refused", *(["told\nnothing %"] * bare)):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    sections = (summary.families, summary.kinds if len(summary.kinds) > 1 else (), (summary.everything,))
    for rows in sections:
        for row in rows:
            cells = [
                str(row.success.n),
                percent(row.success),
                f"{row.contacts.mean:.2f}",
                str(row.late),
                str(row.refused),
            ]
            cells += [percent(row.told_nothing)] if row.told_nothing is not None else []
            table.add_row(*(Text(cell) for cell in (row.name, *cells)))
        table.add_section()
    return table


def percent(rate: Interval) -> str:
    """A rate with its bounds."""
    return f"{100 * rate.mean:.1f} [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"


def command_figures(summary: CommandSummary, prefix: str, command: str, today: str) -> dict[str, Figure]:
    """What is published of a run: success of every family, of every kind of scene and of all; contacts; refusals."""
    figures: dict[str, Figure] = {}
    for row in (*summary.families, *summary.kinds, summary.everything):
        key = f"{prefix}.{row.name.replace(' ', '_')}"
        figures[f"{key}.success"] = Figure.of(row.success, "%", command, today)
        figures[f"{key}.contacts"] = Figure.of(row.contacts, "per episode", command, today)
        late = Figure.of(wilson(row.late, row.success.n), "%", command, today)
        figures |= {f"{key}.late": late} if row is summary.everything else {}
        if row.told_nothing is not None:
            figures[f"{key}.told_nothing"] = Figure.of(row.told_nothing, "%", f"{command} --nothing", today)
    for name, interval in (("right", summary.right_refusals), ("false", summary.false_refusals)):
        if interval is not None:
            figures[f"{prefix}.{name}_refusals"] = Figure.of(interval, "%", command, today)
    return figures
