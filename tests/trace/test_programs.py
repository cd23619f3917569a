"""The programs of trace_programs.py and programs_*.py, compiled by wick.function, against NumPy
and against results of JAX."""
import pathlib

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import programs_fields  # noqa: E402, F401
import programs_fits  # noqa: E402, F401
import programs_forms  # noqa: E402, F401
import programs_idioms  # noqa: E402, F401
import programs_kinds  # noqa: E402, F401
import programs_learning  # noqa: E402, F401
import programs_methods  # noqa: E402, F401
import programs_models  # noqa: E402, F401
import programs_names  # noqa: E402, F401
import programs_practice  # noqa: E402, F401
import programs_science  # noqa: E402, F401
import programs_spectral  # noqa: E402, F401
import programs_tutorials  # noqa: E402, F401
import programs_unusual  # noqa: E402, F401
import programs_users  # noqa: E402, F401
from trace_programs import PROGRAMS, namespace, sample  # noqa: E402



def _read():
    """{name: [(shape, sample)]} of the file that programs_expected.py writes."""
    kept, out, at = np.load(pathlib.Path(__file__).with_name("programs_expected.npz")), {}, 0
    for name, text in zip(kept["names"].tolist(), kept["shapes"].tolist()):
        shape = tuple(map(int, text.split()))
        count = sample(np.empty(shape, np.bool_)).size
        out.setdefault(name, []).append((shape, kept["values"][at:at + count]))
        at += count
    return out


EXPECTED = _read()


def expected(name, arguments):
    """[(shape, sample)] of the results."""
    oracle = PROGRAMS[name].oracle
    return EXPECTED[name] if oracle is None else [(np.shape(x), sample(np.asarray(x))) for x in wick.tree.leaves(oracle(*arguments))]


def test_there_are_a_hundred():
    assert len(PROGRAMS) >= 100


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    p = PROGRAMS[name]
    arguments = p.arguments(np.random.default_rng(len(name)))
    found = wick.tree.leaves(wick.function(p.build(namespace(wick)))(*arguments))
    wanted = expected(name, arguments)
    assert len(found) == len(wanted)
    for f, (shape, e) in zip(found, wanted):
        assert f.shape == shape
        np.testing.assert_allclose(sample(f), e, rtol=p.tolerance, atol=p.tolerance * max(1.0, float(np.abs(e[np.isfinite(e)]).max(initial=0))))
