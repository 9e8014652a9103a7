"""Live conversations: a flow with a person at a page.

A conversation is a run directory with one episode, under `<state>/conversations/<visitor>/<id>`:
one flow from its first line to its last, whatever happens in between. Each effect is in its log
before the flow goes on. So a server that is killed loses nothing: when the page is opened again,
the flow is replayed from the log to the very question it had reached.

What a page gives is a `ConversationKind`; what it works with is `Conversations` (begin, find,
list) and `Conversation` (events, status, answer). `naisei.web.conversations.routes` has the
addresses that every conversation has, and those that every page of conversations has.
"""
