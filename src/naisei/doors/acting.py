"""`ask_before_act`: the policy of R-Clarify around your own actions.

Clarify's agents decide; your functions perform `Act`, and your user answers `AskUser`. The log is
the only state: with a file, a conversation continues after a restart. Each message belongs to one
thread, one request in it and one step of that request. `Question.step` is a permanent name of that
step: a repeated answer counts once, a late one is refused, and no action is carried out twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from naisei import lang
from naisei.clarify.agent import Agent, AgentContext, View, build_agent
from naisei.clarify.careful import CarefulAgent
from naisei.clarify.schemas import (
    Action,
    ActionSet,
    Clarify,
    Decline,
    Execute,
    Scene,
    Turn,
)
from naisei.core import (
    Act,
    AskUser,
    Chat,
    Effect,
    Embed,
    EventLog,
    Flow,
    InputError,
    World,
    arun,
    run,
)
from naisei.doors.exchange import (
    Acted,
    ActingTurn,
    Asking,
    Choice,
    Declined,
    Notes,
    Question,
    Request,
)
from naisei.doors.threads import Opened, Threads, last_request, mark_of
from naisei.lang import Language, say
from naisei.lengths import MESSAGE, too_long
from naisei.models.gateway import ModelHandler
from naisei.models.registry import AnyModel, as_model
from naisei.plugins import needs_extra
from naisei.runs.lock import arun_logged, retry_while_locked
from naisei.runs.spans import traced

if TYPE_CHECKING:
    from naisei.models.embedders import EmbedHandler

R = TypeVar("R")


class AskBeforeAct(Generic[R]):
    """Chooses one of your actions, after a question if the request is ambiguous. If the user wants
    none of them, nothing is done: `Declined`.

    Args:
        actions: short description → function (plain, async or a generator), which receives the
            `Request` with questions and answers. At least two.
        model: makes the decisions: `provider:name`, a model of pydantic-ai, a chat model of
            LangChain, or a function (plain or async) from messages of `role` and `content` to the
            reply. Without a model the words of the request decide (`naisei.agent.own_actions`).
        ask: function from a question to the answer, for blocking calls (`desk(request)`); otherwise
            use `tell`.
        quota: maximum number of questions per request, not counting confirmations of an action.
        dangerous: the actions that require a yes to "Shall I?".
        state: SQLite file, or `postgresql://…`, for the conversations of `tell`; by default they
            stay in memory.
        language: language of the model's instructions and questions; by default the user's.

    Raises:
        InputError: fewer than two actions, a negative quota, or an invalid model.
    """

    def __init__(
        self,
        actions: Mapping[str, Callable[[Request], R]],
        *,
        model: AnyModel | None = None,
        ask: Callable[[str], str | Awaitable[str]] | None = None,
        quota: int = 2,
        dangerous: Collection[str] = (),
        state: str | Path | None = None,
        language: Language | None = None,
    ) -> None:
        if len(actions) < 2:
            few = say("行動は二つ以上要ります", "two actions at least are needed")
            raise InputError(few, place="actions")
        if quota < 0:
            raise InputError(say("0 以上にしてください", "must be 0 or more"), place="quota")
        if unknown := set(dangerous) - set(actions):
            none = say(
                f"actions にない行動です: {min(unknown)!r}",
                f"{min(unknown)!r} is not among the actions",
            )
            raise InputError(none, place="dangerous")
        self.names = tuple(actions)
        self.language: Language = language or lang.language()
        self._functions = dict(actions)
        self._actions = ActionSet(
            name="own",
            actions=tuple(Action(id=n, text=text) for n, text in enumerate(self.names, 1)),
        )
        self._dangerous = frozenset(self.names.index(each) + 1 for each in dangerous)
        self._model = None if model is None else as_model(model)
        self._ask, self._quota = ask, quota
        self.notes = Notes(state)
        self._threads: Threads[R] = Threads(self._perform, self.notes)

    def __call__(self, request: str) -> R | Declined:
        """Ask if needed (`ask`), act, and return the action's result, which is a generator if the
        action streams."""
        turn = self._turn(request)
        found = run(self._flow(turn.request), self._world(turn, blocking=True))
        return turn.done[0] if turn.done else self._declined(found)

    async def acall(self, request: str) -> Any:
        """Like `__call__` within an event loop, for plain and async functions."""
        turn = self._turn(request)
        found = await arun(self._flow(turn.request), self._world(turn, blocking=False))
        return turn.done[0] if turn.done else self._declined(found)

    def decide(
        self,
        request: str,
        asked: Sequence[tuple[str, str]] = (),
        *,
        done: str = "",
        log: EventLog | None = None,
    ) -> Question | Choice | Declined:
        """Make one decision, without acting or storing anything.

        asked: questions and answers so far, oldest first. done: the action just carried out for the
        same words, which must then be confirmed. log: receives the model calls.
        """
        flow = self._decided(_checked(request), asked, done)
        return run(flow, self._world(None, blocking=True), log=log)

    async def adecide(
        self,
        request: str,
        asked: Sequence[tuple[str, str]] = (),
        *,
        done: str = "",
        log: EventLog | None = None,
    ) -> Question | Choice | Declined:
        """Like `decide`, within an event loop."""
        flow = self._decided(_checked(request), asked, done)
        return await arun(flow, self._world(None, blocking=False), log=log)

    async def ahear(
        self, messages: Sequence[tuple[str, str]], whose: str = "", *, log: EventLog | None = None
    ) -> Question | Choice | Declined | None:
        """Like `adecide`, for a conversation stored elsewhere: role and text of its messages,
        oldest first. Our own questions are recognized by the messages before them; any other
        assistant message ends the earlier request. whose: the user, if known. Returns `None` if the
        last message is not the user's."""
        await self.notes.aopen()

        def is_ours(mark: str) -> bool:
            return self.notes.get(f"asked:{mark}") is not None

        heard = await asyncio.to_thread(last_request, messages, whose, is_ours)
        if heard is None:
            return None
        request, asked = heard
        found = await self.adecide(request[:MESSAGE], asked, log=log)
        if isinstance(found, Question):
            mark = mark_of(whose, [request, *(t for pair in asked for t in pair), found.text])
            await self.notes.aput(f"asked:{mark}", True)
        return found

    def act(self, action: str, request: Request) -> R:
        """Carry out an action by its text. Returns its function's result, an awaitable if async."""
        return self._functions[action](request)

    def _perform(self, number: int, request: Request) -> R:
        return self.act(self.names[number - 1], request)

    async def aact(self, action: str, request: Request) -> Any:
        """Like `act` within an event loop, for plain and async functions."""
        result = self.act(action, request)
        return await result if isinstance(result, Awaitable) else result

    def tell(
        self, thread: str, text: str, *, step: str = "", message: str = ""
    ) -> Question | Acted[R] | Declined:
        """Pass a message of a conversation: a request, or the answer to its question.

        thread: name of the conversation; different users need different names. step: the step of
        the answered question (`Question.step`). message: your id of the message, unique in the
        thread. A call that repeats a step or a message id counts once and returns the first result.
        Without either, repeated words are a new request, and an action already carried out for them
        is confirmed first.

        Raises:
            InputError: an empty text, one that is too long, or an answer to another question.
            EpisodeBusy: another message of this thread is being processed.
            LogBusy: another program locks the file for more than ten seconds. The same call can be
                repeated; it resumes where it stopped.
        """
        text = _checked(text)
        with self._threads.exclusive(thread):
            opened = self._threads.opened(thread, text, step, message)
            if opened.begins:
                self._threads.keep(opened)
            flow = self._flow(opened.turn.request, opened.note["done"])
            world = self._world(opened.turn, blocking=True)
            told: Question | Acted[R] | Declined
            try:
                told = self._ended(opened, run(flow, world, log=opened.log, where=opened.where))
            except Asking:
                told = self._asking(opened)
            self._threads.keep(opened)
            return told

    async def atell(
        self, thread: str, text: str, *, step: str = "", message: str = ""
    ) -> Question | Acted[Any] | Declined:
        """Like `tell` within an event loop, for plain and async functions."""
        text = _checked(text)
        await self.notes.aopen()
        with ExitStack() as held:
            await retry_while_locked(lambda: held.enter_context(self._threads.exclusive(thread)))
            opened = self._threads.opened(thread, text, step, message)
            if opened.begins:
                await retry_while_locked(lambda: self._threads.keep(opened))
            flow = self._flow(opened.turn.request, opened.note["done"])
            world = self._world(opened.turn, blocking=False)
            told: Question | Acted[Any] | Declined
            try:
                done = await arun_logged(flow, world, log=opened.log, where=opened.where)
                told = self._ended(opened, done)
            except Asking:
                told = self._asking(opened)
            await retry_while_locked(lambda: self._threads.keep(opened))
            return told

    @cached_property
    def _agent(self) -> Agent:
        if self._model is None:
            embedder = _vectors().embedder
            from naisei.agent.own_actions import OwnActions

            return OwnActions(self._actions, embedder)
        options = {"prompt": "own-actions.v1"}
        return build_agent("llm", AgentContext(actions=self._actions, trials=1, options=options))

    def _world(self, turn: ActingTurn[R] | None, *, blocking: bool) -> World:
        handlers: dict[type[Effect[Any]], Any] = {}
        if turn is not None:
            handlers |= {AskUser: turn, Act: turn}
        if self._model is None:
            handlers[Embed] = _vectors()
        else:
            handlers[Chat] = ModelHandler(self._model, blocking=blocking)
        return traced(World(handlers))

    def _turn(self, request: str) -> ActingTurn[R]:
        if self._ask is None:
            raise InputError(
                say("質問する相手がありません", "there is no function to ask the user"),
                place="ask",
                remedy=say(
                    "ask に質問を受け取る関数を渡すか、tell を使ってください",
                    "give `ask` a function of the question, or use `tell`",
                ),
            )
        return ActingTurn(self._perform, _checked(request), id=token_hex(8), ask=self._ask)

    def _careful(self, done: str) -> CarefulAgent:
        at = self.names.index(done) + 1 if done in self.names else 0
        return CarefulAgent(self._agent, self._actions, self._dangerous, at)

    def _flow(self, request: str, done: str = "") -> Flow[Execute | Decline]:
        """Ask until the agent acts or declines."""
        agent, asked = self._careful(done), list[tuple[str, str]]()
        while True:
            decision = yield from agent.decide(self._view(request, asked))
            if isinstance(decision, Clarify):
                asked.append((decision.question, (yield from AskUser(decision.question))))
                continue
            if isinstance(decision, Execute):
                yield from Act({"execute": decision.action})
            return decision

    def _decided(
        self, request: str, asked: Sequence[tuple[str, str]], done: str
    ) -> Flow[Question | Choice | Declined]:
        agent, view = self._careful(done), self._view(request, asked)
        decision = yield from agent.decide(view)
        if isinstance(decision, Clarify):
            guess = self._actions.text(decision.guess) if decision.guess else ""
            return Question(decision.question, guess, options=agent.options(decision, view))
        if isinstance(decision, Decline):
            return self._declined(decision)
        return Choice(self._actions.text(decision.action), decision.thought)

    def _view(self, request: str, asked: Sequence[tuple[str, str]]) -> View:
        left = self._quota - len(asked)
        return View(
            scene=Scene(id="request", utterance=request, language=self.language),
            actions=self._actions,
            asked=tuple(Turn(question=q, answer=a) for q, a in asked),
            may_ask=left > 0,
            quota_left=left,
            trials_left=0,
            declines=True,
        )

    def _asking(self, opened: Opened[R]) -> Question:
        assert opened.turn.pending is not None
        question, step = opened.turn.pending
        opened.note["step"] = f"{opened.note['id']}.{step}"
        view = self._view(opened.turn.request, opened.turn.asked)
        options = self._careful(opened.note["done"]).options(Clarify(question=question), view)
        return Question(question, step=opened.note["step"], options=options)

    def _ended(self, opened: Opened[R], found: Execute | Decline) -> Acted[R] | Declined:
        opened.note.update(open=False, step="")
        if isinstance(found, Decline):
            return self._declined(found)
        action = self.names[found.action - 1]
        opened.note["action"] = action
        if opened.turn.done:
            return Acted(action, opened.turn.done[0])
        # Already done: the logged result, if it was JSON.
        events = opened.log.read(opened.where.episode)
        held: Any = next(e.result for e in reversed([*events]) if e.kind == "act")
        return Acted(action, cast(R, held["info"].get("result")), again=True)

    def _declined(self, found: Execute | Decline) -> Declined:
        assert isinstance(found, Decline)
        return Declined(found.reason, found.thought)


ask_before_act = AskBeforeAct


@cache
def _vectors() -> EmbedHandler:
    with needs_extra():  # only without a model: `naisei-core` has no vectors
        from naisei.models.embedders import EmbedHandler, open_embedder
    return EmbedHandler(open_embedder())


def _checked(text: str) -> str:
    text = text.strip()
    if not text:
        raise InputError(say("何か書いてください", "please write something"), place="text")
    if told := too_long(text, MESSAGE):
        raise InputError(told, place="text")
    return text
