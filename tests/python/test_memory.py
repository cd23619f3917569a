"""Memory of results serves later runs, but only when nothing refers to it."""
import threading

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

from built import PACKAGE  # noqa: E402, F401
import wick  # noqa: E402

N = 1 << 16  # f32: large results


def twice(shape):
    """x -> x + x, -x"""
    nodes = [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])]
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", [info("x")], [info("y"), info("z")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return wick.InferenceSession(model.SerializeToString())


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture(scope="module", params=[[N], ["n"]], ids=["constant size", "dynamic size"])
def session(request):
    return twice(request.param)


def numbers(k, n=N):
    return np.arange(n, dtype="f") + k


def test_results_that_are_held_stay(session):
    held = [session.run(None, {"x": numbers(k)}) for k in range(6)]
    assert len({address(a) for run in held for a in run}) == 12
    for k, (y, z) in enumerate(held):
        np.testing.assert_array_equal(y, 2 * numbers(k))
        np.testing.assert_array_equal(z, -numbers(k))


def test_memory_serves_again(session):
    seen = set()
    for k in range(20):
        y, z = session.run(None, {"x": numbers(k)})
        seen |= {address(y), address(z)}
        assert address(y) % 64 == 0
    assert len(seen) <= 4


def test_memory_used_last_serves_first(session):
    """The caches have it."""
    held = session.run(None, {"x": numbers(0)})
    last = [address(a) for a in session.run(None, {"x": numbers(1)})]
    del held
    for k in range(4):
        assert [address(a) for a in session.run(None, {"x": numbers(k)})] == last


@pytest.mark.parametrize("keep", [lambda a: a[5:], lambda a: a.reshape(2, -1).T, memoryview, lambda a: a.view("i4"),
                                  lambda a: np.frombuffer(a, "u1")],
                         ids=["slice", "transposed", "memoryview", "other type", "buffer"])  # fmt: skip
def test_views_hold_the_memory(session, keep):
    view = keep(session.run(None, {"x": numbers(1)})[0])
    before = bytes(view)
    for k in range(4):
        session.run(None, {"x": numbers(k + 2)})
    assert bytes(view) == before


def test_what_a_user_does_to_an_array_ends_with_it(session):
    for k in range(6):
        y, z = session.run(None, {"x": numbers(k)})
        assert y.shape == (N,) and y.flags.writeable
        y.shape = (2, N // 2)
        y.flags.writeable = False


def test_sizes_that_change():
    session = twice(["n"])
    for n in [N, N + 1, 2 * N, N, 7, N + 1, 0, N]:
        y, z = session.run(None, {"x": numbers(0, n)})
        np.testing.assert_array_equal(y, 2 * numbers(0, n))
        np.testing.assert_array_equal(z, -numbers(0, n))


def test_threads_have_results_of_their_own(session):
    wrong = []

    def work(k):
        for i in range(50):
            y, z = session.run(None, {"x": numbers(k + i)})
            if not (np.array_equal(y, 2 * numbers(k + i)) and np.array_equal(z, -numbers(k + i))):
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(1000 * k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
