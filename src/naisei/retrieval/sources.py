"""Where documents come from: a folder, a web site, a git repository.

Sites and repositories are copied below the index folder, so that next time only changes are
fetched and indexed. If a page cannot be fetched, its old copy stays.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import parse_qs, quote, urlsplit

from naisei.core import InputError
from naisei.lang import say
from naisei.retrieval.types import LIMITS, LoadLimits, Skipped


@dataclass(frozen=True, slots=True)
class Documents:
    """folder: local folder. address: maps a document's name to its public URL, if any.
    skipped: failures."""

    folder: Path
    address: Callable[[str], str | None] = lambda name: None
    skipped: tuple[Skipped, ...] = ()


class Source(Protocol):
    def fetch(self, below: Path) -> Documents:
        """Fetch the current documents. below: the index folder, for copies.

        Raises:
            InputError: the source is unreachable or invalid; earlier copies remain.
        """
        ...


def source(given: str, *, limits: LoadLimits = LIMITS, delay: float = 1.0) -> Source:
    """Parse a source: a folder, `https://…` (a page or a sitemap),
    `git+URL[@REVISION][#subdirectory=DIR]`, or, if no folder has that name, `handbook`, `city` or
    `manual` for the bundled documents. delay: seconds between requests to a site."""
    if given.startswith("git+"):
        return Repository.of(given)
    if given.startswith(("http://", "https://")):
        # Offline data.
        from naisei.retrieval.site import Site

        return Site(web_address(given), limits=limits, delay=delay)
    if given in _BUNDLED and not Path(given).exists():
        return Folder(Path(__file__).parent.parent / "data" / given)
    return Folder(Path(given))


def web_address(url: str, place: str = "") -> str:
    """Return the URL. Raises `InputError` if it is not http(s)."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise InputError(
            say("URL ではありません", "is not a URL"),
            place=place or url,
            remedy=say("https://HOST/… の形で書いてください", "write it as https://HOST/…"),
        )
    return url


_BUNDLED = ("handbook", "city", "manual")


@dataclass(frozen=True, slots=True)
class Folder:
    path: Path

    def fetch(self, below: Path) -> Documents:
        return Documents(self.path)

    def state(self, below: Path) -> int:
        """A number that changes with any document's name, size or time."""
        marks = []
        for base, folders, files in os.walk(self.path):
            here = Path(base)
            folders[:] = [
                f
                for f in folders
                if not f.startswith(".") and (here / f).resolve() != below.resolve()
            ]
            for name in files:
                try:
                    told = (here / name).stat()
                except OSError:  # deleted in the meantime
                    continue
                marks.append((str(here / name), told.st_size, told.st_mtime_ns))
        return hash(tuple(sorted(marks)))


def copy_of(given: str, below: Path) -> Path:
    """The folder for the copy of a source; created if missing."""
    folder = below / f"source-{hashlib.sha256(given.encode()).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# A git repository, read with the `git` command: one revision, no history.

_GIT_SECONDS = 600
_HOSTS = {"github.com": "blob", "gitlab.com": "-/blob"}


@dataclass(frozen=True, slots=True)
class Repository:
    """url: a URL or folder for git. revision: branch, tag or commit. subdirectory: the one read."""

    url: str
    revision: str = "HEAD"
    subdirectory: str = ""

    @classmethod
    def of(cls, given: str) -> Repository:
        """Parse pip's `git+URL[@REVISION][#subdirectory=DIR]`. Raises `InputError`."""
        plain, _, fragment = given.removeprefix("git+").partition("#")
        # The @ in user@host starts no revision.
        at = plain.rfind("@")
        url, revision = plain, "HEAD"
        if at > max(plain.rfind("://") + 2, plain.find("/", plain.find("://") + 3)) > 0:
            url, revision = plain[:at], plain[at + 1 :]
        inner = "".join(parse_qs(fragment).get("subdirectory", [])).strip("/")
        wrong = revision.startswith("-") or url.startswith("-") or not url or not revision
        if wrong or ".." in PurePosixPath(inner).parts:
            raise InputError(
                say("リポジトリの書き方が違います", "no repository"),
                place=given,
                remedy="git+https://HOST/REPO.git@REVISION#subdirectory=DIR",
            )
        return cls(url, revision, inner)

    def fetch(self, below: Path) -> Documents:
        if shutil.which("git") is None:
            raise InputError(say("git がありません", "git is not there"), place="PATH")
        copy = copy_of(f"{self.url}#{self.subdirectory}", below)
        tree = copy / "tree"
        tree.mkdir(exist_ok=True)
        url = str(Path(self.url).resolve()) if Path(self.url).exists() else self.url
        self._git(copy, "init", "--quiet", "--bare")
        self._git(copy, "fetch", "--quiet", "--depth=1", "--force", url, self.revision)
        self._git(copy, "--work-tree=tree", "read-tree", "--reset", "-u", "FETCH_HEAD")
        commit = self._git(copy, "rev-parse", "FETCH_HEAD").strip()
        folder = tree / self.subdirectory
        if not folder.is_dir():
            raise InputError(
                say("そのフォルダーはありません", "there is no such folder"),
                place=f"{self.url}#subdirectory={self.subdirectory}",
            )
        parts = urlsplit(self.url)
        page = _HOSTS.get(parts.hostname or "")
        if page is None:
            return Documents(folder)
        base = f"https://{parts.hostname}{parts.path.removesuffix('.git')}/{page}/{commit}/"
        inner = f"{self.subdirectory}/" if self.subdirectory else ""
        return Documents(folder, lambda name: base + quote(inner + name))

    def _git(self, copy: Path, *words: str) -> str:
        """Run `git` and return its output. Disables prompts, hooks, filters, links and transports
        that run programs."""
        environment = {
            **os.environ,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "LC_ALL": "C",
        }
        settings = ("core.hooksPath=/dev/null", "core.symlinks=false", "gc.auto=0")
        flags = [flag for setting in settings for flag in ("-c", setting)]
        try:
            done = subprocess.run(
                ["git", *flags, "--git-dir=repository.git", *words],
                cwd=copy,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_GIT_SECONDS,
                check=True,
            )
        except subprocess.TimeoutExpired as error:
            raise InputError(
                say("git が終わりません", "git does not end"), place=self.url
            ) from error
        except subprocess.CalledProcessError as error:
            why = " ".join(error.stderr.split())[-300:]
            raise InputError(
                say(f"リポジトリを取得できません: {why}", f"the repository cannot be had: {why}"),
                place=f"{self.url}@{self.revision}",
                remedy=say("URL とリビジョンを確かめてください", "check URL and revision"),
            ) from error
        return done.stdout
