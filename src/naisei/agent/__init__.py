"""One agent that is all of naisei: it asks before it acts, answers from documents, speaks as
somebody, checks what it says, minds how it stands with the other, and learns from what went wrong.

It stands above the systems, which do not know of it: `naisei.agent.flow` is a flow of their flows.
"""
