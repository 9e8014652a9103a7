"""Declarative descriptions of systems, and the common parts derived from them."""
