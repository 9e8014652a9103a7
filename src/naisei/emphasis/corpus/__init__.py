"""Corpora of emphasised documents: reading, storing, describing, splitting."""
