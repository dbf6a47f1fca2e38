"""Training, fitting and measuring of what ``wayword.grounding`` ships."""
