"""Loads a web site as documents: the pages in its sitemap, else those reached by following links.

Only the same scheme, host and port, also after redirects. Respects robots.txt (RFC 9309) and its
crawl delay.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

import httpx2
from selectolax.lexbor import LexborHTMLParser

from naisei.addresses import is_loopback
from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say
from naisei.retrieval.loaders.blocks import SUFFIXES
from naisei.retrieval.sources import Documents, copy_of
from naisei.retrieval.types import LIMITS, LoadLimits, Skipped

_AGENT = "naisei"
_HEADERS = {"user-agent": f"{_AGENT} (document index)", "accept-encoding": "gzip"}
_KINDS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.oasis.opendocument.text": ".odt",
    "text/csv": ".csv",
}
#: Most redirects per page, and most bytes of a sitemap or robots.txt.
_HOPS, _MAP_BYTES = 5, 10_000_000
#: Seconds for one request, and for a whole site.
_REQUEST, _WHOLE = 30.0, 3600.0
_MANIFEST = "site.json"


class _Elsewhere(Exception):
    """why: in the user's language."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(slots=True)
class Site:
    """start: a page or a sitemap (`….xml`, `….xml.gz`). delay: minimum seconds between requests.
    seconds: total; the rest is fetched the next time."""

    start: str
    limits: LoadLimits = LIMITS
    delay: float = 1.0
    seconds: float = _WHOLE
    _last: float = field(default=0.0, init=False)

    def fetch(self, below: Path) -> Documents:
        copy = copy_of(self.start, below)
        known: dict[str, dict[str, str]] = {}
        if (copy / _MANIFEST).is_file():
            known = json.loads((copy / _MANIFEST).read_text(encoding="utf-8"))
        with httpx2.Client(
            headers=_HEADERS, timeout=_REQUEST, trust_env=not is_loopback(self.start)
        ) as client:
            now, skipped = self._mirrored(client, copy / "pages", known)
        if not now:
            raise InputError(
                say("読める頁がありません", "no page that can be read"),
                place=self.start,
                remedy=say("URL と robots.txt を確かめてください", "check the URL and robots.txt"),
            )
        for path in sorted((copy / "pages").rglob("*"), reverse=True):
            name = path.relative_to(copy / "pages").as_posix()
            if path.is_file() and name not in {page["file"] for page in now.values()}:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        write_atomically(copy / _MANIFEST, json.dumps(now, ensure_ascii=False, indent=1))
        urls = {page["file"]: url for url, page in now.items()}
        return Documents(copy / "pages", urls.get, tuple(skipped))

    def _mirrored(
        self, client: httpx2.Client, folder: Path, known: dict[str, dict[str, str]]
    ) -> tuple[dict[str, dict[str, str]], list[Skipped]]:
        """Map each page's URL to its file, etag and modified; also failures."""
        robots = self._robots(client)
        self.delay = max(self.delay, float(robots.crawl_delay(_AGENT) or 0))
        listed = list(self._sitemap(client, robots))
        queue = dict.fromkeys(listed or [self.start])
        now: dict[str, dict[str, str]] = {}
        skipped: list[Skipped] = []
        began, follow = time.monotonic(), not listed
        while queue and len(now) < self.limits.files:
            url = next(iter(queue))
            del queue[url]
            if url in now or any(url == left.path for left in skipped):
                continue
            if not robots.can_fetch(_AGENT, url):
                skipped.append(Skipped(path=url, why=say("robots.txt が禁止", "by robots.txt")))
                continue
            if time.monotonic() - began > self.seconds:
                if url in known:
                    now[url] = known[url]
                skipped.append(Skipped(path=url, why=say("時間切れ", "out of time")))
                continue
            try:
                page, links = self._page(client, url, folder, known.get(url), robots)
            except (httpx2.HTTPError, OSError) as error:
                if url in known:  # an old copy is better than none
                    now[url] = known[url]
                why = f"{say('取得できません', 'not to be had')}: {error}"
                skipped.append(Skipped(path=url, why=why))
            except _Elsewhere as told:
                skipped.append(Skipped(path=url, why=told.why))
            else:
                now[url] = page
                if follow:
                    queue |= dict.fromkeys(link for link in links if link not in now)
        return now, skipped

    def _page(
        self,
        client: httpx2.Client,
        url: str,
        folder: Path,
        before: dict[str, str] | None,
        robots: RobotFileParser,
    ) -> tuple[dict[str, str], list[str]]:
        """Save a page, return its links. Raises `_Elsewhere`, `httpx2.HTTPError`."""
        file = folder / before["file"] if before is not None else None
        asked = {}
        if before is not None and file is not None and file.is_file():
            if before.get("etag"):
                asked["if-none-match"] = before["etag"]
            if before.get("modified"):
                asked["if-modified-since"] = before["modified"]
        status, headers, data = self._get(client, url, asked, self.limits.bytes, robots)
        if status == 304 and before is not None and file is not None:
            return before, _links(file.read_bytes(), url, self.start)
        if status >= 500 or status == 429:
            raise httpx2.HTTPError(f"HTTP {status}")
        if status != 200:
            raise _Elsewhere(f"HTTP {status}")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        suffix = _KINDS.get(kind)
        if suffix is None:
            raise _Elsewhere(say(f"{kind} は読めません", f"{kind} is not read here"))
        links: list[str] = []
        if suffix == ".html":
            links = _links(data, url, self.start)
            told = LexborHTMLParser(data).css_first('meta[name="robots"]')
            if told is not None and "noindex" in (told.attributes.get("content") or "").lower():
                raise _Elsewhere("noindex")
        name = _name(url, suffix)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, data)
        etag, modified = headers.get("etag", ""), headers.get("last-modified", "")
        return {"file": name, "etag": etag, "modified": modified}, links

    def _get(
        self,
        client: httpx2.Client,
        url: str,
        asked: dict[str, str],
        most: int,
        robots: RobotFileParser | None = None,
    ) -> tuple[int, httpx2.Headers, bytes]:
        """Status, headers and body. Raises `_Elsewhere` for pages that are too large or redirect
        elsewhere."""
        for _ in range(_HOPS):
            time.sleep(max(0.0, self._last + self.delay - time.monotonic()))
            self._last = time.monotonic()
            with client.stream("GET", url, headers=asked) as response:
                if response.has_redirect_location:
                    url = urljoin(url, response.headers.get("location", ""))
                    if not _same_site(url, self.start):
                        raise _Elsewhere(say("ほかのサイトへの転送", "leads to another site"))
                    if robots is not None and not robots.can_fetch(_AGENT, url):
                        raise _Elsewhere(say("robots.txt が禁止", "by robots.txt"))
                    continue
                data = b""
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > most:
                        raise _Elsewhere(say("大きすぎます", "too large"))
                return response.status_code, response.headers, data
        raise _Elsewhere(say("転送が多すぎます", "too many redirections"))

    def _robots(self, client: httpx2.Client) -> RobotFileParser:
        """The rules in robots.txt. A missing file allows all, an unreadable one nothing.

        Raises:
            InputError: no response.
        """
        rules = RobotFileParser()
        try:
            status, _, data = self._get(client, urljoin(self.start, "/robots.txt"), {}, _MAP_BYTES)
        except httpx2.HTTPError as error:
            raise InputError(
                say(f"サイトに届きません: {error}", f"the site cannot be reached: {error}"),
                place=self.start,
                remedy=say("URL とネットワークを確かめてください", "check URL and network"),
            ) from error
        except _Elsewhere:
            status, data = 404, b""
        if status == 200:
            rules.parse(data.decode("utf-8", "replace").splitlines())
        else:
            rules.parse(["User-agent: *", "Disallow: /"] if status >= 500 else [])
        return rules

    def _sitemap(self, client: httpx2.Client, robots: RobotFileParser) -> Iterator[str]:
        """The pages in the sitemap below the start; none if there is no sitemap."""
        named = re.search(r"\.xml(\.gz)?$", urlsplit(self.start).path)
        maps = (
            [self.start] if named else robots.site_maps() or [urljoin(self.start, "/sitemap.xml")]
        )
        below = urljoin(self.start, ".") if not named else urljoin(self.start, "/")
        seen: set[str] = set()
        while maps and len(seen) < 100:
            url = maps.pop(0)
            if url in seen or not _same_site(url, self.start):
                continue
            seen.add(url)
            try:
                status, _, data = self._get(client, url, {}, _MAP_BYTES)
                root = _xml(data) if status == 200 else None
            except (httpx2.HTTPError, _Elsewhere, ET.ParseError, OSError):
                root = None
            if root is None:
                if named:
                    raise InputError(
                        say("サイトマップとして読めません", "not readable as a sitemap"), place=url
                    )
                continue
            found = [(e.text or "").strip() for e in root.iter() if e.tag.endswith("}loc")]
            if root.tag.endswith("sitemapindex"):
                maps += found
            else:
                yield from (u for u in found if _same_site(u, self.start) and u.startswith(below))


def _xml(data: bytes) -> ET.Element | None:
    if data[:2] == b"\x1f\x8b":
        with gzip.open(io.BytesIO(data)) as file:
            data = file.read(_MAP_BYTES)
    # Entities are an attack vector; a sitemap needs none.
    return None if b"<!DOCTYPE" in data or b"<!ENTITY" in data else ET.fromstring(data)


def _same_site(url: str, start: str) -> bool:
    one, two = urlsplit(url), urlsplit(start)
    return (one.scheme, one.netloc.lower()) == (two.scheme, two.netloc.lower())


def _links(data: bytes, url: str, start: str) -> list[str]:
    """The pages of the same site, below the start, that a page links to, without fragments."""
    below, found = urljoin(start, "."), []
    for node in LexborHTMLParser(data).css("a[href]"):
        try:
            parts = urlsplit(urljoin(url, node.attributes.get("href") or ""))
        except ValueError:  # `http://[`
            continue
        target = urlunsplit(parts._replace(fragment=""))
        if _same_site(target, start) and target.startswith(below):
            found.append(target)
    return list(dict.fromkeys(found))


def _name(url: str, suffix: str) -> str:
    """A readable, safe file name for a URL, unique to that URL."""
    parts = urlsplit(url)
    path = unquote(parts.path).strip("/") or "index"
    safe = "/".join(
        re.sub(r"[^\w.\-]", "_", part).strip(".")[:60] or "_" for part in path.split("/")[-6:]
    )
    known = PurePosixPath(safe).suffix.lower()
    stem = safe[: -len(known)] if SUFFIXES.get(known) == SUFFIXES[suffix] else safe
    plain = quote(f"/{safe}") == parts.path and stem != safe and not parts.query
    mark = "" if plain else "-" + hashlib.sha256(url.encode()).hexdigest()[:8]
    return f"{stem}{mark}{suffix}"
