"""The floor of `benchmarks.agent`: a bare model, told everything in one prompt.

One call a remark, with the persona's profile and facts, what is remembered of the person, all
documents in full and all actions. Whatever it says goes out, whatever it wants done is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path
from typing import NoReturn

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.agent.persona import Persona
from naisei.clarify.data import load_actions
from naisei.core import Act, AskUser, Chat, Flow, Message, Say, assistant, system, user
from naisei.retrieval.build import walk
from naisei.retrieval.load import parsed
from naisei.retrieval.types import LIMITS
from naisei.schema import model_field

#: Questions for one remark at most, as the agent's own.
QUOTA = 2
_PROMPT = """あなたは次の人物です。相手の発言に、この人物として答えてください。

{profile}
相手: {partner}

自分について確かなこと:
{facts}

相手が前に話したこと:
{memories}

あなたにできる行動（番号で選ぶ。先に必ず確認する行動: {confirm}）:
{actions}

答えるときの資料（パスと中身）:
{documents}
"""


class BareReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    say: str = model_field("相手に言うこと", "What you say")
    action: int = model_field(
        "いまする行動の番号。何もしないなら 0", "The action done now; 0: none", 0
    )
    asks: bool = model_field(
        "say が、答えを聞かないと先へ進めない質問か", "Whether you need an answer to go on", False
    )
    sources: tuple[str, ...] = model_field("使った資料のパス", "Paths of the documents used", ())


def prompt(persona: Persona, memories: Sequence[str]) -> str:
    actions = load_actions(persona.actions or None, language=persona.language)
    listed = [f"{action.id}. {action.text}" for action in actions] if persona.acts else []
    return _PROMPT.format(
        profile=persona.profile.persona.strip(),
        partner=persona.partner,
        facts=_lines(fact.say for fact in persona.facts),
        memories=_lines(memories),
        confirm="、".join(persona.permissions.confirm) or "なし",
        actions="\n".join(listed) or "-",
        documents=_documents(persona.documents) or "-",
    )


def _lines(items: Sequence[str] | object) -> str:
    return "\n".join(f"- {item}" for item in items) or "-"  # type: ignore[attr-defined]


def _documents(folder: str) -> str:
    if not folder:
        return ""
    with ExitStack() as stack:
        place = (
            stack.enter_context(as_file(files("naisei.data") / "handbook"))
            if folder == "handbook"
            else Path(folder)
        )
        found, _ = walk(place, limits=LIMITS)
        read = [parsed(name, path.read_bytes(), LIMITS) for name, path in found]
    return "\n\n".join(f"## {d.path}\n" + "\n".join(p.text for p in d.passages) for d in read)


def bare(persona: Persona, memories: Sequence[str]) -> Flow[NoReturn]:
    """A conversation without end, in the events of the agent."""
    me = persona.profile.id
    talk: list[Message] = [system(prompt(persona, memories))]
    while True:
        talk.append(user((yield from AskUser(""))))
        for left in range(QUOTA, -1, -1):
            reply = yield from Chat("speaker", talk, BareReply)
            talk.append(assistant(reply.say))
            if not (reply.asks and left and not reply.action):
                break
            talk.append(user((yield from AskUser(reply.say))))
        if persona.acts and reply.action:
            yield from Act({"execute": reply.action})
        cited: list[JsonValue] = [{"path": path} for path in reply.sources]
        yield from Say(reply.say, me, {"reply": {"citations": cited}, "understood": {"kind": "-"}})
