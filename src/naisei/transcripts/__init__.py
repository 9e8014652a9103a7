"""Conversations in common formats: chat exports, subtitles, scripts, tables, data sets.

`read_transcripts` detects the format of a file and reads its turns; for an unknown format it raises
an error with the likely name. `FORMS` lists the formats, each a small declaration.
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
