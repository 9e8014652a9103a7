"""Where API keys may go: to addresses that the person who runs naisei has named, no others.

A run directory, a study, an index or a configuration may come from somebody else and name any
address. On the command line a key is sent only to the addresses that stand in the command or in
an environment variable; a program that calls naisei as a library answers for what it passes.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from naisei.lang import say

_URL = re.compile(r"https?://[^\s,;'\"]+", re.IGNORECASE)
_PASSWORD = re.compile(r"(://[^\s/:@\"']{0,200}:)[^\s/@\"']{1,500}@")
_BEARER = re.compile(r"(\bBearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE)
#: Characters of a secret: a shorter word may stand in any text.
_SHORTEST = 8
#: What `only_to_named` found; `None` where a program calls.
_named: frozenset[str] | None = None
_withheld: set[str] = set()


@contextmanager
def only_to_named(arguments: Sequence[str], variables: Mapping[str, str]) -> Iterator[None]:
    """Within, keys go to the addresses in these arguments, and in the variables `NAISEI_…` and
    `…_BASE_URL`, and to each provider's own. For the whole process, all its threads."""
    global _named
    texts = [
        *arguments,
        *(
            value
            for name, value in variables.items()
            if name.startswith("NAISEI_") or name.endswith("_BASE_URL")
        ),
    ]
    _named = frozenset(_origin(url) for text in texts for url in _URL.findall(text))
    _withheld.clear()
    try:
        yield
    finally:
        _named = None


def key(variable: str, url: str | None = None) -> str | None:
    """The key in an environment variable for a request to `url` (`None`: the provider's own
    address). `None` if there is none, or nobody has named the address; that is said once on
    stderr."""
    value = os.environ.get(variable)
    if not value or url is None or _named is None or _origin(url) in _named:
        return value or None
    if url not in _withheld:
        _withheld.add(url)
        print(
            say(
                f"注意: {variable} は {url} に送りません。このコマンドでも環境変数でも指定されて"
                f"いない接続先です。送ってよければ OPENAI_BASE_URL={url} を付けて実行してください",
                f"note: {variable} is not sent to {url}, which neither the command nor the "
                f"environment names. If it may have the key, run with OPENAI_BASE_URL={url}",
            ),
            file=sys.stderr,
        )
    return None


def masked(text: str) -> str:
    """The text without the keys of this environment, and without passwords in URLs: an endpoint
    may send back what it was sent."""
    for name, value in os.environ.items():
        if name.endswith(("_KEY", "_TOKEN")) and len(value) >= _SHORTEST:
            text = text.replace(value, "…")
    return _PASSWORD.sub(r"\1…@", _BEARER.sub(r"\1…", text))


def _origin(url: str) -> str:
    """Scheme, host and port: whoever serves one path there serves all. A URL that is none has
    an origin of its own."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
    except ValueError:
        return url
    return f"{parts.scheme.lower()}://{(parts.hostname or '').lower()}:{port}"
