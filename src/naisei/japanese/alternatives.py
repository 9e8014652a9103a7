"""Extracts the alternatives of a Japanese question:
「AですかBですか」「AとB、どちら」「A、B、それともC」.

The question may end in ？, 。 or nothing. `naisei.japanese.questions` parses the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from naisei.japanese.morph import tokens

Asks = Literal["what", "which", "where", "why", "how", "who", "when", "how-much", ""]

#: Question words, by what they ask about.
WH: dict[str, Asks] = {
    "何": "what",
    "どんな": "what",
    "なん": "what",
    "どう": "how",
    "如何": "how",
    "いかが": "how",
    "どの": "which",
    "どれ": "which",
    "どっち": "which",
    "どちら": "which",
    "何方": "which",
    "何れ": "which",
    "どこ": "where",
    "何処": "where",
    "どなた": "who",
    "誰": "who",
    "いつ": "when",
    "何時": "when",
    "なぜ": "why",
    "何故": "why",
    "どうして": "why",
    "幾つ": "how-much",
    "いくつ": "how-much",
    "いくら": "how-much",
    "幾ら": "how-much",
}

_OR = re.compile(
    r"[、。？]?(?:それとも|もしくは|または|あるいは|ないしは|はたまた|でなければ|じゃなければ)、?"
)
#: The end of one question directly followed by another: 「…ですか、…」「…？…」「…ほう。…」.
_ASKED_TWICE = re.compile(
    r"(?<=[^と]か)[、。？]|(?<=か)な[、。？]|(?<=かい)[、。？]|[？]|(?<=ほう)。|(?<=方)。|"
    r"(?<=ですか)(?![なねよいらとはもに])|(?<=ますか)(?![なねよいらとはもに])|"
    r"(?<=しょうか)(?![なねよいらとはもに])"
)
_PICK = r"(?:どちら|どっち|どれ|いずれ|何れ|どの(?!よう|くらい|ぐらい|辺|へん))"
#: Words between the last candidate and the question word: 「…のうち」「…なら」.
_OF_THEM = (
    r"(?:(?:この|その)?(?:の)?(?:中|なか|うち|内)(?:で|では|だと|なら)?(?:いうと|言うと)?|のほう|の方|(?:で|と)?は|で|だったら|なら(?:ば)?|"
    rf"だと|の(?={_PICK})|って|、|か|と)*"
)
_CHOICE = re.compile(rf"^(?P<list>.+?){_OF_THEM}、?{_PICK}(?P<tail>.*)$")
_BETWEEN = re.compile(r"、(?:と|か)?|[。？]")
_OPENING = re.compile(
    r"^(?:(?:し|え|あ|う|ん|ね|わ|お|ほ|へ)[ーっ]+|えっと|ええと|あの|その|ねえ|では|じゃあ|すみません|すいません|ちなみに|つまり|もしかして|"
    r"ひょっとして|念のため|確認ですが|失礼ですが|それで|で|今|いま|今日|これ|それ|これって|それって|"
    r"あのう?|[^、。]{1,20}のは|さっきのは|ご?希望は|お望みは|欲しいのは|ほしいのは|お求めなのは|必要なのは|ご用は|用があるのは|気になるのは|"
    r"(?:その|この|あの)[^、。]{1,12}は|[^、]{1,30}(?:で言うと|でいうと|で言えば|としたら)|[^、]{1,12}(?:ですけど|ますけど|ですが|ますが|けど|として|について(?:は)?|のことで))、"
)
#: Openings before the alternatives: 「そのロールは、…」「包むなら、…」「座ったまま、…」.
_LEADING = re.compile(r"(?:は|なら(?:ば)?|たら|まま(?:で)?|ながら|とき(?:に)?|時(?:に)?)$")
_TELL = re.compile(
    r"(?:.{0,6})(?:教えて|聞かせて|おしえて|言って|話して)(?:くだ|くれ|もら|いただ|ほし).*"
)


def alternatives(text: str) -> tuple[tuple[str, ...], str]:
    """Return the alternatives of a question, and their shared predicate if it follows them."""
    text = re.sub(r"(?:もしか|ひょっと)(?:して|すると|したら)、?", "", text).strip("。？！ ")
    # 「AとB、気になるのはどちら」: the topic is not a candidate.
    text = re.sub(rf"[、。][^、。]{{1,14}}のは、?(?={_PICK})", "、", text)
    if found := _CHOICE.match(text):
        listed = _listed(found["list"])
        if len(listed) < 2 and "、" in found["tail"]:
            # 「どっちかな、AかBか」
            listed = _listed(found["tail"].partition("、")[2])
        if len(listed) > 1:
            return listed, found["tail"].strip("。、？")
    if found := re.match(rf"^(?:では|じゃあ)?、?{_PICK}[^、。？]*[、。？](?P<list>.+)$", text):
        listed = _listed(found["list"])
        if len(listed) > 1:
            return listed, ""
    parts = [q for p in _OR.split(text) for q in _ASKED_TWICE.split(p)]
    kept = _candidates(parts)
    if len(kept) > 1:
        return tuple(q for k in kept for q in _enumerated(k, kept)), ""
    joined = _joined(text)
    return (joined, "") if len(joined) > 1 else ((), "")


def joins(sentence: str) -> bool:
    """Whether a sentence adds an alternative to the previous one: 「それとも、…」."""
    return _OR.match(sentence) is not None


def picks(sentence: str) -> bool:
    """Whether a sentence only asks to choose from what was named before."""
    return len(sentence) <= 16 and re.search(rf"{_PICK}|この中", sentence) is not None


def _candidates(parts: Sequence[str]) -> list[str]:
    """The candidate parts of a question, without openings and 「どっち？」."""
    kept = []
    for part in parts:
        part = re.sub(r"(?<=[ぁ-んァ-ヶ一-龠])(?<!のこ)と$", "", part.strip("、。？！… "))
        while _OPENING.match(part + "、") and part:
            part = _OPENING.sub("", part + "、", count=1).strip("、")
        asking = (
            re.fullmatch(rf"(?:では|じゃあ)?、?{_PICK}.*", part)
            or _TELL.fullmatch(part)
            or part.startswith("そういう")
        )
        if part and not asking:
            kept.append(part)
    while len(kept) > 2 and _leads(kept):
        del kept[0]
    return kept


def _leads(parts: Sequence[str]) -> bool:
    """Whether the first part is only an opening; in 「コップは？水筒は？」 it is not."""
    return bool(_LEADING.search(parts[0])) and not all(map(_LEADING.search, parts))


def _enumerated(part: str, parts: Sequence[str]) -> list[str]:
    """「A、B」 from 「A、B、それともCですか」: short ones only, as clauses contain commas too."""
    pieces = [p for p in part.split("、") if p]
    if len(pieces) < 2 or part == parts[-1] or max(map(len, pieces)) > 12 or _leads(pieces):
        return [part]
    return _candidates(pieces)


def _listed(text: str) -> tuple[str, ...]:
    """The members of 「AとB」「AかB」「A、B、C」「AですかBですか」."""
    while _OPENING.match(text):
        text = _OPENING.sub("", text, count=1)
    parts = [q for p in _OR.split(text.strip("、。？ ")) for q in _ASKED_TWICE.split(p)]
    parts = [q for p in parts for q in _BETWEEN.split(p)]
    parts = [q for p in parts for q in _joined(p, listed=True) or (p,)]
    return tuple(_candidates(parts))


def _joined(text: str, *, listed: bool = False) -> tuple[str, ...]:
    """Split at か between nouns or clauses, in a list also at と and や; empty for a single part.

    Does not split at 何か, かもしれない, かどうか, nor at the と of 「…と思う」「…と一緒に」.
    """
    found = tokens(text)
    cuts = []
    for i, token in enumerate(found[1:-1], start=1):
        before, after = found[i - 1], found[i + 1]
        if token.surface == "か" and token.pos == "助詞":
            indefinite = WH.get(before.form) or WH.get(before.lemma) or before.surface == "幾"
            vague = after.form in WH or after.lemma in WH
            if not (indefinite or vague or after.surface in _AFTER_KA or after.pos == "助詞"):
                cuts.append(token)
        elif (
            listed
            and token.surface in ("と", "や")
            and token.pos == "助詞"
            and (
                before.pos in ("名詞", "接尾辞", "代名詞") or before.surface in ("の", "ほう", "方")
            )
            and after.pos in ("名詞", "代名詞", "接頭辞", "連体詞", "形容詞", "動詞", "形状詞")
            and after.form not in _AFTER_TO
        ):
            cuts.append(token)
    if not cuts:
        return ()
    starts = [0, *(t.end for t in cuts)]
    ends = [*(t.start for t in cuts), len(text)]
    parts = [text[a:b].strip("、。？ ") for a, b in zip(starts, ends, strict=True)]
    return tuple(p for p in parts if p)


#: か before these does not separate alternatives.
_AFTER_KA_WORDS = "も な ね しら どう けて け よ い の と ら "
_AFTER_KA = frozenset(_AFTER_KA_WORDS.split())
_AFTER_TO_WORDS = "思う 言う 一緒 共 為る 成る 違う 同じ 聞く 考える 感じる "
_AFTER_TO = frozenset(_AFTER_TO_WORDS.split())
