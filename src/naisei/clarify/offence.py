"""Questions that the task forbids: presence of things, and the wanted action outright.

The paper (§3.2, Figure 5) forbids both. What counts here:

* presence: whether a thing is there, where it is, or what there is in a place.
* outright: which action or which thing is wanted (「何を持ってくればいいですか」), or whether one
  of the candidates is, its object named together with fetching, needing or putting away.

Questions about states (「中身は空ですか」), feelings, purposes and kinds are fair, and so is a
bare way of helping with no object named (「片付けてほしいということですか」).
"""

from __future__ import annotations

import re
from functools import lru_cache

from naisei.clarify.schemas import ActionSet, Offence
from naisei.japanese.english import words
from naisei.japanese.morph import Token, tokens
from naisei.japanese.normal import is_japanese, normalise
from naisei.japanese.questions import Question, parse

__all__ = ["objects", "offence"]

#: What can be there without being a thing.
_ABSTRACT = frozenset(
    "事 こと 物 もの 気 気分 予定 用事 用 時間 食欲 疲れ 熱 興味 関心 理由 訳 都合 つもり 希望 要望 "
    "必要 悩み 困り事 問題 不安 心配 不満 不便 体調 痛み 眠気 余裕 元気 やる気 意味 目的 計画 経験 "
    "記憶 関係 関連 違い 違和感 きっかけ 可能性 状況 様子 感じ 約束 仕事 作業 所 ところ 場所 点 部分 "
    "残り 充電 電池 残量 味 好み 空腹感 渇き 汚れ 匂い 番組 機会 空き スペース 方 何 何か どれ 誰 "
    "アイデア 心当たり 当て 順番 差 変化 影響 抵抗 こだわり 思い出 考え 相談 質問 お願い 願い 依頼".split()
)
_PLACE_OF = re.compile(
    r"(?:場所|ありか|在り処|置き場所?)(?:は|を|が|って)(?:どこ|どちら|教え|分か|わか|ご存)"
)
_WHERE_IS = re.compile(
    r"(?:どこ|どちら|どの(?:辺|へん|あたり|棚|部屋))(?:に|へ|の(?:辺|へん|あたり)に)?"
    r"(?:(?:あ(?:る|り)|ござい|い(?:る|ます)|置|入っ|しま(?:って|い|った)|仕舞|残っ|見)|(?:です|でしょう|だ)?(?:っけ|か|かな)?？)"
)
_NOT_A_THING = re.compile(
    r"(?:痛|具合|問題|原因|違和感|疲れ|汚れ|散らか|気になる|に行|へ行|出かけ|お住|使|食べ|飲み|すっきり|しまいたい)"
)
_WHAT_IS_IN = re.compile(
    r"(?:に|には|の中に|の上に)(?:は)?、?(?:何|なに)が(?:あ(?:る|り)|入っ|置|残っ|見え)"
)
_THERE_IS = re.compile(
    r"(?:は|が|って|も|、)?(?:まだ|もう|ちゃんと|たくさん|いくつ|何(?:個|本|枚))?(?:まだ|もう)?"
    r"(?:あ(?:る|り(?:ます|ません)|った|ったっけ)|ござい|見当た|見え(?:る|ます)|見つか|置いて(?:あ|い)|"
    r"入って(?:い|ま)|残って(?:い|る|た|ま)|切れて(?:い|ま)|揃って|届い(?:て|た))"
)
_OWN_ACT = re.compile(
    r"(?:何|なに|どれ|どちら|どっち|いくつ)(?:を|から)?(?:(?:お)?(?:すれ|したら|しましょう|手伝)|いたしましょう|致しましょう)|"
    r"(?:何|なに|なん|どう|どのよう(?:に|な(?:こと|行動|手助け|手伝い|サポート)を)|どんな(?:こと|行動|手助け|手伝い|サポート)を)"
    r"(?:を)?(?:私に)?(?:(?:お)?手伝(?:い|って)?)?(?:し|やっ)?て(?:ほし|欲し|もらい|もらえ|いただ|くれ)|"
    r"(?:何|なに|どう|どのように|どんな(?:こと|行動)を)(?:を)?(?:すれば|したら|すると|するのが|やれば)(?:よ|い|助|嬉|うれ|満|最)|"
    r"(?:何|なに)を(?:お)?(?:手伝|やりましょう|望|希望|お望|求め|頼)"
)
_WANTED_WORDS = re.compile(
    r"(?:どの|どんな|何番の?|正しい|正解の?|望む|望んでいる|必要な|具体的な)(?:行動|アクション|動作|選択肢)|"
    r"(?:行動|選択肢)(?:は|の)?(?:何番|どれ|どの)|正解は|"
    r"(?:本当|ほんとう|本心|真)の?(?:望み|意図|願い|要望|目的の行動|ニーズ)は(?:何|なん|どう)|"
    r"(?:ご)?(?:要望|希望|依頼|お願い|望み)(?:は|って)(?:何|なん|具体)"
)
_WHAT_TO = re.compile(
    r"(?:何|なに|どれ|どの[^、。？]{1,8}|どちら|どっち|どこの[^、。？]{1,8}|どんな(?:物|もの))(?:を|から)"
    r"(?:[^、。？]{0,6})?(?:持って(?:き|来|く)|取って(?:き|来|く)|お持ち|運|渡|用意|準備し(?:ま|たら|て(?:ほ|欲))|"
    r"片(?:付|づ)け(?:れば|たら|て(?:ほし|欲し|もら|いただ)|ましょ)|しま(?:えば|ったら|って(?:ほし|欲し)|いましょ)|"
    r"捨て(?:れば|たら|て(?:ほし|欲し)|ましょ)|戻(?:せば|したら|して(?:ほし|欲し)|しましょ)|"
    r"温め(?:れば|たら|て(?:ほし|欲し)|ましょ)|冷蔵庫に(?:入れ|しま)|入れ(?:れば|たら|て(?:ほし|欲し)|ましょ))"
)
_WHAT_NEEDED = re.compile(
    r"(?:何|なに|どれ|どちら|どっち|どの(?!よう)[^、。？]{1,8})(?:が|を)(?:一番|いちばん|今|いま)?"
    r"(?:必要(?:です|な|でしょう|？|と)|欲しい|ほしい|入用|要り|いりま|要る|お望|お求め|お探し)"
)
#: What one does to the object of a candidate, with which naming it is asking outright.
_DEED = re.compile(
    r"持って(?:き|来|く|い)|取って(?:き|来|く)|取りに行|取りに|受け取って|お持ち(?:し|いた|する)|運(?:ん|び|ぶ)|渡(?:し|す)|届け(?:ま|て(?:ほ|欲))|お取り|"
    r"用意(?:し|いた)|準備(?:し(?:ま|て(?:ほし|欲し))|いた)|必要|欲し(?:い|く)|(?:が|は|を)ほしい|要り(?:ます)|いりますか|いる？|入用|"
    r"片(?:付|づ)け|しま(?:い|って|う|え|った)|仕舞|戻(?:し|す|せ|そ)|収納|入れ(?:ま|て(?:ほし|欲し|お|も|く)|る|よ|たい|た(?:ほう|方))|"
    r"捨て|処分|温め(?:ま|て(?:ほし|欲し|お|も|く)|る|よ)|どけ(?:ま|て)"
)
_STATE = re.compile(r"(?:使(?:い|う|っ)|飲み?|食べ?|見)(?:終わ|終え|たあと|た後|かけ)")

_EN_PRESENCE = re.compile(
    r"\b(?:is|are|was|were) there (?:a|an|any|some|the|still|enough)?\b|\bwhere(?:'s| is| are| did| do| can i find)\b|"
    r"\b(?:do|did) you (?:still )?(?:have|own|keep|see) (?:a|an|any|some|the)\b|"
    r"\bis the [a-z ]+ (?:in|on|at|under|inside) the\b|\bwhat(?:'s| is| are) (?:in|on) the\b"
)
_EN_ABSTRACT = re.compile(
    r"\b(?:anything|something|nothing|plan|plans|mess|reason|problem|time|trouble|appetite|preference|"
    r"one (?:in particular|specific)|on your mind|bothering|planning|headed|hurt|idea|pain|feeling|need|way)\b"
)
_EN_OUTRIGHT = re.compile(
    r"\bwhat (?:would|do|can|should|could|may|shall|did) (?:you|i) (?:like|want|need|wish|expect)?\s*(?:me )?(?:to )?"
    r"(?:do for you|me to|bring|fetch|get|put|tidy|take|do\b(?! you))|\bwhat (?:would|do) you (?:like|want|need) me\b|"
    r"\bwhat (?:can|should|shall|could) i (?:do|bring|get|fetch|put|help)|\bwhat do you (?:need|want)\s*\?|"
    r"\bwhich (?:item|thing|object|action|one|of)\b|\bwhat (?:item|action|object)\b|\bwhat exactly do you (?:need|want)"
)
_EN_DEED = frozenset(
    "bring fetch get hand take put tidy clean store stow return need want place throw discard toss heat "
    "warm move clear grab pass".split()
)


def objects(text: str) -> tuple[str, ...]:
    """The things an action's text names: 「タッパーをレンジに入れる」 → ("タッパー",)."""
    head, mark, _ = normalise(text).partition("を")
    return (head,) if mark else ()


@lru_cache(maxsize=64)
def _named(actions: ActionSet) -> tuple[str, ...]:
    found: set[str] = set()
    for action in actions:
        for name in objects(action.text):
            found.update({name, *_short(name)})
    return tuple(sorted(found, key=len, reverse=True))


def _short(name: str) -> set[str]:
    """Everyday short forms: ティッシュ箱 → ティッシュ, サランラップ → ラップ."""
    short = set()
    if name.endswith("箱") and len(name) > 3:
        short.add(name[:-1])
    if name.startswith("サラン"):
        short.add(name[3:])
    if name == "ゴミ":
        short.add("ごみ")
    if name == "スマホ":
        short |= {"携帯", "スマートフォン"}
    if name == "充電ケーブル":
        short |= {"充電器", "ケーブル"}
    if name == "宅配便":
        short |= {"荷物", "宅配"}
    return short


def offence(question: str, actions: ActionSet) -> Offence | None:
    """What rule a question breaks, if any. Never raises.

    >>> from naisei.clarify.schemas import Action, ActionSet
    >>> some = ActionSet(name="s", actions=(Action(id=1, text="コップを持ってくる"),))
    >>> offence("コップはありますか？", some), offence("のどが渇いていますか？", some)
    ('presence', None)
    """
    parsed = parse(question)
    if not parsed.japanese:
        return _english(parsed, actions)
    text = parsed.text
    names = _named(actions)
    if _outright(text, parsed, names):
        return "outright"
    return "presence" if _presence(text, names) else None


def _outright(text: str, parsed: Question, names: tuple[str, ...]) -> bool:
    if any(p.search(text) for p in (_OWN_ACT, _WANTED_WORDS, _WHAT_TO, _WHAT_NEEDED)):
        return True
    named = next((n for n in names if n in text), "")
    if not named:
        return False
    after = text[text.index(named) + len(named) :]
    # 「コップを使ったあとですか」 tells of a state; 「冷蔵庫に何か…」 names no candidate's object.
    return bool(_DEED.search(after)) and not _STATE.search(after)


def _presence(text: str, names: tuple[str, ...]) -> bool:
    if _PLACE_OF.search(text) or _WHAT_IS_IN.search(text):
        return True
    if (found := _WHERE_IS.search(text)) and not _NOT_A_THING.search(text):
        return bool(found)
    if re.search(r"どこに[^、。？]{0,8}(?:置|しま)(?:い|っ|き)", text) and not re.search(
        r"(?:置き|しまい)たい", text
    ):
        return True
    there = _THERE_IS.search(text)
    if not there:
        return False
    return _thing_before(tokens(text), there.start(), names)


def _thing_before(found: tuple[Token, ...], at: int, names: tuple[str, ...]) -> bool:
    """Whether what 「ある」 is said of, the noun before the particle, is a concrete thing."""
    head: Token | None = None
    for i, token in enumerate(found):
        if token.end > at + 1:
            break
        after = found[i + 1] if i + 1 < len(found) else None
        if token.pos in ("名詞", "代名詞", "接尾辞") and after is not None:
            if after.surface in ("は", "が", "って", "も", "、") or after.lemma in ("有る", "ある"):
                head = token
    if head is None:
        return False
    if head.form in _ABSTRACT or head.lemma in _ABSTRACT or head.surface in _ABSTRACT:
        return False
    # A thing: a candidate's object, or any noun that names no quality or doing.
    whole = "".join(t.surface for t in found)
    if any(n in whole and whole.index(n) < head.end for n in names):
        return True
    return head.pos == "名詞" and head.detail in ("普通名詞", "固有名詞")


def _english(parsed: Question, actions: ActionSet) -> Offence | None:
    text = parsed.text.lower()
    if _EN_OUTRIGHT.search(text):
        return "outright"
    found = set(words(text))
    for name in _english_objects(actions):
        parts = set(words(name))
        if parts and parts <= found and found & _EN_DEED and "use" not in found:
            return "outright"
    if _EN_PRESENCE.search(text) and not _EN_ABSTRACT.search(text):
        return "presence"
    return None


_EN_NAMES = {
    "バナナ": ("banana",),
    "充電ケーブル": ("charging cable", "charger"),
    "コップ": ("cup", "mug"),
    "ケチャップ": ("ketchup",),
    "宅配便": ("parcel", "package", "delivery"),
    "ペットボトル": ("bottle",),
    "リモコン": ("remote",),
    "スマホ": ("phone", "smartphone"),
    "お菓子": ("snack", "sweet"),
    "ティッシュ箱": ("tissue",),
    "ミニカー": ("toy car",),
    "ゴミ": ("trash", "garbage", "rubbish"),
    "缶切り": ("can opener", "tin opener"),
    "クッキングシート": ("baking paper", "parchment"),
    "グラス": ("glass",),
    "おろし器": ("grater",),
    "キッチンペーパー": ("kitchen paper", "paper towel"),
    "レモン": ("lemon",),
    "オリーブオイル": ("olive oil",),
    "じゃがいも": ("potato",),
    "サランラップ": ("wrap", "cling film"),
    "水筒": ("flask", "thermos"),
    "タッパー": ("container", "tupperware"),
}
_EN_VERB = re.compile(
    r"^(?:bring|fetch|put|tidy|store|throw|heat|get|clear|take)\b(?: away| up)?(?: me)?(?: the| a| an)? "
)


@lru_cache(maxsize=64)
def _english_objects(actions: ActionSet) -> tuple[str, ...]:
    """Names for an English question: from English action texts, or for the 40 Japanese ones."""
    found: list[str] = []
    for action in actions:
        if is_japanese(action.text):
            found += [n for o in objects(action.text) for n in _EN_NAMES.get(o, ())]
        else:
            rest = _EN_VERB.sub("", action.text.lower())
            found.append(re.split(r"\b(?:away|in|on|into|to|back)\b", rest)[0].strip())
    return tuple(dict.fromkeys(found))
