"""Each operator of Relay against NumPy."""

import numpy as np
import pytest

import built  # noqa: F401: finds the package
import wick
from operators import OPERATORS, reference
from quantized import QUANTIZED
from relay_text import module

ROWS = OPERATORS + QUANTIZED


def signature(args):
    return ", ".join(f"%{'abcdefgh'[i]}: Tensor[({', '.join(map(str, np.shape(x)))}), {np.asarray(x).dtype}]" for i, x in enumerate(args))


def agree(found, expected):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            agree(a, b)
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    if expected.dtype.kind != "f" and expected.ndim:
        assert found.dtype == expected.dtype or expected.dtype == np.int64
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("row", range(len(ROWS)), ids=lambda i: ROWS[i][0])
def test_operator(row, tmp_path):
    text, args, expected = ROWS[row]
    path = tmp_path / "call.relay"
    path.write_text(module(f"def @main({signature(args)}) {{ {text} }}"))
    agree(wick.load(path).main(*args), reference(text, args) if expected is None else expected)
