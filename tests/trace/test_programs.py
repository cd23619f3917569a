"""The programs of trace_programs.py, compiled by wick.function, against NumPy."""
import types

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
from trace_programs import PROGRAMS  # noqa: E402

J = types.SimpleNamespace(np=wick.numpy, lax=wick.lax, nn=wick.nn, grad=wick.grad, value_and_grad=wick.value_and_grad, vmap=wick.vmap, scan=wick.scan,
                          fori=wick.fori, cond=wick.cond, while_loop=wick.while_loop, hessian=wick.hessian, jacfwd=wick.jacfwd, tree_map=wick.tree.map)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    p = PROGRAMS[name]
    arguments = p.arguments(np.random.default_rng(len(name)))
    found = wick.tree.leaves(wick.function(p.build(J))(*arguments))
    expected = wick.tree.leaves(p.oracle(*arguments))
    assert len(found) == len(expected)
    for f, e in zip(found, expected):
        e = np.asarray(e)
        assert f.shape == e.shape
        np.testing.assert_allclose(f, e, rtol=p.tolerance, atol=p.tolerance * max(1.0, float(np.abs(e).max(initial=0))))
