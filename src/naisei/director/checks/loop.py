"""`loop`: the same word again and again. WARN at most. Source: the specification, §8."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from naisei.core import Check, Status
from naisei.director.checks.found import PASSED, found
from naisei.director.prepare import Line
from naisei.japanese.folding import fold

__all__ = ["check_loop", "spoken_words"]

_PASSED = PASSED["loop"]

#: Two kanji, two katakana or three Latin letters and more. It begins with one class for all
#: first characters, so that a search passes over hiragana quickly.
_WORD = re.compile(
    r"[\u3400-\u9fff々ァ-ヶーA-Za-z](?:(?<=[\u3400-\u9fff々])[\u3400-\u9fff々]+"
    r"|(?<=[ァ-ヶー])[ァ-ヶー]+|(?<=[A-Za-z])[A-Za-z]{2,})"
)
#: In one line a word may stand this often; of the last lines it may be in so many.
_IN_LINE, _WINDOW, _IN_LINES = 3, 5, 4
#: Only so much of a line of the history is read.
_READ = 2000


def spoken_words(text: str) -> list[str]:
    """The words of a folded text that can name a topic: kanji, katakana and Latin ones."""
    return _WORD.findall(text)


def check_loop(line: Line, history: Sequence[str], ignored: frozenset[str]) -> Check:
    """WARN if a word stands more than 3 times, or was in 4 of the 5 lines before, too.

    ignored: words that may recur, such as the speakers' names.
    """
    words = _WORD.findall(line.body)
    if not history and (len(words) <= _IN_LINE or len(words) - len(set(words)) < _IN_LINE):
        return _PASSED
    said = Counter(words)
    repeated = [w for w, n in said.items() if n > _IN_LINE and w not in ignored]
    if len(history) >= _IN_LINES:
        lines = [set(spoken_words(fold(text[:_READ]))) for text in history[-_WINDOW:]]
        repeated += [
            w for w in said if w not in ignored and sum(w in words for words in lines) >= _IN_LINES
        ]
    if not repeated:
        return _PASSED
    listed = "・".join(f"「{w}」" for w in dict.fromkeys(repeated))
    return found(
        line,
        "loop",
        Status.WARN,
        (f"同じ言葉を繰り返しています: {listed}。", f"The same word again and again: {listed}."),
        (
            "次は別の言い方にするか、話を一歩進めてください。",
            "Next, put it another way or take the topic a step further.",
        ),
        repeated,
    )
