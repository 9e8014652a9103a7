"""The web door: the same systems, models and runs as the command line, in one page each."""
