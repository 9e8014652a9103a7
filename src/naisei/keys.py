"""API keys are sent only to addresses named by the user.

A run directory, a study, an index or a configuration may come from others and name any address. On
the command line a key is sent only to addresses in the command or in an environment variable;
library callers are responsible themselves.
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
#: Minimum length of a secret: shorter words may occur in any text.
_SHORTEST = 8
#: The addresses found by `only_to_named`; `None` for library callers.
_named: frozenset[str] | None = None
_withheld: set[str] = set()


@contextmanager
def only_to_named(arguments: Sequence[str], variables: Mapping[str, str]) -> Iterator[None]:
    """A context in which keys are sent only to addresses in these arguments and in the variables
    `NAISEI_…` and `…_BASE_URL`, and to each provider's own. It applies to all threads of the
    process."""
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
    address). `None` without a key, or if the address was not named (one warning on stderr)."""
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
    """The text without API keys and passwords in URLs, since an endpoint may echo them."""
    for name, value in os.environ.items():
        if name.endswith(("_KEY", "_TOKEN")) and len(value) >= _SHORTEST:
            text = text.replace(value, "…")
    return _PASSWORD.sub(r"\1…@", _BEARER.sub(r"\1…", text))


def _origin(url: str) -> str:
    """Scheme, host and port. An invalid URL is its own origin."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
    except ValueError:
        return url
    return f"{parts.scheme.lower()}://{(parts.hostname or '').lower()}:{port}"
