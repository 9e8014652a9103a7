"""Suggestions put into a document, and nothing else of it changed."""
