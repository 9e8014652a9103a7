"""Automatic emphasis: the words of a document that a careful editor would set in bold."""
