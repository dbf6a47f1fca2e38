"""Which figures stand side by side on the results page: the grids of ``results_page``, in the order of the page."""

from __future__ import annotations

from wayword.evaluation.report.grid import Grid
from wayword.evaluation.report.part_grids import PART_GRIDS

_LEARNED = {
    "**FsPVN**": "fspvn",
    "perfect segmentation": "fspvn_perfect",
    "large database (BigO)": "fspvn_bigo",
    "stage 2 by cloning (BC)": "fspvn_bc",
    "told nothing (NoU)": "fspvn_nou",
    "shown nothing (NoI)": "fspvn_noi",
}
_SYSTEMS = {**_LEARNED, "Average": "average", "Oracle": "oracle"}
_FLIGHT = (
    ("SR", "{}.sr"),
    ("EMD", "{}.emd"),
    ("OSR", "{}.osr"),
    ("NE", "{}.ne"),
    ("SPL", "{}.spl"),
    ("contacts", "{}.collisions"),
)

_FAMILIES = {
    "a plain goal": "goto",
    "beside, behind, before it, metres from it": "side",
    "past it on a side": "pass",
    "several goals in order": "sequence",
    "circles": "circle",
    "between two things": "between",
    "slalom": "weave",
    "turns and metres": "moves",
    "until something is somewhere": "until",
    "find it": "search",
    "the nearest, the second on the left": "spatial",
    "not this one; keep away": "negation",
    "and come back": "return",
    "stop, wait, do not move": "stay",
    "nothing this drone can do": "refuse",
    "several kinds of steps": "compound",
    "scenes: facing the first object": "drawn",
    "scenes: anywhere": "random",
    "scenes: the first object out of view": "hidden",
    "**all**": "all",
}

GRIDS = (
    Grid(
        "What people type",
        """
Commands with their meaning as steps, flown by `wayword` and judged step by step; where nothing can be flown, a refusal
is right. The commands were written by language models, not by people, and none of these writers wrote what was learned
from; `test` are the same texts about the eight test objects. [Commands](commands.md) says when a step is done.
""",
        "asked for",
        _FAMILIES,
        (
            ("test: success", "commands.wayword.test.{}.success"),
            ("contacts", "commands.wayword.test.{}.contacts"),
            ("told nothing", "commands.wayword.test.{}.told_nothing"),
            ("dev: success", "commands.wayword.dev.{}.success"),
            ("contacts", "commands.wayword.dev.{}.contacts"),
        ),
    ),
    Grid(
        "",
        "Refusals among these flights.",
        "",
        {"refused where nothing can be flown": "right_refusals", "refused in error": "false_refusals"},
        (("test", "commands.wayword.test.{}"), ("dev", "commands.wayword.dev.{}")),
    ),
    Grid(
        "",
        "Whole natural paragraphs of four or five segments, flown by `wayword` as one text.",
        "",
        {"stopped at the end": "end", "all ends in order": "all_ends", "contacts per flight": "contacts"},
        (("test", "paragraphs.test.{}"), ("dev", "paragraphs.dev.{}")),
    ),
    Grid(
        "How well it flies",
        """
Two-segment instructions, every system on the same flights. *Natural* and *generated* are about eight objects that no
part of the system has met; *seen* is natural instructions about objects the policy was trained on, in new layouts.
[Evaluation](evaluation.md) says what each row and column is.
""",
        "system",
        _SYSTEMS,
        (
            ("natural: SR", "{}.test.natural.sr"),
            ("EMD", "{}.test.natural.emd"),
            ("generated: SR", "{}.test.generated.sr"),
            ("EMD", "{}.test.generated.emd"),
            ("seen: SR", "{}.seen.natural.sr"),
            ("EMD", "{}.seen.natural.emd"),
        ),
    ),
    Grid(
        "",
        """
The paper's own, in its simulator, with objects of its own and people's instructions: FsPVN 34.9 % and 0.42 m, Average
15.9 % and 0.70 m, Oracle 98.4 % and 0.16 m on its test set; on its dev set FsPVN 28.2 % and 0.52 m, BigO 27.2 % and
0.52 m, BC 20.4 % and 0.68 m, NoI 15.5 % and 0.58 m, NoU 12.6 % and 0.70 m.

All metrics on natural instructions about unseen objects:
""",
        "system",
        {label: f"{system}.test.natural" for label, system in _SYSTEMS.items()},
        (*_FLIGHT, ("nDTW", "{}.ndtw"), ("SDTW", "{}.sdtw"), ("decisions", "{}.steps")),
    ),
    Grid(
        "Who loses the flights",
        """
Natural instructions about unseen objects: the share of all flights that each stage lost. A failed flight is laid to
the first stage that shows a mistake; [Evaluation](evaluation.md#who-lost-a-flight) says how.
""",
        "system",
        {label: f"{system}.test.natural" for label, system in _LEARNED.items()},
        tuple((stage, f"{{}}.lost_by_{stage}") for stage in ("language", "grounding", "map", "visitation", "control")),
    ),
    Grid(
        "Other vehicles",
        """
FsPVN on natural instructions, on vehicles that take shorter or longer to reach 63 % of a new speed, that get commands
late, and on a rigid body.
""",
        "vehicle",
        {
            "usual, 0.5 s": "vehicles.usual",
            "fast, 0.3 s": "vehicles.fast",
            "slow, 0.7 s": "vehicles.slow",
            "slowest, 1.0 s": "vehicles.slowest",
            "usual, commands 0.2 s late": "vehicles.delayed",
            "0.85 s, commands 0.3 s late": "vehicles.slow_delayed",
            "rigid body": "vehicles.rigid",
            "fitted to PX4": "vehicles.px4",
            "fitted to ArduCopter": "vehicles.arducopter",
        },
        (
            ("test: SR", "{}.test.sr"),
            ("EMD", "{}.test.emd"),
            ("contacts", "{}.test.collisions"),
            ("dev: SR", "{}.dev.sr"),
            ("EMD", "{}.dev.emd"),
            ("contacts", "{}.dev.collisions"),
        ),
    ),
    Grid(
        "A place it never saw",
        """
FsPVN in the simulated lab ([Grounding](grounding.md#the-lab-the-swap-without-a-drone)), natural instructions: with the
segmentation as it ships, and with weights made from pictures of the empty lab.
""",
        "segmentation",
        {"`real`, as it ships": "noswap.lab", "`lab`, swapped in": "swap.lab"},
        _FLIGHT,
    ),
    Grid(
        "Under the governor",
        """
Natural instructions about unseen objects, alone and through the flight stack with the governor on
([Safety](safety.md)), on three vehicles.
""",
        "",
        {
            "FsPVN, alone": "fspvn.test.natural",
            "governed": "governed.test.natural",
            "governed, fitted to PX4": "governed.px4.test.natural",
            "governed, fitted to ArduCopter": "governed.arducopter.test.natural",
            "`wayword`, alone": "wayword.test.natural",
            "`wayword`, governed": "governed.wayword.test.natural",
            "`wayword`, governed, fitted to PX4": "governed.wayword.px4.test.natural",
            "`wayword`, governed, fitted to ArduCopter": "governed.wayword.arducopter.test.natural",
        },
        _FLIGHT,
    ),
    Grid(
        "",
        "Typed commands ([Commands](commands.md)), alone and governed:",
        "",
        {
            "alone": "commands.wayword.test.all",
            "governed": "commands.governed.wayword.test.all",
            "governed, fitted to PX4": "commands.governed.wayword.px4.test.all",
            "governed, fitted to ArduCopter": "commands.governed.wayword.arducopter.test.all",
        },
        (("done", "{}.success"), ("contacts", "{}.contacts"), ("out of time", "{}.late")),
    ),
    Grid(
        "Told sides",
        """
400 drills: pairs of flights that start alike, told to pass the same thing on either side. A policy that looks at the
layout alone takes the told side in half of them.
""",
        "objects",
        {"test": "sides.test", "dev": "sides.dev"},
        (("told side", "{}.told_side"), *_FLIGHT),
    ),
    *PART_GRIDS,
)
