"""One agent that combines all systems: it asks before it acts, answers from documents, speaks in
character, checks its lines, tracks the relationship, and learns from errors. The systems do not
depend on it: `naisei.agent.flow` combines their flows.
"""
