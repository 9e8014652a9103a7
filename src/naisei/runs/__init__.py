"""Runs: a directory, a log, an engine, statistics and reports, shared by all systems."""

from naisei.runs.task import EpisodeRow, Metric, Summary, Table, Task

__all__ = ["EpisodeRow", "Metric", "Summary", "Table", "Task"]
