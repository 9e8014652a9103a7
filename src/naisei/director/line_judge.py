"""Judges lines of a file with a model, after the rules: `naisei director check --judge`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from naisei.core import Chat, Flow, Gather, InstrumentFailure, Status, World, arun
from naisei.director.check import rules_of
from naisei.director.describe import judge_messages
from naisei.director.draft import checked, weighed
from naisei.director.judge import Judging, judge, judge_check
from naisei.director.prepare import PASSED, outcome
from naisei.director.report import Judged, with_history
from naisei.director.scripts import ScriptLine
from naisei.director.state import Spoken, TalkState
from naisei.director.verdict import CHECK_NAMES, LineVerdict, RuleSet
from naisei.lang import language, say
from naisei.models.gateway import ModelHandler


def judge_lines(
    lines: Iterable[ScriptLine], model: str, *, one_talk: bool, rules: RuleSet, at_once: int
) -> Iterator[Judged]:
    """Like `judged_lines`, but a model also judges each line that passes the rules (§7), and may
    clear its warnings. Prompts are in the character's language.

    model: `provider:name`. at_once: concurrent judgements.

    Raises:
        InputError: the model cannot be opened.
    """
    world = World({Chat: ModelHandler(model, blocking=False)})
    todo = with_history(lines, one_talk=one_talk)
    while some := list(islice(todo, at_once)):
        told = [_judge_line(line, before, rules) for line, before in some]
        found = asyncio.run(arun(_all(told), world))
        yield from zip((line for line, _ in some), found, strict=True)


def _all(flows: Sequence[Flow[LineVerdict]]) -> Flow[list[LineVerdict]]:
    return list((yield from Gather(flows)))


def _judge_line(
    line: ScriptLine, before: Sequence[tuple[str, str]], rules: RuleSet
) -> Flow[LineVerdict]:
    """The verdict, with the judge's check last; no such check if the rules reject the line or the
    judge fails."""
    who = line.who
    state = TalkState(history=tuple(Spoken(speaker=name, text=said) for name, said in before))
    verdict = rules_of(who, rules).check(line.text, state.lines)
    if verdict.status is Status.RETRY:
        return verdict
    draft = checked(line.text, who, state, who.language, rules)
    try:
        found = yield from judge(judge_messages(draft, who, state, who.language), Judging())
    except InstrumentFailure as failure:
        why = say(f"採点役の失敗 (規則のみ): {failure}", f"judge failed (rules alone): {failure}")
        print(f"{line.number:>4} {why}", file=sys.stderr)
        return verdict
    kept = {check.name: check for check in weighed(verdict.checks, found, language(), rules)}
    checks = (
        *(kept.get(name, PASSED[name]) for name in CHECK_NAMES),
        judge_check(found, language()),
    )
    return verdict._replace(status=outcome(checks, verdict.mends), checks=checks)
