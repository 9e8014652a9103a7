"""Shared Japanese text processing: morphology, sentence splitting, folding."""
