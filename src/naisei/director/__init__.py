"""The director: checks a line before it is spoken; rejected lines leave no trace in the state."""

from naisei.director.character import Character, load_character
from naisei.director.check import check
from naisei.director.config import TalkConfig
from naisei.director.gate import Gate, gate
from naisei.director.gate_calls import JudgeQuestion
from naisei.director.schemas import Draft, Judgement, Scores, TalkResult, Turn
from naisei.director.spoken import speakable
from naisei.director.system import TALK
from naisei.director.verdict import LineVerdict, Tone
from naisei.system.execute import RunOptions

__all__ = [
    "TALK",
    "Character",
    "Draft",
    "Gate",
    "JudgeQuestion",
    "Judgement",
    "LineVerdict",
    "RunOptions",
    "Scores",
    "TalkConfig",
    "TalkResult",
    "Tone",
    "Turn",
    "arun",
    "check",
    "gate",
    "load_character",
    "run",
    "speakable",
]

run, arun = TALK.run, TALK.arun
