"""Small files that people write: TOML or JSON into a pydantic model, or one message."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from naisei.core import InputError
from naisei.intent.faults import fault
from naisei.lang import say
from naisei.text_files import read_text

__all__ = ["read_model"]

M = TypeVar("M", bound=BaseModel)


def read_model(path: Path, kind: type[M], *, what: str) -> M:
    """The file as a `kind`; `.json` is JSON, everything else TOML.

    Raises:
        InputError: it cannot be read, is not such a file, or a field is wrong.
    """
    text = read_text(path)
    try:
        data = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise InputError(
            say(f"{what} の形が違います: {error}", f"the {what} is not readable: {error}"),
            place=str(path),
            remedy=say(
                "UTF-8 の TOML か、名前が .json の JSON で書いてください",
                "write it as TOML, or as JSON in a file named .json (UTF-8)",
            ),
        ) from error
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise InputError(
            fault(error),
            place=str(path),
            remedy=say(f"{what} を直してください", f"mend the {what}"),
        ) from error
