"""Golden requests: they are what the code sends now, and read as a model's reader wants them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from checkout import tool
from naisei.schema import prompt_language

wire = tool("wire")
WIRE, GOLDEN = wire.WIRE, wire.golden()
#: Words for a day that mean nothing without the day they are said on.
_RELATIVE = re.compile(r"今日は|昨日|明日|先週|来週|\b(today|yesterday|tomorrow) (is|was|we|I)\b")
_DATED = re.compile(r"\d{4}年|\b20\d\d\b")


def parts(text: str) -> list[dict[str, list[str]]]:
    """Of each request, heading → texts."""
    out: list[dict[str, list[str]]] = []
    for block in re.split(r"^=== step .*\n", text, flags=re.M)[1:]:
        found: dict[str, list[str]] = {}
        for head, body in re.findall(r"^--- (\w+)\n(.*?)(?=^--- \w+\n|\Z)", block, re.M | re.S):
            found.setdefault(head, []).append(body)
        out.append(found)
    return out


def schemas(text: str) -> list[dict[str, Any]]:
    return [json.loads(body) for part in parts(text) for body in part.get("schema", [])]


@pytest.mark.parametrize(
    "system",
    [
        "clarify",
        "director",
        "relationship",
        "intent",
        "emphasis",
        "agent",
        pytest.param("textgame", marks=pytest.mark.slow),
    ],
)
def test_golden_requests_are_what_is_sent(system: str) -> None:
    now = wire.written([system])
    kept = {
        str(path.relative_to(WIRE)): path.read_text(encoding="utf-8")
        for path in WIRE.glob(f"{system}/*.txt")
    }
    assert now == kept, f"review and write them anew: python tools/wire.py {system}"


@pytest.mark.parametrize("name", GOLDEN)
def test_one_schema_a_role_without_what_leaks(name: str) -> None:
    found = schemas(GOLDEN[name])
    assert all(schema == found[0] for schema in found)
    for schema in found[:1]:
        text = json.dumps(schema, ensure_ascii=False)
        assert not re.search(r'"(title|default|minLength|maxLength|\$ref|\$defs|const)":', text)
        assert '"null"' not in text
        enums = re.findall(r'"enum": \[[^\]]{40,}\]', text)
        assert len(enums) == len(set(enums)), "a long enumeration is sent twice"
        language = "ja" if ".ja" in name else "en"
        check(schema, language)


def check(schema: dict[str, Any], language: str) -> None:
    """All fields are required, in order, each with one line in the prompt's language."""
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    for part in schema["properties"].values():
        line = part["description"]
        assert "\n" not in line and len(line) <= 90
        assert bool(re.search("[\u3040-\u30ff\u4e00-\u9fff]", line)) == (language == "ja")
        for inner in (part, part.get("items", {})):
            if "properties" in inner:
                check(inner, language)


#: What comes last: a decision stands after what it rests on.
_VERDICTS = {"action", "choice", "answerable", "percent", "naturalness"}
_GROUNDS = {"quote", "thought", "consideration", "comment", "evidence", "sentences", "text"}


@pytest.mark.parametrize("name", GOLDEN)
def test_grounds_come_before_the_verdict(name: str) -> None:
    for schema in schemas(GOLDEN[name])[:1]:
        fields = list(schema["properties"])
        grounds = [fields.index(f) for f in fields if f in _GROUNDS]
        verdicts = [fields.index(f) for f in fields if f in _VERDICTS]
        assert not grounds or not verdicts or min(grounds) < min(verdicts)


@pytest.mark.parametrize("name", GOLDEN)
def test_prompts_speak_one_language_and_date_their_days(name: str) -> None:
    for part in parts(GOLDEN[name]):
        if "system" not in part:
            continue
        (told,) = part["system"]
        assert "$" not in told, "a placeholder was left"
        said = "\n".join([told, *part.get("user", [])])
        if ".en" in name and not name.startswith(("director", "emphasis", "intent")):
            assert not re.search(r"[\u3040-\u30ff]", told)
        if ".ja" in name:
            assert prompt_language(told) == "ja"
        if _RELATIVE.search(re.sub("「[^」]*」", "", told)):  # examples are nobody's day
            assert _DATED.search(said), "a relative day without its date"


#: Requests that are mostly new data each time: what history or documents there are decides.
_NEW_DATA = (
    "intent/answerer",
    "intent/verifier",
    "emphasis/",
    "textgame/",
    "clarify/reflector",
    "relationship/reflector",
)
#: Two speakers take turns: each begins as its own last request did. The
#: samples are a few lines long; what is new in a line is then a quarter of a request.
_IN_TURN = ("director/judge", "director/speaker", "relationship/speaker")


@pytest.mark.parametrize("name", [n for n in GOLDEN if not n.startswith(_NEW_DATA)])
def test_what_stays_the_same_comes_first(name: str) -> None:
    heads = re.findall(r"^=== step .*", GOLDEN[name], re.M)
    in_turn = name.startswith(_IN_TURN)
    for head in heads[2 if in_turn else 1 :]:
        share = int(re.findall(r"(\d+) % as before", head)[0])
        assert share >= (70 if in_turn else 79), head


@pytest.mark.parametrize("name", GOLDEN)
def test_a_section_that_is_named_is_there(name: str) -> None:
    """What instructions put in quotation marks or brackets as the name of a section is a heading
    of some request of the role."""
    for part in parts(GOLDEN[name])[:1]:
        told = part["system"][0] if "system" in part else ""
        everything = "\n".join(body for p in parts(GOLDEN[name]) for v in p.values() for body in v)
        for named in re.findall(r"【([^】]+)】|\[([A-Z][a-z ]+)\]", told):
            head = named[0] or named[1]
            assert everything.count(head) > told.count(head), f"{head} is named and never there"
        fields = set(re.findall(r"\b[a-z]+_[a-z\d_]+\b", told))
        assert fields <= _fields(GOLDEN[name]), "a field is named that the schema does not have"


def _fields(text: str) -> set[str]:
    """Names of fields, and the values that one of them may have."""
    found = re.findall(r'"([a-z_\d]+)": \{|^ *"([a-z_\d]+)",?$', text, re.M)
    return {name or value for name, value in found}
