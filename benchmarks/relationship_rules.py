"""The relationship document's three questions as plain rules, beside the estimator.

    python benchmarks/relationship_rules.py [--part tune|test]

The document asks a model: does the speaker show respect (Power), are personal things shared
(Intimacy), is it about work or small talk (TaskOriented)? As far as words alone can answer: polite
and humble forms against the other's, words of private life and of feeling, words of work. Printed
is how often the sign is right, beside the commonest sign and the estimator.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from naisei.relationship.speech import estimate
from naisei.relationship.vector import DIMENSIONS

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools.labelled import load

_RESPECT = re.compile(
    r"です|ます|ません|でした|ました|ございま|いたし|いただ|申し|伺|お願い|先輩|部長|課長|先生|様"
)
_PERSONAL = re.compile(
    r"好き|嬉し|楽し|寂し|心配|ありがと|ごめん|家族|母|父|妹|弟|姉|兄|趣味|休み|旅行|映画|本を|"
    r"飲み|ごはん|誕生日|一緒に|笑"
)
_WORK = re.compile(
    r"会議|資料|見積|納期|契約|報告|提出|締め切り|締切|仕事|業務|担当|確認|予約|注文|修正|手続|"
    r"検査|書類|予算|顧客|案件|課題|宿題|試験"
)
#: Matches a line from which on a value counts, and what a sign needs.
_LEAST = {"Power": 0.5, "Intimacy": 0.25, "TaskOriented": 0.0}


def rated(lines: Sequence[tuple[str, str]], own: str) -> list[int]:
    """Signs of Power, Intimacy and TaskOriented of one speaker toward the other."""
    mine = [text for who, text in lines if who == own]
    others = [text for who, text in lines if who != own]

    def share(pattern: re.Pattern[str], said: Sequence[str]) -> float:
        return sum(len(pattern.findall(text)) for text in said) / max(len(said), 1)

    every = [text for _, text in lines]
    power = share(_RESPECT, others) - share(_RESPECT, mine)
    closeness = 1 + share(_PERSONAL, mine) - share(_RESPECT, mine)
    task = share(_WORK, every) + 0.5 * share(_RESPECT, every) - share(_PERSONAL, every)
    found = zip(DIMENSIONS, (power, closeness, task), strict=True)
    return [int(np.sign(value)) if abs(value) >= _LEAST[name] else 0 for name, value in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("tune", "test"), default="tune")
    wanted: list[list[int]] = []
    rules: list[list[int]] = []
    ours: list[list[int]] = []
    for one in load(parser.parse_args().part):
        lines = [(turn.speaker, turn.text) for turn in one.turns]
        for at, (who, label) in enumerate(
            zip(("A", "B"), (one.labels.a_to_b, one.labels.b_to_a), strict=True)
        ):
            wanted.append([int(np.sign(value)) for value in label.values])
            rules.append(rated(lines, who))
            names = {speaker.id: speaker.name for speaker in one.speakers}
            found = estimate(lines, ("A", "B"), names=names)[at]
            ours.append([int(np.sign(found[name].rounded or 0)) for name in DIMENSIONS])
    columns = ("n", "plain rules", "commonest sign", "estimator, where given")
    print(f"| of directions that are not 0 | {' | '.join(columns)} |")
    print("|---|---|---|---|---|")
    for at, name in enumerate(DIMENSIONS):
        known = np.array([row[at] for row in wanted])
        kept = known != 0
        common = Counter(known[kept].tolist()).most_common(1)[0][0]
        by_rules, by_us = (np.array([row[at] for row in signs]) for signs in (rules, ours))
        given = kept & (by_us != 0)
        right = [(by_rules == known)[kept].mean(), (known[kept] == common).mean()]
        cells = " | ".join(f"{share:.3f}" for share in right)
        given_right = (by_us == known)[given].mean()
        print(f"| {name} | {kept.sum()} | {cells} | {given_right:.3f}, {given.sum()} |")


if __name__ == "__main__":
    main()
