"""The command line: `naisei`."""
