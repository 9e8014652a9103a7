"""Corpora of emphasised documents: read, kept, described, split."""
