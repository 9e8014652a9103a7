"""A memory stream: what was said, felt and known, retrieved by relevance, importance and
recency.

Source: Park et al., Generative Agents (UIST 2023), §4.1, with the score of the
relationship-reflection method: the sum of the three, each min-max normalised, recency
0.995^hours.
"""

from naisei.memory.entry import Entry, EvidenceBlock, Kind, Part, Scored, ScoreWeights, evidence
from naisei.memory.stream.handler import (
    KeptHandler,
    KeptStream,
    Recall,
    Recent,
    StreamHandler,
    rate,
    remember,
)
from naisei.memory.stream.stream import Stream

__all__ = [
    "Entry",
    "EvidenceBlock",
    "KeptHandler",
    "KeptStream",
    "Kind",
    "Part",
    "Recall",
    "Recent",
    "ScoreWeights",
    "Scored",
    "Stream",
    "StreamHandler",
    "evidence",
    "rate",
    "remember",
]
