"""Build the documentation's site: python tools/build_docs.py [--out DIR] [--fresh].

English and Japanese are two builds that link to each other, with a page before them that chooses.
Needs the extra `docs`. A warning, a link that leads nowhere, or anything that would be loaded from
another machine is an error: the site works offline, also from the file system.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from shutil import rmtree
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
TREES = {"en": ROOT / "docs", "ja": ROOT / "docs" / "ja"}

_FIRST = """<!doctype html>
<html lang="ja">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>内省 naisei</title>
<style>
  :root { color-scheme: light dark; }
  body { font-family: system-ui, sans-serif; max-width: 30rem; margin: 20vh auto; padding: 0 1rem; }
  a { font-size: 1.3rem; }
</style>
<h1>内省 naisei</h1>
<p><a href="ja/index.html" lang="ja">日本語</a></p>
<p><a href="en/index.html" lang="en">English</a></p>
<script>
  location.replace(navigator.language.startsWith("ja") ? "ja/index.html" : "en/index.html");
</script>
</html>
"""


class _Page(HTMLParser):
    """What a page links to, what it loads, and what in it can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if not value:
                continue
            if name == "id":
                self.ids.add(value)
            elif name == "href" and tag == "a":
                self.links.append(value)
            elif name == "src" or (name == "href" and tag == "link"):
                self.loads.append(value)


def faults(site: Path) -> Iterator[str]:
    """Links within the site that lead nowhere, and whatever is loaded from elsewhere."""
    pages = {path: _Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for load in page.loads:
            if urlsplit(load).scheme not in ("", "data") or load.startswith("//"):
                yield f"{name}: loads {load}"
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not aim.exists():
                yield f"{name}: no page {link}"
            elif parts.fragment and aim in pages and unquote(parts.fragment) not in pages[aim].ids:
                yield f"{name}: no such place {link}"
    for sheet in site.rglob("*.css"):
        for load in re.findall(
            r"(?:url\(|@import)\s*['\"]?(https?:[^'\")\s]+)", sheet.read_text("utf-8")
        ):
            yield f"{sheet.relative_to(site)}: loads {load}"


def build(out: Path, *, fresh: bool = False) -> int:
    """Builds both languages below `out`; how many builds or links failed."""
    if fresh and out.exists():
        rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for language, tree in TREES.items():
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
        command += ["-d", str(out / ".doctrees" / language), str(tree), str(out / language)]
        # Defaults and help are imported in the pages' language.
        done = subprocess.run(command, env={**os.environ, "NAISEI_LANG": language}, check=False)
        failed += done.returncode != 0
    (out / "index.html").write_text(_FIRST, encoding="utf-8")
    for fault in faults(out):
        print(fault, file=sys.stderr)
        failed += 1
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs")
    parser.add_argument("--fresh", action="store_true", help="build every page anew")
    options = parser.parse_args()
    if build(options.out.resolve(), fresh=options.fresh):
        return 1
    print(f"{options.out}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
