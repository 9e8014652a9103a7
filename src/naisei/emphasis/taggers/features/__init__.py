"""Features of tokens and sentences, as hashed codes."""
