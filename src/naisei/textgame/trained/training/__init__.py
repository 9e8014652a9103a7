"""Training of the scorer and the classifier. Needs the extra `train`; nothing else here does."""
