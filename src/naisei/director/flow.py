"""The director's loop: generate, check, judge, retry with the reasons, commit.

Source: the retry-judgement specification, §§1, 3, 7, 9. Nothing but `Say` changes the state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from naisei.core import Chat, Flow, InstrumentFailure, Say, Status
from naisei.director import draft as drafting
from naisei.director.character import Character
from naisei.director.config import TalkRules
from naisei.director.describe import judge_messages, writer_messages
from naisei.director.draft import settle
from naisei.director.judge import judge
from naisei.director.schemas import Draft, TalkResult, Turn
from naisei.director.state import TalkRecorder, TalkState

#: Writes a draft, given the rejected drafts of this turn.
Writer = Callable[[Sequence[Draft]], Flow[str]]


def talk(
    cast: Sequence[Character], stage: TalkRecorder, turns: int, rules: TalkRules
) -> Flow[TalkResult]:
    """Let the characters speak in turn for `turns` turns."""
    done: tuple[Turn, ...] = ()
    while len(done) < turns:
        speaker, state = cast[len(done) % len(cast)], stage.state

        def write(
            rejected: Sequence[Draft], speaker: Character = speaker, state: TalkState = state
        ) -> Flow[str]:
            told = writer_messages(speaker, state, rejected, rules.language)
            return (yield from Chat("speaker", told))

        done += ((yield from turn(speaker, write, state, rules, number=len(done) + 1)),)
    return TalkResult(turns=done, state=stage.state)


def turn(
    speaker: Character, write: Writer, state: TalkState, rules: TalkRules, *, number: int = 1
) -> Flow[Turn]:
    """Produce one line and say it."""
    done = yield from line(speaker, write, state, rules, number=number)
    if done.text is not None:
        yield from Say(done.text, speaker.id, drafting.meta(done, speaker, rules.language))
    return done


def line(
    speaker: Character, write: Writer, state: TalkState, rules: TalkRules, *, number: int = 1
) -> Flow[Turn]:
    """Write drafts until one passes or the retries are exhausted; the caller says the line."""
    drafts: tuple[Draft, ...] = ()
    while len(drafts) <= rules.retries:
        text = yield from write(drafts)
        drafts += ((yield from examine(text, speaker, drafts, state, rules)),)
        if drafts[-1].status is not Status.RETRY:
            break
    return (yield from settle(drafts, speaker, state, rules, number))


def examine(
    text: str, speaker: Character, before: Sequence[Draft], state: TalkState, rules: TalkRules
) -> Flow[Draft]:
    """Apply the hard rules, then the judge if the line passes them (§7)."""
    draft = drafting.checked(text, speaker, state, rules.language, rules.rules)
    if not rules.judge or draft.status is Status.RETRY:
        return draft
    told = judge_messages(draft, speaker, state, rules.language)
    level = drafting.level(before, state, speaker)
    try:
        found = yield from judge(told, rules.judging, previous=level)
    except InstrumentFailure as failure:
        return drafting.unheard(draft, str(failure))
    return drafting.judged(draft, found, rules.language, rules.rules)
