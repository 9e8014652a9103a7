"""Detects forbidden questions: about the presence of things, or the wanted action outright.

The paper (§3.2, Figure 5) forbids both. Definitions:

* presence: whether a thing is there, where it is, or what a place contains.
* outright: which action or thing is wanted (「何を持ってくればいいですか」), or whether a certain
  candidate is, i.e. its object is named together with fetching, needing or putting away.

Questions about states (「中身は空ですか」), feelings, purposes and kinds are fair, and so are
questions about a kind of help without an object (「片付けてほしいということですか」).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from naisei.clarify.schemas import ActionSet, Offence
from naisei.clarify.things import names_of, objects
from naisei.japanese.morph import Token, is_japanese, tokens
from naisei.japanese.questions import parse, words

_NOT_THING_WORDS = (
    "事 こと 物 もの 気 気分 予定 用事 用 時間 食欲 疲れ 熱 興味 関心 理由 訳 都合 つもり "
    "希望 要望 必要 悩み 困り事 問題 不安 心配 不満 不便 体調 痛み 眠気 余裕 元気 やる気 "
    "意味 目的 計画 経験 記憶 関係 関連 違い 違和感 きっかけ 可能性 状況 様子 感じ 約束 "
    "仕事 作業 所 ところ 場所 点 部分 残り 充電 電池 残量 味 好み 空腹感 渇き 汚れ 匂い "
    "番組 機会 空き スペース 方 何 何か どれ 誰 アイデア 心当たり 当て 順番 差 変化 影響 "
    "会議 打ち合わせ 授業 試験 面接 行事 集まり 来客 連絡 返事 "
    "抵抗 こだわり 思い出 考え 相談 質問 お願い 願い 依頼 中身 飲み残し 食べ残し "
)
#: Nouns that can follow "there is" but are not things.
_NOT_THINGS = frozenset(_NOT_THING_WORDS.split())

_WHAT = r"(?:何|なに|なん|どれ|どちら|どっち)"
_HELP = r"(?:こと|行動|手助け|手伝い|サポート)"
_WISHED = r"て(?:ほし|欲し|もらい|もらえ|いただ|くれ)"

#: Asks which action is wanted.
_DEED_ASKED = (
    rf"{_WHAT}(?:を|から)?(?:(?:お)?(?:すれ|したら|しましょう|手伝)|(?:いた|致)しましょう)",
    rf"(?:{_WHAT}|どう|どのよう(?:に|な{_HELP}を)|どんな{_HELP}を)(?:を)?(?:私に)?"
    rf"(?:(?:お)?手伝(?:い|って)?)?(?:し|やっ)?{_WISHED}",
    rf"(?:{_WHAT}|どう|どのように|どんな{_HELP}を)(?:を)?(?:すれば|したら|すると|するのが|やれば)"
    r"(?:よ|い|助|嬉|うれ|満|最)",
    rf"{_WHAT}を(?:お)?(?:手伝|やりましょう|望|希望|求め|頼)",
    r"(?:どの|どんな|何番の?|正しい|正解の?|望む|望んでいる|必要な|具体的な)"
    r"(?:行動|アクション|動作|選択肢)",
    r"(?:行動|選択肢)(?:は|の)?(?:何番|どれ|どの)|正解は",
    r"(?:本当|ほんとう|本心|真)の?(?:望み|意図|願い|要望|ニーズ)は(?:何|なん|どう)",
    r"(?:要望|希望|依頼|お願い|望み|ご用|ご用件)(?:は|って)(?:何|なん|具体)",
    rf"(?:できる|手伝える|お役に立てる|して(?:ほ|欲)しい|してもらいたい|するべき|すべき){_HELP}"
    r"(?:は|って)(?:何|なん|どんな|どの)",
)
#: Asks which thing is wanted.
_THING_ASKED = (
    r"(?:何|なに|どれ|どの[^、。？]{1,8}|どちら|どっち|どこの[^、。？]{1,8})(?:を|から)[^、。？]{0,6}?"
    r"(?:持って(?:き|来|く|い)|取って(?:き|来|く)|お持ち|運|渡|用意|準備し(?:ま|たら|て(?:ほ|欲))|"
    r"片(?:付|づ)け(?:れば|たら|ましょ)|しま(?:えば|ったら|いましょ)|捨て(?:れば|たら|ましょ)|"
    r"戻(?:せば|したら|しましょ)|温め(?:れば|たら|ましょ)|冷蔵庫に(?:入れ|しま)|"
    rf"入れ(?:れば|たら|ましょ)|(?:片付け|片づけ|しまっ|捨て|戻し|温め|入れ){_WISHED})",
    rf"(?:{_WHAT}|どの(?!よう)[^、。？]{{1,8}})(?:が|を)(?:一番|いちばん|今|いま)?"
    r"(?:必要(?:です|な|でしょう|？|と)|欲し|ほし|入用|要り|いりま|要る|お望|お求め|お探し)",
    r"(?:必要な|欲しい|ほしい|入用な|要る|お求めの|お探しの|お望みの|望む|てもらいたい|て欲しい|てほしい)"
    r"(?:もの|物|こと|の)(?:は|って)、?(?:何|なん|どれ|どちら|どっち|具体)",
)
_OUTRIGHT_JA = tuple(re.compile(p) for p in (*_DEED_ASKED, *_THING_ASKED))
#: Verbs that, with a candidate's object, make a question outright.
_DEED_JA = re.compile(
    r"持って(?:き|来|く|い)|取って(?:き|来|く)|取りに|受け取って|お持ち(?:し|いた|する)|運(?:ん|び|ぶ)|"
    r"渡(?:し|す)|届け(?:ま|て(?:ほ|欲))|お取り|(?:用意|準備)(?:いた|し(?:ま|て(?:ほし|欲し|お|も|い)))|"
    r"(?:が|は|も|って)(?:今|いま|すぐ)?必要|欲し(?:い|く)|(?:が|は|を)ほしい|要り(?:ます)|いりますか|いる？|入用|片(?:付|づ)け|"
    r"しま(?:い|って|う|え|った)|仕舞|戻(?:し|す|せ|そ)|収納|捨て|処分|どけ(?:ま|て)|"
    r"入れ(?:ま|て(?:ほし|欲し|お|も|く)|る|よ|たい|た(?:ほう|方))|温め(?:ま|て(?:ほし|欲し|お|も|く)|る|よ)"
)
#: 「コップを使ったあとですか」 asks about a state.
_STATE = re.compile(r"(?:使(?:い|う|っ)|飲み?|食べ?|見)(?:終わ|終え|たあと|た後|かけ)")
_AUXILIARY = re.compile(r"てしま(?:い|っ|う|え)|でしま(?:い|っ|う|え)")

_PLACE_OF = re.compile(
    r"(?:場所|ありか|在り処|置き場所?)(?:は|を|が|って)(?:どこ|どちら|教え|分か|わか|ご存)"
)
_WHERE_IS = re.compile(
    r"(?:どこ|どちら|どの(?:辺|へん|あたり|棚|部屋))(?:に|へ|の(?:辺|へん|あたり)に)?"
    r"(?:(?:あ(?:る|り)|ござい|い(?:る|ます)|置|入っ|しま(?:って|い|った)|仕舞|残っ|見)|"
    r"(?:です|でしょう|だ)?(?:っけ|か|かな)?？)"
)
_NOT_A_THING = re.compile(
    r"痛|具合|問題|原因|違和感|疲れ|汚れ|散らか|気になる|に行|へ行|出かけ|お住|使|食べ|飲み|すっきり|"
    r"(?:しまい|置き)たい"
)
_WHERE_PUT = re.compile(r"どこに[^、。？]{0,8}(?:置|しま)(?:い|っ|き)")
_WHAT_IS_IN = re.compile(
    r"(?:に|には|の中に|の上に)(?:は)?、?(?:何|なに)が(?:あ(?:る|り)|入っ|置|残っ|見え)"
)
_THERE_IS = re.compile(
    r"あ(?:る|り(?:ます|ません)|った)|ござい|見当た|見え(?:る|ます)|見つか|置いて(?:あ|い|る|ま)|"
    r"入って(?:い|ま|る)|残って(?:い|る|た|ま)|切れて(?:い|ま|る)|揃って|届い(?:て|た)|余って(?:い|る|ま)"
)
_PARTICLES = frozenset({"は", "が", "って", "も", "、", "なら"})


def asks_outright(text: str, names: Sequence[str]) -> bool:
    """Whether a normalised question asks for the wanted action or thing.

    names: the objects of the candidate actions, longest first.
    """
    if any(p.search(text) for p in _OUTRIGHT_JA):
        return True
    named = next((n for n in names if n in text), "")
    if not named:
        return False
    after = _AUXILIARY.sub("", text[text.index(named) + len(named) :])
    return bool(_DEED_JA.search(after)) and not _STATE.search(after)


def asks_presence(text: str, names: Sequence[str]) -> bool:
    """Whether a normalised question asks if or where a thing is, or what is in a place."""
    if _PLACE_OF.search(text) or _WHAT_IS_IN.search(text):
        return True
    if (_WHERE_IS.search(text) or _WHERE_PUT.search(text)) and not _NOT_A_THING.search(text):
        return True
    found = tokens(text)
    return any(
        _thing_before(found, there.start(), names) and not _attributive(found, there.end())
        for there in _THERE_IS.finditer(text)
    )


def _attributive(found: tuple[Token, ...], at: int) -> bool:
    """Whether a noun follows: 「こくのある味」「届いた箱」 presuppose presence."""
    after = next((t for t in found if t.start >= at), None)
    return after is not None and after.pos == "名詞" and after.form not in _NOT_THINGS


def _thing_before(found: tuple[Token, ...], at: int, names: Sequence[str]) -> bool:
    """Whether the subject of 「ある」, the noun before the particle, is a concrete thing."""
    head: Token | None = None
    for token, after in pairwise(found):
        if token.end > at:
            break
        noun = token.pos in ("名詞", "代名詞", "接尾辞")
        if noun and (after.surface in _PARTICLES or after.form == "有る"):
            head = token
    if head is None or {head.form, head.lemma, head.surface} & _NOT_THINGS:
        return False
    before = "".join(t.surface for t in found if t.end <= head.end)
    if any(n in before for n in names):
        return True
    return head.pos == "名詞" and head.detail in ("普通名詞", "固有名詞")


_EN_VERB = re.compile(
    r"^(?:bring|fetch|put|tidy|store|throw|heat|get|clear|take)\b(?: away| up)?(?: me)?"
    r"(?: the| a| an| some)? "
)


def broken_rule(question: str, actions: ActionSet) -> Offence | None:
    """The rule that a question breaks, `presence` or `outright`; `None` for a fair one.

    >>> from naisei.clarify.schemas import Action, ActionSet
    >>> some = ActionSet(name="s", actions=(Action(id=1, text="コップを持ってくる"),))
    >>> broken_rule("コップはありますか？", some), broken_rule("のどが渇いていますか？", some)
    ('presence', None)
    """
    parsed = parse(question)
    if parsed.japanese:
        names = _japanese_names(actions)
        if asks_outright(parsed.text, names):
            return "outright"
        # 「AとBのどちらですか」 does not ask for a place.
        asked = parsed.sides or (parsed.text,)
        return "presence" if any(asks_presence(part, names) for part in asked) else None
    if _asks_outright(parsed.text, actions):
        return "outright"
    return "presence" if _asks_presence(parsed.text) else None


@lru_cache(maxsize=64)
def _japanese_names(actions: ActionSet) -> tuple[str, ...]:
    """Names and everyday short forms of the objects, longest first."""
    found = {o for action in actions for o in objects(action.text)}
    found |= {short for name in found for short in names_of(name, "ja")}
    return tuple(sorted(found, key=lambda name: (-len(name), name)))


@lru_cache(maxsize=64)
def _english_names(actions: ActionSet) -> tuple[str, ...]:
    """Names for an English question: from English action texts, or for the 40 Japanese ones."""
    found: list[str] = []
    for action in actions:
        if is_japanese(action.text):
            found += [n for o in objects(action.text) for n in names_of(o, "en")]
        else:
            rest = _EN_VERB.sub("", action.text.lower())
            found.append(re.split(r"\b(?:away|in|on|into|to|back)\b", rest)[0].strip())
    return tuple(dict.fromkeys(found))


_PRESENCE = re.compile(
    r"\b(?:is|are|was|were) there\b|"
    r"\bwhere(?:'s| is| are| did| do| can)\b(?! you (?:go|head|plan|feel|hurt))|"
    r"\bwhere (?:the|my|your) [a-z ]+ (?:is|are)\b|"
    r"\b(?:do|did|can) you (?:still )?(?:have|own|keep|see) (?:a|an|any|some|the)\b|"
    r"\bis the [a-z ]+ (?:in|on|at|under|inside) the\b|\bwhat(?:'s| is| are) (?:in|on) the\b"
)
_GOING = re.compile(r"\bwhere (?:are|do|did|will|would) you\b(?!.*\b(?:put|leave|keep|store)\b)")
_ABSTRACT = re.compile(
    r"\b(?:anything|something|nothing|plans?|mess|reason|problem|time|trouble|appetite|preference|"
    r"on your mind|bothering|planning|headed|hurt|idea|pain|feeling|need|way)\b"
)
_OUTRIGHT = re.compile(
    r"\bwhat (?:would|do|can|could|should|may|shall|did) (?:you|i) "
    r"(?:(?:like|want|need|wish|expect) me\b|(?:like|want|need) (?:to be )?(?:brought|put|tidied)|"
    r"(?:like |want |need )?(?:to )?do for you)|"
    r"\bwhat (?:can|should|shall|could) i\b|"
    r"\bwhat (?:exactly )?do you (?:need|want)(?: now| then)?\?|"
    r"\bwhich (?:item|thing|object|action|one|of)\b|\bwhat (?:item|action|object)\b|"
    r"\bwhat exactly do you (?:need|want)"
)
_DEED_WORDS = (
    "bring fetch get hand take put tidy clean store stow return need want place throw "
    "discard toss heat warm move clear grab pass "
)
_DEED = frozenset(_DEED_WORDS.split())


def _asks_outright(text: str, actions: ActionSet) -> bool:
    """Whether a normalised English question asks for the wanted action or thing."""
    if _OUTRIGHT.search(text.lower()):
        return True
    found = set(words(text))
    if "use" in found or not found & _DEED:
        return False
    return any(
        parts and parts <= found for n in _english_names(actions) if (parts := set(words(n)))
    )


def _asks_presence(text: str) -> bool:
    """Whether a normalised English question asks if or where a thing is."""
    said = text.lower()
    if not _PRESENCE.search(said) or _GOING.search(said):
        return False
    return _ABSTRACT.search(said) is None
