"""What systems add to the page of an episode."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from naisei.clarify import RunOptions, run
from naisei.clarify.config import ClarifyConfig, Rules
from naisei.clarify.task import ClarifyTask
from naisei.core import (
    AskUser,
    Chat,
    Effect,
    Event,
    Flow,
    Handler,
    ReplayDivergence,
    Say,
    Where,
    World,
    replay_prefix,
    user,
)
from naisei.core.messages import fingerprint
from naisei.emphasis.schemas import Sentence, Token
from naisei.lang import speaking
from naisei.runs.directory import RunDirectory
from naisei.runs.words import metric_name
from naisei.web.replay import RecordedEpisode, Replay, shown_marks
from naisei.web.replays import clarify, emphasis
from naisei.web.replays.director import draft_marks


def event(step: int, effect: Effect[object], result: str | None) -> Event:
    request = effect.request()
    digest = fingerprint([effect.kind, request])
    return Event(Where("i", 0, (step,)), effect.kind, digest, request, result)


def talk() -> Sequence[Event]:
    """Two drafts, the first of which was said in the end; then a line at once."""
    write = Chat("speaker", [user("次の発言")])
    lines = [
        (write, "一つめ"),
        (Chat("judge", [user("採点")]), "RETRY"),
        (write, "二つめ"),
        (Say("一つめ", "a"), None),
        (write, "三つめ"),
        (Say("三つめ。", "b"), None),
    ]
    return [event(n, effect, result) for n, (effect, result) in enumerate(lines)]


def test_drafts_that_were_not_said_are_marked() -> None:
    assert draft_marks(talk()) == {2: "rejected"}
    assert shown_marks(Replay(marks=draft_marks), talk()) == {2: "rejected"}


def test_a_flow_is_taken_along_and_performs_nothing() -> None:
    heard: list[str] = []

    def flow() -> Flow[None]:
        for n in range(3):
            answer = yield from AskUser(f"{n}?")
            heard.append(answer)

    events = [event(n, AskUser(f"{n}?"), f"{n}!") for n in range(2)]
    replay_prefix(flow(), World({AskUser: Handler()}), events, Where("i"))
    assert heard == ["0!", "1!"]
    with pytest.raises(ReplayDivergence):
        other = event(0, AskUser("another?"), "")
        replay_prefix(flow(), World({AskUser: Handler()}), [other], Where("i"))


def test_beliefs_are_those_of_the_step(tmp_path: Path) -> None:
    """From the log alone the agent comes to what it thought when it decided."""
    config = ClarifyConfig(agent="bayes", limit=1, embedder="ngram", memory="none")
    made = run(config, RunOptions(quiet=True), run_dir=tmp_path / "run")
    with RunDirectory.look(tmp_path / "run") as directory:
        name = directory.log.known_episodes()[0]
        events, result = directory.log.read(name), directory.log.result(name)
    assert made.outcome.scored == 1
    task = ClarifyTask.of(config)
    where = Where(events[0].where.instance, events[0].where.trial)
    thoughts = [d.thought for d in task.decisions(where, events)]
    told = [
        thought
        for trial in result["trials"]  # type: ignore[index, call-overload]
        for thought in (*(turn["thought"] for turn in trial["turns"]), trial["thought"])
    ]
    assert thoughts == told
    assert task.decisions(where, ()) == []


def test_the_turning_is_where_the_belief_left_the_wish(tmp_path: Path) -> None:
    """Up to the first action that nobody wanted, no later guess is the wish again."""
    config = ClarifyConfig(
        agent="bayes", limit=20, embedder="ngram", memory="none", rules=Rules(quota=1)
    )
    run(config, RunOptions(quiet=True), run_dir=tmp_path / "run")
    seen = 0
    with RunDirectory.look(tmp_path / "run") as directory:
        for name in directory.log.known_episodes():
            events = directory.log.read(name)
            where = Where(events[0].where.instance, events[0].where.trial)
            episode = RecordedEpisode(
                tmp_path / "run", directory.frozen, where, events, directory.log.result(name)
            )
            turning = clarify.REPLAY.turning(episode)
            failed = min(clarify.act_marks(events), default=None)
            assert (turning is None) == (failed is None)
            if turning is None or failed is None:
                continue
            seen += 1
            task = episode.task
            assert isinstance(task, ClarifyTask) and turning.number <= failed
            wish = task.instance(where.instance).gold
            assert events[turning.number].kind in ("ask", "act")
            kept = sum(e.kind in ("ask", "act") for e in events[: turning.number])
            until = sum(e.kind in ("ask", "act") for e in events[: failed + 1])
            wrong = task.decisions(where, events)[kept:until]
            assert wrong and wish not in {clarify.best(d) for d in wrong}
            assert task.data.actions.text(wish) in turning.told
    assert seen


def test_what_a_tagger_marked_stands_beside_what_the_writer_did() -> None:
    words = [("水", True), ("は", True), ("週", False), ("に", False), ("一度", True)]
    tokens, at = [], 3
    for text, label in words:
        tokens.append(Token(text, at, at + len(text), "名詞", text, label))
        at += len(text)
    sentence = Sentence("水は週に一度。", tuple(tokens), 0, 0)
    told = [
        (p.text, p.kind) for p in emphasis.marked_pieces(sentence, [True, True, True, False, False])
    ]
    assert told == [("水は", "both"), ("週", "tagger"), ("に", ""), ("一度", "writer"), ("。", "")]


def test_rows_between_bars_are_tables_wherever_text_is_shown() -> None:
    from naisei.web.html import _lines

    text = "料金です。\n| 区分 | 料金 |\n|---|---|\n| 大人 | <b>400円 |\n以上\n|x| は絶対値"
    shown = _lines(text)
    assert "<th>区分</th>" in shown and "<td>&lt;b&gt;400円</td>" in shown
    assert "料金です。" in shown.split("<table>")[0] and "|---" not in shown
    assert re.search(r"以上<br\s*/?>\s*\|x\| は絶対値", shown.split("</table>")[1])


def test_metrics_have_japanese_names_on_japanese_pages() -> None:
    with speaking("ja"):
        assert metric_name("vague/recall@5_after") == "あいまいな質問: 再現率 @5（聞き返し後）"
        assert metric_name("pass^3") == "成功率 3 回とも" and metric_name("pair_win") == ""
    with speaking("en"):
        assert metric_name("won") == ""
