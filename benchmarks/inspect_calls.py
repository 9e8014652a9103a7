"""The same calls by Inspect AI: `python inspect_calls.py PROMPTS URL AT_ONCE LOGS`.

PROMPTS: JSON lines, each a list of messages. One `generate` a sample, nothing else.
"""

import json
import os
import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.solver import generate

OF_ROLE = {"system": ChatMessageSystem, "user": ChatMessageUser}


def main() -> None:
    prompts, url, at_once, logs = sys.argv[1:]
    os.environ["BENCH_API_KEY"] = "none"
    rows = [json.loads(line) for line in Path(prompts).read_text(encoding="utf-8").splitlines()]
    samples = [
        Sample(id=n, input=[OF_ROLE[m["role"]](content=m["content"]) for m in messages])
        for n, messages in enumerate(rows)
    ]
    (log,) = eval(
        Task(dataset=MemoryDataset(samples), solver=generate()),
        model=get_model("openai-api/bench/test", base_url=url),
        max_connections=int(at_once),
        max_samples=int(at_once),
        display="none",
        log_dir=logs,
        score=False,
    )
    if log.status != "success" or len(log.samples or []) != len(rows):
        raise SystemExit(f"Inspect AI: {log.status}")


if __name__ == "__main__":
    main()
