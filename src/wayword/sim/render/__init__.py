"""From a scene and a pose to an image: camera, rasteriser, shading, looks, sensor effects."""
