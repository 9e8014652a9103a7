"""Attacks on naisei as a program: seeded, repeatable, each part by itself.

    python -m benchmarks.attack [--seconds 300] [--seed 0] [PART …]

A part is a module of this package with `NAME` (what to call it) and `attack(rng, seconds)`, which
tries until its time is up and yields `Attempt`s. An attempt that `fell` is a hole; the command ends
with exit code 1 then. Add a part by adding its module to `PARTS`. `make attack` runs all of them;
with more seconds each part goes on with what it draws.
"""
