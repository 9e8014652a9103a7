"""The application: paths, error handlers, the guard before all."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from naisei import __version__
from naisei.http.guard import Guard
from naisei.intent.serve import api, completions_api
from naisei.intent.serve.errors import handlers
from naisei.intent.serve.guard import guard_rules
from naisei.intent.serve.house import House

__all__ = ["build_app"]


def build_app(house: House) -> Starlette:
    """An ASGI application over an open house."""
    app = Starlette(
        routes=[
            Route("/health", _health),
            Route("/api/ask", api.ask, methods=["POST"]),
            Route("/api/ask/stream", api.ask_stream, methods=["POST"]),
            Route("/api/session/{id}", api.session),
            Route("/api/passage/{id:path}", api.passage),
            Route("/api/feedback", api.feedback, methods=["POST"]),
            Route("/api/documents", api.documents, methods=["POST"]),
            Route("/v1/models", completions_api.models),
            Route("/v1/chat/completions", completions_api.chat_completions, methods=["POST"]),
        ],
        exception_handlers=handlers,
        middleware=[Middleware(Guard, guard_rules(house.options))],
    )
    app.state.house = house
    return app


async def _health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})
