"""Relationship reflection: measures, uses and displays the relationship of two personas."""

from naisei.relationship.config import RatingConfig, RelationshipConfig
from naisei.relationship.pairs import Pair, Persona
from naisei.relationship.schemas import Conversation, Line, Moment, Reflection, Session
from naisei.relationship.system import RATING, RUN
from naisei.relationship.vector import DIMENSIONS, Reading, RelationVector, Repair
from naisei.system.execute import RunOptions

__all__ = [
    "DIMENSIONS",
    "RATING",
    "RUN",
    "Conversation",
    "Line",
    "Moment",
    "Pair",
    "Persona",
    "RatingConfig",
    "Reading",
    "Reflection",
    "RelationVector",
    "RelationshipConfig",
    "Repair",
    "RunOptions",
    "Session",
    "arun",
    "run",
]

run, arun = RUN.run, RUN.arun
