"""In which language a sitting is held, and with which data and action texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from naisei import plugins
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.data import Dataset, load, load_actions
from naisei.clarify.data.bundled import folder
from naisei.clarify.data.sources import GROUP
from naisei.clarify.schemas import ActionSet, Language, Scene
from naisei.core import InputError
from naisei.lang import say

__all__ = ["Ground", "ground"]

_JAPANESE, _ENGLISH = "ambigact40-open", "ambigact40-open-en"


@dataclass(frozen=True, slots=True)
class Ground:
    """What a sitting stands on: the situation (without any words yet) and the actions."""

    scene: Scene
    actions: ActionSet


def ground(
    config: ClarifyConfig, *, scene: str | None, asked: Language | None, shown: Language
) -> Ground:
    """The situation and the actions of a sitting.

    scene: an instance or scene of the data, `None` for a situation without particulars.
    asked: the language to talk in, if somebody said so; else it is that of the data where
    the data is bundled and English, that of the scene, or `shown`, that of messages.

    Raises:
        InputError: unusable data, or no such scene.
    """
    source, _, split = config.data.partition(":")
    language = asked or ("en" if source == _ENGLISH else shown)
    bundled = source in (_JAPANESE, _ENGLISH)
    if bundled:
        name = _ENGLISH if language == "en" and _has_english() else _JAPANESE
        data = _load(config, name, split or config.split)
    else:
        data = _load(config, config.data, config.split)
    actions = data.actions
    if bundled and not config.actions:
        actions = load_actions(language=language)
    if scene is None:
        return Ground(Scene(id="sitting", utterance="", language=language), actions)
    found = [i.scene for i in data.instances if scene in (i.id, i.scene_id)]
    if not found:
        raise InputError(
            say(
                f"データに '{scene}' という件や場面はありません",
                f"the data has no instance or scene '{scene}'",
            ),
            place="--scene",
            remedy=say(f"例: {data.instances[0].id}", f"for instance {data.instances[0].id}"),
        )
    spoken = language if asked or bundled else found[0].language
    return Ground(found[0].model_copy(update={"language": spoken}), actions)


def _has_english() -> bool:
    return _ENGLISH in plugins.names(GROUP) and Path(folder("en")).is_dir()


def _load(config: ClarifyConfig, source: str, split: str | None) -> Dataset:
    return load(source, split=split, seed=config.seed, actions=config.actions or None)
