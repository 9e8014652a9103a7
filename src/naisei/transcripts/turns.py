"""Turns read from a file, in the order spoken."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from itertools import pairwise
from typing import Any


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of a file.

    number: its first row in the file, or its entry in the list, from 1. speaker: "" if unnamed.
    text: without name, time and mood. session: from 1. at: its time, if the file has one; without a
    zone if the file gives none; without a day, the time of day or since the beginning
    (`are_elapsed`). order: its number in the file, if any. to: its only recipient, if any. history:
    the entry's earlier texts, oldest first.
    """

    number: int
    speaker: str
    text: str
    session: int = 1
    at: datetime | time | None = None
    order: int | None = None
    history: tuple[str, ...] | None = None
    to: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation.

    name: its id in the file, or the file's name. form: its format. turns: oldest first. roster:
    speakers in the order in which the file introduces them. personas: speaker → description.
    left_out: number of entries that are not an utterance of one person (notices, stickers, calls,
    narration, several speakers). source: the parsed JSON of this conversation, else `None`.
    """

    name: str
    form: str
    turns: tuple[Turn, ...]
    roster: tuple[str, ...] = ()
    personas: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    source: Any = None

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers, in the roster's order, then by first turn."""
        spoken = list(dict.fromkeys(turn.speaker for turn in self.turns))
        return tuple(dict.fromkeys([*(n for n in self.roster if n in spoken), *spoken]))


def plain_name(name: str) -> str:
    """A speaker's name in uniform width, without surrounding spaces and emphasis marks."""
    shown = (c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")
    text = " ".join("".join(shown).split())
    text = re.sub(r"\s*\((?:外部|ゲスト|pinned)\)\Z", "", text)
    return text.strip("*_ ").removeprefix("@").removeprefix("~").strip()


def in_order(turns: Sequence[Turn], *, by_day: bool) -> list[Turn]:
    """Sort turns, oldest first, by number or time if all have one.

    Reverses exports that begin with the newest. by_day: each day is a session.
    """
    out = list(turns)
    numbers = [turn.order for turn in out]
    if out and None not in numbers and len(set(numbers)) == len(out):
        return sorted(out, key=lambda turn: turn.order or 0)
    moments = [turn.at for turn in out]
    if _falls(moments):
        out.reverse()
    if all(isinstance(at, datetime) for at in moments) and len({_zoned(at) for at in moments}) == 1:
        out.sort(key=lambda turn: turn.at or datetime.min)
    return _days(out) if by_day and any(isinstance(turn.at, datetime) for turn in out) else out


def _zoned(at: object) -> bool:
    return isinstance(at, datetime) and at.tzinfo is not None


def _falls(moments: Sequence[datetime | time | None]) -> bool:
    """Whether the times go backwards: more steps back than forward; no step forward if only the
    time of day is known (midnight is also a step back)."""
    known = [at for at in moments if at is not None]
    steps = [(a, b) for a, b in pairwise(known) if type(a) is type(b) and _zoned(a) == _zoned(b)]
    back = sum(b < a for a, b in steps)  # type: ignore[operator]
    forth = sum(a < b for a, b in steps)  # type: ignore[operator]
    if any(isinstance(at, time) for at in known):
        return back > 1 and not forth
    return back > forth


#: Exports in seconds since 1970 have no zone: days are in Japan's zone for a Japanese conversation,
#: else in UTC, independent of the machine's zone.
_JAPAN = timezone(timedelta(hours=9))
_KANA = re.compile(r"[ぁ-んァ-ヶ]")


def _days(turns: Sequence[Turn]) -> list[Turn]:
    days: dict[date | None, int] = {}
    japanese = any(_KANA.search(turn.text) for turn in turns)
    out, session = [], 1
    for turn in turns:
        if isinstance(turn.at, datetime):
            # Turns before the first date are a separate day.
            at = turn.at.astimezone(_JAPAN) if japanese and turn.at.tzinfo is UTC else turn.at
            session = days.setdefault(at.date(), len(days) + 1)
        elif not days:
            days[None] = 1
        out.append(replace(turn, session=session))
    return out


_DATE = re.compile(
    r"(\d{4})\D{1,2}(\d{1,2})\D{1,2}(\d{1,2})|(\d{1,2})[-/.](\d{1,2})[-/.](\d{2,4})"
    r"|([A-Z][a-z]{2})[a-z]*\.? (\d{1,2}), (\d{4})"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK = re.compile(r"(\d{1,2})[:：時](\d{2})(?:[:：分](\d{2}))?")
_AFTERNOON = re.compile(r"午後|오후|p\.?m", re.IGNORECASE)
_TWELVE = re.compile(r"午前|午後|오전|오후|[ap]\.?m", re.IGNORECASE)


def are_elapsed(stamps: Sequence[str]) -> bool:
    """Whether times without a day are minutes and seconds from the start, as in speech recognition
    (0:03, 12:41, 1:02:03): one has more than 23 before its colon, or the first is within the first
    minute and each is later than the previous one."""
    if any(_TWELVE.search(text) or _DATE.search(text) or "時" in text for text in stamps):
        return False
    found = [match for text in stamps if (match := _CLOCK.search(text))]
    if any(match[3] is None and int(match[1]) > 23 for match in found):
        return True
    since = [at for match in found if (at := clock(match[0], elapsed=True)) is not None]
    rising = all(a < b for a, b in pairwise(since))
    return len(since) > 1 and since[0] < time(0, 1) and rising


def clock(text: str, *, elapsed: bool = False) -> time | None:
    """Parse a time of day such as 19:02, 午後7:02 or 7:02 PM. elapsed: two numbers are minutes and
    seconds."""
    found = _CLOCK.search(text)
    if found is None:
        return None
    hour = int(found[1])
    if elapsed and found[3] is None:
        return time(hour // 60, hour % 60, int(found[2])) if int(found[2]) < 60 else None
    if _TWELVE.search(text):
        hour = hour % 12 + (12 if _AFTERNOON.search(text) else 0)
    try:
        return time(hour, int(found[2]), int(found[3] or 0))
    except ValueError:
        return None


def day(text: str) -> datetime | None:
    """Parse a day such as 2026/04/11(土), 2026年4月11日 or 4/11/26 (month first, unless the first
    number is not a month)."""
    found = _DATE.search(text)
    if found is None or (found[7] and found[7] not in _MONTHS):
        return None
    if found[7]:
        year, month, number = found[9], str(_MONTHS.index(found[7]) + 1), found[8]
    else:
        year, month, number = found.group(1, 2, 3) if found[1] else found.group(6, 4, 5)
    numbers = int(year), int(month), int(number)
    if numbers[1] > 12:
        numbers = numbers[0], numbers[2], numbers[1]
    try:
        return datetime(numbers[0] + (2000 if numbers[0] < 100 else 0), *numbers[1:])
    except ValueError:
        return None


def moment(value: object) -> datetime | time | None:
    """Parse ISO 8601, (milli)seconds since 1970, or a textual date and time."""
    if isinstance(value, bool) or value is None:
        return None
    text = str(value).strip()
    if re.fullmatch(r"\d{9,11}(\.\d+)?", text):
        return datetime.fromtimestamp(float(text), UTC)
    if re.fullmatch(r"\d{12,14}", text):
        return datetime.fromtimestamp(int(text) / 1000, UTC)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        on, at = day(text), clock(_DATE.sub(" ", text))
        return datetime.combine(on, at) if on and at else on or at


_NUMBERED = re.compile(r"speaker[ _]?\d+", re.IGNORECASE)


def lettered(turns: list[Turn]) -> list[Turn]:
    """Rename numbered voices (SPEAKER_00) to letters."""
    labels = sorted({turn.speaker for turn in turns if turn.speaker})
    if not labels or len(labels) > 26 or not all(_NUMBERED.fullmatch(label) for label in labels):
        return turns
    letters = {label: f"Speaker {chr(ord('A') + n)}" for n, label in enumerate(labels)}
    return [replace(turn, speaker=letters.get(turn.speaker, "")) for turn in turns]


#: Texts without words: stickers, pictures, calls, deleted messages.
_NO_WORDS = re.compile(
    r"(?:\u200e.*|\[(?:スタンプ|写真|動画|画像|ボイスメッセージ|音声|ファイル|アルバム|ノート|連絡先|位置情報|投票|"
    r"イベント|絵文字|GIF|Sticker|Photo|Video|Image|Voice message|Audio|File|Album|Note|Contact|"
    r"Location|Poll|Event|Emoji)\]"
    r"|☎.*|通話時間.*|.*(?:送信を取り消し|送信取消|unsent a message).*"
    r"|.{0,40}(?:sent an attachment|reacted|liked a message|"
    r"(?:started|missed) an? [a-z ]*(?:call|chat)|[a-z]+ call ended).*"
    r"|Removed a .{1,20} reaction.*|\{[A-Z]\w+\}.*"
    r"|보이스톡.*|페이스톡.*|이모티콘|사진|동영상|삭제된 메시지입니다\.?"
    r"|Media omitted|メディアは含まれていません|メディアなし|<[^<>\n]{2,60}>"
    r"|Messages and calls are end-to-end encrypted.*|メッセージと通話はエンドツーエンド.*"
    r"|(?:image|video|audio|sticker|document|GIF|Contact card) omitted|.{0,10}を省略しました"
    r"|(?:This message was deleted|You deleted this message)\.?"
    r"|このメッセージは削除されました|.{0,12}削除しました"
    r"|(?:Missed )?(?:voice|video) call.*|不在着信.*)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
#: Sounds in transcribers' notation: ((咳)), <笑い>, {うなずく}.
_SOUNDS = re.compile(
    r"\((?:emoji|絵文字)\)|\(\([^()]{1,20}\)\)|（（[^（）]{1,20}））"
    r"|[<‹〈＜{｛](?:笑|咳|沈黙|間|息|泣|拍手|うなず|ため息|聞き取|不明|laugh|cough|paus|silen|sigh|inaud)"
    r"[^<>‹›〈〉＜＞{}｛｝\n]{0,10}[>›〉＞}｝]"
)
#: After a quotation: notes, 「…」（笑）, 「…」*1, and marks, 「…」♪.
_NOTE = r"[（(][^（()）「」]{1,20}[)）]|[*＊※†]\d*"
BESIDE = rf"(?:\s*(?:{_NOTE}|[。♪♡♥☆★…！？!?〜～]))+"
_NOTES = re.compile(rf"(?<=[」』])(?:\s*(?:{_NOTE}))+(?=[\s。]*(?:[「『]|\Z))")
#: Suffixes that chat programs add to a text.
_AFTER = re.compile(
    r"\s*(?:\u200e<[^<>]*>|[(（](?:編集済み?|edited)[)）]|\{[A-Z]\w+\}\s.*|\n:\w+:"
    r"|\n\d+(?: 件の返信| repl(?:y|ies))?"
    r"|\n={8,}.*|\nTranscribed by .*|\nMeeting ended after .*|\n以上)+\s*\Z",
    re.DOTALL,
)


def spoken_words(text: str, marks: re.Pattern[str] | None = None) -> str:
    """A text without the marks of its format and of chat programs; "" if it has no words."""
    plain = marks.sub("", text) if marks is not None else text
    plain = plain.replace("\\N", "\n")
    plain = _AFTER.sub("", _SOUNDS.sub("", plain)).strip()
    if plain[:1] in ("「", "『"):
        plain = _NOTES.sub("", plain)
    if _NO_WORDS.match(plain):
        return ""
    if "\n" in plain and plain[0] == plain[-1] == '"':
        return plain[1:-1].replace('""', '"')
    return plain[1:-1] if _QUOTED.fullmatch(plain) else plain


#: A text that is a single quotation 「…」, possibly with nested ones.
_QUOTED = re.compile(r"「(?:[^「」]|「[^「」]*」)*」|『(?:[^『』]|『[^『』]*』)*』", re.DOTALL)
