"""Taggers: from an article to how likely each of its words is emphasised."""
