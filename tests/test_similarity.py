"""The same bits whichever way a BLAS library adds."""

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from naisei.similarity import cosines, order, unit

_CODE = """
import sys
import numpy as np
from naisei.similarity import cosines, unit
draw = np.random.default_rng(0)
rows = unit(draw.standard_normal((700, 384)))
rows[350] = rows[3]
whole = draw.integers(-127, 128, (700, 384)).astype(np.int8)
told = [cosines(rows, rows[7]), cosines(rows, rows[5:8]), cosines(whole, rows[7])]
sys.stdout.write(b"".join(one.tobytes() for one in told).hex())
"""


def test_cosines_are_the_same_whatever_blas_does() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", _CODE],
            env={**os.environ, "OPENBLAS_CORETYPE": core},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for core in ("Prescott", "Haswell", "SkylakeX")
    }
    assert len(told) == 1


def test_cosines_are_exact() -> None:
    draw = np.random.default_rng(1)
    rows = unit(draw.standard_normal((5, 384)))
    for row, found in zip(rows, cosines(rows, rows[0]), strict=True):
        pairs = zip(row.tolist(), rows[0].tolist(), strict=True)
        assert Fraction(float(found)) == sum(Fraction(a) * Fraction(b) for a, b in pairs)


def test_equal_rows_are_equally_near_wherever_they_stand() -> None:
    draw = np.random.default_rng(2)
    rows = unit(draw.standard_normal((2500, 48)))
    rows[1::3] = rows[1]
    assert len({*cosines(rows, rows[0])[1::3].tolist()}) == 1


def test_vectors_of_any_length_become_units() -> None:
    tiny, huge, nothing = unit([[3e-300, 4e-300], [3e300, -4e300], [0.0, 0.0]])
    assert tiny == pytest.approx([0.6, 0.8]) and huge == pytest.approx([0.6, -0.8])
    assert not nothing.any()
    assert unit([1.0, 1.0]).dtype == np.float32


def test_what_rounding_leaves_is_no_difference() -> None:
    assert order([0.3, 0.1 + 0.2, 0.7, 0.3 + 1e-9]).tolist() == [2, 3, 0, 1]
