"""Which figures stand side by side on the results page: the grids of ``results_page``, in the order of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """One table: labels of rows with what they put into the columns' patterns."""

    title: str
    """Heading of its section; empty for a further table of the section before."""
    about: str
    corner: str
    """What the rows are."""
    rows: Mapping[str, str]
    columns: tuple[tuple[str, str], ...]
    """Headings and patterns; two columns may be called alike."""


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
_BOTH_SPLITS = (("test", "{}.test"), ("dev", "{}.dev"))

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
        {"`sim`, as it ships": "noswap.lab", "`lab`, swapped in": "swap.lab"},
        _FLIGHT,
    ),
    Grid(
        "Under the governor",
        """
FsPVN on natural instructions about unseen objects, alone and through the flight stack with the governor on
([Safety](safety.md)).
""",
        "",
        {"alone": "fspvn.test.natural", "governed": "governed.test.natural"},
        _FLIGHT,
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
    Grid(
        "Segmentation",
        """
Every stage on the catalogue's objects, none of which it was trained on ([Grounding](grounding.md#how-good-it-is)).
""",
        "stage",
        {
            "proposals: recall of 10 boxes, %": "grounding.proposals.recall10",
            "ImgEmb: right of 2, five images each, %": "grounding.imgemb.2way",
            "right of 8, %": "grounding.imgemb.8way",
            "right of 15, %": "grounding.imgemb.15way",
            "right of 15 by colour histogram, %": "grounding.imgemb.15way_histogram",
            "right of 8 from one image, 1 exemplar, %": "grounding.imgemb.8way_1query_1exemplars",
            "right of 8 from one image, 5 exemplars, %": "grounding.imgemb.8way_1query_5exemplars",
            "ALIGN: right box on top, %": "grounding.top1",
            "ALIGN: calibration error": "grounding.align.calibration_error",
            "mask of the reference, IoU": "grounding.mask_iou",
            "mask of all objects, IoU": "grounding.all_iou",
            "referent not in view, AUROC": "grounding.absent.auroc",
            "object not in the database, AUROC": "grounding.unknown.auroc",
            "database of all objects: right box on top, %": "grounding.bigo.top1",
            "database of all objects: mask IoU": "grounding.bigo.mask_iou",
            "one frame, ms on one core": "grounding.ms_frame",
        },
        _BOTH_SPLITS,
    ),
    Grid(
        "Reading instructions",
        """
[Language](language.md#how-good-it-is) says what each figure is. Noun chunks with both edges right, on 180 natural `dev`
instructions and on the test part of the treebank:
""",
        "chunks",
        {
            "instructions, F1": "language.chunk.nav.f1",
            "instructions, precision": "language.chunk.nav.precision",
            "instructions, recall": "language.chunk.nav.recall",
            "treebank, F1": "language.chunk.ewt.f1",
            "treebank, precision": "language.chunk.ewt.precision",
            "treebank, recall": "language.chunk.ewt.recall",
        },
        (("ours", "{}"), ("spaCy", "{}_spacy")),
    ),
    Grid(
        "",
        "Which object a phrase means, P(o | r), with five phrases of each object in the database:",
        "phrase vectors",
        {
            "**MiniLM** (shipped)": "language",
            "GloVe without articles": "language.glove_bare",
            "GloVe (the paper's)": "language.glove",
        },
        (
            ("of 8: top 1", "{}.p_o_r.dev8.top1"),
            ("or none", "{}.p_o_r.dev8.accepted"),
            ("of 80: top 1", "{}.p_o_r.all80.top1"),
            ("or none", "{}.p_o_r.all80.accepted"),
            ("in the database, AUROC", "{}.in_db.auroc"),
            ("unlisted, of 80: top 1", "{}.p_o_r.all80.unlisted_top1"),
        ),
    ),
    Grid(
        "",
        "Alignment of chunks with objects, learned without annotation (Appendix D of the paper):",
        "method",
        {"**LSTM with EM** (used)": "", "mutual information": ".pmi", "most frequent object": ".frequent"},
        (
            ("natural", "language.align.natural{}.acc"),
            ("with NULL", "language.align.natural{}.acc_with_null"),
            ("generated", "language.align.generated{}.acc"),
            ("with NULL", "language.align.generated{}.acc_with_null"),
            ("ALFRED, target", "language.align.alfred{}.target_acc"),
            ("where named", "language.align.alfred{}.target_named_acc"),
        ),
    ),
    Grid(
        "",
        "The whole way from text, on natural `dev`: span and object must both be right.",
        "",
        {
            "whole parse, F1": "language.parse.dev.pronouns_on.f1",
            "whole parse without pronouns, F1": "language.parse.dev.pronouns_off.f1",
            "is it an object reference (ObjRef), F1": "language.objref.dev.f1",
            "pronouns given their object": "language.pronouns.on.resolved",
            "typing errors put right, `dev` corpus": "language.spelling.nav_dev.right",
            "sound words of the treebank spoilt": "language.spelling.ewt_spoilt",
        },
        (("value", "{}"),),
    ),
    Grid(
        "",
        "The reader, on `dev` commands (written by language models, not people; none of these writers wrote training "
        "commands) filled with phrases of dev objects, and on natural `dev` paragraphs.",
        "",
        {
            "steps exactly right": "language.reader.commands.exact",
            "the same, objects called by names they were not taught with": "language.reader.commands.unlisted_exact",
            "refusals right": "language.reader.refusals.right",
            "commands refused in error": "language.reader.refusals.false",
            "commands taken for commands": "language.reader.commands.kept",
            "descriptions taken for descriptions": "language.reader.descriptions.kept",
            "boundaries of segments, F1": "language.reader.boundaries.f1",
        },
        (("value", "{}"),),
    ),
    Grid(
        "How long it thinks",
        "One drone on one core; a decision is taken every 500 ms.",
        "",
        {
            "a step, image to action, ms": "policy.ms_step",
            "of it segmentation, %": "policy.share_segmentation",
            "of it visitation (stage 1), %": "policy.share_visitation",
            "of it the map, %": "policy.share_map",
            "of it control (stage 2), %": "policy.share_control",
            "reading an instruction, once, ms": "policy.ms_reading",
        },
        (("value", "{}"),),
    ),
)
