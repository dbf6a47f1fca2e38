"""How alike the photos of a database look to the drone itself: the kernel of ImgEmb, for ``wayword objects check``.

The report is then about the confusions that will happen in flight: P(o | b) is made of the same vectors, width and
background. One difference: the width is that of a typical object, where in flight each object has its own
(``density``); for the dev and test objects they are within 6 % of each other.

By their colours, three pairs of dev objects would be reported (phone booth and rocket with 0.27); with this kernel
none is, that pair having 0.09.
"""

from __future__ import annotations

from pathlib import Path

from wayword.grounding.grounder import crop_tensor
from wayword.grounding.image_metric import ImageEmbedder
from wayword.grounding.weight_files import open_networks
from wayword.objects.cropping import Pixels
from wayword.objects.similarity import ImageKernel, Vectors
from wayword.shipped import DEFAULT_GROUNDER


def photo_kernel(grounder: Path | str = DEFAULT_GROUNDER) -> ImageKernel:
    """The image kernel of a grounder's weights, by name or folder."""
    networks, config = open_networks(grounder)
    embedder = ImageEmbedder(networks["metric"], config.dimension)

    def embed(crops: Pixels) -> Vectors:
        return embedder.embed(crop_tensor(crops))

    density = config.density
    variance = density.variance + density.spread * density.typical
    return ImageKernel("image vectors of the photos", embed, variance, density.background)
