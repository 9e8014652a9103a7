"""Identifies visitors: a random name in a signed cookie, and the CSRF token of our forms.

The cookie identifies the visitor; others cannot see the visitor's conversations. The state folder
holds only a digest of it, so reading the folder does not grant access.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

from naisei.core import InputError
from naisei.files import written_beside
from naisei.http import Guesses, bearer
from naisei.lang import say

#: Header that a request with side effects must carry besides the cookie: a value known only to
#: our pages.
CSRF_HEADER = "x-csrf-token"
_NAME = re.compile(r"[0-9a-f]{48}")
_YEAR = 365 * 24 * 3600


def without_script(headers: Headers) -> bool:
    """Whether a form was sent without JavaScript, whose requests always have the header."""
    return CSRF_HEADER not in headers


@dataclass(frozen=True, slots=True)
class Visitor:
    """id: name of the visitor in files; it does not grant access. csrf: value of `CSRF_HEADER`.

    cookie: the Set-Cookie value to send, empty if the visitor already has the cookie.
    """

    id: str
    csrf: str
    cookie: str = ""

    @property
    def name(self) -> str:
        """The default name of annotators."""
        return f"visitor-{self.id[:6]}"


class Visitors:
    """Identifies visitors. secret: secret of this server, which survives restarts."""

    def __init__(self, secret: bytes, token: str = "") -> None:
        self._secret = secret
        # Cookies ignore ports: two servers on one host must not share them.
        tag = self._sign("tag", "")[:8]
        self._visitor_cookie, self._key_cookie = f"naisei_visitor_{tag}", f"naisei_key_{tag}"
        self._token, self._key = token, self._sign("token", token)
        self._guesses = Guesses()

    @staticmethod
    def kept_in(folder: Path, token: str = "") -> Visitors:
        """Use the secret of a state folder, creating it if there is none."""
        path = folder / "secret"
        # Empty: its writer was killed before anything was signed with it.
        if not path.exists() or (path.is_file() and path.stat().st_size == 0):
            with written_beside(path) as part:
                path.unlink(missing_ok=True)
                part.touch(mode=0o600)
                part.write_bytes(secrets.token_bytes(32))
        try:
            secret = path.read_bytes()
        except OSError as error:
            raise InputError(
                say(f"読めません: {error.strerror}", f"cannot be read: {error.strerror}"),
                place=str(path),
                remedy=say("読めるようにしてください", "make it readable"),
            ) from error
        if len(secret) != 32:
            raise InputError(
                say("naisei の鍵ではありません", "is not a key of naisei"),
                place=str(path),
                remedy=say(
                    "消してください（会話の持ち主は分からなくなります）",
                    "remove it (whose the conversations are is lost then)",
                ),
            )
        return Visitors(secret, token)

    def of(self, headers: Headers, *, secure: bool = False) -> Visitor:
        """Return the visitor of these headers, with a new id if there is no cookie."""
        name, _, signature = _cookies(headers).get(self._visitor_cookie, "").partition(".")
        if _NAME.fullmatch(name) and hmac.compare_digest(signature, self._sign("visitor", name)):
            return self._visitor(name, "")
        name = secrets.token_hex(24)
        value = f"{name}.{self._sign('visitor', name)}"
        return self._visitor(name, self._cookie(self._visitor_cookie, value, secure))

    def may_enter(self, scope: Scope, headers: Headers) -> bool:
        """Whether they have the token, by cookie or as `Authorization: Bearer`. Raises the same
        errors as `knows`."""
        if not self._token:
            return True
        if hmac.compare_digest(_cookies(headers).get(self._key_cookie, ""), self._key):
            return True
        given = bearer(headers)
        return given is not None and self.knows(scope, given)

    def knows(self, scope: Scope, token: str) -> bool:
        """Whether this is the token. Raises `HTTPException` (429) like `Guesses.whose`."""
        return self._guesses.whose(scope, token, {"": self._token}) is not None

    def key(self, *, secure: bool = False) -> str:
        """Return the Set-Cookie value for a visitor who has entered the token."""
        return self._cookie(self._key_cookie, self._key, secure)

    def _visitor(self, name: str, cookie: str) -> Visitor:
        digest = hashlib.sha256(name.encode()).hexdigest()[:32]
        return Visitor(digest, self._sign("csrf", name), cookie)

    def _sign(self, purpose: str, value: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{value}".encode(), "sha256").hexdigest()

    def _cookie(self, name: str, value: str, secure: bool) -> str:
        flags = "; Secure" if secure else ""
        return f"{name}={value}; Path=/; Max-Age={_YEAR}; HttpOnly; SameSite=Lax{flags}"


def _cookies(headers: Headers) -> dict[str, str]:
    # Our values are ASCII, and the constant-time comparison accepts nothing else.
    return cookie_parser(headers.get("cookie", "").encode("ascii", "replace").decode())
