"""Who plays which role: a model and sampling parameters for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from naisei.core import InputError, Sampling
from naisei.lang import say
from naisei.models.base import ChatModel
from naisei.models.registry import open_model
from naisei.models.settings import ModelSettings

__all__ = ["Roles", "open_roles"]


@dataclass(frozen=True)
class Roles:
    """A default model, and others for some roles; sampling parameters likewise.

    default may be `None` where nothing but the named roles calls a model. sampling_of: laid
    over `sampling`, role by role.
    """

    default: ChatModel | None = None
    models: Mapping[str, ChatModel] = field(default_factory=dict)
    sampling: Sampling = Sampling()
    sampling_of: Mapping[str, Sampling] = field(default_factory=dict)

    def model(self, role: str) -> ChatModel:
        """Raises `InputError` if nobody plays `role`."""
        found = self.models.get(role, self.default)
        if found is None:
            raise InputError(
                say(
                    f"役割 {role!r} のモデルが指定されていません", f"no model for the role {role!r}"
                ),
                remedy=say(
                    f"--model PROVIDER:NAME か --{role}-model PROVIDER:NAME を付けてください",
                    f"give --model PROVIDER:NAME or --{role}-model PROVIDER:NAME",
                ),
            )
        return found

    def sampling_for(self, role: str, asked: Sampling) -> Sampling:
        """What the effect asks for, over the role's, over everyone's."""
        return asked.over(self.sampling_of.get(role, Sampling()).over(self.sampling))

    def all(self) -> list[ChatModel]:
        """Each model once."""
        every = [m for m in (self.default, *self.models.values()) if m is not None]
        return list({id(m): m for m in every}.values())


def open_roles(
    default: str | None,
    per_role: Mapping[str, str] | None = None,
    *,
    settings: ModelSettings | None = None,
    sampling: Sampling = Sampling(),
    sampling_of: Mapping[str, Sampling] | None = None,
) -> Roles:
    """Open the models by name; roles that name the same model share it, and its limits.

    Raises:
        InputError: as `open_model`.
    """
    opened: dict[str, ChatModel] = {}
    for spec in [default, *(per_role or {}).values()]:
        if spec is not None and spec not in opened:
            opened[spec] = open_model(spec, settings)
    return Roles(
        opened[default] if default is not None else None,
        {role: opened[spec] for role, spec in (per_role or {}).items()},
        sampling,
        sampling_of or {},
    )
