"""What is kept of a flight: film, trace, track and Rerun recordings."""

from wayword.lazy_names import lazy_names

__all__ = [
    "Film",
    "FilmLog",
    "FilmedDecision",
    "FilmedFlight",
    "RecorderConfig",
    "Recordings",
    "VehicleFilm",
    "format_trace",
    "read_track",
    "track_of",
]

__getattr__ = lazy_names(
    __name__,
    {
        "film": ("Film", "FilmedDecision", "FilmedFlight", "RecorderConfig"),
        "rerun_files": ("FilmLog", "Recordings"),
        "trace": ("format_trace",),
        "track": ("read_track", "track_of"),
        "vehicle_film": ("VehicleFilm",),
    },
)
