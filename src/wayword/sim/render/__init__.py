"""From a scene and a pose to an image: camera, rasteriser, shading, looks, sensor effects."""

from wayword.lazy_names import lazy_names

__all__ = [
    "Frames",
    "LensConfig",
    "Light",
    "Look",
    "MeshBank",
    "RenderConfig",
    "Renderer",
    "Scene",
    "Sensor",
    "SensorConfig",
    "random_light",
    "random_look",
]

__getattr__ = lazy_names(
    __name__,
    {
        "bank": ("MeshBank",),
        "lens": ("LensConfig",),
        "look": ("Light", "Look", "random_light", "random_look"),
        "renderer": ("Frames", "RenderConfig", "Renderer", "Scene"),
        "sensor": ("Sensor", "SensorConfig"),
    },
)
