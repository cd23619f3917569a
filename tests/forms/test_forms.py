"""Graphs as the exporters of PyTorch, TensorFlow, Keras and JAX write them: how many kernels are left, which operators they have or lack, and
that results equal ONNX Runtime's."""

import os
import re
import sys
from dataclasses import dataclass

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models  # noqa: E402


@dataclass
class Form:
    name: str
    types: str
    nodes: str
    kernels: int
    has: str = ""  # operators that the kernels have
    lacks: str = ""  # operators that they do not have
    atol: float = 1e-5

    def model(self):
        return models.graph(self.types, self.nodes)


X = "(float[8,64] x) => (y)"
FORMS = [
    # ---- activations: written out, they are their operators ----
    Form("PyTorch: mish", X, "a = Softplus(x)  b = Tanh(a)  y = Mul(x, b)", 1, "mish", "tanh"),
    Form("Keras: mish", f"{X} <float one = {{1}}>", "a = Exp(x)  b = Add(a, one)  c = Log(b)  d = Tanh(c)  y = Mul(d, x)", 1, "mish", "tanh log"),
    Form("PyTorch: gelu with tanh, a power", f"{X} <float t = {{3}}, float k = {{0.044715}}, float r = {{0.7978845608}}, float one = {{1}}, float h = {{0.5}}>",
         "a = Pow(x, t)  b = Mul(a, k)  c = Add(x, b)  d = Mul(c, r)  e = Tanh(d)  f = Add(e, one)  g = Mul(x, f)  y = Mul(g, h)", 1, "gelu", "tanh pow"),
    Form("JAX: gelu with tanh, products", f"{X} <float k = {{0.044715}}, float r = {{0.7978845608}}, float one = {{1}}, float h = {{0.5}}>",
         "a = Mul(x, x)  b = Mul(a, x)  c = Mul(k, b)  d = Add(x, c)  e = Mul(r, d)  f = Tanh(e)  g = Add(one, f)  i = Mul(h, g)  y = Mul(x, i)", 1, "gelu", "tanh"),
    Form("PyTorch: gelu with erf", f"{X} <float r = {{1.41421356}}, float one = {{1}}, float h = {{0.5}}>",
         "a = Div(x, r)  b = Erf(a)  c = Add(b, one)  d = Mul(x, c)  y = Mul(d, h)", 1, "erf", "div"),
    Form("CLIP: x * sigmoid(1.702 x)", f"{X} <float k = {{1.702}}>", "a = Mul(x, k)  b = Sigmoid(a)  y = Mul(x, b)", 1),
    Form("SiLU", X, "a = Sigmoid(x)  y = Mul(x, a)", 1),
    Form("PyTorch: hard swish", f"{X} <float k = {{3}}, float z = {{0}}, float u = {{6}}>", "a = Add(x, k)  b = Clip(a, z, u)  c = Div(b, u)  y = Mul(x, c)", 1, "hard_swish", "div"),
    Form("JAX: softplus as logaddexp", f"{X} <float z = {{0}}, float one = {{1}}>",
         "a = Max(x, z)  b = Abs(x)  c = Neg(b)  d = Exp(c)  e = Add(d, one)  f = Log(e)  y = Add(a, f)", 1, "softplus", "log exp"),
    # ---- epilogues of products ----
    Form("a residual after a product", "(float[8,32] x, float[8,64] r) => (y) <float[32,64] w, float[64] b>", "a = MatMul(x, w)  c = Add(a, b)  y = Add(r, c)", 1),
    Form("experts: a batch of constant matrices, packed when the model is compiled", "(float[4,40,256] x) => (y) <float[4,256,384] w>", "a = MatMul(x, w)  y = Relu(a)", 1),
    Form("a gate", "(float[2,8,32] x, float[2,8,64] r) => (y) <float[32,64] w>", "a = MatMul(x, w)  c = Sigmoid(a)  y = Mul(c, r)", 1),
    # ---- norms: roots divide whole rows ----
    Form("PyTorch: RMS norm with a quotient", f"{X} <float two = {{2}}, int64[1] l = {{-1}}, float e = {{1e-5}}, float[64] w>",
         "a = Pow(x, two)  b = ReduceMean(a, l)  c = Add(b, e)  d = Sqrt(c)  f = Div(x, d)  y = Mul(w, f)", 1, "reciprocal", "pow"),
    Form("PyTorch: L2 norm", f"{X} <int64[1] l = {{-1}}, float e = {{1e-12}}, int64[2] s = {{8,64}}>",
         "a = ReduceL2(x, l)  b = Clip(a, e)  c = Expand(b, s)  y = Div(x, c)", 1),
    Form("TensorFlow: layer norm", f"{X} <int64[1] l = {{-1}}, float e = {{1e-5}}, float[64] w, float[64] b>",
         "m = ReduceMean(x, l)  d = Sub(x, m)  q = Mul(d, d)  v = ReduceMean(q, l)  a = Add(v, e)  r = Sqrt(a)  n = Div(d, r)  k = Mul(n, w)  y = Add(k, b)", 1, "reciprocal"),
    # ---- softmax and attention ----
    Form("softmax written out, over channels", "(float[1,16,16,16] x) => (y) <int64[1] l = {1}>",
         "m = ReduceMax(x, l)  d = Sub(x, m)  e = Exp(d)  s = ReduceSum(e, l)  y = Div(e, s)", 1),
    Form("JAX: attention with softmax written out", "(float[1,4,32,16] q, float[1,4,32,16] k, float[1,4,32,16] v) => (y) <float s = {0.25}, int64[1] l = {-1}>",
         "t = Transpose<perm=[0,1,3,2]>(k)  c = MatMul(q, t)  a = Mul(c, s)  m = ReduceMax(a, l)  d = Sub(a, m)  e = Exp(d)  u = ReduceSum(e, l)  p = Div(e, u)  y = MatMul(p, v)",
         1),
    Form("PyTorch: attention whose weights are 0 where nothing is attended to", "(float[1,4,32,16] q, float[1,4,32,16] k, float[1,4,32,16] v, bool[1,1,32,32] m) => (y) <float s = {0.25}, float z = {0}, float n = {-inf}>",
         "w = Where(m, z, n)  t = Transpose<perm=[0,1,3,2]>(k)  c = MatMul(q, t)  a = Mul(c, s)  b = Add(a, w)  p = Softmax(b)  i = IsNaN(p)  g = Where(i, z, p)  y = MatMul(g, v)",
         2),
    # ---- gates: parts are read where they are ----
    Form("PyTorch: a gate of halves", "(float[8,64] x) => (y) <float[64,128] w, int64[2] n = {64,64}, float[64,32] o>",
         "a = MatMul(x, w)  g, u = Split<axis=-1>(a, n)  s = Sigmoid(g)  h = Mul(g, s)  k = Mul(h, u)  y = MatMul(k, o)", 3, lacks="broadcast_to"),
    # ---- attention whose heads share keys and values ----
    Form("PyTorch: decoding with copies of keys and values by Expand", "(float[1,8,1,16] q, float[1,2,64,16] k, float[1,2,64,16] v) => (y) <int64[1] a = {2}, int64[5] s = {1,2,4,64,16}, int64[4] r = {1,8,64,16}>",
         "k1 = Unsqueeze(k, a)  k2 = Expand(k1, s)  k3 = Reshape(k2, r)  v1 = Unsqueeze(v, a)  v2 = Expand(v1, s)  v3 = Reshape(v2, r)  "
         "t = Transpose<perm=[0,1,3,2]>(k3)  c = MatMul(q, t)  p = Softmax(c)  y = MatMul(p, v3)", 4, lacks="broadcast_to"),
    Form("Keras: decoding with copies of keys and values by Tile", "(float[1,8,1,16] q, float[1,2,64,16] k, float[1,2,64,16] v) => (y) <int64[1] a = {2}, int64[5] s = {1,1,4,1,1}, int64[4] r = {1,8,64,16}>",
         "k1 = Unsqueeze(k, a)  k2 = Tile(k1, s)  k3 = Reshape(k2, r)  v1 = Unsqueeze(v, a)  v2 = Tile(v1, s)  v3 = Reshape(v2, r)  "
         "t = Transpose<perm=[0,1,3,2]>(k3)  c = MatMul(q, t)  p = Softmax(c)  y = MatMul(p, v3)", 4, lacks="tile"),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.name)
def test_kernels(form):
    text = models.low(form.model())
    launched = models.launches(text)
    assert len(launched) == form.kernels, launched
    for op in form.has.split():
        assert re.search(rf"= {op} ", text), op
    for op in form.lacks.split():
        assert not re.search(rf"= {op} ", text), op


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.name)
def test_results(form):
    models.compare(wick, ort, form.model(), atol=form.atol)
