"""Side panels of a conversation with the agent: its mind, rebuilt from events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from naisei.agent.flow import STREAM
from naisei.agent.house import rooms_of
from naisei.agent.opening import TalkConfig
from naisei.agent.persona import Persona
from naisei.clarify.conversation import BeliefState
from naisei.clarify.lines import THOUGHT
from naisei.clarify.person import Person
from naisei.core import Event
from naisei.director.lines import draft_line
from naisei.director.schemas import Draft
from naisei.intent.lines import terminal_line
from naisei.intent.schemas import Reply
from naisei.lang import say
from naisei.relationship.curves import direction_chart
from naisei.relationship.standing import standing
from naisei.runs.charts import Chart
from naisei.runs.lines import Line
from naisei.web.conversations.kind import Panel
from naisei.web.html import fragment
from naisei.web.pages.relationship import curves_html


@dataclass
class Mindful:
    """The agent's mind, built from the events. said: metadata of its last line. stances: stances of
    the persona and of the person, one per line. recalled: memories relevant to the last remark."""

    said: dict[str, Any] = field(default_factory=dict)
    stances: dict[str, list[dict[str, int] | None]] = field(
        default_factory=lambda: {"own": [], "theirs": []}
    )
    recalled: list[str] = field(default_factory=list)
    memo: str = ""

    @classmethod
    def of(cls, config: TalkConfig, events: Sequence[Event]) -> Mindful:
        mind = cls(memo=config.memo)
        for event in events:
            request: Any = event.request
            if event.kind == "ask" and not request["question"]:
                mind.said = {}
            elif event.kind == "say" and request["speaker"] != THOUGHT:
                mind.said = request["meta"]
                for side, found in mind.stances.items():
                    found.append(mind.said["stance"][side])
            elif event.kind == "recall" and isinstance(event.result, list):
                bearing: Any = event.result
                mind.recalled = [one["entry"]["text"] for one in bearing]
            elif event.kind == "remember" and request["memory"] != STREAM:
                mind.memo = str(request["item"])
        return mind


#: Minimum share, relative to the likeliest, of other interpretations shown; kinds never shown.
_NEAR, _URGENT = 0.5, ("ambulance", "police")


def _kinds() -> dict[str, str]:
    return {
        "act": say("してほしいこと", "something to do"),
        "question": say("知りたいこと", "something to look up"),
        "correction": say("さっきの行動の訂正", "a correction"),
        "chat": say("おしゃべり", "talk"),
        "self": say("この人物のこと", "about the persona"),
        "greeting": say("挨拶", "a greeting"),
        "thanks": say("お礼", "thanks"),
        "farewell": say("別れの挨拶", "a farewell"),
        "decline": say("断り", "a refusal"),
        "glad": say("うれしい話", "good news"),
        "sad": say("つらい話", "bad news"),
        "ambulance": say("急病・火事", "illness or fire"),
        "police": say("身の危険", "danger"),
    }


def _understood(mind: Mindful, picture: BeliefState) -> list[Line]:
    """Return the interpretation of the last remark, and why the agent asked or acted."""
    out = []
    if meant := mind.said.get("understood"):
        kinds, taken, shares = _kinds(), meant["kind"], meant["shares"]
        near = _NEAR * max(shares.values(), default=0.0)
        # Show an emergency only if the remark was taken as one.
        others = sorted(
            (kind for kind in shares if near <= shares[kind] and kind not in (taken, *_URGENT)),
            key=lambda kind: -shares[kind],
        )
        out.append(Line(kinds[taken], tone="head"))
        if others:
            words = say("、", ", ").join(map(kinds.__getitem__, others))
            out.append(Line(words, say("ほかにありうる受け取り方", "It may also be"), tone="dim"))
        if meant["thought"]:  # from a model
            out.append(Line(meant["words"], say("受け取った言葉", "Taken as"), tone="dim"))
            out.append(Line(meant["thought"], say("理由", "Because")))
    elif picture.thought:  # its line is not there yet
        out.append(Line(_kinds()["act"], tone="head"))
    if picture.thought:
        out.append(Line(picture.thought, say("動く前の考え", "Before it acted")))
    return out


def _checked(mind: Mindful, name: str) -> list[Line]:
    """Return the director's verdict on the last line and its drafts."""
    drafts = [Draft.model_validate(draft) for draft in mind.said.get("drafts", ())]
    return [draft_line(draft, name) for draft in drafts]


def _remembered(mind: Mindful) -> list[Line]:
    out = [Line(mind.memo, say("内省メモ", "Reflection memo"))] if mind.memo else []
    return [*out, *(Line(text, say("思い出したこと", "Recalled")) for text in mind.recalled)]


def reply_sources(meta: Mapping[str, Any], text: str) -> Sequence[Line]:
    """Return the sources of a line that answers from documents."""
    if not (found := meta.get("reply")):
        return ()
    return terminal_line(Reply(message=text, **found)).under


def _cost(events: Sequence[Event]) -> list[Line]:
    used = [event.usage for event in events if event.usage is not None]
    calls = sum(each.calls for each in used)
    tokens = sum(each.input_tokens + each.output_tokens for each in used)
    usd = sum(each.usd or 0.0 for each in used)
    words = say(f"モデル呼び出し {calls}、{tokens:,} トークン", f"{calls} calls, {tokens:,} tokens")
    return [Line(f"{words}, ${usd:.4f}" if usd else words)]


def _curves(mind: Mindful, ways: Mapping[str, tuple[str, str]]) -> list[Chart]:
    """Draw the relationship between persona and person, in both directions."""
    charts = [direction_chart(" → ".join(ways[side]), mind.stances[side]) for side in ways]
    return [chart for chart in charts if any(chart.lines.values())]


def _standing(mind: Mindful, ways: Mapping[str, tuple[str, str]]) -> list[Line]:
    """Describe the relationship in sentences; none before anything is known."""
    known = {side: [each for each in mind.stances[side] if each] for side in ways}
    return [standing(*ends, known[side]) for side, ends in ways.items() if known[side]]


def _house(persona: Persona, events: Sequence[Event]) -> dict[str, Any]:
    """Return the rooms after these events, and what happened there."""
    acts: list[Any] = [e.result for e in events if e.kind == "act" and e.failure is None]
    did = [act for act in acts if act["reward"]]
    rooms = did[-1]["info"]["rooms"] if did else rooms_of(persona.world)
    return {"rooms": rooms, "done": [act["text"] for act in did if act["text"]]}


def mind_panels(config: TalkConfig, remembers: bool, events: Sequence[Event]) -> list[Panel]:
    """Return the side panels after these events. remembers: whether the person allows memory."""
    persona, mind = config.persona, Mindful.of(config, events)
    name = persona.profile.name
    picture = BeliefState.of(Person(name=config.person), events)

    def told(id: str, title: str, lines: Sequence[Line], empty: str) -> Panel:
        return Panel(id, title, fragment("agent/_told.html", lines=lines, empty=empty))

    nothing = say("まだ何もありません。", "Nothing yet.")
    if remembers:
        nothing = say(
            "前に話したことは、話に関わるときにここに出ます。すべては「話す」の最初のページにあります。",
            "Earlier remarks appear here when they matter. The first page of Talk lists all.",
        )
    panels = [
        told(
            "understood",
            say("どう受け取ったか", "How it was understood"),
            _understood(mind, picture),
            say("話しかけると、ここに出ます。", "Say something to see it here."),
        ),
        told("memory", say("メモと思い出", "Memo and memories"), _remembered(mind), nothing),
    ]
    if persona.acts:
        chances = fragment("assistant/_beliefs.html", chances=picture.chances, wish="")
        panels.append(Panel("chances", say("候補と見込み", "Possible wishes"), chances))
    if persona.world:
        house = fragment("agent/_house.html", house=_house(persona, events))
        panels.append(Panel("house", say("家のようす", "The house"), house))
    you = say("あなた", "you")
    ways = {"own": (name, you), "theirs": (you, name)}
    stance = curves_html(_curves(mind, ways), _standing(mind, ways), estimated=True)
    panels += [
        Panel("stance", say("ふたりの間柄", "Relationship"), stance),
        told(
            "checked",
            say("言う前の検査", "Checks before speaking"),
            _checked(mind, name),
            say(
                "自分の言葉は、一行ごとに検査してから言います。資料からの引用は、そのまま出します。",
                "It checks its own words before it says them. Quotations are shown as they are.",
            ),
        ),
    ]
    if persona.index:
        panels.append(
            told(
                "sources",
                say("出典", "Sources"),
                reply_sources(mind.said, ""),
                say(
                    "資料から答えると、ここに出ます。",
                    "Appears when an answer comes from documents.",
                ),
            )
        )
    return [*panels, told("cost", say("費用", "Cost"), _cost(events), "")]
