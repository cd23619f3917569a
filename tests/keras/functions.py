"""The functions of keras.ops that layers.py compares beside the layers: name, then cases as (shapes, function)."""
import keras
import numpy as np
from keras import ops

IMAGE, SEQ, FLAT, SQUARE = (9, 8, 6), (7, 6), (6,), (5, 5)
RGB, CHANNELS_FIRST = (8, 7, 3), (6, 9, 8)


def whole(x):
    return ops.cast(ops.multiply(x, 5.0), "int32")


def holes(x):
    """x with NaN where it is above 1."""
    return ops.where(ops.greater(x, 1.0), ops.multiply(ops.ones_like(x), float("nan")), x)


def unit(x):
    return ops.sigmoid(x)


def positive(x):
    return ops.add(ops.abs(x), 0.5)


def pair(x):
    return ops.add(x, 0.0), ops.multiply(x, 0.5)


def elementwise(c):
    one = dict(
        angle=lambda x: x, bitwise_invert=whole, bitwise_not=whole, cbrt=lambda x: x, deg2rad=lambda x: ops.multiply(x, 90.0), fabs=lambda x: x, i0=lambda x: ops.multiply(x, 3.0), imag=lambda x: x,
        isfinite=lambda x: ops.divide(1.0, ops.relu(x)), isneginf=lambda x: ops.log(ops.relu(x)), isposinf=lambda x: ops.divide(1.0, ops.relu(x)), isreal=lambda x: x, log10=positive, logical_not=lambda x: ops.greater(x, 0),
        rad2deg=lambda x: x, signbit=lambda x: ops.multiply(x, -1.0), sinc=lambda x: ops.multiply(x, 3.0), erfc=lambda x: x, erfinv=lambda x: ops.multiply(ops.tanh(x), 0.99), zeros_like=lambda x: x, ones_like=lambda x: x, nan_to_num=holes, size=lambda x: x, ndim=lambda x: x, ravel=lambda x: x)
    for name, prepare in one.items():
        f = getattr(ops, name)
        c["ops." + name] = [((SEQ,), lambda x, f=f, p=prepare: f(p(x))), ((IMAGE,), lambda x, f=f, p=prepare: f(p(x))), ((FLAT,), lambda x, f=f, p=prepare: f(p(ops.multiply(x, 2.0))))]
    two = dict(
        arctan2=lambda x: x, bitwise_left_shift=lambda x: ops.abs(whole(x)) % 5, bitwise_right_shift=lambda x: ops.abs(whole(x)) % 5, left_shift=lambda x: ops.abs(whole(x)) % 5, right_shift=lambda x: ops.abs(whole(x)) % 5,
        divide_no_nan=lambda x: ops.relu(x), fmax=holes, fmin=holes, fmod=positive, heaviside=lambda x: ops.relu(x), hypot=lambda x: x, logaddexp=lambda x: x, logaddexp2=lambda x: x, isclose=lambda x: ops.round(x), outer=lambda x: x, isin=lambda x: ops.round(x), allclose=lambda x: ops.multiply(x, 0.0))
    for name, prepare in two.items():
        f = getattr(ops, name)
        c["ops." + name] = [((SEQ, SEQ), lambda x, y, f=f, p=prepare: f(p(x), p(y))), ((SEQ, (1, 6)), lambda x, y, f=f, p=prepare: f(p(x), p(y))), ((FLAT, FLAT), lambda x, y, f=f, p=prepare: f(p(x), p(y)))]
    c["ops.ldexp"] = [((SEQ, SEQ), lambda x, y: ops.ldexp(x, whole(y))), ((FLAT,), lambda x: ops.ldexp(x, whole(x))), ((SEQ, (1, 6)), lambda x, y: ops.ldexp(x, whole(y)))]
    c["ops.round"] = [((SEQ,), lambda x, k=k: ops.round(ops.multiply(x, 7.0), k)) for k in (0, 1, -1)]
    c["ops.nextafter"] = [((SEQ, SEQ), lambda x, y: ops.nextafter(x, y))]


def reductions(c):
    for name in "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanmedian nanargmax nanargmin".split():
        f = getattr(ops, name)
        axes = [dict(axis=-1), dict(axis=1, keepdims=True)] + ([] if "arg" in name else [dict(axis=(1, 2))])
        c["ops." + name] = [((SEQ,), lambda x, f=f, k=k: f(holes(x), **k)) for k in axes]
    for name in "median ptp count_nonzero average".split():
        f = getattr(ops, name)
        keep = [dict(axis=1, keepdims=True)] if name in ("median", "ptp") else []
        c["ops." + name] = [((SEQ,), lambda x, f=f, k=k: f(ops.relu(x), **k)) for k in (dict(axis=-1), dict(axis=1), dict(axis=(1, 2)), *keep) if name != "average" or not isinstance(k["axis"], tuple)]
    c["ops.average"].append(((SEQ, SEQ), lambda x, w: ops.average(x, axis=2, weights=positive(w))))
    for name in "quantile percentile".split():
        f, by = getattr(ops, name), 100 if name == "percentile" else 1
        # Keras 3.15 drops the method of a symbolic quantile; Wick does as the file says.
        methods = (("linear", 1), ("lower", -1), ("higher", (1, 2)), ("midpoint", 2), ("nearest", 1)) if by == 100 else (("linear", 1), ("linear", (1, 2)))
        c["ops." + name] = [((SEQ,), lambda x, f=f, by=by, m=m, a=a: f(x, [0.1 * by, 0.5 * by, by], axis=a, method=m)) for m, a in methods]
        c["ops." + name] += [((SEQ,), lambda x, f=f, by=by: f(x, 0.3 * by, axis=1, keepdims=True)), ((SEQ,), lambda x, f=f, by=by: f(holes(x), 0.3 * by, axis=1))]
    for name in "cumsum cumprod nancumsum nancumprod".split():
        f = getattr(ops, name)
        c["ops." + name] = [((SEQ,), lambda x, f=f, p=(holes if "nan" in name else unit), a=a: f(p(x), axis=a)) for a in (1, -1, None)]
    c["ops.norm"] = [((SEQ,), lambda x, k=k: ops.norm(x, **k)) for k in (dict(axis=1), dict(ord=1, axis=2, keepdims=True), dict(ord=3, axis=-1), dict(ord=float("inf"), axis=1), dict(ord=0, axis=1), dict(ord="fro", axis=(1, 2)), dict(ord=1, axis=(1, 2)), dict(ord=float("inf"), axis=(1, 2), keepdims=True), dict(axis=(1, 2)))]
    c["ops.normalize"] = [((SEQ,), lambda x, k=k: ops.normalize(x, **k)) for k in (dict(), dict(axis=1), dict(order=3, axis=1))]
    c["ops.moments"] = [((SEQ,), lambda x, k=k: ops.moments(x, **k)) for k in (dict(axes=(1,)), dict(axes=(0, 2), keepdims=True), dict(axes=(1, 2)))]
    c["ops.sort"] = [((SEQ,), lambda x, a=a: ops.sort(x, axis=a)) for a in (-1, 1)] + [((SEQ,), lambda x: ops.sort(whole(x), axis=1))]
    c["ops.argsort"] = [((SEQ,), lambda x, a=a: ops.argsort(x, axis=a)) for a in (-1, 1, 2)]
    c["ops.argpartition"] = [(((11,),), lambda x: ops.stack([ops.argpartition(ops.cast(ops.abs(x[i] * 9) + 1, "int32"), k, axis=-1) for i in (0, 1) for k in (0, 3, 10)]))]
    c["ops.top_k"] = [((SEQ,), lambda x, k=k: ops.top_k(x, k)) for k in (1, 3, 6)]
    c["ops.in_top_k"] = [((FLAT,), lambda x, k=k: ops.in_top_k(ops.argmin(ops.abs(x), axis=-1), x, k)) for k in (1, 3, 5)]
    c["ops.diff"] = [((SEQ,), lambda x, k=k: ops.diff(x, **k)) for k in (dict(), dict(n=2, axis=1), dict(axis=1))]
    c["ops.trapezoid"] = [((SEQ,), lambda x: ops.trapezoid(x)), ((SEQ,), lambda x: ops.trapezoid(x, dx=0.5, axis=1)), ((SEQ,), lambda x: ops.trapezoid(x, axis=-1, dx=2.0))]
    c["ops.segment"] = [((SEQ,), lambda x, f=f: f(ops.reshape(x, (-1, 6)), np.arange(14) // 4, num_segments=5)) for f in (ops.segment_sum, ops.segment_max, ops.segment_min, ops.segment_prod)]


def symmetric(x):
    return ops.add(x, ops.transpose(x, (0, 2, 1)))


def definite(x):
    return ops.add(ops.matmul(x, ops.transpose(x, (0, 2, 1))), ops.eye(5))


def triangle(x):
    return ops.add(x, ops.multiply(ops.eye(5), 4.0))


def eigen(x):
    """Vectors have either sign: products with their transpose have one."""
    values, v = ops.eigh(symmetric(x))
    return values, ops.matmul(ops.multiply(v, ops.expand_dims(values, 1)), ops.transpose(v, (0, 2, 1)))


def singular(x, full):
    u, s, v = ops.svd(x, full_matrices=full)
    k = s.shape[-1]
    parts = [ops.matmul(ops.multiply(u[..., :k], ops.expand_dims(s, 1)), v[..., :k, :]), s]
    return parts + ([ops.matmul(u, ops.transpose(u, (0, 2, 1))), ops.matmul(v, ops.transpose(v, (0, 2, 1)))] if full else [])


def linear(c):
    c["ops.linalg"] = [((SQUARE,), lambda x: ops.det(x)), ((SQUARE,), lambda x: ops.slogdet(x)), ((SQUARE,), lambda x: ops.logdet(definite(x)))]
    c["ops.cholesky"] = [((SQUARE,), lambda x, u=u: ops.cholesky(definite(x), u)) for u in (False, True)]
    c["ops.cholesky_inverse"] = [((SQUARE,), lambda x, u=u: ops.linalg.cholesky_inverse(triangle(x), u)) for u in (False, True)]
    c["ops.inv"] = [((SQUARE,), lambda x: ops.inv(triangle(x))), (((2, 3, 4, 4),), lambda x: ops.inv(ops.add(x, ops.eye(4) * 5))), (((1, 1),), lambda x: ops.inv(ops.add(x, 2.0)))]
    c["ops.lu_factor"] = [((s,), lambda x: ops.lu_factor(ops.add(x[0], ops.eye(x.shape[-1])))) for s in ((7, 7), SQUARE, (1, 1))]  # Keras 3.15 fails for several matrices
    c["ops.qr"] = [((s,), lambda x, m=m: ops.qr(x, mode=m)) for s in (SQUARE, SEQ, (4, 6)) for m in ("reduced", "complete")]
    c["ops.solve"] = [((SQUARE, (5, 3)), lambda x, y: ops.solve(triangle(x), y)), ((SQUARE, (5,)), lambda x, y: ops.solve(triangle(x), y))]
    c["ops.solve_triangular"] = [((SQUARE, (5, 3)), lambda x, y, l=l: ops.solve_triangular(triangle(x), y, lower=l)) for l in (False, True)] + [((SQUARE, (5,)), lambda x, y: ops.solve_triangular(triangle(x), y, lower=True))]
    c["ops.eigh"] = [((SQUARE,), eigen), (((6, 6),), eigen), (((1, 1),), eigen)]
    c["ops.svd"] = [((s,), lambda x, f=f: singular(x, f)) for s in (SQUARE, SEQ, (4, 6)) for f in (False, True)] + [((SEQ,), lambda x: ops.svd(x, compute_uv=False))]
    c["ops.matrix_norm"] = [((SEQ,), lambda x, k=k: ops.norm(x, **k)) for k in (dict(ord="nuc", axis=(1, 2)), dict(ord=2, axis=(2, 1)), dict(ord=-2, axis=(1, 2), keepdims=True))]
    c["ops.lstsq"] = [((SEQ,), lambda x: ops.lstsq(x[0], x[1])), ((SEQ, (7,)), lambda x, y: ops.lstsq(x[0], y[1])), ((SEQ,), lambda x: ops.lstsq(x[0], x[1], rcond=0.3))]
    if hasattr(ops.linalg, "pinv"):
        c["ops.pinv"] = [((s,), ops.linalg.pinv) for s in (SQUARE, SEQ, (4, 6))]
        c["ops.matrix_rank"] = [((SEQ,), ops.linalg.matrix_rank), ((SEQ,), lambda x: ops.linalg.matrix_rank(x, tol=2.5)), (((6,),), lambda x: ops.linalg.matrix_rank(ops.outer(x[0], x[0])))]


def products(c):
    c["ops.dot"] = [((SEQ, FLAT), lambda x, y: ops.dot(x, y[0])), ((FLAT,), lambda x: ops.dot(ops.ravel(x), ops.ravel(x))), ((SEQ, (6, 4)), lambda x, y: ops.dot(x, y))]
    c["ops.inner"] = [((SEQ, SEQ), ops.inner), ((FLAT, SEQ), ops.inner), ((FLAT, FLAT), ops.inner)]
    c["ops.vdot"] = [((SEQ, SEQ), ops.vdot), ((FLAT, FLAT), ops.vdot)]
    c["ops.tensordot"] = [((SEQ, SEQ), lambda x, y, a=a: ops.tensordot(x, y, axes=a)) for a in ([[1], [1]], [[1, 2], [1, 2]], [[0], [0]])] + [((SEQ, (6, 4)), lambda x, y: ops.tensordot(x, y, axes=[[2], [1]]))]
    c["ops.kron"] = [((SEQ, (7, 1)), lambda x, y: ops.kron(x[0], y[1])), ((FLAT, FLAT), ops.kron)]
    c["ops.cross"] = [(((5, 3), (5, 3)), lambda x, y: ops.cross(x, y)), (((3, 5), (3, 5)), lambda x, y: ops.cross(x, y, axis=1)), (((5, 2), (5, 3)), lambda x, y: ops.cross(x, y)), (((5, 2), (5, 2)), lambda x, y: ops.cross(x, y))]
    c["ops.cdist"] = [((SEQ, (5, 6)), lambda x, y: ops.cdist(x, y)), ((FLAT, FLAT), lambda x, y: ops.cdist(x, y))]
    c["ops.corrcoef"] = [((FLAT,), ops.corrcoef)]
    c["ops.correlate"] = [((FLAT, (3,)), lambda x, y, m=m: ops.correlate(x[0], y[1], mode=m)) for m in ("valid", "same", "full")]
    c["ops.einsum3"] = [((SEQ, (6, 4)), lambda x, y: ops.einsum("abc,acd->abd", x, y)), ((SEQ,), lambda x: ops.einsum("abc->ca", x)), ((SEQ, (6, 4), (4, 3)), lambda x, y, z: ops.einsum("abc,acd,ade->abe", x, y, z))]


def arrays(c):
    c["ops.append"] = [((SEQ, SEQ), lambda x, y, a=a: ops.append(x, y, axis=a)) for a in (1, -1, None)]
    for name in "hstack vstack dstack".split():
        f = getattr(ops, name)
        c["ops." + name] = [((SEQ, SEQ), lambda x, y, f=f: f([x, y])), ((FLAT, FLAT), lambda x, y, f=f: f([x, y])), ((IMAGE, IMAGE), lambda x, y, f=f: f([x, y]))]
    c["ops.split"] = [((SEQ,), lambda x: ops.array_split(x, 3, axis=1)), ((SEQ,), lambda x: ops.array_split(x, 4, axis=2)), ((SEQ,), lambda x: ops.hsplit(x, 7)), ((SEQ,), lambda x: ops.dsplit(x, 2)), ((SEQ,), lambda x: ops.hsplit(x, [2, 5])), ((SEQ,), lambda x: ops.unstack(x, axis=1)), ((SEQ,), lambda x: ops.unstack(x, 6, axis=-1))]
    c["ops.meshgrid"] = [((FLAT, (3,)), lambda x, y, i=i: ops.meshgrid(x, y, indexing=i)) for i in ("xy", "ij")] + [((FLAT, (3,), (2,)), lambda *x: ops.meshgrid(*x))]
    c["ops.select"] = [((SEQ, SEQ), lambda x, y: ops.select([ops.greater(x, 1), ops.greater(y, 0)], [x, y], 0.5)), ((SEQ,), lambda x: ops.select([ops.greater(x, 0)], [x], 0.0))]
    c["ops.moveaxis"] = [((IMAGE,), lambda x, a=a: ops.moveaxis(x, *a)) for a in ((1, 3), ((1, 2), (2, 1)), (-1, 1))]
    c["ops.flip"] = [((SEQ,), lambda x, f=f: f(x)) for f in (ops.flip, lambda x: ops.flip(x, 1), lambda x: ops.flip(x, (1, 2)), ops.fliplr, ops.flipud)]
    # Keras 3.15 with TensorFlow turns other matrices than square ones by 180 degrees into something else.
    c["ops.rot90"] = [((SQUARE if k == 2 else SEQ,), lambda x, k=k: ops.rot90(x, k, axes=(1, 2))) for k in (0, 1, 2, 3)] + [((SEQ,), lambda x: ops.rot90(x, axes=(2, 1)))]
    c["ops.roll"] = [((SEQ,), lambda x, k=k: ops.roll(x, **k)) for k in (dict(shift=2, axis=1), dict(shift=(1, -2), axis=(1, 2)), dict(shift=3))]
    c["ops.repeat"] = [((SEQ,), lambda x, k=k: ops.repeat(x, **k)) for k in (dict(repeats=2, axis=1), dict(repeats=3, axis=-1), dict(repeats=[1, 0, 2, 1, 1, 3], axis=2), dict(repeats=2))]
    c["ops.tile"] = [((SEQ,), lambda x, k=k: ops.tile(x, k)) for k in ((1, 2, 1), (2, 3), (2, 1, 1, 3))]
    c["ops.broadcast_to"] = [((SEQ,), lambda x: ops.broadcast_to(ops.expand_dims(x, 1), (2, 3, 7, 6))), ((FLAT,), lambda x: ops.broadcast_to(x, (4, 2, 6)))]
    c["ops.pad"] = [((SEQ,), lambda x, k=k: ops.pad(x, **k)) for k in (dict(pad_width=((0, 0), (1, 2), (0, 3))), dict(pad_width=((0, 0), (1, 2), (2, 0)), mode="reflect"), dict(pad_width=((0, 0), (1, 1), (2, 2)), mode="symmetric"), dict(pad_width=((1, 1), (0, 2), (0, 0)), constant_values=2.0))]
    c["ops.full"] = [((SEQ,), lambda x: ops.full_like(x, 3)), ((SEQ,), lambda x: ops.full_like(x, 2.5, dtype="int32")), ((SEQ,), lambda x: ops.zeros_like(x, dtype="bool"))]
    c["ops.linspace"] = [((SEQ, SEQ), lambda x, y, k=k: ops.linspace(x, y, **k)) for k in (dict(num=5), dict(num=4, endpoint=False, axis=-1), dict(num=1))]
    c["ops.logspace"] = [((SEQ, SEQ), lambda x, y, k=k: ops.logspace(x, y, **k)) for k in (dict(num=5), dict(num=4, endpoint=False, base=2.0))]
    c["ops.triangles"] = [((SEQ,), lambda x, f=f, k=k: f(x, k)) for f in (ops.tril, ops.triu) for k in (0, 1, -2)]
    c["ops.diag"] = [((FLAT,), lambda x: ops.diag(ops.ravel(x))), ((FLAT,), lambda x: ops.diag(x, 2)), ((FLAT,), lambda x: ops.diagflat(x, -1))]
    c["ops.diagonal"] = [((SEQ,), lambda x, f=f, k=k: f(x, **k)) for f in (ops.diagonal, ops.trace) for k in (dict(axis1=1, axis2=2), dict(offset=2, axis1=2, axis2=1), dict(offset=-1, axis1=1, axis2=2))]
    c["ops.vander"] = [((FLAT,), lambda x, k=k: ops.vander(ops.ravel(x), **k)) for k in (dict(N=4), dict(N=3, increasing=True))]
    c["ops.slice"] = [((SEQ,), lambda x: ops.slice(x, [0, 1, 2], [2, 3, 4])), ((SEQ,), lambda x: ops.slice(x, ops.argmax(x, axis=1)[0, 0:3] % 2, [1, 2, 3]))]
    c["ops.slice_update"] = [((SEQ, (3, 4)), lambda x, y: ops.slice_update(x, [0, 1, 2], y)), ((SEQ, (3, 4)), lambda x, y: ops.slice_update(x, [0, 6, 0], y))]
    c["ops.scatter"] = [((FLAT,), lambda x: ops.scatter([[0], [2], [1], [2], [5], [0]], x[0], (8,))), ((SEQ,), lambda x: ops.scatter_update(x, [[0, 1, 2], [1, 0, 0]], [5.0, 6.0]))]
    c["ops.unravel_index"] = [((FLAT,), lambda x: ops.unravel_index(ops.ravel(ops.abs(whole(x))), (5, 6)))]
    c["ops.searchsorted"] = [((FLAT,), lambda x, s=s: ops.searchsorted(np.array([-1.0, 0.0, 0.5, 1.0], "float32"), ops.ravel(x), side=s)) for s in ("left", "right")]
    c["ops.digitize"] = [((SEQ,), lambda x: ops.digitize(x, np.array([-1.0, 0.0, 0.5, 1.0]))), ((SEQ,), lambda x: ops.digitize(whole(x), np.array([-1.0, 0.0, 2.0])))]
    c["ops.view"] = [((SEQ,), lambda x: ops.view(x, "int32"))]
    c["ops.multi_hot"] = [((SEQ,), lambda x: ops.multi_hot(ops.abs(whole(x)), 9)), ((FLAT,), lambda x: ops.multi_hot(ops.abs(whole(x)), 5, dtype="int32")), ((SEQ,), lambda x: ops.one_hot(ops.abs(whole(x)), 9, axis=1))]


def networks(c):
    c["ops.batch_norm"] = [((SEQ,), lambda x: ops.batch_normalization(x, np.arange(6.0, dtype="float32"), np.arange(1, 7).astype("float32"), axis=-1)), ((SEQ, FLAT), lambda x, y: ops.batch_normalization(x, y[0], positive(y[0]), axis=2, offset=y[1], scale=y[0], epsilon=0.1))]
    c["ops.layer_norm"] = [((SEQ,), lambda x: ops.layer_normalization(x)), ((SEQ, FLAT), lambda x, y: ops.layer_normalization(x, gamma=y[0], beta=y[1], epsilon=1e-3)), ((SEQ,), lambda x: ops.layer_normalization(x, axis=(1, 2)))]
    c["ops.rms_norm"] = [((SEQ,), lambda x: ops.rms_normalization(x)), ((SEQ, FLAT), lambda x, y: ops.rms_normalization(x, y[0], epsilon=1e-3)), ((SEQ,), lambda x: ops.rms_normalization(x, axis=(1, 2)))]
    c["ops.losses"] = [((SEQ, SEQ), lambda x, y, f=f: f(unit(x), ops.add(unit(y), 0.0))) for f in (ops.binary_crossentropy, ops.categorical_crossentropy)] + [((SEQ, SEQ), lambda x, y, f=f: f(unit(x), y, from_logits=True)) for f in (ops.binary_crossentropy, ops.categorical_crossentropy)]
    c["ops.losses"] += [((SEQ, SEQ), lambda x, y, l=l: ops.sparse_categorical_crossentropy(ops.argmax(x, axis=-1), y if l else ops.add(unit(y), 0.0), from_logits=l)) for l in (False, True)]
    c["ops.psnr"] = [((SEQ, SEQ), lambda x, y: ops.psnr(x, y, 2.0))]
    heads = (5, 4, 3)
    c["ops.attention"] = [((heads, heads, heads), lambda q, k, v, o=o: ops.dot_product_attention(q, k, v, **o)) for o in (dict(), dict(is_causal=True), dict(scale=0.3))] + [((heads, (6, 2, 3), (6, 2, 3)), lambda q, k, v: ops.dot_product_attention(q, k, v)), ((heads, heads, heads, (4, 5, 5)), lambda q, k, v, m: ops.dot_product_attention(q, k, v, bias=m, mask=ops.greater(m, -1.0)))]
    c["ops.blocks"] = [(((8, 6, 8),), lambda x: ops.depth_to_space(x, 2)), (((8, 6, 8),), lambda x: ops.space_to_depth(x, 2)), (((8, 6, 4),), lambda x: ops.depth_to_space(x, 2, data_format="channels_first"))]
    c["ops.unfold"] = [((CHANNELS_FIRST,), lambda x, k=k: ops.nn.unfold(x, **k)) for k in (dict(kernel_size=3), dict(kernel_size=(2, 3), stride=2, padding=1), dict(kernel_size=2, dilation=2))] if hasattr(ops.nn, "unfold") else []
    c["ops.fold"] = [(((4 * 6, 12),), lambda x: ops.nn.fold(x, (4, 5), (2, 2))), (((4 * 9, 16),), lambda x: ops.nn.fold(x, (7, 7), 3, padding=1, stride=2))] if hasattr(ops.nn, "fold") else []


def signals(c):
    c["ops.fft"] = [((FLAT,), lambda x: ops.fft(pair(x))), (((7,),), lambda x: ops.fft(pair(x))), ((SEQ,), lambda x: ops.fft2(pair(x))), ((SEQ,), lambda x: ops.ifft2(pair(x)))]
    c["ops.rfft"] = [((FLAT,), lambda x, k=k: ops.rfft(x, k)) for k in (None, 8, 5)]
    c["ops.irfft"] = [((FLAT,), lambda x, k=k: ops.irfft(pair(x), k)) for k in (None, 7, 16)]
    c["ops.extract_sequences"] = [(((20,),), lambda x: ops.extract_sequences(x, 5, 3)), (((3, 21),), lambda x: ops.extract_sequences(x, 4, 4))]
    angle = np.array([0.9, -0.3, 1.2, 0.25, 1.1, -0.7, 0.01, -0.02], "float32")
    c["ops.affine_transform"] = [(((9, 8, 3),), lambda x, k=k: ops.image.affine_transform(x, angle, **k)) for k in (dict(), dict(interpolation="nearest", fill_mode="reflect"), dict(fill_mode="wrap"), dict(fill_mode="nearest", fill_value=0.5))] + [(((3, 9, 8),), lambda x: ops.image.affine_transform(x, angle, fill_value=0.3, data_format="channels_first"))]
    corners, moved = np.array([[0, 0], [0, 7], [8, 0], [8, 7]], "float32"), np.array([[0.5, 0.3], [1, 6], [7, 1], [8.5, 7.5]], "float32")
    c["ops.perspective_transform"] = [(((9, 8, 3),), lambda x, k=k: ops.image.perspective_transform(x, corners, moved, **k)) for k in (dict(), dict(interpolation="nearest", fill_value=0.5))]
    c["ops.map_coordinates"] = [(((5, 4), (7,)), lambda x, y, k=k: ops.image.map_coordinates(x, ops.stack([y * 0.2, y * 2 + 1.7, y * 1.5 - 0.3]), **k)) for k in (dict(order=1), dict(order=0, fill_mode="nearest"), dict(order=1, fill_mode="wrap"), dict(order=1, fill_mode="reflect"), dict(order=1, fill_value=0.7))]
    c["ops.ssim"] = [(((16, 15, 3), (16, 15, 3)), lambda x, y, k=k: ops.image.ssim(x, y, **k)) for k in (dict(), dict(max_val=2.0, filter_size=7, filter_sigma=1.0), dict(k1=0.02, k2=0.05))]
    c["ops.scale_and_translate"] = [(((9, 8, 3),), lambda x, k=k: ops.image.scale_and_translate(x, (2, 7, 11, 3), np.array([0.8, 1.3], "float32"), np.array([0.4, -0.6], "float32"), (1, 2), **k)) for k in (dict(method="linear"), dict(method="cubic", antialias=False), dict(method="lanczos3"), dict(method="lanczos5"))]
    c["ops.rearrange"] = [(((8, 6, 3),), lambda x, p=p, k=k: ops.rearrange(ops.reshape(x, (2, 8, 6, 3)), p, **k)) for p, k in (("b h w c -> b c (h w)", {}), ("b (h a) (w e) c -> (b h) w (a c e)", dict(a=2, e=3)), ("b h w c -> (c w h b)", {}), ("b (a h) w c -> a b w (h c)", dict(a=4, h=2)))]
    c["ops.gcd"] = [(((6, "int32", 1000), shape), lambda x, y: ops.gcd(x - 500, y)) for shape in ((6, "int32", 100), (1, "int32", 9))]
    c["ops.lcm"] = [(((6, "int32", 1000), shape), lambda x, y: ops.lcm(x, y - 3)) for shape in ((6, "int32", 100), (1, "int32", 9))]
    c["ops.saturate_cast"] = [((SEQ,), lambda x, d=d: ops.saturate_cast(x * 300, d)) for d in ("int8", "uint8", "int32", "float16")] + [(((6, "int32", 1000),), lambda x, d=d: ops.saturate_cast(x - 500, d)) for d in ("int8", "uint8", "int64")]
    c["ops.stft"] = [(((60,),), lambda x, k=k: ops.stft(x, 16, 4, 16, **k)) for k in (dict(), dict(window="hamming", center=False), dict(window=None))] + [(((60,),), lambda x: ops.stft(x, 9, 5, 16))]
    c["ops.istft"] = [(((60,),), lambda x, k=k: ops.istft(ops.stft(x, 16, 4, 16, **k), 16, 4, 16, **k)) for k in (dict(), dict(window="hamming", center=False))] + [(((60,),), lambda x: ops.istft(ops.stft(x, 16, 4, 16), 16, 4, 16, length=50))]


def images(c):
    im = ops.image
    c["image.resize"] = [((RGB,), lambda x, k=k: im.resize(x, **k)) for k in (dict(size=(5, 9)), dict(size=(4, 12), crop_to_aspect_ratio=True), dict(size=(9, 20), pad_to_aspect_ratio=True), dict(size=(12, 5), interpolation="nearest"), dict(size=(4, 12), pad_to_aspect_ratio=True, fill_value=0.5))]
    c["image.colors"] = [((RGB,), lambda x: im.rgb_to_grayscale(x)), ((RGB,), lambda x: im.rgb_to_hsv(unit(x))), ((RGB,), lambda x: im.hsv_to_rgb(unit(x))), (((3, 8, 7),), lambda x: im.rgb_to_grayscale(x, data_format="channels_first"))]
    c["image.borders"] = [((RGB,), lambda x: im.crop_images(x, top_cropping=1, left_cropping=2, target_height=4, target_width=3)), ((RGB,), lambda x: im.crop_images(x, top_cropping=1, left_cropping=2, bottom_cropping=1, right_cropping=2)), ((RGB,), lambda x: im.pad_images(x, 1, 2, target_height=12, target_width=14))]
    c["image.filters"] = [((RGB,), lambda x: im.gaussian_blur(x)), ((RGB,), lambda x: im.gaussian_blur(x, (3, 5), (0.7, 1.5))), ((RGB,), lambda x: im.sobel_edges(x))]
    c["image.patches"] = [((RGB,), lambda x, k=k: im.extract_patches(x, **k)) for k in (dict(size=2), dict(size=(3, 2), strides=1, padding="same"), dict(size=2, strides=1, dilation_rate=2))]


def function_cases(c):
    """All but `linear`."""
    for add in (elementwise, reductions, products, arrays, networks, signals, images):
        add(c)
