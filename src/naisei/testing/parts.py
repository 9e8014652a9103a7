"""Tests for memories, environments, embedders and providers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, JsonValue

from naisei.core import (
    Act,
    Chat,
    Handler,
    MemoryLog,
    Observation,
    Remember,
    Usage,
    Where,
    World,
    arun,
    user,
)
from naisei.memory import Memory, MemoryHandler
from naisei.models.base import ChatModel, ChatReply, ChatRequest, Embedder, Mode, Schema
from naisei.testing.kit import Kit, expect


class MemoryKit(Kit):
    """Tests a memory policy (`naisei.memory.Memory`). Subclasses define `memory`."""

    #: Items to remember, in order; at least two, all different.
    items: Sequence[JsonValue] = ("最初に聞き返す", "次は確かめる", "Ask once more.")

    def memory(self) -> Memory:
        """A fresh, empty memory."""
        raise NotImplementedError

    def _filled(self, n: int) -> Memory:
        memory = self.memory()
        for item in self.items[:n] if memory.reflects else ():
            memory.add(item)
        return memory

    def test_a_new_memory_recalls_nothing(self) -> None:
        memory = self.memory()
        expect(memory.recall() == "" and memory.previous() == "", "it is empty", memory.recall())
        expect(bool(memory.name), "it has a name")
        expect(bool(memory.prompt) == memory.reflects, "and a prompt if it reflects", memory.prompt)

    def test_it_depends_only_on_its_items(self) -> None:
        for n in range(len(self.items) + 1):
            one, other = self._filled(n), self._filled(n)
            expect(one.recall() == other.recall(), "equal items give equal notes", n)
            expect(one.previous() == other.previous(), "for the reflector, too", n)

    def test_recall_has_no_effect(self) -> None:
        memory = self._filled(2)
        notes = [(memory.recall(), memory.previous()) for _ in range(3)]
        expect(notes[0] == notes[1] == notes[2], "recall has no effect", notes)
        memory, other = self._filled(1), self._filled(1)
        memory.recall()
        if memory.reflects:
            memory.add(self.items[1])
            other.add(self.items[1])
        expect(memory.recall() == other.recall(), "nor on later items")

    def test_memories_share_nothing(self) -> None:
        full, empty = self._filled(len(self.items)), self.memory()
        expect(empty.recall() == "", "another memory is still empty", empty.recall())
        expect(bool(full.recall()) == full.reflects, "and the first one is not", full.recall())

    def test_replay_rebuilds_it(self) -> None:
        memory = self.memory()
        if not memory.reflects:
            return  # the memory stores nothing
        handler = MemoryHandler(memory)
        for n, item in enumerate(self.items):
            handler.restore(Remember(item), None, Where("a", 0, (n,)))
        expect(memory.recall() == self._filled(len(self.items)).recall(), "replay restores it")


class EnvironmentKit(Kit):
    """Tests an environment, the handler of `Act`. Subclasses define `environment`, `actions`."""

    def environment(self) -> Handler:
        """A fresh environment in its initial state."""
        raise NotImplementedError

    def actions(self) -> Sequence[Any]:
        """Actions that are possible in this order from the initial state; at least two."""
        raise NotImplementedError

    def _taken(self, environment: Handler, start: int, stop: int) -> list[Observation]:
        world = World({Act: environment})

        async def go() -> list[Observation]:
            return [
                await arun(iter(Act(self.actions()[n])), world, where=Where("a", n))
                for n in range(start, stop)
            ]

        return asyncio.run(go())

    def test_every_action_is_observed(self) -> None:
        n = len(self.actions())
        expect(n >= 2, "the kit needs two actions", n)
        for seen in self._taken(self.environment(), 0, n):
            expect(isinstance(seen, Observation), "an observation comes back", seen)
            expect(seen.reward == seen.reward, "with a reward that is a number", seen.reward)

    def test_it_is_deterministic(self) -> None:
        n = len(self.actions())
        one, other = (self._taken(self.environment(), 0, n) for _ in range(2))
        expect(one == other, "two environments give equal observations", one, other)

    def test_observations_can_be_logged(self) -> None:
        for n, seen in enumerate(self._taken(self.environment(), 0, len(self.actions()))):
            act = Act(self.actions()[n])
            expect(act.decode(act.encode(seen)) == seen, "decoding restores it", seen)

    def test_replay_restores_its_state(self) -> None:
        n = len(self.actions())
        whole = self._taken(self.environment(), 0, n)
        for stopped in range(1, n):
            again = self.environment()
            for step in range(stopped):
                act = Act(self.actions()[step])
                again.restore(act, whole[step], Where("a", 0, (step,)))
            found = self._taken(again, stopped, n)
            expect(found == whole[stopped:], f"it goes on after step {stopped} as it did", found)


class EmbedderKit(Kit):
    """Tests an embedder (`naisei.models.base.Embedder`). Subclasses define `embedder`.

    tolerance: maximum difference per component between single and batch embedding.
    """

    texts: Sequence[str] = (
        "庭に水をまいて",
        "休憩しようかな",
        "Water the garden.",
        "",
        "長い文。" * 400,
    )
    tolerance: float = 1e-3

    def embedder(self) -> Embedder:
        raise NotImplementedError

    def test_one_unit_vector_per_text(self) -> None:
        embedder = self.embedder()
        for kind in ("query", "passage"):
            found = embedder.embed([*self.texts], kind)
            shape = (len(self.texts), embedder.dim)
            expect(found.shape == shape, f"shape {shape}", found.shape)
            expect(found.dtype == np.float32, "float32", found.dtype)
            expect(bool(np.isfinite(found).all()), "all finite")
            lengths = np.linalg.norm(found[[bool(text) for text in self.texts]], axis=1)
            expect(bool(np.allclose(lengths, 1, atol=1e-3)), "of length 1", lengths)

    def test_no_texts_give_no_rows(self) -> None:
        embedder = self.embedder()
        found = embedder.embed([])
        expect(found.shape == (0, embedder.dim), "shape (0, dim)", found.shape)

    def test_a_text_has_one_vector(self) -> None:
        embedder = self.embedder()
        together = embedder.embed([*self.texts])
        for row, text in zip(together, self.texts, strict=True):
            alone = embedder.embed([text])[0]
            off = float(np.abs(alone - row).max())
            expect(off <= self.tolerance, "independent of the other texts", text[:20], off)
        again = self.embedder().embed([*self.texts])
        expect(bool(np.allclose(again, together, atol=self.tolerance)), "in another embedder, too")

    def test_different_texts_differ(self) -> None:
        found = self.embedder().embed([*self.texts[:3]])
        expect(
            float((found @ found.T - np.eye(3)).max()) < 0.999,
            "different texts have different vectors",
        )

    def test_it_has_a_name(self) -> None:
        expect(bool(self.embedder().name), "it has a name")


class _Answer(BaseModel):
    word: str


class ProviderKit(Kit):
    """Tests a provider's model (`naisei.models.base.ChatModel`). Subclasses define `model`,
    which answers any request, with JSON if given a schema."""

    def model(self) -> ChatModel:
        """A fresh model without a real endpoint: scripted, or on a local server."""
        raise NotImplementedError

    def _replies(self, *requests: ChatRequest) -> list[ChatReply]:
        async def go() -> list[ChatReply]:
            model = self.model()
            try:
                return [*await asyncio.gather(*(model.complete(r) for r in requests))]
            finally:
                await model.aclose()

        return asyncio.run(go())

    def test_it_has_a_name(self) -> None:
        provider, colon, name = self.model().name.partition(":")
        expect(bool(provider and colon and name), "its name is PROVIDER:NAME", self.model().name)

    def test_a_reply_is_text_with_counts(self) -> None:
        (reply,) = self._replies(ChatRequest((user("こんにちは"),)))
        expect(isinstance(reply.text, str), "a reply has text", reply)
        counts = (reply.input_tokens, reply.output_tokens, reply.cached_input, reply.reasoning)
        expect(all(type(n) is int and n >= 0 for n in counts), "counts are not negative", counts)
        expect(reply.cached_input <= reply.input_tokens, "cached tokens are among the input")

    def test_concurrent_requests(self) -> None:
        replies = self._replies(*(ChatRequest((user(f"{n} 番"),)) for n in range(4)))
        expect(len(replies) == 4, "each is answered", replies)

    def test_replies_follow_a_schema(self) -> None:
        modes: tuple[Mode, ...] = getattr(self.model(), "modes", ("json_schema",))
        schema = Schema("_Answer", _Answer.model_json_schema())
        (reply,) = self._replies(ChatRequest((user("JSON で"),), schema=schema, mode=modes[0]))
        try:
            _Answer.model_validate_json(reply.text)
        except ValueError as error:
            raise AssertionError(f"the reply fits the schema: {reply.text[:200]}") from error

    def test_it_works_behind_the_gateway(self) -> None:
        from naisei.models.gateway import Gateway
        from naisei.models.registry import Roles

        async def go() -> tuple[_Answer, list[Usage]]:
            model, log = self.model(), MemoryLog()
            gateway = Gateway(Roles(model, {}))
            try:
                flow = iter(Chat("agent", [user("こんにちは")], _Answer))
                answer = await arun(flow, World({Chat: gateway}), log=log)
            finally:
                await gateway.aclose()
            return answer, [e.usage for e in log.events if e.usage is not None]

        answer, usage = asyncio.run(go())
        expect(isinstance(answer, _Answer), "a typed answer comes back", answer)
        expect(len(usage) == 1 and usage[0].calls >= 1, "and is counted", usage)
        expect(usage[0].model == self.model().name, "under its name", usage)

    def test_closing_twice_is_harmless(self) -> None:
        async def go() -> None:
            model = self.model()
            await model.aclose()
            await model.aclose()

        asyncio.run(go())
