"""The grids of the results page about the parts by themselves: segmentation, language, speed."""

from __future__ import annotations

from wayword.evaluation.report.grid import Grid

_BOTH_SPLITS = (("test", "{}.test"), ("dev", "{}.dev"))

PART_GRIDS = (
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
        "",
        """
Harder: 30 random draws of 9 to 13 things each, of the 64 seen objects and of a mesh pack (Polygonal Mind's) of which no
training frame was made. Two things of every draw stand there and were not taught, two were taught and do not stand
there.
""",
        "stage",
        {
            "proposals: recall of 10 boxes, %": "proposals.recall10",
            "right box on top, %": "top1",
            "right box on top by colour histogram, %": "top1_histogram",
            "mask of the reference, IoU": "mask_iou",
            "referent not in view, AUROC": "absent.auroc",
            "things nobody taught, AUROC": "untaught.auroc",
        },
        (
            ("seen objects", "grounding.seen.{}.dev"),
            ("held-out pack", "grounding.pack.{}.dev"),
        ),
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
