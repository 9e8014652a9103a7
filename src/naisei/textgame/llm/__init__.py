"""Language-model players: the text-game thesis, chapter 3."""
