"""Data at the entry of bundles: C builds it, calls the bundle, and reads what comes back, on each kind of machine."""

import subprocess

import pytest
from bundles import CC, HOST, NAMES, Bundle

MACHINES = [HOST, *(NAMES[n] for n in ("armv8-a", "rv64gc", "cortex-m0", "cortex-m4", "cortex-m55"))]

PROGRAM = """
use option { Option }

type List[a] { Nil, Cons(a, List[a]) }
type Tree { Leaf(i64), Node(Tree, bool, Tree) }
type Net { End, Layer(f32[2, 2], f32[2], Net) }

fn scaled(l: List[i64], k: i64) -> List[i64] {
  match l {
    Nil => Nil,
    Cons(x, rest) => Cons(k * x, scaled(rest, k)),
  }
}

fn total(t: Tree) -> i64 {
  match t {
    Leaf(x) => x,
    Node(l, less, r) => if less { total(l) - total(r) } else { total(l) + total(r) },
  }
}

fn leaves(t: Tree, rest: List[f32]) -> List[f32] {
  match t {
    Leaf(x) => Cons(f32(x) + 0.5, rest),
    Node(l, _, r) => leaves(l, leaves(r, rest)),
  }
}

fn main(l: List[i64], t: Tree, k: i64) { (scaled(l, k), total(t), (leaves(t, Nil), l)) }

fn apply(n: Net, x: f32[2]) -> f32[2] {
  match n {
    End => x,
    Layer(w, b, rest) => apply(rest, tanh(w @ x + b)),
  }
}

// A step of training gives the loss, and a network that the next step takes.
fn step(n: Net, x: f32[2], y: f32[2]) -> (f32, Net) {
  let (loss, g) = value_and_grad(fn(n) { sum(square(apply(n, x) - y)) })(n)
  (loss, zip_tensors(fn(p, d) { p - 0.1 * d }, n, g))
}

fn same(l: List[i64]) { l }

fn upto(n: i64) -> List[i64] { if n == 0 { Nil } else { Cons(n, upto(n - 1)) } }
fn comb(n: i64) -> Tree { if n == 0 { Leaf(0) } else { Node(comb(n - 1), n > 2, Leaf(n)) } }
fn make(n: i64) { (upto(n), if n > 0 { Some(f32(n) + 0.5) } else { None }, comb(n)) }
"""

START = """
#include "net.h"
static _Alignas(NET_ALIGN) char data[NET_MUTABLE_BYTES], arena[NET_ARENA_BYTES];
#define RUN() net(net_constants, data, arena)
#define CHECK(x) do { if (!(x)) return __LINE__ % 90 + 1; } while (0)
"""

LISTS = (
    START
    + """
int main(void)
{
  *NET_INPUT_2(data) = 3;
  *NET_INPUT_0(data) = net_List_i64_Cons(arena, 1, NET_List_i64_Nil);
  CHECK(*NET_INPUT_0(data) == 0 && RUN() == WICK_BUNDLE_EINVAL); /* no heap yet */
  net_begin(arena);
  CHECK(RUN() == WICK_BUNDLE_EINVAL); /* no object */
  for (int round = 0; round < 3; round++) {
    long long l = NET_List_i64_Nil, t = net_Tree_Leaf(arena, 7);
    for (int i = 20; i > 0; i--) l = net_List_i64_Cons(arena, i, l);
    t = net_Tree_Node(arena, net_Tree_Leaf(arena, 100), 1, net_Tree_Node(arena, t, 0, net_Tree_Leaf(arena, -2)));
    CHECK(l && t && net_is(arena, t) == NET_Tree_IS_Node && net_Tree_Node_1(arena, t) == 1);
    CHECK(net_Tree_Leaf_0(arena, net_Tree_Node_0(arena, t)) == 100);
    *NET_INPUT_0(data) = net_retain(arena, l);
    *NET_INPUT_1(data) = t;
    CHECK(RUN() == 0 && *NET_OUTPUT_1(data) == 95);
    long long a = *NET_OUTPUT_0(data), b = *NET_OUTPUT_2(data);
    CHECK(*NET_OUTPUT_3(data) == l);
    for (int i = 1; i <= 20; i++, a = net_List_i64_Cons_1(arena, a))
      CHECK(net_is(arena, a) == NET_List_i64_IS_Cons && net_List_i64_Cons_0(arena, a) == 3 * i);
    CHECK(a == NET_List_i64_Nil);
    CHECK(net_List_f32_Cons_0(arena, b) == 100.5f && net_List_f32_Cons_0(arena, net_List_f32_Cons_1(arena, b)) == 7.5f);
    net_release(arena, *NET_OUTPUT_0(data));
    net_release(arena, b);
    net_release(arena, l);
    net_release(arena, *NET_OUTPUT_3(data));
  }
  long long l = NET_List_i64_Nil, most = 0;
  for (; l; most++) l = net_List_i64_Cons(arena, most, l);
  CHECK(most * 24 <= NET_HEAP_BYTES && most * 24 > NET_HEAP_BYTES - 2048);
  net_begin(arena);
  for (int n = 100; n <= 300; n += 200) { /* both lists have to find room; after a failure the heap begins anew */
    for (l = NET_List_i64_Nil, most = 0; most < n; most++) l = net_List_i64_Cons(arena, most, l);
    *NET_INPUT_0(data) = l;
    *NET_INPUT_1(data) = net_Tree_Leaf(arena, 1);
    CHECK(RUN() == (n == 100 ? 0 : WICK_BUNDLE_ELIMIT));
    net_begin(arena);
  }
  return 0;
}
"""
)

TRAINED = (
    START
    + """
#define NEAR(x, y) ((x) - (y) < 2e-6f && (y) - (x) < 2e-6f)
int main(void)
{
  static const float w[4] = {0.5f, -0.25f, 1.0f, 0.75f}, b[2] = {0.1f, -0.1f};
  net_begin(arena);
  *NET_INPUT_0(data) = net_Net_Layer(arena, w, b, net_Net_Layer(arena, w, b, NET_Net_End));
  NET_INPUT_1(data)[0] = 0.3f, NET_INPUT_1(data)[1] = -0.6f;
  NET_INPUT_2(data)[0] = 0.2f, NET_INPUT_2(data)[1] = 0.4f;
  for (int i = 0; i < 20; i++) {
    CHECK(RUN() == 0);
    if (i == 0) CHECK(NEAR(*NET_OUTPUT_0(data), FIRST));
    *NET_INPUT_0(data) = *NET_OUTPUT_1(data);
  }
  CHECK(NEAR(*NET_OUTPUT_0(data), LAST));
  const float *x = net_Net_Layer_0(arena, *NET_OUTPUT_1(data));
  CHECK(NEAR(x[0], W0) && NEAR(x[3], W3));
  return 0;
}
"""
)

SAME = START + "int main(void) { net_begin(arena); *NET_INPUT_0(data) = net_List_i64_Cons(arena, 4, 1); return RUN() || net_List_i64_Cons_0(arena, *NET_OUTPUT_0(data)) != 4; }\n"


# The record of a failure is read where the arena was full of other bytes before.
REFUSED = (
    START
    + """
#include <string.h>
static int says(const char *text) { return NET_FAILURE_TEXT(arena) && strstr(NET_FAILURE_TEXT(arena), text) && !NET_FAILURE_PLACE(arena); }
int main(void)
{
  memset(arena, 0x5a, sizeof arena);
  *NET_INPUT_0(data) = net_List_i64_Cons(arena, 1, 0);
  CHECK(RUN() == WICK_BUNDLE_EINVAL && says("net_begin(arena)") && NET_FAILURE_NCALL(arena) == 0);
  net_begin(arena);
  *NET_INPUT_0(data) = NET_List_i64_Nil;
  *NET_INPUT_1(data) = 0;
  CHECK(RUN() == WICK_BUNDLE_EINVAL && says("input 1 is no value") && NET_FAILURE_DETAIL(arena) == 1);
  *NET_INPUT_0(data) = 20;
  CHECK(RUN() == WICK_BUNDLE_EINVAL && says("input 0 is no value") && NET_FAILURE_DETAIL(arena) == 0);
  *NET_INPUT_0(data) = NET_List_i64_Nil;
  *NET_INPUT_1(data) = net_Tree_Leaf(arena, 7);
  CHECK(RUN() == 0 && *NET_OUTPUT_0(data) == NET_List_i64_Nil && *NET_OUTPUT_1(data) == 7);
  return 0;
}
"""
)

# A bundle that only gives data.
MADE = (
    START
    + """
#include <string.h>
int main(void)
{
  *NET_INPUT_0(data) = 3;
  CHECK(RUN() == WICK_BUNDLE_EINVAL && strstr(NET_FAILURE_TEXT(arena), "net_begin(arena)"));
  net_begin(arena);
  CHECK(RUN() == 0);
  long long l = *NET_OUTPUT_0(data), s = *NET_OUTPUT_1(data), t = *NET_OUTPUT_2(data);
  for (int i = 3; i > 0; i--, l = net_List_i64_Cons_1(arena, l))
    CHECK(net_is(arena, l) == NET_List_i64_IS_Cons && net_List_i64_Cons_0(arena, l) == i);
  CHECK(l == NET_List_i64_Nil);
  CHECK(net_is(arena, s) == NET_Option_f32_IS_Some && net_Option_f32_Some_0(arena, s) == 3.5f);
  CHECK(net_Tree_Leaf_0(arena, net_Tree_Node_2(arena, t)) == 3 && net_is(arena, net_Tree_Node_0(arena, t)) == NET_Tree_IS_Node);
  return 0;
}
"""
)


def built(folder, entry, text, target, *more):
    target.want()
    (folder / "p.wick").write_text(PROGRAM)
    b = Bundle(folder / "p.wick", folder / "bundle", target, embed=True, entry=entry, more=["--heap-bytes", 8192])
    assert not b.needs()
    (b.folder / "main.c").write_text(text)
    b.link(b.folder / "main.c", "-Wconversion", *more)
    r = subprocess.run([str(c) for c in (*target.emulator, b.program)], cwd=folder, stdin=subprocess.DEVNULL, timeout=100)
    assert r.returncode == 0


@pytest.mark.parametrize("target", MACHINES, ids=repr)
def test_lists_and_trees(target, tmp_path):
    built(tmp_path, "main", LISTS, target)


@pytest.mark.parametrize("target", MACHINES, ids=repr)
def test_a_network_is_trained(target, tmp_path):
    np = pytest.importorskip("numpy")
    w, b, x, y = np.array([[0.5, -0.25], [1.0, 0.75]]), np.array([0.1, -0.1]), np.array([0.3, -0.6]), np.array([0.2, 0.4])
    layers, losses = [[w, b], [w, b]], []
    for _ in range(20):
        h = [x]
        for w, b in layers:
            h.append(np.tanh(w @ h[-1] + b))
        losses.append(np.sum((h[2] - y) ** 2))
        d, grads = 2 * (h[2] - y), []
        for k in (1, 0):
            d = d * (1 - h[k + 1] ** 2)
            grads.insert(0, (np.outer(d, h[k]), d))
            d = layers[k][0].T @ d
        layers = [[p - 0.1 * g for p, g in zip(layer, grad)] for layer, grad in zip(layers, grads)]
    want = {"FIRST": losses[0], "LAST": losses[-1], "W0": layers[0][0][0, 0], "W3": layers[0][0][1, 1]}
    built(tmp_path, "step", TRAINED, target, *(f"-D{k}={v}f" for k, v in want.items()))


@pytest.mark.parametrize("target", MACHINES, ids=repr)
def test_data_that_is_refused_says_why(target, tmp_path):
    built(tmp_path, "main", REFUSED, target)


@pytest.mark.parametrize("target", MACHINES, ids=repr)
def test_data_that_is_only_given(target, tmp_path):
    built(tmp_path, "make", MADE, target)


def test_data_that_only_passes(tmp_path):
    built(tmp_path, "same", SAME, HOST)


def test_the_header_is_c_of_1989_and_cxx(tmp_path):
    (tmp_path / "p.wick").write_text(PROGRAM)
    Bundle(tmp_path / "p.wick", tmp_path / "b", HOST, embed=True, entry="main")
    for language, standard in (("c", "c89"), ("c++", "c++11")):
        (tmp_path / "t.c").write_text('#include "net.h"\nint main(void) { return 0; }\n')
        command = [CC, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wno-long-long", "-Werror", f"-I{tmp_path / 'b'}", "-c", tmp_path / "t.c", "-o", tmp_path / "t.o"]
        subprocess.run([str(c) for c in command], check=True)
