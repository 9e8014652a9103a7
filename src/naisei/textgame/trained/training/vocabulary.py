"""A tokenizer with only the words that games use, and the rows of the embeddings for them.

Of MiniLM's 30,522 tokens the games use about two thousand, and the table of the others is half
of the model. Characters are kept, so that an unknown word falls to pieces as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["game_words", "pruned"]

_WORD = re.compile(r"[A-Za-z]+")
_TEXTS = (".twg", ".twl", ".twf", ".json", ".txt")


def game_words() -> list[str]:
    """Every word of textworld's own files of texts, names and recipes; none if it is not here."""
    found = find_spec("textworld")
    if found is None or not found.submodule_search_locations:
        return []
    root = Path(next(iter(found.submodule_search_locations)))
    files = [p for p in (root / "generator" / "data").rglob("*") if p.suffix in _TEXTS]
    own = (root / "challenges" / "tw_cooking").rglob("*")
    files += [p for p in own if p.suffix in (*_TEXTS, ".py")]
    words = {w.lower() for p in files for w in _WORD.findall(p.read_text("utf-8", "ignore"))}
    return sorted(words)


def pruned(tokenizer: Any, texts: Iterable[str]) -> tuple[Any, Sequence[int]] | None:
    """A smaller tokenizer and, of each of its tokens, the number in the larger one.

    It gives the same tokens for `texts`. `None` if the tokenizer is of another kind than
    WordPiece.
    """
    from tokenizers import Tokenizer

    described = json.loads(tokenizer.to_str())
    model = described["model"]
    if model.get("type") != "WordPiece":
        return None
    used = {number for text in texts for number in tokenizer.encode(text).ids}
    special = {each["id"] for each in described["added_tokens"]}
    special.add(model["vocab"][model["unk_token"]])
    prefix = model["continuing_subword_prefix"]
    kept = [
        (name, number)
        for name, number in sorted(model["vocab"].items(), key=lambda item: item[1])
        if number in used or number in special or len(name.removeprefix(prefix)) == 1
    ]
    new = {old: number for number, (_, old) in enumerate(kept)}
    model["vocab"] = {name: new[old] for name, old in kept}
    for each in described["added_tokens"]:
        each["id"] = new[each["id"]]
    _renumber(described.get("post_processor") or {}, model["vocab"])
    return Tokenizer.from_str(json.dumps(described)), [old for _, old in kept]


def _renumber(post: dict[str, Any], vocabulary: dict[str, int]) -> None:
    """The tokens that frame a text, in either way that they are described."""
    for name, each in (post.get("special_tokens") or {}).items():
        each["ids"] = [vocabulary[token] for token in each["tokens"]]
        assert name in vocabulary, "a framing token is a token"
    for side in ("sep", "cls"):
        if side in post:
            post[side][1] = vocabulary[post[side][0]]
