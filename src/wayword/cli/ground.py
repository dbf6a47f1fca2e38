"""``wayword ground``: find what a phrase means in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from wayword.cli.common import check_png, save_picture, say, visible
from wayword.errors import WaywordError
from wayword.shipped import PHOTO_GROUNDER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wayword.grounding.photo_grounder import PhotoGrounding
    from wayword.objects import ObjectDatabase


LEAST_MATCH = 0.2
"""ALIGN from which a box is taken for what was asked for."""
KNOWN = 0.5
"""Probability from which other things in the picture are named too."""


@dataclass(frozen=True)
class Ground:
    """Find the thing a phrase means in any picture, among the objects of a database."""

    image: tyro.conf.Positional[Path]
    """A photo or a frame: JPEG, PNG or WebP of any size."""
    phrases: tyro.conf.Positional[tuple[str, ...]]
    """What to look for, for example "the globe"; several phrases are painted in different colours."""
    db: Path
    """Folder of the object database (see `wayword teach`), or dev or test for those that ship."""
    out: Path = Path("out/overlay.png")
    """Where the picture goes."""
    grounder: str = PHOTO_GROUNDER
    """The segmentation's weights: shipped ones by name, or a folder (see `wayword train grounding`)."""

    def run(self) -> None:
        """Ground, draw, and say one sentence about each phrase."""
        import numpy as np

        from wayword.grounding.photo_cropper import photo_croppers
        from wayword.grounding.photo_grounder import PhotoGrounder
        from wayword.objects import ObjectDatabase
        from wayword.objects.photos import read_photo
        from wayword.pictures.segmentation import draw_found
        from wayword.pilot.pilot import database_folder

        check_png(self.out)
        if not self.phrases:
            raise WaywordError('say what to look for, for example: wayword ground photo.jpg "the globe" --db DIR')
        grounder = PhotoGrounder.load(self.grounder)
        database = ObjectDatabase.load(database_folder(self.db), photo_croppers())
        if not database.objects:
            raise WaywordError(
                f"{self.db}: holds no objects; add some with `wayword teach NAME photo.jpg --db {self.db}`"
            )
        exemplars = grounder.embed_database({item.name: list(item.photos) for item in database.objects})
        p_reference = phrase_probabilities(self.phrases, database)
        pixels = read_photo(self.image).pixels
        answer = grounder(pixels, p_reference, exemplars)
        matches = {}
        for r, phrase in enumerate(self.phrases):
            strength = float(answer.alignment[r].max(initial=0.0))
            if strength >= LEAST_MATCH:
                matches[r] = int(answer.alignment[r].argmax())
            say(_sentence(phrase, answer, r, exemplars.names))
        own = list(matches.values())
        others, names = _others(answer, exemplars.names, own)
        texts = [f"{self.phrases[r]} {answer.alignment[r, b]:.2f}" for r, b in matches.items()]
        masks = grounder.grounder.refiner(pixels[None], np.zeros(len(own), np.int64), answer.boxes[own])
        save_picture(draw_found(pixels, answer.boxes[own], texts, masks, others, names), self.out)


def _sentence(phrase: str, answer: PhotoGrounding, r: int, names: tuple[str, ...]) -> str:
    """What became of one phrase."""
    o = int(answer.p_object_of_reference[r].argmax())
    quoted = visible(phrase)
    if o == len(names):
        return f'"{quoted}" is not here: it means none of the {len(names)} objects that were taught'
    strength = answer.alignment[r].max(initial=0.0)
    if strength < LEAST_MATCH:
        return f'"{quoted}" is not here: nothing in the picture looks enough like {visible(names[o])} ({strength:.2f})'
    edges = " ".join(f"{edge:.0f}" for edge in answer.boxes[int(answer.alignment[r].argmax())])
    return f'"{quoted}" is here: {visible(names[o])} at {edges}, with probability {strength:.2f}'


def _others(answer: PhotoGrounding, names: tuple[str, ...], own: list[int]) -> tuple[NDArray[np.float32], list[str]]:
    """Boxes of known things that nobody asked for, and their names."""
    known = answer.p_object_of_box[:, :-1] * answer.p_box[:, None]
    rows = [b for b in range(len(known)) if b not in own and known[b].max(initial=0.0) >= KNOWN]
    return answer.boxes[rows], [names[int(known[b].argmax())] for b in rows]


def phrase_probabilities(phrases: tuple[str, ...], database: ObjectDatabase) -> NDArray[np.float64]:
    """P(o | r) of the phrases, (R, M + 1); objects that were taught without phrases cannot be meant."""
    import numpy as np

    from wayword.language import CachedPhrases, MiniLM
    from wayword.language.phrases_db import from_mapping
    from wayword.language.reference_model import embed_database, load_reference_model

    known = from_mapping(database.phrases())
    if not known:
        raise WaywordError(f"{database.path}: no object has a phrase; add one with `wayword teach NAME --phrase ...`")
    encoder = CachedPhrases(MiniLM())
    embedded = embed_database(known, encoder)
    probabilities = load_reference_model().probabilities(encoder.embed(list(phrases)), embedded)
    columns = {name: probabilities[:, i] for i, name in enumerate(embedded.names)}
    nothing = np.zeros(len(phrases))
    return np.stack([*(columns.get(name, nothing) for name in database.names), probabilities[:, -1]], axis=1)
