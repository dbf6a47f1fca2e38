"""Which objects of public mesh packs may be trained on, and which are held out, judged by their words.

The segmentation must never have met a dev or test object of the catalogue, so everything that looks like one
is left out: by the words of its name, and by eye (``lookalikes.json`` lists, per pack, what the words miss;
public collections are full of wrong names). Near-duplicates share a noun far more often than not, so the held-out
pool for validation is split off by noun. Both lists are deliberately wide: losing a few harmless objects costs nothing.
"""

from __future__ import annotations

import json
import re
import zlib
from functools import lru_cache
from importlib import resources

LOOKALIKES: dict[str, tuple[str, ...]] = {
    "globe": ("globe", "earth", "planet", "world", "moon"),
    "watermelon": ("melon", "watermelon", "melons", "cucumber", "zucchini"),
    "strawberry": (
        "berry", "berries", "strawberry", "strawberries", "raspberry", "elderberry", "radish", "tomato", "tomatoes",
    ),
    "flower pot": (
        "pot", "pots", "potted", "flowerpot", "planter", "houseplant", "plant", "plants", "vase", "urn", "fern",
        "orchid", "rose", "roses", "hibiscus", "flower", "flowers", "bonsai", "succulent", "bouquet", "garden",
    ),
    "brick": (
        "brick", "bricks", "lego", "duplo", "block", "blocks", "megablok", "megabloks", "stacking", "construction",
    ),
    "stack of plates": (
        "plate", "plates", "dish", "dishes", "saucer", "saucers", "tableware", "dinner", "dinnerware", "pancake",
        "pancakes", "ramekin",
    ),
    "fire truck": ("truck", "trucks", "lorry", "fire", "firetruck", "firefighter", "pickup", "dumper", "wagon"),
    "rocket": ("rocket", "rockets", "missile", "spaceship", "shuttle", "lander", "spacecraft", "launcher"),
    "robot": (
        "robot", "robots", "android", "mech", "cyborg", "droid", "humanoid", "transformers", "transformer", "roboto",
    ),
    "phone booth": ("phone", "telephone", "booth", "kiosk"),
    "hourglass": ("hourglass", "sandglass", "timer"),
    "doughnut": ("doughnut", "donut", "donuts", "ring", "rings", "torus", "bagel", "wreath", "pretzel", "tyre", "tire"),
    "telescope": ("telescope", "telescopes", "tripod", "easel", "spyglass", "binoculars"),
    "rubber duck": ("duck", "ducks", "duckling", "chick", "chicken", "goose", "bird"),
    "bathtub": ("bathtub", "bath", "tub", "bathroom"),
}  # fmt: skip
"""Words that mark an object as looking like a dev or test object. Checked by whole words of name and noun."""

FAMILIES: dict[str, tuple[str, ...]] = {
    "shoe": (
        "flats", "suede", "boot", "boots", "bootie", "chukka", "loafer", "clog", "sneaker", "trainer", "sandal",
        "thong", "heel", "heels", "slide", "moc", "shoes", "canvas", "leather", "court", "oxford", "pump", "flip",
        "sequin", "wedge", "slipper", "racer", "predator", "adizero", "reef", "driver", "womens", "mens", "reebok",
        "asics", "adidas", "trx", "wingtip", "sperry", "topsider", "boost", "terrex", "runner", "samoa", "fyw",
        "climacool", "glycerin", "purecadence", "pureconnect", "adrenaline", "superstar", "chelsea", "hilary", "lou",
        "kaitlin", "deckhand", "enforcer", "pheehan", "amberlight", "leucippus", "crazy", "zx", "gtx", "run",
    ),
    "supplement": (
        "lutein", "creatine", "coq", "lactoferrin", "quercetin", "ltyrosine", "theanine", "inositol", "germanium",
        "nattomax", "xylitol", "whey", "same", "htp", "mk", "fos", "jarrodophilus", "silicon", "optimizer", "fuel",
        "qhpomegranate", "phosphomega", "femdophilus", "vitamin", "acid", "capsule", "dim", "borage", "beta",
    ),
    "carton": ("perricone", "perricoen", "nintendo", "asus", "phillips", "hasbro", "game", "crayon", "epson", "canon"),
    "cartridge": ("ink", "toner", "cartridges", "inkjet"),
    "tree": ("birch", "pine", "willow", "palm", "bush", "maple", "oak"),
    "house": (
        "building", "home", "tower", "barrack", "barracks", "temple", "hall", "inn", "tavern", "castle", "church",
    ),
    "box": ("crate", "package", "carton"),
    "fish": (
        "shark", "tuna", "tetra", "goldfish", "grouper", "lionfish", "sunfish", "cowfish", "swordfish", "anglerfish",
        "flatfish", "turbot", "piranha", "snapper", "puffer", "gramma", "whale", "dolphin", "orca",
    ),
    "rock": ("stone", "mountain", "hill", "rocks", "boulder"),
    "bottle": ("potion", "flask"),
}  # fmt: skip
"""Nouns that name the same kind of thing: held out together or not at all."""

_FOLD = 4  # of a dozen tried, one that leaves the large families in training and holds out many small ones
_FAMILY = {word: family for family, words in FAMILIES.items() for word in words}
_LOOKALIKE = {word: like for like, words in LOOKALIKES.items() for word in words}
_WORD = re.compile(r"[a-z]+")


@lru_cache(maxsize=1)
def _seen_by_eye() -> dict[str, frozenset[str]]:
    text = resources.files(__package__).joinpath("lookalikes.json").read_text(encoding="utf-8")
    return {pack: frozenset(names) for pack, names in json.loads(text).items()}


def lookalike(name: str, noun: str, pack: str = "") -> str | None:
    """The dev or test object that this one may look like, or None; ``pack`` is the name of its collection."""
    if name in _seen_by_eye().get(pack, ()):
        return "seen by eye"
    for word in _WORD.findall(f"{name} {noun}".lower()):
        if word in _LOOKALIKE:
            return _LOOKALIKE[word]
        if word.endswith(("berry", "melon", "pot")):
            return _LOOKALIKE[word[-5:] if word.endswith("berry") else "melon" if word.endswith("melon") else "pot"]
    return None


def kind(name: str, noun: str) -> str:
    """The noun an object goes under: its family if it has one, else its head noun, else its name's last word."""
    words: list[str] = _WORD.findall(name.lower())
    heads: list[str] = _WORD.findall(noun.lower())[-1:]
    for word in (*heads, *words):
        if word in FAMILIES:
            return word
        if word in _FAMILY:
            return _FAMILY[word]
    long = [word for word in words if len(word) > 2]
    return (heads or long[-1:] or ["thing"])[0]


def held_out(kind_of_object: str, share: float) -> bool:
    """Whether objects of this noun belong to the held-out pool: a fixed coin per noun, in every run."""
    return zlib.crc32(f"{_FOLD}: {kind_of_object}".encode()) < share * 2**32
