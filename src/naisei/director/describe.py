"""Prompts filled from character and state, with an example rewrite of a rejected draft."""

from __future__ import annotations

import re
from collections.abc import Sequence

from naisei.core import Message, Status, assistant, system, user
from naisei.director.character import Character, partner_of
from naisei.director.schemas import Draft
from naisei.director.state import Spoken, TalkState
from naisei.director.voice import typical
from naisei.director.wording.noun_phrases import noun_phrases
from naisei.japanese.content_preservation import missing
from naisei.japanese.folding import fold
from naisei.lang import Language, render

_PACKAGE = "naisei.director"
#: Maximum number of history lines and of rejected drafts in a prompt.
_SHOWN, _REJECTED = 12, 3
#: Lines beyond `_SHOWN` are dropped in blocks, so that the prompt keeps its prefix.
_BLOCK = 6
#: Lines on a topic before it may change; consecutive lines with a word before it is overused.
_DEEP, _WORN = 3, 3


_BEGINNING = {"ja": "（会話の始まり）", "en": "(The talk begins.)"}
#: Headings for topics, notes and drafts, if there are any.
_HEADS = {
    "ja": ("話し終えた話題", "今回気をつけること", "書いたが使えなかった案（同じ失敗をしない）"),
    "en": (
        "Topics that are done",
        "To be minded this time",
        "Drafts that could not be used (do not fail the same way)",
    ),
}


def writer_messages(
    speaker: Character,
    state: TalkState,
    rejected: Sequence[Draft],
    language: Language,
) -> tuple[Message, ...]:
    """Messages for the writer. rejected: this turn's rejected drafts.

    The speaker's own lines have the role assistant, others' the role user: given a script with
    names, a small model continues the script.
    """
    ja = language == "ja"
    partner = speaker.partner.names[0] if speaker.partner else ("相手" if ja else "the other")
    facts = _facts(speaker, ja)
    told = [*_worn(state, language), *state.instructions(speaker.id)]
    drafts = [_rejected(draft, language) for draft in rejected[-_REJECTED:]]
    none = "（なし）" if ja else "(none)"
    before, previous = _exchanged(speaker, state, language)
    return (
        system(
            render(
                _PACKAGE,
                "speaker.v2",
                language,
                who=speaker.name,
                partner=partner,
                persona=speaker.persona.strip(),
                scene=state.scene or none,
                facts=_listed(facts, none),
                tone=_tone(speaker, language),
                rows=speaker.limits.warn_rows - 1,
                sentences=max(speaker.limits.warn_sentences - 1, 1),
                length=speaker.limits.advised,
                praise=_praise(speaker, language),
            )
        ),
        *before,
        user(
            render(
                _PACKAGE,
                "turn.v2",
                language,
                who=speaker.name,
                topic=state.topic or none,
                depth=_depth(state, language),
                previous=previous or _BEGINNING[language],
                more="".join(
                    f"{head}:\n{_listed(items)}\n"
                    for head, items in zip(
                        _HEADS[language], (state.memory, told, drafts), strict=True
                    )
                    if items
                ),
            )
        ),
    )


def judge_messages(
    draft: Draft, speaker: Character, state: TalkState, language: Language
) -> tuple[Message, ...]:
    """Messages for the judge of one draft; the constant part comes first."""
    ja = language == "ja"
    none = "（なし）" if ja else "(none)"
    other = partner_of(speaker)
    named = speaker.partner.names[0] if speaker.partner else none
    findings = [
        check.reason + "".join(f"「{' '.join(words.split())}」" for words in check.evidence[:2])
        for check in draft.checks
    ]
    return (
        system(render(_PACKAGE, "judge.v3", language)),
        user(
            render(
                _PACKAGE,
                "judge-input.v3",
                language,
                who=speaker.name,
                persona=speaker.persona.strip(),
                partner=other.name if other else named,
                partner_persona=other.persona.strip() if other else none,
                facts=_listed(_facts(speaker, ja), none),
                rows=speaker.limits.warn_rows - 1,
                length=speaker.limits.advised,
                scene=state.scene or none,
                topic=state.topic or none,
                tone=_tone(speaker, language),
                praise=_praise(speaker, language),
                history=_history(state) or none,
                findings=_listed(findings, none),
                line=_quoted(draft.text),
            )
        ),
    )


def _quoted(text: str) -> str:
    """Prefix each line with the template's mark, so that a draft cannot forge an unmarked line."""
    return "\n".join(f"| {row}" for row in text.splitlines() or [""])


def _facts(speaker: Character, ja: bool) -> list[str]:
    return [fact.fact if ja else fact.fact_en or fact.fact for fact in speaker.setting]


def _exchanged(
    speaker: Character, state: TalkState, language: Language
) -> tuple[list[Message], str]:
    """The last lines as alternating user and assistant messages, and the lines since the speaker's
    own last one."""
    ways: list[tuple[bool, str]] = []
    for line in _recent(state):
        mine = line.speaker == speaker.id
        name = state.names.get(line.speaker, line.speaker)
        text = line.text if mine or len(state.names) <= 2 else f"{name}: {line.text}"
        if ways and ways[-1][0] == mine:
            text = f"{ways.pop()[1]}\n{text}"
        ways.append((mine, text))
    previous = ways.pop()[1] if ways and not ways[-1][0] else ""
    if ways and ways[0][0]:
        # Some endpoints refuse a conversation that does not begin with the user.
        ways.insert(0, (False, _BEGINNING[language]))
    return [assistant(text) if mine else user(text) for mine, text in ways], previous


def _history(state: TalkState) -> str:
    return "\n".join(
        f"{state.names.get(line.speaker, line.speaker)}: {line.text}" if line.speaker else line.text
        for line in _recent(state)
    )


def _recent(state: TalkState) -> Sequence[Spoken]:
    """The last lines: in a long talk `_SHOWN` to `_SHOWN + _BLOCK` - 1 of them."""
    first = max(len(state.history) - _SHOWN, 0) // _BLOCK * _BLOCK
    return state.history[first:]


def _listed(items: Sequence[str], none: str = "") -> str:
    return "\n".join(f"- {item}" for item in items) or none


def _worn(state: TalkState, language: Language) -> list[str]:
    # The topic must be named.
    worn = [w for w, lines in state.loops.items() if lines >= _WORN and w not in state.topic]
    if not worn:
        return []
    listed = "".join(f"「{word}」" for word in worn)
    if language == "ja":
        return [f"続けて何度も出た言葉 {listed} は使わずに話す"]
    return [f"Do without these words, used line after line: {listed}"]


def _depth(state: TalkState, language: Language) -> str:
    if language == "ja":
        left = "区切りがよければ次の話へ移ってもよい" if state.depth >= _DEEP else "まだ掘り下げる"
        return f"この話題で{state.depth}発言。{left}"
    left = "you may move on" if state.depth >= _DEEP else "go deeper before leaving it"
    return f"{state.depth} lines on this topic; {left}"


def _rejected(draft: Draft, language: Language) -> str:
    """The draft, the one thing to change, an example, and the content to keep."""
    why = draft.reasons[0] if draft.reasons else ""
    kept = "、".join(content(draft))
    shown = example(draft)
    if language == "ja":
        told = f"「{draft.given.strip()}」 → 使えない理由と直し方: {why}"
        told += f" 例:「{shown}」" if shown else ""
        return told + (f" 残すこと: {kept}" if kept else "")
    told = f'"{draft.given.strip()}" → why not, and what to do: {why}'
    told += f' For example: "{shown}"' if shown else ""
    return told + (f" Keep: {kept}" if kept else "")


def _tone(speaker: Character, language: Language) -> str:
    """A few typical endings and forms of address; a model would overuse a full list of markers."""
    if speaker.voice is not None:
        cues = [*(f"〜{e}" for e in typical(speaker.voice.endings, 5)), *speaker.bond.calls[:1]]
    else:
        cues = [cue.text for cue in (*speaker.tone.markers, *speaker.tone.vocabulary)]
    if not cues:
        return "（指定なし）" if language == "ja" else "(none given)"
    return " ".join(f"「{cue}」" for cue in cues)


def _praise(speaker: Character, language: Language) -> str:
    if speaker.praise is None and speaker.flatters:
        return "褒めてもよい" if language == "ja" else "may praise"
    if language == "ja":
        return "相手を持ち上げない（評価より、事実や反応を返す）"
    return "never flatters; answers with facts or a reaction instead"


#: Maximum number of phrases to keep in the writer's prompt.
_KEPT = 4

_SENTENCE = re.compile(r"[^。！？\n]+[。！？…]*")
#: Checks whose faulty words can be removed.
_CUT = frozenset({"praise", "script", "setting", "logic", "scatter"})
#: Checks whose evidence must not be repeated.
_BREACHES = frozenset({"format", "setting", "praise", "logic", "script"})
#: A standalone form of address.
_CALL = re.compile(r"[^、。！？\s]{0,8}(?:ちゃん|さん|様|さま|くん|貴|先輩|姉|ねえ)")
_ASIDE = re.compile(r"（[^（）\n]*）|[*＊][^*＊\n]*[*＊]|[〈＜\[【][^〉＞\]】\n]*[〉＞\]】]")
_POLITE = tuple(
    (re.compile(rf"{plain}(?=[。！？…〜\s]|$)"), polite)
    for plain, polite in (
        ("だよね", "ですよね"),
        ("だよ", "ですよ"),
        ("だね", "ですね"),
        ("だな", "ですね"),
        ("じゃん", "ですよね"),
        ("かな", "でしょうか"),
        ("だろう?", "でしょう"),
        ("だった", "でした"),
        ("(?<=い)よ", "ですよ"),
        ("(?<=い)ね", "ですね"),
        ("(?<=[しいきっんれえ])て", "てください"),
        ("だ", "です"),
        ("(?<=[しなきた]い)", "です"),
    )
)
_CASUAL = tuple(
    (re.compile(rf"{polite}(?=[。！？…〜\s]|$)"), plain)
    for polite, plain in (
        ("でしょうか", "かな"),
        ("でしょう", "でしょ"),
        ("(?<=い)ですね", "ね"),
        ("(?<=い)ですよ", "よ"),
        ("(?<=い)です", ""),
        ("ですよね", "だよね"),
        ("ですよ", "だよ"),
        ("ですね", "だね"),
        ("でした", "だった"),
        ("です", "だよ"),
        ("てください", "て"),
        ("ありません", "ない"),
        ("しました", "した"),
        ("します", "する"),
        ("しましょう", "しよ"),
    )
)


def example(draft: Draft) -> str:
    """The draft without the faulty words, or with other endings; "" if nothing remains or the
    result still fails."""
    found = next((c for c in draft.checks if c.status is Status.RETRY and c.name != "judge"), None)
    if found is None:
        return ""
    text = fold(draft.text).strip()
    if found.name == "tone":
        endings = _POLITE if "丁寧" in found.suggestion or "polite" in found.suggestion else _CASUAL
        rewritten = text
        for pattern, other in endings:
            rewritten = pattern.sub(other, rewritten)
        return rewritten if rewritten != text else ""
    if found.name not in _CUT:
        return ""
    if found.name == "script" and (spoken := _ASIDE.sub("", text).strip()) not in ("", text):
        return spoken
    faults = [fold(span) for span in found.evidence if span]
    kept = [s for s in _SENTENCE.findall(text) if not any(f and f in s for f in faults)]
    rewritten = "".join(kept).strip()
    return rewritten if rewritten and rewritten != text else ""


def content(draft: Draft) -> tuple[str, ...]:
    """The content to keep: the first noun phrases without a fault."""
    return tuple(noun_phrases(_without_faults(draft))[:_KEPT])


def keeps(rejected: Draft, rewrite: Draft) -> bool:
    """Whether a rewrite keeps the content: at least half of `content`, and every quantity."""
    wanted, text = content(rejected), fold(rewrite.text)
    held = sum(phrase in text for phrase in wanted)
    return held * 2 >= len(wanted) and not missing(_without_faults(rejected), text)


def _without_faults(draft: Draft) -> str:
    """The sentences without a fault; a faulty sentence is removed whole. For a wrong form of
    address, removes only the address."""
    text, faults = fold(draft.text), []
    for check in draft.checks:
        spans = [fold(span) for span in check.evidence if span]
        if check.name == "setting" and all(_CALL.fullmatch(span) for span in spans):
            for span in spans:
                text = text.replace(span, "")
        elif check.name in _BREACHES:
            faults += spans
    if draft.judgement is not None and draft.judgement.status is not Status.PASS:
        faults += [fold(said.quote) for said in draft.judgement.scores if said.quote.strip()]
    return "".join(
        sentence
        for sentence in _SENTENCE.findall(text)
        if not any(fault in sentence or sentence in fault for fault in faults)
    )
