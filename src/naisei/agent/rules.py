"""What the agent does beside answering; each of it can be left out."""

from __future__ import annotations

from naisei.system.config import Options, flag


class AgentRules(Options):
    """Of a conversation."""

    quota: int = flag(
        2, "一つの頼みごとにつき、質問の上限", "Questions for one request at most.", ge=0, le=20
    )
    asking: bool = flag(True, "質問してから行動するか", "Whether it asks before it acts.")
    checking: bool = flag(
        True, "発言を一つずつ検査するか", "Whether each line is checked before it goes out."
    )
    reflecting: bool = flag(
        True, "間違いから内省メモを作るか", "Whether it writes a memo after a wrong act."
    )
    relating: bool = flag(
        True, "関係を読み取って話し方に使うか", "Whether it reads how the two stand, and is told."
    )
