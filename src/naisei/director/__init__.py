"""The director: a line is checked before it is spoken, and rejected lines leave no trace."""

from naisei.director.character import Character, load_character
from naisei.director.check import check
from naisei.director.mend import mend
from naisei.director.verdict import LineVerdict, Tone

__all__ = ["Character", "LineVerdict", "Tone", "check", "load_character", "mend"]
