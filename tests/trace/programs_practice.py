"""Programs of practice in the idioms of JAX's libraries, compared with results of JAX."""

import collections
import functools
import math

import numpy as np

from trace_programs import program

RNG = np.random.default_rng(7)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def between(*shape, lo=0.1, hi=0.9):
    return RNG.uniform(lo, hi, size=shape).astype(np.float32)


def given(*arguments, tolerance=2e-4):
    return program(lambda rng: arguments, tolerance)



@given(normal(8, 5), np.array([0,1,2,0,1,2,0,1]))
def parameters_by_frames(jax):
    jnp = jax.numpy
    class Frame:
        stack = []
    def get_parameter(name, shape, init):
        f = Frame.stack[-1]
        full = "/".join(f["scope"] + [name])
        if full not in f["params"]:
            f["params"][full] = init(shape)
        return f["params"][full]
    class Linear:
        def __init__(self, n, name): self.n, self.name = n, name
        def __call__(self, x):
            f = Frame.stack[-1]; f["scope"].append(self.name)
            w = get_parameter("w", (x.shape[-1], self.n), lambda s: jnp.cos(jnp.arange(math.prod(s), dtype=jnp.float32)).reshape(s))
            b = get_parameter("b", (self.n,), jnp.zeros)
            f["scope"].pop()
            return jnp.dot(x, w) + b
    def transform(f):
        def init(*a):
            Frame.stack.append({"params": {}, "scope": ["net"]}); f(*a); return Frame.stack.pop()["params"]
        def apply(p, *a):
            Frame.stack.append({"params": dict(p), "scope": ["net"]}); r = f(*a); Frame.stack.pop(); return r
        return collections.namedtuple("T", "init apply")(init, apply)
    def net(x):
        x = jax.nn.relu(Linear(7, "l1")(x))
        return Linear(3, "l2")(x)
    T = transform(net)
    def f(x, y):
        p = T.init(x)
        def loss(p):
            lg = T.apply(p, x)
            return -jnp.take_along_axis(jax.nn.log_softmax(lg), y[:, None], axis=1).mean()
        out = []
        for _ in range(3):
            l, g = jax.value_and_grad(loss)(p)
            norm = jnp.sqrt(jax.tree_util.tree_reduce(lambda a, b: a + jnp.sum(b ** 2), g, 0.0))
            g = jax.tree_util.tree_map(lambda t: t * jnp.minimum(1.0, 1.0 / norm), g)
            p = jax.tree_util.tree_map(lambda a, b: a - 0.5 * b, p, g)
            out.append(l)
        return p, jnp.stack(out)
    return f


@given(normal(4, 3), normal(3), normal(6, 4))
def optimizers_with_masks(jax):
    jnp = jax.numpy
    GT = collections.namedtuple("GT", "init update")
    AdamState = collections.namedtuple("AdamState", "count mu nu")
    def adam(b1=0.9, b2=0.999, eps=1e-8):
        def init(p): return AdamState(jnp.zeros([], jnp.int32), jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p))
        def update(g, s, p=None):
            mu = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, s.mu, g)
            nu = jax.tree.map(lambda n, g: b2 * n + (1 - b2) * jnp.square(g), s.nu, g)
            c = s.count + 1
            mh = jax.tree.map(lambda m: m / (1 - b1 ** c.astype(m.dtype)), mu)
            nh = jax.tree.map(lambda m: m / (1 - jnp.asarray(b2, m.dtype) ** c), nu)
            return jax.tree.map(lambda m, v: m / (jnp.sqrt(v) + eps), mh, nh), AdamState(c, mu, nu)
        return GT(init, update)
    def masked_decay(rate, mask):
        return GT(lambda p: (), lambda g, s, p: (jax.tree.map(lambda g, q, m: g + rate * q if m else g, g, p, mask(p)), s))
    def scale_by(schedule):
        return GT(lambda p: jnp.zeros([], jnp.int32), lambda g, s, p: (jax.tree.map(lambda g: jnp.array(-schedule(s), dtype=g.dtype) * g, g), s + 1))
    def chain(*t):
        def init(p): return tuple(x.init(p) for x in t)
        def update(g, s, p):
            out = []
            for x, st in zip(t, s):
                g, n = x.update(g, st, p); out.append(n)
            return g, tuple(out)
        return GT(init, update)
    def warmup_cosine(step):
        w = jnp.minimum(step / 3, 1.0)
        d = 0.5 * (1 + jnp.cos(jnp.pi * jnp.clip((step - 3) / 10, 0, 1)))
        return 0.1 * jnp.where(step < 3, w, d)
    opt = chain(adam(), masked_decay(1e-2, lambda p: jax.tree.map(lambda x: x.ndim > 1, p)), scale_by(warmup_cosine))
    def f(w, b, x):
        p = {"dense": {"kernel": w, "bias": b}}
        s = opt.init(p)
        def step(c, _):
            p, s = c
            l, g = jax.value_and_grad(lambda p: jnp.mean(jnp.square(jnp.tanh(x @ p["dense"]["kernel"] + p["dense"]["bias"]) - 0.5)))(p)
            u, s = opt.update(g, s, p)
            p = jax.tree.map(lambda p, u: (p + u).astype(p.dtype), p, u)
            return (p, s), (l, jax.tree_util.tree_reduce(jnp.maximum, jax.tree.map(lambda x: jnp.abs(x).max(), u)))
        (p, s), hist = jax.lax.scan(step, (p, s), xs=None, length=12)
        return p, s, hist
    return f


@given(normal(2, 7, 8, 4), normal(2, 9, 2, 4), normal(2, 9, 2, 4), normal(1, 8, 7, 9), RNG.random((2, 1, 7, 9)) > 0.3)
def attention_in_many_forms(jax):
    jnp = jax.numpy
    def f(q, k, v, bias, mask):
        a = jax.nn.dot_product_attention
        g = jax.grad(lambda q, k, v: (a(q, k, v, bias, mask, scale=0.3) ** 2).sum(), (0, 1, 2))(q, k, v)
        return (a(q, k, v), a(q, k, v, bias), a(q, k, v, mask=mask), a(q, k, v, is_causal=True), a(q, k, v, local_window_size=(2, 1)),
                a(q, k, v, key_value_seq_lengths=jnp.array([4, 9]), query_seq_lengths=jnp.array([7, 5]))[:, :5], a(q[0], k[0], v[0]), g)
    return f


@given(normal(3, 16, 48), normal(3, 16, 16), normal(3, 16, 64), normal(3, 32, 16), normal(10, 16))
def layers_in_a_scan(jax):
    jnp = jax.numpy
    def rope(x, base=10000.0):
        T, H, D = x.shape
        inv = base ** (-jnp.arange(0, D, 2) / D)
        ang = jnp.outer(jnp.arange(T), inv)
        c, s = jnp.cos(ang)[:, None], jnp.sin(ang)[:, None]
        x1, x2 = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([x1 * c - x2 * s, x2 * c + x1 * s], -1)
    def rms(x): return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
    def f(wqkv, wo, wi, wd, x):
        slopes = 2.0 ** -jnp.arange(1, 5)
        @jax.checkpoint
        def layer(x, p):
            wqkv, wo, wi, wd = p
            q, k, v = [t.reshape(10, 4, 4) for t in jnp.split(rms(x) @ wqkv, 3, -1)]
            q, k = rope(q), rope(k)
            s = jnp.einsum("thd,shd->hts", q, k) / 2.0
            i = jnp.arange(10)
            dist = i[:, None] - i[None]
            s = s - slopes[:, None, None] * jnp.abs(dist)
            s = jnp.where((dist >= 0) & (dist < 6), s, jnp.finfo(s.dtype).min)
            o = jnp.einsum("hts,shd->thd", jax.nn.softmax(s), v).reshape(10, 16)
            x = x + o @ wo * 0.1
            g, u = jnp.split(rms(x) @ wi, 2, -1)
            return x + (jax.nn.silu(g) * u) @ wd * 0.1, jnp.linalg.norm(x)
        y, n = jax.lax.scan(layer, x, (wqkv, wo, wi, wd))
        return y, n
    return f


@given(between(32, 2), normal(32, 2, 3), normal(32, 4), normal(32, 4))
def state_spaces_by_chunks(jax):
    jnp = jax.numpy
    def segsum(a):
        T = a.shape[-1]
        a = jnp.repeat(a[..., None], T, axis=-1)
        a = jnp.where(jnp.tril(jnp.ones((T, T), bool), -1), a, 0)
        s = jnp.cumsum(a, axis=-2)
        return jnp.where(jnp.tril(jnp.ones((T, T), bool), 0), s, -jnp.inf)
    def f(a, x, B, C):
        A = jnp.log(a).reshape(4, 8, 2).transpose(2, 0, 1)
        X = x.reshape(4, 8, 2, 3); Bc = B.reshape(4, 8, 4); Cc = C.reshape(4, 8, 4)
        cs = jnp.cumsum(A, -1)
        L = jnp.exp(segsum(A))
        Yd = jnp.einsum("cln,csn,hcls,cshp->clhp", Cc, Bc, L, X)
        decay = jnp.exp(cs[:, :, -1:] - cs)
        st = jnp.einsum("cln,hcl,clhp->chpn", Bc, decay, X)
        st = jnp.concatenate([jnp.zeros_like(st[:1]), st], 0)
        dc = jnp.exp(segsum(jnp.pad(cs[:, :, -1], ((0, 0), (1, 0)))))
        ns = jnp.einsum("hzc,chpn->zhpn", dc, st)
        st, fin = ns[:-1], ns[-1]
        Yo = jnp.einsum("cln,chpn,hcl->clhp", Cc, st, jnp.exp(cs))
        Y = (Yd + Yo).reshape(32, 2, 3)
        def step(h, t):
            a, x, b, c = t
            h = a[:, None, None] * h + x[:, :, None] * b
            return h, h @ c
        _, ref = jax.lax.scan(step, jnp.zeros((2, 3, 4)), (a, x, B, C))
        return Y, fin, ref
    return f


@given(normal(12, 6), normal(6, 4), normal(4, 6, 5), normal(4, 5, 6))
def experts_by_sorted_tokens(jax):
    jnp = jax.numpy
    def f(x, wg, w1, w2):
        p = jax.nn.softmax(x @ wg)
        g, e = jax.lax.top_k(p, 2)
        g = g / g.sum(-1, keepdims=True)
        flat = e.reshape(-1)
        order = jnp.argsort(flat, stable=True)
        tok = order // 2
        counts = jnp.bincount(flat, length=4)
        starts = jnp.cumsum(counts) - counts
        y = jax.lax.ragged_dot(x[tok], w1, counts.astype(jnp.int32))
        y = jax.lax.ragged_dot(jax.nn.gelu(y), w2, counts.astype(jnp.int32))
        out = jnp.zeros_like(x).at[tok].add(y * g.reshape(-1)[order][:, None])
        pos = jnp.cumsum(jax.nn.one_hot(flat, 4, dtype=jnp.int32), 0)[jnp.arange(24), flat] - 1
        keep = pos < 5
        disp = jnp.zeros((4, 5, 6)).at[flat, jnp.where(keep, pos, 5)].set(x.repeat(2, 0), mode="drop")
        aux = 4 * jnp.sum(p.mean(0) * jnp.mean(jax.nn.one_hot(e[:, 0], 4), 0))
        return out, starts, disp, aux
    return f


@given(normal(10, 3), normal(11, 3), RNG.random((10, 3)) < 0.2, normal(10, 3, 4), normal(10, 3, 4), RNG.integers(0, 4, (10, 3)))
def advantages_and_clipped_ratios(jax):
    jnp = jax.numpy
    def f(r, v, d, logits, old, act):
        def back(carry, t):
            adv = carry
            r, v0, v1, d = t
            nd = 1.0 - d
            delta = r + 0.99 * v1 * nd - v0
            adv = delta + 0.99 * 0.95 * nd * adv
            return adv, adv
        _, adv = jax.lax.scan(back, jnp.zeros(3), (r, v[:-1], v[1:], d), reverse=True, unroll=2)
        tgt = adv + v[:-1]
        def loss(logits, v):
            lp = jnp.take_along_axis(jax.nn.log_softmax(logits), act[..., None], -1).squeeze(-1)
            olp = jnp.take_along_axis(jax.nn.log_softmax(old), act[..., None], -1).squeeze(-1)
            ratio = jnp.exp(lp - jax.lax.stop_gradient(olp))
            a = (adv - adv.mean()) / (adv.std() + 1e-8)
            pg = -jnp.minimum(ratio * a, jnp.clip(ratio, 0.8, 1.2) * a).mean()
            vl = 0.5 * jnp.maximum((v[:-1] - tgt) ** 2, (jnp.clip(v[:-1], -0.5, 0.5) - tgt) ** 2).mean()
            ent = -jnp.sum(jax.nn.softmax(logits) * jax.nn.log_softmax(logits), -1).mean()
            return pg + 0.5 * vl - 0.01 * ent, {"pg": pg, "vl": vl, "ent": ent, "kl": ((ratio - 1) - jnp.log(ratio)).mean()}
        return jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(logits, v), adv
    return f


@given(normal(8, 2), normal(8, 2), normal(8, 2), normal(9, 2))
def returns_off_policy(jax):
    jnp = jax.numpy
    def f(lr, r, disc, v):
        rho = jnp.exp(lr); c = 0.95 * jnp.minimum(1.0, rho); cl = jnp.minimum(1.0, rho)
        g = jax.nn.sigmoid(disc)
        td = cl * (r + g * v[1:] - v[:-1])
        err = jax.lax.scan(lambda a, t: ((x := t[0] + t[1] * t[2] * a), x), jnp.zeros(2), (td, g, c), reverse=True)[1]
        tv = err + v[:-1]
        q = jnp.concatenate([0.9 * tv[1:] + 0.1 * v[1:-1], v[-1:]], axis=0)
        lam = jax.lax.associative_scan(lambda a, b: (b[0] + b[1] * a[0], a[1] * b[1]), (r[::-1], (g * 0.9)[::-1]))[0][::-1]
        return tv, cl * (r + g * q - v[:-1]), lam
    return f


@given(normal(2, 12, 5), np.array([[1, 2, 2], [3, 1, 0]]), np.array([12, 9]), np.array([3, 2]))
def alignments_of_labels(jax):
    jnp = jax.numpy
    def f(logits, labels, T, L):
        NEG = -1e5
        def one(lp, lab, T, L):
            S = 2 * lab.shape[0] + 1
            ext = jnp.zeros(S, lab.dtype).at[1::2].set(lab)
            skip = (ext != 0) & (ext != jnp.roll(ext, 2)) & (jnp.arange(S) >= 2)
            a0 = jnp.full(S, NEG).at[0].set(lp[0, 0]).at[1].set(lp[0, ext[1]])
            def step(a, t):
                l, i = t
                s1 = jnp.pad(a, (1, 0), constant_values=NEG)[:-1]
                s2 = jnp.where(skip, jnp.pad(a, (2, 0), constant_values=NEG)[:-2], NEG)
                n = jnp.logaddexp(jnp.logaddexp(a, s1), s2) + l[ext]
                return jnp.where(i < T, n, a), None
            a, _ = jax.lax.scan(step, a0, (lp[1:], jnp.arange(1, lp.shape[0])))
            return -jnp.logaddexp(a[2 * L], a[2 * L - 1])
        loss = lambda lg: jax.vmap(one)(jax.nn.log_softmax(lg), labels, T, L).mean()
        return jax.value_and_grad(loss)(logits)
    return f


@given(normal(3), normal(6, 2))
def unscented_filter(jax):
    jnp = jax.numpy
    def f(m, ys):
        n, kappa = 3, 0.5
        W = jnp.full(2 * n + 1, 1 / (2 * (n + kappa))).at[0].set(kappa / (n + kappa))
        def sig(m, P):
            S = jnp.linalg.cholesky((n + kappa) * P)
            return jnp.vstack([m, m + S.T, m - S.T])
        dyn = lambda x: jnp.array([x[0] + 0.1 * x[1], x[1] + 0.1 * jnp.sin(x[2]), 0.95 * x[2]])
        obs = lambda x: jnp.array([jnp.hypot(x[0], x[1]), jnp.arctan2(x[1], x[0] + 3)])
        def step(c, y):
            m, P = c
            X = jax.vmap(dyn)(sig(m, P)); m = W @ X
            P = jnp.einsum("i,ij,ik->jk", W, X - m, X - m) + 0.1 * jnp.eye(3)
            X = sig(m, P); Y = jax.vmap(obs)(X); mu = W @ Y
            S = (Y - mu).T @ ((Y - mu) * W[:, None]) + 0.2 * jnp.eye(2)
            C = jnp.einsum("i,ij,ik->jk", W, X - m, Y - mu)
            K = jax.scipy.linalg.solve(S, C.T, assume_a="pos").T
            m = m + K @ (y - mu); P = P - K @ S @ K.T
            ll = jax.scipy.stats.multivariate_normal.logpdf(y, mu, S)
            return (m, (P + P.T) / 2), (m, ll)
        (m, P), (ms, ll) = jax.lax.scan(step, (m, jnp.eye(3)), ys)
        return m, P, ms, ll.sum()
    return f


@given(normal(3), normal(10, 3), between(10))
def steps_that_adapt_to_acceptance(jax):
    jnp = jax.numpy
    def f(q, ps, us):
        S = jnp.array([1.0, 0.5, 2.0])
        U = lambda q: 0.5 * jnp.sum((q / S) ** 2) + 0.1 * jnp.sum(q ** 4)
        class St(collections.namedtuple("St", "q eps logeps_bar H t")): pass
        def leap(q, p, eps):
            g = jax.grad(U)
            def b(c, _):
                q, p = c
                p = p - 0.5 * eps * g(q); q = q + eps * p; p = p - 0.5 * eps * g(q)
                return (q, p), None
            return jax.lax.scan(b, (q, p), None, length=5)[0]
        def step(s, x):
            p, u = x
            q2, p2 = leap(s.q, p, s.eps)
            a = jnp.exp(jnp.minimum(0.0, U(s.q) + 0.5 * p @ p - U(q2) - 0.5 * p2 @ p2))
            q = jax.lax.cond(u < a, lambda: q2, lambda: s.q)
            t = s.t + 1.0
            H = (1 - 1 / (t + 10)) * s.H + (0.8 - a) / (t + 10)
            le = jnp.log(0.5) - jnp.sqrt(t) / 0.05 * H
            lb = t ** -0.75 * le + (1 - t ** -0.75) * s.logeps_bar
            return St(q, jnp.exp(jnp.clip(le, -6., 0.)), lb, H, t), (q, a)
        s, (qs, acc) = jax.lax.scan(step, St(q, jnp.float32(0.1), jnp.float32(0.0), jnp.float32(0.0), jnp.float32(0.0)), (ps, us))
        return tuple(s), qs, acc
    return f


@given(normal(6, 2), normal(5, 2))
def transport_with_its_own_slope(jax):
    jnp = jax.numpy
    def f(x, y):
        @functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
        def ot(x, y, eps, n):
            return solve(x, y, eps, n)[0]
        def solve(x, y, eps, n):
            C = jnp.sum((x[:, None] - y[None]) ** 2, -1)
            a = jnp.full(x.shape[0], -jnp.log(x.shape[0])); b = jnp.full(y.shape[0], -jnp.log(y.shape[0]))
            def it(_, fg):
                f, g = fg
                f = -eps * jax.nn.logsumexp((g[None] - C) / eps + b, axis=1)
                g = -eps * jax.scipy.special.logsumexp((f[:, None] - C) / eps + a[:, None], axis=0)
                return f, g
            f, g = jax.lax.fori_loop(0, n, it, (jnp.zeros_like(a), jnp.zeros_like(b)))
            P = jnp.exp((f[:, None] + g[None] - C) / eps + a[:, None] + b[None])
            return jnp.mean(f) + jnp.mean(g), P
        def fwd(x, y, eps, n):
            v, P = solve(x, y, eps, n)
            return v, (P, x, y)
        def bwd(eps, n, res, ct):
            P, x, y = res
            d = 2 * (x[:, None] - y[None]) * P[..., None]
            return ct * d.sum(1), -ct * d.sum(0)
        ot.defvjp(fwd, bwd)
        return ot(x, y, 0.5, 50), jax.grad(ot, (0, 1))(x, y, 0.5, 50), jax.vmap(lambda s: ot(x * s, y, 0.5, 20))(jnp.array([0.5, 1.0]))
    return f


@given(normal(7), normal(9))
def warping_and_its_path(jax):
    jnp = jax.numpy
    def f(a, b):
        n, m = 7, 9
        D = (a[:, None] - b[None]) ** 2
        def row(prev, d):
            def cell(left, t):
                up, diag, c = t
                v = c + jnp.minimum(jnp.minimum(left, up), diag)
                return v, v
            _, r = jax.lax.scan(cell, jnp.inf, (prev[1:], prev[:-1], d))
            r = jnp.concatenate([jnp.array([jnp.inf]), r])
            return r, r
        init = jnp.full(m + 1, jnp.inf).at[0].set(0.0)
        _, R = jax.lax.scan(row, init, D)
        M = jnp.vstack([init, R])
        def cond(s): return (s[0] > 0) & (s[1] > 0)
        def body(s):
            i, j, path, k = s
            path = path.at[k].set(jnp.stack([i - 1, j - 1]))
            c = jnp.stack([M[i - 1, j - 1], M[i - 1, j], M[i, j - 1]])
            w = jnp.argmin(c)
            di = jnp.array([1, 1, 0])[w]; dj = jnp.array([1, 0, 1])[w]
            return i - di, j - dj, path, k + 1
        i, j, path, k = jax.lax.while_loop(cond, body, (jnp.int32(n), jnp.int32(m), jnp.full((n + m, 2), -1, jnp.int32), jnp.int32(0)))
        return M[1:, 1:], path, k
    return f


@given(RNG.random((16, 16)) < 0.4, RNG.random(31) < 0.5, np.int32(110))
def automata(jax):
    jnp = jax.numpy
    def f(g, row, rule):
        k = jnp.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], jnp.float32)
        def life(g, _):
            p = jnp.pad(g.astype(jnp.float32), 1, mode="wrap")
            n = jax.lax.conv_general_dilated(p[None, None], k[None, None], (1, 1), "VALID")[0, 0].astype(jnp.int32)
            g = jnp.where(g, (n == 2) | (n == 3), n == 3)
            return g, g.sum()
        table = (rule >> jnp.arange(8)) & 1
        def wolfram(r, _):
            i = 4 * jnp.roll(r, 1) + 2 * r + jnp.roll(r, -1)
            return table[i], r
        def sand(s):
            t = s // 4
            p = jnp.pad(t, 1)
            return s - 4 * t + p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]
        piles = jax.lax.while_loop(lambda s: (s >= 4).any(), sand, (jnp.arange(256).reshape(16, 16) * 7) % 11)
        return jax.lax.scan(life, g, length=8), jax.lax.scan(wolfram, row.astype(jnp.int32), None, 10), piles
    return f


@given(normal(32))
def exponential_integrator(jax):
    jnp = jax.numpy
    def f(u):
        N, h = 32, 0.05
        k = jnp.fft.rfftfreq(N, 1 / N) * 2 * jnp.pi / 22
        L = k ** 2 - k ** 4
        E, E2 = jnp.exp(h * L), jnp.exp(h * L / 2)
        r = jnp.exp(1j * jnp.pi * (jnp.arange(1, 17) - 0.5) / 16)
        LR = h * L[:, None] + r[None]
        Q = h * jnp.real(jnp.mean((jnp.exp(LR / 2) - 1) / LR, axis=1))
        f1 = h * jnp.real(jnp.mean((-4 - LR + jnp.exp(LR) * (4 - 3 * LR + LR ** 2)) / LR ** 3, 1))
        f2 = h * jnp.mean((2 + LR + jnp.exp(LR) * (-2 + LR)) / LR ** 3, 1).real
        f3 = h * jnp.mean((-4 - 3 * LR - LR ** 2 + jnp.exp(LR) * (4 - LR)) / LR ** 3, 1).real
        g = -0.5j * k
        nl = lambda v: g * jnp.fft.rfft(jnp.fft.irfft(v, N) ** 2)
        def step(v, _):
            Nv = nl(v); a = E2 * v + Q * Nv; Na = nl(a); b = E2 * v + Q * Na; Nb = nl(b)
            c = E2 * a + Q * (2 * Nb - Nv); Nc = nl(c)
            v = E * v + Nv * f1 + 2 * (Na + Nb) * f2 + Nc * f3
            return v, jnp.fft.irfft(v, N)
        v, us = jax.lax.scan(step, jnp.fft.rfft(u), None, length=10)
        return us, jnp.abs(v) ** 2
    return f


@given(normal(8, 8, 8))
def potential_of_a_box(jax):
    jnp = jax.numpy
    def f(rho):
        k = [jnp.fft.fftfreq(8) * 2 * jnp.pi] * 3
        K = jnp.stack(jnp.meshgrid(*k, indexing="ij"))
        k2 = (K ** 2).sum(0).at[0, 0, 0].set(1.0)
        R = jnp.fft.fftn(rho)
        phi = (-R / k2).at[0, 0, 0].set(0)
        force = jnp.fft.ifftn(-1j * K * phi[None], axes=(-3, -2, -1)).real
        pk = jnp.abs(jnp.fft.fftshift(R)) ** 2
        r = jnp.sqrt((K ** 2).sum(0)).ravel()
        bins = jnp.linspace(0, 5, 6)
        w, _ = jnp.histogram(r, bins=bins, weights=jnp.abs(R).ravel() ** 2)
        return force, pk, w, jnp.fft.irfft2(jnp.fft.rfft2(rho, axes=(0, 2)), axes=(0, 2)), jax.grad(lambda x: (jnp.abs(jnp.fft.rfftn(x)) ** 4).sum())(rho)
    return f


@given(normal(6, 4), normal(6, 3), RNG.integers(0, 6, (14,)), RNG.integers(0, 6, (14,)), normal(9, 8), normal(8, 1), normal(12, 4))
def forces_of_a_graph(jax):
    jnp = jax.numpy
    def f(h, x, s, r, we, wx, wh):
        def layer(h, x):
            d = x[s] - x[r]
            e = jnp.concatenate([h[s], h[r], (d ** 2).sum(-1, keepdims=True)], -1)
            m = jax.nn.swish(e @ we)
            w = jnp.tanh(m @ wx)
            n = jax.ops.segment_sum(jnp.ones_like(s, dtype=x.dtype), r, 6)
            x = x + jax.ops.segment_sum(d * w, r, num_segments=6) / jnp.clip(n, 1)[:, None]
            z = jax.ops.segment_max(w[:, 0], r, num_segments=6)
            a = jnp.exp(w[:, 0] - z[r]); a = a / jax.ops.segment_sum(a, r, 6)[r]
            agg = jax.ops.segment_sum(m * a[:, None], r, 6)
            return h + jnp.concatenate([h, agg], -1) @ wh, x
        def energy(x):
            hh, xx = layer(h, x); hh, xx = layer(hh, xx)
            return (hh ** 2).sum() * 1e-2 + (xx ** 2).sum()
        return layer(h, x), -jax.grad(energy)(x)
    return f


@given(normal(4, 5, 6, 3), np.array([0, 2, 1]), np.array([[1], [3]]), np.int32(2))
def advanced_indices_mixed(jax):
    jnp = jax.numpy
    def f(x, i, j, k):
        return (x[:, i], x[i, :, i], x[j, i], x[0, :, i, ::2], x[:, i, None, k], x[..., i[None], 0], x[i][:, j], x[k, ..., i % 3], x[:, j, i], x[jnp.ix_(i, i)],
                x[i[:, None], jnp.arange(3)[None], :, -1], x[None, i, ..., 1], x[:, :, i, i], x[1:3, i, 1:3], x[j, :, i], x[jnp.where(i > 0, i, 0)],
                x.at[:, i, ::2].add(1.0), x.at[j, i].multiply(jnp.ones((2, 3, 1, 1)) * 2), x.at[k, ..., i].set(0.5), x.at[i, :, k].min(0.0), x.at[..., None, k, :].get().shape,
                x.at[-1, [0, 1]].set(x[0, [1, 0]]), x.take(i, axis=2), jnp.take_along_axis(x, jnp.argsort(x, 1), 1), x[tuple(jnp.unravel_index(jnp.argmax(x), x.shape))],
                x.at[i, 0].apply(jnp.sin), x[:, True].shape, x[slice(None, None, -2), 1], x[jnp.array(1), jnp.array([0])], x[np.array([True, False, True, False])])
    return f


@given(normal(5), normal(3, 5))
def rules_of_all_forms(jax):
    jnp = jax.numpy
    def f(x, w):
        @functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
        def app(fun, x): return fun(x)
        @app.defjvp
        def app_jvp(fun, p, t): return fun(p[0]), 3 * t[0]
        @jax.custom_jvp
        def g(x, y): return x * jnp.sin(y)
        g.defjvps(lambda t, ans, x, y: jnp.sin(y) * t, lambda t, ans, x, y: ans * 0 + x * jnp.cos(y) * t)
        @jax.custom_vjp
        def tree(d, scale): return {"a": d["a"] * scale, "b": (d["b"][0].sum(), d["b"][1])}
        def fwd(d, scale): return tree(d, scale), (d, scale)
        def bwd(res, ct):
            d, s = res
            return {"a": ct["a"] * s * 2, "b": [jnp.broadcast_to(ct["b"][0], d["b"][0].shape), ct["b"][1]]}, jnp.vdot(ct["a"], d["a"])
        tree.defvjp(fwd, bwd)
        @functools.partial(jax.custom_vjp, nondiff_argnums=(0, 2))
        def h(k, x, flag): return x ** k if flag else x
        h.defvjp(lambda k, x, flag: (h(k, x, flag), x), lambda k, flag, x, ct: (ct * k,))
        d = {"a": x, "b": [w, x * 2]}
        o = lambda d, s: (lambda r: r["a"].sum() ** 2 + r["b"][0] + (r["b"][1] ** 2).sum())(tree(d, s))
        return (app(jnp.tanh, x), jax.grad(lambda x: app(jnp.tanh, x).sum())(x), jax.jvp(g, (x, x), (x, jnp.ones_like(x))), jax.grad(lambda y: g(x, y).sum())(x),
                jax.grad(o, (0, 1))(d, 2.0), jax.grad(lambda x: h(3, x, True).sum())(x), jax.vmap(jax.grad(lambda x: h(2, x, True).sum()))(w), jax.hessian(lambda y: g(x, y).sum())(x))
    return f


@given(normal(4, 3), normal(6, 4), np.array([0, 1, 2, 0, 1, 2]))
def products_of_second_order(jax):
    jnp = jax.numpy
    def f(w, x, y):
        net = lambda w: jnp.tanh(x) @ w
        loss = lambda z: -jnp.sum(jax.nn.one_hot(y, 3) * jax.nn.log_softmax(z)) / 6
        L = lambda w: loss(net(w))
        v = jnp.ones_like(w) * 0.1
        hvp = jax.jvp(jax.grad(L), (w,), (v,))[1]
        rev = jax.grad(lambda w: jnp.vdot(jax.grad(L)(w), v))(w)
        z, jv = jax.jvp(net, (w,), (v,))
        gz, H = jax.linearize(jax.grad(loss), z)
        ggn = jax.vjp(net, w)[1](H(jv))[0]
        T = jax.linear_transpose(lambda w: x @ w, w)
        flat, un = jax.flatten_util.ravel_pytree({"w": w, "b": x[0]})
        per = jax.vmap(jax.grad(lambda w, x, y: -jax.nn.log_softmax(jnp.tanh(x) @ w)[y]), (None, 0, 0))(w, x, y)
        Fi = jnp.einsum("nij,nkl->ijkl", per, per) / 6
        cg, _ = jax.scipy.sparse.linalg.cg(lambda p: jnp.einsum("ijkl,kl->ij", Fi, p) + 0.1 * p, rev, maxiter=8)
        return hvp, rev, ggn, T(z), un(flat * 2), Fi.sum((2, 3)), cg, jax.jacfwd(jax.jacrev(lambda w: loss(jnp.tanh(x) @ w)))(w).shape
    return f
