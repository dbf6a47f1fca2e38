"""Build the shipped word list: which words are known, and how often instructions use them.

Weights are occurrences per 100,000 words of instructions: counts of the natural ``train`` corpus and of ALFRED's
training instructions are averaged, everyday English (EWT train) counts a tenth, and two word lists make further
words known with a small weight: an English frequency dictionary, and the whole words of the encoder's vocabulary,
which it reads without help. Words that EWT marks as typing errors, and the typing errors listed by hand for the
natural corpus, are left out unless a word list has them.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from wayword.errors import DataError
from wayword.io import atomic_path

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")


@dataclass(frozen=True)
class VocabularySources:
    """Where the words come from."""

    corpus: Path
    """train.jsonl of the natural corpus."""
    alfred: Path
    """goto-train.jsonl.gz."""
    ewt: Path
    """ewt-train.conllu.gz."""
    tokenizer: Path
    """tokenizer.json of the encoder."""
    dictionary: Path
    """frequency_dictionary_en_82_765.txt of symspellpy."""
    typos: Path
    """JSON lines with ``typo``, ``intended`` and ``source``: typing errors found in the corpus by hand."""


def build_vocabulary(sources: VocabularySources) -> dict[str, float]:
    """Known words and their weights."""
    corpus = count_words(segment["instruction"] for row in _rows(sources.corpus) for segment in row["segments"])
    alfred = count_words(row["instruction"] for row in _rows(sources.alfred))
    english, wrong = _treebank_words(sources.ewt)
    wrong |= {row["typo"] for row in _rows(sources.typos) if row["source"] == "nav-train"}
    pieces = json.loads(sources.tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    whole = {piece for piece in pieces if piece.isascii() and piece.isalpha() and len(piece) > 1}

    everyday = _dictionary(sources.dictionary)
    weights: defaultdict[str, float] = defaultdict(float)
    for counts, share, least in ((corpus, 0.5, 1), (alfred, 0.5, 5), (english, 0.1, 2)):
        total = sum(counts.values())
        for word, count in counts.items():
            if count >= least or word in whole:
                weights[word] += share * 1e5 * count / total
    known = whole | everyday.keys()
    for word in known:
        weights[word] += 0.01 + 0.05 * everyday.get(word, 0.0)
    return {word: weight for word, weight in sorted(weights.items()) if word in known or word not in wrong}


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Lower-cased words, apostrophes kept."""
    return Counter(word for text in texts for word in _WORD.findall(text.lower().replace("’", "'")))


def _treebank_words(path: Path) -> tuple[Counter[str], set[str]]:
    """Words of a CoNLL-U file, and those it marks as errors more often than not."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = line.rstrip("\n").split("\t")
            if len(row) == 10 and _WORD.fullmatch(row[1].lower()) and "." not in row[0]:
                (wrong if "Typo=Yes" in row[5] else right)[row[1].lower()] += 1
    return right, {word for word in wrong if wrong[word] >= right[word]}


def _dictionary(path: Path) -> dict[str, float]:
    """Words of a "word count" list, as occurrences per 100,000."""
    try:
        pairs = [line.split() for line in path.read_text(encoding="utf-8-sig").splitlines()]
        counts = {word.lower(): float(count) for word, count in pairs if _WORD.fullmatch(word.lower())}
    except (OSError, ValueError) as error:
        raise DataError(path, f"cannot be read as a list of words and counts ({error})") from error
    total = sum(counts.values())
    return {word: 1e5 * count / total for word, count in counts.items()}


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    except (OSError, ValueError) as error:
        raise DataError(path, f"cannot be read as JSON lines ({error})") from error


def main(sources: VocabularySources, out: Path) -> None:
    """Write the word list, gzipped, the same bytes every time."""
    words = build_vocabulary(sources)
    text = "".join(f"{word} {weight:.3g}\n" for word, weight in words.items())
    with atomic_path(out) as temporary:
        temporary.write_bytes(gzip.compress(text.encode("utf-8"), 9, mtime=0))
    print(f"{out}: {len(words)} words")


if __name__ == "__main__":
    tyro.cli(main)
