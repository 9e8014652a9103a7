"""Live conversations: a flow with a person at a web page.

A conversation is a run directory with one episode, under `<state>/conversations/<visitor>/<id>`: a
single flow from first line to last. Each effect is logged before the flow continues, so a killed
server loses nothing: when the page is reopened, the flow is replayed from the log up to the pending
question.

A page defines a `ConversationKind`, and uses `Conversations` (begin, find, list) and `Conversation`
(events, status, answer). `naisei.web.conversations.routes` has the routes shared by all
conversations and by all pages with conversations.
"""
