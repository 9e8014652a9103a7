"""Drafts with verdicts, and the policy for exhausted retries."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from pydantic import JsonValue

from naisei.core import AskUser, Check, Flow, Status
from naisei.director.character import Character
from naisei.director.check import check
from naisei.director.config import TalkRules
from naisei.director.judge import judge_check
from naisei.director.prepare import outcome, quoted
from naisei.director.schemas import Draft, Judgement, Outcome, Turn
from naisei.director.state import TalkState
from naisei.director.verdict import RuleSet
from naisei.lang import Language, speaking

#: Number of recent lines passed to the checks; they read five.
_HISTORY = 8


def checked(
    text: str,
    speaker: Character,
    state: TalkState,
    language: Language,
    rules: RuleSet = "calibrated",
) -> Draft:
    """A draft with the results of the hard rules."""
    with speaking(language):
        verdict = check(text, character=speaker, history=state.lines[-_HISTORY:], rules=rules)
    tone = verdict.tone
    return Draft(
        given=text,
        text=verdict.text,
        status=verdict.status,
        checks=tuple(c for c in verdict.checks if c.status is not Status.PASS),
        tone={
            "score": tone.score,
            "marker": tone.marker,
            "vocab": tone.vocab,
            "style": tone.style,
        },
        weight=tone.weight,
        sentences=verdict.sentences,
        topics=verdict.topics,
        mends=verdict.mends,
    )


def judged(
    draft: Draft, found: Judgement, language: Language, rules: RuleSet = "calibrated"
) -> Draft:
    """The draft with the judgement added to the checks.

    With the specification's rules, the status is the worst of all. With the calibrated rules, a
    warning becomes RETRY if the judge agrees (`Judgement.bears_out`) and is dropped otherwise.
    Rejected drafts never reach the judge.
    """
    checks = weighed(draft.checks, found, language, rules)
    return draft.model_copy(
        update={"judgement": found, "checks": checks, "status": outcome(checks, draft.mends)}
    )


def weighed(
    checks: Sequence[Check], found: Judgement, language: Language, rules: RuleSet
) -> tuple[Check, ...]:
    """The failed checks as changed by `judged`, and the judge's check."""
    kept = [check for check in checks if check.status is not Status.PASS]
    if rules == "calibrated":
        kept = [
            c if c.name == "format" else c.model_copy(update={"status": Status.RETRY})
            for c in kept
            if found.bears_out(c.name) or c.name == "format"
        ]
    heard = judge_check(found, language)
    return tuple(kept) if heard.status is Status.PASS else (*kept, heard)


def unheard(draft: Draft, why: str) -> Draft:
    """The draft marked as judged by the hard rules alone, with the judge's failure."""
    return draft.model_copy(update={"judge_failure": why})


def level(before: Sequence[Draft], state: TalkState, speaker: Character) -> Status | None:
    """The judge's last status for this speaker: in this turn, else for their last line."""
    heard = [draft.judgement.status for draft in before if draft.judgement is not None]
    return heard[-1] if heard else state.judged.get(speaker.id)


def diff(draft: Draft) -> tuple[str, ...]:
    """The automatic fixes as a unified diff without headers."""
    if not draft.mends:
        return ()
    given, text = draft.given.splitlines(), draft.text.splitlines()
    return tuple(list(difflib.unified_diff(given, text, n=0, lineterm=""))[2:])


def notes(draft: Draft, speaker: Character, language: Language) -> list[JsonValue]:
    """The warnings for a spoken line, as instructions (§§1, 8) for the same speaker's next turn.
    They concern that line; the topic does not change."""
    return [{"to": speaker.id, "text": _note(check, language)} for check in draft.checks]


def _note(check: Check, language: Language) -> str:
    if check.name in ("judge", "scatter", "loop", "jump"):
        return f"{check.reason} {check.suggestion}"
    ja = language == "ja"
    words = quoted(check.evidence[:2], language)
    return (
        f"前の発言への注意: {check.reason}{words}言い方だけに気をつけ、話題は避けずに続ける"
        if ja
        else f"Of your last line: {check.reason} {words} Mind the wording; the topic may go on."
    )


def meta(turn: Turn, speaker: Character, language: Language) -> dict[str, JsonValue]:
    """Metadata stored with a line, never from a rejected draft. judged: whether a judge's score was
    used; if not, the hard rules alone decided. judge: the judge's status. notes: instructions for
    later turns.
    """
    draft = turn.draft
    found = draft.judgement if draft is not None else None
    return {
        "turn": turn.number,
        "outcome": turn.outcome,
        "status": turn.status.value,
        "judged": turn.judged,
        "judge": None if found is None else found.status.value,
        "mean": None if found is None else found.mean,
        "comment": "" if found is None else found.comment,
        "topic": "" if found is None else found.topic,
        "judge_failure": draft.judge_failure if draft is not None else "",
        "mends": list(draft.mends) if draft is not None else [],
        "diff": list(turn.diff),
        "notes": notes(draft, speaker, language) if draft is not None else [],
    }


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
    """The finished turn: the line, its status, and who wrote it."""
    if drafts[-1].status is not Status.RETRY:
        return _out("said", len(drafts) - 1, drafts, speaker, number)
    if rules.policy == "person":
        line = yield from AskUser(_question(drafts, speaker, rules.language))
        if line.strip():
            status = checked(line, speaker, state, rules.language, rules.rules).status
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
    """The index of the best non-blank draft: fewest broken hard rules, then highest mean, then
    first. `None` if every draft is blank."""
    spoken = [at for at, draft in enumerate(drafts) if draft.text.strip()]
    return min(spoken, key=lambda at: (*_badness(drafts[at]), at), default=None)


def _badness(draft: Draft) -> tuple[int, float, int]:
    broken = sum(c.status is Status.RETRY and c.name != "judge" for c in draft.checks)
    mean = draft.judgement.mean if draft.judgement is not None else 0.0
    return broken, -mean, len(draft.checks)


def _question(drafts: Sequence[Draft], speaker: Character, language: Language) -> str:
    listed = "\n".join(
        f"- {quoted([draft.given.strip()], language)} {' / '.join(draft.reasons)}"
        for draft in drafts
    )
    return _QUESTION[language].format(name=speaker.name, n=len(drafts), drafts=listed)
