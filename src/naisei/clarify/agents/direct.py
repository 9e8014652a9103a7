"""Requests that are made outright: 「リモコンを取ってきて」 leaves nothing to ask.

What is to be done and with which thing is read from the words of a request and those of the
actions alike, so that anybody's list of actions will do. Verbs that come to the same here
(取ってくる, 出す, ちょうだい) are of one kind; any other verb is a kind of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from naisei.clarify.agents.knowledge import Knowledge
from naisei.clarify.schemas import Turn
from naisei.japanese.answers import understand
from naisei.japanese.morph import Token, is_japanese, lemmas, normalise, tokens

_KINDS = {
    "bring": "持つ 取る 出す 渡す 運ぶ 届ける 用意 準備 貸す 受け取る 頂戴 寄越す "
    "bring fetch get grab pass hand take give",
    "away": "片付ける 片付け 仕舞う 戻す 退ける 下げる 収納 引っ込める "
    "put tidy clear store stow return",
    "discard": "捨てる 処分 throw discard toss bin",
    "heat": "温める 暖める ちん 加熱 heat warm microwave",
}
_KIND_OF = {verb: kind for kind, verbs in _KINDS.items() for verb in lemmas(verbs)}
#: To put something somewhere is what the place makes of it.
_PUT = frozenset(lemmas("入れる、置く、put, place"))
_PLACES = {"レンジ": "heat", "塵箱": "discard", **dict.fromkeys(lemmas("microwave"), "heat")}
_PLACES |= dict.fromkeys(lemmas("bin"), "discard")
_SMALL = frozenset(lemmas("a an the my your me us it on in into to of for back please some about"))
_SMALL |= {"事", "こと", "方", "為る", "だ"}
#: Verbs that only say for whom or how something is done.
_HELPERS = frozenset(
    lemmas(
        "来る、呉れる、下さる、貰う、頂く、置く、為る、願う、欲しい、見る、居る、終わる、行く、成る"
    )
)

_END = (
    r"(?:です|ます|ません|ない|ん|の|だ|けど|けれど|が|も|な|ね|よ|か|かな|かしら|と)*[、。！？]*$"
)
_REQUEST = re.compile(
    rf"(?:(?:て|で)(?:くれ(?:る|ない)?|くれませ|もらえ(?:る|ない)?|もらえま|いただけ(?:る|ない)?|いただけま|"
    rf"ほし(?:い|く)|欲し(?:い|く)|もらって(?:も)?(?:いい|良い)|ください|下さい|ちょうだい|頂戴)|"
    rf"ください|下さい|ちょうだい|頂戴|お願い(?:し(?:たい)?|でき)?|ほしい|欲しい|頼む|頼み|くれ|なさい){_END}|"
    rf"(?:て|で)(?:くれ|もらえ|いただけ)(?:ると|たら|れば)(?:助か|嬉し|うれし|ありがた)[^。]*$|"
    rf"(?:て|で)(?:ね|よ)?[、。！？]*$"
)
_REQUEST_EN = re.compile(
    r"^(?:please |could you |can you |would you |will you |i(?:'d| would) like you to |"
    r"i (?:want|need) you to |go (?:and )?|just |hey,? |okay,? )*"
    r"(?:please )?(?P<deed>[a-z]+)\b(?! (?:was|is|were|are)\b)"
)
#: Without a verb, these ask for a thing.
_GIVE = re.compile(r"ちょうだい|頂戴|ください|下さい|ほしい|欲しい|お願い|くれ")
_FORBIDDEN = re.compile(r"ないで|なくて|\b(?:don't|do not|no need)\b")

_NOTHING = re.compile(
    r"ありがと|サンキュー|感謝|助か(?:った|りました|るなあ|るわ)|おはよう|こんにちは|こんばんは|おやすみ|ただいま|"
    r"(?:行|い)ってきます|(?:お疲れ|おつかれ)(?:さま|様)|はじめまして|初めまして|よろしくね|ごめん|すみません|"
    r"(?:なん|何)でもな|気にしな|(?:何|なに|なん)も(?:いら|要ら|なく|ない|ありま)|取り消|キャンセル|忘れて|"
    r"聞かなかった|独り言|自分で|見つかった|しなくて|手伝わなくて|"
    r"\b(?:thank|thanks|hello|hi|good (?:morning|evening|night|afternoon)|"
    r"never ?mind|no need|forget it|"
    r"nothing|i'm (?:fine|good|all right)|it's (?:fine|all right|okay)|cancel|sorry|bye|see you|"
    r"(?:do|get|take) it myself|found (?:it|the))\b",
    re.IGNORECASE,
)


#: Said of a thing, these may ask to take it away.
_ENOUGH = re.compile(
    r"(?:もう|やっぱり?).{0,4}(?:いい|良い|十分|やめ)|大丈夫|(?:結構|けっこう)です|いらない|要らない|"
    r"\b(?:that's|that is) (?:enough|all)\b|\bno more\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be done, by a request or by an action. kinds: of deed, empty if that is not said.
    things: those that the table names; words: the nouns; places: where something is put."""

    kinds: frozenset[str]
    things: tuple[str, ...]
    words: frozenset[str]
    places: frozenset[str]


class Requests:
    """Reads requests for one set of actions."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._named = {n.lower(): i.object for i in knowledge.items for n in i.names if i.object}
        longest = sorted(self._named, key=len, reverse=True)
        self._names = re.compile(
            "|".join(
                re.escape(n) if is_japanese(n) else rf"\b{re.escape(n)}(?:e?s)?\b" for n in longest
            )
            or "(?!)"
        )
        self._actions = [
            replace(self._parsed(item.text), things=(item.object,) if item.object else ())
            for item in knowledge.items
        ]
        self._kinds = frozenset().union(*(a.kinds for a in self._actions)) | {*_KINDS}
        self._words = frozenset().union(*(a.words for a in self._actions))

    def wanted(self, utterance: str, asked: Sequence[Turn]) -> Wanted | None:
        """What was asked for by now: a word of an answer says which thing was meant."""
        wanted = self.read(utterance)
        for turn in asked:
            if again := self.read(turn.answer):
                wanted = (
                    replace(wanted, kinds=again.kinds) if wanted and not again.things else again
                )
                continue
            said = understand(turn.answer, turn.question).content
            named = self._parsed(said)
            if named.words & self._words and (wanted or self._only_names(said)):
                wanted = replace(named, kinds=wanted.kinds if wanted else frozenset())
        return wanted

    def _only_names(self, text: str) -> bool:
        """Whether a text is a name and no more: 「リモコン」「リモコンのことです」."""
        said = normalise(text).lower()
        for _, start, end in reversed(self._mentions(said)):
            said = said[:start] + said[end:]
        left = {t.form for t in tokens(said) if t.content} if is_japanese(text) else {*lemmas(said)}
        return left <= self._words | _SMALL

    def read(self, text: str) -> Wanted | None:
        """What a text asks for outright; `None` where it only remarks on something."""
        said = normalise(text)
        for sentence in reversed(re.split(r"(?<=[。！？.!?])\s*", said)):
            if _FORBIDDEN.search(sentence):
                continue
            if is_japanese(said):
                found = _REQUEST.search(sentence)
                wanted = self._parsed(sentence) if found else None
                if wanted and not wanted.kinds and _GIVE.search(sentence):
                    wanted = replace(wanted, kinds=frozenset({"bring"}))
            else:
                found = _REQUEST_EN.match(sentence.lower())
                wanted = self._parsed(sentence[found.start("deed") :]) if found else None
            if wanted and wanted.kinds & self._kinds:
                return wanted
        return None

    def fitting(self, wanted: Wanted) -> list[int]:
        """The indices of the actions that do just that, those that say most of it; empty if none
        does or no thing is named."""
        fits = {i: self._shared(action, wanted) for i, action in enumerate(self._actions)}
        most = max(fits.values())
        return [i for i, shared in fits.items() if shared == most > 0]

    def about(self, text: str) -> list[int]:
        """The indices of the actions on a thing that a text names."""
        named = {thing for thing, _, _ in self._mentions(normalise(text).lower())}
        return [i for i, a in enumerate(self._actions) if named & {*a.things}]

    def of_kind(self, wanted: Wanted) -> list[int]:
        """The indices of the actions of such a deed, whatever the thing."""
        return [i for i, a in enumerate(self._actions) if a.kinds & wanted.kinds]

    def _shared(self, action: Wanted, wanted: Wanted) -> float:
        """How much of an action is said: 0 if it is another deed or another thing."""
        elsewhere = (wanted.places & self._words) - action.words
        if (wanted.kinds and not action.kinds & wanted.kinds) or elsewhere:
            return 0.0
        if action.things:
            own = action.words - action.places
            named = action.things[0] in wanted.things or own <= wanted.words
        else:
            named = bool((action.words - action.places) & wanted.words)
        said = len(action.words & wanted.words) + 2.0 * len(action.kinds & wanted.kinds)
        return named * (said - 0.1 * len(action.words - wanted.words))

    def _mentions(self, said: str) -> list[tuple[str, int, int]]:
        """The things of the table that a text names, each with where its name begins and ends."""
        found = []
        for m in self._names.finditer(said):
            name = next(n for n in (m[0], m[0][:-1], m[0][:-2]) if n in self._named)
            found.append((self._named[name], *m.span()))
        return found

    def asks_nothing(self, text: str) -> bool:
        """Whether somebody thanks, greets, or takes back what they said, and asks for nothing."""
        said = normalise(text)
        enough = _ENOUGH.search(said) and not self._mentions(said.lower())
        return bool(_NOTHING.search(said) or enough)

    def _parsed(self, text: str) -> Wanted:
        """The last deed of a sentence, and the things and nouns in it by any of their names."""
        said = normalise(text)
        named = self._mentions(said.lower())
        # 「スマホの充電ケーブル」 is no phone.
        things = [
            thing
            for at, (thing, _, end) in enumerate(named)
            if not (said[end : end + 1] == "の" and named[at + 1 :] and named[at + 1][1] == end + 1)
        ]
        deeds, nouns, places = (_japanese if is_japanese(said) else _english)(said)
        kinds = frozenset(k for deed in deeds for k in _kinds(deed, nouns))
        return Wanted(kinds, tuple(things), nouns, places)


_Words = frozenset[str]


def _english(said: str) -> tuple[list[str], _Words, _Words]:
    """The deed, the other words, and the place of an imperative."""
    held = lemmas(said.lower())
    to = re.search(r"\b(?:in|into|on|onto|to)(?: the| a| my)? ([a-z]+)", said.lower())
    places = frozenset(lemmas(to[1])) if to else frozenset()
    return list(held[:1]), frozenset(held[1:]) - _SMALL, places


def _japanese(said: str) -> tuple[list[str], _Words, _Words]:
    """The deeds, the nouns, and the places of a sentence."""
    found = tokens(said)
    nouns = frozenset(t.form for t in found if t.pos == "名詞" and t.form not in _KIND_OF)
    return _deeds(found), nouns, frozenset(_places(found))


def _places(found: Sequence[Token]) -> Iterator[str]:
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
    """The last verb of a sentence, or noun that makes one with する or お願い, and one that is
    joined to it by て."""
    for at in range(len(found) - 1, -1, -1):
        token = found[at]
        verb = token.pos == "動詞" and token.form not in _HELPERS
        if verb or token.form in _KIND_OF or token.kind == "サ変可能":
            joined = at >= 2 and found[at - 1].surface == "て" and found[at - 2].pos == "動詞"
            return [token.form, *([found[at - 2].form] if joined else [])]
    return []


def _kinds(deed: str, nouns: frozenset[str]) -> set[str]:
    if deed in _PUT:
        return {next((kind for place, kind in _PLACES.items() if place in nouns), "away")}
    return {deed, _KIND_OF[deed]} if deed in _KIND_OF else {deed}
