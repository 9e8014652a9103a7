"""Training documents of weights: digests of their words, stored with the weights.

Evaluations on these documents report it. A digest ignores a document's name, line wrapping,
character width and bold marks, so that copies match, too.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path

from naisei.files import write_atomically
from naisei.lang import say


def digest(text: str) -> str:
    """16 hex digits of the words of a document."""
    words = re.sub(r"[\s*]+", "", unicodedata.normalize("NFKC", text))
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def write_digests(path: Path, texts: Iterable[str]) -> None:
    """Write one digest per line, sorted."""
    write_atomically(path, "".join(f"{one}\n" for one in sorted({digest(t) for t in texts})))


def read_digests(path: Traversable) -> frozenset[str]:
    """Read the digests that `write_digests` wrote."""
    return frozenset(path.read_text(encoding="utf-8").split())


def learnt_from(texts: Sequence[str], known: frozenset[str]) -> int:
    """Number of these documents that the weights were trained on."""
    return sum(digest(text) in known for text in texts)


def training_note(name: str, seen: int, of: int) -> tuple[str, ...]:
    """The note for results of `name` on `of` documents, if it was trained or tuned on `seen` of
    them."""
    if not seen:
        return ()
    return (
        say(
            f"採点した {of} 件のうち {seen} 件は {name} の学習や調整に使われています。"
            "値も p も、ほかの文書での性能の見積もりにはなりません",
            f"{seen} of these {of} documents were used to train or tune {name}: neither the "
            "figures nor p tell how well it does on others",
        ),
    )
