"""A planning player: tracks the state, explores, and runs errands."""
