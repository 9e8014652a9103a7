"""How a turn ends: with a good draft, or by the policy for when the retries are used up."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.core import AskUser, Flow, Status
from naisei.director.draft import checked, diff
from naisei.director.profile import Character
from naisei.director.rules import TalkRules
from naisei.director.schemas import Draft, Outcome, Turn
from naisei.director.state import TalkState

__all__ = ["best", "settle"]

_QUESTION = {
    "ja": "{name}の発言が{n}回とも通りませんでした。{name}の発言を入力してください"
    "（空なら何も言いません）。\n{drafts}",
    "en": "None of {n} drafts of {name} passed. Write {name}'s line (empty: nothing is said).\n"
    "{drafts}",
}


def settle(
    drafts: tuple[Draft, ...],
    speaker: Character,
    state: TalkState,
    rules: TalkRules,
    number: int,
) -> Flow[Turn]:
    """The turn as it ends: what is said, as what, and by whom."""
    if drafts[-1].status is not Status.RETRY:
        return _out("said", len(drafts) - 1, drafts, speaker, number)
    if rules.policy == "person":
        line = yield from AskUser(_question(drafts, speaker, rules.language))
        if line.strip():
            status = checked(line, speaker, state, rules.language).status
            return Turn(
                number=number,
                speaker=speaker.id,
                outcome="person",
                status=status,
                text=line,
                drafts=drafts,
            )
    chosen = best(drafts) if rules.policy == "best" else None
    return _out("refused" if chosen is None else "best", chosen, drafts, speaker, number)


def _out(
    outcome: Outcome, chosen: int | None, drafts: tuple[Draft, ...], speaker: Character, number: int
) -> Turn:
    draft = None if chosen is None else drafts[chosen]
    if draft is None:
        status = Status.RETRY
    else:
        status = Status.WARN if outcome == "best" else draft.status
    return Turn(
        number=number,
        speaker=speaker.id,
        outcome=outcome,
        status=status,
        text=None if draft is None else draft.text,
        diff=() if draft is None else diff(draft),
        drafts=drafts,
        chosen=chosen,
    )


def best(drafts: Sequence[Draft]) -> int | None:
    """The place of the best draft: one that may be spoken at all, with the fewest hard rules
    broken, then with the best mean, then the first. `None` if every draft is blank."""
    spoken = [at for at, draft in enumerate(drafts) if draft.text.strip()]
    return min(spoken, key=lambda at: (*_badness(drafts[at]), at), default=None)


def _badness(draft: Draft) -> tuple[int, float, int]:
    broken = sum(c.status is Status.RETRY and c.name != "judge" for c in draft.checks)
    mean = draft.judgement.mean if draft.judgement is not None else 0.0
    return broken, -mean, len(draft.checks)


def _question(drafts: Sequence[Draft], speaker: Character, language: str) -> str:
    listed = "\n".join(
        f"- 「{draft.given.strip()}」 {' / '.join(draft.reasons)}" for draft in drafts
    )
    return _QUESTION[language].format(name=speaker.name, n=len(drafts), drafts=listed)
