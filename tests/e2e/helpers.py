"""What the end-to-end tests share: data of their own, and a model whose answers depend on
nothing but the conversation."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: Hidden intents are among the first actions, and so are the brain's choices: it fails often
#: and succeeds often.
_ACTIONS = 5
_QUESTIONS = (
    "のどが渇いていますか？",
    "おなかがすいていますか？",
    "これから出かけるところですか？",
    "部屋が寒いですか？",
    "少し横になりたいですか？",
)
_TRIED = re.compile("すでに実行して違っていた行動.*")
_NUMBER = re.compile(r"(\d+)\. ")
_PLACES = ("居間", "台所", "寝室", "玄関")


def rows(n: int) -> list[dict[str, Any]]:
    """`n` instances, each in a scene of its own."""
    return [
        {
            "id": f"i{number:03}",
            "utterance": f"{number + 1}件目の用事が終わった。ふう。",
            "user": {"place": _PLACES[number % len(_PLACES)], "time": f"{8 + number % 12}時ごろ"},
            "surroundings": {"台所": ["水の入ったポット", "コップ"], "居間": ["ソファ", "毛布"]},
            "gold": 1 + number % _ACTIONS,
        }
        for number in range(n)
    ]


def write_rows(path: Path, some: Iterable[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in some)
    path.write_text(text, encoding="utf-8")
    return path


def brain(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Agent, reflector and user in one: the answer is drawn by a hash of the conversation."""
    said = json.dumps(messages, ensure_ascii=False, sort_keys=True)
    draw = int.from_bytes(hashlib.sha256(said.encode()).digest()[:8], "big")
    if schema is None:
        return f"それは{draw % 1000}番目の話です。落ち着いて考え直してください。"
    heard = [str(m["content"]) for m in messages if m["role"] == "user"]
    tried = {int(n) for line in _TRIED.findall("\n".join(heard)) for n in _NUMBER.findall(line)}
    allowed = [n for n in schema["properties"]["action"]["enum"] if n not in tried]
    action = allowed[draw // 7 % _ACTIONS]
    reply = {
        "thought": f"{draw % 97}番の考え",
        "choice": "execute",
        "question": "",
        "action": action,
    }
    if "もう質問はできません" not in heard[-1]:
        asks = draw % 5 < 3
        reply["choice"] = "clarify" if asks else "execute"
        reply["question"] = _QUESTIONS[draw // 11 % len(_QUESTIONS)] if asks else ""
    return json.dumps(reply, ensure_ascii=False)


def run_flags(data: Path, url: str, run_dir: Path, *, trials: int = 3) -> list[str]:
    """Three roles at one endpoint: agent, reflector (TUR) and the user."""
    model = f"openai-compatible:test@{url}"
    flags = ["clarify", "run", "--data", data, "--agent", "llm", "--model", model]
    flags += ["--simulator", "llm", "--memory", "tur", "--trials", trials]
    flags += ["--run-dir", run_dir, "--json", "--quiet"]
    return [str(flag) for flag in flags]


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
