"""A player with a small learned scorer over roles instead of names; numpy only."""
