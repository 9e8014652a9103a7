"""The gate: checks the lines of any generate function before they are spoken.

    @gate(character="ayu", retries=2)
    def reply(prompt: str, reasons: Sequence[str] = ()) -> str: ...

The same flow as a talk's (`naisei.director.flow.turn`), with the function as the writer. Plain
and async functions, generators and async generators: a stream is held back until a draft is
accepted, and then passed on.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

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

    character: id, display name, path of a TOML profile, or a profile. retries: new drafts after
    the first. rules: see `naisei.director.check`. policy: if none of them passes: `best`,
    `refuse` (nothing is said: `otherwise` is returned, a stream is empty), or `person` (`person`
    is asked, and its line goes out as given). judge: none by default, only the hard rules decide; a
    model (`provider:name`), or a function of a `JudgeQuestion` that returns scores (`Scores`, a
    mapping, five integers, or JSON); plain or async. repeats, margin: see `Judging`. history:
    returns the earlier lines, oldest first, before each check. topic, scene: for the judge. hold:
    pass a stream as a whole reply, or sentence by sentence (`sentence`), each checked with those
    before, without a judge. keyword: the function's parameter for the reasons, if it has it.
    on_turn: called with each `Turn`, all drafts and verdicts included. language: of prompts and
    reasons; by default the character's.

    Exceptions of the function pass through.

    Raises (when made):
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
                say(
                    "policy が `person` なのに、尋ねる相手がいません",
                    "the policy `person` needs a function to ask",
                ),
                place="person",
                remedy=say(
                    "質問を受け取って発言を返す関数を渡してください",
                    "give a function from the question to a line",
                ),
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
                say(
                    f"0 以上でなければなりません ({self.retries} が渡されました)",
                    f"must be 0 or more, not {self.retries}",
                ),
                place="retries",
            )
        # A profile is read once, and its rules are cached with it.
        object.__setattr__(self, "character", load_character(self.character))

    def __call__(self, generate: F) -> F:
        """The gated function, of the same kind as `generate`."""
        # For an object with `__call__`, that method decides the kind.
        called = type(generate).__call__
        wrapped: Any
        if inspect.isasyncgenfunction(generate) or inspect.isasyncgenfunction(called):
            wrapped = self._async_stream(generate)
        elif inspect.iscoroutinefunction(generate) or inspect.iscoroutinefunction(called):
            wrapped = self._async(generate)
        elif inspect.isgeneratorfunction(generate) or inspect.isgeneratorfunction(called):
            wrapped = self._stream(generate)
        else:
            wrapped = self._plain(generate)
        gated: F = wrapped
        return gated

    def _plain(self, generate: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(generate)
        def gated(*args: Any, **kwargs: Any) -> Any:
            call = self._call(generate, args, kwargs, blocking=True)
            return call.result(self._run(call))

        return gated

    def _stream(self, generate: Callable[..., Any]) -> Callable[..., Iterator[str]]:
        @wraps(generate)
        def gated(*args: Any, **kwargs: Any) -> Iterator[str]:
            call = self._call(generate, args, kwargs, blocking=True)
            if self.hold == "reply":
                yield from call.parts(self._run(call))
                return
            held = self._sentences(self._past_lines())
            yield from at_once(held.let_out(call))
            yield from self._closed(self._finished(held.turn()))

        return gated

    def _async(self, generate: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(generate)
        async def gated(*args: Any, **kwargs: Any) -> Any:
            call = self._call(generate, args, kwargs, blocking=False)
            return call.result(await self._arun(call))

        return gated

    def _async_stream(self, generate: Callable[..., Any]) -> Callable[..., AsyncIterator[str]]:
        @wraps(generate)
        async def gated(*args: Any, **kwargs: Any) -> AsyncIterator[str]:
            call = self._call(generate, args, kwargs, blocking=False)
            if self.hold == "reply":
                parts = call.parts(await self._arun(call))
            else:
                held = self._sentences(await self._asaid())
                async for part in held.let_out(call):
                    yield part
                parts = self._closed(await self._afinished(held.turn()))
            for part in parts:
                yield part

        return gated

    def _sentences(self, said: Sequence[str]) -> SentenceGate:
        return SentenceGate(*self._setting(said))

    def _closed(self, done: Turn) -> list[str]:
        """The return value if nothing was said."""
        return [self.otherwise] if done.text is None and self.otherwise else []

    def _call(
        self,
        generate: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        blocking: bool,
    ) -> Call:
        words = {"keyword": self.keyword, "otherwise": self.otherwise}
        return Call(generate, args, kwargs, **words, blocking=blocking)

    def _run(self, call: Call) -> Turn:
        setting = self._setting(self._past_lines())
        return self._finished(run(*self._prepared(call, setting, blocking=True)))

    async def _arun(self, call: Call) -> Turn:
        setting = self._setting(await self._asaid())
        done = await arun(*self._prepared(call, setting, blocking=False))
        return await self._afinished(done)

    def _past_lines(self) -> Sequence[str]:
        return self.history() if self.history is not None else ()

    async def _asaid(self) -> Sequence[str]:
        """`_past_lines` within an event loop, for a gate that must not block it."""
        return self._past_lines()

    def _finished(self, done: Turn) -> Turn:
        if self.on_turn is not None:
            self.on_turn(done)
        return done

    async def _afinished(self, done: Turn) -> Turn:
        """`_finished` within an event loop."""
        return self._finished(done)

    def _prepared(
        self,
        call: Call,
        setting: tuple[Character, TalkState, TalkRules],
        *,
        blocking: bool,
    ) -> tuple[Flow[Turn], World]:
        character, state, rules = setting
        handlers: dict[type[Effect[Any]], Any] = {Say: lambda said: None, Write: call.write}
        if blocking:
            handlers[Write] = lambda asked: now(call.write(asked))
        if self.judge is not None:
            handlers[Chat] = judge_handler(self.judge, call, character, state, blocking=blocking)
        if (person := self.person) is not None:
            handlers[AskUser] = lambda asked: person(asked.question)

        def writer(rejected: Sequence[Draft]) -> Flow[str]:
            return (yield from Write(rejected[-1].reasons if rejected else ()))

        return turn(character, writer, state, rules), traced(World(handlers))

    def _setting(self, said: Sequence[str]) -> tuple[Character, TalkState, TalkRules]:
        character = load_character(self.character)
        state = TalkState(
            topic=self.topic,
            scene=self.scene,
            history=tuple(Spoken(speaker="", text=text) for text in said),
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


@overload
def gate(generate: F, /) -> F: ...


@overload
def gate(**options: Any) -> Gate: ...


def gate(generate: Any = None, /, **options: Any) -> Any:
    """`@gate(character=…, retries=2, policy=…)` on a generate function; options as of `Gate`.

    >>> @gate(character="ayu")
    ... def reply(reasons=()):
    ...     return "明日は晴れるでしょう。洗濯の目安は午前です。" if reasons else "一人暮らしだよ。"
    >>> reply()
    '明日は晴れるでしょう。洗濯の目安は午前です。'
    """
    made = Gate(**options)
    return made if generate is None else made(generate)
