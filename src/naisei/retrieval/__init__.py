"""Reads, splits, indexes and searches documents by words and by meaning."""
