"""The commands of `naisei intent` that are no runs."""
