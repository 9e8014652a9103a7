"""A language model that was not trained for it is asked to emphasise (thesis, section 4.6)."""
