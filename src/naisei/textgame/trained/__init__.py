"""The thesis's trained player (chapters 5 and 6), part by part, and how it is trained."""
