"""One agent that is all of naisei: it asks before it acts, answers from documents, speaks as
somebody, checks what it says, minds how it stands with the other, and learns from what went wrong.

It stands above the systems, which do not know of it: a flow of their flows.
"""

from naisei.agent.flow import Parts, talk
from naisei.agent.mind import Mind
from naisei.agent.persona import Persona, load_persona

__all__ = ["Mind", "Parts", "Persona", "load_persona", "talk"]
