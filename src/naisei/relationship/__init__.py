"""Relationship reflection: two personas whose relationship is felt, measured and shown."""

from naisei.relationship.pairs import Pair, Persona
from naisei.relationship.schemas import Conversation, Line, Moment, Reflection, Session
from naisei.relationship.vector import DIMENSIONS, Reading, RelationVector, Repair

__all__ = [
    "DIMENSIONS",
    "Conversation",
    "Line",
    "Moment",
    "Pair",
    "Persona",
    "Reading",
    "Reflection",
    "RelationVector",
    "Repair",
    "Session",
]
