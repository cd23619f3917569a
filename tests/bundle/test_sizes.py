"""Bundles whose sizes vary: a batch with bounds and a loop, on each kind of machine."""

import pytest

np = pytest.importorskip("numpy")

from bundles import WICK, Bundle, each_target, text_bundle  # noqa: E402

EINVAL, ETYPE, ERANGE = 1, 3, 4  # WICK_BUNDLE_EINVAL and so on

# Exact in f32: sums of small whole numbers. Each row of %x, N of them, gets the sum of %n rows of %w, and is
# halved by twos; the second result is as long as two batches.
MODULE = """constant @w : f32[3,6] = [1, 2, 3, 4, 5, 6, 2, 4, 6, 8, 10, 12, 3, 6, 9, 12, 15, 18]
graph @main(%x: f32[N[1..7],6], %n: i64[]) -> (f32[N,6], f32[2*N,3]) {
  %w = const @w : f32[3,6]
  %r = loop %n, %x  (%i: i64[], %s: f32[N,6]) {
    %row = dynamic_index %w, %i
    %y = add %s, %row
    %go = const 1 : bool[]
    yield %go, %y
  }
  %z = reshape %r {shape=[2*N, 3]}
  return %r, %z
}
"""
W = np.array([[1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12], [3, 6, 9, 12, 15, 18]], np.float32)


@each_target
def test_bounded_batch_and_loop(target, tmp_path):
    bundle = text_bundle(MODULE, tmp_path, target)
    assert not bundle.needs()
    rng = np.random.default_rng(3)
    for n, steps in [(7, 3), (1, 0), (4, 2)]:
        x = np.zeros((7, 6), np.float32)
        x[:n] = rng.integers(-9, 9, (n, 6))
        y, z = bundle.run(x.reshape(-1)[: n * 6], np.array(steps), sizes={"N": n})
        want = x[:n] + W[:steps].sum(0)
        assert np.array_equal(np.ravel(y)[: n * 6], want.ravel())
        assert np.array_equal(np.ravel(z)[: n * 6], want.ravel())


@each_target
def test_sizes_are_checked(target, tmp_path):
    bundle = text_bundle(MODULE, tmp_path, target)
    for n in 0, 8, -1:
        assert bundle.code(np.zeros(6, np.float32), np.array(0), sizes={"N": n}) == ERANGE


# Each branch wants other sizes: twice N rows of %y, or three times and one more.
BRANCHES = """graph @main(%c: bool[], %x: f32[N[1..5],2], %y: f32[M[1..16],2]) -> f32[N,2] {
  constraint M = 2*N in branches loc("one")
  constraint M = 3*N + 1 in branches loc("two")
  %0 = if %c {then_equal=[M, 2*N], else_equal=[M, 3*N + 1]} () {
    %1 = slice %y {begin=[0,0], shape=[N,2], step=[2,1]} : f32[N,2]
    %2 = add %x, %1 : f32[N,2]
    yield %2
  } () {
    %3 = slice %y {begin=[1,0], shape=[N,2], step=[3,1]} : f32[N,2]
    %4 = mul %x, %3 : f32[N,2]
    yield %4
  } : f32[N,2]
  return %0
}
"""


@each_target
def test_sizes_of_branches_are_checked(target, tmp_path):
    """Where a branch is entered, not before; the other one runs with these sizes."""
    bundle = text_bundle(BRANCHES, tmp_path, target)
    for taken, n, m in [(True, 3, 6), (False, 3, 10), (True, 3, 10), (False, 3, 6), (True, 5, 16), (False, 5, 16), (True, 1, 4)]:
        x = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
        y = np.arange(2 * m, dtype=np.float32).reshape(m, 2) - 5
        sizes = {"N": n, "M": m}
        if m == (2 * n if taken else 3 * n + 1):
            (z,) = bundle.run(np.array(taken), x, y, sizes=sizes)
            want = x + y[::2] if taken else x * y[1::3]
            assert np.array_equal(np.ravel(z)[: 2 * n], want.ravel())
        else:
            assert bundle.code(np.array(taken), x, y, sizes=sizes) == ETYPE


def test_copies_are_refused(tmp_path):
    """A bundle is one program for all sizes: a request for specializations is refused, and nothing is written."""
    import subprocess

    model = tmp_path / "net.wick"
    model.write_text(BRANCHES)
    for pins in ["--specialize-dim", "N=3", "M=6"], ["--specialize-dim", "N=3", "M=6", "--specialize-input", "c=true"]:
        r = subprocess.run([WICK, "compile", model, "-o", tmp_path / "bundle", *pins], capture_output=True, text=True)
        assert r.returncode == 1 and "a bundle has no specializations: artifacts do" in r.stderr
        assert not (tmp_path / "bundle").exists()


@each_target
def test_contents_that_decide_sizes_are_checked(target, tmp_path):
    """Of inputs of any rank: a bundle is made for given contents, and fails if others come."""
    target.want()
    onnx = pytest.importorskip("onnx")
    h, t = onnx.helper, onnx.TensorProto
    graph = h.make_graph(
        [h.make_node("Reshape", ["x", "shape"], ["r"]), h.make_node("Range", ["zero", "n", "one"], ["i"]),
         h.make_node("Gather", ["r", "i"], ["y"], axis=1)], "g",
        [h.make_tensor_value_info("x", t.FLOAT, [6]), h.make_tensor_value_info("shape", t.INT64, [2]), h.make_tensor_value_info("n", t.INT64, [])],
        [h.make_tensor_value_info("y", t.FLOAT, None)],
        [onnx.numpy_helper.from_array(np.array(v), name) for v, name in ((0, "zero"), (1, "one"))])  # fmt: skip
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    x, shape, n = np.arange(6, dtype=np.float32), np.array([2, 3]), np.array(2)
    files = []
    for k, a in enumerate((x, shape, n)):
        files.append(tmp_path / f"{k}.npy")
        np.save(files[-1], a)
    bundle = Bundle(tmp_path / "m.onnx", tmp_path / "b", target, more=("--inputs", *files))
    assert np.array_equal(bundle.run(x, shape, n)[0], x.reshape(2, 3)[:, :2])
    for wrong in ((np.array([3, 2]), n), (np.array([2, 4]), n), (shape, np.array(3))):
        assert bundle.code(x, *wrong) == EINVAL
