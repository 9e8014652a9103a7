"""`naisei mcp`: the systems as tools of the Model Context Protocol, and runs as its resources.

A question to the user is an elicitation if the client supports it; otherwise it is the tool's
result, and the caller passes the answer with the next call.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from naisei import __version__
from naisei.core import InputError
from naisei.doors.acting import AskBeforeAct, ask_before_act
from naisei.doors.documents import Documents
from naisei.doors.exchange import Declined, Question
from naisei.intent.dialogue import Dialogue
from naisei.intent.schemas import Citation, Reply
from naisei.lang import say
from naisei.plugins import needs_extra

with needs_extra("mcp"):
    from mcp.server import MCPServer
    from mcp.server.elicitation import AcceptedElicitation, render_elicitation_schema
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import (
        ElicitRequest,
        ElicitRequestFormParams,
        ElicitResult,
        InputRequiredResult,
        ToolAnnotations,
    )
    from mcp_types.version import is_version_at_least

#: First protocol version in which a question is a result that the client resumes from.
_ROUNDS = "2026-07-28"


class Exchange(BaseModel):
    """A question and its answer. options: offered with the question."""

    question: str
    answer: str
    options: list[str] = []


class NextStep(BaseModel):
    """The next step of a request: ask `question` (options: known answers), take `action`, or do
    nothing (`declined`: why)."""

    choice: Literal["ask", "act", "nothing"]
    question: str = ""
    options: list[str] = []
    declined: str = ""
    action: str = ""
    thought: str = ""


class JudgedLine(BaseModel):
    """status: PASS, WARN, RETRY. text: the line after fixes. reasons: of failed checks."""

    status: str
    text: str
    reasons: list[str] = []


class SaidLine(BaseModel):
    speaker: str
    text: str


class Relationship(BaseModel):
    """The stance of `src` toward `dst`: −3 to +3 per dimension, `null` if unknown."""

    src: str
    dst: str
    values: dict[str, float | None]
    reasons: dict[str, str]


class DocumentReply(BaseModel):
    """kind: `answer`; `question`, to be answered in `exchanges` of another call; `declined`: the
    user would not answer it."""

    kind: Literal["answer", "question", "declined"]
    text: str
    citations: list[Citation] = []
    options: list[str] = []


class Emphasised(BaseModel):
    text: str
    words: int = Field(description="how many words were emphasised")


class _PendingAnswer(BaseModel):
    """State returned with the answer to a question."""

    dialogue: Dialogue
    question: str
    options: tuple[str, ...] = ()


def mcp_server(
    *, model: str | None = None, index: Path | None = None, runs: Path = Path("runs")
) -> MCPServer[Documents | None]:
    """Return the server. The tool `ask_documents` exists only with an index.

    Raises:
        InputError: the index does not exist (when a client connects).
    """

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[Documents | None]:
        if index is None:
            yield None
        else:
            async with Documents.open(index, model) as documents:
                yield documents

    server: MCPServer[Documents | None] = MCPServer(
        "naisei", version=__version__, log_level="WARNING", lifespan=lifespan
    )

    @lru_cache(maxsize=32)
    def desk_of(actions: tuple[str, ...], quota: int) -> AskBeforeAct[None]:
        return ask_before_act(
            {text: lambda request: None for text in actions}, model=model, quota=quota
        )

    looks = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @server.tool(
        title=say("次の一手を決める", "Decide what to do next"),
        annotations=looks,
        description=say(
            "曖昧な依頼に、尋ねるか、どの行動をとるかを決める。実行はしない",
            "Decide about an ambiguous request: what to ask, or which action to take. Takes none.",
        ),
    )
    async def clarify_next(
        request: str, actions: list[str], asked: list[Exchange] | None = None, quota: int = 2
    ) -> NextStep:
        with _tool_errors():
            desk = desk_of(tuple(actions), quota)
            found = await desk.adecide(request, [(e.question, e.answer) for e in asked or ()])
        if isinstance(found, Question):
            options = list(found.options)
            return NextStep(choice="ask", question=found.text, options=options, action=found.guess)
        if isinstance(found, Declined):
            return NextStep(choice="nothing", declined=found.reason, thought=found.thought)
        return NextStep(choice="act", action=found.action, thought=found.thought)

    @server.tool(
        title=say("台詞を検査する", "Check a line"),
        annotations=looks,
        description=say(
            "台詞がその人物らしいか、言う前に検査する (yana, ayu)",
            "Check before it is said whether a line is in character (yana, ayu).",
        ),
    )
    def judge_line(
        line: str, character: str = "yana", history: list[str] | None = None
    ) -> JudgedLine:
        from naisei.core import Status
        from naisei.director.check import check

        with _tool_errors():
            if any(mark in character for mark in "./\\"):  # no file paths from callers
                raise InputError(say("人物の名前ではありません", "no name of a character"))
            verdict = check(line, character=character, history=history or ())
        bad = [c.reason for c in verdict.checks if c.status is not Status.PASS]
        return JudgedLine(status=verdict.status.value, text=verdict.text, reasons=bad)

    @server.tool(
        title=say("関係を読む", "Read a relationship"),
        annotations=looks,
        description=say(
            "二人の会話から、互いの関係 (Power, Intimacy, …) を話し方で読む",
            "Read from a dialogue of two how they stand toward each other, by how they talk.",
        ),
    )
    def rate_relationship(lines: list[SaidLine]) -> list[Relationship]:
        with _tool_errors():
            return _rated(lines)

    @server.tool(
        title=say("語句を強調する", "Emphasise words"),
        annotations=looks,
        description=say(
            "文書の大事な語句に太字を付ける", "Set in bold the words of a document that matter."
        ),
    )
    def emphasise(text: str, format: Literal["markdown", "html"] = "markdown") -> Emphasised:
        from naisei.emphasis.corpus.read import read_bytes
        from naisei.emphasis.tag import marked, suggest
        from naisei.emphasis.taggers.editor import bundled_tagger
        from naisei.lengths import PASTED, bounded

        with _tool_errors():
            data = bounded(text, PASTED, place="text").encode()
            found = suggest(read_bytes(data, format, name="text"), bundled_tagger())
            return Emphasised(text=marked(found)[0].decode(), words=found.words)

    if index is not None:

        @server.tool(
            title=say("資料に尋ねる", "Ask the documents"),
            annotations=looks,
            description=say(
                "資料に基づいて答える。曖昧な質問には先に聞き返す",
                "Answer from the documents, with sources; asks back first where it is vague.",
            ),
        )
        async def ask_documents(
            question: str, ctx: Context[Documents, Any], exchanges: list[Exchange] | None = None
        ) -> DocumentReply | InputRequiredResult:
            with _tool_errors():
                return await _ask_documents(question, exchanges or (), ctx)

    @server.resource("runs://list", mime_type="application/json")
    def list_of_runs() -> str:
        """The runs there are."""
        from naisei.runs.listing import runs as listed

        return json.dumps([each.to_json() for each in listed(runs)], ensure_ascii=False)

    @server.resource("runs://run/{name}", mime_type="application/json")
    def one_run(name: str) -> str:
        """The result and the frozen configuration of a run, by folder name."""
        from naisei.runs.directory import RunDirectory
        from naisei.runs.listing import runs as listed
        from naisei.runs.show import run_json

        with _tool_errors():
            found = [each.path for each in listed(runs) if Path(each.path).name == name]
            if not found:
                raise InputError(say(f"実行 {name} はありません", f"there is no run {name}"))
            with RunDirectory.look(Path(found[0])) as directory:
                return json.dumps(run_json(directory), ensure_ascii=False)

    return server


@contextmanager
def _tool_errors() -> Iterator[None]:
    """Report input errors to the caller; others are internal errors."""
    try:
        yield
    except InputError as error:
        raise ToolError(f"{error.message} {error.remedy or ''}".strip()) from error


def _rated(lines: Sequence[SaidLine]) -> list[Relationship]:
    from naisei.relationship.speech import SpeechEstimator
    from naisei.relationship.vector import DIMENSIONS

    speakers = tuple(dict.fromkeys(line.speaker for line in lines))
    if len(speakers) != 2:
        raise InputError(say("話者は二人にしてください", "there must be two speakers"))
    estimator = SpeechEstimator((speakers[0], speakers[1]))
    for line in lines:
        estimator.add(line.speaker, line.text)
    out = []
    for src, dst in (speakers, speakers[::-1]):
        read = estimator.reading(src)
        values = {n: None if math.isnan(read[n].value) else read[n].value for n in DIMENSIONS}
        reasons = {n: read[n].reason for n in DIMENSIONS if read[n].reason}
        out.append(Relationship(src=src, dst=dst, values=values, reasons=reasons))
    return out


async def _ask_documents(
    question: str, exchanges: Sequence[Exchange], ctx: Context[Documents, Any]
) -> DocumentReply | InputRequiredResult:
    documents = ctx.request_context.lifespan_context
    dialogue = Dialogue(utterance=question)
    for each in exchanges:
        dialogue = dialogue.answered(each.question, each.answer, tuple(each.options))
    capabilities = ctx.client_capabilities
    asks = capabilities is not None and capabilities.elicitation is not None
    if ctx.request_state is not None:  # the client continues a call that asked
        asked = _PendingAnswer.model_validate_json(ctx.request_state)
        dialogue, answer = asked.dialogue, (ctx.input_responses or {}).get("answer")
        said = answer.content if isinstance(answer, ElicitResult) else None
        if not said or not str(said.get("answer", "")).strip():
            return _unanswered(asked.question, asked.options)
        dialogue = dialogue.answered(asked.question, str(said["answer"]), asked.options)
    while True:
        reply = await documents.step(dialogue)
        if not reply.asks or not asks:
            return _as_reply(reply)
        version = ctx.protocol_version
        if version is not None and is_version_at_least(version, _ROUNDS):
            form = ElicitRequestFormParams(
                message=reply.message, requested_schema=render_elicitation_schema(_form(reply))
            )
            state = _PendingAnswer(dialogue=dialogue, question=reply.message, options=reply.options)
            return InputRequiredResult(
                input_requests={"answer": ElicitRequest(params=form)},
                request_state=state.model_dump_json(),
            )
        found = await ctx.elicit(reply.message, _form(reply))
        given = found.data.answer.strip() if isinstance(found, AcceptedElicitation) else ""
        if not given:
            return _unanswered(reply.message, reply.options)
        dialogue = dialogue.answered(reply.message, given, reply.options)


def _form(reply: Reply) -> Any:
    """Return the form for a client: a choice with options, otherwise a text field. Free answers are
    understood, too."""
    shown: Any = {"enum": list(reply.options)} if reply.options else None
    told = Field(title=say("答え", "Answer"), json_schema_extra=shown)
    return create_model("Answer", answer=(str, told))


def _unanswered(question: str, options: Sequence[str]) -> DocumentReply:
    return DocumentReply(kind="declined", text=question, options=list(options))


def _as_reply(reply: Reply) -> DocumentReply:
    return DocumentReply(
        kind="question" if reply.asks else "answer",
        text=reply.message,
        citations=list(reply.citations),
        options=list(reply.options),
    )


def serve_http(server: MCPServer[Any], port: int) -> None:
    """Serve `/mcp` on loopback until SIGTERM or Ctrl-C. Raises `InputError` if the port is in
    use."""
    from naisei import serving
    from naisei.terminal import Console

    console = Console(stderr=True)

    def ready(url: str) -> None:
        console.print(say(f"待ち受け中: {url}/mcp", f"Listening on {url}/mcp"), highlight=False)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Any]:
        served = server.streamable_http_app(host="127.0.0.1")
        async with server.session_manager.run():
            yield served

    serving.serve(opened, "127.0.0.1", port, ready=ready)
