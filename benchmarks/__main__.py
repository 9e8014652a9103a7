"""Runs every benchmark, each in a process of its own: `python -m benchmarks [NAME …]`."""

import subprocess
import sys
from pathlib import Path

NAMES = (
    *("core_overhead", "throughput", "director", "stream", "locomo"),
    *("retrieval", "bounds", "doors"),
)


def main() -> int:
    wanted = sys.argv[1:] or list(NAMES)
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        print(f"no benchmark {unknown[0]}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    failed = []
    for name in wanted:
        print(f"── {name}", flush=True)
        file = Path(__file__).with_name(f"{name}.py")
        if subprocess.run([sys.executable, str(file)]).returncode:
            failed.append(name)
    if failed:
        print(f"bars missed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
