"""Checks of a line that need no profile: form, scatter, logic, loop, jump.

Source: the retry-judgement specification, §§3 to 6.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from operator import add

from naisei.core import Check, Status
from naisei.director.character import Character, Limits
from naisei.director.prepare import EVIDENCE, PASSED, PreparedLine, finding, quoted
from naisei.director.spoken import PARTNER_SPEAKS, not_speech, of_partner
from naisei.director.wording.assertion_scope import double_negations
from naisei.japanese.folding import fold
from naisei.japanese.sentences import sentences_from


def check_form(line: PreparedLine, character: Character) -> Check:
    """RETRY from `retry_rows` rows, WARN from `warn_rows`; ignores leading and trailing blank rows.

    An empty line and a line with unspoken text are RETRY too.
    """
    limits = character.limits
    unspoken = not_speech(line.body, character.partner_labels, japanese=character.language == "ja")
    if unspoken is None and line.mends and of_partner(line.given, character.partner_labels):
        unspoken = (0, len(line.body), PARTNER_SPEAKS)
    if unspoken is not None:
        start, end, (ja, en) = unspoken
        return finding(
            line,
            "format",
            Status.RETRY,
            (f"話す言葉でないものがあります: {ja}。", f"It holds what nobody says aloud: {en}."),
            (
                "その人物が話す言葉だけを書いてください。",
                "Write the character's spoken words only.",
            ),
            [line.evidence(start, end)],
        )
    if not line.body or line.body.isspace():
        return finding(
            line,
            "format",
            Status.RETRY,
            ("発言が空です。", "The line is empty."),
            ("一言でよいので発言を書いてください。", "Write a line, one sentence is enough."),
            (),
        )
    rows = line.body.count("\n") + 1
    if rows < limits.warn_rows:
        return PASSED["format"]
    most = limits.warn_rows - 1
    return finding(
        line,
        "format",
        Status.RETRY if rows >= limits.retry_rows else Status.WARN,
        (f"{rows}行あります（{most}行まで）。", f"{rows} rows; at most {most} are allowed."),
        (f"{most}行以内にまとめてください。", f"Keep it within {most} rows."),
        [line.evidence(*_row(line.body, most))],
    )


def _row(text: str, number: int) -> tuple[int, int]:
    """The span of row `number`, counted from 0."""
    start = 0
    for _ in range(number):
        start = text.index("\n", start) + 1
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end


_WARN, _RETRY = Status.WARN, Status.RETRY


def check_scatter(line: PreparedLine, topics: tuple[str, ...], limits: Limits) -> Check:
    """RETRY if both RETRY limits are reached, WARN if either WARN limit is."""
    many = line.count >= limits.warn_sentences
    if not many and len(topics) < limits.warn_topics:
        return PASSED["scatter"]
    rejected = line.count >= limits.retry_sentences and len(topics) >= limits.retry_topics
    spans = list(topics)
    if many:
        span = sentences_from(line.masked, limits.warn_sentences - 1)
        spans.append(line.evidence(*span).strip())
    most = limits.warn_sentences - 1
    reason = (
        f"{line.count}文、話題{len(topics)}つで、話が散っています。",
        f"{line.count} sentences and {len(topics)} topics: the line is scattered.",
    )
    suggestion = (
        f"話題を一つに絞り、{most}文、{limits.advised}文字以内にしてください。",
        f"Keep to one topic, {most} sentences and {limits.advised} characters.",
    )
    return finding(line, "scatter", _RETRY if rejected else _WARN, reason, suggestion, spans)


def check_logic(line: PreparedLine) -> Check:
    """RETRY for phrases like 「まだ未成年じゃない」, never for tag questions and guesses."""
    spans = double_negations(line.body)
    if not spans:
        return PASSED["logic"]
    return finding(
        line,
        "logic",
        Status.RETRY,
        (
            "二重否定で意味が逆になっています。",
            "A double negation turns the meaning round.",
        ),
        (
            "否定を一つにして言い切ってください（例:「まだ未成年」「もう成人している」）。",
            "Use one negation only, e.g. 「まだ未成年」 or 「もう成人している」.",
        ),
        [line.evidence(*span) for span in spans[:EVIDENCE]],
    )


#: At least two kanji, two katakana or three Latin letters. Begins with one character class, so that
#: a search skips hiragana quickly.
_CONTENT_WORD = re.compile(
    r"[\u3400-\u9fff々ァ-ヶーA-Za-z](?:(?<=[\u3400-\u9fff々])[\u3400-\u9fff々]+"
    r"|(?<=[ァ-ヶー])[ァ-ヶー]+|(?<=[A-Za-z])[A-Za-z]{2,})"
)
#: Maximum occurrences of a word in one line, and of recent lines with the word.
_IN_LINE, _WINDOW, _IN_LINES = 3, 5, 4
#: Number of characters read per history line.
_READ = 2000


def spoken_words(text: str) -> list[str]:
    """The words of a folded text that can name a topic: kanji, katakana and Latin words."""
    return _CONTENT_WORD.findall(text)


def check_loop(line: PreparedLine, history: Sequence[str], ignored: frozenset[str]) -> Check:
    """WARN if a word occurs more than 3 times, or also occurs in 4 of the 5 previous lines.

    ignored: words that may recur, such as the speakers' names.
    """
    words = _CONTENT_WORD.findall(line.body)
    if not history and (len(words) <= _IN_LINE or len(words) - len(set(words)) < _IN_LINE):
        return PASSED["loop"]
    said = Counter(words)
    repeated = [w for w, n in said.items() if n > _IN_LINE and w not in ignored]
    if len(history) >= _IN_LINES:
        lines = [set(spoken_words(fold(text[:_READ]))) for text in history[-_WINDOW:]]
        repeated += [
            w for w in said if w not in ignored and sum(w in words for words in lines) >= _IN_LINES
        ]
    if not repeated:
        return PASSED["loop"]
    ja, en = quoted(dict.fromkeys(repeated), "ja"), quoted(dict.fromkeys(repeated), "en")
    return finding(
        line,
        "loop",
        Status.WARN,
        (f"同じ言葉を繰り返しています: {ja}。", f"The same word again and again: {en}."),
        (
            "次は別の言い方にするか、話を一歩進めてください。",
            "Next, put it another way or take the topic a step further.",
        ),
        repeated,
    )


#: Similarity that counts as repetition; maximum length of a line that may be repeated; and number
#: of earlier lines to compare.
_ALIKE, _SHORT, _BEFORE = 0.7, 5, 6


def check_repetition(line: PreparedLine, history: Sequence[str]) -> Check:
    """WARN if the line is nearly the same as an earlier one. Thanks and greetings may recur."""
    if len(line.body) < _SHORT or _FORMULA.fullmatch(line.body):
        return PASSED["loop"]
    here = _neighbours(line.body)
    for earlier in reversed(history[-_BEFORE:]):
        there = _neighbours(before := fold(earlier))
        shorter, longer = sorted((len(here), len(there)))
        alike = 2 * shorter > longer and len(here & there) >= _ALIKE * max(1, shorter)
        if alike and not _answers(line.body, before):
            return finding(
                line,
                "loop",
                Status.WARN,
                ("前の発言とほとんど同じです。", "It is nearly the same as an earlier line."),
                ("話を一歩進めてください。", "Take the talk a step further."),
                [earlier],
            )
    return PASSED["loop"]


def _neighbours(text: str) -> frozenset[str]:
    """The pairs of neighbouring characters of a text."""
    return frozenset(map(add, text, text[1:]))


_FORMULA = re.compile(
    r"(?:(?:はい|ええ|うん|いえ|どうも|本当に|こちらこそ)[、。…]?)?"
    r"(?:ありがとう(?:ございま(?:す|した))?|すみません(?:でした)?|ごめん(?:なさい)?|おはよう(?:ございます)?"
    r"|お疲れ(?:様|さま)(?:です|でした)?|(?:分|わ)かりました|了解(?:です|しました)?|よろしくお願いします"
    r"|いただきます|ごちそう(?:さま|様)(?:でした)?|おかえり(?:なさい)?|ただいま|おやすみ(?:なさい)?)"
    r"[。！!…〜ーね]*"
)
#: The end of a question or a request.
_ASKS = re.compile(
    r"(?:[?？]|[てでか]|ください|下さい|ちょうだい|[てで](?:くれ|ほしい)|お願い(?:します)?|なさい|ろ)[よね]?[。！!〜ー…\s]*\Z"
)


def _answers(line: str, before: str) -> bool:
    """Whether a line answers the previous line in the same words: 「つけて」 「つけました」."""
    if line.startswith("I ") or line.startswith("I'"):
        return not before.startswith("I")
    return _ASKS.search(before) is not None and _ASKS.search(line) is None


_TURN = re.compile(
    r"(?:ところで|そういえば|そう言えば|話は変わ|話変わ|話を変え|それはそうと|それはともかく|"
    r"それより|話は違|関係ない(?:けど|話|です)|全然違う話|別の話)"
)
#: Depth of a topic: number of lines that share a word with the previous line.
_DEPTH = 3


def check_jump(line: PreparedLine, history: Sequence[str], topics: tuple[str, ...]) -> Check:
    """WARN if the line changes a topic that is less than 3 lines old. A change has a marker
    (「ところで」) or names a topic, and shares no word with the two previous lines.
    """
    if not history:
        return PASSED["jump"]
    turn = _TURN.search(line.body)
    if turn is None and not topics:
        return PASSED["jump"]
    here = set(spoken_words(line.body))
    before = [set(spoken_words(fold(text[:_READ]))) for text in history[-_DEPTH - 1 :]]
    if not before[-1] or here & set().union(*before[-2:]) or _depth(before) >= _DEPTH:
        return PASSED["jump"]
    return finding(
        line,
        "jump",
        Status.WARN,
        ("今の話題を掘り下げる前に話題を変えています。", "It leaves the topic too early."),
        (
            "まず直前の話題に答えるか、もう一歩深めてください。",
            "Answer or deepen the present topic first.",
        ),
        [line.evidence(*turn.span())] if turn else topics,
    )


def _depth(lines: list[set[str]]) -> int:
    """Number of last lines on one topic: each shares a word with the next."""
    depth = 1
    for earlier, later in zip(reversed(lines[:-1]), reversed(lines[1:]), strict=True):
        if not earlier & later:
            break
        depth += 1
    return depth
