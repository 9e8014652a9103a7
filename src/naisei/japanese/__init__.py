"""Japanese that two systems share: one morphology, one sentence splitter, one folding."""
