"""What endpoints of models answer that are as nobody should be."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

OK = b"HTTP/1.1 200 OK\r\n"
_JSON = b"content-type: application/json\r\nconnection: close\r\n"
_EVENTS = b"content-type: text/event-stream\r\nconnection: close\r\n"


@dataclass(frozen=True, slots=True)
class Body:
    """What is sent, blocks of it, and the headers before it. drip: seconds between blocks."""

    blocks: Callable[[], Iterable[bytes]]
    head: bytes = OK + _JSON + b"\r\n"
    drip: float = 0.0


def _said(content: object, **other: object) -> bytes:
    message = {"role": "assistant", "content": content}
    whole = {"choices": [{"message": message, "finish_reason": "stop"}], "model": "m", **other}
    return json.dumps(whole).encode()


def _text(text: str) -> Body:
    return Body(lambda: [_said(text)])


def _raw(data: bytes, head: bytes = _JSON, line: bytes = OK) -> Body:
    return Body(lambda: [data], line + head + b"\r\n")


def _used(**counts: object) -> Body:
    return Body(lambda: [_said('{"action": 1}', usage=counts)])


def _pieces(*contents: str, ends: bool = True) -> Iterator[bytes]:
    for content in contents:
        piece = {"choices": [{"delta": {"content": content}}]}
        yield f"data: {json.dumps(piece)}\n\n".encode()
    if ends:
        yield b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


@cache
def bomb(layers: int, size: int = 300_000_000) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    block = b" " * 1_000_000
    packed = b"".join(
        [*(packer.compress(block) for _ in range(size // len(block))), packer.flush()]
    )
    for _ in range(layers - 1):
        packed = gzip.compress(packed)
    return packed


def _packed(layers: int, head: bytes) -> Body:
    return Body(lambda: [bomb(layers)], OK + head + b"\r\n")


_GZIP = _JSON + b"content-encoding: gzip\r\n"
_DEEP = 100_000
BODIES: Mapping[str, Body] = {
    "endless spaces": Body(lambda: itertools.repeat(b" " * 65536)),
    "endless text": Body(
        lambda: itertools.chain([_said("x")[:40]], itertools.repeat(b"a" * 65536))
    ),
    "endless list": Body(lambda: itertools.chain([b"["], itertools.repeat(b"1," * 30000))),
    "endless header": Body(
        lambda: itertools.repeat(b"x-a: " + b"a" * 4000 + b"\r\n"), OK + b"a: b\r\n"
    ),
    "endless header line": Body(lambda: itertools.repeat(b"a" * 65536), OK + b"a: "),
    "endless events": Body(
        lambda: itertools.repeat(next(_pieces("あ" * 500))), OK + _EVENTS + b"\r\n"
    ),
    "endless small events": Body(
        lambda: itertools.repeat(next(_pieces("a")) * 200), OK + _EVENTS + b"\r\n"
    ),
    "endless comments": Body(lambda: itertools.repeat(b": x\n" * 9999), OK + _EVENTS + b"\r\n"),
    "endless event line": Body(
        lambda: itertools.chain([b"data: "], itertools.repeat(b"a" * 65536)),
        OK + _EVENTS + b"\r\n",
    ),
    "endless empty choices": Body(
        lambda: itertools.repeat(b'data: {"choices": []}\n\n' * 999), OK + _EVENTS + b"\r\n"
    ),
    "gzip bomb": _packed(1, _GZIP),
    "gzip bomb as events": _packed(1, _EVENTS + b"content-encoding: gzip\r\n"),
    "gzip in gzip": _packed(2, _JSON + b"content-encoding: gzip, gzip\r\n"),
    "gzip thrice": _packed(3, _JSON + b"content-encoding: gzip, gzip, gzip\r\n"),
    "gzip of nothing": _raw(b"", _GZIP),
    "gzip that is none": _raw(b"{}" * 99, _GZIP),
    "gzip that is cut": _raw(gzip.compress(_said("x" * 9999))[:60], _GZIP),
    "brotli": _raw(b"x" * 999, _JSON + b"content-encoding: br\r\n"),
    "unknown packing": _raw(b"x" * 999, _JSON + b"content-encoding: x\x1b[31m\r\n"),
    "deep list": _raw(b"[" * _DEEP + b"]" * _DEEP),
    "deep object": _raw(b'{"a":' * _DEEP + b"1" + b"}" * _DEEP),
    "deep, just too deep": _raw(_said("x")[:-1] + b',"a":' + b"[" * 200 + b"]" * 200 + b"}"),
    "deep list, open": _raw(b"[" * 3_000_000),
    "deep content": Body(lambda: [_said([[[[["x"]]]]])]),
    "long number": _raw(b'{"choices":' + b"9" * 6000 + b"}"),
    "long number as tokens": _raw(
        _said("1")[:-1] + b',"usage":{"prompt_tokens":' + b"9" * 6000 + b"}}"
    ),
    "long number, allowed": _used(prompt_tokens=10**4000, completion_tokens=1),
    "long fraction": _raw(b'{"choices": 0.' + b"9" * 900_000 + b"}"),
    "large exponent": _raw(_said("1")[:-1] + b',"usage":{"prompt_tokens":1e999}}'),
    "not a number": _raw(_said("1")[:-1] + b',"usage":{"prompt_tokens":NaN}}'),
    "infinity": _raw(_said("1")[:-1] + b',"x":-Infinity}'),
    "negative tokens": _used(prompt_tokens=-5, completion_tokens=-(10**30)),
    "many tokens": _used(prompt_tokens=10**30, completion_tokens=10**30),
    "tokens in words": _used(prompt_tokens="many", completion_tokens=[1]),
    "tokens in a list": _raw(_said("1", usage=[1, 2])),
    "details in words": _used(prompt_tokens=1, completion_tokens=1, prompt_tokens_details="x"),
    "huge duplicate keys": _raw(b"{" + b'"choices":1,' * 100_000 + b'"choices":2}'),
    "half a character": _text('\ud800 {"action": 1}'),
    "half a character as model": Body(lambda: [_said('{"action": 1}', model="\udfff")]),
    "escape codes": _text('\x1b]0;owned\x07\x9b31m {"action": 1'),
    "null characters": _text("\x00" * 99 + '{"action": 1}'),
    "model is an object": Body(lambda: [_said('{"action": 1}', model={"a": ["b"] * 999})]),
    "finish is a list": _raw(b'{"choices":[{"message":{"content":"1"},"finish_reason":[1]}]}'),
    "content is a number": Body(lambda: [_said(5)]),
    "content is parts of parts": Body(lambda: [_said([{"type": "text", "text": {"a": 1}}])]),
    "content is odd parts": Body(lambda: [_said([1, None, {"type": "text"}])]),
    "choices is a text": _raw(b'{"choices": "abc"}'),
    "choices is huge": _raw(b'{"choices": [' + b"{}," * 900_000 + b"{}]}"),
    "braces": _text("{" * 600_000),
    "braces of prose": _text("{a" * 99_000),
    "braces, short": _text("{" * 199_000),
    "brackets": _text("[" * 199_000),
    "brackets with numbers": _text("[1," * 66_000),
    "objects that never end": _text('{"a":' * 39_000),
    "lists that break": _text(("[" * 90 + "x") * 2_000),
    "almost JSON": _text('{"a": 1, "b": }' * 13_000),
    "long list that breaks": _text(("[" + "1," * 400 + "x") * 240),
    "quotes": _text('{"' * 99_000),
    "escapes": _text('{"\\' * 66_000),
    "numbers in it": _text('{"action": ' + "9" * 6000 + "}"),
    "plus signs": _text('{"action": ' + "+" * 199_000),
    "colons": _text(": " * 99_000 + ":" + " " * 999),
    "unclosed thought": _text("<think>" * 500_000),
    "unclosed thought, short": _text("<think>" * 28_000),
    "closed thoughts": _text("<think></think>" * 200_000 + '{"action": 1}'),
    "thoughts in thoughts": _text("<think>" * 99_000 + "</think>" * 99_000),
    "spaces after a thought": _text("<think>a</think>" + " " * 900_000 + "x"),
    "many small JSON": _text('{"action": "x"}' * 13_000),
    "long valid": _text('{"action": 1, "x": "' + "あ" * 150_000 + '"}'),
    "too long": _text("あ" * 500_000),
    "deep valid JSON": _text('{"action": ' + "[" * 5_000 + "]" * 5_000 + "}"),
    "wrong UTF-8": _raw(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "UTF-16": _raw(_said("1").decode().encode("utf-16")),
    "a page": _raw(b"<html>" * 99_000, b"content-type: text/html\r\nconnection: close\r\n"),
    "drips": Body(lambda: itertools.repeat(b" "), drip=0.05),
    "events drip": Body(lambda: itertools.repeat(b": x\n"), OK + _EVENTS + b"\r\n", drip=0.05),
    "headers drip": Body(lambda: itertools.repeat(b"a: b\r\n"), OK, drip=0.05),
    "nothing": Body(lambda: [], b""),
    "cut in the status": Body(lambda: [], b"HTTP/1.1 2"),
    "cut body": Body(
        lambda: [_said("x")[:30]], OK + b"content-length: 900\r\nconnection: close\r\n\r\n"
    ),
    "length is a lie": Body(
        lambda: [_said("x")], OK + b"content-length: 99999999999999999999\r\n\r\n"
    ),
    "negative length": Body(lambda: [_said("x")], OK + b"content-length: -1\r\n\r\n"),
    "huge chunk": Body(
        lambda: [b"FFFFFFFFFFFFFFF\r\n", *[b"x" * 65536] * 200],
        OK + _JSON + b"transfer-encoding: chunked\r\n\r\n",
    ),
    "chunks of one": Body(
        lambda: itertools.repeat(b"1\r\n \r\n" * 5000),
        OK + _JSON + b"transfer-encoding: chunked\r\n\r\n",
    ),
    "endless trailers": Body(
        lambda: itertools.chain([b"0\r\n"], itertools.repeat(b"a: b\r\n" * 99)),
        OK + _JSON + b"transfer-encoding: chunked\r\n\r\n",
    ),
    "endless interim answers": Body(
        lambda: itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 99), b""
    ),
    "redirect to itself": _raw(b"", b"location: /v1/chat/completions\r\n", b"HTTP/1.1 307 X\r\n"),
    "redirect to a file": _raw(b"", b"location: file:///etc/passwd\r\n", b"HTTP/1.1 302 X\r\n"),
    "endless error": Body(
        lambda: itertools.repeat(b"e" * 65536), b"HTTP/1.1 500 X\r\n" + _JSON + b"\r\n"
    ),
    "error of escape codes": _raw(b"\x1b[2J\x9b", _JSON, b"HTTP/1.1 400 \x1b[31m\r\n"),
    "error that names all": _raw(
        b"response_format temperature seed top_p " * 9999, _JSON, b"HTTP/1.1 400 X\r\n"
    ),
    "wait for ever": _raw(b"", b"retry-after: 99999999999\r\n", b"HTTP/1.1 429 X\r\n"),
    "wait for no number": _raw(b"", b"retry-after: nan\r\n", b"HTTP/1.1 429 X\r\n"),
    "wait for infinity": _raw(b"", b"retry-after: inf\r\n", b"HTTP/1.1 503 X\r\n"),
    "wait until a strange day": _raw(
        b"", b"retry-after: Mon, 99 Xxx 99999 99:99:99 GMT\r\n", b"HTTP/1.1 429 X\r\n"
    ),
    "odd pieces": _raw(b'data: {"choices": [1, null, "x"]}\n\n', _EVENTS),
    "pieces of lists": _raw(b'data: {"choices": [{"delta": [1]}]}\n\n', _EVENTS),
    "deep pieces": _raw(b"data: " + b"[" * _DEEP + b"\n\n", _EVENTS),
    "unclosed thought in pieces": Body(
        lambda: _pieces(*["<think>"] * 9_000), OK + _EVENTS + b"\r\n"
    ),
    "small pieces": Body(lambda: _pieces(*["a"] * 60_000), OK + _EVENTS + b"\r\n"),
}
