"""Databases of any size to measure with: the dev objects, and as many made-up ones beside them as are wanted.

A made-up object has five photos, those of some dev object in other colours, mirrored or turned, and five phrases of a
colour, a material and a noun. Nobody could fly to them; they are there to be stored, searched and told apart.
"""

from __future__ import annotations

import io
import itertools
import shutil
from pathlib import Path

import numpy as np
from PIL import Image

from wayword.evaluation.table.columns import shipped_database
from wayword.objects import files
from wayword.objects.cropping import Pixels
from wayword.objects.names import slug
from wayword.pilot.pilot import SHIPPED_OBJECTS

PHOTOS = 5
SIDE = 64
"""Pixels across a photo: about what the shipped ones have."""
COLOURS = (
    "amber", "azure", "beige", "black", "bronze", "coral", "crimson", "cyan", "golden", "grey", "ivory", "lilac",
    "maroon", "mint", "olive", "pink", "purple", "silver", "turquoise", "white",
)  # fmt: skip
MATERIALS = (
    "bamboo", "brass", "cardboard", "ceramic", "clay", "concrete", "copper", "cork", "felt", "glass", "granite",
    "iron", "leather", "marble", "paper", "plastic", "rubber", "steel", "stone", "wooden",
)  # fmt: skip
NOUNS = (
    "anchor", "anvil", "barrel", "basket", "bell", "bench", "bottle", "bowl", "broom", "bucket", "cage", "candle",
    "chest", "crate", "drum", "easel", "fan", "flag", "fountain", "hammer", "helmet", "jar", "kettle", "ladder",
    "lamp", "mailbox", "mask", "pillar", "plate", "pot", "pump", "saddle", "shield", "sled", "stool", "trumpet",
    "trunk", "vase", "wheel", "yoke",
)  # fmt: skip


def most_objects() -> int:
    """How many objects there can be."""
    return len(shipped_database("dev")) + len(COLOURS) * len(MATERIALS) * len(NOUNS)


def grow_database(folder: Path, objects: int) -> None:
    """Make a database of so many objects, or let one that was made before grow to so many."""
    source = SHIPPED_OBJECTS / "dev"
    if not folder.exists():
        shutil.copytree(source, folder)
    manifest = files.read_manifest(folder) or {}
    photos = [[np.asarray(photo) for photo in item.photos] for item in shipped_database("dev").objects]
    kinds = itertools.product(MATERIALS, COLOURS, NOUNS)  # neighbours differ in what they are
    for number, (material, colour, noun) in enumerate(itertools.islice(kinds, max(0, objects - len(photos)))):
        name = f"{colour} {material} {noun}"
        if slug(name) in manifest:
            continue
        phrases = [
            name,
            f"the {material} {noun}",
            f"{colour} {noun}",
            f"{noun} of {material}",
            f"a big {colour} {noun}",
        ]
        rng = np.random.default_rng(number)
        manifest[slug(name)] = _write_object(folder / slug(name), name, phrases, photos[number % len(photos)], rng)
    (folder / files.MANIFEST).write_bytes(files.manifest_file(manifest))


def _write_object(
    folder: Path, name: str, phrases: list[str], photos: list[Pixels], rng: np.random.Generator
) -> dict[str, str]:
    """One made-up object; its entry of the manifest."""
    order, gain = rng.permutation(3), rng.uniform(0.4, 1.0, 3)
    contents = {}
    for number, photo in enumerate(photos[:PHOTOS], 1):
        pixels = np.asarray(Image.fromarray(photo).resize((SIDE, SIDE), Image.Resampling.BILINEAR))
        pixels = np.rot90(pixels[:, :: rng.choice([-1, 1])], int(rng.integers(4)))
        contents[files.crop_name(f"{number:03d}")] = _png((pixels[..., order] * gain).astype(np.uint8))
    record = files.Record(folder, name, tuple(phrases), {file[:3]: {} for file in contents})
    contents[files.OBJECT] = files.record_file(record)
    folder.mkdir()
    for file, data in contents.items():
        (folder / file).write_bytes(data)
    return {file: files.photo_digest(data) for file, data in contents.items()}


def _png(pixels: Pixels) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
