"""The paper's chart of human judgements: per system a bar of score frequencies, with the mean in black.

SVG written by hand: no drawing library, sharp at any size, readable on light and dark pages.
"""

from __future__ import annotations

from html import escape

from wayword.judge.report import QUESTIONS, Scores, Verdict

COLORS = ("#b2382f", "#eda07a", "#e4e3df", "#8cbcd9", "#2b6ca8")
"""Scores 1 to 5, a diverging scale that colour-blind readers can tell apart."""
INKS = ("#fff", "#111", "#111", "#111", "#fff")
TITLES = {"goal": "Goal score", "path": "Path score"}
BAR, GAP, LABEL, WIDTH, MEANS = 26, 14, 150, 420, 190
_TOP, _LEGEND = 62, 34


def gantt_svg(verdict: Verdict) -> str:
    """The chart of both questions, one above the other."""
    rows = len(verdict.systems)
    panel = _TOP + rows * (BAR + GAP)
    width, height = LABEL + WIDTH + 30 + MEANS + 125, 2 * panel + _LEGEND + 24
    body = []
    for number, question in enumerate(QUESTIONS):
        body.append(f'<g transform="translate(0 {number * panel + _LEGEND})">')
        body.append(_text(LABEL, 24, TITLES[question], weight=600, size=15))
        body += _axes(rows)
        for i, (system, scores) in enumerate(verdict.systems.items()):
            body += _row(_TOP + i * (BAR + GAP), system, scores[question])
        body.append("</g>")
    said = "; ".join(
        f"{system}: goal {scores['goal'].mean.mean:.2f}, path {scores['path'].mean.mean:.2f}"
        for system, scores in verdict.systems.items()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="system-ui, sans-serif"><title>Frequencies of scores 1 to 5 and mean scores</title>'
        f"<desc>{escape(said)}</desc>\n"
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n{_legend()}\n' + "\n".join(body) + "\n</svg>\n"
    )


def _row(y: int, system: str, scores: Scores) -> list[str]:
    """One system: its name, the stacked bar, the mean with its interval."""
    parts = [_text(LABEL - 10, y + BAR * 0.7, system, anchor="end")]
    left = float(LABEL)
    for count, color, ink in zip(scores.counts, COLORS, INKS, strict=True):
        share = count / scores.judgements
        wide = share * WIDTH
        if count:
            parts.append(f'<rect x="{left:.1f}" y="{y}" width="{wide:.1f}" height="{BAR}" fill="{color}"/>')
        if wide >= 26:
            parts.append(_text(left + wide / 2, y + BAR * 0.68, f"{share:.0%}", anchor="middle", fill=ink, size=12))
        left += wide
    middle, mean = y + BAR / 2, scores.mean
    low, at, high = (_mean_x(value) for value in (mean.low, mean.mean, mean.high))
    parts.append(f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} {middle - 4}v8" '
                 f'stroke="#000" stroke-width="1.5" fill="none"/>')  # fmt: skip
    parts.append(f'<circle cx="{at:.1f}" cy="{middle}" r="4.5" fill="#000"/>')
    words = f"{mean.mean:.2f} [{mean.low:.2f}, {mean.high:.2f}]"
    parts.append(_text(LABEL + WIDTH + 30 + MEANS + 8, y + BAR * 0.7, words, size=12))
    return parts


def _axes(rows: int) -> list[str]:
    bottom = _TOP + rows * (BAR + GAP) - GAP
    parts = [_text(LABEL, 48, "share of judgements", fill="#555", size=12)]
    parts.append(_text(_mean_x(1), 34, "mean and 95 % interval", fill="#555", size=12))
    for score in range(1, 6):
        x = _mean_x(score)
        parts.append(_text(x, 52, str(score), anchor="middle", fill="#555", size=12))
        parts.append(f'<path d="M{x:.1f} {_TOP - 4}V{bottom + 4}" stroke="#ddd"/>')
    return parts


def _legend() -> str:
    parts = [_text(LABEL, 26, "score", fill="#555", size=12)]
    for i, (color, ink) in enumerate(zip(COLORS, INKS, strict=True)):
        x = LABEL + 44 + 34 * i
        parts.append(f'<rect x="{x}" y="12" width="30" height="20" fill="{color}"/>')
        parts.append(_text(x + 15, 27, str(i + 1), anchor="middle", fill=ink, size=12))
    return "".join(parts)


def _mean_x(score: float) -> float:
    return LABEL + WIDTH + 30 + (score - 1) / 4 * (MEANS - 10)


def _text(
    x: float, y: float, text: str, anchor: str = "start", fill: str = "#111", size: int = 14, weight: int = 400
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}" font-size="{size}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )
