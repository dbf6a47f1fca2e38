"""Training and conversion of what ``wayword.language`` ships."""
