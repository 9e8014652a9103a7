"""The gate: checks the lines of any generate function before they are spoken.

    @gate(character="ayu", retries=2)
    def reply(prompt: str, reasons: Sequence[str] = ()) -> str: ...

Uses the same flow as a talk (`naisei.director.flow.turn`), with the function as the writer. Accepts
plain and async functions, generators and async generators. A stream is buffered until a draft is
accepted.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from naisei.core import AskUser, Chat, Effect, Flow, InputError, Say, World, arun, run
from naisei.director.character import Character, load_character
from naisei.director.config import POLICIES, Policy, TalkRules
from naisei.director.flow import turn
from naisei.director.gate_calls import (
    AnyJudge,
    Call,
    SentenceGate,
    Write,
    at_once,
    judge_handler,
    now,
)
from naisei.director.judge import Judging
from naisei.director.schemas import Draft, Turn
from naisei.director.state import Spoken, TalkState
from naisei.director.verdict import RuleSet
from naisei.lang import Language, say
from naisei.runs.spans import traced

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A gate for one character. Calling it with a generate function gives the gated function.

    >>> @gate(character="ayu")
    ... def reply(reasons=()):
    ...     return "明日は晴れるでしょう。洗濯の目安は午前です。" if reasons else "一人暮らしだよ。"
    >>> reply()
    '明日は晴れるでしょう。洗濯の目安は午前です。'

    character: id, display name, path of a TOML profile, or a profile. retries: new drafts after
    the first. rules: see `naisei.director.check`. policy: what to do if no draft passes: `best`,
    `refuse` (says nothing: returns `otherwise`, or an empty stream), or `person` (calls `person`
    and uses its line unchanged). judge: none by default, so that only the hard rules decide; a
    model (`provider:name`), or a function of a `JudgeQuestion` that returns scores (`Scores`, a
    mapping, five integers, or JSON); plain or async. repeats, margin: see `Judging`. history:
    returns the earlier lines, oldest first, before each check. topic, scene: for the judge. hold:
    release a stream as a whole reply, or sentence by sentence (`sentence`), each checked with the
    sentences before it, without a judge. keyword: the function's parameter for the reasons, if it
    has one. on_turn: called with each `Turn`, all drafts and verdicts included. language: of
    prompts and reasons; by default the character's.

    Exceptions of the function pass through.

    Raises (on construction):
        InputError: an unknown character or policy, or `person` without a function to ask.
    """

    character: str | Path | Character = field(default="yana", kw_only=False)
    retries: int = 2
    rules: RuleSet = "calibrated"
    policy: Policy = "best"
    judge: AnyJudge | None = None
    repeats: int = 1
    margin: float = 0.1
    history: Callable[[], Sequence[str]] | None = None
    topic: str = ""
    scene: str = ""
    person: Callable[[str], Any] | None = None
    otherwise: str = ""
    hold: Literal["reply", "sentence"] = "reply"
    keyword: str = "reasons"
    on_turn: Callable[[Turn], None] | None = None
    language: Language | None = None

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise InputError(
                say(f"policy に {self.policy!r} は使えません", f"unknown policy {self.policy!r}"),
                place="policy",
                remedy=", ".join(POLICIES),
            )
        if self.policy == "person" and self.person is None:
            raise InputError(
                say("`person` には、尋ねる関数が要ります", "`person` needs a function to ask"),
                place="policy",
                remedy=say("person=… で渡してください", "give it as person=…"),
            )
        if self.hold == "sentence" and (self.judge is not None or self.policy == "person"):
            raise InputError(
                say(
                    "judge と policy=`person` は返事の全体を見るので、文ごとには出せません",
                    "a judge and the policy `person` see the whole reply",
                ),
                place="hold",
                remedy=say("hold=`reply` にしてください", "use hold=`reply`"),
            )
        if self.retries < 0:
            raise InputError(
                say("0 以上でなければなりません", "must be 0 or more"),
                place=f"retries={self.retries}",
            )
        # The profile is read once, and its rules are cached.
        object.__setattr__(self, "character", load_character(self.character))

    def __call__(self, generate: F) -> F:
        """The gated function, of the same kind as `generate`."""

        def is_a(kind: Callable[[Any], bool]) -> bool:
            # For a callable object, `__call__` determines the kind.
            return kind(generate) or kind(type(generate).__call__)

        asynchronous = is_a(inspect.iscoroutinefunction) or is_a(inspect.isasyncgenfunction)
        words = {"keyword": self.keyword, "otherwise": self.otherwise}

        async def reply(*args: Any, **kwargs: Any) -> Any:
            call = Call(generate, args, kwargs, **words, blocking=not asynchronous)
            return call.result(await self._turn(call))

        async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[str]:
            call = Call(generate, args, kwargs, **words, blocking=not asynchronous)
            async for part in self._parts(call):
                yield part

        def plain_reply(*args: Any, **kwargs: Any) -> Any:
            return now(reply(*args, **kwargs))

        def plain_stream(*args: Any, **kwargs: Any) -> Iterator[str]:
            yield from at_once(stream(*args, **kwargs))

        gated: Any
        if is_a(inspect.isasyncgenfunction) or is_a(inspect.isgeneratorfunction):
            gated = stream if asynchronous else plain_stream
        else:
            gated = reply if asynchronous else plain_reply
        gated = wraps(generate)(gated)
        return cast(F, gated)

    async def _turn(self, call: Call) -> Turn:
        """Produce a whole reply. Never awaits if the call is blocking."""
        prepared = self._prepared(call, self._setting(await self._past_lines(call)))
        done = run(*prepared) if call.blocking else await arun(*prepared)
        await self._finished(done, call)
        return done

    async def _parts(self, call: Call) -> AsyncIterator[str]:
        """Yield the parts of a reply, all together or as its sentences pass."""
        if self.hold == "reply":
            for part in call.parts(await self._turn(call)):
                yield part
            return
        held = SentenceGate(*self._setting(await self._past_lines(call)))
        async for part in held.let_out(call):
            yield part
        done = held.turn()
        await self._finished(done, call)
        if done.text is None and self.otherwise:
            yield self.otherwise

    async def _past_lines(self, call: Call) -> Sequence[str]:
        return self.history() if self.history is not None else ()

    async def _finished(self, done: Turn, call: Call) -> None:
        if self.on_turn is not None:
            self.on_turn(done)

    def _prepared(
        self, call: Call, setting: tuple[Character, TalkState, TalkRules]
    ) -> tuple[Flow[Turn], World]:
        character, state, rules = setting
        handlers: dict[type[Effect[Any]], Any] = {Say: lambda line: None, Write: call.write}
        if call.blocking:
            handlers[Write] = lambda request: now(call.write(request))
        if self.judge is not None:
            handlers[Chat] = judge_handler(self.judge, call, character, state)
        if (person := self.person) is not None:
            handlers[AskUser] = lambda request: person(request.question)

        def writer(rejected: Sequence[Draft]) -> Flow[str]:
            return (yield from Write(rejected[-1].reasons if rejected else ()))

        return turn(character, writer, state, rules), traced(World(handlers))

    def _setting(self, past: Sequence[str]) -> tuple[Character, TalkState, TalkRules]:
        character = load_character(self.character)
        state = TalkState(
            topic=self.topic,
            scene=self.scene,
            history=tuple(Spoken(speaker="", text=text) for text in past),
        )
        judging = Judging(repeats=self.repeats, margin=self.margin)
        rules = TalkRules(
            retries=self.retries,
            rules=self.rules,
            policy=self.policy,
            judge=self.judge is not None,
            judging=judging,
            language=self.language or character.language,
        )
        return character, state, rules


#: As a decorator: `@gate(character="ayu", retries=2)`.
gate = Gate
