"""A language model plays: the text-game thesis, chapter 3."""
