"""The director: a line is checked before it is spoken, and rejected lines leave no trace."""

from naisei.director.autofix import autofix
from naisei.director.character import Character, load_character
from naisei.director.check import check
from naisei.director.gate import Gate, gate
from naisei.director.gate_calls import JudgeQuestion
from naisei.director.schemas import Draft, Judgement, Scores, Turn
from naisei.director.verdict import LineVerdict, Tone

__all__ = [
    "Character",
    "Draft",
    "Gate",
    "JudgeQuestion",
    "Judgement",
    "LineVerdict",
    "Scores",
    "Tone",
    "Turn",
    "autofix",
    "check",
    "gate",
    "load_character",
]
