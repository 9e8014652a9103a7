"""Learn the weights of the player `hybrid` from recorded walkthroughs.

python tools/hybrid_weights.py --recorded train.jsonl.gz --out weights.json
"""

from __future__ import annotations

import argparse
from pathlib import Path

from naisei.textgame.hybrid.kind import learn, top_one
from naisei.textgame.trained.dataset import choices
from naisei.textgame.trained.recordings import read_recording


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recorded", type=Path, required=True)
    parser.add_argument("--valid-recorded", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    games = read_recording(given.recorded).games
    of = choices(games, navigator=True, meal=True).of
    weights = learn(of)
    weights = weights.model_copy(update={"trained": {**weights.trained, "games": len(games)}})
    given.out.write_text(weights.model_dump_json(indent=1) + "\n", encoding="utf-8")
    print(f"{len(of)} choices, {len(weights.of)} features, top one {top_one(weights, of):.3f}")
    if given.valid_recorded:
        held_out = choices(read_recording(given.valid_recorded).games, navigator=True, meal=True).of
        print(f"held out: {len(held_out)} choices, top one {top_one(weights, held_out):.3f}")


if __name__ == "__main__":
    main()
