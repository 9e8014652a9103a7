"""A player of tidying games (TWC style): common sense about households, corrected by the score."""
