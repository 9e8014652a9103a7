"""What the writer and the judge are told: prompts, filled from character and state."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.core import Message, assistant, system, user
from naisei.director.profile import Character
from naisei.director.schemas import Draft
from naisei.director.state import TalkState
from naisei.lang import Language
from naisei.prompts import render

__all__ = ["judge_messages", "writer_messages"]

_PACKAGE = "naisei.director"
#: Lines of the history that are shown, and rejected drafts.
_SHOWN, _REJECTED = 12, 3
#: A topic this many lines old may be left; a word in so many lines in a row has worn out.
_DEEP, _WORN = 3, 3


def writer_messages(
    speaker: Character,
    state: TalkState,
    rejected: Sequence[Draft],
    language: Language,
) -> tuple[Message, ...]:
    """For the model that speaks. rejected: this turn's drafts.

    The speaker's own lines are the assistant's, the others' the user's: shown as a script with
    names, a small model goes on writing a script.
    """
    ja = language == "ja"
    partner = speaker.partner.names[0] if speaker.partner else ("相手" if ja else "the other")
    facts = [fact.fact if ja else fact.fact_en or fact.fact for fact in speaker.setting]
    told = [*_worn(state, language), *state.instructions(speaker.id)]
    drafts = [_rejected(draft, language) for draft in rejected[-_REJECTED:]]
    none = "（なし）" if ja else "(none)"
    before, previous = _exchanged(speaker, state, language)
    return (
        system(
            render(
                _PACKAGE,
                "speaker.v1",
                language,
                who=speaker.name,
                partner=partner,
                persona=speaker.persona.strip(),
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
                "turn.v1",
                language,
                who=speaker.name,
                scene=state.scene or none,
                topic=state.topic or none,
                depth=_depth(state, language),
                memory=("、" if ja else ", ").join(state.memory) or none,
                previous=previous or none,
                told=_listed(told, none),
                rejected=_listed(drafts, none),
            )
        ),
    )


def judge_messages(
    text: str,
    speaker: Character,
    state: TalkState,
    language: Language,
) -> tuple[Message, ...]:
    """For the judge of one line."""
    none = "（なし）" if language == "ja" else "(none)"
    return (
        system(render(_PACKAGE, "judge.v1", language)),
        user(
            render(
                _PACKAGE,
                "judge-input.v1",
                language,
                who=speaker.name,
                persona=speaker.persona.strip(),
                scene=state.scene or none,
                topic=state.topic or none,
                history=_history(state) or none,
                line=text,
            )
        ),
    )


def _exchanged(
    speaker: Character, state: TalkState, language: Language
) -> tuple[list[Message], str]:
    """The last lines as messages, in turn the user's and the assistant's, and what was said since
    the speaker's own last line."""
    ways: list[tuple[bool, str]] = []
    for line in state.history[-_SHOWN:]:
        mine = line.speaker == speaker.id
        name = state.names.get(line.speaker, line.speaker)
        text = line.text if mine or len(state.names) <= 2 else f"{name}: {line.text}"
        if ways and ways[-1][0] == mine:
            text = f"{ways.pop()[1]}\n{text}"
        ways.append((mine, text))
    previous = ways.pop()[1] if ways and not ways[-1][0] else ""
    if ways and ways[0][0]:
        # Some endpoints refuse a conversation that does not begin with the user.
        ways.insert(0, (False, "（会話の始まり）" if language == "ja" else "(The talk begins.)"))
    return [assistant(text) if mine else user(text) for mine, text in ways], previous


def _history(state: TalkState) -> str:
    shown = state.history[-_SHOWN:]
    return "\n".join(
        f"{state.names.get(line.speaker, line.speaker)}: {line.text}" if line.speaker else line.text
        for line in shown
    )


def _listed(items: Sequence[str], none: str) -> str:
    return "\n".join(f"- {item}" for item in items) or none


def _worn(state: TalkState, language: Language) -> list[str]:
    worn = [word for word, lines in state.loops.items() if lines >= _WORN]
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
    why = " / ".join(draft.reasons)
    if language == "ja":
        return f"「{draft.given.strip()}」 → 使えない理由と直し方: {why}"
    return f'"{draft.given.strip()}" → why not, and what to do: {why}'


def _tone(speaker: Character, language: Language) -> str:
    cues = [cue.text for cue in (*speaker.tone.markers, *speaker.tone.vocabulary)]
    if not cues:
        return "（指定なし）" if language == "ja" else "(none given)"
    return " ".join(f"「{cue}」" for cue in cues)


def _praise(speaker: Character, language: Language) -> str:
    if speaker.praise is None:
        return "褒めてもよい" if language == "ja" else "may praise"
    listed = "".join(f"「{cue.text}」" for cue in speaker.praise.words[:5])
    if language == "ja":
        return f"相手を褒めない（{listed}などと言わない）"
    return f"never praises ({listed} and the like)"
