"""`ask_before_act`: the policy of R-Clarify round your own actions.

The flow is clarify's own `trial`; your functions perform its `Act`, your user its `AskUser`. Its
log is the only state: with a file, a conversation goes on after a restart, an answer that is
sent twice counts once, and no action that was done is done again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from pydantic import JsonValue

from naisei import lang
from naisei.clarify.agent import Agent, AgentContext, View, build_agent
from naisei.clarify.config import Rules
from naisei.clarify.flow import trial
from naisei.clarify.schemas import (
    Action,
    ActionSet,
    Clarify,
    Decision,
    Execute,
    Instance,
    Scene,
    TrialLog,
    Turn,
)
from naisei.core import (
    Act,
    AskUser,
    Chat,
    Effect,
    Embed,
    Event,
    Flow,
    Handler,
    InputError,
    MemoryLog,
    Where,
    World,
    arun,
    run,
)
from naisei.director.gate_calls import ModelHandler
from naisei.doors.exchange import Acted, ActingTurn, Asking, Choice, KeptLog, Question, Request
from naisei.lang import Language, say
from naisei.lengths import MESSAGE, too_long
from naisei.runs.log import RunLog
from naisei.runs.retry import arun_logged, retry_while_locked

R = TypeVar("R")


class AskBeforeAct(Generic[R]):
    """Your actions behind clarify's policy. Made by `ask_before_act`, whose arguments it has."""

    def __init__(
        self,
        actions: Mapping[str, Callable[[Request], R]],
        *,
        model: str | None,
        agent: str | None,
        ask: Callable[[str], str | Awaitable[str]] | None,
        quota: int,
        state: str | Path | None,
        language: Language | None,
        embedder: str,
    ) -> None:
        if len(actions) < 2:
            told = say("行動は二つ以上要ります", "two actions at least are needed")
            raise InputError(told, place="actions")
        if quota < 0:
            raise InputError(say("0 以上にしてください", "must be 0 or more"), place="quota")
        self.names = tuple(actions)
        self.language: Language = language or lang.language()
        self._functions = dict(actions)
        self._actions = ActionSet(
            name="own",
            actions=tuple(Action(id=n, text=text) for n, text in enumerate(self.names, 1)),
        )
        self._model, self._ask, self._embedder = model, ask, embedder
        self._agent_name = agent or ("llm" if model else "bayes")
        self._rules = Rules(trials=1, quota=quota)
        self._kept = KeptLog(state) if state is not None else None
        self._logs: dict[str, MemoryLog] = {}
        self._notes: dict[str, JsonValue] = {}

    def __call__(self, request: str) -> R:
        """Ask as far as needed (`ask`), act, and return what the action returned: a generator, if
        it streams."""
        turn = self._turn(request)
        run(self._trial(turn.request, "request"), self._world(turn, blocking=True))
        return turn.done[0]

    async def acall(self, request: str) -> Any:
        """The same within an event loop, for plain and async functions."""
        turn = self._turn(request)
        await arun(self._trial(turn.request, "request"), self._world(turn, blocking=False))
        return turn.done[0]

    def decide(self, request: str, asked: Sequence[tuple[str, str]] = ()) -> Question | Choice:
        """One decision: nothing is carried out, nothing is kept. asked: questions and answers so
        far, oldest first."""
        flow = self._agent.decide(self._view(request, asked))
        return self._told(run(flow, self._world(None, blocking=True)))

    async def adecide(
        self, request: str, asked: Sequence[tuple[str, str]] = ()
    ) -> Question | Choice:
        """The same within an event loop."""
        flow = self._agent.decide(self._view(request, asked))
        return self._told(await arun(flow, self._world(None, blocking=False)))

    def act(self, action: str, request: str, asked: Sequence[tuple[str, str]] = ()) -> R:
        """Carry out an action by its text. What its function returns, an awaitable where that is
        async."""
        return self._functions[action](Request(request, tuple(asked)))

    async def aact(self, action: str, request: str, asked: Sequence[tuple[str, str]] = ()) -> Any:
        """The same within an event loop, for plain and async functions."""
        result = self.act(action, request, asked)
        return await result if isinstance(result, Awaitable) else result

    def tell(self, thread: str, text: str, *, step: str = "") -> Question | Acted[R]:
        """What somebody says in a conversation: a request, or the answer to the question there.

        thread: names the conversation. step: of the question that is answered (`Question.step`);
        the same words to the same step again count once.

        Raises:
            InputError: an empty text, one that is too long, or an answer to another question.
            EpisodeBusy: something is being said there just now.
            LogBusy: another program holds the file for longer than ten seconds. Said again, it
                goes on where it was.
        """
        opened = self._opened(thread, text, step)
        if opened.begins:
            self._keep(opened)
        flow = self._trial(opened.turn.request, opened.where.instance)
        world = self._world(opened.turn, blocking=True)
        told: Question | Acted[R]
        try:
            told = opened.acted(run(flow, world, log=opened.log, where=opened.where), self.names)
        except Asking:
            told = opened.asking()
        self._keep(opened)
        return told

    async def atell(self, thread: str, text: str, *, step: str = "") -> Question | Acted[Any]:
        """`tell` within an event loop, for plain and async functions."""
        if self._kept is not None:
            await self._kept.aopen()
        opened = self._opened(thread, text, step)
        if opened.begins:
            await retry_while_locked(lambda: self._keep(opened))
        flow = self._trial(opened.turn.request, opened.where.instance)
        world = self._world(opened.turn, blocking=False)
        told: Question | Acted[Any]
        try:
            done = await arun_logged(flow, world, log=opened.log, where=opened.where)
            told = opened.acted(done, self.names)
        except Asking:
            told = opened.asking()
        await retry_while_locked(lambda: self._keep(opened))
        return told

    @cached_property
    def _agent(self) -> Agent:
        from naisei.models.embedders import KeptEmbedder, open_embedder

        context = AgentContext(
            actions=self._actions,
            trials=1,
            options={"prompt": "own-actions.v1"} if self._agent_name == "llm" else {},
            embedder=lambda: KeptEmbedder(open_embedder(self._embedder)),
        )
        return build_agent(self._agent_name, context)

    @cached_property
    def _embeds(self) -> Handler:
        from naisei.models.embedders import EmbedHandler, open_embedder

        return EmbedHandler(open_embedder(self._embedder))

    def _world(self, turn: ActingTurn[R] | None, *, blocking: bool) -> World:
        handlers: dict[type[Effect[Any]], Any] = {}
        if turn is not None:
            handlers |= {AskUser: turn, Act: turn}
        if self._model is not None:
            handlers[Chat] = ModelHandler(self._model, blocking=blocking)
        else:
            handlers[Embed] = self._embeds
        return World(handlers)

    def _turn(self, request: str) -> ActingTurn[R]:
        if self._ask is None:
            raise InputError(
                say("質問する相手がありません", "there is nobody to ask"),
                place="ask",
                remedy=say(
                    "ask に質問を受け取る関数を渡すか、tell を使ってください",
                    "give `ask` a function of the question, or use `tell`",
                ),
            )
        return ActingTurn(self, _checked(request), ask=self._ask)

    def _scene(self, request: str, name: str) -> Scene:
        return Scene(id=name, utterance=request, language=self.language)

    def _trial(self, request: str, name: str) -> Flow[TrialLog]:
        instance = Instance(id=name, scene=self._scene(request, name), gold=0)
        return trial(instance, self._actions, self._agent, "", (), self._rules)

    def _view(self, request: str, asked: Sequence[tuple[str, str]]) -> View:
        left = max(0, self._rules.quota - len(asked))
        return View(
            scene=self._scene(_checked(request), "request"),
            actions=self._actions,
            asked=tuple(Turn(question=q, answer=a) for q, a in asked),
            may_ask=left > 0,
            quota_left=left,
            trials_left=0,
        )

    def _told(self, decision: Decision) -> Question | Choice:
        if isinstance(decision, Clarify):
            guess = decision.guess
            return Question(decision.question, self._actions.text(guess) if guess else "")
        assert isinstance(decision, Execute), "agents are not told that they may decline"
        return Choice(self._actions.text(decision.action), decision.thought)

    def _opened(self, thread: str, text: str, step: str) -> _Opened[R]:
        text = _checked(text)
        kept = self._kept.open() if self._kept is not None else None
        key = f"request:{thread}"
        held = kept.get(key) if kept is not None else self._notes.get(key)
        note: dict[str, Any] = dict(held) if isinstance(held, dict) else {"n": -1}
        log = kept if kept is not None else self._logs.setdefault(thread, MemoryLog())
        asking, answer, begins = str(note.get("step", "")), None, False
        if step and step != asking:
            if not _was_said(log.read(Where(thread, note["n"]).episode), step, text):
                told = say("この質問の答えは待っていません", "that is not being asked now")
                raise InputError(told, place=f"{thread}: {step}")
        elif asking:
            answer = text
        elif not note.get("open") or text != note["request"]:
            note = {"n": note["n"] + 1, "request": text, "open": True, "step": ""}
            begins = True
        turn = ActingTurn(self, note["request"], answer=answer)
        return _Opened(turn, log, Where(thread, note["n"]), key, note, begins)

    def _keep(self, opened: _Opened[R]) -> None:
        if isinstance(opened.log, RunLog):
            opened.log.put(opened.key, opened.note)
        else:
            self._notes[opened.key] = dict(opened.note)


@dataclass(frozen=True, slots=True)
class _Opened(Generic[R]):
    """A conversation while something is said in it. note: what is kept of it beside the log, under
    a key. begins: whether this is a new request."""

    turn: ActingTurn[R]
    log: RunLog | MemoryLog
    where: Where
    key: str
    note: dict[str, Any]
    begins: bool

    def asking(self) -> Question:
        assert self.turn.pending is not None
        self.note["step"] = self.turn.pending.step
        return self.turn.pending

    def acted(self, trial: TrialLog, names: Sequence[str]) -> Acted[R]:
        self.note.update(open=False, step="")
        assert trial.action is not None, "agents are not told that they may decline"
        if self.turn.done:
            return Acted(names[trial.action - 1], self.turn.done[0])
        # Done before: from the log, as far as JSON holds it.
        events = self.log.read(self.where.episode)
        found = next(e.result for e in reversed(events) if e.kind == "act")
        assert isinstance(found, dict)
        info = found.get("info")
        result = cast(R, info.get("result")) if isinstance(info, dict) else None
        return Acted(names[trial.action - 1], result, again=True)


def _was_said(events: Sequence[Event], step: str, text: str) -> bool:
    """Whether this answer to this step is in the log already."""
    return any(e.where.step == step and e.result == text for e in events)


def _checked(text: str) -> str:
    text = text.strip()
    if not text:
        raise InputError(say("何か書いてください", "please write something"), place="text")
    if told := too_long(text, MESSAGE):
        raise InputError(told, place="text")
    return text


def ask_before_act(
    actions: Mapping[str, Callable[[Request], R]],
    *,
    model: str | None = None,
    agent: str | None = None,
    ask: Callable[[str], str | Awaitable[str]] | None = None,
    quota: int = 2,
    state: str | Path | None = None,
    language: Language | None = None,
    embedder: str = "auto",
) -> AskBeforeAct[R]:
    """Your actions, of which one is chosen; a question goes out first where a request leaves it
    open.

    Args:
        actions: what each does, in a few words, → its function, plain, async or a generator. It
            is given the `Request` with questions and answers. Two at least.
        model: `provider:name` of the model that decides. Without one, `agent` must be one that
            needs none.
        agent: an agent of clarify; `llm` with a model, else `bayes`, which knows actions of a
            household.
        ask: from a question to the answer, for calls that wait (`desk(request)`); else `tell`.
        quota: questions to one request at most.
        state: SQLite file, or `postgresql://…`, of the conversations held by `tell`; in memory
            without one.
        language: of the model's instructions and questions; the user's by default.
        embedder: for agents without a model.

    Raises:
        InputError: fewer than two actions, or a negative quota.
    """
    return AskBeforeAct(
        actions,
        model=model,
        agent=agent,
        ask=ask,
        quota=quota,
        state=state,
        language=language,
        embedder=embedder,
    )
