"""Random operators in index notation beside loops over all indices; `make operators` runs 500."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from random_index import check  # noqa: E402


def test_operators():
    wrong, tally = check(1000, 24, jobs=2)
    print(dict(tally))
    assert not wrong, "\n".join(wrong)
    assert tally["grad"] > 10 and tally["vmap"] > 15 and tally["refused"] >= 5
