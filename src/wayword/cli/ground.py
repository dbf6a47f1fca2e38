"""``wayword ground``: find what a phrase means in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from wayword.cli.common import console
from wayword.errors import WaywordError

if TYPE_CHECKING:
    from wayword.grounding import Exemplars, Grounder


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
        from wayword.grounding.proposals import HEIGHT, WIDTH
        from wayword.io import atomic_path
        from wayword.objects.photos import read_photo

        if self.out.suffix.lower() != ".png":
            raise WaywordError(f"{self.out}: pictures are written as .png; change the ending of --out")
        if not self.phrases:
            raise WaywordError('say what to look for, for example: wayword ground photo.jpg "the globe" --db DIR')
        grounder = Grounder.load(self.weights)
        exemplars = database_exemplars(grounder, self.db)
        p_reference = phrase_probabilities(self.phrases, self.db, exemplars.names)
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
        with atomic_path(self.out) as temporary:
            picture.save(temporary)
        table = Table("phrase", "means", "P(o | r)", "found", title=f"{self.image}")
        for r, phrase in enumerate(self.phrases):
            o = int(answer.p_object_of_reference[r].argmax())
            name = "none of these" if o == len(exemplars.names) else exemplars.names[o]
            strength = float(answer.alignment[r].max(initial=0.0))
            table.add_row(phrase, name, f"{answer.p_object_of_reference[r, o]:.2f}", f"{strength:.2f}")
        console.print(table)
        console.print(f"{self.out}", highlight=False, soft_wrap=True)


def database_exemplars(grounder: Grounder, folder: Path) -> Exemplars:
    """The embedded photos of a database."""
    import numpy as np

    from wayword.grounding import crop_and_resize
    from wayword.objects.files import crop_name, read_records
    from wayword.objects.photos import read_photo

    records = read_records(folder)
    if not records:
        raise WaywordError(f"{folder}: holds no objects; add some with `wayword teach NAME photo.jpg --db {folder}`")
    crops = {}
    for record in records:
        squares = [read_photo(record.folder / crop_name(number)).pixels for number in record.photos]
        parts = [crop_and_resize(q[None], [0], [[0, 0, q.shape[1], q.shape[0]]]) for q in squares]
        crops[record.name] = np.concatenate(parts) if parts else np.zeros((0, 3, 32, 32), np.float32)
    return grounder.embed_database(crops)


def phrase_probabilities(phrases: tuple[str, ...], folder: Path, names: tuple[str, ...]):  # type: ignore[no-untyped-def]
    """P(o | r) of the phrases, (R, M + 1), in the order of ``names``."""
    import numpy as np

    from wayword.language import CachedPhrases, MiniLM
    from wayword.language.phrases_db import load_phrases
    from wayword.language.reference_model import embed_database, load_reference_model

    encoder = CachedPhrases(MiniLM())
    database = embed_database(load_phrases(folder), encoder)
    found = load_reference_model().probabilities(encoder.embed(list(phrases)), database)
    order = [database.names.index(name) for name in names]
    return np.concatenate([found[:, order], found[:, -1:]], axis=1)
