"""Data of clarify: actions, instances, and where they come from."""

from naisei.clarify.data.loader import Dataset, load
from naisei.clarify.data.records import load_actions

__all__ = ["Dataset", "load", "load_actions"]
