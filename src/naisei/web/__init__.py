"""The web app: the systems, models and runs of the command line, each on one page."""
