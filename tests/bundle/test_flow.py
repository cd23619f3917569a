"""Branches and loops in bundles, artifacts and in the process: on each kind of machine the same bits."""

import pytest

np = pytest.importorskip("numpy")

from bundles import WICK, call, each_target, text_bundle  # noqa: E402

# Exact in f32: sums of small whole numbers. Row i of %xs is added until the sum of the first column is
# `limit`, odd steps subtract; sums of all steps are stacked.
MODULE = """graph @main(%n: i64[], %limit: i64[], %xs: f32[9,5], %a: f32[5]) -> (f32[5], f32[5], f32[9,5], i64[]) {
  %zero = const 0 : i64[]
  %r, %last, %end, %rows = loop %n, %a, %a, %zero {stacked=1, most=[9]} (%i: i64[], %s: f32[5], %b: f32[5], %k: i64[]) {
    %two = const 2 : i64[]
    %odd = mod %i, %two
    %c = eq %odd, %zero
    %x = dynamic_index %xs, %i
    %y = if %c () { %u = add %s, %x; yield %u } () { %v = sub %s, %x; yield %v }
    %one = const 1 : i64[]
    %next = add %k, %one
    %first = slice %y {begin=[0], shape=[1]}
    %f = reshape %first {shape=[]}
    %w = cast %f : i64[]
    %go = lt %w, %limit
    yield %go, %y, %s, %next, %y
  }
  return %r, %last, %rows, %end
}
"""


def reference(n, limit, xs, a):
    s = last = a
    rows = np.zeros_like(xs)
    for i in range(n):
        last, s = s, s + xs[i] if i % 2 == 0 else s - xs[i]
        rows[i] = s
        if not int(s[0]) < limit:
            return s, last, rows, i + 1
    return s, last, rows, max(n, 0)


def operands(n, limit):
    rng = np.random.default_rng(7)
    return (np.array(n), np.array(limit), rng.integers(-20, 60, (9, 5)).astype(np.float32),
            rng.integers(0, 9, 5).astype(np.float32))  # fmt: skip


CASES = [(9, 1000), (9, 40), (0, 40), (-3, 40), (1, -100), (8, 1000)]


def check(got, args):
    for g, w in zip(got, reference(int(args[0]), int(args[1]), *args[2:]), strict=True):
        assert np.array_equal(g, w), (args[:2], g, w)


@each_target
def test_bundle(target, tmp_path):
    bundle = text_bundle(MODULE, tmp_path, target)
    assert not bundle.needs()
    for n, limit in CASES[:2] if target.emulator else CASES:
        args = operands(n, limit)
        check(bundle.run(*args), args)


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_artifact(threads, tmp_path):
    model, artifact = tmp_path / "flow.wick", tmp_path / "artifact.wick"
    model.write_text(MODULE)
    call([WICK, "compile", model, "-o", artifact, "--no-cache"])
    for n, limit in CASES:
        args = operands(n, limit)
        for i, a in enumerate(args):
            np.save(tmp_path / f"{i}.npy", a)
        files = [tmp_path / f"{i}.npy" for i in range(len(args))]
        out = tmp_path / "out"
        call([WICK, "run", artifact, "--inputs", *files, "--outputs", out, "--threads", threads])
        check([np.load(out / f"output_{k}.npy") for k in range(4)], args)
