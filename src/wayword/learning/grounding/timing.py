"""Time of the segmentation per frame, stage by stage, and of the same networks in eager torch.

CPU time of one thread, one frame at a time, median over frames: on a shared machine wall time measures the
neighbours.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.grounding.crops import crop_and_resize, expand, square
from wayword.grounding.density import Exemplars
from wayword.grounding.grounder import Grounder
from wayword.grounding.image_metric import MARGIN
from wayword.grounding.proposals import image_tensor
from wayword.grounding.refine import MARGIN as REFINE_MARGIN
from wayword.intervals import Interval, bootstrap_mean


def stage_times(grounder: Grounder, images: NDArray[np.uint8], objects: int = 8) -> dict[str, Interval]:
    """Milliseconds per frame of each stage, with one reference; and of everything with one and five."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(objects * 5, grounder.config.dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    exemplars = Exemplars(tuple(map(str, range(objects))), vectors, np.repeat(np.arange(objects), 5))
    references = np.eye(objects + 1)
    stages: dict[str, list[float]] = {}
    for n in range(-5, len(images)):  # the first five warm up
        frame = images[max(n, 0)][None]
        (proposals,), t_propose = _timed(grounder.proposer, frame)
        which = np.zeros(len(proposals.boxes), np.int64)
        _, t_embed = _timed(grounder.embedder, frame, which, proposals.boxes)
        _, t_refine = _timed(grounder.refiner, frame, which, proposals.boxes)
        region = grounder.regions(frame)[0]
        _, t_align = _timed(grounder.ground, region, references[:1], exemplars)
        _, t_one = _timed(grounder, frame, references[:1], exemplars)
        _, t_five = _timed(grounder, frame, references[:5], exemplars)
        if n >= 0:
            times = (t_propose, t_embed, t_refine, t_align, t_one, t_five)
            names = ("proposals", "embedding", "refinement", "alignment", "one reference", "five references")
            for name, value in zip(names, times, strict=True):
                stages.setdefault(name, []).append(value)
    return {name: bootstrap_mean(values, rng) for name, values in stages.items()}


def backend_times(weights: Path, grounder: Grounder, images: NDArray[np.uint8]) -> dict[str, tuple[Interval, Interval]]:
    """Milliseconds of each network on the same inputs, 10 boxes: (onnxruntime, eager torch)."""
    import torch

    from wayword.learning.grounding.export import load_nets

    torch.set_num_threads(1)
    nets, _ = load_nets(weights)
    boxes = np.array([[10 + 9 * k, 20, 30 + 9 * k, 45] for k in range(10)], np.float32)
    which = np.zeros(10, np.int64)
    inputs = {
        "proposals": (grounder.proposer.network, image_tensor(images[:1])),
        "metric": (grounder.embedder.network, crop_and_resize(images[:1], which, square(boxes, MARGIN))),
        "refine": (grounder.refiner.network, crop_and_resize(images[:1], which, expand(boxes, REFINE_MARGIN))),
    }
    result = {}
    for name, (network, values) in inputs.items():
        net, tensor = nets.items()[name], torch.from_numpy(values)
        fast, slow = [], []
        with torch.no_grad():
            for n in range(45):
                a = _timed(network, values)[1]
                b = _timed(net, tensor)[1]
                if n >= 5:
                    fast.append(a)
                    slow.append(b)
        rng = np.random.default_rng(0)
        result[name] = bootstrap_mean(fast, rng), bootstrap_mean(slow, rng)
    return result


def _timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """The result, and the CPU milliseconds it took."""
    start = time.process_time()
    value = work(*arguments)
    return value, 1000 * (time.process_time() - start)
