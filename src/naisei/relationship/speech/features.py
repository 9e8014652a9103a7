"""From the traits of two sides to the features of a direction, one set a dimension.

Power is relative: every feature is a difference of the two sides, so that what A has over B is
what B lacks before A. Intimacy is mostly mutual, the task wholly.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FEATURES", "Feature", "values"]

#: How much of a direction's intimacy is the speaker's own manner; the rest is the other's.
OWN = 0.65
#: How much less a difference of politeness tells of power where strangers' phrases are heard.
SERVICE = 0.7


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature. sign: the one its coefficient must have (+1 raises the dimension).

    counts: the counts of `heard` it rests on. ja, en: how it is said, for a high value and for
    a low one.
    """

    name: str
    sign: int
    counts: tuple[str, ...]
    ja: tuple[str, str]
    en: tuple[str, str]


FEATURES: dict[str, tuple[Feature, ...]] = {
    "Power": (
        Feature(
            "polite",
            1,
            ("polite", "plain"),
            ("相手のほうが丁寧", "自分のほうが丁寧"),
            ("the other speaks more politely", "speaks more politely than the other"),
        ),
        Feature(
            "honorific",
            1,
            ("honorific",),
            ("相手のほうが敬語を多く使う", "自分のほうが敬語を多く使う"),
            ("the other uses more honorifics", "uses more honorifics than the other"),
        ),
        Feature(
            "direct",
            1,
            ("direct",),
            ("指示・助言・評価が相手より多い", "相手からの指示・助言・評価が多い"),
            ("directs, advises, judges more", "is directed, advised, judged"),
        ),
        Feature(
            "defer",
            1,
            ("defer", "comply"),
            (
                "相手のほうがへりくだる (許可・謝罪・教わる・承知)",
                "自分のほうがへりくだる (許可・謝罪・教わる・承知)",
            ),
            (
                "the other defers (leave, apology, learning, complying)",
                "defers (leave, apology, learning, complying)",
            ),
        ),
        Feature(
            "address",
            1,
            ("addresses",),
            ("相手から目上の呼び方をされる", "相手を目上の呼び方で呼ぶ"),
            ("is addressed as the higher", "addresses the other as the higher"),
        ),
    ),
    "Intimacy": (
        Feature(
            "polite",
            -1,
            ("polite", "plain"),
            ("です・ますで話す", "くだけた文末で話す"),
            ("polite endings", "plain endings"),
        ),
        Feature(
            "honorific",
            -1,
            ("honorific",),
            ("敬語が多い", "敬語が少ない"),
            ("many honorifics", "few honorifics"),
        ),
        Feature(
            "casual",
            1,
            ("casual",),
            ("くだけた助詞・縮約・感動詞が多い", "くだけた言い方が少ない"),
            ("relaxed particles and contractions", "few relaxed forms"),
        ),
        Feature(
            "laughter",
            1,
            ("laughter",),
            ("笑い・遊びがある", "笑いが少ない"),
            ("laughter and play", "little laughter"),
        ),
        Feature(
            "close",
            1,
            ("close",),
            ("自己開示・感情・気づかい・共有の話がある", "自己開示や気づかいが少ない"),
            ("disclosure, feelings, care, shared things", "little disclosure or care"),
        ),
        Feature(
            "near",
            1,
            ("addresses",),
            ("近しい呼び方をする", "距離のある呼び方をする"),
            ("addresses the other as one near", "addresses the other from a distance"),
        ),
        Feature(
            "stranger",
            -1,
            ("stranger",),
            ("初対面・接客の言い方がある", "初対面・接客の言い方が少ない"),
            ("phrases of strangers or service", "few phrases of strangers or service"),
        ),
        Feature(
            "defer",
            -1,
            ("defer",),
            ("かしこまった謝罪・感謝・伺いが多い", "かしこまった言い方が少ない"),
            ("formal apology, thanks, asking leave", "little formal deference"),
        ),
        Feature(
            "hostile",
            -1,
            ("hostile",),
            ("突き放す言い方がある", "突き放す言い方が少ない"),
            ("words that push away", "few words that push away"),
        ),
    ),
    "TaskOriented": (
        Feature(
            "work",
            1,
            ("work",),
            ("用件の言葉・数字・期限が多い", "用件の言葉が少ない"),
            ("words of work, figures, deadlines", "few words of work"),
        ),
        Feature(
            "act",
            1,
            ("direct", "comply", "defer"),
            ("依頼・指示・承知・謝意のやりとりがある", "依頼・指示が少ない"),
            ("requests, instructions, complying, thanks", "few requests or instructions"),
        ),
        Feature(
            "leisure",
            -1,
            ("leisure",),
            ("趣味・食べ物・季節などの話が多い", "趣味などの話が少ない"),
            ("hobbies, food, seasons", "little of hobbies"),
        ),
        Feature(
            "warm",
            -1,
            ("laughter", "close"),
            ("笑い・感情・私的な話が多い", "笑い・感情・私的な話が少ない"),
            ("laughter, feelings, private things", "little laughter or feeling"),
        ),
    ),
}


def values(dimension: str, own: dict[str, float], other: dict[str, float]) -> list[float]:
    """The features of the direction from `own` to `other`, in the order of `FEATURES`.

    own, other: traits of the two sides (`SpeakerFeatures.traits`).
    """
    if dimension == "Power":
        # Who serves or does not know the other speaks politely whoever is above.
        rank = 1 - SERVICE * max(own["stranger"], other["stranger"])
        return [
            rank * (other["polite"] - own["polite"]),
            rank * (other["honorific"] - own["honorific"]),
            own["direct"] - other["direct"],
            rank * (_defers(other) - _defers(own)),
            other["look_up"] - own["look_up"],
        ]
    if dimension == "Intimacy":
        return [OWN * own[f.name] + (1 - OWN) * other[f.name] for f in FEATURES["Intimacy"]]
    both = {name: (own[name] + other[name]) / 2 for name in own}
    return [
        both["work"],
        (both["direct"] + both["comply"] + both["defer"]) / 3,
        both["leisure"],
        (both["laughter"] + both["close"]) / 2,
    ]


def _defers(side: dict[str, float]) -> float:
    return side["defer"] + 0.5 * side["comply"]
