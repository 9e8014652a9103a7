"""故障の切り分け: finds the cause of a fault with as few questions as possible.

A table states for each cause how a customer would answer each question. The agent asks the most
informative question, and suggests a remedy once it is sure enough. See docs/tutorial/own-system.md.
"""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, JsonValue

from naisei import core
from naisei.core import Act, AskUser, Chat, Flow, InputError, Observation, Say, Where, World
from naisei.lang import say
from naisei.runs.lines import Line, Mark
from naisei.runs.statistics import mean_metric
from naisei.runs.task import EpisodeRow, Summary, Task
from naisei.system.config import Config, flag
from naisei.system.declare import Ablation, Experiment, Role, Row, System

Answer = Literal["はい", "いいえ", "わからない"]

TABLE = """
[questions]
lamp = "ルーターのランプは緑に光っていますか"
phone = "スマートフォンでも Wi-Fi につながりませんか"
cable = "ケーブルで直接つなぐと使えますか"
outage = "ご近所でも使えないと聞いていますか"
new = "最近、パスワードか機器を変えましたか"
slow = "つながるけれど遅い、という状態ですか"

[causes.outage]
remedy = "回線の復旧を待ち、障害情報の通知に登録する"
yes = ["phone", "outage"]
[causes.router]
remedy = "ルーターの電源を入れ直す"
yes = ["phone"]
[causes.password]
remedy = "新しいパスワードを端末に登録し直す"
yes = ["lamp", "phone", "cable", "new"]
[causes.laptop]
remedy = "パソコンの無線を入れ直す"
yes = ["lamp", "cable"]
[causes.crowded]
remedy = "5 GHz の Wi-Fi に切り替える"
yes = ["lamp", "phone", "cable", "slow"]
[causes.line]
remedy = "回線の工事を予約する"
yes = ["lamp", "phone", "slow"]
"""


class TriageConfig(Config):
    """Each field is a flag, a frozen key, a help entry and a row of the reference."""

    table: str = flag("", "故障の表 (TOML)", "Table of faults, a TOML file.", metavar="FILE")
    agent: Literal["gain", "order", "llm"] = flag(
        "gain",
        "質問の選び方 (複数可): gain (情報量), order (表の順), llm",
        "How to choose questions, repeatable: gain (information), order (as listed), llm.",
        axis=True,
    )
    quota: int = flag(4, "質問の上限", "Most questions.", ge=0)
    sure: float = flag(
        0.8, "この確率で切り分けを終える", "Probability that ends the triage.", gt=0, le=1
    )
    noise: float = flag(
        0.1, "わからないと答える割合", "Share of answers that are わからない.", ge=0, lt=1
    )
    cases: int = flag(20, "原因ごとの件数", "Cases per cause.", panel="run", ge=1)


@dataclass(frozen=True)
class Table:
    """questions: id → text. remedies: cause → remedy. yes: cause → questions answered yes."""

    questions: Mapping[str, str]
    remedies: Mapping[str, str]
    yes: Mapping[str, frozenset[str]]

    @staticmethod
    def read(path: str) -> Table:
        """Raises `InputError` for a file that is no table."""
        try:
            data = tomllib.loads(Path(path).read_text("utf-8") if path else TABLE)
            causes = data["causes"]
            return Table(
                questions={k: str(v) for k, v in data["questions"].items()},
                remedies={k: str(c["remedy"]) for k, c in causes.items()},
                yes={k: frozenset(c["yes"]) for k, c in causes.items()},
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                say(f"故障の表として読めません: {error}", f"no table of faults: {error}"),
                place=path,
            ) from error

    def likelihood(self, cause: str, question: str, answer: str, noise: float) -> float:
        """P(answer | cause), with 2 % wrong answers."""
        if answer == "わからない":
            return max(noise, 0.02)
        right = (answer == "はい") == (question in self.yes[cause])
        return (1 - noise) * (0.98 if right else 0.02)


class Result(BaseModel):
    """The result of an episode."""

    cause: str
    answers: list[tuple[str, str]]
    tried: str
    solved: bool


class Choice(BaseModel):
    """A model's choice: the reason first, then one question, or ""."""

    reason: str
    question: str


def belief(table: Table, answers: Sequence[tuple[str, str]], noise: float) -> dict[str, float]:
    """P(cause | answers), from a uniform prior."""
    weight = {
        cause: math.prod(table.likelihood(cause, q, a, noise) for q, a in answers)
        for cause in table.remedies
    }
    total = sum(weight.values())
    return {cause: w / total for cause, w in weight.items()}


def entropy(p: Mapping[str, float]) -> float:
    """In bits."""
    return -sum(x * math.log2(x) for x in p.values() if x > 0)


def gain(table: Table, answers: list[tuple[str, str]], question: str, noise: float) -> float:
    """Expected reduction of the entropy over causes, in bits."""
    now = belief(table, answers, noise)
    left = 0.0
    for answer in ("はい", "いいえ"):
        chance = sum(p * table.likelihood(c, question, answer, noise) for c, p in now.items())
        left += chance * entropy(belief(table, [*answers, (question, answer)], noise))
    return entropy(now) - left


PROMPT = """あなたは通信会社の相談窓口です。原因を切り分けるため、次に聞く質問を一つ選びます。
原因の候補: $causes
質問の候補: $questions
まず理由を一文で書き、次に質問の名前を書きます。もう聞くことがなければ質問は空にします。"""


def choose(table: Table, answers: list[tuple[str, str]], config: TriageConfig) -> Flow[str]:
    """The id of the next question; "" to stop."""
    left = [q for q in table.questions if q not in dict(answers)]
    if not left or config.agent == "order":
        return left[0] if left else ""
    if config.agent == "gain":
        return max(left, key=lambda q: gain(table, answers, q, config.noise))
    prompt = PROMPT.replace("$causes", "、".join(table.remedies.values()))
    prompt = prompt.replace("$questions", "、".join(f"{q} ({table.questions[q]})" for q in left))
    turns = "\n".join(f"{table.questions[q]} → {a}" for q, a in answers) or "まだ質問していません"
    choice = yield from Chat("agent", [core.system(prompt), core.user(turns)], Choice)
    return choice.question if choice.question in left else ""


def triage(cause: str, table: Table, config: TriageConfig) -> Flow[Result]:
    """The algorithm: ask until sure or out of questions; then try one remedy."""
    answers: list[tuple[str, str]] = []
    while len(answers) < config.quota:
        if max(belief(table, answers, config.noise).values()) >= config.sure:
            break
        question = yield from choose(table, answers, config)
        if not question:
            break
        answer = yield from AskUser(table.questions[question])
        answers.append((question, answer))
    chances = belief(table, answers, config.noise)
    best = max(chances, key=lambda c: chances[c])
    observation = yield from Act({"try": best})
    return Result(cause=cause, answers=answers, tried=best, solved=observation.reward > 0)


class TriageTask(Task[TriageConfig]):
    """Simulated customers, `cases` per cause; some answers are わからない."""

    system = "triage"

    def __init__(self, config: TriageConfig) -> None:
        self.config = config
        self.table = Table.read(config.table)
        yes = {cause: sorted(questions) for cause, questions in self.table.yes.items()}
        self.data_hash = core.fingerprint([self.table.questions, self.table.remedies, yes])

    def episodes(self) -> list[Where]:
        return [Where(c, n + 1) for c in self.table.remedies for n in range(self.config.cases)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        cause, table = where.instance, self.table
        draw = random.Random(f"{self.config.seed} {where.episode}")
        unsure = {q for q in table.questions if draw.random() < self.config.noise}
        ids = {text: q for q, text in table.questions.items()}

        def customer(ask: AskUser) -> str:
            question = ids[ask.question]
            if question in unsure:
                return "わからない"
            return "はい" if question in table.yes[cause] else "いいえ"

        def act(tried: Act) -> Observation:
            return Observation(reward=float(tried.action == {"try": cause}), done=True)

        return triage(cause, table, self.config), base.having({AskUser: customer, Act: act})

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        scored = [row for row in rows if row.scored]
        found = [Result.model_validate(row.result) for row in scored]
        solved = [float(r.solved) for r in found]
        questions = [float(len(r.answers)) for r in found]
        names = [row.where.episode for row in scored]
        metrics = (
            mean_metric("pass@1", solved, clusters=None, share=True, paired=True),
            mean_metric("questions", questions, clusters=None, paired=True),
        )
        return Summary(metrics, notes=self.model_notes(), extra={"units": names})

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        r = Result.model_validate(result)
        lines = [Line(f"{self.table.questions[q]} → {a}") for q, a in r.answers]
        return [*lines, Line(self.table.remedies[r.tried], marks=(Mark("○" if r.solved else "×"),))]


def _with(**changes: Any) -> Row[TriageConfig]:
    return Row(lambda config: config.model_copy(update=changes))


RUN: Experiment[TriageConfig] = Experiment(
    about=("故障の原因を質問で切り分ける", "Find the cause of faults by asking."),
    config=TriageConfig,
    load=TriageTask,
    roles=(Role("agent", needed=lambda config: config.agent == "llm"),),
    ablation=Ablation(
        rows={"full": _with(), "in-order": _with(agent="order"), "no-questions": _with(quota=0)},
    ),
)

SYSTEM = System(
    name="triage",
    about=("故障の原因を、少ない質問で切り分ける", "Finds a fault with few questions."),
    experiments=(RUN,),
    page="triage:page",
)


def with_a_person(table: Table, config: TriageConfig) -> Flow[Result]:
    """The same algorithm, then say the remedy."""
    result = yield from triage("", table, config)
    yield from Say(table.remedies[result.tried], say("窓口", "desk"))
    return result


def page() -> Any:
    """The page: the visitor is the customer."""
    from naisei.runs.asking import OneOf
    from naisei.runs.conversation import Prepared
    from naisei.web.conversations.kind import ConversationContext, ConversationKind
    from naisei.web.conversations.routes import page_routes
    from naisei.web.pages import Page

    @asynccontextmanager
    async def opened(config: TriageConfig, here: ConversationContext) -> AsyncIterator[Prepared]:
        table, base = Table.read(config.table), await here.world(config.models)
        customer = here.human(OneOf(*get_args(Answer)))
        handlers: Any = {AskUser: customer, Act: lambda _: Observation(), Say: lambda _: None}
        yield Prepared(with_a_person(table, config), base.having(handlers))

    kind = ConversationKind(name="triage", config=TriageConfig, open=opened)
    routes = page_routes(kind, experiment=RUN, fields=("agent", "quota"))
    return Page(
        name="triage", title=("故障診断", "Triage"), about=SYSTEM.about, routes=routes, kinds=[kind]
    )
