"""Networks in Relay's text, as TVM's importers and its library of test networks print them, beside NumPy: name -> (text, arguments,
expected)."""

import numpy as np
from operators import conv, conv_transpose, erf, pool, softmax

f32, f64, i32 = np.float32, np.float64, np.int32
R = np.random.default_rng(11)
LIST = "type List[A] { Cons(A, List[A]), Nil, }\n"


def some(*shape):
    return R.uniform(-1, 1, shape).astype(f32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def typed(**args):
    return ", ".join(f"%{n}: Tensor[({', '.join(map(str, x.shape))}), {x.dtype}]" for n, x in args.items())


def program(body, expected, before="", **args):
    """@main of the arguments, with `body`; their types are written from the arrays."""
    return f"{before}def @main({typed(**args)}) {{\n{body}\n}}", tuple(args.values()), expected


def norm(x, scale, shift, mean, var, eps=1e-5):
    at = (slice(None), None, None)
    return (x - mean[at]) / np.sqrt(var[at] + eps) * scale[at] + shift[at]


NETWORKS = {}


def network(make):
    NETWORKS[make.__name__.replace("_", " ")] = make()
    return make


# ---- feed forward ----


@network
def multilayer_perceptron():
    x, a, b, c, d = some(2, 1, 4, 5), some(8, 20), some(8), some(3, 8), some(3)
    y = relu(x.reshape(2, 20) @ a.T + b) @ c.T + d
    return program("""
  %0 = nn.batch_flatten(%x);
  %1 = nn.dense(%0, %fc1_weight, units=8);
  %2 = nn.bias_add(%1, %fc1_bias, axis=-1);
  %3 = nn.relu(%2);
  %4 = nn.dense(%3, %fc2_weight, units=3);
  %5 = nn.bias_add(%4, %fc2_bias, axis=-1);
  nn.softmax(%5)""", softmax(y, 1), x=x, fc1_weight=a, fc1_bias=b, fc2_weight=c, fc2_bias=d)


@network
def lenet():
    x, a, b, c = some(1, 1, 12, 12), some(4, 1, 3, 3), some(6, 4, 3, 3), some(5, 24)
    y = pool(np.tanh(conv(x, a)), (2, 2), (2, 2), (0, 0, 0, 0), np.max, -np.inf)
    y = pool(np.tanh(conv(y, b)), (2, 2), (1, 1), (0, 0, 0, 0), np.max, -np.inf)
    return program("""
  %0 = nn.conv2d(%x, %a, padding=[0, 0, 0, 0], channels=4, kernel_size=[3, 3]) /* ty=Tensor[(1, 4, 10, 10), float32] */;
  %1 = tanh(%0);
  %2 = nn.max_pool2d(%1, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %3 = nn.conv2d(%2, %b, padding=[0, 0, 0, 0], channels=6, kernel_size=[3, 3]);
  %4 = tanh(%3);
  %5 = nn.max_pool2d(%4, pool_size=[2, 2], padding=[0, 0, 0, 0]);
  %6 = nn.max_pool2d(%5, pool_size=[1, 1], strides=[2, 2], padding=[0, 0, 0, 0]);
  %7 = strided_slice(%6, begin=[0, 0, 0, 0], end=[1, 6, 1, 1], strides=[1, 1, 1, 1]);
  %8 = concatenate((%7, %7, %7, %7), axis=1);
  %9 = nn.batch_flatten(%8);
  nn.dense(%9, %c, units=5)""", np.concatenate([y[:, :, :1, :1]] * 4, 1).reshape(1, 24) @ c.T, x=x, a=a, b=b, c=c)


@network
def residual_block():
    x, a, b = some(1, 4, 6, 6), some(4, 4, 3, 3), some(4, 4, 3, 3)
    s = [R.uniform(0.5, 1.5, 4).astype(f32) for _ in range(8)]
    y = relu(norm(conv(x, a, pad=(1,) * 4), *s[:4]))
    y = relu(norm(conv(y, b, pad=(1,) * 4), *s[4:]) + x).mean((2, 3))
    more = dict(zip(("g1", "b1", "m1", "v1", "g2", "b2", "m2", "v2"), s))
    return program("""
  %0 = nn.conv2d(%x, %a, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %1 = nn.batch_norm(%0, %g1, %b1, %m1, %v1);
  %2 = %1.0;
  %3 = nn.relu(%2);
  %4 = nn.conv2d(%3, %b, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);
  %5 = nn.batch_norm(%4, %g2, %b2, %m2, %v2);
  %6 = %5.0;
  %7 = add(%6, %x);
  %8 = nn.relu(%7);
  %9 = nn.global_avg_pool2d(%8);
  nn.batch_flatten(%9)""", y, x=x, a=a, b=b, **more)


@network
def depthwise_separable():
    x, a, b = some(1, 6, 7, 7), some(6, 1, 3, 3), some(8, 6, 1, 1)
    y = np.clip(conv(np.clip(conv(x, a, (2, 2), (1,) * 4, group=6), 0, 6), b), 0, 6)
    return program("""
  %0 = nn.conv2d(%x, %a, strides=[2, 2], padding=[1, 1, 1, 1], groups=6, channels=6, kernel_size=[3, 3]);
  %1 = clip(%0, a_min=0f, a_max=6f);
  %2 = nn.conv2d(%1, %b, padding=[0, 0, 0, 0], channels=8, kernel_size=[1, 1]);
  clip(%2, a_min=0f, a_max=6f)""", y, x=x, a=a, b=b)


@network
def fire_module():
    x, a, b, c = some(1, 6, 5, 5), some(3, 6, 1, 1), some(4, 3, 1, 1), some(4, 3, 3, 3)
    s = relu(conv(x, a))
    return program("""
  %0 = nn.relu(nn.conv2d(%x, %a, padding=[0, 0, 0, 0], channels=3, kernel_size=[1, 1]));
  %1 = nn.relu(nn.conv2d(%0, %b, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1]));
  %2 = nn.relu(nn.conv2d(%0, %c, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]));
  %3 = (%1, %2);
  concatenate(%3, axis=1)""", np.concatenate([relu(conv(s, b)), relu(conv(s, c, pad=(1,) * 4))], 1), x=x, a=a, b=b, c=c)


@network
def dense_block():
    x, a, b = some(1, 3, 5, 5), some(2, 3, 3, 3), some(2, 5, 3, 3)
    one = np.concatenate([x, conv(relu(x), a, pad=(1,) * 4)], 1)
    two = np.concatenate([one, conv(relu(one), b, pad=(1,) * 4)], 1)
    return program("""
  let %layer = fn (%y, %w) { concatenate((%y, nn.conv2d(nn.relu(%y), %w, padding=[1, 1, 1, 1], kernel_size=[3, 3], channels=2)), axis=1) };
  %layer(%layer(%x, %a), %b)""", two, x=x, a=a, b=b)


@network
def generator():
    x, a, b = some(1, 6), some(6, 4 * 3 * 3), some(4, 2, 4, 4)
    y = np.tanh(conv_transpose(relu((x @ a).reshape(1, 4, 3, 3)), b, (2, 2), (1,) * 4))
    return program("""
  %0 = nn.matmul(%x, %a);
  %1 = nn.relu(%0);
  %2 = reshape(%1, newshape=[-1, 4, 3, 3]);
  %3 = nn.conv2d_transpose(%2, %b, channels=2, kernel_size=[4, 4], strides=[2, 2], padding=[1, 1, 1, 1], output_padding=[0, 0]);
  tanh(%3)""", y, x=x, a=a, b=b)


@network
def channels_last():
    x, w, b = some(1, 6, 6, 3), some(3, 3, 3, 4), some(4)
    y = conv(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), pad=(1,) * 4).transpose(0, 2, 3, 1) + b
    y = pool(relu(y).transpose(0, 3, 1, 2), (2, 2), (2, 2), (0,) * 4, np.mean, 0).transpose(0, 2, 3, 1)
    return program("""
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %1 = nn.bias_add(%0, %b, axis=3);
  %2 = nn.relu(%1);
  nn.avg_pool2d(%2, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], layout="NHWC")""", y, x=x, w=w, b=b)


@network
def squeeze_and_excite():
    x, a, b = some(2, 4, 3, 3), some(2, 4), some(4, 2)
    gate = sigmoid(relu(x.mean((2, 3)) @ a.T) @ b.T)
    return program("""
  %0 = mean(%x, axis=[2, 3]);
  %1 = nn.dense(nn.relu(nn.dense(%0, %a, units=2)), %b, units=4);
  multiply(%x, expand_dims(sigmoid(%1), axis=2, num_newaxis=2))""", x * gate[:, :, None, None], x=x, a=a, b=b)


@network
def swish_and_gelu():
    x = some(3, 4)
    gelu = x * 0.5 * (1 + erf(x / np.sqrt(2)))
    return program("""
  %0 = multiply(%x, 0.707107f /* ty=float32 */);
  %1 = add(erf(%0), 1f);
  (multiply(%x, sigmoid(%x)), multiply(multiply(%x, %1), 0.5f), multiply(%x, tanh(log(add(1f, exp(%x))))))""",
                   (x * sigmoid(x), gelu, x * np.tanh(np.log1p(np.exp(x)))), x=x)


@network
def yolo_head():
    x = some(1, 3 * 7, 2, 2)
    y = x.reshape(1, 3, 7, 2, 2)
    y = np.concatenate([sigmoid(y[:, :, :2]), np.exp(y[:, :, 2:4]), sigmoid(y[:, :, 4:])], 2).reshape(1, 21, 2, 2)
    return program("""
  %0 = reshape(%x, newshape=[1, 3, 7, 2, 2]);
  %1 = split(%0, indices_or_sections=[2, 4], axis=2);
  %2 = sigmoid(%1.0);
  %3 = exp(%1.1);
  %4 = sigmoid(%1.2);
  %5 = (%2, %3, %4);
  %6 = concatenate(%5, axis=2);
  reshape(%6, newshape=[1, -1, 2, 2])""", y, x=x)


# ---- attention ----


def attention(x, q, k, v, heads):
    n, t, d = x.shape
    q, k, v = ((x @ w.T).reshape(n, t, heads, -1).transpose(0, 2, 1, 3) for w in (q, k, v))
    return (softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(d // heads), -1) @ v).transpose(0, 2, 1, 3).reshape(n, t, d)


@network
def self_attention():
    x, q, k, v = some(2, 5, 6), some(6, 6), some(6, 6), some(6, 6)
    return program("""
  let %heads = fn (%w) {
    %0 = reshape(%x, newshape=[-1, 6]);
    %1 = nn.dense(%0, %w, units=6);
    %2 = reshape(%1, newshape=[2, 5, 2, 3]);
    %3 = transpose(%2, axes=[0, 2, 1, 3]);
    reshape(%3, newshape=[-1, 5, 3])
  };
  %4 = nn.batch_matmul(%heads(%q), %heads(%k), transpose_b=True);
  %5 = divide(%4, 1.7320508f);
  %6 = nn.softmax(%5, axis=-1);
  %7 = nn.batch_matmul(%6, %heads(%v), transpose_b=False);
  %8 = reshape(%7, newshape=[2, 2, 5, 3]);
  %9 = transpose(%8, axes=[0, 2, 1, 3]);
  reshape(%9, newshape=[2, 5, 6])""", attention(x, q, k, v, 2), x=x, q=q, k=k, v=v)


@network
def masked_attention_without_layers():
    x = some(4, 3)
    s = np.where(np.tril(np.ones((4, 4), bool)), x @ x.T, -1e9)
    return program("""
  %0 = arange(0, 4, 1, dtype="int32");
  %1 = less_equal(expand_dims(%0, axis=0), expand_dims(%0, axis=1));
  %2 = where(%1, nn.matmul(%x, %x, transpose_b=True), full(-1e9f, shape=[4, 4], dtype="float32"));
  nn.matmul(nn.softmax(%2), %x)""", softmax(s, -1) @ x, x=x)


@network
def encoder_layer():
    x, a, b, g, s = some(1, 4, 6), some(12, 6), some(6, 12), some(6) + 1, some(6)

    def layer_norm(y):
        return (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5) * g + s

    q, k, v = some(6, 6), some(6, 6), some(6, 6)
    y = layer_norm(x + attention(x, q, k, v, 1))
    y = layer_norm(y + relu(y @ a.T) @ b.T)
    return program("""
  %0 = squeeze(%x, axis=[0]);
  %1 = nn.dense(%0, %q);
  %2 = nn.dense(%0, %k);
  %3 = nn.dense(%0, %v);
  %4 = nn.softmax(nn.dense(%1, %2) * 0.40824829f);
  %5 = nn.matmul(%4, %3);
  %6 = nn.layer_norm(add(%0, %5), %g, %s);
  %7 = nn.dense(nn.relu(nn.dense(%6, %a, units=12)), %b, units=6);
  expand_dims(nn.layer_norm(add(%6, %7), %g, %s), axis=0)""", y, x=x, q=q, k=k, v=v, a=a, b=b, g=g, s=s)


# ---- recurrent, with lists and closures ----


def lstm_step(x, h, c, w, r, b):
    i, f, g, o = np.split(x @ w.T + h @ r.T + b, 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


CELL = """
def @cell(%x: Tensor[(1, 3), float32], %s: (Tensor[(1, 4), float32], Tensor[(1, 4), float32]), %w: Tensor[(16, 3), float32], %r: Tensor[(16, 4), float32], %b: Tensor[(16), float32]) {
  %0 = nn.bias_add(nn.dense(%x, %w, units=16) + nn.dense(%s.0, %r, units=16), %b);
  %1 = split(%0, indices_or_sections=4, axis=1);
  %2 = sigmoid(%1.1) * %s.1 + sigmoid(%1.0) * tanh(%1.2);
  (sigmoid(%1.3) * tanh(%2), %2)
}
"""


@network
def long_short_term_memory_unrolled():
    x, w, r, b = some(3, 1, 3), some(16, 3), some(16, 4), some(16)
    h = c = np.zeros((1, 4), f32)
    for t in range(3):
        h, c = lstm_step(x[t], h, c, w, r, b)
    return program("""
  let %s0 = (zeros(shape=[1, 4], dtype="float32"), zeros(shape=[1, 4], dtype="float32"));
  let %x0 = take(%x, 0, axis=0);
  let %s1 = @cell(%x0, %s0, %w, %r, %b);
  let %s2 = @cell(take(%x, 1, axis=0), %s1, %w, %r, %b);
  @cell(take(%x, 2, axis=0), %s2, %w, %r, %b)""", (h, c), CELL, x=x, w=w, r=r, b=b)


@network
def long_short_term_memory_over_a_list():
    x, w, r, b = some(1, 3), some(16, 3), some(16, 4), some(16)
    h = c = np.zeros((1, 4), f32)
    for k in (1, 2, 3, 2):
        h, c = lstm_step(f32(k) * x, h, c, w, r, b)
    return program("""
  let %step = fn (%s: (Tensor[(1, 4), float32], Tensor[(1, 4), float32]), %y: Tensor[(1, 3), float32]) { @cell(%y, %s, %w, %r, %b) };
  let %zero = zeros(shape=[1, 4], dtype="float32");
  @foldl(%step, (%zero, %zero), Cons(%x, Cons(%x * 2f, Cons(%x * 3f, Cons(%x * 2f, Nil)))))""", (h, c), CELL, x=x, w=w, r=r, b=b)


@network
def gated_recurrent_units():
    x, w, r = some(4, 1, 3), some(12, 3), some(12, 4)
    h = np.zeros((1, 4), f32)
    for t in range(4):
        (a, b, c), (d, e, f) = np.split(x[t] @ w.T, 3, 1), np.split(h @ r.T, 3, 1)
        z, s = sigmoid(a + d), sigmoid(b + e)
        h = (1 - z) * np.tanh(c + s * f) + z * h
    return program("""
  let %run = fn (%t: int32, %h: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] {
    if (%t == 4) { %h } else {
      %0 = split(nn.dense(take(%x, %t, axis=0), %w), indices_or_sections=3, axis=1);
      %1 = split(nn.dense(%h, %r), indices_or_sections=3, axis=1);
      let %z = sigmoid(%0.0 + %1.0);
      let %n = tanh(%0.2 + sigmoid(%0.1 + %1.1) * %1.2);
      %run(%t + 1, (1f - %z) * %n + %z * %h)
    }
  };
  %run(0, zeros(shape=[1, 4], dtype="float32"))""", h, x=x, w=w, r=r)


@network
def bidirectional_over_lists():
    x, w, r = some(2, 3), some(4, 3), some(4, 4)

    def run(rows):
        h = np.zeros((2, 4), f32)
        for y in rows:
            h = np.tanh(y @ w.T + h @ r.T)
        return h

    rows = [x, -x, f32(0.5) * x]
    return program("""
  let %step = fn (%h: Tensor[(2, 4), float32], %y: Tensor[(2, 3), float32]) -> Tensor[(2, 4), float32] { tanh(nn.dense(%y, %w) + nn.dense(%h, %r)) };
  let %l = Cons(%x, Cons(negative(%x), Cons(%x * 0.5f, Nil)));
  let %zero = zeros(shape=[2, 4], dtype="float32");
  concatenate((@foldl(%step, %zero, %l), @foldl(%step, %zero, @rev(%l))), axis=1)""",
                   np.concatenate([run(rows), run(rows[::-1])], 1), x=x, w=w, r=r)


@network
def stacked_outputs_of_a_scan():
    x, r = some(3), some(3, 3)
    h, out = x, []
    for _ in range(4):
        h = np.tanh(r @ h)
        out.append(h)
    return program("""
  let %go = fn (%i: int32, %h: Tensor[(1, 3), float32], %out: Tensor[(4, 3), float32]) -> Tensor[(4, 3), float32] {
    if (%i == 4) { %out } else {
      let %n = tanh(nn.dense(%h, %r));
      %go(%i + 1, %n, scatter_nd(%out, reshape(%i, newshape=[1, 1]), %n, mode="update"))
    }
  };
  %go(0, expand_dims(%x, axis=0), zeros(shape=[4, 3], dtype="float32"))""", np.stack(out), x=x, r=r)


# ---- trees ----

TREE = """
type Tree { Leaf(Tensor[(1, 3), float32]), Node(Tree, Tree) }
"""


@network
def tree_of_long_short_term_memories():
    x, w, u, v = some(1, 3), some(12, 3), some(20, 4), some(20, 4)

    def leaf(y):
        i, o, g = np.split(y @ w.T, 3, 1)
        c = sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c

    def node(a, b):
        i, f, e, o, g = np.split(a[0] @ u.T + b[0] @ v.T, 5, 1)
        c = sigmoid(i) * np.tanh(g) + sigmoid(f) * a[1] + sigmoid(e) * b[1]
        return sigmoid(o) * np.tanh(c), c

    want = node(node(leaf(x), leaf(-x)), leaf(2 * x))
    return program("""
  let %walk = fn (%t: Tree) -> (Tensor[(1, 4), float32], Tensor[(1, 4), float32]) {
    match (%t) {
      Leaf(%y) => {
        %0 = split(nn.dense(%y, %w), indices_or_sections=3, axis=1);
        let %c = sigmoid(%0.0) * tanh(%0.2);
        (sigmoid(%0.1) * tanh(%c), %c)
      },
      Node(%a, %b) => {
        let %l = %walk(%a);
        let %k = %walk(%b);
        %1 = split(nn.dense(%l.0, %u) + nn.dense(%k.0, %v), indices_or_sections=5, axis=1);
        let %c = sigmoid(%1.0) * tanh(%1.4) + sigmoid(%1.1) * %l.1 + sigmoid(%1.2) * %k.1;
        (sigmoid(%1.3) * tanh(%c), %c)
      },
    }
  };
  %walk(Node(Node(Leaf(%x), Leaf(negative(%x))), Leaf(%x * 2f)))""", want, TREE, x=x, w=w, u=u, v=v)


@network
def sum_over_a_tree_of_many_branches():
    x = some(2, 2)
    return program("""
  let %t = Rose(%x, Cons(Rose(%x * 2f, Nil), Cons(Rose(%x * 3f, Cons(Rose(%x * 4f, Nil), Nil)), Nil)));
  let %total = fn (%n: Tree[Tensor[(2, 2), float32]]) -> Tensor[(2, 2), float32] {
    match (%n) { Rose(%v, %kids) => @foldl(fn (%a: Tensor[(2, 2), float32], %b: Tensor[(2, 2), float32]) { %a + %b }, %v, @map(%total, %kids)) }
  };
  %total(%t)""", 10 * x, x=x)


# ---- decoding, training, sampling ----


@network
def greedy_decoder():
    e, r, o = some(5, 4), some(4, 4), some(5, 4)
    h, token, out = np.zeros(4, f32), 0, []
    for _ in range(6):
        h = np.tanh(e[token] + r @ h)
        token = int(np.argmax(o @ h))
        out.append(token)
    return program("""
  let %go = fn (%i: int32, %token: int32, %h: Tensor[(1, 4), float32]) -> List[int32] {
    if (%i == 6) { Nil } else {
      let %n = tanh(expand_dims(take(%e, %token, axis=0), axis=0) + nn.dense(%h, %r));
      let %next = argmax(nn.dense(%n, %o));
      Cons(%next, %go(%i + 1, %next, %n))
    }
  };
  @foldl(fn (%a: int32, %b: int32) -> int32 { 10 * %a + %b }, 0, %go(0, 0, zeros(shape=[1, 4], dtype="float32")))""",
                   int("".join(map(str, out))), e=e, r=r, o=o)


@network
def linear_regression_by_descent():
    x, y = some(8, 3), some(8)
    w = np.zeros(3)
    for _ in range(20):
        w = w - 0.1 * 2 / 8 * x.T.astype(f64) @ (x @ w - y)
    return program("""
  let %train = fn (%n: int32, %v: Tensor[(1, 3), float32]) -> Tensor[(1, 3), float32] {
    if (%n == 0) { %v } else {
      %0 = nn.dense(%v, %x);
      %1 = subtract(%0, expand_dims(%y, axis=0));
      %2 = nn.matmul(%1, %x);
      %train(%n - 1, %v - 0.025f * %2)
    }
  };
  squeeze(%train(20, zeros(shape=[1, 3], dtype="float32")), axis=[0])""", w, x=x, y=y)


@network
def parameters_in_references():
    x = some(4)
    w, v = np.ones(4), np.zeros(4)
    for _ in range(5):
        g = 2 * (w - x)
        v = 0.9 * v + g
        w = w - 0.1 * v
    return program("""
  let %w = ref(ones(shape=[4], dtype="float32"));
  let %v = ref(zeros(shape=[4], dtype="float32"));
  let %step = fn () -> () {
    let %g = 2f * (ref_read(%w) - %x);
    ref_write(%v, 0.9f * ref_read(%v) + %g);
    ref_write(%w, ref_read(%w) - 0.1f * ref_read(%v))
  };
  let %many = fn (%n: int32) -> () { if (%n == 0) { () } else { %step(); %many(%n - 1) } };
  %many(5);
  ref_read(%w)""", w, x=x)


@network
def choice_of_experts():
    x, a, b = some(2, 3), some(3, 3), some(3, 3)
    want = relu(x @ a.T) if x.sum() > 0 else np.tanh(x @ b.T)
    return program("""
  let %first = fn (%y: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] { nn.relu(nn.dense(%y, %a)) };
  let %second = fn (%y: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] { tanh(nn.dense(%y, %b)) };
  let %f = if (sum(%x) > 0f) { %first } else { %second };
  %f(%x)""", want, x=x, a=a, b=b)


@network
def early_exit():
    x, w = some(1, 4) * f32(0.1), some(4, 4)
    y, n = x.astype(f64), 0
    while abs(y).max() < 0.5 and n < 50:
        y, n = np.tanh(y @ w.T + 0.1), n + 1
    return program("""
  let %layers = fn (%y: Tensor[(1, 4), float32], %n: int32) -> (Tensor[(1, 4), float32], int32) {
    if (logical_or(max(abs(%y)) >= 0.5f, %n >= 50)) { (%y, %n) } else { %layers(tanh(nn.dense(%y, %w) + 0.1f), %n + 1) }
  };
  %layers(%x, 0)""", (y, n), x=x, w=w)


@network
def k_means():
    x = np.concatenate([some(5, 2), some(5, 2) + 4]).astype(f32)
    c = x[[0, 5]].astype(f64)
    for _ in range(3):
        at = np.argmin(((x[:, None] - c) ** 2).sum(-1), 1)
        c = np.stack([x[at == k].mean(0) for k in range(2)])
    return program("""
  let %go = fn (%n: int32, %c: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] {
    if (%n == 0) { %c } else {
      %0 = subtract(expand_dims(%x, axis=1), expand_dims(%c, axis=0));
      %1 = argmin(sum(%0 * %0, axis=[2]), axis=[1]);
      %2 = one_hot(%1, 1f, 0f, depth=2, axis=-1, dtype="float32");
      %3 = nn.matmul(%2, %x, transpose_a=True);
      %go(%n - 1, %3 / expand_dims(sum(%2, axis=[0]), axis=1))
    }
  };
  %go(3, strided_slice(%x, begin=[0, 0], end=[10, 2], strides=[5, 1]))""", c, x=x)


# ---- quantized ----


@network
def quantized_dense():
    x, w = R.integers(0, 255, (2, 8)).astype(np.uint8), R.integers(-127, 127, (3, 8)).astype(np.int8)
    b = R.integers(-500, 500, 3).astype(i32)
    acc = (x.astype(np.int64) - 120) @ w.T.astype(np.int64) + b
    return program("""
  %0 = qnn.dense(%x, %w, 120, 0, 0.02f, 0.01f, units=3, out_dtype="int32");
  %1 = nn.bias_add(%0, %b);
  qnn.dequantize(%1, 0.0002f, 0)""", acc * 0.0002, x=x, w=w, b=b)


@network
def quantized_convolution():
    x, w = R.integers(0, 255, (1, 2, 5, 5)).astype(np.uint8), R.integers(-127, 127, (3, 2, 3, 3)).astype(np.int8)
    acc = conv(x.astype(np.int64) - 10, w.astype(np.int64), pad=(1,) * 4)
    real = relu(acc * 0.0002)
    return program("""
  %0 = qnn.conv2d(%x, %w, 10, 0, 0.02f, 0.01f, padding=[1, 1, 1, 1], channels=3, kernel_size=[3, 3], out_dtype="int32");
  %1 = qnn.dequantize(%0, 0.0002f, 0);
  nn.relu(%1)""", real, x=x, w=w)


@network
def quantized_addition():
    x, y = R.integers(0, 255, (2, 4)).astype(np.uint8), R.integers(0, 255, (2, 4)).astype(np.uint8)
    both = np.floor(0.5 * (x.astype(f64) - 3) + 0.5) + np.floor(0.25 * (y.astype(f64) - 7) + 0.5)  # each in the scale of the result
    return program("  qnn.dequantize(qnn.add(%x, %y, 0.5f, 3, 0.25f, 7, 1f, 5), 1f, 5)",
                   np.clip(both + 5, 0, 255) - 5, x=x, y=y)


# ---- numbers ----


@network
def fast_transform_by_products():
    x = some(8)
    y = np.fft.fft(x.astype(f64))
    return program("  dft(%x, zeros_like(%x), inverse=False)", (y.real, y.imag), x=x)


@network
def softmax_cross_entropy_by_hand():
    x, t = some(3, 5), np.array([1, 4, 0], i32)
    want = -np.mean(np.log(softmax(x.astype(f64), 1))[np.arange(3), t])
    return program("""
  %0 = max(%x, axis=[1], keepdims=True);
  %1 = subtract(%x, %0);
  %2 = log(sum(exp(%1), axis=[1], keepdims=True));
  %3 = one_hot(%t, 1f, 0f, depth=5, axis=-1, dtype="float32");
  negative(mean(sum(multiply(subtract(%1, %2), %3), axis=[1])))""", want, x=x, t=t)


@network
def moving_averages():
    x = some(2, 10)
    y = np.stack([x[:, i:i + 4].mean(1) for i in range(0, 7, 2)], 1)
    return program("  mean(sliding_window(%x, axis=1, window_shape=[4], strides=[2]), axis=[2])", y, x=x)


@network
def image_to_columns():
    x, w = some(1, 2, 4, 4), some(3, 2, 2, 2)
    return program("""
  %0 = squeeze(%x, axis=[0]);
  %1 = sliding_window(%0, axis=1, window_shape=[2, 2], strides=[1, 1]);
  %2 = transpose(%1, axes=[1, 2, 0, 3, 4]);
  %3 = reshape(%2, newshape=[-1, 8]);
  %4 = nn.dense(%3, reshape(%w, newshape=[3, -1]));
  reshape(transpose(%4), newshape=[1, 3, 3, 3])""", conv(x, w), x=x, w=w)


@network
def whitened_rows():
    x = some(6, 3)
    y = x.astype(f64) - x.mean(0)
    return program("""
  let %mean = fn (%y: Tensor[(6, 3), float32]) { mean(%y, axis=[0], keepdims=True) };
  %0 = subtract(%x, %mean(%x));
  divide(%0, sqrt(add(variance(%x, %mean(%x), axis=[0], keepdims=True), 1e-6f)))""", y / np.sqrt(y.var(0) + 1e-6), x=x)


@network
def ranked_and_gathered():
    x = some(3, 6)
    at = np.argsort(-x, 1, kind="stable")[:, :2]
    return program("""
  %0 = topk(%x, k=2, axis=-1, ret_type="both", is_ascend=False, dtype="int32");
  %1 = gather(%x, %0.1, axis=1);
  (%1, %0.0, sum(%1 - %0.0))""", (np.take_along_axis(x, at, 1), np.take_along_axis(x, at, 1), 0), x=x)
