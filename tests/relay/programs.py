"""Programs in Relay's text with control flow, data types, closures, references, recursion and polymorphism:
name -> (text, arguments, expected)."""

import numpy as np

i32, f32 = np.int32, np.float32
X = np.array([[1, 2, 3], [4, 5, 6]], f32)

LIST = "type List[A] { Cons(A, List[A]), Nil, }\n"

def replaced():
    """Zeros with rows 5 and 2 replaced, whose columns are turned."""
    x = np.zeros((6, 4), f32)
    x[-1:0:-3, ::-1] = np.arange(8, dtype=f32).reshape(2, 4)
    return x


PROGRAMS = {
    # ---- literals and operators ----
    "integers": ("def @main() { (1, 2i8, 3i16, 4i64, -5, --6, 2147483648, 0) }", (), (1, 2, 3, 4, -5, 6, 2147483648, 0)),
    "floats": ("def @main() { (1f, 2.5f64, 1e-1f, -10.0f, 3f16, 1E+1f, 1.5e3f) }", (), (1, 2.5, f32(0.1), -10, 3, 10, 1500)),
    "bools": ("def @main() { (True, False) }", (), (True, False)),
    "least": ("def @main() { (-128i8, -2147483648, -9223372036854775808) }", (), (-128, -2147483648, -9223372036854775808)),
    "infinity": ("def @main() { (inff, -inff) }", (), (np.inf, -np.inf)),
    "precedence": ("def @main() { (1 + 2 * 3, (1 + 2) * 3, 10 - 4 - 3, 12 / 2 / 3, 1 * 1 + 1 < 1 == False) }", (),
                   (7, 9, 3, 2, True)),
    "comparisons": ("def @main(%x: int32) { (%x < 3, %x <= 3, %x > 3, %x >= 3, %x == 3, %x != 3) }", (i32(3),),
                    (False, True, False, True, True, False)),
    "minus": ("def @main(%x: int32) { (%x - 1, %x -1, %x - -1) }", (i32(5),), (4, 4, 6)),
    "broadcast": ("def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(3), float32]) { %x * %y + 1f }", (X, X[0]), X * X[0] + 1),
    # ---- bindings ----
    "let": ("def @main(%x: int32) { let %y = %x + 1; let %z: int32 = %y * %y; %z - %x }", (i32(3),), 13),
    "shadow": ("def @main(%x: int32) { let %x = %x + 1; let %x = %x * 2; %x }", (i32(3),), 8),
    "graph": ("def @main(%x: int32) { %0 = %x + 1; %1 = %0 * %0; %1 + %0 }", (i32(2),), 12),
    "sequence": ("def @main(%x: int32) { let %r = ref(%x); ref_write(%r, 7); (); ref_read(%r) }", (i32(2),), 7),
    "nested blocks": ("def @main(%x: int32) { let %a = { let %b = %x + 1; %b * 2 }; (let %c = %a; %c + 1) }", (i32(2),), 7),
    "comments": ("// a line\ndef @main(%x: int32 /* in /* a */ type */) -> int32 { /* a block\n*/ %x /* ty=int32 */ } // end", (i32(2),), 2),
    "named as a function": ("def @f(%x: int32) { %x + 1 }\ndef @main(%f: int32) { @f(%f) * %f }", (i32(3),), 12),
    "names of operators": ("def @main(%exp: float32, %add: float32) { add(exp(%add), %exp) }", (f32(1), f32(0)), 2),
    "names with slashes": ("def @main(%a/b: int32, %c: int32) { %a/b/%c }", (i32(7), i32(2)), 3),
    "used in another branch": ("def @main(%c: bool, %x: int32) { let %a = if (%c) { %0 = %x * 2; %0 + 1 } else { 0 }; %0 + %a }",
                               (np.bool_(True), i32(3)), 13),
    # ---- tuples ----
    "tuples": ("def @main(%x: int32) { let %t = (%x, (%x + 1, 2f)); (%t.1.0, %t.0, (%t.1).1) }", (i32(1),), (2, 1, 2)),
    "one": ("def @main(%x: int32) { let %t = (%x,); %t.0 }", (i32(4),), 4),
    "tuple parameters": ("def @f(%p: (int32, float32)) -> (float32, int32) { (%p.1, %p.0) }\ndef @main() { @f((1, 2f)) }", (), (2, 1)),
    "graph of tuples": ("def @main(%x: Tensor[(2, 3), float32]) { %0 = (%x, %x); %1 = %0.0; %1 + %0.1 }", (X,), X + X),
    # ---- branches ----
    "if": ("def @main(%c: bool) { if (%c) { 1 } else { 2 } }", (np.bool_(False),), 2),
    "if of tensors": ("def @main(%n: int32, %x: Tensor[(2, 3), float32]) { if (%n > 2) { exp(%x) } else { %x * 2f } }", (i32(3), X), np.exp(X)),
    "else if": ("def @main(%n: int32) { if (%n < 0) { -1 } else { if (%n == 0) { 0 } else { 1 } } }", (i32(9),), 1),
    "lazy": ("def @main(%n: int32) { if (%n == 0) { 0 } else { 100 / %n } }", (i32(0),), 0),
    # ---- functions ----
    "call": ("def @twice(%x: int32) -> int32 { %x + %x }\ndef @main(%x: int32) -> int32 { @twice(@twice(%x)) }", (i32(3),), 12),
    "recursion": ("def @fact(%n: int32) -> int32 { if (%n <= 1) { 1 } else { %n * @fact(%n - 1) } }\ndef @main(%n: int32) { @fact(%n) }",
                  (i32(6),), 720),
    "mutual": ("def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }\n"
               "def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }\ndef @main(%n: int32) { @even(%n) }", (i32(1001),), False),
    "deep": ("def @count(%n: int32, %s: int64) -> int64 { if (%n == 0) { %s } else { @count(%n - 1, %s + 2i64) } }\n"
             "def @main(%n: int32) { @count(%n, 0i64) }", (i32(1000000),), 2000000),
    "no annotations": ("def @f(%x, %y) { %x * %y }\ndef @main(%x: int32) { @f(%x, 3) }", (i32(5),), 15),
    "attributes of functions": ("def @main(%x: int32, Primitive=1, hash=\"0ab\", src=[1, 2]) -> int32 { let %f = fn (%p: int32, Primitive=1) { %p + 1 }; %f(%x) }",
                                (i32(5),), 6),
    "devices": ("def @main(%x {virtual_device_=meta[VirtualDevice][0]}: int32, virtual_device_=meta[VirtualDevice][1]) -> int32 { on_device(%x, virtual_device=meta[VirtualDevice][0], constrain_result=True) + 1 }",
                (i32(5),), 6),
    "fibonacci": ("def @fib(%n: int32) -> int32 { if (%n < 2) { %n } else { @fib(%n - 1) + @fib(%n - 2) } }\ndef @main(%n: int32) { @fib(%n) }", (i32(15),), 610),
    "collatz": ("def @steps(%n: int64, %k: int32) -> int32 { if (%n == 1i64) { %k } else { let %h = %n / 2i64;"
                " if (%h * 2i64 == %n) { @steps(%h, %k + 1) } else { @steps(3i64 * %n + 1i64, %k + 1) } } }\ndef @main(%n: int64) { @steps(%n, 0) }",
                (np.int64(27),), 111),
    "newton": ("def @root(%x: float32, %g: float32, %n: int32) -> float32 { if (%n == 0) { %g } else { @root(%x, (%g + %x / %g) / 2f, %n - 1) } }\n"
               "def @main(%x: float32) { @root(%x, 1f, 20) }", (f32(2),), np.sqrt(f32(2))),
    "powers of a matrix": ("def @power(%x: Tensor[(2, 2), float32], %n: int32) -> Tensor[(2, 2), float32] {"
                           " if (%n == 1) { %x } else { nn.matmul(%x, @power(%x, %n - 1)) } }\ndef @main(%x: Tensor[(2, 2), float32]) { @power(%x, 5) }",
                           (np.array([[1, 1], [1, 0]], f32),), np.array([[8, 5], [5, 3]], f32)),
    # ---- closures ----
    "fn": ("def @main(%x: int32) { let %f = fn (%y: int32) -> int32 { %y * 2 }; %f(%f(%x)) }", (i32(3),), 12),
    "capture": ("def @main(%x: int32) { let %f = fn (%y) { %x + %y }; (%f(1), %f(2)) }", (i32(3),), (4, 5)),
    "curried": ("def @main(%x: int32) { let %add = fn (%a) { fn (%b) { %a + %b } }; %add(1)(%x) }", (i32(3),), 4),
    "called at once": ("def @main(%x: int32) { (fn (%y) { %y + %y })(%x) }", (i32(3),), 6),
    "polymorphic": ("def @main() { let %id = fn [A](%x: A) -> A { %x }; (%id(1), %id(2f), %id((3, True))) }", (), (1, 2, 3, True)),
    "local recursion": ("def @main(%n: int32) { let %fact = fn (%i: int32) -> int32 { if (%i <= 1) { 1 } else { %i * %fact(%i - 1) } }; %fact(%n) }", (i32(5),), 120),
    "local recursion with capture": ("def @main(%n: int32, %step: int32) { let %k = %step * 2; let %sum = fn (%i) { if (%i == 0) { %k } else { %step + %sum(%i - 1) } }; %sum(%n) }",
                                     (i32(4), i32(3)), 18),
    "local loop": ("def @main(%n: int32) { let %loop = fn (%i: int32, %x: Tensor[(2), float32]) { if (%i == 0) { %x } else { %loop(%i - 1, %x * 2f) } };"
                   " %loop(%n, meta[relay.Constant][0]) }", (i32(3),), np.array([8, 16], f32)),
    "twice": ("def @twice[A](%f: fn(A) -> A, %x: A) -> A { %f(%f(%x)) }\ndef @main(%x: int32) { @twice(fn (%a) { %a * 3 }, %x) }", (i32(2),), 18),
    "compose": ("def @compose[A, B, C](%f: fn(B) -> C, %g: fn(A) -> B) -> fn(A) -> C { fn (%x: A) -> C { %f(%g(%x)) } }\n"
                "def @main(%x: float32) { @compose(fn (%a: float32) { %a > 1f }, fn (%a: float32) { %a * 2f })(%x) }", (f32(0.75),), True),
    "chosen function": ("def @main(%c: bool, %x: int32) { let %f = if (%c) { fn (%a: int32) { %a + 1 } } else { fn (%a: int32) { %a * 10 } }; %f(%x) }",
                        (np.bool_(False), i32(4)), 40),
    "operators as values": ("def @apply[A](%f: fn(A) -> A, %x: A) -> A { %f(%x) }\ndef @main(%x: float32) { @apply(exp, @apply(negative, %x)) }", (f32(1),), np.exp(f32(-1))),
    "functions in a tuple": ("def @main(%x: int32) { let %t = (fn (%a: int32) { %a + 1 }, fn (%a: int32) { %a - 1 }); %t.0(%x) * %t.1(%x) }", (i32(4),), 15),
    "functions from functions": ("def @adder(%n: int32) -> fn(int32) -> int32 { fn (%x: int32) -> int32 { %x + %n } }\ndef @main(%x: int32) { let %f = @adder(5); %f(%f(%x)) }",
                                 (i32(1),), 11),
    "church": ("def @main(%n: int32) { let %two = fn (%f, %x) { %f(%f(%x)) }; %two(fn (%a) { %two(fn (%b) { %b * 2 }, %a) }, %n) }", (i32(3),), 48),
    # ---- data types ----
    "list": (LIST + "def @sum(%l: List[int32]) -> int32 { match (%l) { Cons(%x, %rest) => %x + @sum(%rest), Nil => 0 } }\n"
             "def @main() { @sum(Cons(1, Cons(2, Cons(3, Nil)))) }", (), 6),
    "constructor with parentheses": (LIST + "def @main(%x: int32) { match (Cons(%x, Nil())) { Cons(%y, Nil) => %y, _ => 0 } }", (i32(4),), 4),
    "constructors as functions": (LIST + "def @foldr[A, B](%f: fn(A, B) -> B, %z: B, %l: List[A]) -> B { match (%l) { Cons(%x, %r) => %f(%x, @foldr(%f, %z, %r)), Nil => %z } }\n"
                                  "def @main() { @foldr(fn (%a, %b) { %a + %b * 10 }, 0, @foldr(Cons, Nil, Cons(1, Cons(2, Nil)))) }", (), 21),
    "list of tensors": (LIST + "def @total(%l: List[Tensor[(2, 3), float32]]) -> Tensor[(2, 3), float32] { match (%l) { Cons(%x, %rest) => %x + @total(%rest), Nil => zeros(shape=[2, 3], dtype=\"float32\") } }\n"
                        "def @main(%x: Tensor[(2, 3), float32]) { @total(Cons(%x, Cons(%x * 2f, Nil))) }", (X,), 3 * X),
    "tree": ("type Tree { Leaf(int32), Node(Tree, Tree) }\ndef @depth(%t: Tree) -> int32 { match (%t) { Leaf(_) => 0, Node(%a, %b) => 1 + maximum(@depth(%a), @depth(%b)) } }\n"
             "def @main() { @depth(Node(Leaf(1), Node(Leaf(2), Leaf(3)))) }", (), 2),
    "small letters": ("type nat { zero, succ(nat) }\ndef @int(%n: nat) -> int32 { match (%n) { zero => 0, succ(%m) => 1 + @int(%m) } }\n"
                      "def @add(%a: nat, %b: nat) -> nat { match (%a) { zero => %b, succ(%c) => succ(@add(%c, %b)) } }\ndef @main() { @int(@add(succ(succ(zero)), succ(zero))) }", (), 3),
    "nested patterns": (LIST + "def @second(%l: List[int32]) -> int32 { match (%l) { Cons(_, Cons(%x, _)) => %x, Cons(%x, Nil) => 10 * %x, Nil => -1 } }\n"
                        "def @main() { (@second(Cons(1, Cons(2, Nil))), @second(Cons(3, Nil)), @second(Nil)) }", (), (2, 30, -1)),
    "tuple patterns": (LIST + "def @zip(%a: List[int32], %b: List[int32]) -> int32 { match ((%a, %b)) { (Cons(%x, %r), Cons(%y, %s)) => %x * %y + @zip(%r, %s), _ => 0 } }\n"
                       "def @main() { @zip(Cons(1, Cons(2, Nil)), Cons(3, Cons(4, Cons(5, Nil)))) }", (), 11),
    "partial match": (LIST + "def @hd[A](%l: List[A]) -> A { match? (%l) { Cons(%x, _) => %x } }\ndef @main() { (@hd(Cons(1, Nil)), @hd(Cons(2f, Nil))) }", (), (1, 2)),
    "total match?": (LIST + "def @f(%l: List[int32]) -> int32 { match? (%l) { Cons(%x, _) => %x, Nil => 9 } }\ndef @main() { @f(Nil) }", (), 9),
    "unreachable arms": (LIST + "def @f(%l: List[int32]) -> int32 { match (%l) { Nil => 1, %other => 2, _ => 3 } }\ndef @main() { (@f(Nil), @f(Cons(1, Nil))) }", (), (1, 2)),
    "match without parentheses": (LIST + "def @main(%x: int32) { let %l = Cons(%x, Nil); match %l { Cons(%y, _) => { %y + 1 }, Nil => 0, } }", (i32(2),), 3),
    "two parameters": ("type Either[A, B] { Left(A), Right(B) }\ndef @f(%e: Either[int32, float32]) -> float32 { match (%e) { Left(%i) => cast(%i, dtype=\"float32\"), Right(%x) => %x } }\n"
                       "def @main() { (@f(Left(3)), @f(Right(0.5f))) }", (), (3, 0.5)),
    "data with functions": ("type Box { Box(fn(int32) -> int32) }\ndef @main(%x: int32) { match (Box(fn (%a: int32) { %a * %a })) { Box(%f) => %f(%x) } }", (i32(5),), 25),
    "rose tree": (LIST + "type Rose[A] { Rose(A, List[Rose[A]]) }\ndef @sum(%t: Rose[int32]) -> int32 { match (%t) { Rose(%x, %kids) => %x + @all(%kids) } }\n"
                  "def @all(%l: List[Rose[int32]]) -> int32 { match (%l) { Nil => 0, Cons(%t, %rest) => @sum(%t) + @all(%rest) } }\n"
                  "def @main() { @sum(Rose(1, Cons(Rose(2, Nil), Cons(Rose(3, Cons(Rose(4, Nil), Nil)), Nil)))) }", (), 10),
    "expressions": ("type Expr { Num(float32), Add(Expr, Expr), Mul(Expr, Expr), Neg(Expr) }\n"
                    "def @eval(%e: Expr) -> float32 { match (%e) { Num(%x) => %x, Add(%a, %b) => @eval(%a) + @eval(%b), Mul(%a, %b) => @eval(%a) * @eval(%b), Neg(%a) => negative(@eval(%a)) } }\n"
                    "def @main() { @eval(Add(Num(2f), Mul(Num(3f), Neg(Num(4f))))) }", (), -10),
    "insertion sort": (LIST + "def @insert(%x: int32, %l: List[int32]) -> List[int32] { match (%l) { Nil => Cons(%x, Nil), Cons(%y, %rest) => if (%x <= %y) { Cons(%x, %l) } else { Cons(%y, @insert(%x, %rest)) } } }\n"
                       "def @sort(%l: List[int32]) -> List[int32] { match (%l) { Nil => Nil, Cons(%x, %rest) => @insert(%x, @sort(%rest)) } }\n"
                       "def @digits(%l: List[int32], %acc: int32) -> int32 { match (%l) { Nil => %acc, Cons(%x, %rest) => @digits(%rest, %acc * 10 + %x) } }\n"
                       "def @main() { @digits(@sort(Cons(3, Cons(1, Cons(4, Cons(1, Cons(5, Nil)))))), 0) }", (), 11345),
    # ---- references ----
    "ref": ("def @main(%x: float32) { %0 = ref(%x); ref_write(%0, 1f); ref_read(%0) }", (f32(3),), 1),
    "counter": ("def @main(%x: int32) { let %r = ref(0); let %next = fn () { ref_write(%r, ref_read(%r) + %x); ref_read(%r) }; let %a = %next(); let %b = %next(); (%a, %b) }",
                (i32(2),), (2, 4)),
    "shared": ("def @main() { let %a = ref(1); let %b = %a; ref_write(%b, 5); ref_read(%a) }", (), 5),
    "ref parameters": ("def @inc(%r: ref(int32)) -> () { ref_write(%r, ref_read(%r) + 1) }\ndef @main() { let %r = ref(3); @inc(%r); @inc(%r); ref_read(%r) }", (), 5),
    "loop with a reference": ("def @main(%n: int32) { let %s = ref(0); let %go = fn (%i: int32) -> () { if (%i == 0) { () } else { ref_write(%s, ref_read(%s) + %i); %go(%i - 1) } }; %go(%n); ref_read(%s) }",
                              (i32(10),), 55),
    # ---- the std library ----
    "std map": ("def @main(%k: int32) { @sum(@map(fn (%x) { %x * %k }, Cons(1, Cons(2, Nil)))) }", (i32(5),), 15),
    "std folds": ("def @main() { let %l = Cons(1, Cons(2, Cons(3, Nil))); (@foldl(fn (%a, %x) { %a * 10 + %x }, 0, %l), @foldr(fn (%x, %a) { %a * 10 + %x }, 0, %l), @foldr1(fn (%a, %b) { %a - %b }, %l)) }",
                  (), (123, 321, 2)),
    "std lists": ("def @main() { let %l = Cons(4, Cons(5, Cons(6, Nil))); (@hd(%l), @hd(@tl(%l)), @nth(%l, 2), @length(@concat(%l, %l)), @nth(@rev(%l), 0), @nth(@update(%l, 1, 9), 1), @sum(@filter(fn (%x) { %x != 5 }, %l))) }",
                  (), (4, 5, 6, 6, 6, 9, 10)),
    "std zip": ("def @main() { @foldr(fn (%p, %a) { %p.0 * %p.1 + %a }, 0, @zip(Cons(1, Cons(2, Nil)), Cons(3, Cons(4, Nil)))) }", (), 11),
    "std accumulating maps": ("def @main() { let %l = Cons(1, Cons(2, Cons(3, Nil))); let %f = fn (%a: int32, %x: int32) { (%a + %x, %a * %x) }; let %r = @map_accumr(%f, 0, %l); let %s = @map_accuml(%f, 0, %l);"
                              " (%r.0, @nth(%r.1, 0), %s.0, @nth(%s.1, 0)) }", (), (6, 5, 6, 9)),
    "std unfold": ("def @main(%n: int32) { let %f = fn (%s: int32) { if (%s == 0) { None } else { Some((%s - 1, %s * %s)) } }; (@hd(@unfoldr(%f, %n)), @hd(@unfoldl(%f, %n)), @sum(@unfoldr(%f, %n))) }",
                   (i32(3),), (9, 1, 14)),
    "std option": ("def @main() { match (Some(3)) { Some(%x) => %x, None => 0 } }", (), 3),
    "std tree": ("def @main() { let %t = Rose(1, Cons(Rose(2, Nil), Cons(Rose(3, Nil), Nil))); (@size(%t), match (@tmap(fn (%x) { %x * 7 }, %t)) { Rose(%x, _) => %x }) }", (), (3, 7)),
    "std nat": ("def @int(%n: nat) -> int32 { match (%n) { zero => 0, succ(%m) => 1 + @int(%m) } }\n"
                "def @main() { let %two = succ(succ(zero)); (@int(@nat_double(@nat_add(%two, succ(zero)))), @nat_nth(Cons(1, Cons(2, Cons(3, Nil))), %two), @nat_iterate(fn (%x: int32) -> int32 { %x * 3 }, %two)(1)) }",
                (), (6, 3, 9)),
    "std functions": ("def @main(%x: int32) { (@id(%x), @compose(fn (%a) { %a + 1 }, fn (%a) { %a * 2 })(%x), @flip(fn (%a, %b) { %a - %b })(1, %x), @iterate(fn (%a: int32) -> int32 { %a * 2 }, 4)(%x)) }",
                      (i32(3),), (3, 7, 2, 48)),
    "std gradient cells": ("def @main(%x: float32) { let %zero = Zero(fn () -> float32 { 0f }); let %one = One(fn () -> float32 { 1f }); let %raw = Raw(%x); let %add = fn (%a: float32, %b: float32) -> float32 { %a + %b };"
                           " (@FromGradCell(@AddGradCell(%add, %zero, %raw)), @FromGradCell(@AddGradCell(%add, %one, %raw))) }", (f32(2),), (2, 3)),
    # ---- as TVM's importers and passes print ----
    "names with points": ("def @main(%fc.weight: Tensor[(2, 3), float32], %aten::linear_0.bias: Tensor[(3), float32]) { let %t.x = (%fc.weight, 1f); %t.x.0 + %aten::linear_0.bias * %t.x.1 }",
                          (X, X[0]), X + X[0]),
    "names with numbers": ("def @main(%input.1: Tensor[(2, 3), float32], %x.2 {virtual_device_=meta[VirtualDevice][0]}: float32) {\n"
                           "  let %input = (2f, 5f); let %y.3 = (%input.1, %x.2); %y.3.0 * %y.3.1 + match %input.0 { %z => %z } * %input.1\n}", (X, f32(3)), X * 3 + 2 * X),
    "type parameters named as functions": (
        "type Tri[A, B, C] { One(A), Two(B, Tri[A, B, C]), Three(C, Tri[A, B, C], Tri[A, B, C]) }\n"
        "def @a[A, B, C](%t: Tri[A, B, C]) -> int32 { match (%t) { One(_) => 1, Two(_, %b) => 10 + @b(%b), Three(_, %a, %c) => @b(%a) + @a(%c) } }\n"
        "def @b[A, B, C](%t: Tri[A, B, C]) -> int32 { match (%t) { One(_) => 2, Two(_, %b) => 100 + @a(%b), Three(_, %a, %c) => 1000 * @a(%a) + @b(%c) } }\n"
        "def @main(%x: float32) { let %t: Tri[float32, int32, bool] = Three(True, Two(3, One(%x)), Two(5, Two(6, One(2f)))); (@a(%t), @b(%t)) }", (f32(1),), (212, 12112)),
    "virtual devices": ("def @main(%x {virtual_device_=VirtualDevice(device_type=1, target=Target(id=7f0, kind='llvm', keys={'cpu'}))}: Tensor[(2, 3), float32]) {\n"
                        "  on_device(%x, virtual_device=VirtualDevice(device_type=1, virtual_device_id=0, target=Target(kind='llvm')), constrain_result=True) + 1f\n}", (X,), X + 1),
    "a primitive function": ("def @main(%x: Tensor[(2, 3), float32], executor=meta[Executor][0]) -> Tensor[(2, 3), float32] {\n"
                             "  %1 = fn (%p0: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] */, Primitive=1, hash=\"2d1c\") -> Tensor[(2, 3), float32] { %0 = add(%p0, 1f); tanh(%0) };\n"
                             "  %1(%x)\n}", (X,), np.tanh(X + 1)),
    "a loop of TensorFlow": ("def @main(%x: Tensor[(2, 3), float32]) {\n  let %while_loop = fn (%i: int32, %acc: Tensor[(2, 3), float32]) {\n    %0 = less(%i, 10);\n"
                             "    if (%0) { %1 = add(%i, 1); %2 = multiply(%acc, 1.5f); %while_loop(%1, %2) } else { (%i, %acc) }\n  };\n"
                             "  %3 = %while_loop(0, %x); %4 = %3.0; %5 = %3.1; (%4, %5)\n}", (X,), (10, X * f32(1.5) ** 10)),
    "a gradient by references": ("def @main(%x: Tensor[(3), float32], %y: Tensor[(3), float32]) {\n  let %r1 = ref(zeros_like(%x)); let %r3 = ref(zeros_like(%y)); let %x4 = multiply(%x, %y);\n"
                                 "  let %r5 = ref(zeros_like(%x4)); let %x6 = ref(fn () { () }); let %x7 = exp(%x4); let %r8 = ref(zeros_like(%x7));\n"
                                 "  let %b9 = fn () { let %u = ref_write(%r5, add(ref_read(%r5), multiply(ref_read(%r8), exp(%x4)))); let %h = ref_read(%r5);\n"
                                 "    let %v = ref_write(%r1, add(ref_read(%r1), collapse_sum_like(multiply(%h, %y), %x)));\n"
                                 "    let %w = ref_write(%r3, add(ref_read(%r3), collapse_sum_like(multiply(%h, %x), %y))); let %back = ref_read(%x6); %back() };\n"
                                 "  let %s = ref_write(%r8, ones_like(%x7)); let %t = %b9(); (%x7, (ref_read(%r1), ref_read(%r3)))\n}",
                                 (X[0], X[1]), (np.exp(X[0] * X[1]), np.exp(X[0] * X[1]) * X[1], np.exp(X[0] * X[1]) * X[0])),
    "streams": ("type Stream[A] { SCons(A, fn () -> Stream[A]) }\ndef @from(%n: int32) -> Stream[int32] { SCons(%n, fn () -> Stream[int32] { @from(%n + 1) }) }\n"
                "def @smap[A, B](%f: fn (A) -> B, %s: Stream[A]) -> Stream[B] { match (%s) { SCons(%x, %rest) => SCons(%f(%x), fn () -> Stream[B] { @smap(%f, %rest()) }) } }\n"
                "def @total(%n: int32, %s: Stream[int32]) -> int32 { if (%n == 0) { 0 } else { match (%s) { SCons(%x, %rest) => %x + @total(%n - 1, %rest()) } } }\n"
                "def @main(%k: int32) -> int32 { @total(%k, @smap(fn (%x: int32) -> int32 { %x * %x }, @from(1))) }", (i32(5),), 55),
    "states": ("type State[S, A] { St(fn (S) -> (A, S)) }\ndef @run[S, A](%m: State[S, A], %s: S) -> (A, S) { match (%m) { St(%f) => %f(%s) } }\n"
               "def @bind[S, A, B](%m: State[S, A], %f: fn (A) -> State[S, B]) -> State[S, B] { St(fn (%s: S) -> (B, S) { let %r = @run(%m, %s); @run(%f(%r.0), %r.1) }) }\n"
               "def @unit[S, A](%a: A) -> State[S, A] { St(fn (%s: S) -> (A, S) { (%a, %s) }) }\ndef @tick() -> State[int32, int32] { St(fn (%s: int32) -> (int32, int32) { (%s, %s + 1) }) }\n"
               "def @main(%n: int32) -> (int32, int32) { @run(@bind(@tick(), fn (%a: int32) { @bind(@tick(), fn (%b: int32) { @unit(%a * 10 + %b) }) }), %n) }", (i32(4),), (45, 6)),
    "sizes that are computed": ("def @main(%x: Tensor[(4, 6), float32]) {\n  %0 = shape_of(%x, dtype=\"int64\"); let %h = divide(cast(%0, dtype=\"int32\"), 2); %1 = cast(%h, dtype=\"int64\");\n"
                                "  %2 = dyn.ones(%1, shape=None, dtype=\"float32\"); %3 = take(%0, 0, axis=0); %4 = expand_dims(%3, axis=0); %5 = (%4, meta[relay.Constant][2]);\n"
                                "  %6 = concatenate(%5); let %h = dyn.tile(%2, stack((2, 2)), reps=[]);\n"
                                "  (dyn.reshape(%x + %h, strided_slice(%6, begin=[0], end=[2]), newshape=[]), dyn.broadcast_to(%3, shape_of(%x), shape=[]), dyn.topk(%x, %3, k=None, ret_type=\"values\"))\n}",
                                (np.arange(24, dtype=f32).reshape(4, 6),), (np.arange(1, 25, dtype=f32).reshape(4, 6), np.full((4, 6), 4),
                                                                           np.arange(24, dtype=f32).reshape(4, 6)[:, :1:-1])),
    # ---- types ----
    "named sizes": ("def @main(%x: Tensor[(n, 3), float32], %y: Tensor[(n, 3), float32]) -> Tensor[(n, 3), float32] { %x + %y }", (X, X), 2 * X),
    "open sizes": ("def @main(%x: Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32] { exp(%x) }", (X,), np.exp(X)),
    "functions of open sizes": ("def @f(%x: Tensor[(?), float32]) -> Tensor[(?), float32] { %x * 2f }\ndef @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { (@f(%x), @f(%y)) }",
                                (X[0, :2], X[0]), (2 * X[0, :2], 2 * X[0])),
    "incomplete types": ("def @main(%x: int32) { let %y: _ = %x + 1; let %t: (_, int32) = (1f, %y); %t.1 }", (i32(1),), 2),
    "function types": ("def @main(%x: int32) { let %f: fn (int32, int32) -> int32 = fn (%a: int32, %b: int32) -> int32 { %a - %b }; %f(%x, 1) }", (i32(4),), 3),
    "element types": ("def @main(%a: uint8, %b: float64, %c: int64, %d: float16) { (%a + cast(1, dtype=\"uint8\"), %b, %c, %d) }",
                      (np.uint8(255), np.float64(0.1), np.int64(5), np.float16(0.5)), (0, 0.1, 5, 0.5)),
    "extern type": ("extern type Handle\ndef @main(%x: int32) { %x }", (i32(1),), 1),
    # ---- whole files ----
    "an expression": ("free_var %x: Tensor[(2, 3), float32];\n%0 = exp(%x);\nlog(%0) + %x", (X,), 2 * X),
    "a function": ("fn (%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {\n  %0 = tanh(%x);\n  add(%0, 1f)\n}", (X,), np.tanh(X) + 1),
    "constants": ("def @main(%x: Tensor[(2), float32]) { add(%x, meta[relay.Constant][0]) * cast(meta[relay.Constant][1], dtype=\"float32\") }",
                  (np.array([1, 1], f32),), np.array([2, 3], f32) * 3),
    "a part replaced": ("def @main(%x: Tensor[(6, 4), float32], %v: Tensor[(2, 4), float32]) { strided_set(%x, %v, meta[relay.Constant][2], meta[relay.Constant][3], "
                        "meta[relay.Constant][4]) }", (np.zeros((6, 4), f32), np.arange(8, dtype=f32).reshape(2, 4)), replaced()),
}
