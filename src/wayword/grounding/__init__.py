"""Few-shot language-conditioned segmentation."""
