"""Intent first: a document assistant that asks back before it searches."""
