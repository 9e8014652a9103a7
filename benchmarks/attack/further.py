"""Further attempts, by tables: cells of CSV files, token counts, addresses for keys, files of a log
in the place of others, and every route of the pages with every method and odd values.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr
from pathlib import Path
from urllib.parse import quote

from benchmarks.attack.base import Attempt
from benchmarks.attack.bodies import Body
from benchmarks.attack.endpoints import serving
from benchmarks.attack.flips import exported, make_run
from benchmarks.attack.http_requests import request
from benchmarks.attack.web import _health, _server, _tried
from naisei import keys
from naisei.core import Chat, InputError, NaiseiError, Usage, Where, user
from naisei.core.messages import canonical
from naisei.models.base import ModelSettings
from naisei.models.gateway import Gateway
from naisei.models.pacing import RetryPolicy
from naisei.models.registry import open_roles
from naisei.runs.export import frame
from naisei.runs.log import RunLog
from naisei.runs.task import EpisodeRow


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    """All of the tables; then routes with odd values until time is up."""
    until = time.monotonic() + seconds
    yield from _cells()
    yield from _keys()
    yield from _swaps()
    yield from _counts()
    yield from _routes(rng, until)


# Cells that a spreadsheet would run, as ids and as texts of a run that is exported.

CELLS = (
    "=1+1", "=cmd|'/c calc'!A0", "=HYPERLINK(\"http://evil.example\")", "+1+1", "+cmd|'/c calc'!A0",
    "-1+1", "-2+3+cmd|'/c calc'!A0", "@SUM(1)", "@A1", "\t=1+1", "\r=1+1", "\n=1+1", "\r\n=1+1",
    " =1+1", "  \t =1+1", "\u00a0=1+1", "\u3000=1+1", "\u200b=1+1", "\ufeff=1+1", "\u202e=1+1",
    "＝1+1", "＋1+1", "－1+1", "＠SUM(1)", "\x00=1+1", "\x0b=1+1", "\x0c=1+1", "\x1f=1+1",
    "\x85=1+1",
    "\u2028=1+1", "'=1+1", '"=1+1', '"",=1+1', "a,=1+1", 'a"\n=1+1', "=1+1;=1+1", "=1+1|=1+1",
    "%0A=1+1", "=-1", "+-1", "-=1", "=\u200b1", "=" * 9999, "=" + "あ" * 30_000, "|calc", "!A0",
    "DDE(\"cmd\")", "\\=1", "=IMPORTXML(\"http://evil.example\", \"//a\")", "+A1", "-A1", "=(1)",
)  # fmt: skip
#: How a cell begins that is run: by Excel, LibreOffice and Google's sheets, white space aside.
_RUN = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def _cells() -> Iterator[Attempt]:
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        path = Path(folder) / "run"
        make_run(path, episodes=1)
        log = RunLog(path / "log.sqlite")
        for n, cell in enumerate(CELLS):
            log.finish(EpisodeRow(Where(f"{n} {cell}".encode("utf-8", "replace").decode()[:300]),
                                  {"said": cell, cell[:90]: n}))  # fmt: skip
            log.finish(EpisodeRow(Where(cell[:300]), None, cell))
        log.close()
        text = frame(path).to_csv()
        rows = list(csv.reader(io.StringIO(text, newline="")))
        bad = [cell for row in rows for cell in row if _is_run(cell)]
        for cell in CELLS:
            fell = any(cell.strip()[:60] in each for each in bad)
            yield Attempt("CSV cell", "run" if fell else "not run", fell, repr(cell[:60]))
        if bad and not any(cell.strip()[:60] in each for each in bad for cell in CELLS):
            yield Attempt("CSV cell", "run", True, repr(bad[:3]))


def _is_run(cell: str) -> bool:
    bare = cell.lstrip()
    try:
        float(bare)
    except ValueError:
        return bare.startswith(_RUN)
    return False


# What an endpoint says that a call cost. The texts of the call are some 60 bytes.

_ODD: tuple[object, ...] = (
    -1, -(10**30), 10**30, 1e308, 1.5, "7", "many", "", True, None, [], [5], {}, {"n": 5}, "１２",
    "0x10", " 5 ", 2**63, 2**64, -0.0, 10**400,
)  # fmt: skip
COUNTS: Mapping[str, dict[str, object]] = {
    **{f"input {str(odd)[:20]!r}": {"prompt_tokens": odd, "completion_tokens": 3} for odd in _ODD},
    **{f"output {str(odd)[:20]!r}": {"prompt_tokens": 9, "completion_tokens": odd} for odd in _ODD},
    "nothing": {},
    "only the sum": {"total_tokens": 12},
    "a sum that is none": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": -5},
    "more from the cache than there is": {
        "prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 99},
    },
    "less than nothing from the cache": {
        "prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": -9},
    },
    "more thought than said": {
        "prompt_tokens": 9, "completion_tokens": 3,
        "completion_tokens_details": {"reasoning_tokens": 10**12},
    },
    "details of another kind": {
        "prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": [1, 2],
    },
}  # fmt: skip
#: Tokens that the texts of the call may have at the very most, a byte each with what is around.
_MOST = 5_000


def _counts() -> Iterator[Attempt]:
    said: list[bytes] = []
    with serving(lambda: Body(lambda: [said[-1]])) as url:
        for name, counts in COUNTS.items():
            message = {"role": "assistant", "content": "お茶をいれます。"}
            whole = {"choices": [{"message": message, "finish_reason": "stop"}], "model": "m"}
            try:
                said[:] = [json.dumps({**whole, "usage": counts}).encode()]
            except ValueError:
                continue
            try:
                used = asyncio.run(_used(url))
            except NaiseiError as error:
                yield Attempt("token count", "told", False, f"{name}: {error}")
            except Exception as error:
                note = f"{name}: {type(error).__name__}: {error}"
                yield Attempt("token count", "crash", True, note)
            else:
                parts = (used.input_tokens, used.output_tokens, used.cached_input, used.reasoning)
                wrong = not 0 < used.tokens <= _MOST or min(parts) < 0
                wrong |= used.cached_input > used.input_tokens
                wrong |= used.reasoning > used.output_tokens
                wrong |= used.usd is not None and not 0 <= used.usd < 1
                note = f"{name}: {parts}, {used.usd} USD"
                yield Attempt("token count", "believed" if wrong else "bounded", wrong, note)


async def _used(url: str) -> Usage:
    patience = RetryPolicy(
        attempts=2, first_wait=0.01, longest_wait=0.02, connect_attempts=1, resends=1
    )
    roles = open_roles(f"openai-compatible:m@{url}/v1", settings=ModelSettings(timeout=2))
    gateway = Gateway(roles, patience=patience)
    try:
        done = await gateway.perform(Chat("agent", [user("何をしますか？")]), Where("1", 1, (0,)))
        assert done.usage is not None
        canonical(list(done.usage.sent))
        return done.usage
    finally:
        await gateway.aclose()


# Addresses that look like the one that was named, `https://models.example/v1`.

ADDRESSES = (
    "https://models.example.evil.example/v1", "https://evil.example/models.example/v1",
    "https://evil.example/?https://models.example/v1", "https://evil.example#models.example",
    "https://models.example@evil.example/v1", "https://models.example:443@evil.example/v1",
    "https://models.example%2eevil.example/v1", "https://models.example\\@evil.example/v1",
    "https://models.example\t.evil.example/v1", "https://models.example\n.evil.example/v1",
    "https://models.example。evil.example/v1", "http://models.example/v1",
    "https://models.example:444/v1", "https://models.example:80/v1", "https://models.example./v1",
    "https://xmodels.example/v1", "https://models.exampleX/v1", "https://mоdels.example/v1",
    "https://xn--mdels-xye.example/v1", "https://[::1]/v1", "https://127.0.0.1/v1",
    "https://models.example:99999/v1", "https://models.example:-1/v1", "//models.example/v1",
    "ftp://models.example/v1", "HTTPS://evil.example/v1", "https:models.example", "models.example",
    "https://models.example:443:443/v1", "https://user:pw@evil.example/v1", "", " ",
    "file:///etc/passwd", "https://evil.example\\models.example", "https://evil.example;models.example",
)  # fmt: skip
_SAME = ("https://models.example/v1", "https://MODELS.example:443/other", "https://models.example")


def _keys() -> Iterator[Attempt]:
    os.environ["NAISEI_ATTACKED_KEY"] = "sk-secret"
    try:
        with keys.only_to_named(["run", "--model", "x@https://models.example/v1"], {}):
            for address in (*ADDRESSES, *_SAME):
                with redirect_stderr(io.StringIO()):
                    given = keys.key("NAISEI_ATTACKED_KEY", address) is not None
                wrong = given != (address in _SAME)
                outcome = "given" if given else "withheld"
                yield Attempt("key for an address", outcome, wrong, repr(address))
    finally:
        del os.environ["NAISEI_ATTACKED_KEY"]


# Files of one run in the place of another's, cut, doubled, of another kind.


def _cut(name: str, share: float) -> Callable[[Path, Path], None]:
    def cut(run: Path, other: Path) -> None:
        path = run / name
        os.truncate(path, int(path.stat().st_size * share))

    return cut


def _taken(*names: str) -> Callable[[Path, Path], None]:
    def taken(run: Path, other: Path) -> None:
        for name in names:
            shutil.copyfile(other / name, run / name)

    return taken


def _written(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path, Path], None]:
    def written(run: Path, other: Path) -> None:
        (run / name).write_bytes(change((run / name).read_bytes()))

    return written


def _folder(name: str) -> Callable[[Path, Path], None]:
    def folder(run: Path, other: Path) -> None:
        (run / name).unlink()
        (run / name).mkdir()

    return folder


_LOG, _CONFIG = "log.sqlite", "config.json"
SWAPS: Mapping[str, Callable[[Path, Path], None]] = {
    **{f"{name} cut to {share}": _cut(name, share)
       for name in (_LOG, _CONFIG) for share in (0.0, 0.1, 0.5, 0.9, 0.99)},
    **{f"{name} is a folder": _folder(name) for name in (_LOG, _CONFIG)},
    "log of noise": _written(_LOG, lambda data: data[:100] + os.urandom(len(data) - 100)),
    "log of zeros": _written(_LOG, lambda data: bytes(len(data))),
    "log with a page twice": _written(_LOG, lambda data: data[:4096] + data[:4096] + data[8192:]),
    "log with two pages swapped": _written(
        _LOG, lambda data: data[:8192] + data[12288:16384] + data[8192:12288] + data[16384:]
    ),
    "log longer": _written(_LOG, lambda data: data + os.urandom(8192)),
    "config with another value": _written(_CONFIG, lambda data: data.replace(b"random", b"bayes")),
    "config with a mark": _written(_CONFIG, lambda data: b"\xef\xbb\xbf" + data),
    "config of an array": _written(_CONFIG, lambda data: b"[" + data + b"]"),
}  # fmt: skip


def _swaps() -> Iterator[Attempt]:
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        run, other, at = (Path(folder) / name for name in ("run", "other", "at"))
        make_run(run)
        make_run(other, episodes=3)
        expected = exported(run)
        for name, change in SWAPS.items():
            shutil.copytree(run, at)
            change(at, other)
            try:
                outcome = "same" if exported(at) == expected else "SILENTLY DIFFERENT"
            except InputError:
                outcome = "told"
            except Exception as error:
                outcome, name = "crash", f"{name}: {type(error).__name__}: {error}"
            yield Attempt("file of a log", outcome, outcome not in ("same", "told"), name)
            shutil.rmtree(at)


# Every route of the pages.

_ROUTES = (
    "/health", "/static/{}", "/enter", "/settings", "/conversations/{}", "/conversations/{}/answer",
    "/conversations/{}/events", "/conversations/{}/retry", "/conversations/{}/forget", "/home/runs",
    "/home/example/{}", "/assistant/new", "/assistant/{}", "/duo/new", "/duo/{}",
    "/relationship/new", "/relationship/{}", "/documents/files", "/documents/files/remove",
    "/documents/memory/forget", "/documents/new", "/documents/{}", "/documents/{}/passage",
    "/documents/{}/feedback", "/games/new", "/games/{}", "/emphasis/tag", "/runs/rows",
    "/runs/row/{}", "/runs/note/{}", "/runs/compare?run={}", "/runs/compare/file?run={}&as={}",
    "/runs/aligned?run={}&run={}&e={}", "/runs/of/{}", "/runs/show/{}?sort={}&offset={}",
    "/runs/episodes/{}?e={}", "/runs/live/{}?at={}", "/runs/check/{}", "/runs/costs/{}",
    "/runs/episode/{}?e={}&step={}&find={}", "/runs/fork/{}", "/runs/prompt/{}?e={}&step={}",
    "/runs/file/{}?as={}", "/hand/waiting", "/hand/{}", "/hand/{}/draft",
)  # fmt: skip
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_VALUES = (
    "", "x", "..", "../../etc/passwd", "%00", "a" * 3000, "0" * 24, "f" * 24, "-1", "9" * 400,
    "<script>alert(1)</script>", "💥", "\ud800", "a\nb", "{{7*7}}", "' OR 1=1 --", "clarify", "[",
    "con", "a/b/c/d", "e\u0301", "NaN", "1e999", "%2e%2e%2f", "\x1b[31m", "(a+)+$", "∞", "１",
)  # fmt: skip


def _routes(rng: random.Random, until: float) -> Iterator[Attempt]:
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        runs = Path(folder) / "runs"
        runs.mkdir()
        make_run(runs / "clarify")
        with _server("serve", "--state", f"{folder}/state", "--runs", str(runs)) as (port, _):
            for route in _ROUTES:
                for method in _METHODS:
                    path = route.replace("{}", quote(rng.choice(_VALUES), errors="replace"))
                    yield _tried(port, "route", f"{method} {path[:80]}", request(method, path))
            while time.monotonic() < until:
                path = "".join(
                    part + quote(rng.choice(_VALUES), safe="/", errors="replace")
                    for part in rng.choice(_ROUTES).split("{}")
                )
                yield _tried(port, "route", path[:120], request("GET", path))
            late = _health(port)
            yield Attempt("/health after", f"{late:.2f} s", late > 0.5)
