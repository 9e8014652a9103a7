"""Verdicts, messages, sampling, fingerprints, errors and the public names."""

import importlib
import itertools
import json
from types import ModuleType
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naisei.core
from naisei.core import (
    Check,
    InputError,
    Sampling,
    Status,
    Verdict,
    Where,
    canonical,
    fingerprint,
)

checks = st.lists(
    st.builds(
        Check,
        name=st.just("c"),
        status=st.sampled_from(Status),
        reason=st.sampled_from(["", "a", "b"]),
    ),
    max_size=6,
)


@given(checks, checks)
def test_the_worst_check_is_the_verdict(a: list[Check], b: list[Check]) -> None:
    both = Verdict.of([*a, *b])
    parts = (Verdict.of(a).status, Verdict.of(b).status)
    assert both.status == max(parts, key=lambda s: s.severity)
    assert both.status == Verdict.of([*b, *a]).status
    assert Verdict.of([*a, *a]).status == Verdict.of(a).status


@given(checks)
def test_reasons_are_those_that_did_not_pass_worst_first(found: list[Check]) -> None:
    bad = [c for c in found if c.status is not Status.PASS and c.reason]
    reasons = Verdict.of(found).reasons
    assert sorted(reasons) == sorted(c.reason for c in bad)
    worst_first = itertools.chain.from_iterable(
        [c.reason for c in bad if c.status is s] for s in (Status.RETRY, Status.WARN, Status.MODIFY)
    )
    assert reasons == list(worst_first)


def test_no_checks_pass_and_severities_are_in_order() -> None:
    assert Verdict().status is Status.PASS
    assert [s.severity for s in (Status.PASS, Status.MODIFY, Status.WARN, Status.RETRY)] == [
        *range(4)
    ]
    verdict = Verdict.of([Check(name="tone", status=Status.WARN, evidence=("わ！",))])
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


samplings = st.builds(
    Sampling,
    temperature=st.none() | st.floats(0, 2),
    top_p=st.none() | st.floats(0.1, 1),
    max_tokens=st.none() | st.integers(1, 99),
    seed=st.none() | st.integers(),
)


@given(samplings, samplings, samplings)
def test_sampling_overrides_compose(a: Sampling, b: Sampling, c: Sampling) -> None:
    assert a.over(b).over(c) == a.over(b.over(c))
    assert a.over(Sampling()) == Sampling().over(a) == a.over(a) == a
    assert all(getattr(a.over(b), k) == v for k, v in a.to_json().items())


jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(jsons)
def test_canonical_is_json_and_does_not_depend_on_the_order_of_keys(value: Any) -> None:
    assert json.loads(canonical(value)) == value
    assert canonical(json.loads(canonical(value))) == canonical(value)
    if isinstance(value, dict):
        assert canonical(dict(reversed(value.items()))) == canonical(value)
    assert len(fingerprint(value)) == 16


def test_canonical_form_and_digest_are_fixed() -> None:
    # Logs and caches of earlier versions are read by these: a change breaks them.
    assert canonical({"b": [1, 1.0, True, None], "a": "茶\n"}) == (
        '{"a":"茶\\n","b":[1,1.0,true,null]}'
    )
    assert fingerprint({"b": 1, "a": "茶"}) == "eb15962717c46908"
    assert fingerprint("\ud800") != fingerprint("?")


def test_where_names_the_place() -> None:
    where = Where("i7", 2).at(4).at(1)
    assert (where.episode, where.step, str(where)) == ("i7#2", "4.1", "i7#2 step 4.1")


def test_input_errors_name_place_and_remedy() -> None:
    error = InputError("no such action", place="a.jsonl:3", remedy="see --help")
    assert str(error) == "a.jsonl:3: no such action (see --help)"
    assert str(InputError("empty")) == "empty"


def _defined(module: ModuleType) -> set[str]:
    """Public names that a module defines."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, TypeVar)
        and getattr(value, "__module__", "") == module.__name__
    }


def test_the_face_of_core_is_exact() -> None:
    listed = list(naisei.core.__all__)
    assert listed == sorted(set(listed))
    assert all(hasattr(naisei.core, name) for name in listed)


@pytest.mark.parametrize("name", ["effects", "errors"])
def test_core_lists_every_effect_and_error(name: str) -> None:
    module = importlib.import_module(f"naisei.core.{name}")
    assert _defined(module) <= set(naisei.core.__all__)
