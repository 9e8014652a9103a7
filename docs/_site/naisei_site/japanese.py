"""Search in Japanese without a dictionary: pairs of characters, on both sides.

Sphinx cuts the pages into words but not what the reader types, so that a query without spaces
finds nothing. Here pages and queries are cut by the same rule: words of letters and digits as
they are, and of everything else each two neighbouring characters.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.search import SearchLanguage, languages
from sphinx.transforms import SphinxTransform

_WORD = re.compile(r"[a-z0-9_]+|[々〆ぁ-んァ-ヶー一-鿿]+", re.IGNORECASE)
_JAPANESE = re.compile(r"[々〆ぁ-んァ-ヶー一-鿿]")


class Pairs(SearchLanguage):
    lang = "ja"
    language_name = "Japanese"
    stopwords: frozenset[str] = frozenset()
    js_splitter_code = """
function splitQuery(query) {
  const found = query.match(/[a-z0-9_]+|[々〆ぁ-んァ-ヶー一-鿿]+/gi) || [];
  return found.flatMap((word) => {
    if (/^[a-z0-9_]/i.test(word) || word.length < 3) return [word];
    return Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2));
  });
}
"""

    def split(self, input: str) -> list[str]:
        found: list[str] = []
        for word in _WORD.findall(input):
            if not _JAPANESE.match(word) or len(word) < 3:
                found.append(word)
            else:
                found += [word[i : i + 2] for i in range(len(word) - 1)]
        return found

    def word_filter(self, stemmed_word: str) -> bool:
        return len(stemmed_word) > 1

    def stem(self, word: str) -> str:
        return word.lower()


class _Unspaced(SphinxTransform):
    """A line break between two Japanese characters is no space."""

    default_priority = 800

    def apply(self, **_: Any) -> None:
        if self.config.language != "ja":
            return
        for text in list(self.document.findall(nodes.Text)):
            if "\n" not in text or isinstance(text.parent, nodes.literal_block):
                continue
            joined = re.sub(r"(?<=[^\x00-\xff])\n(?=[^\x00-\xff])", "", str(text))
            text.parent.replace(text, nodes.Text(joined))


def setup(app: Sphinx) -> dict[str, Any]:
    languages["ja"] = Pairs
    app.add_transform(_Unspaced)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
