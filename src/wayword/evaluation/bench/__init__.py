"""How fast it is."""

from wayword.lazy_names import lazy_names

__all__ = [
    "PolicySpeed",
]

__getattr__ = lazy_names(
    __name__,
    {
        "policy_speed": ("PolicySpeed",),
    },
)
