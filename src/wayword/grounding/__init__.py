"""Few-shot language-conditioned segmentation: which pixels show what a phrase means (Section 4 of the paper)."""

from wayword.grounding.align import align, all_objects_mask, reference_masks
from wayword.grounding.crops import crop_and_resize, letterbox, square
from wayword.grounding.density import DensityConfig, Exemplars
from wayword.grounding.grounder import Grounder, Grounding, Regions
from wayword.grounding.proposals import ProposalConfig, Proposals
from wayword.grounding.weight_files import GroundingConfig

__all__ = [
    "DensityConfig",
    "Exemplars",
    "Grounder",
    "Grounding",
    "GroundingConfig",
    "ProposalConfig",
    "Proposals",
    "Regions",
    "align",
    "all_objects_mask",
    "crop_and_resize",
    "letterbox",
    "reference_masks",
    "square",
]
