"""How often the spelling step puts a typing error right, and how often it spoils a word that was right."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import tyro

from wayword.errors import DataError
from wayword.language.spelling import Speller

_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class TypoScore:
    """Over distinct errors: ``right`` were corrected as meant, ``wrong`` became something else, the rest stayed."""

    right: int
    wrong: int
    total: int

    def __str__(self) -> str:
        share = 100 * self.right / max(1, self.total)
        return f"{self.right} of {self.total} right ({share:.1f} %), {self.wrong} wrong, {self.left} left as typed"

    @property
    def left(self) -> int:
        """Errors that were not touched."""
        return self.total - self.right - self.wrong


def read_typos(path: Path) -> dict[str, list[tuple[str, str]]]:
    """(typo, intended) of every error, by where it was found; from JSON lines."""
    by_source: dict[str, list[tuple[str, str]]] = defaultdict(list)
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                row = json.loads(line)
                by_source[str(row["source"])].append((str(row["typo"]), str(row["intended"])))
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(path, 'expected {"typo": ..., "intended": ..., "source": ...}', number) from error
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); name a file of typing errors") from error
    return dict(by_source)


def score_typos(speller: Speller, typos: list[tuple[str, str]]) -> tuple[TypoScore, list[tuple[str, str, str]]]:
    """The score, and (typo, intended, result) of every error that was not put right."""
    results = [(typo, intended, speller.correct_word(typo)) for typo, intended in typos]
    missed = [row for row in results if row[1] != row[2]]
    wrong = sum(result != typo for typo, _, result in missed)
    return TypoScore(len(results) - len(missed), wrong, len(results)), missed


def spoilt_words(speller: Speller, words: Counter[str]) -> dict[str, str]:
    """What the speller makes of words that were right, for those it changes."""
    corrected = {word: speller.correct_word(word) for word in words}
    return {word: result for word, result in corrected.items() if result != word}


def clean_words(treebank: Path) -> Counter[str]:
    """Lower-case words of a treebank that it does not mark as errors."""
    words: Counter[str] = Counter()
    with gzip.open(treebank, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = line.rstrip("\n").split("\t")
            if len(row) == 10 and _WORD.fullmatch(row[1]) and "Typo=Yes" not in row[5]:
                words[row[1]] += 1
    return words


def main(typos: Path, clean: list[Path], show: bool = False) -> None:
    """Score the shipped speller.

    Args:
        typos: JSON lines with ``typo``, ``intended`` and ``source``.
        clean: treebanks (.conllu.gz) or corpora (.jsonl) whose words must stay as they are.
        show: print what went wrong.
    """
    speller = Speller()
    known = read_typos(typos)
    for source, pairs in known.items():
        out_of_reach = [typo for typo, _ in pairs if len(typo) < speller.config.shortest or speller.knows(typo)]
        begin = time.process_time()
        score, missed = score_typos(speller, pairs)
        each = 1000 * (time.process_time() - begin) / len(pairs)
        print(f"{source}: {score}; untouchable by design: {out_of_reach}; {each:.1f} ms each")
        if show:
            print("   ", missed)
    wrong_forms = {typo for pairs in known.values() for typo, _ in pairs}
    for path in clean:
        words = clean_words(path) if path.suffix == ".gz" else _corpus_words(path)
        for word in wrong_forms:
            words.pop(word, None)
        changed = spoilt_words(speller, words)
        tokens = sum(words[word] for word in changed)
        print(
            f"{path.name}: {tokens} of {words.total()} clean words changed ({100 * tokens / words.total():.3f} %), "
            f"{len(changed)} of {len(words)} distinct"
        )
        if show:
            print("   ", changed)


def _corpus_words(path: Path) -> Counter[str]:
    texts = (
        segment["instruction"]
        for line in path.read_text(encoding="utf-8").splitlines()
        for segment in json.loads(line)["segments"]
    )
    return Counter(word for text in texts for word in re.findall(r"[a-z]+", text.lower()))


if __name__ == "__main__":
    tyro.cli(main)
