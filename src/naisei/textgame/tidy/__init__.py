"""A player of tidying-up games (TWC style): common sense of households, corrected by the score."""
