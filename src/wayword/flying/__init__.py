"""What ``wayword fly`` does, below the command line: from a request to a flight, its film and its trace.

Nothing heavy is imported here: the command line reads its options from this package.
"""

from wayword.lazy_names import lazy_names

__all__ = [
    "EpisodeSource",
    "FlightFiles",
    "FlightRequest",
    "FlightResult",
    "PreparedFlight",
    "fly_request",
    "load_bank",
    "prepare_flight",
]

__getattr__ = lazy_names(
    __name__,
    {
        "episode_source": ("EpisodeSource", "load_bank"),
        "flight_request": ("FlightRequest", "PreparedFlight", "prepare_flight"),
        "fly": ("FlightFiles", "FlightResult", "fly_request"),
    },
)
