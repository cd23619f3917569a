"""Branches and loops in traced functions, their derivatives and batches; wick.lax, wick.nn and wick.random."""
import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.lax as lax  # noqa: E402
import wick.nn as nn  # noqa: E402
import wick.numpy as wnp  # noqa: E402
import wick.random as random  # noqa: E402

X = np.float32([0.5, -1.0, 2.0])


def close(a, b, tolerance=1e-5):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# ---- branches ----


def test_cond():
    f = wick.function(lambda c, x: wick.cond(c > 0, lambda x: {"a": x * 2, "n": 1}, lambda x: {"a": x - 1, "n": 2}, x))
    assert f(1, X)["n"] == 1 and f(-1, X)["n"] == 2
    close(f(1, X)["a"], 2 * X), close(f(0, X)["a"], X - 1)
    g = wick.grad(lambda x: wick.cond(wnp.sum(x) > 0, lambda: wnp.sum(x ** 2), lambda: wnp.sum(-x)))
    close(g(X), 2 * X), close(g(-X), -np.ones(3))
    close(wick.vmap(lambda x: wick.cond(x > 0, wnp.sqrt, lambda x: -x, x))(np.float32([4, -3])), [2, 3])
    assert wick.cond(True, lambda: 1, lambda: 2) == 1
    assert wick.function(lambda x: wick.cond(True, lambda: x, lambda: 1 / 0))(3) == 3
    close(wick.function(lambda c: wick.cond(c, lambda: 1, lambda: 2.5))(False), 2.5)
    nested = wick.function(lambda x: wick.cond(x > 0, lambda: wick.cond(x > 1, lambda: 2, lambda: 1), lambda: 0))
    assert [int(nested(v)) for v in (-1.0, 0.5, 3.0)] == [0, 1, 2]
    with pytest.raises(wick.TypeMismatch, match=r"f32\[3\].*f32"):
        wick.function(lambda x: wick.cond(x[0] > 0, lambda: x, lambda: x[0]))(X)
    with pytest.raises(wick.TypeMismatch, match="structures"):
        wick.function(lambda x: wick.cond(x[0] > 0, lambda: (x, x), lambda: [x, x]))(X)
    with pytest.raises(wick.TypeMismatch, match=r"shape \(3,\)"):
        wick.function(lambda x: wick.cond(x > 0, lambda: x, lambda: x))(X)


def test_switch():
    f = wick.function(lambda i, x: wick.switch(i, [lambda x: x, lambda x: x * 10, lambda x: -x], x))
    for i, e in ((-5, X), (0, X), (1, 10 * X), (2, -X), (9, -X)):
        close(f(i, X), e)
    close(wick.grad(lambda x, i: wnp.sum(wick.switch(i, [lambda: x, lambda: x * x]))) (X, 1), 2 * X)
    close(wick.vmap(lambda i: wick.switch(i, [lambda: 1.0, lambda: 5.0]))(np.arange(2)), [1, 5])


# ---- loops ----


def test_while_loop():
    f = wick.function(lambda x: wick.while_loop(lambda s: s[1] < 100, lambda s: (s[0] + 1, s[1] * 2), (0, x)))
    n, y = f(3.0)
    assert n == 6 and y == 192
    close(wick.vmap(lambda x: wick.while_loop(lambda v: v < 10, lambda v: v * 2, x))(np.float32([1, 3, 40])), [16, 12, 40])
    close(wick.grad(lambda x: wick.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1])(2.0), 5 * 2 ** 4)
    assert wick.while_loop(lambda v: v < 10, lambda v: v + 3, 0) == 12
    with pytest.raises(wick.TypeMismatch, match=r"f32\[3\] before the body and f32 after"):
        wick.function(lambda x: wick.while_loop(lambda v: True, lambda v: v[0], x))(X)


def test_fori():
    f = wick.function(lambda x, n: wick.fori(0, n, lambda i, v: {"s": v["s"] + i * x, "p": v["p"] * 2}, {"s": 0, "p": 1}))
    assert f(1.5, 4) == {"s": 9.0, "p": 16}
    assert f(2, 3)["s"].dtype == np.int64
    close(wick.grad(lambda x: wick.fori(0, 3, lambda i, y: y * x, 1.0))(2.0), 12)
    close(wick.function(lambda x: lax.fori_loop(1, 3, lambda i, x: x.at[i].set(x[i - 1] + 1), x))(X), [0.5, 1.5, 2.5])
    close(wick.fori(-2, 3, lambda i, v: v + i, 0), 0)


def test_scan():
    xs = np.arange(8, dtype=np.float32).reshape(4, 2)

    def f(c, x):
        c = c + x["a"]
        return c, {"y": c * 2, "n": x["n"] + 1}

    last, rows = wick.function(lambda xs: wick.scan(f, wnp.zeros(2), {"a": xs, "n": wnp.arange(4)}))(xs)
    close(last, xs.sum(0)), close(rows["y"], 2 * xs.cumsum(0))
    assert rows["n"].tolist() == [1, 2, 3, 4]
    last, rows = wick.function(lambda xs: wick.scan(lambda c, x: (c + x, c), wnp.zeros(2), xs, reverse=True))(xs)
    close(rows, np.stack([xs[k + 1:].sum(0) for k in range(4)]))
    g = wick.grad(lambda w: wnp.sum(wick.scan(lambda h, x: (wnp.tanh(h * w + x), h), wnp.zeros(2), xs)[1]))
    h = lambda w: sum((lambda h: [(h := np.tanh(h * w + x)) for x in xs[:-1].astype(float)])(np.zeros(2))).sum()
    close(g(np.float64(0.5)), (h(0.5 + 1e-6) - h(0.5 - 1e-6)) / 2e-6, 1e-5)
    close(wick.scan(lambda c, _: (c * 2, c), 1.0, length=5)[1], [1, 2, 4, 8, 16])
    assert wick.scan(lambda c, x: (c + x, None), 0, np.arange(4)) [0] == 6
    close(wick.vmap(lambda x: wick.scan(lambda c, r: (c + r, c * r), 0.0, x)[1])(xs), [[0, 0], [0, 6], [0, 20], [0, 42]])
    close(lax.map(lambda r: r.sum(), xs), xs.sum(1))
    close(wick.function(lambda x: wick.associative_scan(wnp.add, x))(xs), xs.cumsum(0))
    close(wick.function(lambda x: wick.associative_scan(wnp.add, x, reverse=True))(xs), xs[::-1].cumsum(0)[::-1])
    with pytest.raises(wick.InvalidArgument, match="same number of rows"):
        wick.function(lambda a, b: wick.scan(lambda c, x: (c, x), 0, (a, b)))(xs, X)
    with pytest.raises(wick.TypeMismatch, match="pair"):
        wick.function(lambda x: wick.scan(lambda c, x: c, 0, x))(X)


def test_loops_with_types_that_the_body_changes():
    assert wick.function(lambda x: wick.fori(0, 3, lambda i, v: v + x, 0))(np.array(0.5)).dtype == np.float64
    assert wick.function(lambda x: wick.while_loop(lambda v: v < 3, lambda v: v + x, 0))(np.float16(1)).dtype == np.float16
    counted = wick.function(lambda x: wick.fori(wnp.int8(2), wnp.int8(5), lambda i, v: v + i, wnp.int8(0)))(1)
    assert counted == 9 and counted.dtype == np.int8
    moves = wick.function(lambda i: wick.while_loop(lambda i: i < 5, lambda i: i + wnp.array([1, 2])[i % 2], i))
    assert moves(np.int32(0)) == 5 and moves(np.int32(0)).dtype == np.int64
    either = wick.function(lambda i: wick.cond(i > 0, lambda: wnp.arange(3) + i, lambda: wnp.arange(3, dtype=wnp.int32)))
    assert either(np.int32(-1)).tolist() == [0, 1, 2] and either(np.int32(1)).tolist() == [1, 2, 3]
    with pytest.raises(wick.TypeMismatch, match=r"i32 before the body and f32 after it"):
        wick.function(lambda x: wick.fori(0, 3, lambda i, v: v + 0.5, x))(np.int32(1))


# ---- lax ----


def test_slices_at_traced_positions():
    x = np.arange(20, dtype=np.float32).reshape(5, 4)
    f = wick.function(lambda x, i, j: (lax.dynamic_slice(x, (i, j), (2, 3)), lax.dynamic_update_slice(x, wnp.zeros((2, 2)), (i, j)), lax.dynamic_index_in_dim(x, i, 0),
                                       lax.dynamic_slice_in_dim(x, i, 2, axis=0), lax.dynamic_update_index_in_dim(x, x[0], i, 0)))
    for i, j in ((0, 0), (2, 1), (9, 9), (-1, 0)):
        a, b = min(max(i + 5 if i < 0 else i, 0), 3), min(j, 1)
        part, put, row, rows, _ = f(x, i, j)
        close(part, x[a:a + 2, b:b + 3]), close(rows, x[a:a + 2])
        e = x.copy()
        e[a:a + 2, min(j, 2):min(j, 2) + 2] = 0
        close(put, e)
        close(row, x[min(i, 4)][None])
    close(wick.grad(lambda x, i: lax.dynamic_slice(x, (i, 0), (1, 4)).sum())(x, 2), np.eye(5)[2][:, None] * np.ones(4))


def test_convolutions():
    torch_like = lambda x, w, s, p: np.stack([[[[np.sum(np.pad(x[n], ((0, 0), p, p))[:, i * s:i * s + w.shape[2], j * s:j * s + w.shape[3]] * w[m])
                                                 for j in range((x.shape[3] + sum(p) - w.shape[3]) // s + 1)] for i in range((x.shape[2] + sum(p) - w.shape[2]) // s + 1)]
                                               for m in range(w.shape[0])] for n in range(x.shape[0])])
    r = np.random.default_rng(0)
    x, w = r.normal(size=(2, 3, 7, 7)).astype("f"), r.normal(size=(4, 3, 3, 3)).astype("f")
    close(lax.conv_general_dilated(x, w, (1, 1), "VALID"), torch_like(x, w, 1, (0, 0)), 1e-4)
    close(lax.conv_general_dilated(x, w, (1, 1), "SAME"), torch_like(x, w, 1, (1, 1)), 1e-4)
    close(lax.conv_general_dilated(x, w, (2, 2), [(1, 1), (1, 1)]), torch_like(x, w, 2, (1, 1)), 1e-4)
    close(lax.conv_general_dilated(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
          torch_like(x, w, 1, (0, 0)).transpose(0, 2, 3, 1), 1e-4)
    close(lax.conv_general_dilated(x, w[:3, :1], (1, 1), "VALID", feature_group_count=3), np.concatenate([torch_like(x[:, k:k + 1], w[k:k + 1, :1], 1, (0, 0)) for k in range(3)], 1), 1e-4)
    wide = np.zeros((2, 3, 13, 13), "f")
    wide[:, :, ::2, ::2] = x
    close(lax.conv_general_dilated(x, w, (1, 1), "VALID", lhs_dilation=(2, 2)), torch_like(wide, w, 1, (0, 0)), 1e-4)
    up = lax.conv_transpose(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), (2, 2), "SAME")
    assert up.shape == (2, 14, 14, 4)
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3))[:, :, ::2, ::2]
    close(lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), windows.max((-1, -2)))
    close(lax.reduce_window(x, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), windows.sum((-1, -2)), 1e-4)


def test_other_functions_of_lax():
    r = np.random.default_rng(0)
    x, y = r.normal(size=(2, 3, 4)).astype("f"), r.normal(size=(2, 4, 5)).astype("f")
    close(lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))), x @ y, 1e-4)
    close(lax.rsqrt(np.float32([4, 16])), [0.5, 0.25]), close(lax.erf_inv(np.float32([0, 0.5, -0.9])), [0, 0.4769363, -1.163087], 1e-5)
    values, at = lax.top_k(X, 2)
    assert values.tolist() == [2, 0.5] and at.tolist() == [2, 0]
    close(lax.select(np.array([True, False, True]), X, -X), [0.5, 1, 2]), close(lax.clamp(-0.5, X, 1.0), [0.5, -0.5, 1])
    assert lax.iota(np.int32, 3).tolist() == [0, 1, 2] and lax.broadcasted_iota(np.int32, (2, 2), 1).tolist() == [[0, 1], [0, 1]]
    close(lax.pad(X, 9.0, [(1, 2, 1)]), [9, 0.5, 9, -1, 9, 2, 9, 9]), close(lax.pad(X, 0.0, [(-1, 0, 0)]), X[1:])
    close(lax.cumsum(X, reverse=True), X[::-1].cumsum()[::-1]), close(lax.cummax(X), [0.5, 0.5, 2])
    close(lax.cumlogsumexp(X), np.log(np.exp(X).cumsum()))
    keys, rows = lax.sort_key_val(np.array([2, 0, 1]), X)
    assert keys.tolist() == [0, 1, 2] and rows.tolist() == [-1, 2, 0.5]
    close(lax.reduce(X, 0.0, lax.add, (0,)), X.sum()), close(lax.broadcast_in_dim(X, (2, 3), (1,)), [X, X])
    assert lax.div(np.int32(-7), np.int32(2)) == -3 and lax.rem(np.int32(-7), np.int32(2)) == -1
    assert lax.shift_right_logical(np.int32([-1]), 28).tolist() == [15] and lax.bitcast_convert_type(np.float32([1]), np.int32).tolist() == [0x3F800000]
    assert lax.select_n(np.array([0, 1, 2]), X, X * 2, X * 3).tolist() == [0.5, -2, 6]


# ---- nn ----


def test_functions_of_networks():
    x = np.linspace(-4, 4, 24).astype(np.float32).reshape(4, 6)
    s = 1 / (1 + np.exp(-x))
    e = np.exp(x - x.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    below = np.minimum(x, 0)
    expected = {"relu": np.maximum(x, 0), "relu6": np.clip(x, 0, 6), "sigmoid": s, "silu": x * s, "swish": x * s, "softplus": np.log1p(np.exp(x)), "soft_sign": x / (1 + np.abs(x)),
                "elu": np.where(x > 0, x, np.expm1(below)), "celu": np.where(x > 0, x, np.expm1(below)), "leaky_relu": np.where(x > 0, x, 0.01 * x), "log_sigmoid": np.log(s),
                "selu": 1.05070098 * np.where(x > 0, x, 1.67326324 * np.expm1(below)), "hard_sigmoid": np.clip(x + 3, 0, 6) / 6, "hard_tanh": np.clip(x, -1, 1), "softmax": p,
                "log_softmax": np.log(p), "hard_silu": x * np.clip(x + 3, 0, 6) / 6, "mish": x * np.tanh(np.log1p(np.exp(x))), "squareplus": (x + np.sqrt(x * x + 4)) / 2,
                "standardize": (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5), "logsumexp": np.log(np.exp(x).sum()),
                "gelu": x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))), "glu": x[:, :3] * s[:, 3:], "sparse_plus": np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4))}
    found = wick.function(lambda x: {name: getattr(nn, name)(x) for name in expected})(x)
    for name, y in expected.items():
        np.testing.assert_allclose(found[name], y, rtol=2e-5, atol=2e-6, err_msg=name)
    close(nn.logsumexp(x, axis=1), np.log(np.exp(x).sum(1))), close(nn.logsumexp(x, axis=1, b=2.0, keepdims=True), np.log(2 * np.exp(x).sum(1, keepdims=True)))
    close(nn.softmax(x, axis=(0, 1)), np.exp(x) / np.exp(x).sum()), close(nn.softmax(x, axis=0), np.exp(x) / np.exp(x).sum(0))
    assert nn.one_hot(np.array([0, 2, 5]), 3).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    q = np.random.default_rng(0).normal(size=(2, 5, 3, 4)).astype("f")
    a = nn.dot_product_attention(q, q, q, is_causal=True)
    t = q.transpose(0, 2, 1, 3)
    scores = np.where(np.tri(5, dtype=bool), t @ t.swapaxes(-1, -2) / 2, -1e30)
    w = np.exp(scores - scores.max(-1, keepdims=True))
    close(a, (w / w.sum(-1, keepdims=True) @ t).transpose(0, 2, 1, 3), 1e-4)
    k = random.key(0)
    w = nn.initializers.he_normal()(k, (200, 300))
    assert w.shape == (200, 300) and abs(w.std() - (2 / 200) ** 0.5) < 2e-3
    close(nn.initializers.glorot_uniform()(k, (20, 30)).max(), (6 / 50) ** 0.5, 2e-2)


# ---- random ----


def test_keys():
    k = random.key(3)
    assert k.dtype == np.uint64 and k.shape == ()
    keys = random.split(k, 4)
    assert len(set(keys.tolist())) == 4 and random.fold_in(k, 2) == keys[2] and random.split(k).shape == (2,)
    a, b = wick.function(lambda k: (random.normal(k, (5,)), random.normal(random.split(k)[0], (5,))))(k)
    assert np.array_equal(a, random.normal(k, (5,))) and not np.array_equal(a, b)
    rows = wick.vmap(lambda k: random.normal(k, (3,)))(keys)
    assert np.array_equal(rows[2], random.normal(keys[2], (3,)))
    with pytest.raises(wick.TypeMismatch, match="wick.random.key"):
        random.normal(3, (2,))


def test_keys_are_those_of_the_language(tmp_path):
    (tmp_path / "p.wick").write_text("use random\nfn f(k: u64, i: i64) -> (u64, f32[4]) { (random.split(k, i), random.uniform(k, [0.0, 0.0, 0.0, 0.0], 0.0, 1.0)) }")
    key, u = wick.load(tmp_path / "p.wick").f(np.uint64(7), 5)
    assert key == random.fold_in(random.key(7), 5) and np.array_equal(u, random.uniform(random.key(7), (4,)))


def test_distributions():
    k, n = random.key(1), 40000
    mean_and_deviation = {"normal": (random.normal(k, (n,)), 0, 1), "uniform": (random.uniform(k, (n,), minval=2.0, maxval=4.0), 3, 2 / 12 ** 0.5),
                          "exponential": (random.exponential(k, (n,)), 1, 1), "gumbel": (random.gumbel(k, (n,)), 0.57722, 1.28255), "laplace": (random.laplace(k, (n,)), 0, 2 ** 0.5),
                          "logistic": (random.logistic(k, (n,)), 0, 1.8138), "bernoulli": (random.bernoulli(k, 0.3, (n,)).astype(float), 0.3, 0.4583),
                          "randint": (random.randint(k, (n,), -2, 5).astype(float), 1, 2.0), "gamma": (random.gamma(k, 2.5, (n,)), 2.5, 2.5 ** 0.5), "small": (random.gamma(k, 0.5, (n,)), 0.5, 0.5 ** 0.5),
                          "beta": (random.beta(k, 2.0, 3.0, (n,)), 0.4, 0.2), "poisson": (random.poisson(k, 4.0, (n,)).astype(float), 4, 2), "truncated": (random.truncated_normal(k, -2.0, 2.0, (n,)), 0, 0.8796),
                          "rademacher": (random.rademacher(k, (n,)).astype(float), 0, 1), "rayleigh": (random.rayleigh(k, 2.0, (n,)), 2.5066, 1.3103), "chisquare": (random.chisquare(k, 3.0, (n,)), 3, 6 ** 0.5)}
    for name, (x, mean, deviation) in mean_and_deviation.items():
        assert abs(x.mean() - mean) < 5 * deviation / n ** 0.5, (name, x.mean())
        assert abs(x.std() - deviation) < 0.03 * deviation, (name, x.std())
    at = random.categorical(k, np.log(np.float32([0.1, 0.2, 0.7])), shape=(n,))
    close(np.bincount(at) / n, [0.1, 0.2, 0.7], 0.02)
    p = random.permutation(k, 50)
    assert sorted(p.tolist()) == list(range(50)) and p.tolist() != list(range(50))
    assert sorted(random.permutation(k, X).tolist()) == sorted(X.tolist())
    c = random.choice(k, np.arange(10), (5,), replace=False)
    assert len(set(c.tolist())) == 5
    close(np.bincount(random.choice(k, 3, (n,), p=np.float32([0.5, 0.25, 0.25]))) / n, [0.5, 0.25, 0.25], 0.02)
    cov = np.float32([[2, 0.5], [0.5, 1]])
    close(np.cov(random.multivariate_normal(k, np.float32([1, -1]), cov, (n,)).T), cov, 0.05)
    d = random.dirichlet(k, np.float32([1, 2, 3]), (n,))
    close(d.sum(-1), np.ones(n), 1e-5), close(d.mean(0), [1 / 6, 1 / 3, 1 / 2], 0.01)
    q = random.orthogonal(k, 4)
    close(q @ q.T, np.eye(4), 1e-5)
