"""One declarative description of a system, and everything common that is derived from it."""

from naisei.system.config import Config, Options, flag
from naisei.system.declare import Experiment, Given, Role, System, Text, Verb
from naisei.system.execute import Study, aexecute, execute, execute_study
from naisei.system.registry import find_system, system_names

__all__ = [
    "Config",
    "Experiment",
    "Given",
    "Options",
    "Role",
    "Study",
    "System",
    "Text",
    "Verb",
    "aexecute",
    "execute",
    "execute_study",
    "find_system",
    "flag",
    "system_names",
]
