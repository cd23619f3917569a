"""Bundles whose sizes vary: a batch with bounds and a loop, on each kind of machine."""

import pytest

np = pytest.importorskip("numpy")

from bundles import Bundle, each_target  # noqa: E402

ERANGE = 4  # WICK_BUNDLE_ERANGE

# Exact in f32: sums of small whole numbers. Each row of %x, N of them, gets the sum of %n rows of %w, and is
# halved by twos; the second result is as long as two batches.
MODULE = """constant @w : f32[3,6] = [1, 2, 3, 4, 5, 6, 2, 4, 6, 8, 10, 12, 3, 6, 9, 12, 15, 18]
graph @main(%x: f32[N[1..7],6], %n: i64[]) -> (f32[N,6], f32[2*N,3]) {
  %w = const @w : f32[3,6]
  %r = loop %n, %x  (%i: i64[], %s: f32[N,6]) {
    %row = take %w, %i
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
    target.want()
    model = tmp_path / "net.wick"
    model.write_text(MODULE)
    bundle = Bundle(model, tmp_path / "bundle", target)
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
    target.want()
    model = tmp_path / "net.wick"
    model.write_text(MODULE)
    bundle = Bundle(model, tmp_path / "bundle", target)
    for n in 0, 8, -1:
        assert bundle.code(np.zeros(6, np.float32), np.array(0), sizes={"N": n}) == ERANGE
