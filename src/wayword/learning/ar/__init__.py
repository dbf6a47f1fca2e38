"""Augmented-reality training data: random objects drawn over pictures of empty places (Appendix F)."""
