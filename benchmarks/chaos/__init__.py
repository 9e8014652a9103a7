"""A fault campaign: whole programs under faults, each case by its seed.

    python -m benchmarks.chaos [--hours 0.05] [--seed 0] [KIND …]
    python -m benchmarks.chaos --seed 0 --case KIND/12

Kinds of cases come in turn, each with numbers from 0. What a case does is drawn from the seed, its
kind and its number; `--case` does one again (what the scheduler does is drawn anew). A case ends
with one of these:

- held: nobody was disturbed: the results are those of an undisturbed run, byte for byte.
- told: the program said so, with one message and no traceback, and did what it should afterwards.
- LOST: what was in the log, or acknowledged, is not there any more.
- PAID TWICE: a call whose answer was in the log was made again.
- SILENTLY WRONG: other results or texts than undisturbed, and nobody was told.
- BROKEN: a traceback, or no going on.

Kinds that need Ray, PostgreSQL or a mount namespace are left out where there is none, and named.
"""
