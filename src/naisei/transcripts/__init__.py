"""Conversations in common formats: chat exports, subtitles, scripts, tables, data sets.

`read_transcripts` finds the form of a file and reads its turns; an unknown form is refused with its
likely name. `FORMS` lists the forms, each a small declaration.
"""

from naisei.transcripts.forms import FORMS, Form
from naisei.transcripts.reader import (
    parse_transcripts,
    preview,
    read_transcript,
    read_transcripts,
)
from naisei.transcripts.turns import Transcript, Turn, plain_name

__all__ = [
    "FORMS",
    "Form",
    "Transcript",
    "Turn",
    "parse_transcripts",
    "plain_name",
    "preview",
    "read_transcript",
    "read_transcripts",
]
