"""Learnt scores of a line: a life apart, the wrong elder, praise of the hearer, turned negation.

Each fault has one linear score. Three of them read a line as word pieces: a piece counts by
its vector (`fast_embedder`), so that a word that was in no training line counts as its like
do, and pieces and pairs that the training lines held count once more by themselves. A turned
negation is no matter of words: its score reads runs of characters and the order of negated
and plain clauses. Names are replaced by who bears them, and brothers by sisters, so that what
was learnt of one pair holds for others. The weights and how well they do:
`naisei/data/fault_weights`; they are made by `tools/fault_weights.py`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import pairwise, repeat
from operator import add
from typing import Literal

from naisei.japanese.folding import FILLER
from naisei.plugins import needs_extra

#: `home`: the two live apart. `younger`, `elder`: the speaker is the younger, the elder one.
Fault = Literal["home", "younger", "elder", "praise", "negation"]
FAULTS: tuple[Fault, ...] = ("home", "younger", "elder", "praise", "negation")
#: What stands for the partner and for the speaker; characters of no text.
_PARTNER, _SELF = "\ue001", "\ue002"
#: How much all counted features of a line weigh together, by their kind.
PIECE_SHARE, CLAUSE_SHARE = 3.0, 4.0
#: Added to the number of a line's features: a short line shall not decide by one of them.
_STEADY = 4
#: Sentences are scored together until they have so many characters.
_STRETCH = 30


@lru_cache(maxsize=64)
def _called(names: tuple[str, ...]) -> re.Pattern[str]:
    """The partner called by name, which says nothing of them."""
    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or r"(?!)"
    return re.compile(
        rf"(?:(?<=[。！？…、\s])|\A)(?:{known})(?:さん|様|ちゃん)?[〜ー]?(?:、|(?=[。！？…\s])|\Z)"
    )


def normalised(masked: str, own: tuple[str, ...], partner: tuple[str, ...]) -> str:
    """A folded line with quotations masked, calls left out, names and kinship made alike."""
    if FILLER in masked:
        masked = masked.replace(FILLER, "")
    if any(name in masked for name in partner):
        masked = _called(partner).sub("", masked)
    # What is said twice over is said once.
    if len(set(zip(masked, masked[1:], masked[2:], strict=False))) < len(masked) - 2:
        masked = _TWICE.sub(r"\1", masked)
    for names, sign in ((partner, _PARTNER), (own, _SELF)):
        for name in names:  # the longest first
            masked = masked.replace(name, sign)
    for old, new in _ALIKE:
        masked = masked.replace(old, new)
    return masked


_TWICE = re.compile(r"(.{3,12}?)[、。！]?\1")
#: A sister of others is somebody else; the rest is said of brothers and of every self alike.
_ALIKE = (
    ("兄", "姉"),
    ("弟", "妹"),
    ("のお姉さん", "の人"),
    ("あたし", "私"),
    ("わたし", "私"),
    ("俺", "私"),
    ("僕", "私"),
)


class Cutter:
    """Cuts a text into the longest known pieces from the left; what is unknown by characters."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        sizes: dict[str, set[int]] = {}
        for piece in self._known:
            sizes.setdefault(piece[:2], set()).add(len(piece))
        self._sizes = {start: sorted(found, reverse=True) for start, found in sizes.items()}

    def __call__(self, text: str) -> list[str]:
        known, sizes = self._known, self._sizes
        found, at, end = [], 0, len(text)
        while at < end:
            for size in sizes.get(text[at : at + 2], ()):
                piece = text[at : at + size]
                if piece in known:
                    break
            else:
                piece = text[at]
            found.append(piece)
            at += len(piece)
        return found


def pairs(cut: Sequence[str]) -> set[str]:
    """The pieces of a line, and its pairs of neighbours."""
    return {*cut, *map(add, cut, cut[1:])}


_HOME = re.compile(
    r"家|うち|んち|宅|住|暮|部屋|一人|ひとり|独り|帰|実家|地元|"
    r"会[ういえっお]|お会い|再会|電話|通話|電波|そっち|そちら|こっち|こちら|"
    r"駅|電車|新幹線|バスで|町|街|[区県市]|引っ?越|大家|鍵|泊|"
    r"寄[っらりる]|訪|遊びに|来て|来た|来る|ぶり|離れ|遠|別|届|送|荷物|"
    r"連絡|メール|LINE|ライン|声|留守|隣|近所|迎え|玄関|誰も|生活|ルーム|"
    r"アパート|マンション|寮|下宿|親元|上京|お邪魔|伺|上がって|客|手土産|"
    r"切るね|また来週|方面|地域|地方|いらっしゃ|以来|"
    r"出て(?:って|行って|から)|おじゃま|冷蔵庫|独居|お盆|盆と|顔を|契約"
)
_KIN = re.compile(
    r"[姉兄妹弟]|生まれ|産まれ|年上|年下|下の|上の|先に|歳|いとこ|双子|きょうだい|"
    r"長女|次女|末っ子|お下がり|おさがり|小さい|赤ちゃん|おむつ|子守|抱っこ|"
    r"学年|年生|幼稚園|義理|一人っ子|つ[上下]|長く生き|[上下]なん|昔の|"
    r"保育園|お腹|大きくなったら|中学|高校|小学|お守|あやし|若い|お先|先輩|"
    r"後輩|義|血の"
)
_VALUES = re.compile(
    r"さすが|流石|天才|素晴|すばらし|すご|スゴ|凄|才能|センス|尊敬|感服|感心|"
    r"感動|感激|感嘆|見事|立派|完璧|最高|偉[いく大]|えら[いく]|上手|巧|達人|"
    r"名人|職人|プロ|一流|頼も|頼り|優し|やさし|賢|頭(?:が)?(?:い|よ|良)|"
    r"脱帽|憧れ|かなわ|敵わ|叶わ|勝て|世界一|一番|いちばん|誇り|誇ら|自慢|輝|"
    r"美し|綺麗|きれい|かわいい|可愛|素敵|すてき|ステキ|神|鋭|洞察|発想|着眼|"
    r"観察|慧眼|冴え|器用|まね|真似|敬服|拍手|ほれ|惚れ|お手の|優秀|秀|抜群|"
    r"特別|ない人|らしい|幸せ|努力|頑張|がんば|よく(?:でき|気|ご|ぞ)|さえ|"
    r"いい(?:質問|ね|声)|良い|名(?:作|文|案|探偵|言)|魅力|まぶし|眩|好き|"
    r"嬉し|救われ|おかげ|お陰|ありがた|女神|天使|無敵|最強|理想|お手本|鑑|逸材|"
    r"記憶力|博識|物知り|詳し|信頼|百点|満点|正解|正し|まったくその通り|その通り|"
    r"おっしゃる通り|いたみ入|恐れ入|敵なし|独創|芸術|天性|驚かさ|敬意|誇|専門家|"
    r"惹きつけ|本質|頭の|賞賛|励み|完敗|見習|ずば抜け|間違いない|感性|豊か|人望|"
    r"似合|華が|意識の?高|卓越|唯一|丁寧|魔法|優れ|親身|誠実|正義感|下がり|人柄|"
    r"勇気|打たれ|知識の|引き出し|ほかにい|他にい|そうはい|なかなか(?:でき|い)|"
    r"腕前|手際|巧み|秀逸|美味|眼力|知的|品の?ある|的確|的中|及び(?:ませ|もし)|及ばな|成長|目を見張|"
    r"鳥肌|花まる|優勝|ただ者|驚異|質問です|ほどの?.{0,6}方|一人前|いらない(?:じゃん|ね)|店(?:が|を)?出せ|"
    r"なれ(?:る|ます)(?:って|よ|ね|。|！)|しっかりして|しびれ|冴|宝|大好き|整って"
)


#: What must be, said by what fails without it, is no turned negation.
_NEEDED = re.compile(
    r"(?:ないと|なきゃ|なければ|なくちゃ)、?[^。！？]{0,10}?(?:でき|わか[らん]|分か[らん]|間に合[わい]|足り|意味が?"
    r"|[えけせてねめれべげ](?<!濡れ|遅れ|壊れ|怒れ|られ|冷め|枯れ|焦げ|忘れ|疲れ|倒れ|溶け)|続けられ)"
    r"(?:ない|ません|ありません)(?!ないで|なく)"
)


def about(fault: Fault, text: str) -> bool:
    """Whether a text holds a word of what the fault is about: without, the score measures topic
    and style."""
    if fault == "negation":
        return denials(text) > 0 and _NEEDED.search(text) is None
    words = _VALUES if fault == "praise" else _HOME if fault == "home" else _KIN
    return words.search(text) is not None


#: One negation, in words that hold two: must, perhaps, no doubt, cannot help.
SET_PHRASES = re.compile(
    r"(?:なければ|なきゃ|なくては|なくちゃ|なけりゃ|ないと|ねば|ずには?|ないでは)(?:、)?(?:なら|いけ|だめ|駄目|ダメ|いられ|おか|済ま|すま|いい|よい|構わ|かまわ|大丈夫|平気|なん)(?:ない|ません|なかった|なく(?!な[いか]|は)|ぬ)?"
    r"|かもしれ(?:ない|ません|なく|ないと)|かも知れ(?:ない|ません)|に過ぎ(?:ない|ません)|にすぎ(?:ない|ません)|しかた(?:が)?(?:ない|ありません|なく)|仕方(?:が)?(?:ない|ありません|なく)|しょうがな[いく]"
    r"|たまらな[いく]|とんでもな[いく]|もったいな[いく]|つまらな[いく]|くだらな[いく]|申し訳(?:ない|ありません|なく)|間違い(?:ない|ありません|なく)|違い(?:ない|ありません)|思わず|必ず|まず(?:は|、)?|少なくとも|なるべく"
    r"|危な[いく]|少な[いく]|汚な[いく]|幼な[いく]|切な[いく]|儚な[いく]|なんでもな[いく]|さりげなく|なんとなく|何となく|まもなく|間もなく|問題(?:ない|ありません)|足らず|知らず|とりあえず|相変わらず|わず"
)
_NOT = re.compile(
    r"な[いくきけ]|なかっ|ません|ませ[ずぬ]|ず(?:に|、)|ねえ|ねー|んで(?:ください|ね|よ)"
    r"|禁止|[不未無](?![理茶料駄事来線])[\u3400-\u9fff]"
)


def denials(text: str) -> int:
    """How often a text denies; a set phrase (「なければならない」) does not."""
    if _NOT.search(text) is None:
        return 0
    return len(_NOT.findall(SET_PHRASES.sub("〓", text)))


_JOINT = re.compile(
    r"(ので|から|ため|のに|けれど|けど|が、|なら|たら|れば|けりゃ|なきゃ|ないと|(?<=[るいたすくむ])と(?=[^いか言思])"
    r"|ても|でも|ように|わけ|こと|もの|はず|とは|以上|うちに|し、|て、|で、|、|。|！|？|…)"
)
_ASKED = re.compile(r"ください|なさい|て(?:ね|よ|！|。)|ましょう|しよ|よう|べき|方が|ほうが")
_DENYING_JOINTS = frozenset({"なきゃ", "ないと", "けりゃ"})
_RUNS = (2, 3, 4)


def shapes(text: str) -> set[str]:
    """Runs of characters, and how clauses follow: plain (P), negated (N), asked for (!), and
    by which word they are joined. A set phrase (「なければならない」) denies nothing."""
    text = SET_PHRASES.sub("〓", text)
    found = {text[i : i + n] for n in _RUNS for i in range(len(text) - n + 1)}
    parts = _JOINT.split(text)
    total, before = 0, ""
    for clause, joint in zip(parts[::2], [*parts[1::2], ""], strict=True):
        count = len(_NOT.findall(clause + joint if joint in _DENYING_JOINTS else clause))
        total += count
        kind = "P" if not count else "N" if count == 1 else "NN"
        if _ASKED.search(clause + joint):
            kind += "!"
        joined = kind + ("|" if joint in "。！？…" else joint)
        found.add(f"\t{joined}")
        if before:
            found |= {f"\t{before}\t{kind}", f"\t{before}\t{joined}"}
        before = joined
    found.add(f"\t{min(total, 4)}")
    stems = [match[0][:2] for match in _NOT.finditer(text)]
    return found | {f"\t{a}\t\t{b}" for a, b in pairwise(stems)}


def share(weight: float, count: int) -> float:
    """What one of `count` features of a line weighs."""
    found: float = weight / (count + _STEADY) ** 0.5
    return found


#: Whole numbers side by side in one, each of so many bits: a table's row is one object, and rows
#: are added at once.
_BITS, _MASK, _ZERO = 32, (1 << 32) - 1, 128
#: Squared lengths, which are half-precision numbers below 2, in whole numbers.
_SQUARED = 1 << 15


def packed(row: Sequence[int], squared: float = 0.0) -> int:
    """1, each number of -127 to 127 above zero, and a squared length."""
    found = int(squared * _SQUARED)
    for number in reversed(row):
        found = found << _BITS | (number + _ZERO)
    return found << _BITS | 1


def unpacked(total: int, at: int) -> int:
    """The sum of the numbers of this place, of all rows that were added up."""
    return (total >> _BITS * (at + 1) & _MASK) - _ZERO * (total & _MASK)


@dataclass(frozen=True, slots=True)
class _Weights:
    """piece, pair: of each, what it adds to the faults of words, and a piece's squared length,
    packed; scales of both. shape: what it adds. bias, cut, sure: of each fault; from `cut` on it
    is found, from `sure` on without doubt."""

    cut_up: Cutter
    piece: dict[str, int]
    pair: dict[str, int]
    piece_scale: list[float]
    pair_scale: list[float]
    shape: dict[str, float]
    bias: dict[Fault, float]
    cut: dict[Fault, float]
    sure: dict[Fault, float]


@cache
def _weights() -> _Weights:
    with needs_extra():
        import numpy as np

    with as_file(files("naisei") / "data" / "fault_weights" / "weights.npz") as path:
        kept = np.load(path)
        told = {name: kept[name] for name in kept.files}

    def words(name: str) -> list[str]:
        found: list[str] = told[name].tobytes().decode("utf-8").split("\n")
        return found

    squared = told["squared"].astype(np.float64).tolist()
    rows = map(packed, told["by_piece"].tolist(), squared)
    pieces = dict(zip(words("pieces"), rows, strict=True))
    shapes = (told["by_shape"] * told["by_shape_scale"])[:, 0].tolist()
    return _Weights(
        Cutter(pieces),
        pieces,
        dict(zip(words("pairs"), map(packed, told["by_pair"].tolist()), strict=True)),
        told["by_piece_scale"].tolist(),
        told["by_pair_scale"].tolist(),
        dict(zip(words("shapes"), shapes, strict=True)),
        dict(zip(FAULTS, told["bias"].tolist(), strict=True)),
        dict(zip(FAULTS, told["cut"].tolist(), strict=True)),
        dict(zip(FAULTS, told["sure"].tolist(), strict=True)),
    )


@dataclass(frozen=True, slots=True)
class Found:
    """A fault that a line holds. start, end: of the sentences that say it. sure: without doubt."""

    start: int
    end: int
    sure: bool


class LearntFaults:
    """The faults that a line of one speaker to one partner holds.

    own, partner: names of each. wanted: the faults that contradict what is known of the two.
    """

    def __init__(
        self, own: tuple[str, ...], partner: tuple[str, ...], wanted: Collection[Fault]
    ) -> None:
        self._own, self._partner = _longest_first(own), _longest_first(partner)
        self._wanted = [(n, fault) for n, fault in enumerate(FAULTS) if fault in wanted]

    def find(
        self, masked: str, sentences: Sequence[tuple[int, int]], possible: Collection[int]
    ) -> dict[Fault, Found]:
        """Each fault that is found, where the line speaks most for it.

        masked: the folded line, quotations masked. sentences: their spans in it. possible:
        numbers of `SIGNS` that may match.
        """
        wanted = [(n, fault) for n, fault in self._wanted if _SIGNS[fault] in possible]
        if not wanted:
            return {}
        weights = _weights()
        best: dict[Fault, tuple[float, int, int]] = {}
        for start, end in stretches(sentences):
            said = masked[start:end]
            here = [(n, fault) for n, fault in wanted if about(fault, said)]
            if not here:
                continue
            same = normalised(said, self._own, self._partner)
            # A word of the matter may have been in a name.
            here = [(n, fault) for n, fault in here if about(fault, same)]
            for fault, score in _scores(same, here, weights):
                if score >= weights.cut[fault] and score > best.get(fault, (-1e9,))[0]:
                    best[fault] = (score, start, end)
        return {f: Found(at, to, score >= weights.sure[f]) for f, (score, at, to) in best.items()}


def _longest_first(names: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=len, reverse=True))


#: Patterns of which a line must hold one, and which of them each fault needs.
SIGNS = [pattern.pattern for pattern in (_HOME, _KIN, _VALUES, _NOT)]
_SIGNS: dict[Fault, int] = {"home": 0, "younger": 1, "elder": 1, "praise": 2, "negation": 3}


def _scores(
    text: str, faults: Sequence[tuple[int, Fault]], weights: _Weights
) -> Iterator[tuple[Fault, float]]:
    worded = [(n, fault) for n, fault in faults if fault != "negation"]
    if worded:
        cut = weights.cut_up(text)
        pieces = sum(map(weights.piece.get, cut, repeat(0)))
        met = sum(map(weights.pair.get, pairs(cut), repeat(0)))
        length = ((pieces >> _BITS * len(FAULTS)) / _SQUARED) ** 0.5 or 1.0
        each = share(PIECE_SHARE, met & _MASK)
        for n, fault in worded:
            by_piece = unpacked(pieces, n) * weights.piece_scale[n] / length
            by_pair = unpacked(met, n) * weights.pair_scale[n] * each
            yield fault, weights.bias[fault] + by_piece + by_pair
    if len(worded) < len(faults):
        known = weights.shape
        found = known.keys() & shapes(text)
        each = share(CLAUSE_SHARE, len(found))
        # Summed exactly, whichever comes first.
        yield "negation", weights.bias["negation"] + each * math.fsum(map(known.__getitem__, found))


def stretches(sentences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """As many sentences at a time as make one claim: short ones together."""
    first = last = -1
    for start, end in sentences:
        if first >= 0 and last - first >= _STRETCH:
            yield first, last
            first = -1
        first, last = start if first < 0 else first, end
    if first >= 0:
        yield first, last


def counted(lines: Sequence[set[str]], least: int, most: float) -> list[str]:
    """Features of at least so many lines, and of at most such a share of them, sorted."""
    seen = Counter(feature for line in lines for feature in line)
    return sorted(f for f, n in seen.items() if least <= n < most * len(lines) and "\n" not in f)
