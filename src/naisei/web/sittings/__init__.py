"""Live conversations: a flow with a person at a page.

A sitting is a run directory with one episode, under `<state>/sittings/<visitor>/<id>`: one flow
from its first line to its last, whatever happens in between. Each effect is in its log before
the flow goes on. So a server that is killed loses nothing: when the page is opened again, the
flow is replayed from the log to the very question it had reached.

What a page gives is a `Kind`; what it works with is `Sittings` (begin, find, list) and `Sitting`
(events, standing, answer). The addresses every sitting has are in `naisei.web.sittings.routes`.
"""

from naisei.web.sittings.kind import Kind, Room, Scene
from naisei.web.sittings.person import Asked, Person, words
from naisei.web.sittings.sitting import Sitting, Standing
from naisei.web.sittings.sittings import Entry, Sittings

__all__ = [
    "Asked",
    "Entry",
    "Kind",
    "Person",
    "Room",
    "Scene",
    "Sitting",
    "Sittings",
    "Standing",
    "words",
]
