"""Finds the object in ordinary photos, so that it can be taught.

    I     (H, W, 3)       uint8 photo of any size
    box   x0, y0, x1, y1  pixels of I

Every photo has candidates (``photo_candidates``): boxes of the proposal network, what stands out, the middle. Photos of
one teaching show one thing, so the boxes that agree across them are taken (``shared_thing``); a single photo is judged
by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from wayword.grounding.image_metric import ImageEmbedder
from wayword.grounding.photo_candidates import CandidateFinder
from wayword.grounding.photo_vectors import PhotoEmbedder
from wayword.grounding.proposals import Proposer
from wayword.grounding.shared_thing import ChoiceConfig, choose_boxes
from wayword.grounding.weight_files import open_networks
from wayword.objects.cropping import Box, JointCropper, Pixels
from wayword.shipped import PHOTO_GROUNDER


class ProposalCropper:
    """The thing that a photo, or several photos of it, were taken for, as ``wayword.objects`` asks for it."""

    name = "proposals"

    def __init__(self, grounder: Path | str = PHOTO_GROUNDER, finder: CandidateFinder | None = None) -> None:
        self._grounder, self._own_finder = grounder, finder

    @cached_property
    def finder(self) -> CandidateFinder:
        """Loaded when the first photo comes: most databases are read without cutting any."""
        if self._own_finder is not None:
            return self._own_finder
        networks, config = open_networks(self._grounder)
        embedder = ImageEmbedder(networks["metric"], config.dimension)
        return CandidateFinder(Proposer(networks["proposals"], config.proposals), embedder, PhotoEmbedder.load())

    @cached_property
    def choice(self) -> ChoiceConfig:
        """How candidates are weighed."""
        return ChoiceConfig.load()

    def crop_box(self, image: Pixels) -> tuple[Box, float]:
        """The tight box around the object of one photo, and the probability that it is right."""
        return self.crop_boxes([image])[0]

    def crop_boxes(self, images: Sequence[Pixels]) -> list[tuple[Box, float]]:
        """The same for several photos of one thing, which help each other."""
        if not images:
            return []
        candidates = [self.finder(image) for image in images]
        answers = choose_boxes(candidates, self.choice)
        return [
            (Box(*(float(edge) for edge in photo.boxes[best])), sure)
            for photo, (best, sure) in zip(candidates, answers, strict=True)
        ]


def photo_croppers() -> tuple[JointCropper, ...]:
    """Who is asked for the object in a photo."""
    return (ProposalCropper(),)
