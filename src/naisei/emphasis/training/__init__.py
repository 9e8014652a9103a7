"""`naisei emphasis train`: a tagger that learns from a whole corpus and is kept."""
