"""`bayes`: no language model. A calibrated posterior; it asks only while a question pays.

The posterior is rebuilt from the view at every step: the scene's prior, then all answers of
this and the earlier trials; actions known to be wrong are removed. The policy
decides between the best question and the likeliest action (`policy.plan`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from naisei.clarify.agent import AgentContext, AgentFactory, View
from naisei.clarify.agents.deeds import Deed
from naisei.clarify.agents.direct import RequestedAction, Requests
from naisei.clarify.agents.features import (
    Features,
    load_weights,
    scene_texts,
    weights_documents,
)
from naisei.clarify.agents.knowledge import knowledge_for
from naisei.clarify.agents.policy import Plan, Stage, plan
from naisei.clarify.agents.posterior import Posterior
from naisei.clarify.agents.questions import Bank, naming, read_back
from naisei.clarify.schemas import (
    Chance,
    Clarify,
    Decision,
    Decline,
    Declined,
    Execute,
    Language,
    Turn,
)
from naisei.core import Embed, Flow
from naisei.japanese.answers import Stance, at_a_loss, none_of_them, understand
from naisei.japanese.declining import asks_nothing
from naisei.plugins import Options
from naisei.similarity import order

_WHY = {
    "ja": {
        "ask": "このまま動くより、先に一つ伺ったほうがよさそうだ。",
        "execute": "これ以上伺うより、動いてみるほうがよさそうだ。",
        "must": "もう質問はできないので、いちばん見込みのあるものを選ぶ。",
        "plain": "はっきり頼まれたので、そのとおりにする。",
        "no request": "頼みごとではないので、何もしない。",
        "none fits": "望みに合う行動がないので、何もしない。",
    },
    "en": {
        "ask": "Asking one thing first looks better than acting now.",
        "execute": "Acting now looks better than asking on.",
        "must": "No question is left, so the likeliest it is.",
        "plain": "It was asked for outright.",
        "no request": "Nothing was asked for, so nothing is done.",
        "none fits": "No action would do what is wanted, so nothing is done.",
    },
}


def _leading(texts: Sequence[str], chances: Sequence[float], language: Language) -> str:
    """The leading hypotheses with their probabilities, as a sentence."""
    percent = [f"{round(100 * p)}%" for p in chances]
    if language == "ja":
        named = [f"「{text}」（{p}）" for text, p in zip(texts, percent, strict=True)]
        rest = "、次に" + "、".join(named[1:]) if len(named) > 1 else ""
        return f"いちばんありそうなのは{named[0]}{rest}。"
    named = [f'"{text}" ({p})' for text, p in zip(texts, percent, strict=True)]
    rest = ", then " + ", ".join(named[1:]) if len(named) > 1 else ""
    return f"Most likely {named[0]}{rest}."


def rationale(texts: Sequence[str], chances: Sequence[float], why: str, language: Language) -> str:
    """`_leading` and the reason to ask or execute. why: `ask`, `execute` or `must`."""
    space = "" if language == "ja" else " "
    return _leading(texts, chances, language) + space + _WHY[language][why]


Array = npt.NDArray[np.float64]

#: Number of likeliest actions that the policy considers.
SUPPORT = 12
#: Number of likeliest actions in a decision, and in its explanation.
SHOWN, NAMED = 6, 3
#: Factor on the odds of an action that does not fit the request.
UNASKED = 0.02
#: Below this probability the likeliest action is not proposed.
UNLIKELY = 0.25
#: From this probability on, a request may concern one of the three likeliest things.
LIKELY = 0.3
#: From this probability on, the agent acts on a remark that is not a request.
SURE = 0.75


class BayesOptions(Options):
    """weights: name of a knowledge table, or path of a JSON by tools/calibrate_bayes.py."""

    weights: str | None = None


class BayesAgent:
    """Asks by expected discounted success; see the module docstring."""

    name = "bayes"

    def __init__(self, context: AgentContext) -> None:
        options = BayesOptions.model_validate(dict(context.options))
        embedder = context.get_embedder()
        self._knowledge = knowledge_for(context.actions)
        self._alpha, self._beta = context.alpha, context.beta
        self._trials = context.trials
        self._ids = np.array(context.actions.ids)
        features = Features(self._knowledge, embedder)
        table = self._knowledge.table
        # Tables have separate weights for English scenes.
        names: dict[Language, str] = {"ja": table, "en": f"{table}.en" if table else table}
        self._posteriors = {
            language: Posterior(features, load_weights(options.weights or name))
            for language, name in names.items()
        }
        #: Digests of the scenes its weights were fitted to.
        self.trained_on: frozenset[str] = frozenset().union(
            *(() if options.weights else map(weights_documents, set(names.values()))),
        )
        self._banks = {
            language: Bank.of(context.actions, table, posterior.channel(), language)
            for language, posterior in self._posteriors.items()
        }
        self._requests = Requests(self._knowledge)

    def decide(self, view: View) -> Flow[Decision]:
        language = view.scene.language
        # Dataset utterances are ambiguous; live users may be explicit, or request nothing.
        wanted = self._requests.wanted(view.scene.utterance, view.asked) if view.declines else None
        fits = self._requests.fitting(wanted) if wanted else []
        if len(fits) == 1 and int(self._ids[fits[0]]) in view.allowed:
            return Execute(action=int(self._ids[fits[0]]), thought=_WHY[language]["plain"])
        if view.declines and (reason := self._declined(view)):
            return Decline(reason=reason, thought=_WHY[language][reason])
        belief = yield from self._believed(view)
        if view.declines:
            belief = self._requested(view, wanted, fits, belief)
        said = view.scene.utterance
        requested = view.declines and bool(wanted or self._requests.asks(said))
        named = bool(fits or (view.declines and self._requests.about(said)))
        unknown = requested and not named
        can = not Deed.of(said).words or (wanted and self._likely(belief, language))
        if unknown and not view.asked and not can:
            return Decline(reason="none fits", thought=_WHY[language]["none fits"])
        questions = self._banks[language]
        open_thing = len(fits) > 1 and not self._knowledge.table
        if not named or open_thing:
            named_things = naming(self._knowledge.items, belief, language)
            questions = questions.having(named_things[: 2 if view.declines else None])
        if unknown or open_thing:  # ask only which thing is meant
            questions = questions.only("named")
        remark = view.declines and not (requested or view.asked)
        return self._decision(view, belief, questions, sure=SURE if remark else 0.0)

    def _likely(self, belief: Array, language: Language) -> bool:
        """Whether the wish likely concerns one of the three likeliest things."""
        likeliest = naming(self._knowledge.items, belief, language)[1:2]
        held = [np.array(q.truth) != "none" for q in likeliest]
        return not held or float(belief[held[0]].sum()) >= LIKELY

    def _declined(self, view: View) -> Declined | None:
        """Why nothing should be done, by the last line; `None` if something should."""
        said = view.asked[-1].answer if view.asked else view.scene.utterance
        if self._requests.read(said):
            return None
        denied = [_denies_all(turn) for turn in view.asked]
        if denied and denied[-1]:
            return "none fits" if sum(denied) > 1 or not view.may_ask else None
        lost = view.asked and not view.may_ask and at_a_loss(said)
        return "no request" if lost or asks_nothing(said) else None

    def _decision(self, view: View, belief: Array, questions: Bank, *, sure: float) -> Decision:
        """Ask, execute, or decline if nothing is likely and no question is left. sure: below this
        probability it prefers to ask."""
        language = view.scene.language
        chosen = self._plan(view, questions, {t.question for t in _turns(view)}, belief)
        guess = int(self._ids[chosen.action])
        top = order(belief)[:SHOWN]
        chances = tuple(Chance(action=int(self._ids[i]), p=float(belief[i])) for i in top)
        texts = [self._knowledge.items[i].text for i in top[:NAMED]]
        shares = [chance.p for chance in chances[:NAMED]]
        if chosen.question is not None and (chosen.pays or belief.max() < sure):
            return Clarify(
                question=questions.questions[chosen.question].text,
                thought=rationale(texts, shares, "ask", language),
                guess=guess,
                chances=chances,
            )
        if view.declines and not view.may_ask and belief.max() < UNLIKELY:
            return Decline(reason="none fits", thought=_WHY[language]["none fits"], chances=chances)
        why = "execute" if view.may_ask else "must"
        return Execute(
            action=guess, thought=rationale(texts, shares, why, language), chances=chances
        )

    def _requested(
        self, view: View, wanted: RequestedAction | None, fits: Sequence[int], belief: Array
    ) -> Array:
        """The belief about a live user's wish: favours the requested verb and thing, and the thing
        that a remark names."""
        said = view.scene.utterance
        about = self._requests.about(said)
        if wanted:
            among = fits or self._requests.of_kind(wanted)
        else:
            among = about if self._requests.asks(said) else []
        if among:
            belief = belief * np.where(np.isin(np.arange(len(belief)), among), 1.0, UNASKED)
            held: Array = belief / belief.sum()
            return held
        if view.asked or not about or int(belief.argmax()) in about:
            return belief
        mixed: Array = 0.5 * belief + 0.5 * np.isin(np.arange(len(belief)), about) / len(about)
        return mixed

    def _believed(self, view: View) -> Flow[Array]:
        """The posterior after all answers and tries, shape (actions,)."""
        language, turns = view.scene.language, _turns(view)
        answers = [understand(t.answer, t.question) for t in turns]
        spoken = [a.content for a in answers if a.content]
        vectors = yield from Embed((*scene_texts(view.scene), *spoken))
        contents = iter(vectors[2:])
        known = {q.text: q for q in self._banks[language].questions}
        posterior, likelihoods = self._posteriors[language], []
        for turn, answer in zip(turns, answers, strict=True):
            vector = next(contents) if answer.content else None
            question = known.get(turn.question) or read_back(
                turn.question, self._knowledge.items, language
            )
            likelihoods.append(posterior.likelihood(question, answer, vector, turn.answer))
        # It tracks failed actions itself.
        failed = {log.action for log in view.history if not log.also}
        tried = [i for i, a in enumerate(self._ids) if a in failed]
        return posterior.belief(posterior.prior(view.scene, vectors[:2]), likelihoods, tried)

    def _plan(self, view: View, questions: Bank, asked: set[str], belief: Array) -> Plan:
        """The policy's plan, over the likeliest actions and the questions not yet asked."""
        support = order(belief)[:SUPPORT]
        gone = {
            t for q, t in zip(questions.questions, questions.topics, strict=True) if q.text in asked
        }
        free = np.array([i for i, t in enumerate(questions.topics) if t not in gone], dtype=np.intp)
        quota = view.quota_left + len(view.asked) if view.may_ask else 0
        stage = Stage(
            alpha=self._alpha,
            beta=self._beta,
            trials=max(1, self._trials - view.trial + 1),
            quota=quota,
            left=view.quota_left if view.may_ask else 0,
        )
        tables = questions.expected(free, support, _turns(view))
        found = plan(belief[support], tables, stage)
        question = None if found.question is None else int(free[found.question])
        return Plan(question, int(support[found.action]), found.execute, found.ask)


def _denies_all(turn: Turn) -> bool:
    """Whether an answer denies all things that a question names."""
    heard = understand(turn.answer, turn.question)
    offered = re.search(r"それとも|\bor\b", turn.question)
    no = (Stance.NEITHER, Stance.NO) if offered else (Stance.NEITHER,)
    return none_of_them(turn.answer) or (heard.stance in no and not heard.content)


def _turns(view: View) -> list[Turn]:
    """All turns so far, including earlier trials."""
    return [t for log in view.history for t in log.turns] + list(view.asked)


build = AgentFactory(BayesAgent, model_free=True, options=BayesOptions)
