"""Cards stand beside what they describe, say what a card must say, and quote published figures only."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from wayword.episodes.commands import COMMAND_SPLITS, load_commands
from wayword.errors import DataError
from wayword.evaluation.report.cards import BESIDE, copy_of, fill_figures, render_cards
from wayword.figures import Figure, load_results

ROOT = Path(__file__).parents[2]
CARDS = sorted(path for path in (ROOT / "docs" / "cards").glob("*.md") if path.name != "index.md")
SR = Figure(81.1059, 75.3724, 85.7591, 217, "wayword eval", "2026-11-16", "%")
CARD = """# Card

<!-- beside: src/weights/MODEL_CARD.md -->

See [the results](../results.md#told-sides) and [the web](https://example.org).

<!-- figures
fspvn.sr: success
-->
| old | 80.0 % |
<!-- end of figures -->
"""


def test_figures_are_entered_and_links_turned(tmp_path: Path) -> None:
    docs, weights = tmp_path / "docs", tmp_path / "src" / "weights"
    (docs / "cards").mkdir(parents=True)
    weights.mkdir(parents=True)
    card = docs / "cards" / "fspvn.md"
    card.write_text(CARD)
    assert render_cards(docs, {"fspvn.sr": SR}) == [card, weights / "MODEL_CARD.md"]
    text, copy = card.read_text(), (weights / "MODEL_CARD.md").read_text()
    for page in (text, copy):
        assert "| success | 81.1 % | [75.4, 85.8] | 217 | `fspvn.sr` |" in page
        assert "80.0" not in page
        assert "(https://example.org)" in page
    assert "(../../docs/results.md#told-sides)" in copy  # from src/weights to docs
    assert fill_figures(text, {"fspvn.sr": SR}, card) == text  # once is enough


def test_mistakes_in_a_card_are_named(tmp_path: Path) -> None:
    card = tmp_path / "docs" / "cards" / "fspvn.md"
    with pytest.raises(DataError, match=r"no figure 'fspvn.sr' was published"):
        fill_figures(CARD, {}, card)
    with pytest.raises(DataError, match="is not of the form"):
        fill_figures(CARD.replace("fspvn.sr: success", "fspvn.sr"), {"fspvn.sr": SR}, card)
    card.parent.mkdir(parents=True)
    card.write_text(CARD)
    with pytest.raises(DataError, match="there is no folder"):
        render_cards(tmp_path / "docs", {"fspvn.sr": SR})


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.stem)
def test_the_cards_say_what_is_published(card: Path) -> None:
    text = card.read_text(encoding="utf-8")
    results = load_results(ROOT / "docs" / "results.json")
    assert fill_figures(text, results, card) == text, "run `wayword results`"
    place = BESIDE.search(text)
    assert place is not None
    copy = ROOT / place["place"]
    assert copy.read_text(encoding="utf-8") == copy_of(text, card, copy), "run `wayword results`"
    for section in ("## Intended use", "## Figures", "## Limits", "## Licence"):
        assert section in text, f"{card.name} has no section {section!r}"


def test_every_set_of_weights_has_a_card() -> None:
    folders = {path.parent for path in (ROOT / "src" / "wayword").rglob("config.json") if "weights" in str(path.parent)}
    assert len(folders) >= 11
    missing = [
        path for path in folders if not any((place / "MODEL_CARD.md").is_file() for place in (path, path.parent))
    ]
    assert missing == []


def test_cards_about_natural_instructions_say_who_wrote_them() -> None:
    for card in CARDS:
        text = card.read_text(encoding="utf-8")
        if "natural" in text and card.stem not in ("grounding_sim", "objects"):  # they quote no flights by instruction
            assert "not by people" in text.replace("\n", " "), card.name


def test_the_card_of_the_commands_counts_what_is_in_the_files() -> None:
    text = (ROOT / "docs" / "cards" / "commands.md").read_text(encoding="utf-8")
    counted: dict[str, list[int]] = {}
    for split in COMMAND_SPLITS:
        commands = load_commands(split)
        steps = Counter(min(len(command.steps), 2) for command in commands)
        rows = {
            "commands": len(commands),
            "median words of a text, a slot counted as one": int(median(len(c.text.split()) for c in commands)),
            "with one step": steps[1],
            "with several steps": steps[2],
            "with none: to be refused": steps[0],
            "with an object that is meant and not named": sum(bool(command.select) for command in commands),
        }
        rows |= {f"family `{name}`": n for name, n in Counter(command.family for command in commands).items()}
        for what, count in rows.items():
            counted.setdefault(what, []).append(count)
    for what, counts in counted.items():
        assert f"\n| {what} | {' | '.join(f'{count:,}' for count in counts)} |\n" in text, (what, counts)
