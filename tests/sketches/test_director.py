"""Sketch of the director on the core: draft, hard rules, judge, retry with reasons, Say.

Source: the retry-judgement specification, §§1, 3, 7, 9. A rejected draft lives and dies in
the flow; only `Say` reaches the stage.
"""

import json
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from naisei.core import (
    Chat,
    Check,
    Flow,
    Handler,
    InstrumentFailure,
    MemoryLog,
    Say,
    Status,
    Verdict,
    Where,
    World,
    play,
    run,
    system,
    user,
)

Score = Annotated[int, Field(ge=1, le=5)]


class Scores(BaseModel):
    frame: Score
    roleplay: Score
    connection: Score
    density: Score
    naturalness: Score


# --- the sketch ----------------------------------------------------------------------


def hard_rules(draft: str) -> list[Check]:
    rows = draft.count("\n") + 1
    form = Status.RETRY if rows >= 8 else Status.WARN if rows >= 6 else Status.PASS
    apart = any(word in draft for word in ("別居", "一人暮らし"))
    return [
        Check(name="form", status=form, reason=f"{rows}行あります"),
        Check(
            name="setting",
            status=Status.RETRY if apart else Status.PASS,
            reason="二人は一緒に住んでいます",
        ),
    ]


def scored(scores: Scores) -> Check:
    mean = sum(scores.model_dump().values()) / 5
    status = Status.RETRY if mean < 3.5 else Status.WARN if mean < 4 else Status.PASS
    return Check(name="judge", status=status, reason=f"総合 {mean:.1f}")


def judge(draft: str) -> Flow[tuple[Verdict, bool]]:
    """The verdict, and whether the judge was heard."""
    checks = hard_rules(draft)
    if Verdict.of(checks).status is Status.RETRY:
        return Verdict.of(checks), False
    try:
        scores = yield from Chat("judge", [user(draft)], Scores)
    except InstrumentFailure:
        return Verdict.of(checks), False
    return Verdict.of([*checks, scored(scores)]), True


def turn(speaker: str, scene: str, *, instruction: str = "", drafts: int = 3) -> Flow[str | None]:
    """One line, or `None` if no draft may go out. WARN becomes the next turn's instruction."""
    reasons: list[str] = []
    for _ in range(drafts):
        draft = yield from Chat(
            "speaker", [system(instruction), user("\n".join([scene, *reasons]))]
        )
        verdict, judged = yield from judge(draft)
        if verdict.status is not Status.RETRY:
            warned = "。".join(verdict.reasons)
            yield from Say(draft, speaker, meta={"judged": judged, "instruction": warned})
            return warned
        reasons = verdict.reasons
    return None


# --- a stage with state, and the tests -----------------------------------------------


class Stage(Handler):
    """History, topic depth and loop counts: all that a rejected line must not touch."""

    def __init__(self) -> None:
        self.history: list[Any] = []
        self.depth, self.loops = 0, dict[str, int]()

    def perform(self, effect: Say, where: Where) -> None:
        self.history.append([effect.speaker, effect.text, dict(effect.meta)])
        self.depth += 1
        for word in effect.text.split():
            self.loops[word] = self.loops.get(word, 0) + 1

    def restore(self, effect: Say, result: None, where: Where) -> None:
        self.perform(effect, where)

    def dump(self) -> bytes:
        return json.dumps(vars(self), ensure_ascii=False).encode()


def scores(*values: int) -> Scores:
    return Scores(**dict(zip(Scores.model_fields, values, strict=True)))


GOOD, BAD = scores(5, 5, 4, 4, 4), scores(1, 2, 3, 3, 3)


def test_retry_tells_the_reasons_and_the_accepted_draft_is_said() -> None:
    played = play(
        turn("あゆ", "台所"), ["一人暮らしです", "薄い", BAD, "お茶をどうぞ。", GOOD, None]
    )
    chats = [e for e in played.effects if isinstance(e, Chat) and e.role == "speaker"]
    assert "一緒に住んで" in chats[1].messages[-1].content
    assert "総合 2.4" in chats[2].messages[-1].content
    assert [e for e in played.effects if isinstance(e, Say)] == [
        Say("お茶をどうぞ。", "あゆ", {"judged": True, "instruction": ""})
    ]
    assert played.result == ""


@pytest.mark.parametrize(
    ("values", "said", "words"),
    [((3, 3, 3, 4, 4), False, None), ((3, 3, 4, 4, 4), True, "総合 3.6"), ((4,) * 5, True, "")],
)
def test_scores_at_the_bounds(values: tuple[int, ...], said: bool, words: str | None) -> None:
    script = ["line", scores(*values)] + [None] * said
    played = play(turn("やな", "海", drafts=1), script)
    assert played.result == words
    assert any(isinstance(e, Say) for e in played.effects) is said


def test_without_a_judge_the_hard_rules_decide_and_the_line_is_marked() -> None:
    down = InstrumentFailure("judge is down")
    played = play(turn("やな", "海"), ["別居中", "六\n行\nあ\nり\nま\nす", down, None])
    say = played.effects[-1]
    assert isinstance(say, Say)
    assert say.meta == {"judged": False, "instruction": "6行あります"}


drafts = st.lists(
    st.tuples(st.sampled_from(["一人暮らし", "a\n" * 8, "short"]), st.just(BAD)), max_size=4
)


@given(drafts, st.booleans())
def test_rejected_drafts_leave_the_state_byte_identical(rejected: Any, accepted: bool) -> None:
    def performance(drafts: list[Any]) -> tuple[bytes, bytes]:
        stage = Stage()
        replies = iter([line for line, _ in drafts])
        judged = dict(drafts)

        def model(effect: Chat[Any]) -> Any:
            if effect.role == "judge":
                return judged[effect.messages[-1].content]
            return next(replies)

        world, log = World({Chat: model, Say: stage}), MemoryLog()
        run(turn("やな", "海", drafts=max(1, len(drafts))), world, log=log)
        restored = Stage()
        run(
            turn("やな", "海", drafts=max(1, len(drafts))),
            World({Chat: lambda _: pytest.fail("called on replay"), Say: restored}),
            log=log,
        )
        return stage.dump(), restored.dump()

    good = [("よい 一言", GOOD)] * accepted
    if rejected or good:
        alone = performance(good) if good else (Stage().dump(),) * 2
        assert performance([*rejected, *good]) == alone
