"""What schemathesis makes of the description of an API: requests that fit it and that do not.

The descriptions are OpenAPI, made of the models that the servers themselves validate with, and of
the fields of forms.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from pydantic import BaseModel
from requests import RequestException, Session
from schemathesis import GenerationMode

from benchmarks.attack.base import Attempt
from benchmarks.attack.http_requests import PAGES
from naisei.intent.serve.api import AskRequest, ChatRequest, FeedbackRequest

_FIELDS = (
    "scene", "agent", "shelf", "sampling", "text", "step", "run", "file", "token", "lang", "steps",
    "model", "topic",
)  # fmt: skip
#: Seconds that a request may take.
_LONGEST = 20.0
#: Requests to one operation before the next has its turn.
_AT_ONCE = 8
_TEXT = {"type": "string"}
Described = Mapping[str, Mapping[str, Any]]


def _json(model: type[BaseModel]) -> dict[str, Any]:
    form = model.model_json_schema(ref_template="#/components/schemas/{model}")
    form.pop("$defs", None)
    return {"content": {"application/json": {"schema": form}}, "required": True}


def _answered(**more: Any) -> dict[str, Any]:
    return {"responses": {"200": {"description": "an answer"}}, **more}


def _of_path(name: str) -> dict[str, Any]:
    at = {"name": name, "in": "path", "required": True, "schema": _TEXT}
    return _answered(parameters=[at])


#: Of the server of documents.
DOCUMENTS: Described = {
    "/api/ask": {"post": _answered(requestBody=_json(AskRequest))},
    "/api/ask/stream": {"post": _answered(requestBody=_json(AskRequest))},
    "/api/feedback": {"post": _answered(requestBody=_json(FeedbackRequest))},
    "/api/session/{id}": {"get": _of_path("id")},
    "/api/passage/{id}": {"get": _of_path("id")},
    "/api/memory/{id}": {"delete": _of_path("id")},
    "/v1/chat/completions": {"post": _answered(requestBody=_json(ChatRequest))},
}
_FORM = {"type": "object", "properties": dict.fromkeys(_FIELDS, _TEXT)}
_FORMS = {
    kind: {"schema": _FORM} for kind in ("application/x-www-form-urlencoded", "multipart/form-data")
}
#: Of the server of pages: every page, what it is asked in the address, and its forms.
WEB: Described = {
    page: {
        "get": _answered(parameters=[{"name": n, "in": "query", "schema": _TEXT} for n in _FIELDS]),
        "post": _answered(requestBody={"content": _FORMS}),
    }
    for page in PAGES
} | {
    f"{page.rstrip('/')}/{end}": {"post": _answered(requestBody={"content": _FORMS})}
    for page in PAGES
    for end in ("new", "own")
}


def requests(
    rng: random.Random,
    port: int,
    described: Described,
    headers: Mapping[str, str],
    until: float,
    after: Callable[[], float],
) -> Iterator[Attempt]:
    """Requests until the clock says `until` (`time.monotonic`), those that fit and those that do
    not by turns. after: seconds in which the server then says that it is well."""
    definitions: dict[str, Any] = {}
    for model in (AskRequest, FeedbackRequest, ChatRequest):
        definitions |= model.model_json_schema(
            ref_template="#/components/schemas/{model}"
        ).get("$defs", {})  # fmt: skip
    api = schemathesis.openapi.from_dict(
        {
            "openapi": "3.1.0",
            "info": {"title": "naisei", "version": "1"},
            "paths": described,
            "components": {"schemas": definitions},
        }
    )
    operations = [found.ok() for found in api.get_all_operations()]
    while time.monotonic() < until:
        rng.shuffle(operations)
        for operation in operations:
            for mode in GenerationMode if operation.body else (GenerationMode.POSITIVE,):
                if time.monotonic() < until:
                    yield from _some(rng, port, operation, mode, headers, after)


def _some(
    rng: random.Random,
    port: int,
    operation: Any,
    mode: GenerationMode,
    headers: Mapping[str, str],
    after: Callable[[], float],
) -> list[Attempt]:
    """Some requests to one operation. mode: whether they fit its description."""
    kind, found = f"{operation.label} {mode.name.lower()}", list[Attempt]()
    session = Session()

    @seed(rng.getrandbits(32))
    @settings(
        max_examples=_AT_ONCE,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def each(case: Any) -> None:
        url = f"http://127.0.0.1:{port}"
        try:
            reply = case.call(url, session, dict(headers), timeout=_LONGEST)
        except RequestException as error:
            gone = after() > _LONGEST
            note = f"{case.as_curl_command()[:400]}: {type(error).__name__}"
            found.append(Attempt(kind, "no answer" if gone else "closed", gone, note))
            return
        fell = reply.status_code == 500 or "Traceback" in reply.text
        found.append(
            Attempt(kind, f"{reply.status_code // 100}xx", fell, case.as_curl_command()[:400])
        )

    with suppress(Unsatisfiable):  # every text fits a path: nothing does not
        each()
    return found
