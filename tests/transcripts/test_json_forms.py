"""Exports and data sets in JSON: who said what, in which order, and what is no utterance."""

import json
from typing import Any

import pytest

from naisei.core import InputError
from naisei.transcripts import parse_transcripts

SAID = [("A", "昨日は遅くまでごめんね"), ("B", "ううん、楽しかったよ"), ("A", "次は私がおごるから")]
(_, X), (_, Y), (_, Z) = SAID


def broken(text: str) -> str:
    """Text as Instagram writes it: the bytes of UTF-8 as characters."""
    return text.encode().decode("latin-1")


def each(**keys: str) -> list[dict[str, Any]]:
    """A row for each utterance: key → `who`, `text`, `n`."""
    return [
        {k: {"who": who, "text": text, "n": n}[v] for k, v in keys.items()}
        for n, (who, text) in enumerate(SAID)
    ]


def discord(who: str, text: str) -> dict[str, Any]:
    return {"type": "Default", "content": text, "author": {"name": who.lower(), "nickname": who}}


def mapping() -> dict[str, Any]:
    """A ChatGPT conversation with an answer that was asked for again."""
    nodes: dict[str, Any] = {"root": {"message": None, "parent": None, "children": ["0"]}}
    for n, (who, text) in enumerate(SAID):
        message = {"author": {"role": who}, "content": {"content_type": "text", "parts": [text]}}
        parent = str(n - 1) if n else "root"
        nodes[str(n)] = {"message": message, "parent": parent, "children": [str(n + 1)]}
    other = {"author": {"role": "B"}, "content": {"content_type": "text", "parts": ["別の答え"]}}
    nodes["x"] = {"message": other, "parent": "0", "children": []}
    nodes["2"]["children"] = []
    hidden = {"author": {"role": "system"}, "content": {"content_type": "text", "parts": [""]}}
    nodes["root"]["message"] = hidden
    return {"title": "t", "mapping": nodes, "current_node": "2"}


FORMS: dict[str, list[Any]] = {
    "discord": [
        {
            "guild": {},
            "channel": {},
            "messages": [
                *[discord(who, text) for who, text in SAID],
                {**discord("A", "A pinned a message."), "type": "ChannelPinnedMessage"},
                {**discord("A", "Changed the channel name: x"), "type": "ChannelNameChange"},
                {**discord("A", "Changed the channel icon."), "type": "ChannelIconChange"},
            ],
        }
    ],
    "messenger": [
        {
            "participants": ["A", "B"],
            "messages": [
                {"senderName": who, "text": text, "timestamp": 1775900000000 + n, "type": "text"}
                for n, (who, text) in reversed([*enumerate(SAID)])
            ],
        }
    ],
    "telegram": [
        {
            "name": "B",
            "messages": [
                *[
                    {
                        "type": "message",
                        "from": w,
                        "from_id": w,
                        "text": [t[:2], {"type": "bold", "text": t[2:]}],
                    }
                    for w, t in SAID
                ],
                {"type": "service", "from_id": "B", "actor": "B", "text": ""},
            ],
        }
    ],
    "slack": [
        [
            {
                "type": "message",
                "user": "U",
                "ts": f"17759000{n}0.1",
                "text": t,
                "user_profile": {"real_name": w},
            }
            for n, (w, t) in enumerate(SAID)
        ]
        + [
            {
                "type": "message",
                "subtype": "channel_join",
                "user": "U",
                "ts": "1775900090.1",
                "text": "joined",
            }
        ]
    ],
    "instagram": [
        {
            "participants": [{"name": "A"}, {"name": "B"}],
            "messages": [
                {"sender_name": w, "timestamp_ms": 1775900000000 + n, "content": broken(t)}
                for n, (w, t) in reversed(list(enumerate(SAID)))
            ]
            + [{"sender_name": "A", "timestamp_ms": 1775899999000, "photos": []}],
        }
    ],
    "recognised": [
        {
            "jobName": "x",
            "results": {"audio_segments": each(speaker_label="who", transcript="text")},
        },
        {"results": {"utterances": each(speaker="who", transcript="text", start="n")}},
    ],
    "matrix": [
        {
            "messages": [
                {"sender": w, "origin_server_ts": 1775900000000 + n, "content": {"body": t}}
                for n, (w, t) in enumerate(SAID)
            ]
        }
    ],
    "signal": [
        [
            {"sent_at": 1775900000000 + n, "type": "incoming", "sourceName": w, "body": t}
            for n, (w, t) in enumerate(SAID)
        ]
    ],
    "live-chat": [
        [
            {"message": t, "author": {"name": w, "id": "x"}, "time_in_seconds": n}
            for n, (w, t) in enumerate(SAID)
        ]
    ],
    "google-chat": [
        {"messages": [{"creator": {"name": w}, "created_date": "x", "text": t} for w, t in SAID]}
    ],
    "chatgpt": [[mapping()], mapping()],
    "claude": [[{"uuid": "u", "name": "t", "chat_messages": each(sender="who", text="text")}]],
    "sharegpt": [
        {
            "conversations": [
                {"from": "system", "value": "s"},
                *each(**{"from": "who", "value": "text"}),
            ]
        }
    ],
    "bsd": [
        [
            {
                "id": "1",
                "conversation": each(
                    no="n", ja_speaker="who", ja_sentence="text", en_sentence="text"
                ),
            }
        ]
    ],
    "realpersonachat": [
        {
            "dialogue_id": 1,
            "interlocutors": ["A", "B"],
            "utterances": each(utterance_id="n", interlocutor_id="who", text="text"),
        }
    ],
    "whisper": [{"segments": each(speaker="who", text="text", start="n"), "language": "ja"}],
    "openai": [
        {"messages": [{"role": "system", "content": "s"}, *each(role="who", content="text")]},
        {"messages": [{"role": w, "content": [{"type": "text", "text": t}]} for w, t in SAID]},
        {
            "simulations": [
                {
                    "id": "s",
                    "messages": [
                        *each(role="who", content="text"),
                        {"role": "B", "content": None, "tool_calls": [{"id": "c"}]},
                        {"role": "tool", "content": "{}"},
                    ],
                }
            ]
        },
    ],
    "json": [
        each(speaker="who", text="text"),
        [[w, t] for w, t in SAID],
        [f"{w}: {t}" for w, t in SAID],
        {"scenes": [{"utterances": each(speaker="who", text="text")}]},
        {"dialogue": each(話者="who", 発話="text")},
    ],
}


@pytest.mark.parametrize(
    ("form", "data"), [(form, data) for form, several in FORMS.items() for data in several]
)
def test_a_form_of_json_is_known_and_read(form: str, data: Any) -> None:
    (one,) = parse_transcripts(json.dumps(data, ensure_ascii=False), "t.json")
    assert one.form == form
    assert [(turn.speaker, turn.text) for turn in one.turns] == SAID


def test_sillytavern_begins_with_a_row_of_its_own() -> None:
    rows = [
        {"user_name": "A", "character_name": "B", "create_date": "2026-4-11"},
        *[{"name": w, "is_user": w == "A", "mes": t, "send_date": "x"} for w, t in SAID],
        {"name": "System", "is_system": True, "is_user": False, "mes": "hidden"},
    ]
    (one,) = parse_transcripts("\n".join(map(json.dumps, rows)), "t.jsonl")
    assert one.form == "sillytavern"
    assert [(turn.speaker, turn.text) for turn in one.turns] == SAID
    assert one.turns[0].number == 2


def test_earlier_sessions_of_msc_are_sessions() -> None:
    data = {
        "dialog": [{"id": "Speaker 1", "text": "c"}, {"id": "Speaker 2", "text": "d"}],
        "previous_dialogs": [{"dialog": [{"text": "a"}, {"text": "b"}]}],
    }
    (one,) = parse_transcripts(json.dumps(data), "t.json")
    assert [(t.session, t.speaker[-1], t.text) for t in one.turns] == [
        (1, "A", "a"), (1, "B", "b"), (2, "A", "c"), (2, "B", "d"),
    ]  # fmt: skip


SEVERAL = [
    [["A: おはよう", "B: おはよう"], ["A: 部長", "B: うん"]],
    [{"id": "x", "turns": each(speaker="who", text="text")}, {"id": "y", "turns": [["A", "あ"]]}],
    {
        "chats": {
            "list": [{"id": 1, "messages": [["A", "あ"]]}, {"id": 2, "messages": [["A", "い"]]}]
        }
    },
    [{"conversation_id": c, "speaker": "A", "text": "あ"} for c in "xy"],
]


@pytest.mark.parametrize("data", SEVERAL)
def test_several_dialogues_stay_apart(data: Any) -> None:
    found = parse_transcripts(json.dumps(data), "t.json")
    assert len(found) == 2 and len({one.name for one in found}) == 2
    assert all(set(one.speakers) <= {"A", "B"} for one in found)


@pytest.mark.parametrize(
    "data", [{"a": 1}, {"name": "ミナ", "first_mes": "やあ"}, [1, 2], ["ただの文"], [{"text": 3}]]
)
def test_json_without_a_dialogue_is_refused(data: Any) -> None:
    with pytest.raises(InputError) as caught:
        parse_transcripts(json.dumps(data), "t.json")
    assert caught.value.remedy


def test_dailydialog_of_hugging_face_takes_turns() -> None:
    rows = [{"dialog": [text for _, text in SAID], "act": [1, 1, 2]}] * 2
    found = parse_transcripts("\n".join(map(json.dumps, rows)), "t.jsonl")
    assert [[(t.speaker, t.text) for t in one.turns] for one in found] == [SAID, SAID]


def test_seconds_of_telegram_are_times() -> None:
    rows = [
        {
            "type": "message",
            "date_unixtime": str(1778421600 + n),
            "from": w,
            "from_id": w,
            "text": t,
        }
        for n, (w, t) in enumerate(SAID)
    ]
    (one,) = parse_transcripts(json.dumps({"messages": rows}), "result.json")
    assert one.form == "telegram"
    assert [turn.at and turn.at.isoformat() for turn in one.turns] == [
        f"2026-05-10T14:00:0{n}+00:00" for n in range(len(SAID))
    ]


def test_a_profile_of_slack_names_its_user_wherever_mentioned() -> None:
    rows: list[dict[str, Any]] = [
        {"user": "U1", "ts": "1778421600.1", "text": "やあ"},
        {"user": "U2", "ts": "1778421601.1", "text": "<@U1> はい"},
        {"user": "U1", "ts": "1778421602.1", "text": "<@U2> うん"},
    ]
    for row, profile in zip(
        rows[1:], [{"display_name": "リン"}, {"display_name": "", "real_name": "山田"}], strict=True
    ):
        row["user_profile"] = profile
    (one,) = parse_transcripts(json.dumps(rows), "day.json")
    assert [(turn.speaker, turn.text) for turn in one.turns] == [
        ("山田", "やあ"), ("リン", "@山田 はい"), ("山田", "@リン うん")]  # fmt: skip
