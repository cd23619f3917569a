"""Lists in bundles: on each kind of machine the same numbers, and a status where their memory ends."""

import pytest

np = pytest.importorskip("numpy")

from bundles import TARGETS, text_bundle  # noqa: E402

ELIMIT = 6

# The sum of 3 * (n + ... + 1), of rows that are tensors, too, a thousand times over.
MODULE = """data @List { Nil, Cons(i64[], f32[3], @List) }
graph @upto(%n: i64[]) -> @List {
  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %z = le %n, %0
  %r = if %z () { %e = construct {ctor=0} : @List; yield %e } () {
    %m = sub %n, %1; %t = call @upto %m : @List; %f = cast %n : f32[]; %b = const 1 : f32[3]; %v = mul %b, %f
    %c = construct %n, %v, %t {ctor=1} : @List; yield %c
  } : @List
  return %r
}
graph @triple(%l: @List) -> @List {
  %3 = const 3 : i64[]
  %r = switch %l () { yield %l } (%x: i64[], %v: f32[3], %rest: @List) {
    %t = call @triple %rest : @List; %y = mul %x, %3; %w = add %v, %v
    %c = construct %y, %w, %t {ctor=1} : @List; yield %c
  } : @List
  return %r
}
graph @sum(%l: @List) -> i64[] {
  %r = switch %l () { %0 = const 0 : i64[]; yield %0 } (%x: i64[], %v: f32[3], %rest: @List) {
    %s = call @sum %rest : i64[]; %f = reduce_sum %v {axes=[0], keepdims=false}; %i = cast %f : i64[]
    %t = add %x, %s; %u = add %t, %i; yield %u
  } : i64[]
  return %r
}
graph @main(%n: i64[], %k: i64[]) -> i64[] {
  %0 = const 0 : i64[]; %on = const 1 : bool[]
  %r = loop %k, %0 (%i: i64[], %a: i64[]) {
    %l = call @upto %n : @List; %m = call @triple %l : @List; %s = call @sum %m : i64[]
    %t = add %a, %s; yield %on, %t
  } : i64[]
  return %r
}
"""


@pytest.mark.parametrize("target", [t for t in TARGETS if t.kind != "wasm"], ids=repr)
def test_objects(target, tmp_path):
    bundle = text_bundle(MODULE, tmp_path, target)
    assert not bundle.needs()
    for n, k in [(0, 3), (1, 1), (20, 50)]:
        (got,) = bundle.run(np.array(n), np.array(k))
        assert int(got) == k * 9 * n * (n + 1) // 2
    assert bundle.code(np.array(100000), np.array(1)) == ELIMIT
