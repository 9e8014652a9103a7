"""Questions that the task forbids: presence of things, and the wanted action outright.

The paper (§3.2, Figure 5) forbids both. What counts here:

* presence: whether a thing is there, where it is, or what there is in a place.
* outright: which action or which thing is wanted (「何を持ってくればいいですか」), or whether one
  of the candidates is, its object named together with fetching, needing or putting away.

Questions about states (「中身は空ですか」), feelings, purposes and kinds are fair, and so is a
bare way of helping with no object named (「片付けてほしいということですか」).
"""

from __future__ import annotations

from naisei.clarify.offence import english, japanese
from naisei.clarify.offence.names import objects
from naisei.clarify.schemas import ActionSet, Offence
from naisei.japanese.questions import parse

__all__ = ["objects", "offence"]


def offence(question: str, actions: ActionSet) -> Offence | None:
    """What rule a question breaks, if any. Never raises.

    >>> from naisei.clarify.schemas import Action, ActionSet
    >>> some = ActionSet(name="s", actions=(Action(id=1, text="コップを持ってくる"),))
    >>> offence("コップはありますか？", some), offence("のどが渇いていますか？", some)
    ('presence', None)
    """
    parsed = parse(question)
    rules = japanese if parsed.japanese else english
    if rules.outright(parsed.text, actions):
        return "outright"
    return "presence" if rules.presence(parsed.text, actions) else None
