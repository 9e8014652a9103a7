"""Judge one line by the rules that need no model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from naisei.director.calibrated import CalibratedRules
from naisei.director.character import Character, load_character
from naisei.director.character_checks import PraiseCheck, SettingCheck, ToneCheck
from naisei.director.line_checks import (
    check_form,
    check_jump,
    check_logic,
    check_loop,
    check_scatter,
)
from naisei.director.prepare import PASSED, PreparedLine, outcome
from naisei.director.verdict import CHECK_NAMES, LineVerdict, RuleSet
from naisei.director.wording.assertion_scope import negation_sign
from naisei.director.wording.cues import topics

_, _SETTING, _PRAISE, _, _LOGIC, _, _, _JUMP, _SCRIPT = (PASSED[name] for name in CHECK_NAMES)


class Rules:
    """One character's checks exactly as in the specification, ready to run."""

    def __init__(self, character: Character) -> None:
        self.character = character
        self.ignored = frozenset((*character.names, *character.partner_names))
        self.limits = character.limits
        self.setting = SettingCheck(character.setting)
        self.praise = PraiseCheck(character.praise) if character.praise else None
        self.tone = ToneCheck(character.tone)

    def check(self, text: str, history: Sequence[str] = ()) -> LineVerdict:
        """See `check`. Skips checks that a quick search rules out."""
        line = PreparedLine(text, self.character.labels)
        body, masked, praise = line.body, line.masked, self.praise
        raised = topics(body, masked, self.ignored)
        tone, score = self.tone(line)
        checks = (
            check_form(line, self.character),
            self.setting(line) if self.setting.sign(body) else _SETTING,
            praise(line) if praise is not None and praise.sign(masked) else _PRAISE,
            check_scatter(line, raised, self.limits),
            check_logic(line) if negation_sign(body) else _LOGIC,
            tone,
            check_loop(line, history, self.ignored),
            check_jump(line, history, raised) if history else _JUMP,
            _SCRIPT,
        )
        status = outcome(checks, line.mends)
        return LineVerdict(
            status,
            checks,
            score,
            line.count,
            len(raised),
            line.mends,
            line.text,
            self.character.id,
        )


#: Cached rules by requested name or by the profile's `id()`; the entry references the profile, so
#: that the `id()` stays unique.
_made: OrderedDict[tuple[str | int, RuleSet], Rules | CalibratedRules] = OrderedDict()
_MOST = 64


def rules_of(
    character: str | Path | Character, rules: RuleSet = "calibrated"
) -> Rules | CalibratedRules:
    """The rules of a character, cached for shipped ones and profile objects.

    Raises:
        InputError: the character does not exist.
    """
    key = (character if isinstance(character, str) else id(character), rules)
    found = _made.get(key)
    if found is not None:
        return found
    kind = Rules if rules == "spec" else CalibratedRules
    made = kind(load_character(character))
    # A file may change between calls, so it is not cached.
    if isinstance(character, Character) or (
        isinstance(character, str) and not character.endswith(".toml")
    ):
        _made[key] = made
        while len(_made) > _MOST:
            _made.popitem(last=False)
    return made


def check(
    text: str,
    *,
    character: str | Path | Character = "yana",
    history: Sequence[str] = (),
    rules: RuleSet = "calibrated",
) -> LineVerdict:
    """Judge a line by the rules that need no model.

    Args:
        text: the line, any Unicode text. Linear in its length.
        character: who speaks: an id (`yana`, `ayu`), a display name, the path of a TOML
            profile, or a profile.
        history: earlier lines of both speakers, oldest first; `loop` and `jump` read the last five.
        rules: `calibrated` (tuned on natural speech: format, setting and logic reject, tone rejects
            another speaker's voice, the rest warns) or `spec` (exactly the specification).

    Raises:
        InputError: the character does not exist, or its profile is invalid.

    Source: the retry-judgement specification, §§2 to 6, 8.

    >>> check("えー！それ、ほんと？").status.value
    'PASS'
    >>> [c.name for c in check("別居してから楽になりました。", character="ayu").checks
    ...  if c.status == "RETRY"]
    ['setting']
    """
    return rules_of(character, rules).check(text, history)
