"""The course of a training: the shared curves of `naisei.runs`."""

from naisei.runs.curves import Curve, svg

__all__ = ["Curve", "svg"]
