"""A report of an evaluation to look at: table, plots with intervals, and every flight, failures first.

``DIR/index.html`` needs no server and no network; videos of failures lie beside it in ``DIR/videos``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.metrics import METRICS, EpisodeMetrics
from wayword.evaluation.report.lengths import LengthBin, success_by_length
from wayword.evaluation.runner import ScoredFlight
from wayword.evaluation.summary import format_number, summarise
from wayword.evaluation.verdicts import ScoredVerdict, judge_by_demonstration, outcome_of
from wayword.intervals import Interval
from wayword.io import write_text
from wayword.pictures.plots import DotRow, distance_plot, dot_plot, flight_map, rate_plot
from wayword.pictures.video import write_video
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Policy
from wayword.recording.film import FRAMES_PER_SECOND, Film, RecorderConfig
from wayword.recording.track import PoseTrack, read_track
from wayword.sim.render.bank import MeshBank

GENERATOR = '<meta name="generator" content="wayword eval">'
"""By this a folder is known to hold a report that may be replaced."""
_RATES, _DISTANCES = ("sr", "osr", "spl", "ndtw", "sdtw"), ("ne", "emd")
Section = tuple[str, str]
"""A heading, and what stands below it as HTML."""
MOST_CARDS = 400
"""Flights shown one by one; a page with more of them is slow to open."""


@dataclass(frozen=True, eq=False)
class ReportedFlight:
    """One flight of the report."""

    system: str
    example: Example
    metrics: EpisodeMetrics
    track: PoseTrack
    video: str | None = None
    """Where its video is, seen from the page."""
    remark: str = ""
    column: str = ""
    """Of a table."""
    rank: int = 0
    """Among failures, those of a lower rank are shown first."""

    @classmethod
    def of(cls, system: str, flight: ScoredFlight) -> ReportedFlight:
        """A flight as it came from the evaluation."""
        return cls(system, flight.example, flight.metrics, read_track(flight.track))


@dataclass(frozen=True)
class FailureFilmer:
    """What is needed to film flights of an evaluation again."""

    policy: Policy
    bank: MeshBank
    config: RunConfig
    taught: Sequence[Any] | None = None
    """What the policy was taught, by example."""

    def film(self, number: int, flight: ReportedFlight, path: Path) -> ReportedFlight:
        """Fly example ``number`` of the evaluation once more, filmed; it is the same flight, or the remark says so."""
        config = self.config
        recorder = RecorderConfig(config.seed, config.random_looks, arena=config.arena, number=number, look=config.look)
        objects = None if self.taught is None else self.taught[number]
        film = Film(self.policy, flight.example, self.bank, recorder, objects, judge_by_demonstration)
        write_video(path, film, FRAMES_PER_SECOND)
        verdict = film.flight.verdict
        assert isinstance(verdict, ScoredVerdict)
        again = verdict.metrics
        assert again is not None
        same = again.ended_by == flight.metrics.ended_by and abs(again.ne - flight.metrics.ne) < 0.01
        other = "" if same else f"Filmed, it flew another way: {verdict.outcome}."
        remark = " ".join(filter(None, (flight.remark, other)))
        return replace(flight, video=f"{path.parent.name}/{path.name}", remark=remark)


def check_folder(folder: Path) -> None:
    """Refuse a folder with anything but an earlier report in it: ask before hours of work, not after."""
    if folder.exists() and not folder.is_dir():
        raise WaywordError(f"{folder}: is not a folder; choose another name for --html")
    if folder.is_dir() and any(folder.iterdir()):
        index = folder / "index.html"
        if not (index.is_file() and GENERATOR.encode() in index.read_bytes()[:2000]):
            raise WaywordError(f"{folder}: holds other files; choose an empty or new folder for --html")


def write_report(
    folder: Path,
    title: str,
    flights: Sequence[ReportedFlight],
    about: Mapping[str, str],
    filmer: FailureFilmer | None = None,
    videos: int = 0,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Path:
    """Write a report and return its page; ``videos`` failures, the farthest off first, are filmed by ``filmer``."""
    failed = sorted((i for i, one in enumerate(flights) if not one.metrics.sr), key=lambda i: -flights[i].metrics.ne)
    numbers = [] if filmer is None else failed[:videos]
    film = None if filmer is None else filmer.film
    return write_pages(
        folder, flights, lambda current: render_report(title, current, about, seed), numbers, film, progress
    )


def write_pages(
    folder: Path,
    flights: Sequence[ReportedFlight],
    render: Callable[[Sequence[ReportedFlight]], str],
    numbers: Sequence[int],
    film: Callable[[int, ReportedFlight, Path], ReportedFlight] | None,
    progress: Callable[[int], None] = lambda done: None,
) -> Path:
    """Write the page that ``render`` makes, with videos of the flights in ``numbers``, and return it."""
    check_folder(folder)
    current, page = list(flights), folder / "index.html"
    films = set()
    if film is not None and numbers:
        write_text(page, render(current))  # who stops the filming keeps the rest
        for number in numbers:
            path = folder / "videos" / f"{number:04d}.mp4"
            current[number] = film(number, current[number], path)
            films.add(path)
            progress(1)
    write_text(page, render(current))
    for old in (folder / "videos").glob("*.mp4"):
        if old not in films:  # of the report before this one
            old.unlink()
    return page


def render_report(title: str, flights: Sequence[ReportedFlight], about: Mapping[str, str], seed: int = 0) -> str:
    """The page."""
    systems = by_system(flights)
    return render_page(title, about, [*result_sections(systems, seed), *flight_sections(flights)])


def by_system(flights: Sequence[ReportedFlight]) -> dict[str, list[ReportedFlight]]:
    """The flights of each system, in the order in which systems appear."""
    systems: dict[str, list[ReportedFlight]] = {}
    for one in flights:
        systems.setdefault(one.system, []).append(one)
    return systems


def render_page(title: str, about: Mapping[str, str], sections: Sequence[Section]) -> str:
    """A page of sections that needs nothing beside it but its videos."""
    style = (files("wayword.evaluation.report") / "html_report.css").read_text(encoding="utf-8")
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in about.items())
    body = "\n".join(f"<section><h2>{escape(name)}</h2>{content}</section>" for name, content in sections)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{GENERATOR}\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>\n'
        f"<style>\n{style}</style></head>\n<body><main><h1>{escape(title)}</h1>\n<dl>{facts}</dl>\n{body}\n"
        "</main></body></html>\n"
    )


def result_sections(systems: Mapping[str, Sequence[ReportedFlight]], seed: int = 0, of: str = "") -> list[Section]:
    """Table and plots; ``of`` says what they are about, if there is more than one such thing."""
    summaries = {name: summarise([one.metrics for one in own], seed) for name, own in systems.items()}
    lengths = {n: [(len(o.example.instruction.split()), o.metrics.sr) for o in own] for n, own in systems.items()}
    rates = success_by_length(lengths)
    ends = {name: [one.metrics.ne for one in own] for name, own in systems.items()}
    about = f"{of}: " if of else ""
    return [
        (of or "Results", _table(summaries) + '<p class="quiet">Means with 95 % intervals: Wilson '
         "for SR and OSR, bootstrap over flights for the others.</p>" + _metric_plots(summaries)),
        (f"{about}Success against the length of the instruction",
         _legend(systems) + _length_plot(rates) + _length_table(rates)),
        (f"{about}Where flights end", _legend(systems) + distance_plot(ends) + '<p class="quiet">Share of flights that '
         "end within a distance of the demonstration's end; the dashed line is the 0.47 m of a success.</p>"),
    ]  # fmt: skip


def flight_sections(flights: Sequence[ReportedFlight]) -> list[Section]:
    """The failures, the farthest off first, those with a video before the others; then the rest."""
    failed = sorted((o for o in flights if not o.metrics.sr), key=lambda o: (o.video is None, o.rank, -o.metrics.ne))
    arrived = sorted((o for o in flights if o.metrics.sr), key=lambda o: (o.rank, -o.metrics.emd))
    several = len({one.system for one in flights}) > 1
    sections, room = [], MOST_CARDS
    for name, group in ((f"{len(failed)} failures", failed), (f"{len(arrived)} flights that arrived", arrived)):
        cards = "".join(_card(one, several) for one in group[:room])
        more = f'<p class="quiet">{len(group) - room} more are not shown.</p>' if len(group) > room else ""
        content = f'{_MAP_KEY}<div class="cards">{cards}</div>{more}' if group else "<p>None.</p>"
        if group is arrived and group:
            content = f"<details><summary>Show them</summary>{content}</details>"
        sections.append((name, content))
        room = max(room - len(group), 0)
    return sections


_MAP_KEY = (
    '<p class="quiet">Dashed: the demonstration and the circle of 0.47 m around its end. Solid: what was flown, '
    "from the small dot to the large one.</p>"
)


def _card(one: ReportedFlight, several: bool) -> str:
    name, picture = escape(one.example.id), flight_map(one.example, one.track[:, :2])
    if one.video is not None:
        picture = (
            f'<video controls preload="metadata" playsinline src="{escape(one.video)}" aria-label="Video of {name}">'
            f"</video><details><summary>Map</summary>{picture}</details>"
        )
    who = f"<b>{escape(one.system)}</b> " if several else ""
    where = f"{name}, {escape(one.column)}" if one.column else name
    remark = f'<p class="quiet">{escape(one.remark)}</p>' if one.remark else ""
    return (
        f"<article>{picture}<blockquote>{escape(one.example.instruction)}</blockquote>"
        f'<p>{who}{escape(outcome_of(one.metrics))}.</p><p class="quiet">{where}</p>{remark}</article>'
    )


def _table(summaries: Mapping[str, Mapping[str, Interval]]) -> str:
    columns = {name: metric for name, metric in METRICS.items() if name != "steps"}
    head = "".join(f'<th scope="col">{escape(m.title)} <span>{escape(m.unit)}</span></th>' for m in columns.values())
    rows = []
    for system, summary in summaries.items():
        count = next(iter(summary.values())).n
        cells = "".join(
            f"<td>{interval_words(summary[name], metric.unit, '<br>')}</td>" for name, metric in columns.items()
        )
        rows.append(f'<tr><th scope="row">{escape(system)}</th><td>{count}</td>{cells}</tr>')
    top = f'<tr><th scope="col">system</th><th scope="col">n</th>{head}</tr>'
    return f'<div class="wide"><table><thead>{top}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def interval_words(interval: Interval, unit: str, between: str = " ") -> str:
    """Mean and interval, percentages as such."""
    scale = 100 if unit == "%" else 1
    mean, low, high = (format_number(scale * value, unit) for value in (interval.mean, interval.low, interval.high))
    return f"{mean}{between}[{low}, {high}]"


def _metric_plots(summaries: Mapping[str, Mapping[str, Interval]]) -> str:
    """Metrics below each other; of several systems one plot per metric."""

    def row(name: str, system: str, label: str, colour: int = 0) -> DotRow:
        interval, unit = summaries[system][name], METRICS[name].unit
        return DotRow(label, colour, interval, f"{interval_words(interval, unit)} {unit}")

    longest = max(summary[name].high for summary in summaries.values() for name in _DISTANCES)
    top = 1.0 if longest <= 1 else 2.0 * math.ceil(longest / 2)  # round numbers at the four parts of the axis
    axes = ((_RATES, "Rates and scores", 1.0, ""), (_DISTANCES, "Distances in metres", top, " m"))
    if len(summaries) == 1:
        (only,) = summaries
        plots = [
            dot_plot(title, [row(name, only, METRICS[name].title) for name in names], 0, high, unit)
            for names, title, high, unit in axes
        ]
    else:
        plots = [
            f"<div><h3>{escape(METRICS[name].title)}</h3>"
            + dot_plot(METRICS[name].title, [row(name, own, own, i) for i, own in enumerate(summaries)], 0, high, unit)
            + "</div>"
            for names, _, high, unit in axes
            for name in names
        ]
    return f'<div class="plots">{"".join(plots)}</div>'


def _length_plot(rates: Mapping[str, Mapping[LengthBin, Interval]]) -> str:
    bins = sorted({each for own in rates.values() for each in own})
    named = {system: {str(each): rate for each, rate in own.items()} for system, own in rates.items()}
    title = "Success against the length of the instruction"
    return rate_plot(title, "words in the instruction", [str(each) for each in bins], named)


def _length_table(rates: Mapping[str, Mapping[LengthBin, Interval]]) -> str:
    lines = [
        f'<tr><th scope="row">{escape(system)}</th><td>{each}</td><td>{v.n}</td><td>{interval_words(v, "%")}</td></tr>'
        for system, own in rates.items()
        for each, v in own.items()
    ]
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("system", "words", "n", "SR %"))
    return f"<details><summary>As a table</summary><table><tr>{heads}</tr>{''.join(lines)}</table></details>"


def _legend(systems: Mapping[str, Any]) -> str:
    if len(systems) < 2:
        return ""
    keys = "".join(f'<span><i class="s{i % 8}"></i>{escape(name)}</span>' for i, name in enumerate(systems))
    return f'<p class="legend">{keys}</p>'
