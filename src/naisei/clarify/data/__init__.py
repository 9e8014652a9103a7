"""Data of clarify: actions, instances, and where they come from."""

from naisei.clarify.data.actions import load_actions
from naisei.clarify.data.sources import Dataset, load

__all__ = ["Dataset", "load", "load_actions"]
