"""The calibrated rules: rejections and warnings tuned on natural speech.

Form and fixed expressions reject. Setting, praise and logic score the content of a line, tone its
style: doubtful cases warn, clear ones reject. Scatter, jump and loop warn. With a judge, a warning
becomes a rejection only if the judge objects too (`naisei.director.draft.judged`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial

from naisei.core import Check, Status
from naisei.director.character import Character
from naisei.director.character_checks import PraiseCheck, SettingCheck, ToneCheck, foreign_trait
from naisei.director.line_checks import check_form, check_repetition
from naisei.director.prepare import EVIDENCE, PASSED, PreparedLine, finding, outcome
from naisei.director.verdict import LineVerdict, Tone
from naisei.director.voice import VoiceMeter
from naisei.director.wording.assertion_scope import double_negations
from naisei.director.wording.household import Bond, Household, speaks_of_others
from naisei.director.wording.learnt_faults import LearntFault, LearntFaults
from naisei.director.wording.matter import Fault
from naisei.director.wording.noun_phrases import noun_phrases, turns
from naisei.director.wording.staging import staging

_WARN, _RETRY, _PASS = Status.WARN, Status.RETRY, Status.PASS
#: A line is scattered from this many sentences with this many topics, or from this many sentences
#: or characters regardless of topics.
_SENTENCES, _TOPICS, _MOST, _LONG = 6, 6, 9, 300
#: A longer line may have its first sentence in another voice.
_GREETED = 2
#: Number of lines on a topic after which it may change.
_DEPTH = 3


#: Number of characters of the line and of the previous line that the detectors read; the form check
#: reads all.
READ = 4_000


class CalibratedRules:
    """One character's checks, ready to run."""

    def __init__(self, character: Character) -> None:
        self.character = character
        partner = character.partner_names
        self.names = (*character.names, *partner)
        self._own = frozenset(self.names)
        self._staging = (self.names, character.names)
        self._facts = SettingCheck(character.setting)
        bond = character.bond
        self._household = Household(
            Bond(character.names, partner, bond.together, bond.kin or "", bond.calls)
        )
        self._fact = character.setting[0] if character.setting else None
        self._learnt = LearntFaults(character.names, partner, _faults_of(character))
        self._meter = VoiceMeter(character.voice) if character.voice else None
        self._tone = ToneCheck(character.tone)
        #: The learnt praise score is for Japanese only; other languages use the listed words.
        listed = character.praise if character.language == "en" else None
        self._praise = PraiseCheck(listed) if listed else None
        self._missing = lru_cache(maxsize=512)(partial(foreign_trait, character))

    def check(self, text: str, history: Sequence[str] = ()) -> LineVerdict:
        """See `naisei.director.check.check`."""
        whole = PreparedLine(text, self.character.labels)
        line = whole.head(READ)
        history = [said[:READ] for said in history]
        learnt = self._learnt.find(line.masked, line.sentences)
        tone, score = self._toned(line)
        scatter, raised = self._scattered(line)
        checks = (
            check_form(whole, self.character),
            self._set(line, history, learnt),
            self._praise(line) if self._praise else _praised(line, learnt),
            scatter,
            _logic(line, learnt),
            tone,
            check_repetition(line, history) if history else PASSED["loop"],
            self._jumped(line, history) if history else PASSED["jump"],
            self._staged(line),
        )
        return LineVerdict(
            outcome(checks, whole.mends),
            checks,
            score,
            whole.count,
            raised,
            whole.mends,
            whole.text,
            self.character.id,
        )

    def _set(self, line: PreparedLine, history: Sequence[str], learnt: Learnt) -> Check:
        facts = self._facts(line) if self._facts.sign(line.body) else PASSED["setting"]
        if facts.status is _WARN:
            return facts
        spans = sorted(
            self._household.find(line.body, line.masked), key=lambda met: not met.certain
        )
        met = None if spans else _broken(line, learnt)
        if facts.status is _PASS and not spans and met is None:
            return facts
        # The unnamed subject may be the person in the previous line.
        third = bool(history) and _THIRD.search(history[-1]) is not None
        if facts.status is _RETRY:
            return facts.model_copy(update={"status": _WARN}) if third else facts
        if third and not (spans and spans[0].certain):
            return facts
        if spans:
            kind, sure = spans[0].kind, spans[0].certain
            found_at = [(c.start, c.end) for c in spans[:EVIDENCE]]
        elif met is not None:
            kind, sure = "home" if met == "home" else "kin", learnt[met].sure
            found_at = [(learnt[met].start, learnt[met].end)]
        reason, suggestion = _BROKEN[kind]
        if kind == "home" and self._fact is not None:
            ja, en = self._fact.fact, self._fact.fact_en or self._fact.fact
            reason = (f"設定に反しています: {ja}。", f"This contradicts: {en}.")
        evidence = [line.evidence(*span) for span in found_at]
        return finding(line, "setting", _RETRY if sure else _WARN, reason, suggestion, evidence)

    def _scattered(self, line: PreparedLine) -> tuple[Check, int]:
        """The scatter check and the number of topics, counted only in lines of several
        sentences."""
        size = len(line.body)
        much = line.count >= _MOST or size > _LONG
        if not much and (line.count < _SENTENCES or not _may_scatter(line)):
            return PASSED["scatter"], 0
        per_sentence = [set(noun_phrases(line.masked[a:b], self._own)) for a, b in line.sentences]
        unlinked = sum(
            bool(here)
            and not any(a in b or b in a for a in here for other in per_sentence[:n] for b in other)
            for n, here in enumerate(per_sentence)
        )
        if not much and unlinked < _TOPICS:
            return PASSED["scatter"], unlinked
        reason = (f"長すぎます（{size}文字）。", f"It is too long: {size} characters.")
        if unlinked >= _TOPICS:
            reason = (
                f"{line.count}文で話題が{unlinked}つあり、話が散っています。",
                f"{line.count} sentences on {unlinked} topics: the line is scattered.",
            )
        elif line.count >= _MOST:
            reason = (f"{line.count}文は多すぎます。", f"{line.count} sentences are too many.")
        spans = [line.evidence(*span).strip() for span in line.sentences[1:]]
        return finding(line, "scatter", _WARN, reason, _ONE_TOPIC, spans), unlinked

    def _toned(self, line: PreparedLine) -> tuple[Check, Tone]:
        """The score of the voice: 0 another's, 1 doubtful, 2 own, 3 clearly own. Without a voice,
        uses the specification's signals, which then warn at most."""
        if self._meter is None:
            check, tone = self._tone(line)
            if check.status is _RETRY:
                check = check.model_copy(update={"status": _WARN})
            return check, tone
        voice, weight = self._meter.voice, self._meter.weigh(line.masked)
        if weight < voice.sure and len(line.sentences) > _GREETED:
            # A first sentence in the right voice (a greeting) does not excuse the rest.
            rest = self._meter.weigh(line.masked[line.sentences[1][0] :])
            weight = rest if rest < voice.retry_below else weight
        score = (
            (weight >= voice.retry_below) + (weight >= voice.warn_below) + (weight >= voice.sure)
        )
        foreign = [(name, w) for name, w in self._meter.traits(line.masked) if w < 0]
        if score < 2 and self._meter.is_own_politeness(line.masked, foreign):
            score = 2
        rough = self._meter.foreign_roughness(line.masked)
        if rough and rough not in self.character.persona:
            score, foreign = min(score, 1), [(f"word:{rough}", -1.0)]
        tone = Tone.measured(score, round(weight, 2))
        if score >= 2:
            return PASSED["tone"], tone
        reason, suggestion = self._missing(foreign[0][0] if foreign else "register:")
        shown = line.evidence(0, min(40, len(line.body)))
        return finding(line, "tone", _WARN if score else _RETRY, reason, suggestion, [shown]), tone

    def _jumped(self, line: PreparedLine, history: Sequence[str]) -> Check:
        marker = turns(line.body)
        if marker is None or len(history) >= _DEPTH:
            return PASSED["jump"]
        words = {w for p in noun_phrases(line.masked, self._own) for w in (p, *p.split("の"))}
        if any(word in said for said in history[-2:] for word in words):
            return PASSED["jump"]
        return finding(line, "jump", _WARN, *_JUMPED, [line.evidence(*marker)])

    def _staged(self, line: PreparedLine) -> Check:
        span = staging(line.body, *self._staging)
        if span is None:
            return PASSED["script"]
        return finding(line, "script", _WARN, *_STAGED, [line.evidence(*span).strip()])


#: Learnt faults of a line, each with its highest-scoring span.
Learnt = dict[Fault, LearntFault]
_SETTINGS: tuple[Fault, ...] = ("home", "younger", "elder")


def _faults_of(character: Character) -> set[Fault]:
    """The learnt faults that contradict the profile."""
    faults: set[Fault] = {"negation"}
    if not character.flatters or character.praise is not None:
        faults.add("praise")
    if character.bond.together:
        faults.add("home")
    if character.bond.kin:
        faults.add("younger" if character.bond.kin == "elder" else "elder")
    return faults


def _broken(line: PreparedLine, learnt: Learnt) -> Fault | None:
    """The line's learnt fault of the setting, unless it may be about others."""
    for fault in _SETTINGS:
        if fault in learnt and not (fault == "home" and speaks_of_others(line.masked)):
            return fault
    return None


def _praised(line: PreparedLine, learnt: Learnt) -> Check:
    met = learnt.get("praise")
    if met is None:
        return PASSED["praise"]
    status = _RETRY if met.sure else _WARN
    return finding(line, "praise", status, *_PRAISED, [line.evidence(met.start, met.end)])


def _logic(line: PreparedLine, learnt: Learnt) -> Check:
    spans, sure = double_negations(line.body), True
    if not spans and (met := learnt.get("negation")) is not None:
        spans, sure = [(met.start, met.end)], met.sure
    if not spans:
        return PASSED["logic"]
    evidence = [line.evidence(*span) for span in spans[:EVIDENCE]]
    return finding(line, "logic", _RETRY if sure else _WARN, *_NEGATED, evidence)


#: An absent person as the topic of the previous line.
_THIRD = re.compile(
    r"(?:(?<!姉)さん|くん|[父母]|両親|親戚|先[輩生]|友[達人]|友だち|いとこ|叔[父母]|おば|おじ|祖[父母]|あの(?:人|子)|彼女?)"
    r"(?:たち)?(?:は|が|も|の|って|、|に|と)"
)


def _may_scatter(line: PreparedLine) -> bool:
    """Whether enough sentences contain a possible topic word; a check before parsing."""
    return sum(_NAMING.search(line.masked, *span) is not None for span in line.sentences) >= _TOPICS


_NAMING = re.compile(r"[A-Za-z\u3400-\u9fff々ァ-ヶ]")


Said = tuple[str, str]
#: Reason and suggestion, each in Japanese and English.
_BROKEN: dict[str, tuple[Said, Said]] = {
    "home": (
        ("二人が別々に暮らしているように聞こえます。", "It sounds as if the two lived apart."),
        (
            "同じ家にいる二人として言い直し、用件はそのまま残してください。",
            "Say it as somebody of the same house; keep what it is about.",
        ),
    ),
    "kin": (
        ("姉妹の上下や続柄が設定と違います。", "Who is the elder, or the kinship, is wrong."),
        (
            "姉と妹の立場を正しくして、用件はそのまま残してください。",
            "Put elder and younger right; keep what it is about.",
        ),
    ),
    "address": (
        ("相手や自分の呼び方が設定と違います。", "The form of address is not the character's."),
        ("呼び方だけを直してください。", "Change the form of address only."),
    ),
}
_PRAISED: tuple[Said, Said] = (
    ("相手を持ち上げています。", "It flatters the one spoken to."),
    (
        "評価の言葉だけを外し、事実・理由・提案はそのまま残してください。",
        "Leave the evaluation out; keep facts, reasons and proposals.",
    ),
)
_ONE_TOPIC: Said = (
    "いちばん大事な一つを残し、ほかの話は外してください。",
    "Keep the one thing that matters most and leave the rest out.",
)
_NEGATED: tuple[Said, Said] = (
    (
        "否定が重なり、意味が逆に取れます。",
        "Negations meet, and the meaning may be turned round.",
    ),
    (
        "否定を一つ以下にして、言いたいことを肯定で言い切ってください。",
        "Use one negation at most and say what is meant as a plain statement.",
    ),
)
_JUMPED: tuple[Said, Said] = (
    ("今の話題を掘り下げる前に話題を変えています。", "It leaves the topic too early."),
    ("まず直前の話題に答えてください。", "Answer the present topic first."),
)
_STAGED: tuple[Said, Said] = (
    (
        "口に出す言葉でないもの（ト書き、地の文、箇条書き、役についての説明）があります。",
        "It holds what is not spoken: directions, narration, a list, or talk of the role.",
    ),
    ("その部分を外し、話す言葉だけを残してください。", "Take that out; keep the spoken words."),
)
