"""Markdown front matter: keys and values, and the facts readers look up."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from pydantic import JsonValue

from naisei.japanese.morph import is_japanese
from naisei.retrieval.types import Passage
from naisei.text_files import toml_of

_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"^([^\s:#\-][^:：]*?)\s*[:：]\s*(.*)$")
_LONGEST = 10_000


def split_front_matter(text: str) -> tuple[dict[str, JsonValue], str]:
    """(keys and values, the rest of the text). Values are text, or lists of text (`[a, b]` or
    `- a` lines). Ignores nested mappings; a block without pairs is text. Between `+++` it is TOML,
    of which texts and lists of texts are used.

    >>> split_front_matter("---\\ntitle: 旅費規程\\ntags: [出張, 経費]\\n---\\n本文")
    ({'title': '旅費規程', 'tags': ['出張', '経費']}, '本文')
    """
    if text.startswith("+++") and (block := _TOML.match(text[:_LONGEST])):
        try:
            return _of_toml(toml_of(block[1])), text[block.end() :]
        except tomllib.TOMLDecodeError:
            return {}, text
    block = _BLOCK.match(text[:_LONGEST])
    if block is None:
        return {}, text
    meta: dict[str, JsonValue] = {}
    items: list[JsonValue] | None = None
    for line in block[1].split("\n"):
        if items is not None and (item := re.match(r"^\s*-\s+(.*)$", line)):
            items.append(_bare(item[1]))
        elif pair := _PAIR.match(line):
            key, value = pair[1].strip(), pair[2].strip()
            items = None
            if value.startswith("[") and value.endswith("]"):
                meta[key] = [_bare(v) for v in value[1:-1].split(",") if v.strip()]
            elif value:
                meta[key] = _bare(value)
            else:
                items = []
                meta[key] = items
    return (meta, text[block.end() :]) if meta else ({}, text)


def _of_toml(table: dict[str, Any]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in table.items():
        if isinstance(value, list):
            found[key] = [str(each) for each in value if not isinstance(each, dict | list)]
        elif not isinstance(value, dict):
            found[key] = str(value)
    return found


def _bare(value: str) -> str:
    value = re.sub(r"\s+#.*$", "", value).strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


#: Keys of use to a reader, in lower case and without separators, and their Japanese names. Other
#: keys are not shown as text: a rendered page hides its front matter, which could contain
#: instructions.
_FACTS = {
    "startdate": "開始日",
    "enddate": "終了日",
    "date": "日付",
    "effective": "施行日",
    "effectivedate": "施行日",
    "deadline": "締切",
    "starttime": "開始時刻",
    "endtime": "終了時刻",
    "location": "場所",
    "venue": "会場",
    "address": "住所",
    "organizer": "主催",
    "owner": "担当",
    "department": "担当部署",
    "author": "著者",
    "contact": "連絡先",
    "phone": "電話",
    "email": "メールアドレス",
    "capacity": "定員",
    "price": "料金",
    "fee": "料金",
}
#: Most characters of a fact.
_SHORT = 100
_WORD_END = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\-]+")


def stated_facts(meta: dict[str, JsonValue], body: str) -> list[Passage]:
    """The front matter facts that readers look up, one per line: `場所（location）：中央公園`, in
    English text `end date: 2026-08-09`; also short values of Japanese keys."""
    found: list[Passage] = []
    japanese = is_japanese(body)
    for key, value in meta.items():
        words = " ".join(_WORD_END.sub(" ", key).lower().split())
        known = _FACTS.get(words.replace(" ", ""), "")
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if (known or is_japanese(key)) and text and len(text) <= _SHORT:
            name = f"{known}（{key}）" if japanese and known else words
            found.append(Passage(text=f"{name}：{text}" if japanese else f"{name}: {text}"))
    return found
