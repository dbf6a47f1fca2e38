"""Studio: a live page in the browser. What is decided in it is plain Python; only ``page`` and ``stage`` know viser."""

from wayword.lazy_names import lazy_names

__all__ = [
    "Choices",
    "Session",
    "Studio",
    "StudioStep",
    "Workshop",
]

__getattr__ = lazy_names(
    __name__,
    {
        "server": ("Studio",),
        "kept_flight": ("StudioStep",),
        "session": ("Choices", "Session"),
        "workshop": ("Workshop",),
    },
)
