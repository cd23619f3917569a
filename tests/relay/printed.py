"""Programs as TVM 0.14 prints them: types in comments, graph bindings, scopes, attributes in all spellings, sections of meta data,
lists, trees, options and gradient cells of the std library: name -> (text, arguments, expected, constants)."""

import numpy as np
from operators import conv, softmax
from quantized import clamp, fixed, ratio

R = np.random.default_rng(0)
PRINTED = {}


def f(*shape):
    return R.normal(size=shape).astype("f")


def lstm(xs, wi, wh):
    h, c = np.zeros((2, 1, 4))
    for x in xs:
        i, keep, g, o = np.split(x[None] @ wi.T + h @ wh.T, 4, axis=1)
        c = c / (1 + np.exp(-keep)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
    return h


def residual(x, w, b):
    padded = np.pad(x.astype(np.int32) + 2, ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = np.zeros((1, 4, 6, 6), np.int64) + b[:, None, None]
    for r in range(3):
        for s in range(3):
            y += np.einsum("nchw,oc->nohw", padded[:, :, r:r + 6, s:s + 6], w[:, :, r, s].astype(np.int64))
    scale = np.array([.01, .02, .015, .03], "f") * np.float32(.05)
    y = np.stack([fixed(y[:, c], ratio(scale[c], 0.1)) for c in range(4)], axis=1) + 3
    y = clamp(y, np.int8).astype(np.int64)
    total = fixed(y - 3, ratio(0.1, 0.12)) + fixed(x.astype(np.int64) + 2, ratio(0.05, 0.12)) + 1
    return np.clip(total, 1, 127).astype(np.int8)


x, y, v = f(2, 3), f(2, 3), f(3)

PRINTED["infinite literals"] = ('''def @main(%x: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] span=x:0:0 */) -> (Tensor[(2, 3), float32], float32, float64, Tensor[(2, 3), float32], float32) {
  %0 = greater(%x, 0f /* ty=float32 */) /* ty=Tensor[(2, 3), bool] */;
  %1 = where(%0, %x, -inff /* ty=float32 */) /* ty=Tensor[(2, 3), float32] */;
  %2 = max(%x, axis=None);
  %3 = minimum(%2, inff);
  (%1, %3, 2.5e-05f64, add(%x, 1e+06f), nanf)
}''', (x,),(np.where(x>0,x,-np.inf),x.max(),2.5e-05,x+np.float32(1e6),np.nan))

PRINTED["integers of 64 bits among attributes"] = ('''def @main(%x: Tensor[(2, 3), float32]) {
  %0 = strided_slice(%x, begin=[0i64, 1i64], end=[2i64, 3i64], strides=[1i64, 1i64], axes=None);
  %1 = reshape(%0, newshape=[4i64]);
  %2 = split(%1, indices_or_sections=[1i64, 3i64], axis=0);
  %3 = %2.1;
  %4 = expand_dims(%3, axis=0i64);
  %5 = tile(%4, reps=[2i64, 1i64]);
  concatenate((%5, %5), axis=-1)
}''', (x,),np.tile(np.tile(x[:,1:].reshape(-1)[1:3][None],(2,1)),(1,2)))

PRINTED["regions of another compiler"] = ('''def @main(%data: Tensor[(2, 3), float32], %weight: Tensor[(4, 3), float32]) -> Tensor[(2, 4), float32] {
  %0 = @tvmgen_default_dnnl_main_0(%data, %weight) /* ty=Tensor[(2, 4), float32] */;
  @tvmgen_default_dnnl_main_3(%0) /* ty=Tensor[(2, 4), float32] */
}

def @tvmgen_default_dnnl_main_0(%dnnl_0_i0: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] */, %dnnl_0_i1: Tensor[(4, 3), float32], Compiler="dnnl", Primitive=1, Inline=1, global_symbol="tvmgen_default_dnnl_main_0") -> Tensor[(2, 4), float32] {
  %1 = fn (%FunctionVar_0_0: Tensor[(2, 3), float32], %FunctionVar_0_1: Tensor[(4, 3), float32], PartitionedFromPattern="nn.dense_nn.relu_", Composite="dnnl.dense_relu") -> Tensor[(2, 4), float32] {
    %0 = nn.dense(%FunctionVar_0_0, %FunctionVar_0_1, units=4, out_dtype="float32");
    nn.relu(%0)
  };
  %1(%dnnl_0_i0, %dnnl_0_i1)
}

def @tvmgen_default_dnnl_main_3(%dnnl_3_i0: Tensor[(2, 4), float32], Inline=1, Compiler="dnnl", global_symbol="tvmgen_default_dnnl_main_3", Primitive=1) -> Tensor[(2, 4), float32] {
  sigmoid(%dnnl_3_i0)
}''', (x,w:=f(4,3)),1/(1+np.exp(-np.maximum(x@w.T,0))))

PRINTED["types of patterns"] = ('''type List[A] {
  Cons(A, List[A]),
  Nil,
}

def @sum_all(%xs: List[Tensor[(3), float32]]) -> Tensor[(3), float32] {
  match (%xs) {
    Cons(%h: Tensor[(3), float32], %t: List[Tensor[(3), float32]]) => {
      %0 = @sum_all(%t) /* ty=Tensor[(3), float32] */;
      add(%h, %0) /* ty=Tensor[(3), float32] */
    },
    Nil => zeros(shape=[3], dtype="float32"),
  }
}

def @main(%v: Tensor[(3), float32]) -> Tensor[(3), float32] {
  %1 = Nil /* ty=List[Tensor[(3), float32]] */;
  %2 = multiply(%v, 2f);
  %3 = Cons(%2, %1);
  %4 = Cons(%v, %3) /* ty=List[Tensor[(3), float32]] */;
  @sum_all(%4)
}''', (v,),3*v)

PRINTED["tensor arrays of fixed shapes"] = ('''type static_tensor_float32_3_t {
  tensor_nil_float32_3,
  tensor_constructor_float32_3(Tensor[(3), float32]),
}

def @tensor_array_float32_3(%x: int32) -> List[static_tensor_float32_3_t] {
  %0 = equal(%x, 0);
  if (%0) { Nil } else {
    %1 = tensor_nil_float32_3;
    %2 = subtract(%x, 1);
    %3 = @tensor_array_float32_3(%2);
    Cons(%1, %3)
  }
}

def @tensor_get_data_float32_3(%tensor: static_tensor_float32_3_t) -> Tensor[(3), float32] {
  match? (%tensor) { tensor_constructor_float32_3(%t: Tensor[(3), float32]) => %t }
}

def @tensor_array_write_float32_3(%tensor_array: List[static_tensor_float32_3_t], %n: int32, %v: static_tensor_float32_3_t) -> List[static_tensor_float32_3_t] {
  @update(%tensor_array, %n, %v)
}

def @tensor_array_read_float32_3(%tensor_array: List[static_tensor_float32_3_t], %n: int32) -> static_tensor_float32_3_t { @nth(%tensor_array, %n) }

def @main(%x: Tensor[(2, 3), float32]) -> (Tensor[(3), float32], Tensor[(3), float32]) {
  let %ta = @tensor_array_float32_3(4);
  let %while_loop: fn (int32, List[static_tensor_float32_3_t]) -> (int32, List[static_tensor_float32_3_t]) = fn (%i: int32, %ta1: List[static_tensor_float32_3_t]) -> (int32, List[static_tensor_float32_3_t]) {
    %0 = less(%i, 4);
    if (%0) {
      %1 = add(%i, 1);
      %2 = mod(%i, 2);
      %3 = take(%x, %2, axis=0);
      %4 = cast(%i, dtype="float32");
      %5 = multiply(%3, %4);
      %6 = tensor_constructor_float32_3(%5);
      %7 = @tensor_array_write_float32_3(%ta1, %i, %6);
      %while_loop(%1, %7)
    } else { (%i, %ta1) }
  };
  %8 = %while_loop(0, %ta);
  %9 = %8.1;
  %10 = @tensor_array_read_float32_3(%9, 3);
  %11 = @tensor_get_data_float32_3(%10);
  %12 = @tensor_array_read_float32_3(%9, 2);
  (%11, @tensor_get_data_float32_3(%12))
}''', (x,),(x[1]*3,x[0]*2))

PRINTED["gradient of higher order"] = ('''def @main(%x: Tensor[(3), float32]) -> (Tensor[(3), float32], (Tensor[(3), float32],)) {
  let %x1 = ref(fn () -> () { () });
  let %fwd = fn (%a: (Tensor[(3), float32], ref(Tensor[(3), float32]))) -> (Tensor[(3), float32], ref(Tensor[(3), float32])) {
    %0 = %a.0;
    let %o = (multiply(%0, %0), ref(zeros_like(%0)));
    let %old = ref_read(%x1);
    let %w = ref_write(%x1, fn () -> () {
      %1 = %o.1;
      %2 = ref_read(%1);
      %3 = %a.1;
      let %u = ref_write(%3, add(ref_read(%3), multiply(multiply(%2, 2f), %a.0)));
      %old()
    });
    %o
  };
  let %in = (%x, ref(zeros_like(%x)));
  let %out = %fwd(%fwd(%in));
  let %s = ref_write(%out.1, ones_like(%out.0));
  let %g = ref_read(%x1);
  let %t = %g();
  (%out.0, (ref_read(%in.1),))
}''', (v,),(v**4,(4*v**3,)))

PRINTED["gradient cells"] = ('''def @cube(%c: GradCell[Tensor[(3), float32]]) -> GradCell[Tensor[(3), float32]] {
  %0 = fn (%a: Tensor[(3), float32], %b: Tensor[(3), float32]) -> Tensor[(3), float32] { multiply(%a, %b) };
  %1 = @MultiplyGradCell(%0, %c, %c);
  @MultiplyGradCell(%0, %1, %c)
}
def @main(%x: Tensor[(3), float32]) -> (Tensor[(3), float32], Tensor[(3), float32], Tensor[(3), float32]) {
  %2 = Raw(%x);
  %3 = @cube(%2);
  %4 = One(fn () -> Tensor[(3), float32] { ones(shape=[3], dtype="float32") });
  %5 = @cube(%4);
  %6 = fn (%a: Tensor[(3), float32], %b: Tensor[(3), float32]) -> Tensor[(3), float32] { add(%a, %b) };
  %7 = @AddGradCell(%6, %5, %3);
  %8 = Zero(fn () -> Tensor[(3), float32] { zeros(shape=[3], dtype="float32") });
  %9 = @AddGradCell(%6, %8, %8);
  (@FromGradCell(%3), @FromGradCell(%7), @FromGradCell(%9))
}''', (v,),(v**3,v**3+1,np.zeros(3)))

PRINTED["one-tuples and unit"] = ('''def @unit(%a: (), %x: (Tensor[(3), float32],)) -> (Tensor[(3), float32],) { %x }
def @main(%x: Tensor[(3), float32]) -> ((), (Tensor[(3), float32],)) {
  %0 = (%x,);
  %1 = @unit((), %0);
  ((), %1)
}''', (v,),((),(v,)))

PRINTED["A-normal form"] = ('''def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) -> Tensor[(2, 4), float32] {
  let %x_0: Tensor[(2, 4), float32] /* ty=Tensor[(2, 4), float32] */ = nn.dense(%x, %w, units=None) /* ty=Tensor[(2, 4), float32] */;
  let %x_1: Tensor[(4), float32] = meta[relay.Constant][0] /* ty=Tensor[(4), float32] */;
  let %x_2 = nn.bias_add(%x_0, %x_1, axis=1);
  let %x_3 = True /* ty=bool */;
  let %x_4 = if (%x_3) { let %x_5 = tanh(%x_2); %x_5 } else { let %x_6 = exp(%x_2); %x_6 };
  let %x_7 = 2f;
  let %x_8 = multiply(%x_4, %x_7);
  %x_8
}''', (x,w),np.tanh(x@w.T+np.arange(4,dtype="f"))*2,[np.arange(4,dtype="f")])

PRINTED["list of TVM's tests by prelude"] = ('''def @main(%x: Tensor[(3), float32]) -> (int32, Tensor[(3), float32], int32) {
  %0 = fn (%a: Tensor[(3), float32], %b: Tensor[(3), float32]) -> Tensor[(3), float32] { subtract(%a, %b) };
  %1 = Cons(%x, Cons(multiply(%x, 2f), Cons(multiply(%x, 5f), Nil)));
  %2 = @rev(%1);
  %3 = @hd(%2);
  %4 = @foldl(%0, %3, %1);
  %5 = @length(@concat(%1, %2));
  %6 = fn (%i: int32) -> Option[(int32, int32)] { if (less(%i, 5)) { Some((%i, add(%i, 1))) } else { None } };
  %7 = @unfoldl(fn (%i: int32) -> Option[(int32, int32)] { if (less(%i, 5)) { Some((add(%i, 1), %i)) } else { None } }, 0);
  (%5, %4, @sum(%7))
}''', (v,),(6,v*5-v*8,10))

PRINTED["trees of the prelude"] = ('''def @main(%n: int32) -> (int32, int32, int32) {
  %0 = Rose(2, Nil);
  %1 = Rose(%n, Cons(%0, Cons(Rose(4, Cons(Rose(7, Nil), Nil)), Nil)));
  %2 = @tmap(fn (%a: int32) -> int32 { multiply(%a, 3) }, %1);
  (@size(%1), @hd(%3), @length(%3))
}'''.replace("(@size(%1), @hd(%3)","%3 = @foldr(fn (%a: Tree[int32], %l: List[int32]) -> List[int32] { match (%a) { Rose(%v, _) => Cons(%v, %l) } }, Nil, Cons(%2, Nil));\n  (@size(%1), @hd(%3)"),(np.int32(5),),(4,15,1))

PRINTED["optional values"] = ('''def @safe_div(%a: float32, %b: float32) -> Option[float32] {
  %0 = equal(%b, 0f);
  if (%0) { None } else { Some(divide(%a, %b)) }
}
def @or_else[A](%o: Option[A], %d: fn () -> A) -> A { match (%o) { Some(%v: A) => %v, None => %d() } }
def @main(%a: float32, %b: float32) -> (float32, float32) {
  %1 = @safe_div(%a, %b);
  %2 = fn () -> float32 { -1f };
  (@or_else(%1, %2), @or_else(@safe_div(%a, 0f), %2))
}''', (np.float32(6),np.float32(4)),(1.5,-1))

PRINTED["kinds of integers"] = ('''def @main(%x: Tensor[(3), int8], %u: Tensor[(3), uint8]) -> (Tensor[(3), int8], Tensor[(3), uint8], Tensor[(3), int16], Tensor[(3), uint32], Tensor[(3), bool]) {
  %0 = add(%x, 5i8 /* ty=int8 */);
  %1 = right_shift(%u, 2u8);
  %2 = cast(%x, dtype="int16");
  %3 = multiply(%2, -300i16);
  %4 = bitwise_and(cast(%u, dtype="uint32"), 240u32);
  %5 = logical_and(greater(%x, -3i8), True);
  (%0, %1, %3, %4, %5)
}''', (xi:=np.array([-100,3,125],np.int8),ui:=np.array([255,17,64],np.uint8)),(xi+np.int8(5),ui>>2,xi.astype(np.int16)*np.int16(-300),ui.astype(np.uint32)&240,xi>-3))

PRINTED["halves"] = ('''def @main(%x: Tensor[(3), float16]) -> (Tensor[(3), float16], Tensor[(3), float32]) {
  %0 = multiply(%x, 0.5f16);
  %1 = cast(%0, dtype="float32");
  (%0, exp(%1))
}''', (h:=v.astype(np.float16),),(h*np.float16(.5),np.exp((h*np.float16(.5)).astype("f"))))

PRINTED["nested scopes"] = ('''def @main(%x: Tensor[(3), float32], %c: bool, %d: Tensor[(), bool]) -> Tensor[(3), float32] {
  %5 = if (%c) {
    %0 = add(%x, 1f);
    %3 = if (%d) {
      %1 = multiply(%0, %0);
      %1
    } else {
      %2 = negative(%0);
      abs(%2)
    };
    %3
  } else {
    let %k: float32 = 3f;
    %4 = multiply(%x, %k);
    %4
  };
  add(%5, %5)
}''', (v,np.bool_(True),np.bool_(False)),2*np.abs(v+1))

PRINTED["quantized residual block"] = ('''def @main(%x: Tensor[(1, 4, 6, 6), int8], %w: Tensor[(4, 4, 3, 3), int8], %b: Tensor[(4), int32]) -> Tensor[(1, 4, 6, 6), int8] {
  %0 = nn.pad(%x, -2f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);
  %1 = qnn.conv2d(%0, %w, -2 /* ty=int32 */, 0, 0.05f, meta[relay.Constant][0] /* ty=Tensor[(4), float32] */, padding=[0, 0, 0, 0], channels=4, kernel_size=[3, 3], out_dtype="int32");
  %2 = nn.bias_add(%1, %b);
  %3 = qnn.requantize(%2, meta[relay.Constant][1], 0, 0.1f, 3, axis=1, out_dtype="int32");
  %4 = clip(%3, a_min=-128f, a_max=127f);
  %5 = cast(%4, dtype="int8");
  %6 = qnn.add(%5, %x, 0.1f, 3, 0.05f, -2, 0.12f, 1, lhs_axis=-1, rhs_axis=-1);
  %7 = clip(%6, a_min=1f, a_max=127f);
  %7
}'''.replace("nn.pad(%x, -2f,","nn.pad(%x, -2i8,"),(xq := R.integers(-128, 128, (1, 4, 6, 6)).astype(np.int8), wq := R.integers(-128, 128, (4, 4, 3, 3)).astype(np.int8), bq := R.integers(-500, 500, 4).astype(np.int32)), residual(xq, wq, bq), [np.array([.01,.02,.015,.03],"f"),np.array([.01,.02,.015,.03],"f")*np.float32(.05)])

PRINTED["lstm cells in a fold"] = ('''def @lstm_cell(%inputs: Tensor[(1, 3), float32], %states: (Tensor[(1, 4), float32], Tensor[(1, 4), float32]), %wi: Tensor[(16, 3), float32], %wh: Tensor[(16, 4), float32]) -> (Tensor[(1, 4), float32], (Tensor[(1, 4), float32], Tensor[(1, 4), float32])) {
  %0 = nn.dense(%inputs, %wi, units=16);
  %1 = %states.0;
  %2 = nn.dense(%1, %wh, units=16);
  %3 = add(%0, %2);
  %4 = split(%3, indices_or_sections=4, axis=1);
  %5 = %4.3;
  %6 = sigmoid(%5);
  %7 = %4.1;
  %8 = sigmoid(%7);
  %9 = %states.1;
  %10 = multiply(%8, %9);
  %11 = %4.0;
  %12 = sigmoid(%11);
  %13 = %4.2;
  %14 = tanh(%13);
  %15 = multiply(%12, %14);
  %16 = add(%10, %15);
  %17 = tanh(%16);
  %18 = multiply(%6, %17);
  %19 = (%18, %16);
  (%18, %19)
}
def @main(%x: Tensor[(2, 3), float32], %wi: Tensor[(16, 3), float32], %wh: Tensor[(16, 4), float32]) -> Tensor[(1, 4), float32] {
  let %z = zeros(shape=[1, 4], dtype="float32");
  %20 = split(%x, indices_or_sections=2, axis=0);
  %21 = @foldl(fn (%s: (Tensor[(1, 4), float32], Tensor[(1, 4), float32]), %i: Tensor[(1, 3), float32]) -> (Tensor[(1, 4), float32], Tensor[(1, 4), float32]) { %22 = @lstm_cell(%i, %s, %wi, %wh); %22.1 }, (%z, %z), Cons(%20.0, Cons(%20.1, Nil)));
  %21.0
}''', (x,wi:=f(16,3),wh:=f(16,4)),lstm(x, wi, wh))

PRINTED["call attributes spelled out"] = ('''def @main(%x: Tensor[(1, 6, 6, 2), float32], %k: Tensor[(3, 3, 2, 1), float32]) {
  %0 = nn.conv2d(%x, %k, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=2, channels=2, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI", out_layout="", out_dtype="");
  %1 = nn.max_pool2d(%0, pool_size=[2, 2], strides=[2, 2], dilation=[1, 1], padding=[0, 0, 0, 0], layout="NHWC", out_layout="", ceil_mode=False);
  %2 = nn.adaptive_avg_pool2d(%1, output_size=[1, 1], layout="NHWC", out_layout="");
  squeeze(%2, axis=[1, 2])
}''', (xc := f(1, 6, 6, 2), kc := f(3, 3, 2, 1)), conv(xc.transpose(0, 3, 1, 2), kc.transpose(2, 3, 0, 1), pad=(1, 1, 1, 1), group=2).reshape(1, 2, 3, 2, 3, 2).max((3, 5)).mean((2, 3)))

PRINTED["polymorphic functions with type arguments"] = ('''def @apply_twice[A](%f: fn (A) -> A, %x: A) -> A { %f(%f(%x)) }
def @pair[A, B](%a: A, %b: B) -> (A, B) { (%a, %b) }
def @main(%x: Tensor[(3), float32]) -> (Tensor[(3), float32], (int32, bool)) {
  let %g: fn (Tensor[(3), float32]) -> Tensor[(3), float32] = fn (%y: Tensor[(3), float32]) -> Tensor[(3), float32] { add(%y, 1f) };
  (@apply_twice(%g, %x), @pair(3, False))
}''', (v,),(v+2,(3,False)))

PRINTED["function over sizes unknown"] = ('''def @main(%x: Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32] {
  %0 = mean(%x, axis=[0], keepdims=True);
  %1 = subtract(%x, %0);
  %2 = nn.softmax(%1);
  %2
}''', (x5 := f(5, 3),), softmax(x5 - x5.mean(0), -1))

PRINTED["references of tuples and functions"] = ('''def @main(%n: int32) -> (int32, int32) {
  let %r: ref((int32, int32)) = ref((%n, 1));
  let %step: ref(fn (int32) -> int32) = ref(fn (%i: int32) -> int32 { %i });
  let %_ = ref_write(%step, fn (%i: int32) -> int32 {
    if (equal(%i, 0)) { 0 } else {
      let %p = ref_read(%r);
      let %_1 = ref_write(%r, (add(%p.0, %p.1), %p.0));
      %0 = ref_read(%step);
      %0(subtract(%i, 1))
    }
  });
  let %d = (ref_read(%step))(5);
  let %q = ref_read(%r);
  %q
}''', (np.int32(2),),(21,13))

PRINTED["attributes that are dictionaries and None"] = ('''def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32], param_device_types=[], result_device_type=1, executor=None, config={"a": 1, "b": [1, 2], "c": {"d": "e"}}) -> Tensor[(2, 3), float32] {
  let %f = fn (%p0: Tensor[(2, 3), float32], %p1: Tensor[(2, 3), float32], Primitive=1, hash="aa\\"b", src_layout="NCHW", dict={}) -> Tensor[(2, 3), float32] { add(%p0, %p1) };
  %f(%x, %y) /* ty=Tensor[(2, 3), float32] */
}''', (x,y),x+y)

PRINTED["types with parameters"] = ('''type Either[A, B] {
  Left(A),
  Right(B),
}
type Pair[A] { MkPair((A, A), fn (A) -> A), }
def @both[A, B, C](%e: Either[A, B], %f: fn (A) -> C, %g: fn (B) -> C) -> C {
  match (%e) {
    Left(%a: A) => %f(%a),
    Right(%b: B) => %g(%b),
  }
}
def @main(%x: float32) -> (float32, float32, float32) {
  %0 = fn (%i: int32) -> float32 { cast(%i, dtype="float32") };
  %1 = fn (%a: (float32, bool)) -> float32 { if (%a.1) { %a.0 } else { 0f } };
  let %e: Either[int32, (float32, bool)] = Left(4);
  let %e2: Either[int32, (float32, bool)] = Right((%x, True));
  let %p: Pair[float32] = MkPair((%x, 2f), fn (%a: float32) -> float32 { sqrt(%a) });
  %2 = match (%p) { MkPair((%a, %b), %f) => %f(multiply(%a, %b)) };
  (@both(%e, %0, %1), @both(%e2, %0, %1), %2)
}''', (np.float32(8),),(4,8,4))

PRINTED["free variables"] = ('''free_var %x: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] */;
free_var %w: Tensor[(4, 3), float32] /* ty=Tensor[(4, 3), float32] */;
%0 = nn.dense(%x, %w, units=4) /* ty=Tensor[(2, 4), float32] */;
%1 = (%0, %0);
concatenate(%1, axis=1) /* ty=Tensor[(2, 8), float32] */''', (x,w),np.concatenate([x@w.T]*2,1))

PRINTED["a function alone"] = ('''fn (%x: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] */) -> Tensor[(3, 2), float32] {
  transpose(%x, axes=None) /* ty=Tensor[(3, 2), float32] */
} /* ty=fn (Tensor[(2, 3), float32]) -> Tensor[(3, 2), float32] */''', (x,),x.T)

PRINTED["while with tensors as conditions"] = ('''def @main(%x: Tensor[(3), float32], %iter: Tensor[(1), int64]) -> (Tensor[(1), int64], Tensor[(3), float32]) {
  let %loop = fn (%c: Tensor[(1), bool], %i: Tensor[(1), int64], %a: Tensor[(3), float32]) -> (Tensor[(1), bool], Tensor[(1), int64], Tensor[(3), float32]) {
    %0 = min(%c, axis=[0]);
    %1 = squeeze(%c);
    if (%1) {
      %2 = add(%i, 1i64);
      %3 = less(%2, %iter);
      %4 = multiply(%a, 0.5f);
      %loop(%3, %2, %4)
    } else { (%c, %i, %a) }
  };
  %5 = less(meta[relay.Constant][0], %iter);
  %6 = %loop(%5, meta[relay.Constant][0], %x);
  (%6.1, %6.2)
}''', (v,np.array([3],np.int64)),(np.array([3]),v/8),[np.array([0],np.int64)])
