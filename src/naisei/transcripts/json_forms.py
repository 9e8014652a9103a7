"""JSON formats: chat exports, data sets, model logs. Each is a declaration."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from naisei.transcripts.tables import SPEAKER, TEXT, WHEN

#: Keys of a dialogue's turns, and keys of several dialogues or parts.
TURNS = (
    *("turns", "utterances", "dialogue", "dialog", "conversation", "conversations", "messages"),
    *("lines", "chat_messages", "contents", "発話", "対話", "会話", "audio_segments", "results"),
)
SEVERAL = (
    *("dialogues", "conversations", "simulations", "chats", "data", "list", "対話", "会話"),
    *("train", "valid", "validation", "test"),
)
PARTS = ("scenes", "sessions", "chapters", "episodes", "parts", "シーン")
SESSION_KEY = re.compile(r"session_(\d+)")
#: Roles whose rows are not part of the conversation.
APART = ("system", "developer", "tool", "function", "environment")


class RowObject(dict[str, Any]):
    """An object from one row of a JSON Lines file. row: its number, from 1."""

    row: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonForm:
    """How to recognise and read a JSON format.

    keys: required keys of a dialogue. row: required keys of at least one turn. speaker, text, at:
    paths (`author.name`); the first present one counts. apart: key → values of rows that are not
    utterances; `...` for any. by_day: each day is a session. broken: UTF-8 texts written as escaped
    bytes.
    """

    name: str
    about: tuple[str, str]
    keys: frozenset[str] = frozenset()
    row: frozenset[str] = frozenset()
    speaker: tuple[str, ...] = SPEAKER
    text: tuple[str, ...] = TEXT
    at: tuple[str, ...] = WHEN
    apart: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    by_day: bool = False
    broken: bool = False

    def knows(self, dialogue: Any, rows: Sequence[Any]) -> bool:
        """Whether a dialogue and its rows match this format."""
        top = dialogue.keys() if isinstance(dialogue, dict) else frozenset()
        dicts = [row for row in rows if isinstance(row, dict)]
        return self.keys <= top and (not self.row or any(self.row <= row.keys() for row in dicts))


JSON_FORMS = (
    JsonForm(
        name="discord",
        about=("Discord (DiscordChatExporter)", "Discord (DiscordChatExporter)"),
        keys=frozenset({"guild", "channel", "messages"}),
        speaker=("author.nickname", "author.name"),
        apart={
            "type": (
                "RecipientAdd",
                "RecipientRemove",
                "Call",
                "ChannelPinnedMessage",
                "ChannelNameChange",
                "ChannelIconChange",
                "ThreadCreated",
                "GuildMemberJoin",
            )
        },
        by_day=True,
    ),
    JsonForm(
        name="telegram",
        about=("Telegram のエクスポート", "Telegram export"),
        row=frozenset({"from_id", "text"}),
        speaker=("from", "from_id"),
        apart={"type": ("service",)},
        by_day=True,
    ),
    JsonForm(
        name="slack",
        about=("Slack のエクスポート", "Slack export"),
        row=frozenset({"ts", "text"}),
        speaker=("user_profile.display_name", "user_profile.real_name", "username", "user"),
        at=("ts",),
        apart={"subtype": (...,)},
        by_day=True,
    ),
    JsonForm(
        name="instagram",
        about=("Instagram・Messenger のエクスポート", "Instagram and Messenger export"),
        row=frozenset({"sender_name", "timestamp_ms"}),
        by_day=True,
        broken=True,
    ),
    JsonForm(
        name="messenger",
        about=("Messenger のエクスポート (暗号化)", "Messenger export (end-to-end)"),
        row=frozenset({"senderName", "text"}),
        by_day=True,
    ),
    JsonForm(
        name="google-chat",
        about=("Google Chat のエクスポート", "Google Chat export"),
        row=frozenset({"creator", "text"}),
        by_day=True,
    ),
    JsonForm(
        name="sillytavern",
        about=("SillyTavern の会話", "SillyTavern chat"),
        row=frozenset({"mes", "is_user"}),
        apart={"is_system": (True,)},
    ),
    JsonForm(
        name="chatgpt",
        about=("ChatGPT のエクスポート", "ChatGPT export"),
        keys=frozenset({"mapping"}),
        speaker=("author.role",),
        text=("content.parts", "content.text"),
        at=("create_time",),
    ),
    JsonForm(
        name="claude",
        about=("Claude のエクスポート", "Claude export"),
        keys=frozenset({"chat_messages"}),
    ),
    JsonForm(
        name="sharegpt",
        about=("ShareGPT", "ShareGPT"),
        row=frozenset({"from", "value"}),
        apart={"from": APART},
    ),
    JsonForm(
        name="bsd",
        about=("Business Scene Dialogue (BSD)", "Business Scene Dialogue (BSD)"),
        row=frozenset({"ja_speaker", "ja_sentence"}),
    ),
    JsonForm(
        name="realpersonachat",
        about=("RealPersonaChat", "RealPersonaChat"),
        row=frozenset({"interlocutor_id", "text"}),
    ),
    JsonForm(
        name="msc",
        about=("Multi-Session Chat (MSC)", "Multi-Session Chat (MSC)"),
        keys=frozenset({"dialog", "previous_dialogs"}),
        speaker=("id",),
    ),
    JsonForm(
        name="whisper",
        about=("Whisper・WhisperX の書き起こし (話者つき)", "Whisper and WhisperX, with speakers"),
        keys=frozenset({"segments"}),
    ),
    JsonForm(
        name="recognised",
        about=("Deepgram・AWS Transcribe の書き起こし", "Deepgram's and AWS's transcripts"),
        row=frozenset({"transcript"}),
    ),
    JsonForm(
        name="matrix",
        about=("Matrix (Element) のエクスポート", "Matrix (Element) export"),
        row=frozenset({"sender", "origin_server_ts"}),
        by_day=True,
    ),
    JsonForm(
        name="signal",
        about=("Signal のエクスポート (signal-export)", "Signal export (signal-export)"),
        row=frozenset({"sent_at", "body"}),
        speaker=("sourceName", "source", "type"),
        by_day=True,
    ),
    JsonForm(
        name="live-chat",
        about=("配信のチャット (chat-downloader)", "chat of a live stream (chat-downloader)"),
        row=frozenset({"message", "author", "time_in_seconds"}),
    ),
    JsonForm(
        name="openai",
        about=(
            "OpenAI 形式のメッセージ (tau2-bench のログも)",
            "messages as OpenAI's, tau2-bench's logs, too",
        ),
        row=frozenset({"role", "content"}),
    ),
    JsonForm(
        name="gemini",
        about=("Gemini の contents", "Gemini's contents"),
        row=frozenset({"role", "parts"}),
    ),
    JsonForm(
        name="json",
        about=(
            '{"speaker", "text"}、[話者, 発話]、"名前: 発話" の並び',
            'a list of {"speaker", "text"}, [speaker, text] or "name: text"',
        ),
    ),
)


def first(row: Any, paths: Sequence[str]) -> Any:
    """The value at the first path with text or a number."""
    for path in paths:
        at = row
        for key in path.split("."):
            at = at.get(key) if isinstance(at, dict) else None
        if at not in (None, "") and not isinstance(at, dict | list):
            return at
    return None


def words(row: dict[str, Any], paths: Sequence[str]) -> str | None:
    """The text at the first path with text, its parts joined; `None` if there is none."""
    for path in paths:
        at: Any = row
        for key in path.split("."):
            at = at.get(key) if isinstance(at, dict) else None
        if isinstance(at, str):
            return at
        if isinstance(at, list):
            parts = [part if isinstance(part, str) else _part(part) for part in at]
            if all(part is not None for part in parts):
                return "".join(part or "" for part in parts)
    return None


def _part(part: Any) -> str | None:
    """The text of a part; "" for a picture, a sound or a tool call."""
    if not isinstance(part, dict):
        return None
    if part.get("thought") is True or part.get("type") == "thinking":
        return ""
    known = part.keys() & {"type", "content_type", "inlineData", "functionCall", "fileData"}
    text = part.get("text", "" if known else None)
    return text if isinstance(text, str) else None
