"""Kinds of players, by name."""
