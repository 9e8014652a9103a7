"""The player's few numbers, chosen on TWC's train games and on generated train objects."""

from __future__ import annotations

from naisei.runs.options import Options

__all__ = ["Tuning"]


class Tuning(Options):
    """decay: weight of a rank of receptacles over that of the rank before, 0–1. floor: weight of
    a place that the table does not name. unseen: chance that a kind of receptacle that was not
    seen stands in a room that was not entered. sure: from this probability on a thing is put
    away before the rest of the house is known. moved: how far a thing's first place counts as
    its right one. embed: whether names that the table does not know are compared by meaning.
    """

    decay: float = 0.3
    floor: float = 0.004
    unseen: float = 0.5
    sure: float = 0.6
    moved: float = 0.03
    embed: bool = True
