"""Finds the object in an ordinary photo with the proposal network, so that it can be taught.

    I     (H, W, 3)       uint8 photo of any size
    box   x0, y0, x1, y1  pixels of I

A photo of one thing is not what a drone sees, so it is looked at twice: as it is, and reduced to half the
frame, where an object that fills the photo is as large as one the network was trained on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayword.grounding.crops import letterbox
from wayword.grounding.proposals import HEIGHT, WIDTH, Proposer
from wayword.grounding.weights import load_networks
from wayword.objects.cropping import Box


class ProposalCropper:
    """The largest confident object near the middle, as ``wayword.objects`` asks for it."""

    name = "proposals"

    def __init__(self, proposer: Proposer | None = None, weights: str = "sim") -> None:
        if proposer is None:
            networks, config = load_networks(weights)
            proposer = Proposer(networks["proposals"], config.proposals)
        self.proposer = proposer

    def crop_box(self, image: NDArray[np.uint8]) -> tuple[Box, float]:
        """The tight box around the object, and the probability that there is one.

        A photo without any confident object gives its middle half, with probability 0.
        """
        height, width = image.shape[:2]
        best, value, sure = np.array([width / 4, height / 4, width * 3 / 4, height * 3 / 4]), 0.0, 0.0
        for padding in (0.0, 0.5):
            frame, scale, dx, dy = letterbox(image, HEIGHT, WIDTH, padding)
            found = self.proposer(frame[None])[0]
            for box, p in zip(found.boxes, found.objectness, strict=True):
                real = (box - np.array([dx, dy, dx, dy])) / scale
                real = np.clip(real, 0, np.array([width, height, width, height]))
                x, y = (real[:2] + real[2:]) / 2 / np.array([width, height]) - 0.5
                share = float(np.sqrt(np.prod((real[2:] - real[:2]) / np.array([width, height]))))
                merit = float(p) * share**0.5 * float(np.exp(-4.0 * (x * x + y * y)))
                if merit > value and (real[2:] - real[:2]).min() >= 1:
                    best, value, sure = real, merit, float(p)
        return Box(*(float(side) for side in best)), sure
