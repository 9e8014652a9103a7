"""Separates a model's thoughts from its answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAG = r"(?:[a-z]\w*:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|scratchpad)"
_HEADER = r"[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
#: Opening and closing marks of a thought. `{tag}`: from the opening mark.
_PAIRS = (
    (rf"<(?P<tag>{_TAG})(?:\s[^<>]{{0,200}})?>", r"</\s*{tag}\s*>"),
    (r"◁think▷", r"◁/think▷"),
    (r"\[think\]", r"\[/think\]"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|start_thinking\|>", r"<\|end_thinking\|>"),
    (r"<unused94>(?:thought)?", r"<unused95>"),
    (r"<\|channel>\s*(?:thought|analysis)", r"<channel\|>"),
    (
        rf"<\|channel\|>\s*(?:analysis|commentary){_HEADER}",
        r"<\|(?:end|call)\|>|(?=<\|(?:start|channel)\|>)",
    ),
    # Plain words are marks only if the closing mark follows.
    (r"\A\s*analysis(?=\S)", r"assistantfinal"),
    (r"\A\s*here(?: i|')s my thought process:", r"here(?: i|')s my response:"),
)
_PLAIN = len(_PAIRS) - 2
#: Closing marks that occur alone if the prompt template has the opening mark.
_LONE = "|".join([rf"</\s*{_TAG}\s*>", *(closes for _, closes in _PAIRS[1:7])])
#: A mark in quotation marks or code is only mentioned.
_QUOTED = (
    r"```.*?```|`[^`\n]{1,500}`|(?<!\\)\"(?:[^\"\\\n]|\\.){0,2000}\""
    r"|「[^」\n]{0,200}」|『[^』\n]{0,200}』|“[^”\n]{0,200}”"
)
_MARKS = re.compile(
    "|".join(
        [
            f"(?P<quoted>{_QUOTED})",
            f"(?P<lone>{_LONE})",
            *(f"(?P<m{n}>{opens})" for n, (opens, _) in enumerate(_PAIRS)),
        ]
    ),
    re.IGNORECASE | re.DOTALL,
)
_SPACE = re.compile(r"\s*")
_FRAME = (
    rf"<\|start\|>(?:assistant)?|<\|channel\|>\s*final{_HEADER}|<\|(?:end|return)\|>"
    r"|<\|(?:start|end)_response\|>|<\|(?:begin|end)_of_(?:solution|box)\|>"
)
_FRAMED = re.compile(rf"\A(?:\s*(?:{_FRAME}))+|(?:(?:{_FRAME})\s*)+\Z", re.IGNORECASE)
_WRAPPED = re.compile(
    r"\A<(answer|output|response|solution)>(.*?)(?:</\1>\s*)?\Z", re.IGNORECASE | re.DOTALL
)
_PART_OF_A_MARK = re.compile(
    r"(?:[<◁\[][^>▷\]\n]{0,40}|<\|(?:start|channel)(?:(?!<\|message\|>)[^\n]){0,80})\Z"
)
_FIRST_WORDS = ("analysis", "here is my thought process:", "here's my thought process:")


@dataclass(frozen=True, slots=True)
class Parted:
    """answer: the text without thoughts; empty if a thought never ends. thought: whether there was
    any. headless: one began in the prompt, without a mark in the reply."""

    answer: str
    thought: bool = False
    headless: bool = False


def parted(text: str, *, growing: bool = False) -> Parted:
    """Remove the thoughts before and between a reply's parts. growing: more text follows."""
    kept: list[str] = []
    start = at = 0
    thought = headless = False
    while mark := _MARKS.search(text, at):
        at, kind = mark.end(), mark.lastgroup or ""
        if kind == "quoted":
            continue
        if kind == "lone":
            start, before = _after(text, at), text[start : mark.start()]
            if thought and start == len(text):
                kept.append(before)  # an extra closing mark
            else:
                kept, headless = [], headless or not thought
            thought, at = True, start
            continue
        end = _end(text, mark, kind, start, growing)
        if end is None or (end < 0 and int(kind[1:]) >= _PLAIN and not growing):
            continue
        kept.append(text[start : mark.start()])
        start = at = len(text) if end < 0 else _after(text, end)
        thought = True
    answer = "".join([*kept, text[start:]])
    if growing:
        answer = _PART_OF_A_MARK.sub("", answer)
    answer = _FRAMED.sub("", answer)
    if thought and (wrapped := _WRAPPED.match(answer := answer.strip())):
        answer = wrapped[2].strip()
    return Parted(answer, thought, headless)


def _after(text: str, at: int) -> int:
    gap = _SPACE.match(text, at)
    assert gap is not None
    return gap.end()


def _end(text: str, mark: re.Match[str], kind: str, start: int, growing: bool) -> int | None:
    """Where the thought starting at `mark` ends: -1 if it does not, `None` if it is no thought.

    A tag inside a line counts only as models write it, without a space after it.
    """
    tag, at = mark["tag"], mark.end()
    if tag is not None:
        line = max(start, text.rfind("\n", start, mark.start()) + 1)
        amid = text[line : mark.start()].strip() != ""
        behind = text[at : at + 1].isspace() if at < len(text) else not growing
        if amid and (behind or "think" not in tag.lower()):
            return None
    closes = _PAIRS[int(kind[1:])][1].replace("{tag}", re.escape(tag or ""))
    found = re.compile(closes, re.IGNORECASE).search(text, at)
    return -1 if found is None else found.end()


def visible_so_far(text: str, *, headless: bool) -> str:
    """The part of an unfinished reply that is certainly no thought.

    headless: thoughts begin in the prompt, so there is no answer until one ends.
    """
    found = parted(text, growing=True)
    begins = text.lstrip().lower()
    if not found.thought and (headless or any(w.startswith(begins) for w in _FIRST_WORDS)):
        return ""
    return found.answer


class Listener:
    """Filters thoughts out of a streamed reply."""

    def __init__(self) -> None:
        self._text = self._passed = ""

    def __call__(self, piece: str = "", *, over: bool = False) -> str:
        """Text that is safe to release. over: no more text follows."""
        self._text += piece
        now = parted(self._text).answer if over else visible_so_far(self._text, headless=False)
        if not now.startswith(self._passed):
            return ""
        new, self._passed = now[len(self._passed) :], now
        return new
