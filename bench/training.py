#!/usr/bin/env python3
"""Programs of the language that train networks, beside JAX (jit) and PyTorch (eager and compiled); the table goes into README.md.

    build/peers/bin/python bench/training.py [--threads 1,2] [--rounds 7] [--trees 100] [--no-compile] [--write] [NAME ...]

The peers have a virtual environment of their own, which neither the suite nor anything else needs:

    python3 -m venv build/peers && build/peers/bin/pip install numpy jax torch

Run by another Python, without them, this says so and ends. The programs are bench/training/*.wick. Each is
compiled to an artifact, loaded into the process of the peers, and run in turns with them, each with values that agree first
(relative to the largest magnitude of a tensor, 1e-4); a time is the median of all rounds. With one thread the process is
bound to one CPU, so that JAX has one, too. Compile times are cold: `wick compile` without a cache, beside JAX's lower and
compile, and PyTorch's first call, which its cache on disk may shorten.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "bench" / "training"
TOLERANCE = 1e-4
GOALS = {"tree 16": 0.03, "tree 64": 0.08, "tree 150": 0.2, "tree 300": 0.3, "newton": 1.0}  # over PyTorch, over JAX


class Case:
    """A program: its file, entry and sizes, and what the peers do.

    feed     {name: array}, named and ordered as the inputs of the program, or a list of such
    jax      f(feed) -> tensors in the program's order, to be jitted; or None
    torch    f(feed of tensors, run) -> the same; `run` is torch.compile or the identity, for the part that is compiled
    """

    def __init__(self, file, entry, sizes, feed, jax, torch, compiled=True):
        self.file, self.entry, self.sizes, self.feed, self.jax, self.torch = file, entry, sizes, feed, jax, torch
        self.compiled = compiled


# ---- a TreeLSTM ----


def random_tree(rng, leaves, words):
    """The code of a binary tree in prefix order: [word, label], or [-1, label]."""
    if leaves == 1:
        return [[int(rng.integers(words)), int(rng.integers(5))]]
    left = int(rng.integers(1, leaves))
    return [[-1, int(rng.integers(5))]] + random_tree(rng, left, words) + random_tree(rng, leaves - left, words)


def tree(d, count):
    import numpy as np

    rng, words = np.random.default_rng(1), 2000
    normal = lambda *s: (rng.standard_normal(s) / np.sqrt(s[-1])).astype(np.float32)
    weights = {"w.leaf": normal(2 * d, d), "w.left": normal(5 * d, d), "w.right": normal(5 * d, d), "w.bias": normal(5 * d), "w.out": normal(5, d)}
    table = rng.standard_normal((words, d)).astype(np.float32)
    feeds = []
    for _ in range(count):
        code = np.full((99, 2), -2)
        made = random_tree(rng, int(rng.integers(5, 51)), words)
        code[: len(made)] = made
        feeds.append({**weights, "words": table, "code": code})

    def torch_step(feed, run):
        import torch
        import torch.nn.functional as F

        names = list(weights)
        leaf, left, right, bias, out = p = [feed[n] for n in names]
        for x in p:
            x.requires_grad_(True)
            x.grad = None
        code, table = feed["code"].tolist(), feed["words"]

        def error(h, label):
            return -torch.log_softmax(out @ h, 0)[label]

        def encode(i):
            word, label = code[i]
            if word >= 0:
                z = leaf @ table[word]
                c = z[:d]
                h = torch.sigmoid(z[d:]) * torch.tanh(c)
                return h, c, error(h, label), i + 1
            ha, ca, ea, j = encode(i + 1)
            hb, cb, eb, k = encode(j)
            i_, u, fa, fb, o = (left @ ha + right @ hb + bias).view(5, d)
            c = torch.sigmoid(i_) * torch.tanh(u) + torch.sigmoid(fa) * ca + torch.sigmoid(fb) * cb
            h = torch.sigmoid(o) * torch.tanh(c)
            return h, c, ea + eb + error(h, label), k

        loss = encode(0)[2]
        loss.backward()
        return [loss.detach()] + [x.grad for x in p]

    return Case("tree", "main", {"d": d, "v": words, "n": 99}, feeds, None, torch_step, compiled=False)


# ---- steps of gradient descent ----


def sgd_jax(loss, names, rate):
    """A step, from a loss f(weights, feed)."""
    import jax

    def step(feed):
        p = {n: feed[n] for n in names}
        value, g = jax.value_and_grad(loss)(p, feed)
        return [value] + [p[n] - rate * g[n] for n in names]

    return step


def sgd_torch(loss, names, rate):
    import torch

    def step(feed, run):
        p = {n: feed[n].detach().requires_grad_(True) for n in names}
        value = run(loss)(p, feed)
        g = torch.autograd.grad(value, list(p.values()))
        with torch.no_grad():
            return [value.detach()] + list(torch._foreach_add(list(p.values()), g, alpha=-rate))

    return step


def mlp(m, h, k, b):
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    rng, names = np.random.default_rng(1), [f"net.{x}.{y}" for x in ("first", "second", "third") for y in "wb"]
    shapes = [(m, h), (h,), (h, h), (h,), (h, k), (k,)]
    feed = {n: (rng.standard_normal(s) / np.sqrt(s[0])).astype(np.float32) for n, s in zip(names, shapes)}
    feed |= {"x": rng.standard_normal((b, m)).astype(np.float32), "label": rng.integers(0, k, b)}

    def loss_jax(p, feed):
        w1, b1, w2, b2, w3, b3 = (p[n] for n in names)
        y = jax.nn.relu(jax.nn.relu(feed["x"] @ w1 + b1) @ w2 + b2) @ w3 + b3
        return -jnp.take_along_axis(jax.nn.log_softmax(y), feed["label"][:, None], 1).mean()

    def loss_torch(p, feed):
        w1, b1, w2, b2, w3, b3 = (p[n] for n in names)
        y = torch.relu(torch.relu(feed["x"] @ w1 + b1) @ w2 + b2) @ w3 + b3
        return torch.nn.functional.cross_entropy(y, feed["label"])

    sizes = {"m": m, "h": h, "k": k, "b": b}
    return Case("mlp", "main", sizes, feed, sgd_jax(loss_jax, names, 0.01), sgd_torch(loss_torch, names, 0.01))


def lstm(v, d, h, t, b):
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    rng, names = np.random.default_rng(1), [f"m.{x}" for x in ("table", "input", "hidden", "bias", "out")]
    shapes = [(v, d), (d, 4 * h), (h, 4 * h), (4 * h,), (h, v)]
    feed = {n: (0.5 * rng.standard_normal(s) / np.sqrt(s[0] if n != "m.table" else 1)).astype(np.float32) for n, s in zip(names, shapes)}
    feed |= {"tokens": rng.integers(0, v, (t, b)), "next": rng.integers(0, v, (t, b))}

    def loss_jax(p, feed):
        table, wi, wh, bias, out = (p[n] for n in names)

        def step(carry, at):
            y, c = carry
            token, target = at
            z = table[token] @ wi + y @ wh + bias
            i, f, g, o = jnp.split(z, 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            y = jax.nn.sigmoid(o) * jnp.tanh(c)
            p = jax.nn.log_softmax(y @ out)
            return (y, c), -jnp.take_along_axis(p, target[:, None], 1).sum()

        zero = jnp.zeros((b, h))
        _, errors = jax.lax.scan(step, (zero, zero), (feed["tokens"], feed["next"]))
        return errors.sum() / (t * b)

    def loss_torch(p, feed):
        table, wi, wh, bias, out = (p[n] for n in names)
        y = c = torch.zeros(b, h)
        total = 0
        for token, target in zip(feed["tokens"], feed["next"]):
            z = torch.nn.functional.embedding(token, table) @ wi + y @ wh + bias
            i, f, g, o = z.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            y = torch.sigmoid(o) * torch.tanh(c)
            total = total + torch.nn.functional.cross_entropy(y @ out, target, reduction="sum")
        return total / (t * b)

    sizes = {"v": v, "d": d, "h": h, "t": t, "b": b}
    return Case("lstm", "main", sizes, feed, sgd_jax(loss_jax, names, 0.1), sgd_torch(loss_torch, names, 0.1))


# ---- a decoder ----


def decoder_feed(v, d, f, t):
    import numpy as np

    rng = np.random.default_rng(1)
    shapes = {"m.table": (v, d), "m.place": (t, d)}
    for x in "one", "two":
        shapes |= {f"m.{x}.{k}": (d, d) for k in "qkvo"} | {f"m.{x}.up": (d, f), f"m.{x}.down": (f, d)}
        shapes |= {f"m.{x}.n1": (d,), f"m.{x}.n2": (d,)}
    shapes["m.norm"] = (d,)
    feed = {}
    for n, s in shapes.items():
        x = 1 + 0.1 * rng.standard_normal(s) if len(s) == 1 else rng.standard_normal(s) / np.sqrt(d)
        feed[n] = x.astype(np.float32)
    return rng, feed


def rms(x, scale):
    return x * scale / ((x * x).mean(-1, keepdims=True) + 1e-5) ** 0.5


def generate(v, d, f, t):
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    _, feed = decoder_feed(v, d, f, t)
    feed["first"] = np.array(3)
    e = d // 4

    def run_jax(feed):
        def attend(name, cache, x, i):
            m = {k: feed[f"m.{name}.{k}"] for k in ("q", "k", "v", "o", "up", "down", "n1", "n2")}
            y = rms(x, m["n1"])
            k, w = cache[0].at[i].set(y @ m["k"]), cache[1].at[i].set(y @ m["v"])
            s = jnp.einsum("he,the->ht", (y @ m["q"]).reshape(4, e), k.reshape(t, 4, e)) / e**0.5
            p = jax.nn.softmax(jnp.where(jnp.arange(t) <= i, s, -1e9))
            x = x + jnp.einsum("ht,the->he", p, w.reshape(t, 4, e)).reshape(d) @ m["o"]
            return x + jax.nn.relu(rms(x, m["n2"]) @ m["up"]) @ m["down"], (k, w)

        def step(i, s):
            word, words, _, one, two = s
            x, one = attend("one", one, feed["m.table"][word] + feed["m.place"][i], i)
            x, two = attend("two", two, x, i)
            scores = feed["m.table"] @ rms(x, feed["m.norm"])
            best = jnp.argmax(scores)
            return best, words.at[i].set(best), scores, one, two

        none = jnp.zeros((t, d))
        start = (feed["first"], jnp.zeros(t, feed["first"].dtype), jnp.zeros(v), (none, none), (none, none))
        _, words, scores, _, _ = jax.lax.fori_loop(0, t, step, start)
        return [words, scores]

    def token(feed, one, two, word, i):
        def attend(name, cache, x):
            m = {k: feed[f"m.{name}.{k}"] for k in ("q", "k", "v", "o", "up", "down", "n1", "n2")}
            y = rms(x, m["n1"])
            cache[0].index_copy_(0, i[None], (y @ m["k"])[None])
            cache[1].index_copy_(0, i[None], (y @ m["v"])[None])
            s = torch.einsum("he,the->ht", (y @ m["q"]).view(4, e), cache[0].view(t, 4, e)) / e**0.5
            p = torch.softmax(torch.where(torch.arange(t) <= i, s, -1e9), -1)
            x = x + torch.einsum("ht,the->he", p, cache[1].view(t, 4, e)).reshape(d) @ m["o"]
            return x + torch.relu(rms(x, m["n2"]) @ m["up"]) @ m["down"]

        x = attend("two", two, attend("one", one, feed["m.table"][word] + feed["m.place"][i]))
        scores = feed["m.table"] @ rms(x, feed["m.norm"])
        return torch.argmax(scores), scores

    def run_torch(feed, run):
        step = run(token)
        with torch.no_grad():
            one, two = (torch.zeros(t, d), torch.zeros(t, d)), (torch.zeros(t, d), torch.zeros(t, d))
            word, words = feed["first"], []
            for i in torch.arange(t):
                word, scores = step(feed, one, two, word, i)
                words.append(word)
            return [torch.stack(words), scores]

    return Case("decoder", "generate", {}, feed, run_jax, run_torch)


def decoder(v, d, f, t, b):
    import jax
    import jax.numpy as jnp
    import torch

    rng, feed = decoder_feed(v, d, f, t)
    names, e = list(feed), d // 4
    feed |= {"words": rng.integers(0, v, (b, t)), "next": rng.integers(0, v, (b, t))}

    def loss_jax(p, feed):
        x = p["m.table"][feed["words"]] + p["m.place"]
        for name in "one", "two":
            m = {k: p[f"m.{name}.{k}"] for k in ("q", "k", "v", "o", "up", "down", "n1", "n2")}
            y = rms(x, m["n1"])
            q, k, w = ((y @ m[n]).reshape(b, t, 4, e).transpose(0, 2, 1, 3) for n in "qkv")
            s = q @ k.transpose(0, 1, 3, 2) / e**0.5
            a = jax.nn.softmax(jnp.where(jnp.arange(t) <= jnp.arange(t)[:, None], s, -1e9)) @ w
            x = x + a.transpose(0, 2, 1, 3).reshape(b, t, d) @ m["o"]
            x = x + jax.nn.relu(rms(x, m["n2"]) @ m["up"]) @ m["down"]
        y = jax.nn.log_softmax(rms(x, p["m.norm"]) @ p["m.table"].T)
        return -jnp.take_along_axis(y, feed["next"][:, :, None], 2).mean()

    def loss_torch(p, feed):
        x = torch.nn.functional.embedding(feed["words"], p["m.table"]) + p["m.place"]
        for name in "one", "two":
            m = {k: p[f"m.{name}.{k}"] for k in ("q", "k", "v", "o", "up", "down", "n1", "n2")}
            y = rms(x, m["n1"])
            q, k, w = ((y @ m[n]).view(b, t, 4, e).transpose(1, 2) for n in "qkv")
            a = torch.nn.functional.scaled_dot_product_attention(q, k, w, is_causal=True)
            x = x + a.transpose(1, 2).reshape(b, t, d) @ m["o"]
            x = x + torch.relu(rms(x, m["n2"]) @ m["up"]) @ m["down"]
        y = rms(x, p["m.norm"]) @ p["m.table"].T
        return torch.nn.functional.cross_entropy(y.view(b * t, v), feed["next"].view(b * t))

    return Case("decoder", "train", {"b": b}, feed, sgd_jax(loss_jax, names, 0.01), sgd_torch(loss_torch, names, 0.01))


# ---- convolutional networks ----


def cnn_feed(shapes, image, b):
    import numpy as np

    rng = np.random.default_rng(1)
    fan = lambda s: np.prod(s[1:]) if len(s) == 4 else s[0]
    feed = {n: (1.4 * rng.standard_normal(s) / np.sqrt(fan(s))).astype(np.float32) for n, s in shapes.items()}
    return feed | {"x": rng.standard_normal((b, *image)).astype(np.float32), "label": rng.integers(0, 10, b)}


def jax_conv(x, w, stride=1, pad=0):
    import jax

    return jax.lax.conv_general_dilated(x, w, (stride, stride), ((pad, pad), (pad, pad)))


def jax_error(y, label):
    import jax
    import jax.numpy as jnp

    return -jnp.take_along_axis(jax.nn.log_softmax(y), label[:, None], 1).mean()


def lenet(b):
    import jax
    import torch
    import torch.nn.functional as F

    shapes = {"m.c1": (6, 1, 5, 5), "m.c2": (16, 6, 5, 5), "m.w1": (400, 120), "m.w2": (120, 84), "m.w3": (84, 10)}
    feed, names = cnn_feed(shapes, (1, 28, 28), b), list(shapes)

    def pool(x):
        return jax.lax.reduce_window(x, -float("inf"), jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def loss_jax(p, feed):
        c1, c2, w1, w2, w3 = (p[n] for n in names)
        x = pool(jax.nn.relu(jax_conv(feed["x"], c1, pad=2)))
        x = pool(jax.nn.relu(jax_conv(x, c2))).reshape(b, 400)
        return jax_error(jax.nn.relu(jax.nn.relu(x @ w1) @ w2) @ w3, feed["label"])

    def loss_torch(p, feed):
        c1, c2, w1, w2, w3 = (p[n] for n in names)
        x = F.max_pool2d(torch.relu(F.conv2d(feed["x"], c1, padding=2)), 2)
        x = F.max_pool2d(torch.relu(F.conv2d(x, c2)), 2).reshape(b, 400)
        return F.cross_entropy(torch.relu(torch.relu(x @ w1) @ w2) @ w3, feed["label"])

    return Case("cnn", "train_lenet", {"b": b}, feed, sgd_jax(loss_jax, names, 0.01), sgd_torch(loss_torch, names, 0.01))


def resnet(b):
    import jax
    import torch
    import torch.nn.functional as F

    shapes = {"m.stem": (16, 3, 3, 3), "m.one.a": (16, 16, 3, 3), "m.one.b": (16, 16, 3, 3)}
    for n, c in ("two", 16), ("three", 32):
        shapes |= {f"m.{n}.a": (2 * c, c, 3, 3), f"m.{n}.b": (2 * c, 2 * c, 3, 3), f"m.{n}.skip": (2 * c, c, 1, 1)}
    shapes["m.out"] = (64, 10)
    feed, names = cnn_feed(shapes, (3, 32, 32), b), list(shapes)

    def net(p, x, relu, conv):
        x = relu(conv(x, p["m.stem"], 1, 1))
        x = relu(x + conv(relu(conv(x, p["m.one.a"], 1, 1)), p["m.one.b"], 1, 1))
        for n in "two", "three":
            y = relu(conv(x, p[f"m.{n}.a"], 2, 1))
            x = relu(conv(x, p[f"m.{n}.skip"], 2, 0) + conv(y, p[f"m.{n}.b"], 1, 1))
        return x.mean((2, 3)) @ p["m.out"]

    def loss_jax(p, feed):
        return jax_error(net(p, feed["x"], jax.nn.relu, jax_conv), feed["label"])

    def loss_torch(p, feed):
        conv = lambda x, w, stride, pad: F.conv2d(x, w, stride=stride, padding=pad)
        return F.cross_entropy(net(p, feed["x"], torch.relu, conv), feed["label"])

    return Case("cnn", "train_resnet", {"b": b}, feed, sgd_jax(loss_jax, names, 0.01), sgd_torch(loss_torch, names, 0.01))


# ---- Newton's method ----


def newton(p, n, m):
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    rng = np.random.default_rng(1)
    feed = {"x": rng.standard_normal((p, n)), "a": rng.standard_normal((p, m, n)), "b": rng.standard_normal((p, m))}
    feed = {k: x.astype(np.float32) for k, x in feed.items()}

    def run_jax(feed):
        def objective(x, a, b):
            z = a @ x - b
            return jnp.log(1 + jnp.exp(z)).sum() + jnp.log(1 + jnp.exp(-z)).sum() + 0.5 * (x * x).sum()

        def solve(x, a, b):
            g = jax.grad(objective)
            step = lambda _, x: x - jnp.linalg.solve(jax.jacfwd(g)(x, a, b), g(x, a, b))
            return jax.lax.fori_loop(0, 10, step, x)

        return [jax.vmap(solve)(feed["x"], feed["a"], feed["b"])]

    def objective(x, a, b):
        z = a @ x - b
        return torch.log(1 + torch.exp(z)).sum() + torch.log(1 + torch.exp(-z)).sum() + 0.5 * (x * x).sum()

    def step(x, a, b):
        g = torch.func.grad(objective)
        return x - torch.linalg.solve(torch.func.jacfwd(g)(x, a, b), g(x, a, b))

    def run_torch(feed, run):
        x, once = feed["x"], run(torch.func.vmap(step))
        for _ in range(10):
            x = once(x, feed["a"], feed["b"])
        return [x]

    return Case("newton", "main", {"p": p, "n": n, "m": m}, feed, run_jax, run_torch, compiled=False)


def cases(trees):
    found = {f"tree {d}": lambda d=d: tree(d, trees) for d in (16, 64, 150, 300)}
    return found | {
        "mlp 512": lambda: mlp(784, 512, 10, 64),
        "mlp 128": lambda: mlp(64, 128, 10, 32),
        "lstm 200": lambda: lstm(2000, 200, 200, 35, 20),
        "lstm 64": lambda: lstm(500, 64, 64, 20, 8),
        "decoder": lambda: generate(2000, 128, 512, 64),
        "decoder training": lambda: decoder(2000, 128, 512, 64, 8),
        "lenet": lambda: lenet(32),
        "resnet": lambda: resnet(16),
        "newton": lambda: newton(1000, 8, 16),
    }


# ---- measuring ----


def wick_program(a, case, threads):
    """The loaded artifact, and the seconds of the whole compilation."""
    import wick

    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "program.wick"
        command = [ROOT / "build" / "wick", "compile", PROGRAMS / f"{case.file}.wick", "--entry", case.entry, "--no-cache"]
        command += ["--threads", threads, "-o", out] + [x for k, n in case.sizes.items() for x in ("--dim", f"{k}={n}")]
        begin = time.perf_counter()
        subprocess.run([str(x) for x in command], check=True, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
        return wick.Program.load(str(out), threads=threads), seconds


def runners(a, case, threads):
    """{name: (f() -> arrays, seconds of compilation)}."""
    import jax
    import numpy as np
    import torch

    feeds = case.feed if isinstance(case.feed, list) else [case.feed]
    program, seconds = wick_program(a, case, threads)
    arrays = [[np.ascontiguousarray(f[p.name]) for p in program.inputs] for f in feeds]
    found = {"wick": ([lambda f=f: program.run(f) for f in arrays], seconds)}
    if case.jax:
        given = [{k: jax.numpy.asarray(x) for k, x in f.items()} for f in feeds]
        begin = time.perf_counter()
        compiled = jax.jit(case.jax).lower(given[0]).compile()
        seconds = time.perf_counter() - begin
        found["jax"] = ([lambda f=f: jax.block_until_ready(compiled(f)) for f in given], seconds)
    shared = {id(x): torch.from_numpy(np.array(x)) for f in feeds for x in f.values()}
    tensors = [{k: shared[id(x)] for k, x in f.items()} for f in feeds]
    found["eager"] = ([lambda f=f: case.torch(f, lambda g: g) for f in tensors], 0)
    if case.compiled and not a.no_compile:
        kept = {}

        def run(g):
            key = getattr(g, "__code__", g)
            return kept.setdefault(g.__qualname__ if hasattr(g, "__qualname__") else key, torch.compile(g))

        begin = time.perf_counter()
        case.torch(tensors[0], run)
        found["compiled"] = ([lambda f=f: case.torch(f, run) for f in tensors], time.perf_counter() - begin)
    return found


def differs(found, expected):
    """The largest difference, relative to the largest magnitude of each tensor."""
    import numpy as np

    worst = 0.0
    for x, y in zip(found, expected, strict=True):
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        worst = max(worst, float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-30)))
    return worst


def measure(a, name, threads):
    import numpy as np

    case = cases(a.trees)[name]()
    run = runners(a, case, threads)
    expected = [f() for f in run["eager"][0][:3]]
    error = {}
    for k, (fs, _) in run.items():
        error[k] = max(differs(f(), e) for f, e in zip(fs, expected))
        if error[k] > TOLERANCE and k == "wick":
            sys.exit(f"{name}: {k} differs by {error[k]:.1e} from PyTorch")
    times = {k: [] for k in run}
    inner = {}
    for k, (fs, _) in run.items():
        begin = time.perf_counter()
        fs[0](), fs[0]()
        inner[k] = max(1, int(0.05 / (len(fs) * (time.perf_counter() - begin) / 2)))
    for _ in range(a.rounds):
        for k, (fs, _) in run.items():
            if threads > 1:
                time.sleep(0.3)  # until the threads of the one before, which wait actively, sleep
            fs[0]()
            begin = time.perf_counter()
            for _ in range(inner[k]):
                for f in fs:
                    f()
            times[k].append((time.perf_counter() - begin) / inner[k] / len(fs))
    return {"times": {k: float(np.median(t)) for k, t in times.items()}, "compile": {k: s for k, (_, s) in run.items()}, "error": error}


def child(a, name, threads):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    os.environ["OMP_NUM_THREADS"] = str(threads)
    sys.path.insert(0, str(ROOT / "build" / "python"))
    import torch

    torch.set_num_threads(threads)
    print(json.dumps(measure(a, name, threads)))


def ratio(name, times):
    """Of Wick's time to that of the faster peer, for trees of PyTorch without compilation; and that peer."""
    peers = {k: x for k, x in times.items() if k in ("jax", "compiled")} or {"eager": times["eager"]}
    if name == "newton":
        peers = {"jax": times["jax"]}
    best = min(peers, key=peers.get)
    return times["wick"] / times[best], best


def report_lines(rows):
    """The table, and the geometric mean of the ratios that have the goal 0.7."""
    import numpy as np
    import report

    ms = lambda x: f"{1e3 * x:.3g}" if x else ""
    table, means = [], {}
    for threads, name, r in rows:
        t, c = r["times"], r["compile"]
        q, _ = ratio(name, t)
        if name not in GOALS:
            means.setdefault(threads, []).append(q)
        table.append([name, threads, *(ms(t.get(k)) for k in ("wick", "jax", "compiled", "eager")), f"{q:.2f}", f"{GOALS.get(name, 0.9)}",
                      f"{c['wick']:.2f}", f"{c['jax']:.2f}" if "jax" in c else "", f"{r['error']['wick']:.0e}"])  # fmt: skip
    head = ["program", "threads", "Wick ms", "JAX", "PyTorch, compiled", "PyTorch, eager", "ratio", "goal", "compile s", "JAX", "difference"]
    means = ", ".join(f"{np.exp(np.mean(np.log(x))):.2f} with {k} thread{'s' if k > 1 else ''}" for k, x in means.items())
    return report.table(head, table), means


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--threads", default="1,2")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--trees", type=int, default=100, help="random trees that are timed")
    p.add_argument("--no-compile", action="store_true", help="leaves torch.compile out")
    p.add_argument("--write", action="store_true", help="writes the table into README.md")
    p.add_argument("--child", type=int, help=argparse.SUPPRESS)
    p.add_argument("name", nargs="*")
    a = p.parse_args()
    if a.child:
        return child(a, a.name[0], a.child)
    try:
        import jax  # noqa: F401
        import torch  # noqa: F401
    except ImportError as e:
        print(f"skipped: {e}; see the head of {pathlib.Path(__file__).name} for the environment of the peers")
        return None
    rows, failed = [], False
    for threads in map(int, a.threads.split(",")):
        for name in a.name or cases(1):
            command = [sys.executable, __file__, "--child", threads, "--rounds", a.rounds, "--trees", a.trees, name]
            command += ["--no-compile"] * a.no_compile
            r = subprocess.run([str(x) for x in command], stdout=subprocess.PIPE, text=True)
            if r.returncode:
                print(f"{name} failed", flush=True)
                failed = True
                continue
            r = json.loads(r.stdout.splitlines()[-1])
            rows.append((threads, name, r))
            q, best = ratio(name, r["times"])
            print(f"{threads} {name:18}", " ".join(f"{k} {1e3 * x:.3f}" for k, x in r["times"].items()), f"ms; ratio {q:.2f} ({best}); compile",
                  " ".join(f"{k} {x:.2f}" for k, x in r["compile"].items() if x), f"s; difference {r['error']['wick']:.0e}", flush=True)  # fmt: skip
    if rows:
        import report

        table, means = report_lines(rows)
        print(f"\n{table}\ngeometric means: {means}")
        if a.write and not failed and not a.name:
            about = f"{report.machine()}; {report.versions(['jax', 'torch'])}; {report.today()}; medians of {a.rounds} rounds."
            report.write("training", f"{about}\n\n{table}\nThe geometric mean of the ratios, without trees and Newton's method: {means}.")
    sys.exit(failed)


if __name__ == "__main__":
    main()
