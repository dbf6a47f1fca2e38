"""Models of objects: meshes, the shared primitives, the catalogue, random objects, packs of a user's own."""

from wayword.lazy_names import lazy_names

__all__ = [
    "Mesh",
    "Pack",
    "Solid",
    "load_pack",
    "random_object",
    "random_objects",
]

__getattr__ = lazy_names(
    __name__,
    {
        "mesh": ("Mesh", "Solid"),
        "packs": ("Pack", "load_pack"),
        "random_objects": ("random_object", "random_objects"),
    },
)
