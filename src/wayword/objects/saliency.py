"""The classical cropper: what differs from the border of the photo, hangs together and lies near the middle.

    D   (h, w)   distance of each pixel's colour to the colours of the border, also as they look in the shade
    G   (h, w)   geodesic distance to the border: how much the colour changes on the easiest way there
    S   = D / 2 + G / 2, each scaled to 0..1 (after Wei et al. 2012, "Geodesic saliency using background priors")

Needs no weights, takes 40 ms, and remains the fallback of the proposal network. On 300 rendered views of
the training objects with random grounds, lights and noise (mean IoU with the true box; share above 0.5):
alone 0.82, 91 %; with two other objects in view 0.62, 65 %; always answering the middle half 0.25.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from wayword.objects.cropping import MIN_BOX, Box, Pixels

Map = NDArray[np.float64]

_SHADES = np.linspace(1.0, 0.4, 7)
_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
_WHITE = np.array([0.9505, 1.0, 1.089])


@dataclass(frozen=True)
class SaliencyConfig:
    """The numbers of the method; colours are CIE Lab.

    Attributes:
        side: pixels of the longer side that the work is done at.
        colours: how many colours the border may have.
        border: width of the border, as a fraction of the shorter side.
        shade_cost: what it costs to count as a border colour in the shade, per unit of lost lightness.
        noise: change between neighbours that costs nothing on the way to the border.
        centre: width of the preference for the middle, as a fraction of the image.
        confidence: logistic weights of contrast, lead over the next region, contact with the border, how much of
            its box the region fills, and 1; fitted on the rendered views to P(IoU > 0.5).
    """

    side: int = 128
    colours: int = 4
    border: float = 0.06
    shade_cost: float = 0.35
    noise: float = 1.5
    centre: float = 0.3
    confidence: tuple[float, float, float, float, float] = (2.7, 3.6, -2.3, 8.0, -8.5)


class SaliencyCropper:
    """A ``Cropper`` that needs no training."""

    name = "saliency"

    def __init__(self, config: SaliencyConfig | None = None) -> None:
        self.config = config or SaliencyConfig()

    def crop_box(self, image: Pixels) -> tuple[Box, float]:
        """The box of the most salient region; the middle of the photo, with confidence 0, if there is none."""
        height, width = image.shape[:2]
        scale = min(1.0, self.config.side / max(height, width))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        small = np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BOX))
        middle = Box.middle(width, height)
        if min(size) < 8:  # a strip: nothing to tell border and inside apart by
            return middle, 0.0
        saliency = self.saliency(small)
        if saliency.max() <= 0:
            return middle, 0.0
        region, confidence = self._region(saliency)
        if region is None:
            return middle, 0.0
        rows, columns = np.flatnonzero(region.any(axis=1)), np.flatnonzero(region.any(axis=0))
        box = Box(int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
        box = box.scaled(width / size[0], height / size[1])
        if min(box.width, box.height) < MIN_BOX:
            return middle, 0.0
        return box, confidence

    def saliency(self, image: Pixels) -> Map:
        """S (h, w) of an image of working size, 0 to 1."""
        lab = ndimage.gaussian_filter(_to_lab(image), (0.7, 0.7, 0.0))
        return 0.5 * _unit(self._border_distance(lab)) + 0.5 * _unit(_geodesic(lab, self.config.noise))

    def _border_distance(self, lab: Map) -> Map:
        """D (h, w): to the nearest frequent colour of the border, in units of that colour's spread."""
        samples = lab[_border(lab.shape[:2], self.config.border)]
        colours, members = _cluster(samples, self.config.colours)
        nearest = np.full(lab.shape[:2], np.inf)
        for number, colour in enumerate(colours):
            own = samples[members == number]
            if len(own) < 0.04 * len(samples):
                continue
            spread = max(3.0, float(np.sqrt(((own - colour) ** 2).sum(axis=1).mean())))
            for shade in _SHADES:  # lightness and colour go down together in a shadow
                away = np.linalg.norm(lab - colour * shade, axis=-1)
                away += self.config.shade_cost * (1 - shade) * colour[0]
                nearest = np.minimum(nearest, away / (spread + 6.0))
        return nearest

    def _region(self, saliency: Map) -> tuple[NDArray[np.bool_] | None, float]:
        """The connected region with the most saliency near the middle, and the confidence in it."""
        mask = saliency > _otsu(saliency)
        mask = ndimage.binary_closing(np.pad(mask, 2))[2:-2, 2:-2]
        mask = ndimage.binary_opening(mask)
        labels, count = ndimage.label(mask)
        if not count:
            return None, 0.0
        height, width = saliency.shape
        y, x = np.mgrid[0:height, 0:width]
        away = ((x + 0.5) / width - 0.5) ** 2 + ((y + 0.5) / height - 0.5) ** 2
        numbers = np.arange(1, count + 1)
        weight = ndimage.sum(saliency * np.exp(-away / self.config.centre**2), labels, numbers)
        edge = _border(saliency.shape, 0.02)
        contact = ndimage.sum(edge, labels, numbers) / np.sqrt(ndimage.sum(labels > 0, labels, numbers))
        score = weight * np.exp(-0.7 * contact)
        best = int(np.argmax(score))
        region = labels == best + 1
        ring = ndimage.binary_dilation(region, iterations=6) & ~ndimage.binary_dilation(region, iterations=2)
        contrast = saliency[region].mean() - (saliency[ring].mean() if ring.any() else 1.0)
        rows, columns = ndimage.find_objects(labels)[best]
        fill = region.sum() / ((rows.stop - rows.start) * (columns.stop - columns.start))
        signs = (contrast, score[best] / score.sum(), contact[best], fill, 1.0)
        odds = sum(weight * sign for weight, sign in zip(self.config.confidence, signs, strict=True))
        return region, 1 / (1 + math.exp(-min(max(odds, -30.0), 30.0)))


def _to_lab(rgb: Pixels) -> Map:
    """sRGB to CIE Lab (D65): distances in it are about what an eye sees."""
    value = rgb.astype(np.float64) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _TO_XYZ.T / _WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def _border(shape: tuple[int, ...], fraction: float) -> NDArray[np.bool_]:
    band = max(2, round(fraction * min(shape)))
    mask = np.ones(shape, dtype=bool)
    mask[band:-band, band:-band] = False
    return mask


def _cluster(samples: Map, count: int, rounds: int = 10) -> tuple[Map, NDArray[np.int64]]:
    """k-means from a fixed start: the median, then far samples, but not the farthest, which are outliers."""
    centres = np.median(samples, axis=0)[None]
    while len(centres) < count:
        away = ((samples[:, None] - centres) ** 2).sum(axis=-1).min(axis=1)
        centres = np.vstack([centres, samples[np.argsort(away, kind="stable")[int(0.93 * len(away))]]])
    members = np.zeros(len(samples), dtype=np.int64)
    for _ in range(rounds):
        members = ((samples[:, None] - centres) ** 2).sum(axis=-1).argmin(axis=1)
        for number in range(count):
            if (members == number).any():
                centres[number] = samples[members == number].mean(axis=0)
    return centres, members


def _geodesic(lab: Map, noise: float) -> Map:
    """G (h, w): length of the shortest path to the border, where a step costs the change of colour beyond noise."""
    height, width = lab.shape[:2]
    numbers = np.arange(height * width).reshape(height, width)
    outside = numbers.size
    rim = numbers[_rim(height, width)]
    across = np.linalg.norm(np.diff(lab, axis=1), axis=-1).ravel()
    down = np.linalg.norm(np.diff(lab, axis=0), axis=-1).ravel()
    costs = np.concatenate([np.maximum(np.concatenate([across, down]) - noise, 1e-6), np.full(len(rim), 1e-6)])
    tails = np.concatenate([numbers[:, 1:].ravel(), numbers[1:].ravel(), rim])
    heads = np.concatenate([numbers[:, :-1].ravel(), numbers[:-1].ravel(), np.full(len(rim), outside)])
    graph = coo_matrix((costs, (tails, heads)), shape=(outside + 1, outside + 1)).tocsr()
    lengths: Map = dijkstra(graph, directed=False, indices=outside)
    return lengths[:-1].reshape(height, width)


def _rim(height: int, width: int) -> NDArray[np.bool_]:
    rim = np.ones((height, width), dtype=bool)
    rim[1:-1, 1:-1] = False
    return rim


def _unit(values: Map) -> Map:
    """0 to 1; the top 2 % count as 1. A map without any difference is all 0."""
    top = float(np.quantile(values, 0.98))
    return np.minimum(values / top, 1.0) if top > 1e-3 else np.zeros_like(values)


def _otsu(values: Map, bins: int = 128) -> float:
    """The threshold that parts the values into two groups with the least spread within them."""
    counts, edges = np.histogram(values, bins)
    centres = (edges[1:] + edges[:-1]) / 2
    below = np.cumsum(counts) / counts.sum()
    mean = np.cumsum(counts * centres) / counts.sum()
    apart = np.zeros(bins)
    inner = (below > 0) & (below < 1)
    apart[inner] = (mean[-1] * below[inner] - mean[inner]) ** 2 / (below[inner] * (1 - below[inner]))
    return float(centres[np.argmax(apart)])
