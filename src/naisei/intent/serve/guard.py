"""Who may call the document assistant: whoever carries a token, where tokens are needed."""

from __future__ import annotations

import hmac

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from naisei.http.guard import GuardRules
from naisei.intent.serve.errors import error_body
from naisei.intent.serve.options import ServeOptions
from naisei.lang import say

__all__ = ["guard_rules"]

#: Answered without a token: whether the server lives, and nothing else.
_OPEN = ("/health",)


def guard_rules(options: ServeOptions) -> GuardRules:
    """For `naisei.http.guard.Guard`. `scope["state"]["user"]` becomes the user that the token
    stands for."""

    def admit(scope: Scope, headers: Headers) -> Response | None:
        if options.tokens and scope["path"] not in _OPEN:
            user = _user(options, headers.get("authorization", ""))
            if user is None:
                answer = _error(401, say("トークンが要ります", "a token is needed"))
                answer.headers["www-authenticate"] = "Bearer"
                answer.headers["connection"] = "close"
                return answer
            scope.setdefault("state", {})["user"] = user
        return None

    def limit(path: str) -> int:
        if path == "/api/documents" and options.uploads is not None:
            # Boundaries and part headers come on top of the file.
            return options.max_upload + 10_000
        return options.max_body

    return GuardRules(
        host=options.host,
        hosts=options.hosts,
        origins=options.origins,
        limit=limit,
        body_timeout=options.body_timeout,
        admit=admit,
        refuse=_error,
        headers={},
    )


def _user(options: ServeOptions, authorization: str) -> str | None:
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "bearer":
        return None
    found = None
    # Every token is compared, in time that does not depend on where they differ.
    for user, token in options.tokens.items():
        if hmac.compare_digest(given.strip().encode(), token.encode()):
            found = user
    return found


def _error(status: int, message: str) -> Response:
    return JSONResponse(error_body(status, message), status)
