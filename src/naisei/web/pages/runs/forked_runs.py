"""Runs forked by the server with `naisei runs fork`, using only the models of the server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from starlette.exceptions import HTTPException

from naisei.core import Event, InputError, fingerprint
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.fork import Fork, check, events_before
from naisei.runs.frozen import Frozen
from naisei.system.registry import declared
from naisei.web.html import Refused
from naisei.web.pages.runs.commands import commands_of
from naisei.web.pages.runs.lists import RunAddress, looking
from naisei.web.pages.runs.started import why_not
from naisei.web.state import ServerState

#: Minutes after which a fork stops (a new request continues it); maximum characters of a text.
_MINUTES, _TEXT = 10, 30_000
#: Maximum length of a recorded text offered for editing.
_SHOWN = 3_000


@dataclass(frozen=True, slots=True)
class ForkForm:
    """Possible changes at a step. answer: recorded answer by field, "" for plain text; prompt:
    recorded prompt or `None`; both empty if too long. models: choices. fixed: whether the recorded
    models may stay."""

    answer: Mapping[str, str]
    prompt: str | None
    models: tuple[str, ...]
    fixed: bool


def fork_form(
    server: ServerState, place: RunAddress, frozen: Frozen, event: Event
) -> ForkForm | None:
    """Return the form, or `None` if the server cannot fork the run: it starts no runs, the run is
    an example or from another program, or its models are not the server's."""
    roles, offered = _models(frozen), server.options.models
    fixed = set(roles.values()) <= set(offered)
    if (
        why_not(server)
        or place.own
        or place.example
        or declared(frozen.system, frozen.config) is None
        or not (fixed or offered)
    ):
        return None
    answer = _answers(event) if event.kind in ("ask", "chat") else {}
    prompt = _prompt(event) if event.kind == "chat" else None
    return ForkForm(
        answer={name: text if len(text) <= _SHOWN else "" for name, text in answer.items()},
        prompt=prompt and (prompt if len(prompt) <= _SHOWN else ""),
        models=offered if roles else (),
        fixed=fixed,
    )


async def fork_of_run(server: ServerState, place: RunAddress, given: Mapping[str, str]) -> str:
    """Fork a run. Returns the URL of the fork beside its parent, or of the fork in progress.

    Raises:
        HTTPException: runs cannot be started here, this run cannot be forked, or too many are
            running.
        InputError: the change at this step is not possible, or the fork failed.
    """
    if problem := why_not(server):
        raise HTTPException(403, problem)
    name, step = given.get("e", ""), given.get("step", "")

    def look(directory: RunDirectory) -> tuple[Frozen, list[Event]]:
        return directory.frozen, directory.log.read(name)

    frozen, events = await looking(place, look)
    events_before(events, step)
    event = next(event for event in events if event.where.step == step)
    if (form := fork_form(server, place, frozen, event)) is None:
        raise Refused(404, "この実行はここでは分岐できません", "this run cannot be forked here")
    fork = _fork(place, given, form, event, _models(frozen))
    check(fork, event)
    digest = fingerprint(fork.model_dump())[:8]
    path = server.options.runs / f"{place.path.name}-fork-{digest}"
    if not await commands_of(server).carry_out(_words(fork, path), path):
        return RunAddress(path.name, path).url("episode", e=name)
    query = urlencode([("run", place.name), ("run", path.name), ("e", name)])
    return f"/runs/aligned?{query}"


def _models(frozen: Frozen) -> dict[str, str]:
    models = frozen.config.get("models")
    return {r: str(m) for r, m in models.items() if m} if isinstance(models, dict) else {}


def _answers(event: Event) -> dict[str, str]:
    """Return the recorded answer as text, by field."""
    fields = event.result if isinstance(event.result, dict) else {"": event.result}
    return {
        name: found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        for name, found in fields.items()
    }


def answer_of(event: Event, given: Mapping[str, str]) -> str | None:
    """Return the answer from the form; `None` if unchanged. Raises `InputError`."""
    recorded = _answers(event)
    texts = {name: _text(given, f"answer {name}".strip()) for name in recorded}
    new = {n: t for n, t in texts.items() if t.strip() not in ("", recorded[n].strip())}
    if not new or not isinstance(event.result, dict):
        return new.get("")
    made = dict(event.result)
    for name, text in new.items():
        try:
            made[name] = text if isinstance(made[name], str) else json.loads(text)
        except ValueError:
            raise InputError(
                say(f"{recorded[name]} のように書きます", f"write it like {recorded[name]}"),
                place=name,
            ) from None
    return json.dumps(made, ensure_ascii=False)


def _prompt(event: Event) -> str:
    messages = event.request.get("messages") if isinstance(event.request, dict) else None
    last = messages[-1] if isinstance(messages, list) and messages else {}
    return str(last.get("content", "")) if isinstance(last, dict) else ""


def _fork(
    place: RunAddress,
    given: Mapping[str, str],
    form: ForkForm,
    event: Event,
    roles: Mapping[str, str],
) -> Fork:
    prompt = _text(given, "prompt")
    chosen = given.get("model", "")
    if chosen not in (*form.models, *([""] if form.fixed else [])):
        raise InputError(say("モデルを選んでください", "choose a model"))
    return Fork(
        parent=str(place.path.resolve()),
        episode=event.where.episode,
        step=event.where.step,
        models={role: chosen for role, m in roles.items() if chosen != m} if chosen else {},
        answer=answer_of(event, given),
        prompt=None if prompt.strip() in ("", _prompt(event).strip()) else prompt,
    )


def _text(given: Mapping[str, str], name: str) -> str:
    text = given.get(name, "")
    if len(text) > _TEXT or "\0" in text:
        raise InputError(say(f"{_TEXT:,} 字までです", f"{_TEXT:,} characters at most"))
    return text


def _words(fork: Fork, path: Path) -> list[str]:
    words = [
        "fork",
        fork.parent,
        f"--episode={fork.episode}",
        f"--step={fork.step}",
        f"--run-dir={path}",
    ]
    words += [f"--{name}={t}" for name in ("answer", "prompt") if (t := getattr(fork, name))]
    words += [f"--model={role}={model}" for role, model in fork.models.items()]
    return [*words, f"--max-minutes={_MINUTES}"]
