"""A talk in plain words: lines with their verdicts, rejected drafts with the reasons."""

from __future__ import annotations

from collections.abc import Mapping

from naisei.director.schemas import Draft, TalkResult, Turn
from naisei.lang import say

__all__ = ["judge_words", "outcome_words", "transcript"]


def transcript(talk: TalkResult, names: Mapping[str, str]) -> str:
    """The whole talk; a draft that was not said is indented."""
    return "\n".join(line for turn in talk.turns for line in _turn(turn, names))


def _turn(turn: Turn, names: Mapping[str, str]) -> list[str]:
    name = names.get(turn.speaker, turn.speaker)
    out = []
    for at, draft in enumerate(turn.drafts):
        if at != turn.chosen:
            out += [f"    [{draft.status}] {_one_line(draft.given)}", *_reasons(draft)]
    if turn.text is None:
        out.append(f"{turn.number:>2} {name}: … ({outcome_words(turn)})")
        return out
    words = [w for w in (outcome_words(turn), _judged(turn)) if w]
    out.append(
        f"{turn.number:>2} {name}: {_one_line(turn.text)}  [{turn.status}"
        f"{' · ' if words else ''}{' · '.join(words)}]"
    )
    if turn.draft is not None:
        out += _reasons(turn.draft)
    return [*out, *(f"      {line}" for line in turn.diff)]


def _reasons(draft: Draft) -> list[str]:
    return [
        f"      {check.status} {check.name}: {check.reason} {check.suggestion}".rstrip()
        for check in draft.checks
    ]


def outcome_words(turn: Turn) -> str:
    """How the turn ended, where it is not simply a line that was let out."""
    return {
        "said": "",
        "best": say("再試行の上限。最良の案", "out of retries: the best draft"),
        "person": say("人が入力", "given by a person"),
        "refused": say("発言なし", "nothing said"),
    }[turn.outcome]


def _judged(turn: Turn) -> str:
    draft = turn.draft
    return "" if draft is None else judge_words(draft)


def judge_words(draft: Draft) -> str:
    """The judge's mean, or that the judge failed; empty if the judge was not asked."""
    if draft.judge_failure:
        return say("採点役の失敗 (規則のみ)", "judge failed (rules alone)")
    found = draft.judgement
    if found is None:
        return ""
    spread = f" ±{found.spread / 2:.1f}" if len(found.scores) > 1 else ""
    return say("判定", "judge") + f" {found.mean:.2f}".rstrip("0").rstrip(".") + spread


def _one_line(text: str) -> str:
    return " ⏎ ".join(text.splitlines())
