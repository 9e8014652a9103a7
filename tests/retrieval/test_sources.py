"""Documents from a web site and a git repository, and a folder that is watched."""

from __future__ import annotations

import gzip
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.intent.effects import evidence
from naisei.intent.indexing import IndexOptions, index_command, watch
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.site import Site
from naisei.retrieval.sources import Documents, Folder, Repository, source
from naisei.retrieval.types import LoadLimits
from retrieval.pdf_file import pdf, show


@dataclass
class Web:
    """A site on loopback. pages: path → (status, headers, body). asked: requests, in order."""

    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def page(self, path: str, body: str, kind: str = "text/html", **headers: str) -> None:
        named = {"content-type": kind} | {k.replace("_", "-"): v for k, v in headers.items()}
        self.pages[path] = 200, named, body.encode()

    def sitemap(self, *paths: str, at: str = "/sitemap.xml", packed: bool = False) -> None:
        listed = "".join(f"<url><loc>{self.url}{path}</loc></url>" for path in paths)
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        data = f'<?xml version="1.0"?><urlset xmlns="{space}">{listed}</urlset>'.encode()
        kind = {"content-type": "application/xml"}
        self.pages[at] = 200, kind, gzip.compress(data) if packed else data

    def site(self, path: str = "/", **options: Any) -> Site:
        return Site(self.url + path, delay=0.0, **options)


@pytest.fixture
def web() -> Iterator[Web]:
    found = Web()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {k.lower(): v for k, v in self.headers.items()}
            found.asked.append((self.path, headers))
            status, told, body = found.pages.get(self.path, (404, {}, b"no"))
            if status == 200 and told.get("etag") == headers.get("if-none-match", "-"):
                status, body = 304, b""
            self.send_response(status)
            for name, value in told.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


HTML = "<html><title>{0}</title><h1>{0}</h1><h2>料金</h2><p>{1}</p></html>"


def names(documents: Documents) -> set[str]:
    return {p.relative_to(documents.folder).as_posix() for p in documents.folder.rglob("*.*")}


def test_a_site_by_its_sitemap_and_only_what_changed_is_sent_again(
    web: Web, tmp_path: Path
) -> None:
    web.pages["/robots.txt"] = (
        200,
        {},
        f"User-agent: *\nDisallow: /inner\nSitemap: {web.url}/m.xml.gz".encode(),
    )
    web.page("/pool.html", HTML.format("市民プール", "大人は400円です。"), etag='"1"')
    web.page("/inner/secret.html", HTML.format("秘密", "秘密です。"))
    web.page(
        "/hidden.html", '<meta name="robots" content="noindex">' + HTML.format("仮", "仮です。")
    )
    web.page("/photo.png", "…", kind="image/png")
    paths = ("/pool.html", "/inner/secret.html", "/hidden.html", "/photo.png", "/gone.html")
    web.sitemap(*paths, at="/m.xml.gz", packed=True)
    first = web.site().fetch(tmp_path)
    assert names(first) == {"pool.html"} and first.address("pool.html") == web.url + "/pool.html"
    assert {s.path.removeprefix(web.url) for s in first.skipped} == set(paths[1:])
    assert "/inner/secret.html" not in [path for path, _ in web.asked]
    build(tmp_path, first.folder, embedder=None, addresses=first.address)
    with Index.open(tmp_path) as index:
        link = evidence(index.search("プール 料金")[0]).meta["link"]
    assert link == f"{web.url}/pool.html#:~:text=%E6%96%99%E9%87%91"

    web.asked.clear()
    web.site().fetch(tmp_path)
    assert next(h for p, h in web.asked if p == "/pool.html")["if-none-match"] == '"1"'
    web.page("/pool.html", HTML.format("市民プール", "大人は500円です。"), etag='"2"')
    again = web.site().fetch(tmp_path)
    assert "500円" in (again.folder / "pool.html").read_text(encoding="utf-8")
    web.pages["/pool.html"] = 503, {}, b""
    kept = web.site().fetch(tmp_path)
    assert "500円" in (kept.folder / "pool.html").read_text(encoding="utf-8")
    assert any("503" in s.why for s in kept.skipped)


def test_a_site_without_a_sitemap_is_followed_within_itself_and_its_bounds(
    web: Web, tmp_path: Path
) -> None:
    links = (
        '<a href="b.html#x">b</a><a href="/other/c.html">c</a><a href="http://192.0.2.1/">out</a>'
    )
    web.page("/docs/", HTML.format("目次", "目次です。") + links)
    web.page(
        "/docs/b.html", HTML.format("乙", "乙です。") + '<a href="./">上</a><a href="d.html">d</a>'
    )
    web.page("/other/c.html", HTML.format("丙", "丙です。"))
    web.pages["/docs/d.html"] = 302, {"location": "http://192.0.2.1/x"}, b""
    found = web.site("/docs/").fetch(tmp_path)
    urls = {found.address(name) for name in names(found)}
    assert urls == {web.url + "/docs/", web.url + "/docs/b.html"}
    web.page("/docs/b.html", HTML.format("乙", "乙です。" * 500))
    small = web.site("/docs/", limits=LoadLimits(bytes=1000, files=10)).fetch(tmp_path / "small")
    assert web.url + "/docs/b.html" in [s.path for s in small.skipped]


def test_a_site_that_cannot_be_read_leaves_what_was_there(web: Web, tmp_path: Path) -> None:
    web.page("/a.html", HTML.format("甲", "甲です。"))
    web.sitemap("/a.html")
    before = web.site().fetch(tmp_path)
    web.pages["/robots.txt"] = 500, {}, b""
    with pytest.raises(InputError):
        web.site().fetch(tmp_path)
    assert names(before) == {"a.html"}
    web.pages["/entities.xml"] = 200, {}, b'<!DOCTYPE x [<!ENTITY a "b">]><urlset/>'
    del web.pages["/robots.txt"]
    with pytest.raises(InputError):
        web.site("/entities.xml").fetch(tmp_path / "other")


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_a_repository_at_a_revision(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "docs").mkdir(parents=True)
    git(work, "init", "-q", "-b", "main")
    (work / "docs" / "a.md").write_text("# 甲\n\n甲は10円です。\n", encoding="utf-8")
    (work / "other.md").write_text("# 別\n", encoding="utf-8")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "1")
    git(work, "tag", "v1")
    git(work, "mv", "docs/a.md", "docs/b.md")
    git(work, "commit", "-q", "-m", "2")
    below = tmp_path / "index"
    old = source(f"git+{work}@v1#subdirectory=docs").fetch(below)
    assert names(old) == {"a.md"}
    new = source(f"git+file://{work}#subdirectory=docs").fetch(below)
    assert names(new) == {"b.md"}
    assert names(source(f"git+{work}@main#subdirectory=docs").fetch(below)) == {"b.md"}
    for wrong in (f"git+{work}@nowhere", f"git+{work}#subdirectory=no", "git+ext::sh -c true"):
        with pytest.raises(InputError):
            source(wrong).fetch(below)


@pytest.mark.parametrize(
    ("given", "url", "revision", "inner"),
    [
        (
            "git+https://github.com/a/b.git@v1#subdirectory=x/y",
            "https://github.com/a/b.git",
            "v1",
            "x/y",
        ),
        ("git+ssh://git@host/a/b", "ssh://git@host/a/b", "HEAD", ""),
        ("git+ssh://git@host/a/b@feature/x", "ssh://git@host/a/b", "feature/x", ""),
        ("git+/srv/docs.git", "/srv/docs.git", "HEAD", ""),
    ],
)
def test_how_a_repository_is_written(given: str, url: str, revision: str, inner: str) -> None:
    assert Repository.of(given) == Repository(url, revision, inner)


@pytest.mark.parametrize(
    "given", ["git+", "git+--upload-pack=x", "git+/a@-x", "git+/a#subdirectory=../b"]
)
def test_what_is_no_repository(given: str) -> None:
    with pytest.raises(InputError):
        Repository.of(given)


def test_a_watched_folder_is_indexed_when_it_has_come_to_rest(tmp_path: Path) -> None:
    docs, index = tmp_path / "docs", tmp_path / "docs" / ".index"
    docs.mkdir()
    updates: list[int] = []
    script = iter(
        [
            lambda: (docs / "a.md").write_text("# 甲\n"),
            lambda: (docs / "a.md").write_text("# 甲は長い\n"),
            lambda: None,  # at rest: now
            lambda: index.mkdir(),  # its own files are no change
            lambda: None,
            lambda: (docs / "a.md").unlink(),
            lambda: None,
        ]
    )
    seen: list[int] = []

    def wait(seconds: float) -> None:
        seen.append(len(updates))
        next(script, _stop)()

    with pytest.raises(KeyboardInterrupt):
        watch(Folder(docs), index, lambda: updates.append(1), 1.0, wait)
    assert seen == [0, 0, 0, 1, 1, 1, 1, 2]


def test_the_command_names_what_was_read_and_what_was_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "料金.csv").write_text("証明,料金\n印鑑,310円\n", encoding="utf-8")
    for n in range(12):
        (folder / f"図{n}.png").write_bytes(b"x")
    scan = pdf(show("本文。", 60, 700), "0 0 100 100 re f\n")
    (folder / "案内.pdf").write_bytes(scan)
    index_command(IndexOptions(documents=str(folder), index=tmp_path / "index", embedder="none"))
    told = capsys.readouterr().out
    assert "料金.csv" in told and "図0.png" in told
    lines = told.splitlines()
    assert sum(".png" in line for line in lines) == 11  # the others by their number
    assert any("案内.pdf" in line and "2" in line for line in lines)


def _stop() -> None:
    raise KeyboardInterrupt


def test_the_command_indexes_a_site(
    web: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web.page("/a.html", HTML.format("甲", "甲は10円です。"))
    web.sitemap("/a.html", "/missing.html")
    options: dict[str, Any] = {
        "documents": web.url + "/",
        "index": tmp_path / "index",
        "embedder": "none",
    }
    index_command(IndexOptions(**options, delay=0.0))
    assert "HTTP 404" in capsys.readouterr().out
    index_command(IndexOptions(**options, delay=0.0, as_json=True))
    assert '"unchanged": 1' in capsys.readouterr().out
