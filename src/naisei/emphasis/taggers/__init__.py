"""Taggers: predict how likely each word of an article is emphasised."""
