"""Parses the action that a sentence requests: kind, nouns and place.

Synonymous verbs (取ってくる, 出す, ちょうだい) share a kind; any other verb is its own kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from naisei.japanese.morph import Token, is_japanese, lemmas, normalise, tokens

KINDS = {
    "bring": "持つ 取る 出す 渡す 運ぶ 届ける 用意 準備 貸す 受け取る 頂戴 寄越す "
    "bring fetch get grab pass hand take give",
    "away": "片付ける 片付け 片す 仕舞う 戻す 返す 帰す 直す なおす 退ける 下げる 収納 引っ込める "
    "put tidy clear store stow return",
    "discard": "捨てる ごみ捨て 処分 ぽい throw discard toss bin",
    "heat": "温める 暖める あたためる ちん 加熱 heat warm microwave",
}
_KIND_OF = {
    verb: kind for kind, verbs in KINDS.items() for verb in lemmas("、".join(verbs.split()))
}
#: Verbs of putting; the destination determines their kind.
_PUT = frozenset(lemmas("入れる、置く、冷やす、put, place"))
_PLACES = {"レンジ": "heat", "塵箱": "discard", **dict.fromkeys(lemmas("microwave"), "heat")}
_PLACES |= dict.fromkeys(lemmas("bin"), "discard")
SMALL = frozenset(lemmas("a an the my your me us it on in into to of for back please some about"))
SMALL |= {"事", "こと", "方", "為る", "だ"}
#: Auxiliary verbs, which name no action of their own.
_HELPERS = frozenset(
    {"来る", "呉れる", "下さる", "貰う", "頂く", "置く", "おく", "為る", "願う", "欲しい", "見る"}
    | {"居る", "終わる", "行く", "成る", "為さる", "助かる", "頼む"}
)


#: Words that request a thing, or after て an action. `_GIVEN`: 「もらった」 is not a request.
_ASKING = frozenset(["呉れる", "下さる", "欲しい", "頂戴", "願う", "頼む", "貸す", "貰う", "頂く"])
_GIVEN = frozenset({"貰う", "頂く"})
#: What may follow a request: 「くれると助かる」「おくように」.
_COURTESY = frozenset(
    ["良い", "ええ", "助かる", "嬉しい", "有り難い", "思う", "よう", "為る", "出来る"]
)

_SAYS = ("動詞", "形容詞", "形状詞", "助動詞")


def asks(sentence: str) -> bool:
    """Whether a Japanese sentence is a request, by its ending: 「取ってきてくれへん？」
    「しまっとけ」「棚に入れておくように」, but not 「取ってくれた」「片付けてない」."""
    every = tokens(_spelt(sentence))
    # 「取ってきて、リモコン」: ignore a trailing clause that is only a name.
    ends = [at for at, t in enumerate(every) if t.pos in _SAYS or t.form == "頂戴"]
    end = next(
        (n for n, t in enumerate(every) if t.form == "、" and n > max(ends, default=0)), None
    )
    found = [t for t in every[:end] if t.pos != "補助記号" and t.detail != "終助詞"]
    if found and found[-1].form == "早い" and found[-1].inflection.startswith("連用形"):
        return True  # 「ティッシュ早く」
    at = next((at for at in range(len(found) - 1, -1, -1) if _is_head(found, at)), None)
    if at is None:
        return False
    head, rest = found[at], found[at + 1 :]
    before = ["", "", *(t.surface for t in found[:at])][-2:]
    if head.form == "為る" and before[1] == "に" and before[0] != "よう":
        return False  # 「いい感じにして」 names no action
    if any(t.form == "た" and t.surface != "たら" for t in rest) or not all(
        t.pos in ("助詞", "助動詞", "副詞") or t.form in _COURTESY for t in rest
    ):
        return False
    if head.form in _GIVEN:
        joined = at > 0 and found[at - 1].surface in ("て", "で")
        return joined or head.lemma.endswith(("える", "ける"))
    last = found[-1]
    if len(found) > 1 and found[-2].form in ("てる", "居る"):
        return False  # 「手がふさがってて」
    requested = head.form in _ASKING or any(t.form == "よう" for t in rest)
    return requested or last.surface in ("て", "で") or last.inflection.startswith("命令形")


def _is_head(found: Sequence[Token], at: int) -> bool:
    """Whether a token is a verb or a requesting word, except the する of 「お願いします」."""
    token = found[at]
    if token.form in ("為る", "出来る"):
        return not (at and found[at - 1].form in _ASKING)
    verb = token.pos == "動詞" and token.form not in _COURTESY
    return verb or token.form in ("頂戴", "欲しい")


def _spelt(sentence: str) -> str:
    """The sentence respelled for Sudachi, without apologies, negated wishes and reasons."""
    said = re.sub(r"(?<=[ぁ-ん])ー+(?=[。！？、]|$)", "", normalise(sentence))
    said = re.sub(r"^(?:すいません|すみません|ごめん(?:なさい|ね)?)が?、?", "", said)
    said = re.sub(r"[^、。]+(?:じゃ|では)なくて、?", "", said)
    said = re.sub(r"(?<=[来きて])、[^、。]+(?:から|ので|けど)(?=[。！]|$)", "", said)
    said = re.sub(
        r"(?<=[しきちりみえけせてねれめげべび])(?:てお|と)き[なや]?(?=[。！、]|$)", "ておいて", said
    )
    return re.sub(r"(?<=[ァ-ヶー一-龠])とって(?=[。！？、]|$|[きくもい])", "取って", said)


@dataclass(frozen=True, slots=True)
class Deed:
    """A requested action. kinds: the verb and its kind, if any; empty without a verb. words: the
    nouns, normalised. places: nouns that name a destination."""

    kinds: frozenset[str]
    words: frozenset[str]
    places: frozenset[str]

    @staticmethod
    def of(sentence: str) -> Deed:
        """The verb, nouns and places of a request, from its last verb (English: imperative)."""
        said = _spelt(sentence)
        deeds, nouns, places = (_japanese if is_japanese(said) else _english)(said)
        return Deed(frozenset(k for deed in deeds for k in _kinds(deed, nouns)), nouns, places)

    def without_verb(self) -> frozenset[str]:
        """The kind of a request without a verb: 「冷蔵庫へお願い」, 「レモンお願い」."""
        return frozenset(_kinds("入れる", self.words) if self.places else {"bring"})


_Words = frozenset[str]


def _english(said: str) -> tuple[list[str], _Words, _Words]:
    """The verb, other words and place of an English imperative."""
    held = lemmas(said.lower())
    to = re.search(r"\b(?:in|into|on|onto|to)(?: the| a| my)? ([a-z]+)", said.lower())
    places = frozenset(lemmas(to[1])) if to else frozenset()
    return list(held[:1]), frozenset(held[1:]) - SMALL, places


def _japanese(said: str) -> tuple[list[str], _Words, _Words]:
    """The verbs, nouns and places of a Japanese sentence."""
    found = tokens(said)
    nouns = frozenset(t.form for t in found if t.pos == "名詞" and t.form not in _KIND_OF)
    deeds = _deeds(found)
    if deeds[:1] == ["冷やす"]:
        nouns |= {"冷蔵"}
    return deeds, nouns, frozenset(_place_nouns(found))


def _place_nouns(found: Sequence[Token]) -> Iterator[str]:
    """The nouns before に or へ."""
    run: list[str] = []
    for token in found:
        if token.pos in ("名詞", "接尾辞"):
            run.append(token.form)
            continue
        if token.surface in ("に", "へ"):
            yield from run
        run = []


def _deeds(found: Sequence[Token]) -> list[str]:
    """The last verb of a sentence, or noun used as a verb with する or お願い, and a verb joined to
    it by て."""
    for at in range(len(found) - 1, -1, -1):
        token = found[at]
        if token.form == "頂戴" and at and found[at - 1].surface in ("て", "で"):
            continue  # 「戻してちょうだい」
        verb = token.pos == "動詞" and token.form not in _HELPERS
        # 「宅配の荷物」 is not a delivery.
        named = found[at + 1 : at + 2] and found[at + 1].surface == "の"
        if verb or token.form in _KIND_OF or (token.kind == "サ変可能" and not named):
            after = [t.form for t in found[at + 1 : at + 3]]
            if token.form == "持つ" and ("てく" in after or "行く" in after):
                return ["片付ける"]  # 「流しに持っていって」
            joined = at >= 2 and found[at - 1].surface == "て" and found[at - 2].pos == "動詞"
            return [token.form, *([found[at - 2].form] if joined else [])]
    return []


def _kinds(deed: str, nouns: frozenset[str]) -> set[str]:
    if deed in _PUT:
        return {next((kind for place, kind in _PLACES.items() if place in nouns), "away")}
    return {deed, _KIND_OF[deed]} if deed in _KIND_OF else {deed}
