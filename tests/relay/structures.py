"""Algorithms in Relay's text: data types, recursion, closures, references and loops of the kind that TVM's tests and
tutorials have: name -> (text, arguments, expected)."""

import functools
import heapq
import itertools
import math

import numpy as np

i32, i64, f32, f64 = np.int32, np.int64, np.float32, np.float64
R = np.random.default_rng(5)

LIST = "type List[A] { Cons(A, List[A]), Nil, }\n"
OPTION = "type Option[A] { Some(A), None, }\n"
FROM_VECTOR = ("def @list_from(%x: Tensor[({n}), {t}], %i: int32) -> List[{t}] {{\n"
               "  if (%i == {n}) {{ Nil }} else {{ Cons(take(%x, %i, axis=0), @list_from(%x, %i + 1)) }}\n}}\n")
TO_NUMBER = ("def @number(%l: List[int32], %acc: int64) -> int64 {\n"
             "  match (%l) { Nil => %acc, Cons(%x, %rest) => @number(%rest, %acc * 10i64 + cast(%x, dtype=\"int64\")) }\n}\n")


def number(digits):
    return functools.reduce(lambda a, d: 10 * a + d, digits, 0)


def vector(n, t="int32"):
    return FROM_VECTOR.format(n=n, t=t)


# ---- sorting, searching ----

DIGITS = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], i32)

QUICKSORT = (LIST + vector(10) + TO_NUMBER + """
def @filter[A](%f: fn(A) -> bool, %l: List[A]) -> List[A] {
  match (%l) {
    Nil => Nil,
    Cons(%x, %rest) => if (%f(%x)) { Cons(%x, @filter(%f, %rest)) } else { @filter(%f, %rest) },
  }
}
def @append[A](%a: List[A], %b: List[A]) -> List[A] {
  match (%a) { Nil => %b, Cons(%x, %rest) => Cons(%x, @append(%rest, %b)) }
}
def @sort(%l: List[int32]) -> List[int32] {
  match (%l) {
    Nil => Nil,
    Cons(%p, %rest) => {
      let %small = @filter(fn (%x: int32) -> bool { %x < %p }, %rest);
      let %large = @filter(fn (%x: int32) -> bool { %x >= %p }, %rest);
      @append(@sort(%small), Cons(%p, @sort(%large)))
    },
  }
}
def @main(%x: Tensor[(10), int32]) -> int64 { @number(@sort(@list_from(%x, 0)), 0i64) }
""", (DIGITS,), number(sorted(DIGITS.tolist())))

MERGESORT = (LIST + vector(10) + TO_NUMBER + """
def @split[A](%l: List[A]) -> (List[A], List[A]) {
  match (%l) {
    Nil => (Nil, Nil),
    Cons(%x, Nil) => (Cons(%x, Nil), Nil),
    Cons(%x, Cons(%y, %rest)) => { let %t = @split(%rest); (Cons(%x, %t.0), Cons(%y, %t.1)) },
  }
}
def @merge[A](%less: fn(A, A) -> bool, %a: List[A], %b: List[A]) -> List[A] {
  match ((%a, %b)) {
    (Nil, _) => %b,
    (_, Nil) => %a,
    (Cons(%x, %r), Cons(%y, %s)) =>
      if (%less(%y, %x)) { Cons(%y, @merge(%less, %a, %s)) } else { Cons(%x, @merge(%less, %r, %b)) },
  }
}
def @sort[A](%less: fn(A, A) -> bool, %l: List[A]) -> List[A] {
  match (%l) {
    Nil => Nil,
    Cons(_, Nil) => %l,
    _ => { let %t = @split(%l); @merge(%less, @sort(%less, %t.0), @sort(%less, %t.1)) },
  }
}
def @main(%x: Tensor[(10), int32]) -> (int64, int64) {
  let %l = @list_from(%x, 0);
  (@number(@sort(fn (%a: int32, %b: int32) { %a < %b }, %l), 0i64), @number(@sort(fn (%a: int32, %b: int32) { %a > %b }, %l), 0i64))
}
""", (DIGITS,), (number(sorted(DIGITS.tolist())), number(sorted(DIGITS.tolist(), reverse=True))))

SEARCH_TREE = ("""
type Map { Leaf, Bin(Map, int32, float32, Map) }
def @insert(%m: Map, %k: int32, %v: float32) -> Map {
  match (%m) {
    Leaf => Bin(Leaf, %k, %v, Leaf),
    Bin(%l, %k1, %v1, %r) =>
      if (%k < %k1) { Bin(@insert(%l, %k, %v), %k1, %v1, %r) }
      else { if (%k > %k1) { Bin(%l, %k1, %v1, @insert(%r, %k, %v)) } else { Bin(%l, %k, %v, %r) } },
  }
}
def @get(%m: Map, %k: int32, %default: float32) -> float32 {
  match (%m) {
    Leaf => %default,
    Bin(%l, %k1, %v1, %r) => if (%k == %k1) { %v1 } else { @get(if (%k < %k1) { %l } else { %r }, %k, %default) },
  }
}
def @fill(%m: Map, %keys: Tensor[(8), int32], %i: int32) -> Map {
  if (%i == 8) { %m } else { @fill(@insert(%m, take(%keys, %i, axis=0), cast(%i, dtype="float32")), %keys, %i + 1) }
}
def @main(%keys: Tensor[(8), int32]) {
  let %m = @fill(Leaf, %keys, 0);
  (@get(%m, 7, -1f), @get(%m, 100, -1f), @get(%m, 3, -1f), @get(%m, 12, -1f))
}
""", (np.array([7, 3, 9, 1, 7, 12, 4, 3], i32),), (4, -1, 7, 5))

HEAP = (LIST + vector(10) + TO_NUMBER + """
type Heap { Empty, Node(int32, int32, Heap, Heap) }
def @rank(%h: Heap) -> int32 { match (%h) { Empty => 0, Node(%r, _, _, _) => %r } }
def @make(%x: int32, %a: Heap, %b: Heap) -> Heap {
  if (@rank(%a) >= @rank(%b)) { Node(@rank(%b) + 1, %x, %a, %b) } else { Node(@rank(%a) + 1, %x, %b, %a) }
}
def @merge(%a: Heap, %b: Heap) -> Heap {
  match ((%a, %b)) {
    (Empty, _) => %b,
    (_, Empty) => %a,
    (Node(_, %x, %l, %r), Node(_, %y, %l2, %r2)) =>
      if (%x <= %y) { @make(%x, %l, @merge(%r, %b)) } else { @make(%y, %l2, @merge(%a, %r2)) },
  }
}
def @push(%h: Heap, %l: List[int32]) -> Heap {
  match (%l) { Nil => %h, Cons(%x, %rest) => @push(@merge(Node(1, %x, Empty, Empty), %h), %rest) }
}
def @drain(%h: Heap) -> List[int32] {
  match (%h) { Empty => Nil, Node(_, %x, %l, %r) => Cons(%x, @drain(@merge(%l, %r))) }
}
def @main(%x: Tensor[(10), int32]) -> int64 { @number(@drain(@push(Empty, @list_from(%x, 0))), 0i64) }
""", (DIGITS,), number(heapq.nsmallest(10, DIGITS.tolist())))

BISECTION = ("""
def @go(%x: Tensor[(16), float32], %v: float32, %lo: int32, %hi: int32) -> int32 {
  if (%lo >= %hi) { %lo } else {
    let %mid = (%lo + %hi) / 2;
    if (take(%x, %mid, axis=0) < %v) { @go(%x, %v, %mid + 1, %hi) } else { @go(%x, %v, %lo, %mid) }
  }
}
def @main(%x: Tensor[(16), float32], %v: float32) -> int32 { @go(%x, %v, 0, 16) }
""", (np.arange(16, dtype=f32) ** 2, f32(50)), 8)


def queens(n):
    return sum(len({a + i for i, a in enumerate(p)}) == n == len({a - i for i, a in enumerate(p)}) for p in itertools.permutations(range(n)))


QUEENS = (LIST + """
def @safe(%q: int32, %d: int32, %rows: List[int32]) -> bool {
  match (%rows) {
    Nil => True,
    Cons(%r, %rest) => if (%r == %q) { False } else { if (abs(%r - %q) == %d) { False } else { @safe(%q, %d + 1, %rest) } },
  }
}
def @place(%n: int32, %k: int32, %rows: List[int32]) -> int32 {
  if (%k == %n) { 1 } else { @try(%n, %k, 0, %rows) }
}
def @try(%n: int32, %k: int32, %q: int32, %rows: List[int32]) -> int32 {
  if (%q == %n) { 0 } else {
    let %here = if (@safe(%q, 1, %rows)) { @place(%n, %k + 1, Cons(%q, %rows)) } else { 0 };
    %here + @try(%n, %k, %q + 1, %rows)
  }
}
def @main(%n: int32) -> int32 { @place(%n, 0, Nil) }
""", (i32(6),), queens(6))


def hanoi(n):
    return 2**n - 1


HANOI = (LIST + """
def @length[A](%l: List[A], %n: int32) -> int32 { match (%l) { Nil => %n, Cons(_, %r) => @length(%r, %n + 1) } }
def @solve(%n: int32, %a: int8, %b: int8, %c: int8, %moves: List[(int8, int8)]) -> List[(int8, int8)] {
  if (%n == 0) { %moves } else {
    let %m1 = @solve(%n - 1, %a, %c, %b, %moves);
    @solve(%n - 1, %c, %b, %a, Cons((%a, %b), %m1))
  }
}
def @main(%n: int32) {
  let %moves = @solve(%n, 1i8, 2i8, 3i8, Nil);
  (@length(%moves, 0), match? (%moves) { Cons(%m, _) => %m })
}
""", (i32(5),), (hanoi(5), (1, 2)))

# ---- numbers ----

PRIMES = (LIST + TO_NUMBER + """
def @divides(%l: List[int32], %n: int32) -> bool {
  match (%l) { Nil => False, Cons(%p, %rest) => if (floor_mod(%n, %p) == 0) { True } else { @divides(%rest, %n) } }
}
def @primes(%n: int32, %most: int32, %l: List[int32], %sum: int32) -> int32 {
  if (%n > %most) { %sum } else {
    if (@divides(%l, %n)) { @primes(%n + 1, %most, %l, %sum) } else { @primes(%n + 1, %most, Cons(%n, %l), %sum + %n) }
  }
}
def @main(%most: int32) -> int32 { @primes(2, %most, Nil, 0) }
""", (i32(60),), sum(p for p in range(2, 61) if all(p % d for d in range(2, p))))

GCD = ("""
def @gcd(%a: int64, %b: int64) -> int64 { if (%b == 0i64) { %a } else { @gcd(%b, mod(%a, %b)) } }
def @power(%a: int64, %n: int64, %m: int64) -> int64 {
  if (%n == 0i64) { 1i64 } else {
    let %half = @power(mod(%a * %a, %m), %n / 2i64, %m);
    if (mod(%n, 2i64) == 1i64) { mod(%a * %half, %m) } else { %half }
  }
}
def @main(%a: int64, %b: int64) { (@gcd(%a, %b), @power(%a, %b, 1000007i64)) }
""", (i64(3 * 1024 * 77), i64(9 * 2048 * 35)), (math.gcd(3 * 1024 * 77, 9 * 2048 * 35), pow(3 * 1024 * 77, 9 * 2048 * 35, 1000007)))

PEANO = ("""
type nat { zero, succ(nat) }
def @of(%n: int32) -> nat { if (%n == 0) { zero } else { succ(@of(%n - 1)) } }
def @int(%n: nat) -> int32 { match (%n) { zero => 0, succ(%m) => 1 + @int(%m) } }
def @add(%a: nat, %b: nat) -> nat { match (%a) { zero => %b, succ(%c) => @add(%c, succ(%b)) } }
def @mul(%a: nat, %b: nat) -> nat { match (%a) { zero => zero, succ(%c) => @add(%b, @mul(%c, %b)) } }
def @less(%a: nat, %b: nat) -> bool {
  match ((%a, %b)) { (_, zero) => False, (zero, _) => True, (succ(%c), succ(%d)) => @less(%c, %d) }
}
def @main(%n: int32) { let %a = @of(%n); (@int(@mul(%a, succ(%a))), @less(%a, succ(%a)), @less(succ(%a), %a)) }
""", (i32(7),), (56, True, False))

ACKERMANN = ("""
def @main(%m: int32, %n: int32) -> int32 {
  if (%m == 0) { %n + 1 } else { if (%n == 0) { @main(%m - 1, 1) } else { @main(%m - 1, @main(%m, %n - 1)) } }
}
""", (i32(2), i32(9)), 21)

# The same with closures alone: iteration of iterations.
ACKERMANN_CLOSURES = ("""
def @iterate[A](%f: fn(A) -> A, %n: int32) -> fn(A) -> A {
  fn (%x: A) -> A { if (%n == 0) { %x } else { @iterate(%f, %n - 1)(%f(%x)) } }
}
def @main(%m: int32, %n: int32) -> int32 {
  let %step = fn (%g: fn(int32) -> int32) -> fn(int32) -> int32 { fn (%k: int32) -> int32 { @iterate(%g, %k + 1)(1) } };
  @iterate(%step, %m)(fn (%k: int32) -> int32 { %k + 1 })(%n)
}
""", (i32(2), i32(4)), 11)

CONTINUATIONS = ("""
def @fact(%n: int64, %k: fn(int64) -> int64) -> int64 {
  if (%n == 0i64) { %k(1i64) } else { @fact(%n - 1i64, fn (%x: int64) -> int64 { %k(%n * %x) }) }
}
def @fib(%n: int32, %k: fn(int32) -> int32) -> int32 {
  if (%n < 2) { %k(%n) } else { @fib(%n - 1, fn (%a: int32) -> int32 { @fib(%n - 2, fn (%b: int32) -> int32 { %k(%a + %b) }) }) }
}
def @main(%n: int64, %m: int32) { (@fact(%n, fn (%x: int64) -> int64 { %x }), @fib(%m, fn (%x: int32) -> int32 { %x })) }
""", (i64(15), i32(12)), (math.factorial(15), 144))

# ---- interpreters ----

LAMBDA = (OPTION + LIST + """
type Term { Var(int32), Lit(int32), Plus(Term, Term), Lam(Term), App(Term, Term), IfZero(Term, Term, Term) }
type Value { Number(int32), Closure(Term, List[Value]) }
def @nth[A](%l: List[A], %i: int32) -> A { match? (%l) { Cons(%x, %r) => if (%i == 0) { %x } else { @nth(%r, %i - 1) } } }
def @eval(%t: Term, %env: List[Value]) -> Value {
  match (%t) {
    Var(%i) => @nth(%env, %i),
    Lit(%n) => Number(%n),
    Plus(%a, %b) => match? ((@eval(%a, %env), @eval(%b, %env))) { (Number(%x), Number(%y)) => Number(%x + %y) },
    Lam(%body) => Closure(%t, %env),
    App(%f, %x) => match? (@eval(%f, %env)) { Closure(Lam(%body), %kept) => @eval(%body, Cons(@eval(%x, %env), %kept)) },
    IfZero(%c, %a, %b) => match? (@eval(%c, %env)) { Number(%n) => if (%n == 0) { @eval(%a, %env) } else { @eval(%b, %env) } },
  }
}
def @main(%n: int32) -> int32 {
  let %double = Lam(Plus(Var(0), Var(0)));
  let %twice = Lam(Lam(App(Var(1), App(Var(1), Var(0)))));
  let %term = App(App(%twice, App(%twice, %double)), IfZero(Lit(0), Lit(%n), Lit(0)));
  match? (@eval(%term, Nil)) { Number(%x) => %x }
}
""", (i32(3),), 48)

STACK_MACHINE = (LIST + """
type Code { Push(float32), Add, Mul, Neg, Dup, Swap }
def @step(%c: Code, %s: List[float32]) -> List[float32] {
  match? ((%c, %s)) {
    (Push(%x), _) => Cons(%x, %s),
    (Add, Cons(%a, Cons(%b, %r))) => Cons(%a + %b, %r),
    (Mul, Cons(%a, Cons(%b, %r))) => Cons(%a * %b, %r),
    (Neg, Cons(%a, %r)) => Cons(negative(%a), %r),
    (Dup, Cons(%a, %r)) => Cons(%a, %s),
    (Swap, Cons(%a, Cons(%b, %r))) => Cons(%b, Cons(%a, %r)),
  }
}
def @run(%code: List[Code], %s: List[float32]) -> List[float32] {
  match (%code) { Nil => %s, Cons(%c, %rest) => @run(%rest, @step(%c, %s)) }
}
def @main(%x: float32) -> float32 {
  let %square = Cons(Push(%x), Cons(Dup, Cons(Mul, Cons(Push(3f), Cons(Swap, Cons(Neg, Cons(Add, Nil)))))));
  match? (@run(%square, Nil)) { Cons(%y, Nil) => %y }
}
""", (f32(1.5),), 0.75)

# d/dx of an expression as an expression, simplified, and evaluated.
SYMBOLIC = ("""
type Expr { X, Num(float32), Add(Expr, Expr), Mul(Expr, Expr), Sin(Expr), Cos(Expr) }
def @eval(%e: Expr, %x: float32) -> float32 {
  match (%e) {
    X => %x,
    Num(%n) => %n,
    Add(%a, %b) => @eval(%a, %x) + @eval(%b, %x),
    Mul(%a, %b) => @eval(%a, %x) * @eval(%b, %x),
    Sin(%a) => sin(@eval(%a, %x)),
    Cos(%a) => cos(@eval(%a, %x)),
  }
}
def @times(%a: Expr, %b: Expr) -> Expr {
  match ((%a, %b)) {
    (Num(%n), _) => if (%n == 0f) { Num(0f) } else { if (%n == 1f) { %b } else { Mul(%a, %b) } },
    (_, Num(_)) => @times(%b, %a),
    _ => Mul(%a, %b),
  }
}
def @diff(%e: Expr) -> Expr {
  match (%e) {
    X => Num(1f),
    Num(_) => Num(0f),
    Add(%a, %b) => Add(@diff(%a), @diff(%b)),
    Mul(%a, %b) => Add(@times(@diff(%a), %b), @times(%a, @diff(%b))),
    Sin(%a) => @times(Cos(%a), @diff(%a)),
    Cos(%a) => @times(Num(-1f), @times(Sin(%a), @diff(%a))),
  }
}
def @size(%e: Expr) -> int32 {
  match (%e) {
    Add(%a, %b) => 1 + @size(%a) + @size(%b),
    Mul(%a, %b) => 1 + @size(%a) + @size(%b),
    Sin(%a) => 1 + @size(%a),
    Cos(%a) => 1 + @size(%a),
    _ => 1,
  }
}
def @main(%x: float32) { let %e = Mul(X, Sin(Mul(X, X))); let %d = @diff(%e); (@eval(%d, %x), @eval(@diff(%d), %x), @size(@diff(%e)) > @size(%e)) }
""", (f32(0.7),), (np.sin(0.49) + 2 * 0.49 * np.cos(0.49), 6 * 0.7 * np.cos(0.49) - 4 * 0.7**3 * np.sin(0.49), True))

# ---- derivatives as TVM's first pass for them writes them: pairs of a value and a reference, and a reference to
# what is left to do ----

BACKPROPAGATOR = ("""
def @main(%x: float32, %y: float32) {
  let %todo = ref(fn () -> () { () });
  let %a = (%x, ref(0f));
  let %b = (%y, ref(0f));
  let %mul = fn (%p: (float32, ref(float32)), %q: (float32, ref(float32))) {
    let %r = (%p.0 * %q.0, ref(0f));
    let %after = ref_read(%todo);
    ref_write(%todo, fn () -> () {
      ref_write(%p.1, ref_read(%p.1) + ref_read(%r.1) * %q.0);
      ref_write(%q.1, ref_read(%q.1) + ref_read(%r.1) * %p.0);
      %after()
    });
    %r
  };
  let %c = %mul(%a, %b);
  let %d = %mul(%c, %a);
  ref_write(%d.1, 1f);
  let %run = ref_read(%todo);
  %run();
  (%d.0, ref_read(%a.1), ref_read(%b.1))
}
""", (f32(3), f32(2)), (18, 12, 9))

GRADIENT_CELLS = ("""
def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  let %zero = fn () -> Tensor[(2, 3), float32] { zeros(shape=[2, 3], dtype="float32") };
  let %one = fn () -> Tensor[(2, 3), float32] { ones(shape=[2, 3], dtype="float32") };
  let %plus = fn (%a: Tensor[(2, 3), float32], %b: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] { add(%a, %b) };
  let %times = fn (%a: Tensor[(2, 3), float32], %b: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] { multiply(%a, %b) };
  let %g = @AddGradCell(%plus, Raw(%x), @MultiplyGradCell(%times, One(%one), Raw(%x)));
  let %h = @MultiplyGradCell(%times, Zero(%zero), %g);
  @FromGradCell(@AddGradCell(%plus, %g, %h))
}
""", (np.arange(6, dtype=f32).reshape(2, 3),), 2 * np.arange(6, dtype=f32).reshape(2, 3))

FORWARD_MODE = ("""
type Dual { Dual(float32, float32) }
def @times(%a: Dual, %b: Dual) -> Dual { match (%a) { Dual(%x, %dx) => match (%b) { Dual(%y, %dy) => Dual(%x * %y, %dx * %y + %x * %dy) } } }
def @plus(%a: Dual, %b: Dual) -> Dual { match ((%a, %b)) { (Dual(%x, %dx), Dual(%y, %dy)) => Dual(%x + %y, %dx + %dy) } }
def @horner(%c: List[float32], %x: Dual) -> Dual {
  match (%c) { Nil => Dual(0f, 0f), Cons(%k, %rest) => @plus(Dual(%k, 0f), @times(%x, @horner(%rest, %x))) }
}
def @main(%x: float32) { match (@horner(Cons(1f, Cons(-2f, Cons(0.5f, Cons(3f, Nil)))), Dual(%x, 1f))) { Dual(%v, %d) => (%v, %d) } }
""", (f32(0.5),), (1 - 1 + 0.125 + 0.375, -2 + 0.5 + 9 * 0.25))

# ---- loops over tensors ----

A = R.standard_normal((3, 3))
SPD = (A @ A.T + 3 * np.eye(3)).astype(f64)
B3 = R.standard_normal(3)

JACOBI = ("""
def @loop(%a: Tensor[(3, 3), float64], %b: Tensor[(3), float64], %x: Tensor[(3), float64], %n: int32) -> (Tensor[(3), float64], int32) {
  %0 = one_hot(arange(0, 3, 1, dtype="int32"), 1f64, 0f64, depth=3, axis=-1, dtype="float64");
  let %d = sum(%a * %0, axis=[1]);
  let %r = nn.dense(expand_dims(%x, axis=0), %a);
  let %e = %b - squeeze(%r, axis=[0]);
  if (sqrt(sum(%e * %e)) < 1e-12f64) { (%x, %n) } else { @loop(%a, %b, %x + %e / %d, %n + 1) }
}
def @main(%a: Tensor[(3, 3), float64], %b: Tensor[(3), float64]) { @loop(%a, %b, zeros(shape=[3], dtype="float64"), 0).0 }
""", (np.array([[4, 1, 0.5], [1, 5, -1], [0.5, -1, 6]]), B3), np.linalg.solve(np.array([[4, 1, 0.5], [1, 5, -1], [0.5, -1, 6]]), B3))

CONJUGATE = ("""
def @mv(%a: Tensor[(3, 3), float64], %x: Tensor[(3), float64]) -> Tensor[(3), float64] {
  squeeze(nn.dense(expand_dims(%x, axis=0), %a), axis=[0])
}
def @cg(%a: Tensor[(3, 3), float64], %x: Tensor[(3), float64], %r: Tensor[(3), float64], %p: Tensor[(3), float64], %n: int32) -> Tensor[(3), float64] {
  if (%n == 0) { %x } else {
    let %ap = @mv(%a, %p);
    let %rr = sum(%r * %r);
    let %alpha = %rr / sum(%p * %ap);
    let %r2 = %r - %alpha * %ap;
    @cg(%a, %x + %alpha * %p, %r2, %r2 + sum(%r2 * %r2) / %rr * %p, %n - 1)
  }
}
def @main(%a: Tensor[(3, 3), float64], %b: Tensor[(3), float64]) { @cg(%a, zeros_like(%b), %b, %b, 3) }
""", (SPD, B3), np.linalg.solve(SPD, B3))


def power_iteration(a, steps):
    x = np.ones(len(a)) / np.sqrt(len(a))
    for _ in range(steps):
        x = a @ x
        x = x / np.sqrt(x @ x)
    return x @ a @ x


POWER_METHOD = ("""
def @main(%a: Tensor[(3, 3), float64], %steps: int32) -> float64 {
  let %norm = fn (%v: Tensor[(3, 1), float64]) { %v / sqrt(sum(%v * %v)) };
  let %loop = fn (%i: int32, %v: Tensor[(3, 1), float64]) -> Tensor[(3, 1), float64] {
    if (%i == 0) { %v } else { %loop(%i - 1, %norm(nn.matmul(%a, %v))) }
  };
  let %v = %loop(%steps, %norm(ones(shape=[3, 1], dtype="float64")));
  sum(%v * nn.matmul(%a, %v))
}
""", (SPD, i32(7)), power_iteration(SPD, 7))

EULER = (LIST + """
def @steps(%f: fn(Tensor[(2), float64]) -> Tensor[(2), float64], %h: float64, %x: Tensor[(2), float64], %n: int32) -> List[Tensor[(2), float64]] {
  if (%n == 0) { Nil } else {
    let %k1 = %f(%x);
    let %k2 = %f(%x + %h * 0.5f64 * %k1);
    let %k3 = %f(%x + %h * 0.5f64 * %k2);
    let %k4 = %f(%x + %h * %k3);
    let %y = %x + %h / 6f64 * (%k1 + 2f64 * %k2 + 2f64 * %k3 + %k4);
    Cons(%y, @steps(%f, %h, %y, %n - 1))
  }
}
def @last(%l: List[Tensor[(2), float64]], %x: Tensor[(2), float64]) -> Tensor[(2), float64] { match (%l) { Nil => %x, Cons(%y, %r) => @last(%r, %y) } }
def @main(%x: Tensor[(2), float64]) {
  let %f = fn (%s: Tensor[(2), float64]) -> Tensor[(2), float64] {
    let %t = split(%s, indices_or_sections=2);
    concatenate((%t.1, negative(%t.0)), axis=0)
  };
  @last(@steps(%f, 0.01f64, %x, 100), %x)
}
""", (np.array([1.0, 0.0]),), np.array([np.cos(1), -np.sin(1)]))


def mandelbrot(c):
    z, n = 0j, 0
    while abs(z) <= 2 and n < 50:
        z, n = z * z + c, n + 1
    return n


MANDELBROT = ("""
def @escape(%a: float64, %b: float64, %x: float64, %y: float64, %n: int32) -> int32 {
  if (logical_or(%x * %x + %y * %y > 4f64, %n == 50)) { %n } else { @escape(%a, %b, %x * %x - %y * %y + %a, 2f64 * %x * %y + %b, %n + 1) }
}
def @main(%a: float64, %b: float64) { (@escape(%a, %b, 0f64, 0f64, 0), @escape(%b, %a, 0f64, 0f64, 0), @escape(0f64, 0f64, 0f64, 0f64, 0)) }
""", (f64(-0.75), f64(0.11)), (mandelbrot(-0.75 + 0.11j), mandelbrot(0.11 - 0.75j), 50))

PREFIX_SUMS = (LIST + vector(6, "float32") + """
def @scan[A, B](%f: fn(B, A) -> B, %z: B, %l: List[A]) -> List[B] {
  match (%l) { Nil => Cons(%z, Nil), Cons(%x, %rest) => Cons(%z, @scan(%f, %f(%z, %x), %rest)) }
}
def @stacked(%l: List[float32], %i: int32, %out: Tensor[(7), float32]) -> Tensor[(7), float32] {
  match (%l) {
    Nil => %out,
    Cons(%x, %rest) => @stacked(%rest, %i + 1, %out + one_hot(%i, %x, 0f, depth=7, axis=-1, dtype="float32")),
  }
}
def @main(%x: Tensor[(6), float32]) { @stacked(@scan(fn (%a: float32, %b: float32) { %a + %b }, 0f, @list_from(%x, 0)), 0, zeros(shape=[7], dtype="float32")) }
""", (np.arange(1, 7, dtype=f32),), np.concatenate([[0], np.cumsum(np.arange(1, 7))]).astype(f32))

# ---- streams, optional values, records of closures ----

STREAM = (LIST + """
type Stream { Next(int32, fn() -> Stream) }
def @from(%n: int32) -> Stream { Next(%n, fn () -> Stream { @from(%n + 1) }) }
def @map(%f: fn(int32) -> int32, %s: Stream) -> Stream { match (%s) { Next(%x, %more) => Next(%f(%x), fn () -> Stream { @map(%f, %more()) }) } }
def @take(%s: Stream, %n: int32) -> List[int32] {
  if (%n == 0) { Nil } else { match (%s) { Next(%x, %more) => Cons(%x, @take(%more(), %n - 1)) } }
}
def @sum(%l: List[int32]) -> int32 { match (%l) { Nil => 0, Cons(%x, %r) => %x + @sum(%r) } }
def @main(%n: int32) -> int32 { @sum(@take(@map(fn (%x: int32) { %x * %x }, @from(1)), %n)) }
""", (i32(10),), 385)

SAFE = (OPTION + """
def @divide(%a: int32, %b: int32) -> Option[int32] { if (%b == 0) { None } else { Some(%a / %b) } }
def @then[A, B](%x: Option[A], %f: fn(A) -> Option[B]) -> Option[B] { match (%x) { None => None, Some(%v) => %f(%v) } }
def @or[A](%x: Option[A], %default: A) -> A { match (%x) { None => %default, Some(%v) => %v } }
def @main(%a: int32, %b: int32) {
  let %f = fn (%x: int32) -> Option[int32] { @divide(%x, %b) };
  (@or(@then(@divide(100, %a), %f), -1), @or(@then(@divide(100, 7), fn (%x: int32) -> Option[int32] { @divide(%x, 3) }), -1))
}
""", (i32(5), i32(0)), (-1, 4))

OBJECTS = ("""
type Account { Account(fn(int32) -> int32, fn() -> int32) }
def @open(%start: int32) -> Account {
  let %balance = ref(%start);
  Account(fn (%x: int32) -> int32 { ref_write(%balance, ref_read(%balance) + %x); ref_read(%balance) }, fn () -> int32 { ref_read(%balance) })
}
def @main(%x: int32) {
  let %a = @open(100);
  let %b = @open(10);
  match (%a) { Account(%put, %get) => { let %one = %put(%x); let %two = %put(%x); match (%b) { Account(_, %other) => (%one, %two, %get(), %other()) } } }
}
""", (i32(7),), (107, 114, 114, 10))

MEMO = (LIST + OPTION + """
def @find(%l: List[(int32, int64)], %k: int32) -> Option[int64] {
  match (%l) { Nil => None, Cons((%a, %v), %r) => if (%a == %k) { Some(%v) } else { @find(%r, %k) } }
}
def @main(%n: int32) -> int64 {
  let %table: ref(List[(int32, int64)]) = ref(Nil);
  let %fib = fn (%i: int32) -> int64 {
    if (%i < 2) { cast(%i, dtype="int64") } else {
      match (@find(ref_read(%table), %i)) {
        Some(%v) => %v,
        None => {
          let %v = %fib(%i - 1) + %fib(%i - 2);
          ref_write(%table, Cons((%i, %v), ref_read(%table)));
          %v
        },
      }
    }
  };
  %fib(%n)
}
""", (i32(60),), 1548008755920)

ZIPPER = (LIST + """
type Zip { Zip(List[int32], List[int32]) }
def @right(%z: Zip) -> Zip { match? (%z) { Zip(%l, Cons(%x, %r)) => Zip(Cons(%x, %l), %r) } }
def @left(%z: Zip) -> Zip { match? (%z) { Zip(Cons(%x, %l), %r) => Zip(%l, Cons(%x, %r)) } }
def @put(%z: Zip, %v: int32) -> Zip { match? (%z) { Zip(%l, Cons(_, %r)) => Zip(%l, Cons(%v, %r)) } }
def @onto(%a: List[int32], %b: List[int32]) -> List[int32] { match (%a) { Nil => %b, Cons(%x, %r) => @onto(%r, Cons(%x, %b)) } }
def @digits(%l: List[int32], %n: int32) -> int32 { match (%l) { Nil => %n, Cons(%x, %r) => @digits(%r, 10 * %n + %x) } }
def @main(%v: int32) -> int32 {
  let %z = @put(@left(@right(@right(@right(Zip(Nil, Cons(1, Cons(2, Cons(3, Cons(4, Nil))))))))), %v);
  match (%z) { Zip(%l, %r) => @digits(@onto(%l, %r), 0) }
}
""", (i32(9),), 1294)

MUTUAL_DATA = ("""
type Even { Stop, Add(int32, Odd) }
type Odd { More(float32, Even) }
def @even(%e: Even) -> float32 { match (%e) { Stop => 0f, Add(%n, %o) => cast(%n, dtype="float32") + @odd(%o) } }
def @odd(%o: Odd) -> float32 { match (%o) { More(%x, %e) => %x * 2f + @even(%e) } }
def @main(%x: float32) -> float32 { @even(Add(1, More(%x, Add(2, More(0.5f, Stop))))) }
""", (f32(0.25),), 4.5)

TUPLES_OF_FUNCTIONS = ("""
def @pair[A, B, C](%f: fn(A) -> B, %g: fn(A) -> C) -> fn(A) -> (B, C) { fn (%x: A) -> (B, C) { (%f(%x), %g(%x)) } }
def @main(%x: Tensor[(3), float32]) {
  let %h = @pair(fn (%a: Tensor[(3), float32]) { sum(%a) }, @pair(fn (%a: Tensor[(3), float32]) { argmax(%a) }, fn (%a: Tensor[(3), float32]) { %a * 2f }));
  let %t = %h(%x);
  (%t.0, %t.1.0, %t.1.1)
}
""", (np.array([1, 5, 2], f32),), (8, 1, np.array([2, 10, 4], f32)))

FUNCTION_CHOSEN_IN_LOOP = ("""
def @main(%n: int32, %x: float32) -> float32 {
  let %loop = fn (%i: int32, %f: fn(float32) -> float32) -> fn(float32) -> float32 {
    if (%i == 0) { %f } else {
      let %g = if (mod(%i, 2) == 0) { fn (%a: float32) -> float32 { %f(%a) + 1f } } else { fn (%a: float32) -> float32 { %f(%a) * 2f } };
      %loop(%i - 1, %g)
    }
  };
  %loop(%n, fn (%a: float32) -> float32 { %a })(%x)
}
""", (i32(4), f32(3)), ((3 + 1) * 2 + 1) * 2)

STRUCTURES = {
    "quicksort": QUICKSORT, "merge sort by closures": MERGESORT, "search tree": SEARCH_TREE, "leftist heap": HEAP, "bisection": BISECTION,
    "queens": QUEENS, "hanoi": HANOI, "primes": PRIMES, "powers modulo": GCD, "natural numbers": PEANO, "ackermann": ACKERMANN,
    "ackermann by iteration": ACKERMANN_CLOSURES, "continuations": CONTINUATIONS, "lambda calculus": LAMBDA, "stack machine": STACK_MACHINE,
    "symbolic derivative": SYMBOLIC, "backpropagator": BACKPROPAGATOR, "gradient cells of tensors": GRADIENT_CELLS, "dual numbers": FORWARD_MODE,
    "jacobi": JACOBI, "conjugate gradients": CONJUGATE, "power method": POWER_METHOD, "runge kutta": EULER, "mandelbrot": MANDELBROT,
    "prefix sums": PREFIX_SUMS, "streams": STREAM, "optional values": SAFE, "objects": OBJECTS, "table in a reference": MEMO,
    "zipper": ZIPPER, "types that need each other": MUTUAL_DATA,
    "pairs of functions": TUPLES_OF_FUNCTIONS, "functions grown in a loop": FUNCTION_CHOSEN_IN_LOOP,
}  # fmt: skip
