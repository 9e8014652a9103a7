"""A player that plans: it reads a state from the texts, explores, and runs errands."""
