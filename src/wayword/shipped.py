"""Which of the shipped segmentation weights see where nobody names others (docs/grounding.md#weights)."""

DEFAULT_GROUNDER = "real"
"""In flight."""
PHOTO_GROUNDER = "real"
"""On photographs (`teach`, `ground`), and where the training for a room of one's own begins."""
