"""What an agent without a language model knows beforehand about a set of actions."""

from naisei.clarify.agents.knowledge.cues import Cues
from naisei.clarify.agents.knowledge.table import MODES, Item, Knowledge, knowledge_for

__all__ = ["MODES", "Cues", "Item", "Knowledge", "knowledge_for"]
