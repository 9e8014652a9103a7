"""Training of the scorer and the classifier. Only this needs the extra `train`."""

from __future__ import annotations

from importlib import import_module

from naisei.core import InputError
from naisei.lang import say

__all__ = ["needs_torch"]


def needs_torch() -> None:
    """Raises `InputError` if the extra `train` is not installed."""
    for name in ("torch", "transformers", "accelerate", "tokenizers", "onnx", "onnxruntime"):
        try:
            import_module(name)
        except ImportError as error:
            raise InputError(
                say(
                    f"学習には {name} が要りますが、入っていません",
                    f"training needs {name}, which is not installed",
                ),
                place="naisei textgame train",
                remedy=say(
                    "pip install 'naisei[train]' で入ります (GPU のないマシンでは、先に CPU 版の "
                    "torch を入れてください。そうしないと数 GB の CUDA も入ります)",
                    "pip install 'naisei[train]' (on a machine without GPU install torch from its "
                    "CPU index first, or gigabytes of CUDA come with it)",
                ),
            ) from error
