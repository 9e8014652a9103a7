"""Runs every benchmark, each in a process of its own: `python -m benchmarks [NAME …]`.

What follows the name of one is passed on to it: `python -m benchmarks locomo locomo10.json`.
"""

import subprocess
import sys
from itertools import takewhile

NAMES = (
    *("core_overhead", "throughput", "director", "stream", "locomo"),
    *("retrieval", "bounds", "doors"),
)


def main() -> int:
    given = sys.argv[1:]
    wanted = list(takewhile(NAMES.__contains__, given)) or list(NAMES)
    passed = given[len(wanted) :] if given else []
    if given and (given[0] not in NAMES or (passed and len(wanted) > 1)):
        unknown = given[0] if given[0] not in NAMES else passed[0]
        print(f"no benchmark {unknown}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    failed = []
    for name in wanted:
        print(f"── {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *passed]).returncode:
            failed.append(name)
    if failed:
        print(f"bars missed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
