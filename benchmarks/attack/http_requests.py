"""Requests to the two servers as nobody should make them: odd as bytes, or dear to read. What an
API's own description says is `benchmarks.attack.generated`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

PAGES = (
    "/", "/home", "/runs", "/clarify", "/relationship", "/intent", "/documents", "/emphasis",
    "/games", "/textgame", "/director", "/duo", "/hand", "/enter", "/settings",
)  # fmt: skip
_LONG = "あ" * 30_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as bytes. whole: an answer is due; else the server may close or wait."""

    data: bytes
    whole: bool = True


def request(
    method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> Asked:
    given = {"host": "127.0.0.1", "connection": "close", **(headers or {})}
    if body or method in ("POST", "PUT"):
        given.setdefault("content-length", str(len(body)))
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in given.items())
    return Asked(head.encode("utf-8", "replace") + b"\r\n" + body)


def _json(path: str, value: object, **headers: str) -> Asked:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return request("POST", path, {"content-type": "application/json", **headers}, data)


def chat(messages: object, **more: object) -> Asked:
    return _json("/v1/chat/completions", {"model": "x", "messages": messages, **more})


def said(text: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": text}


def _raw(*lines: str, body: bytes = b"") -> Asked:
    """With these lines before the body, and nothing more."""
    return Asked("".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body)


#: To either server, by what is odd about them.
REQUESTS: Mapping[str, Asked] = {
    "no host": Asked(b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n"),
    "two hosts": _raw("GET / HTTP/1.1", "host: 127.0.0.1", "host: x", "connection: close"),
    "other host": request("GET", "/", {"host": "evil.example"}),
    "host of control codes": request("GET", "/", {"host": "127.0.0.1\x07"}),
    "HTTP/1.0": _raw("GET / HTTP/1.0", "host: 127.0.0.1"),
    "HTTP/9": _raw("GET / HTTP/9.9", "host: 127.0.0.1"),
    "HTTP/2 preface": Asked(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "TLS hello": Asked(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 99, whole=False),
    "noise": Asked(bytes(range(256)) * 9, whole=False),
    "empty lines": Asked(b"\r\n" * 9999, whole=False),
    "long path": request("GET", "/" + "a" * 20_000),
    "longer path": request("GET", "/" + "a" * 200_000),
    "many headers": request("GET", "/", {f"x-{n}": "a" for n in range(2000)}),
    "long header": request("GET", "/", {"x-a": "a" * 200_000}),
    "long cookie": request("GET", "/", {"cookie": "a=" + "b" * 20_000}),
    "odd cookies": request("GET", "/", {"cookie": 'a="\\"; ;;=; b==c; \xff=é; $Version=1'}),
    "folded header": _raw("GET / HTTP/1.1", "host: 127.0.0.1", "x: a", " b", "connection: close"),
    "no method": Asked(b" / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"),
    "own method": request("NAISEI", "/"),
    "TRACE": request("TRACE", "/"),
    "CONNECT": request("CONNECT", "127.0.0.1:22"),
    "absolute address": request("GET", "http://evil.example/"),
    "websocket": request(
        "GET",
        "/",
        {
            "upgrade": "websocket",
            "connection": "upgrade",
            "sec-websocket-key": "x",
            "sec-websocket-version": "13",
        },
    ),
    "expects": request("POST", "/enter", {"expect": "100-continue"}, b"a=b"),
    "negative length": request("POST", "/enter", {"content-length": "-5"}),
    "length in words": request("POST", "/enter", {"content-length": "five"}),
    "length of digits": request("POST", "/enter", {"content-length": "9" * 5000}),
    "length of other digits": request("POST", "/enter", {"content-length": "٣"}),
    "huge length": request("POST", "/enter", {"content-length": "99999999999"}),
    "two lengths": _raw(
        "POST /enter HTTP/1.1",
        "host: 127.0.0.1",
        "content-length: 3",
        "content-length: 4",
        "connection: close",
        body=b"abcd",
    ),
    "length and chunks": _raw(
        "POST /enter HTTP/1.1",
        "host: 127.0.0.1",
        "content-length: 3",
        "transfer-encoding: chunked",
        "connection: close",
        body=b"0\r\n\r\n",
    ),
    "bad chunk": _raw(
        "POST /enter HTTP/1.1",
        "host: 127.0.0.1",
        "transfer-encoding: chunked",
        "connection: close",
        body=b"ZZ\r\nabc",
    ),
    "huge chunk": Asked(
        b"POST /enter HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n"
        b"connection: close\r\n\r\nFFFFFFFF\r\nabc",
        whole=False,
    ),
    "chunked 3 MB": _raw(
        "POST /enter HTTP/1.1",
        "host: 127.0.0.1",
        "transfer-encoding: chunked",
        "connection: close",
        body=(b"10000\r\n" + b"a" * 65536 + b"\r\n") * 48 + b"0\r\n\r\n",
    ),
    "gzip body": request(
        "POST",
        "/enter",
        {"content-encoding": "gzip", "content-type": "application/x-www-form-urlencoded"},
        b"\x1f\x8b\x08xxxx",
    ),
    "two requests": _raw(
        "GET /health HTTP/1.1",
        "host: 127.0.0.1",
        body=b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
    ),
    "hundred requests": Asked(
        b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" * 100
        + b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
    ),
    "languages": request(
        "GET", "/health", {"accept-language": "ja;q=" + "9" * 99 + ",en;q=nan," + "x," * 9999}
    ),
    "range": request("GET", "/static/naisei.css", {"range": "bytes=" + "0-1," * 2000}),
    "static above": request("GET", "/static/../../secret"),
    "static encoded": request("GET", "/static/%2e%2e%2f%2e%2e%2fsecret"),
    "static null": request("GET", "/static/a%00b"),
    "bad escapes": request("GET", "/%zz%ff%c0%af?%=%&&&;"),
    "origin": request("GET", "/", {"origin": "https://evil.example"}),
    "null origin": request("POST", "/enter", {"origin": "null"}, b"a=b"),
    "preflight": request("OPTIONS", "/", {"access-control-request-method": "PUT"}),
    "forwarded": request(
        "GET",
        "/",
        {"x-forwarded-host": "evil.example", "x-forwarded-for": "1.2.3.4", "forwarded": "for=x"},
    ),
    "last event": request(
        "GET", "/conversations/" + "0" * 24 + "/events", {"last-event-id": "9" * 5000}
    ),
}
#: To the server of documents.
ASKED: Mapping[str, Asked] = {
    "no JSON": _json("/api/ask", b"{"),
    "deep JSON": _json("/api/ask", b"[" * 300_000),
    "deep, closed": _json(
        "/v1/chat/completions", b'{"messages":' + b"[" * 9_999 + b"]" * 9_999 + b"}"
    ),
    "long number": _json("/api/ask", b'{"question": ' + b"9" * 9_000 + b"}"),
    "not a number": _json("/api/ask", b'{"question": NaN}'),
    "wrong UTF-8": _json("/api/ask", b'{"question": "\xff"}'),
    "half a character": _json("/api/ask", b'{"question": "\\ud800"}'),
    "UTF-16": _json("/api/ask", '{"question": "x"}'.encode("utf-16")),
    "many messages": chat([said("x")] * 5000),
    "long message": chat([said(_LONG)]),
    "long earlier": chat([said(_LONG * 9), said("はい", "assistant"), said("休暇は？")]),
    "many long earlier": chat([said("休暇" * 1900) for _ in range(40)]),
    "long assistant": chat([said("x"), said("あ？" * 9_000, "assistant"), said("休暇は？")] * 9),
    "long system": chat([said(_LONG * 9, "system"), said("休暇は？")]),
    "long task": chat(
        [said("### Task:\nGenerate a title for the chat\n<chat_history>" + "user: " * 40_000)]
    ),
    "long model": _json(
        "/v1/chat/completions", {"model": "x" * 500_000, "messages": [said("休暇は？")]}
    ),
    "dear words": chat([said("ば" * 3_900)]),
    "dear points": chat([said(".M" * 1_950)]),
    "dear quotes": chat([said("「" * 3_900)]),
    "dear brackets": chat([said("[" * 3_900)]),
    "dear kana": chat([said("ー" * 3_900)]),
    "dear repeats": chat([said("休暇を申請したいのですが" * 320)]),
}
