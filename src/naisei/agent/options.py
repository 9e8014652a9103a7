"""Options of `naisei talk` and `naisei talk memory`, with switches for its parts."""

from __future__ import annotations

from pathlib import Path

from naisei.system.config import Options, flag
from naisei.system.execute import Endpoint


class AgentRules(Options):
    """Options of a conversation."""

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


class TalkOptions(Endpoint, AgentRules):
    """Flags of `naisei talk`."""

    persona: str = flag(
        "robot",
        "相手になる人物: 名前か .toml のファイル。同梱: robot、desk、sister",
        "Whom you talk to: a name or a .toml file. Bundled: robot, desk, sister.",
        metavar="NAME|FILE",
    )
    documents: str | None = flag(
        None,
        "答えるときに調べる資料のフォルダー (handbook は同梱の見本)",
        "Folder of the documents that it answers from; `handbook` is the bundled sample.",
        metavar="DIR",
    )
    world: str | None = flag(
        None,
        "行動する世界: household か、TextWorld のゲームのファイル",
        "What it acts in: household, or the file of a TextWorld game.",
        metavar="household|GAME",
    )
    model: str | None = flag(
        None,
        "すべての役割のモデル (例: local:、openai:NAME)。なければモデルなしで話す",
        "Model of all roles, e.g. local: or openai:NAME; without one it talks all the same.",
        panel="models",
        metavar="PROVIDER:NAME",
        env="NAISEI_MODEL",
    )
    judge: bool = flag(False, "モデルにも発言を採点させるか", "Whether a model judges each line.")
    user: str = flag(
        "user", "誰が話すか。覚えることは人ごと", "Who is talking: memories are kept per person."
    )
    remember: bool | None = flag(
        None,
        "次の会話まで覚えておくことを許す (--no-remember で忘れさせる)",
        "Allow it to remember for later conversations; --no-remember makes it forget.",
        name="--remember/--no-remember",
    )
    show_persona: bool = flag(
        False, "人物のファイルを表示して終わる", "Print the persona's file and end."
    )
    run_dir: Path | None = flag(
        None,
        "ここに記録する。会話があれば続きから話す (既定: runs/ の下の新しい場所)",
        "Where it is logged; a conversation that is there goes on. A new place under runs/ by "
        "default.",
        panel="run",
    )


class MemoryOptions(Options):
    """Flags of `naisei talk memory`."""

    user: str = flag("user", "誰について", "Of whom.")
    forget: bool = flag(False, "すべて消す", "Erase all of it.", name="--forget")
