"""Readers of one file format each: bytes in, blocks out."""
