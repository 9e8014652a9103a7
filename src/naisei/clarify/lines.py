"""Display lines of episodes and conversations: scene, questions, answers, actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from naisei.clarify.describe import WORDS, scene_text
from naisei.clarify.schemas import ActionSet, EpisodeResult, Instance, Language, Scene, TrialLog
from naisei.core import Event
from naisei.lang import language, say
from naisei.runs.lines import Line, Mark, Tone

#: Speaker labels for a decision, and for the end of a request.
THOUGHT, DONE, GAVE_UP, NOTHING = "thought", "done", "gave up", "nothing asked"
#: How a request ended → its text.
ENDED: dict[str, dict[Language, str]] = {
    DONE: {"ja": "わかりました。覚えておきます。", "en": "Good. I will remember that."},
    GAVE_UP: {
        "ja": "かなえられる行動が見つかりませんでした。望みは書きとめました。",
        "en": "I found no action for that. I have noted the wish.",
    },
    NOTHING: {
        "ja": "わかりました。何もしないでおきます。",
        "en": "All right, I will leave things as they are.",
    },
}
_TONES: dict[str, Tone] = {DONE: "good", GAVE_UP: "warn", NOTHING: ""}


def episode_lines(instance: Instance, result: EpisodeResult, actions: ActionSet) -> list[Line]:
    """One episode: scene, trials, the memo, and the right answer."""
    w = WORDS[language()]
    lines = [scene_line(instance.scene)]
    for log in result.trials:
        lines += trial_lines(log, actions)
    if result.memo:
        lines.append(Line(result.memo, w["memo"]))
    wanted = w["comma"].join(actions.text(a) for a in (instance.gold, *instance.also))
    return [*lines, Line(wanted, w["gold"], tone="head")]


def scene_line(scene: Scene) -> Line:
    """The user's utterance, with the situation below it."""
    said, *facts = scene_text(scene).splitlines()
    return Line(said, tone="head", under=tuple(Line(fact, tone="dim") for fact in facts))


def trial_lines(log: TrialLog, actions: ActionSet) -> Iterator[Line]:
    """One trial, step by step, with its outcome."""
    w = WORDS[language()]
    yield Line(w["trial"].format(n=log.trial), tone="dim")
    for turn in log.turns:
        if turn.thought:
            yield Line(turn.thought, w["thought"], tone="dim")
        yield Line(turn.question, w["question"])
        yield Line(turn.answer, w["answer"], mine=True)
    if log.thought:
        yield Line(log.thought, w["thought"], tone="dim")
    done = w["comma"].join(map(actions.text, log.acts)) or w["nothing"]
    mark = Mark(w["right"], "good") if log.success else Mark(w["wrong"], "bad")
    yield Line(done, w["execute"], marks=(mark,))


def event_lines(event: Event) -> tuple[Line, ...]:
    """The lines that an event adds to a conversation."""
    request: Any = event.request
    result: Any = event.result
    if event.kind == "ask":
        return (Line(str(result), mine=True),)
    if event.kind == "act":
        right = result["reward"] > 0
        words = (
            say("はい、それです", "Yes, that is it")
            if right
            else say("いいえ、違います", "No, that is not it")
        )
        return (Line(words, mine=True),)
    if event.kind == "remember":
        return (
            Line(
                str(request["item"]),
                say("内省メモを書き直しました", "rewrote the reflection memo"),
            ),
        )
    return _say_lines(request) if event.kind == "say" else ()


def _say_lines(request: Any) -> tuple[Line, ...]:
    if request["speaker"] == THOUGHT:
        return (_thought(request["text"], request["meta"]),)
    if ended := ENDED.get(request["speaker"]):
        return (Line(say(ended["ja"], ended["en"]), tone=_TONES[request["speaker"]]),)
    return ()


def _thought(text: str, meta: Any) -> Line:
    who = say("質問", "asks") if meta["asks"] else say("実行します", "acts")
    if (trial := meta["trial"]) > 1:
        who += say(f"（{trial}回目の試み）", f" (try {trial})")
    why = Line(say("なぜ", "Why"), tone="dim", more=(Line(meta["thought"]),))
    under = (why,) if meta["thought"] else ()
    return Line(text if meta["asks"] else f"→ {text}", who, under=under)
