"""The report before flying: what in a database will make the drone guess.

    k(x | o)   mean kernel between a view (or phrase) x and those of o; for its own object without x itself
    P(o' | x)  = k(x | o') / (k(x | o) + k(x | o') + b)       o' against o, or neither
    confusion(o, o') = mean over the views (phrases) x of o of P(o' | x)

1/2 means that the two cannot be told apart; more, that o is closer to o' than to itself. Views and phrases are
reported separately: both must go wrong to mislead the drone, or only one if the instruction or the view says little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.objects.cropping import Pixels
from wayword.objects.database import ObjectDatabase
from wayword.objects.names import phrase_key
from wayword.objects.similarity import Matrix, Similarity, default_similarity

FindingKind = Literal["few photos", "few phrases", "duplicate", "look alike", "shared phrase", "phrases alike"]


@dataclass(frozen=True)
class CheckConfig:
    """When the report says something.

    Attributes:
        photos: views of each object that are wanted, as in the paper.
        phrases: phrases of each object that are wanted.
        look_alike: confusion of views from which a pair is named.
        sound_alike: confusion of phrases from which a pair is named.
        hash_bits: differing bits of two 64-bit difference hashes up to which photos may be duplicates.
        grey_levels: mean difference of two 16 x 16 thumbnails up to which they are.
        views: views or phrases per object, evenly picked, that are compared between objects.
    """

    photos: int = 5
    phrases: int = 5
    look_alike: float = 0.2
    sound_alike: float = 0.2
    hash_bits: int = 6
    grey_levels: float = 8.0
    views: int = 20


@dataclass(frozen=True)
class Finding:
    """One thing to mend: what kind, which objects, and a line that says what to do."""

    kind: FindingKind
    objects: tuple[str, ...]
    text: str
    probability: float | None = None


@dataclass(frozen=True, eq=False)
class CheckReport:
    """All findings, the worst pairs first within their kind.

    Attributes:
        names: M objects.
        findings: what to mend.
        image_confusion: (M, M), row o, column o'; 0 where there are no photos.
        phrase_confusion: (M, M), the same of the phrases.
        similarity: how likeness was measured.
    """

    names: tuple[str, ...]
    findings: tuple[Finding, ...]
    image_confusion: Matrix
    phrase_confusion: Matrix
    similarity: str


def check_objects(
    database: ObjectDatabase, similarity: Similarity | None = None, config: CheckConfig | None = None
) -> CheckReport:
    """Look at every object and every pair."""
    similarity, config = similarity or default_similarity(), config or CheckConfig()
    names = database.names
    crops = [_selection(batch, config.views) for batch in database.crops(32).values()]
    phrases = [list(item.phrases[: config.views]) for item in database.objects]
    every_crop = np.concatenate([*crops, np.zeros((0, 32, 32, 3), np.uint8)])
    kernel = similarity.image_kernel(every_crop, every_crop)
    images = confusion(kernel, [len(own) for own in crops], similarity.image_background)
    every_phrase = [phrase for own in phrases for phrase in own]
    kernel = similarity.phrase_kernel(every_phrase, every_phrase)
    words = confusion(kernel, [len(own) for own in phrases], similarity.phrase_background)
    findings = [
        *_too_few(database, config),
        *_duplicates(database, config),
        *_pairs(names, images, "look alike", config.look_alike),
        *_shared_phrases(database),
        *_pairs(names, words, "phrases alike", config.sound_alike),
    ]
    return CheckReport(names, tuple(findings), images, words, similarity.name)


def confusion(kernel: Matrix, counts: Sequence[int], background: float) -> Matrix:
    """(M, M) confusion of M objects from the kernel between all their samples, which stand object by object.

    For an object with a single sample the typical likeness of an object to itself is taken: the median over the
    others, or 1 if no object has two.
    """
    owners = np.repeat(np.arange(len(counts)), counts)
    member = (owners[:, None] == np.arange(len(counts))).astype(np.float64)
    totals = kernel @ member
    size = np.asarray(counts, np.float64)
    if not len(owners):
        return np.zeros((len(counts), len(counts)))
    rows = np.arange(len(owners))
    several = size[owners] > 1
    own = (totals[rows, owners] - np.diag(kernel)) / np.maximum(size[owners] - 1, 1)
    own[~several] = np.median(own[several]) if several.any() else 1.0
    other = totals / np.maximum(size, 1)
    chances = other / (own[:, None] + other + background)
    chances[rows, owners] = 0.0
    result: Matrix = member.T @ chances / np.maximum(size, 1)[:, None]
    return result


def difference_hash(photo: Pixels) -> NDArray[np.bool_]:
    """(64,) bits: whether each cell of an 8 x 8 grid is brighter than its right neighbour."""
    grey = np.asarray(Image.fromarray(photo).convert("L").resize((9, 8), Image.Resampling.BOX)).astype(np.int64)
    return (grey[:, :-1] > grey[:, 1:]).ravel()


def near_duplicates(photos: Sequence[Pixels], config: CheckConfig | None = None) -> list[tuple[int, int]]:
    """Pairs of photos (i < j) that show nearly the same picture."""
    config = config or CheckConfig()
    if len(photos) < 2:
        return []
    signs = np.array([difference_hash(photo) for photo in photos]).astype(np.float32) * 2 - 1
    small = [np.asarray(Image.fromarray(photo).resize((16, 16), Image.Resampling.BOX)) for photo in photos]
    levels = np.array(small).astype(np.float32).reshape(len(photos), -1)
    pairs = []
    for i in range(len(photos) - 1):
        bits = (64 - signs[i + 1 :] @ signs[i]) / 2
        for j in i + 1 + np.flatnonzero(bits <= config.hash_bits):
            # Plain things before a plain ground share a hash from every side; their pixels tell them apart.
            if np.abs(levels[i] - levels[j]).mean() <= config.grey_levels:
                pairs.append((i, int(j)))
    return pairs


def _too_few(database: ObjectDatabase, config: CheckConfig) -> list[Finding]:
    findings = []
    for item in database.objects:
        photos, phrases = len(item.photos), len(item.phrases)
        if photos < config.photos:
            text = f"{item.name}: {_count(photos, 'photo')}; {config.photos} are better, from different sides"
            findings.append(Finding("few photos", (item.name,), text))
        if phrases < config.phrases:
            text = f"{item.name}: {_count(phrases, 'phrase')}; {config.phrases} are better, as people would say it"
            findings.append(Finding("few phrases", (item.name,), text))
    return findings


def _count(number: int, what: str) -> str:
    return f"no {what}" if not number else f"1 {what}" if number == 1 else f"{number} {what}s"


def _duplicates(database: ObjectDatabase, config: CheckConfig) -> list[Finding]:
    photos = [
        (item.name, label, photo)
        for item in database.objects
        for label, photo in zip(item.labels or map(str, range(1, 1 + len(item.photos))), item.photos, strict=True)
    ]
    findings = []
    for i, j in near_duplicates([photo for _, _, photo in photos], config):
        (first, one, _), (second, two, _) = photos[i], photos[j]
        if first == second:
            text = f"{first}: photos {one} and {two} are nearly the same; one from another side would help more"
        else:
            text = f"{first} and {second}: photos {one} and {two} are nearly the same; one of them is misplaced"
        findings.append(Finding("duplicate", tuple(dict.fromkeys((first, second))), text))
    return findings


def _pairs(
    names: Sequence[str], chances: Matrix, kind: Literal["look alike", "phrases alike"], limit: float
) -> list[Finding]:
    both = np.maximum(chances, chances.T)
    pairs = [(float(both[i, j]), i, j) for i in range(len(names)) for j in range(i) if both[i, j] >= limit]
    findings = []
    for chance, i, j in sorted(pairs, key=lambda entry: (-entry[0], entry[2], entry[1])):
        what = "look alike" if kind == "look alike" else "are called alike"
        text = f"{names[j]} and {names[i]} {what}: taken for each other with probability {chance:.2f}"
        findings.append(Finding(kind, (names[j], names[i]), text, chance))
    return findings


def _shared_phrases(database: ObjectDatabase) -> list[Finding]:
    users: dict[str, list[tuple[str, str]]] = {}
    for item in database.objects:
        for phrase in item.phrases:
            users.setdefault(phrase_key(phrase), []).append((item.name, phrase))
    findings = []
    for sharing in users.values():
        if len(sharing) > 1:
            names = tuple(name for name, _ in sharing)
            text = f"{', '.join(names[:-1])} and {names[-1]} share the phrase {sharing[0][1]!r}; say what differs"
            findings.append(Finding("shared phrase", names, text))
    return findings


def _selection(batch: Pixels, most: int) -> Pixels:
    if len(batch) <= most:
        return batch
    return batch[np.arange(most) * len(batch) // most]
