"""Pictures for people: maps, flight videos, contact sheets."""

from wayword.lazy_names import lazy_names

__all__ = [
    "FlightCard",
    "ThoughtCard",
    "TopDown",
    "read_video_info",
    "write_video",
]

__getattr__ = lazy_names(
    __name__,
    {
        "flight_card": ("FlightCard",),
        "thought_card": ("ThoughtCard",),
        "topdown": ("TopDown",),
        "video": ("read_video_info", "write_video"),
    },
)
