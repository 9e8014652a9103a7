"""Golden requests: what each role of each system is sent, step by step, as files to be reviewed.

    python tools/wire.py [SYSTEM]...   # writes tests/wire/golden

Short episodes of every system are run with models that answer as below; every request is taken
from the run's log as it was sent. One file a role of a sample episode: its first
requests one after the other, message by message, then the schema, with tokens and prefix.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from os.path import commonprefix
from pathlib import Path
from typing import Any

import naisei
from naisei.agent.opening import TalkConfig, opened
from naisei.agent.persona import Persona, load_persona
from naisei.core import AskUser, MemoryLog, arun
from naisei.lang import speaking
from naisei.models import registry
from naisei.models.base import ChatReply, ChatRequest
from naisei.relationship.vector import DIMENSIONS
from naisei.runs.directory import RunDirectory
from naisei.system.execute import RunOptions, execute
from naisei.system.registry import find_system

DATA = Path(naisei.__file__).parent / "data"
_DAY = datetime(2026, 4, 1, 9, tzinfo=UTC)
WIRE = Path(__file__).parents[1] / "tests" / "wire" / "golden"
#: Steps of a role that are kept of an episode.
KEPT = 3

Answer = Any | Callable[[ChatRequest], str]

_PIECES = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]|[A-Za-z]+|\d|\n|[^\sA-Za-z\d]")


@dataclass(frozen=True, slots=True)
class Request:
    """The body of one request, and the step of the episode that it belongs to."""

    step: str
    body: dict[str, Any]

    @property
    def schema(self) -> dict[str, Any]:
        """`{}` for a request of plain text."""
        asked = self.body.get("response_format", {})
        found: dict[str, Any] = asked.get("json_schema", {}).get("schema", {})
        return found

    @property
    def messages(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = self.body["messages"]
        return found

    @property
    def text(self) -> str:
        """All that a model reads, in the order in which a server lays it out: schema first."""
        said = [f"[{m['role']}]\n{m['content']}" for m in self.messages]
        form = json.dumps(self.schema, ensure_ascii=False) if self.schema else ""
        return "\n".join([form, *said])


def tokens(text: str) -> int:
    """About how many tokens a text is, whatever the model: a Japanese character 0.85, a word a
    fifth of its letters and at least 1, a figure or a mark 0.7."""
    weight = 0.0
    for piece in _PIECES.findall(text):
        if piece[0] >= "\u3000":
            weight += 0.85
        else:
            weight += max(1.0, len(piece) / 5) if piece[0].isalpha() else 0.7
    return round(weight)


def shared(earlier: Sequence[Request], now: Request) -> float:
    """The share of a request, 0 to 1, that begins as an earlier one of the same role did: what a
    server that keeps prefixes need not read again."""
    common = (commonprefix([one.text, now.text]) for one in earlier)  # noqa: RUF071 (no paths)
    return max((len(text) / len(now.text) for text in common), default=0.0)


def as_text(requests: Sequence[Request]) -> str:
    """For a file or a terminal."""
    parts = []
    for at, request in enumerate(requests):
        head = f"=== step {request.step} · {tokens(request.text)} tokens"
        if at:
            head += f" · {100 * shared(requests[:at], request):.0f} % as before"
        parts.append(head)
        parts += [f"--- {m['role']}\n{m['content']}" for m in request.messages]
        rest = {k: v for k, v in request.body.items() if k not in ("messages", "response_format")}
        if request.schema:
            parts.append(f"--- schema\n{json.dumps(request.schema, ensure_ascii=False, indent=1)}")
        if rest:
            parts.append(f"--- parameters\n{json.dumps(rest, ensure_ascii=False)}")
    return "\n".join(parts) + "\n"


def golden() -> dict[str, str]:
    """`SYSTEM/ROLE.SAMPLE` → the golden requests."""
    paths = sorted(WIRE.glob("*/*.txt"))
    return {f"{path.parent.name}/{path.stem}": path.read_text(encoding="utf-8") for path in paths}


@dataclass(frozen=True)
class Sample:
    """An episode: system, name of the sample, command, language, configuration, and what each
    role answers in turn (the last answer for all further turns)."""

    system: str
    name: str
    verb: str
    language: str
    config: Mapping[str, Any]
    answers: Mapping[str, Sequence[Answer]]


class Rehearsed:
    """A model that gives its answers in turn."""

    offline = free = True

    def __init__(self, name: str, answers: Sequence[Answer]) -> None:
        self.name, self._answers, self._turn = name, answers, 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        answer = self._answers[min(self._turn, len(self._answers) - 1)]
        self._turn += 1
        given = answer(request) if callable(answer) else answer
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        return ChatReply(text, model=self.name)

    async def aclose(self) -> None:
        """Nothing to close."""


def requests_of(sample: Sample, places: Places) -> dict[str, list[Request]]:
    """Role → its requests in order, of one sample."""
    experiment = next(e for e in find_system(sample.system).experiments if e.verb == sample.verb)
    models = {f"wire:{r}": Rehearsed(f"wire:{r}", a) for r, a in sample.answers.items()}
    out: dict[str, list[Request]] = defaultdict(list)
    filled = {k: places.of(v[1:]) if _is_place(v) else v for k, v in sample.config.items()}
    config = {**filled, "models": {r: f"wire:{r}" for r in sample.answers}}
    with (
        speaking(sample.language),  # type: ignore[arg-type]
        _models(models),
        tempfile.TemporaryDirectory() as folder,
    ):
        result = execute(
            experiment,
            experiment.config.model_validate(config),
            RunOptions(quiet=True, concurrency=1),
            run_dir=Path(folder) / "run",
        )
        if bad := [row.failure for row in result.outcome.rows if row.failure]:
            raise SystemExit(f"{sample.system} {sample.name}: {bad[0]}")
        with RunDirectory.look(result.run_dir) as run:
            for row in result.outcome.rows:
                for step, role, sent in run.log.sent(row.where.episode):
                    out[role] += [Request(step, e["request"]) for e in sent]  # type: ignore[call-overload,union-attr,index]
    return out


def _is_place(value: object) -> bool:
    return isinstance(value, str) and value.startswith("@")


@contextmanager
def _models(known: Mapping[str, Rehearsed]) -> Iterator[None]:
    """With these models, and on one day: what is sent may hold the date."""
    before = registry.open_model, registry._now
    registry.open_model = lambda spec, settings=None: known[spec]
    registry._now = lambda effect: _DAY
    try:
        yield
    finally:
        registry.open_model, registry._now = before


class Places:
    """What the samples need, made once in a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def of(self, name: str) -> str:
        path = self._root / name
        if not path.exists():
            {"index": self._index, "games": self._games, "corpus": self._corpus}[name](path)
        return str(path)

    def _index(self, path: Path) -> None:
        from naisei.retrieval.build import build

        build(path, DATA / "handbook", embedder=None)

    def _games(self, path: Path) -> None:
        from functools import partial
        from random import Random

        from naisei.textgame.make import cooking
        from naisei.textgame.make.many import make_many

        (config,) = Random(0).sample(cooking.grid("test"), 1)
        make = partial(cooking.make_cooking, config, "test", seed=0, number=0)
        for _ in make_many([(cooking.file_name(config, "test", seed=0, number=0), make)], path):
            pass

    def _corpus(self, path: Path) -> None:
        from naisei.cli.app import app

        given = ["--from", str(DATA / "emphasis_articles"), "--out", str(path)]
        app(["emphasis", "corpus", *given], standalone_mode=False)


def _copied(request: ChatRequest) -> str:
    """The text of a passage as it stands."""
    said = next(m.content for m in request.messages if m.role == "user")
    return said.split("\n", 3)[-1]


def _picked(request: ChatRequest) -> str:
    """The first command not given before that reads, opens or takes something or goes somewhere,
    else one after the other; notes where no commands are listed."""
    said = request.messages[-1].content
    listed = said.partition("ctions you can take now:\n")[2].partition("\n\n")[0].splitlines()
    listed = listed or re.findall(r"^- (.+)$", said, re.M)
    if not listed:
        return "- the cookbook is in the kitchen\n- read it first"
    listed = [c.removeprefix("- ") for c in listed]
    told = "\n".join(m.content for m in request.messages if m.role == "system")
    done = re.findall(r"^Action \d+: (.+?) →", told.partition("Action history")[2], re.M)
    done += [m.content for m in request.messages if m.role == "assistant"]
    liked = [c for c in listed if re.match(r"examine cookbook|open|take|go", c) and c not in done]
    command = liked[0] if liked else listed[len(done) % len(listed)]
    if request.schema is None:
        fills = "Consideration: this comes nearer.\n" * ("Consideration:" in said)
        return f"{fills}Next action: {command}" if "<one action" in said else command
    considered = "consideration" in request.schema.json["properties"]
    told_first = {"consideration": "This comes nearer to the goal."} if considered else {}
    return json.dumps({**told_first, "action": command})


def _clarify(language: str, agent: str) -> Sample:
    ja = language == "ja"
    thought = (
        "候補が多いので、まず困りごとを尋ねる。" if ja else "Many are left: ask about the trouble."
    )
    questions = (
        ("いま何か困っていますか。", "少し休みたいですか。")
        if ja
        else ("Is something troubling you?", "Would you like to rest a little?")
    )

    def decision(choice: str, question: str, action: int) -> Answer:
        return {"thought": thought, "choice": choice, "question": question, "action": action}

    def hypotheses(first: int, percent: int, question: str) -> Answer:
        rest = [(5, 10), (7, 5), (9, 5), (11, 5)]
        answers = ["yes", "no", "yes", "no", "unknown"] if question else []
        return {
            "thought": thought,
            "hypotheses": [{"action": a, "percent": p} for a, p in [(first, percent), *rest]],
            "question": question,
            "answers": answers,
        }

    asked = [decision("clarify", q, 3) for q in questions]
    guessed = [hypotheses(3, 15, q) for q in questions]
    return Sample(
        "clarify",
        f"{agent}.{language}",
        "run",
        language,
        {
            "data": "ambigact40-open" if ja else "ambigact40-open-en",
            "limit": 1,
            "simulator": "llm",
            "rules": {"trials": 2, "quota": 2},
            "agent": agent,
            "memory": "tur" if agent == "llm" else "reflexion",
        },
        {
            "agent": [*asked, decision("execute", "", 40), asked[1], decision("execute", "", 39)]
            if agent == "llm"
            else [*guessed, hypotheses(40, 70, ""), *guessed, hypotheses(39, 70, "")],
            "simulator": ["うん、少し落ち着かなくて。", "そうだね、少しなら。"]
            if ja
            else ["Yes, I feel a bit restless.", "Yes, a little."],
            "reflector": ["- 落ち着かないと言っていた\n- 40番は違った"]
            if ja
            else ["- They feel restless\n- 40 was wrong"],
        },
    )


def _director(language: str) -> Sample:
    lines = (
        "えー、休みの日はずっと寝てたいな。",
        "つまり、のんびりしたいのですね。本を読むのが目安ですよ。",
        "本もいいけど、外に出るのも悪くないよね？",
    )
    four = dict.fromkeys(("frame", "roleplay", "connection", "density", "naturalness"), 4)
    word = "直前の発言を受けてください。" if language == "ja" else "Take up the line before."
    return Sample(
        "director",
        language,
        "talk",
        language,
        {
            "topic": "休日の過ごし方" if language == "ja" else "how to spend a day off",
            "scene": "居間" if language == "ja" else "the living room",
            "turns": 6,
            "rules": {"language": language},
        },
        {
            "speaker": lines * 8,
            "judge": [_judged(four, word, 4), _judged(four, word, 2), _judged(four, word, 5)],
        },
    )


def _judged(four: Mapping[str, int], word: str, connection: int) -> Answer:
    """Whatever the judge's fields are, by what is asked for."""

    def answer(request: ChatRequest) -> str:
        assert request.schema is not None
        out: dict[str, Any] = {}
        for name, part in request.schema.json["properties"].items():
            whole = connection if name == "connection" else 4
            verdict = "PASS" if connection >= 4 else "RETRY"
            said = verdict if "enum" in part else word if connection < 4 else ""
            out[name] = whole if part.get("type") == "integer" else said
        return json.dumps(out, ensure_ascii=False)

    return answer


def _relationship(language: str) -> Sample:
    ja = language == "ja"
    lines = (
        ["おはようございます。", "おはよう。昨日のログは見たよ。", "助かります。直しておきます。"]
        if ja
        else ["Good morning.", "Morning. I saw yesterday's log.", "Thanks, I will mend it."]
    )
    questions = (
        ("先輩はどう頼んでいるか。", "私的なことを話しているか。", "仕事の話が中心か。")
        if ja
        else ("Who gives the orders?", "Do they speak of private things?", "Is it about work?")
    )
    return Sample(
        "relationship",
        language,
        "run",
        language,
        {
            "personas": ["engineers" if ja else "flatmates"],
            "rules": {
                "sessions": 2,
                "turns": 4,
                "reflection": "turn",
                "importance": "model",
                "importance_every": 4,
            },
            "embedder": "none",
        },
        {
            "speaker": lines,
            "questioner": [dict(zip(DIMENSIONS, questions, strict=True))],
            "reflector": [{"Power": 1, "Intimacy": 1, "TaskOriented": 2}],
            "summariser": [{"summary": "ログを直すことにした。" if ja else "The log is mended."}],
            "rater": [{"importances": [3, 5, 4, 6]}],
        },
    )


def _intent(language: str) -> Sample:
    ja = language == "ja"
    told = {
        "clarity": 3,
        "is_question": 1,
        "is_consultation": 5,
        "in_internal_docs": 1,
        "ask_person": 4,
        "ask_missing_info": "どの休暇のことですか。" if ja else "Which kind of leave?",
        "res_consultation": "",
        "ask_user_meta_info": "",
    }
    said = "翌年度末まで使えます。" if ja else "It can be used until the end of the next year."
    return Sample(
        "intent",
        language,
        "eval",
        language,
        {
            "index": "@index",
            "limit": 2,
            "user": "llm",
            "mode": "bm25",
            "rules": {
                "language": language,
                "chosen": True,
                "roles": ["evaluator", "answerer", "verifier"],
            },
        },
        {
            "evaluator": [told, told, {**told, "clarity": 1, "ask_missing_info": ""}],
            "simulator": ["去年の分が残っているかです。" if ja else "Whether some are left."],
            "answerer": [{"sentences": [{"text": said, "sources": [1]}], "answerable": True}],
            "verifier": [{"findings": [{"sentence": 1, "problem": "", "holds": True}]}],
        },
    )


def _emphasis(language: str) -> Sample:
    config = {"corpus": "@corpus", "tagger": "llm", "first": 2, "language": language}
    return Sample("emphasis", language, "eval", language, config, {"editor": [_copied]})


def _textgame(name: str, tries: int, **options: Any) -> Sample:
    config = {
        "games": "@games",
        "limit": 1,
        "agent": "llm",
        "agent_options": options,
        "tries": tries,
        "max_steps": 8,
    }
    answers = {"player": [_picked], "reflector": ["- the cookbook is in the kitchen"]}
    return Sample("textgame", f"{name}.en", "run", "en", config, answers)


#: What a person says to the robot of the household, and answers: a wish that is asked about, a
#: correction, thanks.
_SAYS = {
    "ja": ("お腹が空いたな", "甘いもの", "違う、果物のほう", "ありがとう、助かった"),
    "en": ("I am a bit hungry", "Something sweet", "No, I meant the fruit", "Thanks, that helps"),
}
_ROBOT_EN = {
    "id": "robot-en",
    "title": ("ソラ", "Sora"),
    "partner": "Mori, who lives here",
    "world": "household",
    "openers": ("How was your day?",),
    "character": {"id": "sora", "names": ["Sora"], "persona": "Sora, a robot that helps at home."},
    "facts": ({"say": "I cannot cook.", "asked": ("Can you cook?",)},),
}


def _talk_answers(language: str) -> dict[str, Sequence[Answer]]:
    ja = language == "ja"
    meal, fruit = ("何か食べたい", "果物を食べたい") if ja else ("I want food", "I want fruit")
    thought = "食べ物を望んでいる。" if ja else "They want food."
    asks = "甘いものですか。" if ja else "Is it something sweet?"

    def meant(kind: str, words: str) -> Answer:
        return {"thought": thought, "kind": kind, "words": words}

    def decided(choice: str, question: str, action: int) -> Answer:
        return {"thought": thought, "choice": choice, "question": question, "action": action}

    return {
        "understanding": [meant("act", meal), meant("correction", fruit), meant("chat", "-")],
        "agent": [
            decided("clarify", asks, 9),
            decided("execute", "", 9),
            decided("execute", "", 1),
        ],
        "reflector": ["- 甘い菓子より果物" if ja else "- Fruit rather than sweets"],
        "speaker": ["お役に立ててよかったです。" if ja else "I am glad that it helped."],
    }


def talk_requests(language: str) -> dict[str, list[Request]]:
    """Role → its requests in order, of a conversation with the agent."""
    persona = load_persona("robot")
    if language == "en":
        persona = Persona.model_validate({"schema": persona.schema_, **_ROBOT_EN})
    models = {f"wire:{r}": Rehearsed(f"wire:{r}", a) for r, a in _talk_answers(language).items()}
    config = TalkConfig(persona=persona, models={r: f"wire:{r}" for r in _talk_answers(language)})
    says, log = [*_SAYS[language]], MemoryLog()

    def person(effect: AskUser) -> str:
        if not says:
            raise StopAsyncIteration
        return says.pop(0)

    async def go(folder: Path) -> None:
        async with registry.base_world(config.models, embedder=config.embedder) as base:
            given: Any = {"folder": folder, "people": folder, "kept": None, "human": person}
            async with opened(config, base, (), **given) as ready:
                with suppress(StopAsyncIteration):
                    await arun(ready.flow, ready.world, log=log)

    with (
        speaking(language),  # type: ignore[arg-type]
        _models(models),
        tempfile.TemporaryDirectory() as folder,
    ):
        asyncio.run(go(Path(folder)))
    out: dict[str, list[Request]] = defaultdict(list)
    for event in log.events:
        request, used = event.request, event.usage
        if event.kind == "chat" and used is not None:
            sent = [Request(event.where.step, each["request"]) for each in used.sent]  # type: ignore[call-overload,index]
            out[request["role"]] += sent  # type: ignore[call-overload,index]
    return out


SAMPLES = (
    *(_clarify(language, agent) for agent in ("llm", "hybrid") for language in ("ja", "en")),
    *(_director(language) for language in ("ja", "en")),
    *(_relationship(language) for language in ("ja", "en")),
    *(_intent(language) for language in ("ja", "en")),
    *(_emphasis(language) for language in ("ja", "en")),
    _textgame("whole", 2, memory="tur"),
    _textgame("template", 1, reply="template", history_chars=1200),
    _textgame("direct", 1, thinking=False, example="none"),
    _textgame("dialogue", 2, prompt="dialogue", navigator=True, memory="reflexion"),
)


def written(systems: Sequence[str] = ()) -> dict[str, str]:
    """Path under `WIRE` → text, of the golden requests as the code makes them now."""
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        places = Places(Path(folder))
        for sample in SAMPLES:
            if not systems or sample.system in systems:
                for role, sent in requests_of(sample, places).items():
                    name = f"{sample.system}/{role}.{sample.name}.txt"
                    out[name] = as_text(sent[:KEPT])
    for language in ("ja", "en") if not systems or "agent" in systems else ():
        for role, sent in talk_requests(language).items():
            out[f"agent/{role}.{language}.txt"] = as_text(sent[:KEPT])
    return out


def main() -> None:
    for name, text in written(sys.argv[1:]).items():
        path = WIRE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(name, *text.splitlines()[0].split(" · ")[1:])


if __name__ == "__main__":
    main()
