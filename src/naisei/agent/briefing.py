"""What a model that speaks for the persona is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from naisei.agent.mind import Mind
from naisei.agent.wording import listed
from naisei.director.state import Note, TalkState
from naisei.lang import render
from naisei.memory.stream import Entry
from naisei.relationship.vector import degree


def briefed(
    mind: Mind,
    remembered: Sequence[Entry],
    message: str,
    memo: str,
    now: datetime,
    *,
    relating: bool,
) -> TalkState:
    """The talk as the speaker is told it: facts and the memo; at its end what is so just now.

    message: what the line has to tell. relating: whether it is told how the two stand.
    """
    persona, stance = mind.persona, mind.stances["own"] if relating else None
    language = persona.language
    told: Mapping[str, Sequence[str]] = {
        "today": [f"{now:%Y-%m-%d (%a)}"],
        "before": [f"{entry.time:%Y-%m-%d} {entry.text}" for entry in remembered],
        "stance": [degree(name, value, language) for name, value in (stance or {}).items()],
        "message": [message] if message else [],
    }
    rows = _rendered("now.v1", language, **{k: listed(v, language) for k, v in told.items()})
    notes = [row for row, items in zip(rows.splitlines(), told.values(), strict=True) if items]
    facts = "\n".join(f"- {fact.say}" for fact in persona.facts) or "-"
    # What it is about is the person's to choose: nothing is told of topics and worn-out words.
    return mind.talk.model_copy(
        update={
            "scene": _rendered("scene.v2", language, facts=facts, memo=memo or "-"),
            "notes": tuple(Note(to=persona.profile.id, text=text) for text in notes),
            **{"topic": "", "depth": 0, "memory": (), "loops": {}},
        }
    )


def _rendered(name: str, language: str, **given: str) -> str:
    return render("naisei.agent", name, language, **given)
