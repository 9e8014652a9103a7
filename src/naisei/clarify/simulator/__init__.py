"""User simulators: they know the hidden intent and answer questions without giving it away."""

from naisei.clarify.simulator.registry import simulator

__all__ = ["simulator"]
