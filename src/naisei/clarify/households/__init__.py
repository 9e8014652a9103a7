"""Households: requests of the same people over some days, and memories that last across them."""
