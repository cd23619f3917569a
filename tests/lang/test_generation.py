"""Texts that networks write, in the process, as an artifact and as a bundle, beside NumPy: a decoder with a cache that
samples by key (NumPy computes all earlier words anew for each word), and beam search over characters (NumPy keeps a
list of texts)."""

import numpy as np
import pytest
from running import HERE, everywhere

PROGRAM = HERE / "programs" / "generation.wick"
MASK = 2**64 - 1


def philox(key, n):
    """The first 64 bits of each block of Philox 4x32-10 (Salmon and others, 2011), for counters 0 to n - 1."""
    found = []
    for counter in range(n):
        c, k = [counter, 0, 0, 0], [key & 0xFFFFFFFF, key >> 32]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
            k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
        found.append(c[0] << 32 | c[1])
    return found


def uniform(key, n, dtype):
    bits = 24 if dtype == np.float32 else 53
    return np.array([(x >> (64 - bits)) * 2.0**-bits for x in philox(key, n)])


def split(key, i):
    a = ((key + 1) * 0x1E3779B97F4A7C15 + i) & MASK
    b = (a ^ a >> 27) * 0x3C79AC492BA7B653 & MASK
    c = (b ^ b >> 33) * 0x1C69B3F74AC4AE35 & MASK
    return c ^ c >> 27


def softmax(x):
    y = np.exp(x - x.max(-1, keepdims=True))
    return y / y.sum(-1, keepdims=True)


def normed(x):
    c = x - x.mean(-1, keepdims=True)
    return c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5)


def scores(m, words):
    """Of the word after the last, by attention over the whole text."""
    n = len(words)
    x = m["table"][words] + m["place"][:n]
    for b in range(len(m["q"])):
        y = normed(x)
        s = (y @ m["q"][b]) @ (y @ m["k"][b]).transpose(0, 2, 1) / np.sqrt(m["q"].shape[-1])
        p = softmax(np.where(np.tril(np.ones((n, n), bool)), s, -np.inf))
        x = x + (p @ (y @ m["v"][b]) @ m["o"][b]).sum(0)
        x = x + np.maximum(normed(x) @ m["up"][b], 0) @ m["down"][b]
    return normed(x[-1]) @ m["table"].T


def written(m, first, key, temperature, steps, dtype):
    words, seen = [first], []
    for i in range(steps):
        seen.append(scores(m, words))
        likely = np.argsort(-seen[-1], kind="stable")[:5]
        gumbel = -np.log(-np.log1p(-uniform(split(key, i), 5, dtype)) + 1e-30)
        words.append(int(likely[np.argmax(seen[-1][likely] / temperature + gumbel)]))
    return np.array(words[1:]), np.array(seen)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru(w, x, h):
    a, b = np.split(x @ w["w"] + w["b"], 3), np.split(h @ w["r"], 3)
    z, r = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
    return (1 - z) * np.tanh(a[2] + r * b[2]) + z * h


def searched(m, first, steps, width):
    zero = np.zeros(m["out"].shape[0])
    beams = [(0.0, [], first, zero, zero)]
    for _ in range(steps):
        more = []
        for p, text, last, h1, h2 in beams:
            h1 = gru(m["one"], m["embed"][last], h1)
            h2 = gru(m["two"], h1, h2)
            if last == 0:
                more.append((p, [*text, 0], 0, h1, h2))
                continue
            for c, q in enumerate(np.log(softmax(h2 @ m["out"]))):
                more.append((p + q, [*text, c], c, h1, h2))
        beams = sorted(more, key=lambda b: -b[0])[:width]
    return np.array([b[0] for b in beams]), np.array([b[1] for b in beams])


def flat(prefix, m):
    return {k: v for name, x in m.items() for k, v in (flat(f"{prefix}.{name}", x) if isinstance(x, dict) else {f"{prefix}.{name}": x}).items()}


@pytest.mark.parametrize("dtype, entry", [(np.float32, "text32"), (np.float64, "text64")])
@pytest.mark.parametrize("seed, h, k, l, t", [(1, 3, 8, 3, 20), (2, 4, 5, 2, 33)])
def test_decoder(seed, h, k, l, t, dtype, entry, tmp_path):
    rng = np.random.default_rng(seed)
    v, d, f = 50, h * k, 2 * h * k
    sizes = {"v": v, "d": d, "f": f, "l": l, "t": t, "h": h, "k": k}
    shapes = {"table": (v, d), "place": (t, d), "q": (l, h, d, k), "k": (l, h, d, k), "v": (l, h, d, k), "o": (l, h, k, d), "up": (l, d, f), "down": (l, f, d)}
    m = {n: rng.normal(0, 0.3, s).astype(dtype) for n, s in shapes.items()}
    inputs = {**flat("m", m), "first": np.int64(7), "key": np.uint64(seed), "temperature": dtype(1.5)}
    words, seen = everywhere(PROGRAM, entry, tmp_path, inputs, sizes)
    want, wanted = written({n: x.astype(np.float64) for n, x in m.items()}, 7, seed, 1.5, t, dtype)
    assert list(words) == list(want) and len(set(want)) > 5
    assert seen.dtype == dtype and np.allclose(seen, wanted, atol=1e-4 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("dtype, entry", [(np.float32, "beam32"), (np.float64, "beam64")])
def test_beam_search(dtype, entry, tmp_path):
    rng = np.random.default_rng(5)
    v, d, u, t = 40, 16, 32, 15
    sizes = {"v": v, "d": d, "u": u, "t": t}

    def cell(i):
        return {"w": rng.normal(0, 0.4, (i, 3 * u)).astype(dtype), "r": rng.normal(0, 0.4, (u, 3 * u)).astype(dtype), "b": rng.normal(0, 0.4, 3 * u).astype(dtype)}

    m = {"embed": rng.normal(0, 1, (v, d)).astype(dtype), "one": cell(d), "two": cell(u), "out": rng.normal(0, 0.5, (u, v)).astype(dtype)}
    inputs = {**flat("m", m), "first": np.full(5, 3), "steps": np.arange(t)}
    p, texts, lengths = everywhere(PROGRAM, entry, tmp_path, inputs, sizes)
    want, wanted = searched({n: x if isinstance(x, dict) else x.astype(np.float64) for n, x in m.items()}, 3, t, 5)
    assert np.array_equal(texts, wanted) and np.array_equal(lengths, (wanted != 0).sum(1))
    assert np.allclose(p, want, atol=1e-4 if dtype == np.float32 else 1e-10)
