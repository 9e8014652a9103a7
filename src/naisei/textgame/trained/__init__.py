"""The thesis's trained player (chapters 5 and 6) and its training."""
