"""Models of objects: meshes, the shared primitives, the catalogue, random objects, packs of a user's own."""
