"""Benchmarks: `python -m benchmarks` runs all; each says its bars and fails if one is missed."""
