"""``wayword ground``: find what a phrase means in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from wayword.cli.common import check_png, console, save_picture, visible
from wayword.errors import WaywordError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wayword.objects import ObjectDatabase


@dataclass(frozen=True)
class Ground:
    """Find the thing a phrase means in any picture, among the objects of a database."""

    image: tyro.conf.Positional[Path]
    """A photo or a frame: JPEG, PNG or WebP of any size."""
    phrases: tyro.conf.Positional[tuple[str, ...]]
    """What to look for, for example "the globe"; several phrases are painted in different colours."""
    db: Path
    """Folder of the object database (see `wayword teach`)."""
    out: Path = Path("out/overlay.png")
    """Where the picture goes."""
    weights: str = "sim"
    """Which trained weights."""

    def run(self) -> None:
        """Ground, draw, print the probabilities."""
        from PIL import Image
        from rich.table import Table

        from wayword.grounding import Grounder, letterbox
        from wayword.grounding.overlay import draw_boxes, enlarge, paint_masks
        from wayword.grounding.photo_cropper import photo_croppers
        from wayword.grounding.proposals import HEIGHT, WIDTH
        from wayword.objects import ObjectDatabase
        from wayword.objects.photos import read_photo

        check_png(self.out)
        if not self.phrases:
            raise WaywordError('say what to look for, for example: wayword ground photo.jpg "the globe" --db DIR')
        grounder, database = Grounder.load(self.weights), ObjectDatabase.load(self.db, photo_croppers())
        if not database.objects:
            raise WaywordError(
                f"{self.db}: holds no objects; add some with `wayword teach NAME photo.jpg --db {self.db}`"
            )
        exemplars = grounder.embed_database(database.crops())
        p_reference = phrase_probabilities(self.phrases, database)
        pixels = read_photo(self.image).pixels
        frame, scale, dx, dy = letterbox(pixels, HEIGHT, WIDTH)
        answer = grounder(frame[None], p_reference, exemplars)[0]
        height, width = pixels.shape[:2]
        picture = Image.fromarray(paint_masks(pixels, enlarge(answer.masks, width, height, scale, dx, dy)))
        for r, phrase in enumerate(self.phrases):
            b = int(answer.alignment[r].argmax()) if len(answer.boxes) else None
            if b is not None and answer.alignment[r, b] > 0.05:
                x0, y0, x1, y1 = answer.boxes[b].tolist()
                box = [[(x0 - dx) / scale, (y0 - dy) / scale, (x1 - dx) / scale, (y1 - dy) / scale]]
                draw_boxes(picture, box, [f"{phrase} {answer.alignment[r, b]:.2f}"])
        table = Table("phrase", "means", "P(o | r)", "found", title=visible(self.image))
        for r, phrase in enumerate(self.phrases):
            o = int(answer.p_object_of_reference[r].argmax())
            name = "none of these" if o == len(exemplars.names) else exemplars.names[o]
            strength = float(answer.alignment[r].max(initial=0.0))
            table.add_row(
                visible(phrase), visible(name), f"{answer.p_object_of_reference[r, o]:.2f}", f"{strength:.2f}"
            )
        console.print(table)
        save_picture(picture, self.out)


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
    found = load_reference_model().probabilities(encoder.embed(list(phrases)), embedded)
    columns = {name: found[:, i] for i, name in enumerate(embedded.names)}
    nothing = np.zeros(len(phrases))
    return np.stack([*(columns.get(name, nothing) for name in database.names), found[:, -1]], axis=1)
