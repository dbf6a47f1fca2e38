"""A flight as a line of text: where the drone was at every decision, small enough to stand in every row of a result.

"2.35,0.40,93 2.36,0.52,90 2.36,0.74,90"      x,y in world metres and heading in degrees, at each decision; the
                                              last triple is where the flight ended
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError

PoseTrack = NDArray[np.float64]
"""(T, 3) x, y in metres and heading in degrees."""
LONGEST = 10_000
"""Decisions of the longest track that is read: hours of flight."""


def track_of(path: NDArray[np.float64], poses: NDArray[np.float64], stopped: bool) -> str:
    """The track of a flight: true positions (P, 2), reported headings of the poses (T, 6) at its T decisions.

    ``stopped``: its last decision was to stop, which takes no time.
    """
    yaws, moves = poses[:, 5], len(poses) - stopped
    steps = (len(path) - 1) // max(moves, 1)  # sub-steps of the vehicle per decision
    places = path[np.arange(moves + 1) * steps]
    headings = np.degrees(yaws[np.minimum(np.arange(moves + 1), len(yaws) - 1)])
    return " ".join(f"{x:.2f},{y:.2f},{heading % 360:.0f}" for (x, y), heading in zip(places, headings, strict=True))


def read_track(text: object) -> PoseTrack:
    """The track as numbers; anything else is refused."""
    try:
        if not isinstance(text, str) or text.count(" ") >= LONGEST:
            raise ValueError
        values = np.array([[float(number) for number in triple.split(",")] for triple in text.split()])
        if values.ndim != 2 or values.shape[1] != 3 or not np.isfinite(values).all() or np.abs(values).max() > 1e4:
            raise ValueError
    except ValueError as error:
        excerpt = f"{text!r}"[:40]
        raise WaywordError(f"the track {excerpt} is not a list of x,y,heading triples; evaluate again") from error
    return values
