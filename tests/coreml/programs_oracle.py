"""What operations of ML programs compute, in NumPy, for those without a value inference in coremltools.
Each function has the operation's own arguments."""
import itertools

import numpy as np


# ---- elements, slices ----

def cumsum(x, axis=0, exclusive=False, reverse=False):
    y = np.flip(x, axis) if reverse else x
    total = np.cumsum(y, axis, dtype=x.dtype)
    if exclusive:
        total = total - y
    return np.flip(total, axis) if reverse else total


def sliding_windows(x, axis, size, stride=1):
    axis %= x.ndim
    count = (x.shape[axis] - size) // stride + 1
    parts = [np.take(x, range(i * stride, i * stride + size), axis) for i in range(count)]
    return np.stack(parts, axis)


def reverse_sequence(x, lengths, seq_axis, batch_axis):
    y = x.copy()
    for b, n in enumerate(lengths):
        at = [slice(None)] * x.ndim
        at[batch_axis], at[seq_axis] = b, slice(0, n)
        part = x[tuple(at)]
        y[tuple(at)] = np.flip(part, seq_axis - (batch_axis < seq_axis))
    return y


def space_to_depth(x, block_size):
    n, c, h, w = x.shape
    b = block_size
    y = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    return y.reshape(n, c * b * b, h // b, w // b)


def depth_to_space(x, block_size):
    n, c, h, w = x.shape
    b = block_size
    y = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    return y.reshape(n, c // (b * b), h * b, w * b)


def pixel_shuffle(x, upscale_factor):
    n, c, h, w = x.shape
    b = upscale_factor
    y = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return y.reshape(n, c // (b * b), h * b, w * b)


def pixel_unshuffle(x, downscale_factor):
    n, c, h, w = x.shape
    b = int(downscale_factor)
    y = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 1, 3, 5, 2, 4)
    return y.reshape(n, c * b * b, h // b, w // b)


def space_to_batch(x, block_shape, paddings):
    x = np.pad(x, [(0, 0), (0, 0)] + [tuple(p) for p in paddings])
    n, c, h, w = x.shape
    a, b = block_shape
    y = x.reshape(n, c, h // a, a, w // b, b).transpose(3, 5, 0, 1, 2, 4)
    return y.reshape(n * a * b, c, h // a, w // b)


def batch_to_space(x, block_shape, crops):
    n, c, h, w = x.shape
    a, b = block_shape
    y = x.reshape(a, b, n // (a * b), c, h, w).transpose(2, 3, 4, 0, 5, 1)
    y = y.reshape(n // (a * b), c, h * a, w * b)
    (t, u), (l, r) = crops
    return y[:, :, t:y.shape[2] - u, l:y.shape[3] - r]


# ---- indices ----

def gather_nd(x, indices, batch_dims=0):
    if batch_dims:
        return np.stack([gather_nd(a, i, batch_dims - 1) for a, i in zip(x, indices)])
    return x[tuple(np.moveaxis(indices, -1, 0))]


def combine(old, new, mode):
    return {'add': old + new, 'sub': old - new, 'mul': old * new, 'div': old / new, 'max': np.maximum(old, new),
            'min': np.minimum(old, new), 'update': new}[mode]


def scatter(data, indices, updates, axis=0, mode='add', **_):
    y, u = np.moveaxis(data.copy(), axis, 0), np.moveaxis(updates, axis, 0)
    for k, i in enumerate(indices):
        y[i] = combine(y[i], u[k], mode)
    return np.moveaxis(y, 0, axis)


def scatter_along_axis(data, indices, updates, axis=0, mode='add', **_):
    y = data.copy()
    for place in np.ndindex(*indices.shape):
        to = list(place)
        to[axis] = indices[place]
        y[tuple(to)] = combine(y[tuple(to)], updates[place], mode)
    return y


def scatter_nd(data, indices, updates, mode='add', **_):
    y = data.copy()
    for place in np.ndindex(*indices.shape[:-1]):
        to = tuple(indices[place])
        y[to] = combine(y[to], updates[place], mode)
    return y


def one_hot(indices, one_hot_vector_size, axis=-1, on_value=np.int32(1), off_value=np.int32(0)):
    y = np.full(indices.shape + (one_hot_vector_size,), off_value)
    y[np.arange(one_hot_vector_size) == indices[..., None]] = on_value
    return np.moveaxis(y, -1, axis)


def overlap(a, b):
    lo = np.maximum(a[:2] - a[2:] / 2, b[:2] - b[2:] / 2)
    hi = np.minimum(a[:2] + a[2:] / 2, b[:2] + b[2:] / 2)
    common = np.prod(np.maximum(hi - lo, 0))
    return common / (np.prod(a[2:]) + np.prod(b[2:]) - common)


def non_maximum_suppression(boxes, scores, iou_threshold, max_boxes, per_class_suppression=False,
                            score_threshold=-np.inf):
    n, _, classes = scores.shape
    out = [np.zeros((n, max_boxes, 4), np.float32), np.zeros((n, max_boxes, classes), np.float32),
           np.full((n, max_boxes), -1, np.int32), np.zeros(n, np.int32)]
    for b in range(n):
        best, kind, chosen = scores[b].max(-1), scores[b].argmax(-1), []
        for i in np.argsort(-best, kind='stable'):
            if best[i] > score_threshold and not any(
                    overlap(boxes[b, i], boxes[b, j]) > iou_threshold for j in chosen
                    if not per_class_suppression or kind[i] == kind[j]):
                chosen.append(i)
        chosen = (chosen or [best.argmax()])[:max_boxes]
        k = len(chosen)
        out[0][b, :k], out[1][b, :k], out[2][b, :k], out[3][b] = boxes[b, chosen], scores[b, chosen], chosen, k
    return out


# ---- windows ----

def padding(size, kernel, stride, dilation, pad_type, pad):
    """[before, after] of each dimension"""
    out = []
    for i, (n, k, s, d) in enumerate(zip(size, kernel, stride, dilation)):
        if pad_type == 'custom':
            out.append(tuple(pad[2 * i:2 * i + 2]))
        elif pad_type == 'valid':
            out.append((0, 0))
        else:
            total = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
            less = total // 2
            out.append((less, total - less) if pad_type == 'same' else (total - less, less))
    return out


def conv(x, weight, bias=None, strides=None, pad_type='valid', pad=None, dilations=None, groups=1):
    m = x.ndim - 2
    s, d, k = strides or [1] * m, dilations or [1] * m, weight.shape[2:]
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0)] + padding(x.shape[2:], k, s, d, pad_type, pad))
    size = [(n - (a - 1) * c - 1) // b + 1 for n, a, b, c in zip(x.shape[2:], k, s, d)]
    y = np.zeros((x.shape[0], weight.shape[0], *size))
    per = weight.shape[0] // groups
    for place in np.ndindex(*k):
        part = x[(slice(None), slice(None)) + tuple(
            slice(p * c, p * c + (n - 1) * b + 1, b) for p, c, n, b in zip(place, d, size, s))]
        for g in range(groups):
            w = weight[(slice(g * per, (g + 1) * per), slice(None)) + place].astype(np.float64)
            c = weight.shape[1]
            y[:, g * per:(g + 1) * per] += np.einsum('mc,nc...->nm...', w, part[:, g * c:(g + 1) * c])
    if bias is not None:
        y += bias.reshape(-1, *[1] * m)
    return y.astype(weight.dtype)


def conv_transpose(x, weight, bias=None, strides=None, pad_type='valid', pad=None, dilations=None, groups=1,
                   output_shape=None):
    m = x.ndim - 2
    s, d, k = strides or [1] * m, dilations or [1] * m, weight.shape[2:]
    full = [(n - 1) * b + (a - 1) * c + 1 for n, a, b, c in zip(x.shape[2:], k, s, d)]
    per, c = weight.shape[1], x.shape[1] // groups
    y = np.zeros((x.shape[0], per * groups, *full))
    for place in np.ndindex(*k):
        to = tuple(slice(p * e, p * e + (n - 1) * b + 1, b) for p, e, n, b in zip(place, d, x.shape[2:], s))
        for g in range(groups):
            w = weight[(slice(g * c, (g + 1) * c), slice(None)) + place]
            y[(slice(None), slice(g * per, (g + 1) * per)) + to] += np.einsum(
                'cm,nc...->nm...', w, x[:, g * c:(g + 1) * c])
    if pad_type == 'same':
        size = [n * b for n, b in zip(x.shape[2:], s)]
        before = [max(0, f - n) // 2 for f, n in zip(full, size)]
    else:
        pad = pad or [0] * (2 * m)
        before = pad[::2]
        size = [f - pad[2 * i] - pad[2 * i + 1] for i, f in enumerate(full)]
        if output_shape is not None:
            size = output_shape[-m:]
    out = np.zeros(y.shape[:2] + tuple(size))
    cut = y[(slice(None), slice(None)) + tuple(slice(b, b + n) for b, n in zip(before, size))]
    out[(slice(None), slice(None)) + tuple(slice(0, n) for n in cut.shape[2:])] = cut
    if bias is not None:
        out += bias.reshape(-1, *[1] * m)
    return out.astype(np.float32)


def pool(x, kernel_sizes, strides, pad_type, pad, ceil_mode, combine):
    m = x.ndim - 2
    s = strides or [1] * m
    p = padding(x.shape[2:], kernel_sizes, s, [1] * m, pad_type, pad)
    size = []
    for n, k, b, (lo, hi) in zip(x.shape[2:], kernel_sizes, s, p):
        o = ((n + lo + hi - k + (b - 1 if ceil_mode else 0)) // b) + 1
        size.append(o - 1 if ceil_mode and (o - 1) * b >= n + lo else o)
    y = np.zeros(x.shape[:2] + tuple(size), x.dtype)
    for place in np.ndindex(*size):
        lo = [o * b - q[0] for o, b, q in zip(place, s, p)]
        hi = [a + k for a, k in zip(lo, kernel_sizes)]
        window = x[(slice(None), slice(None)) + tuple(slice(max(a, 0), min(e, n))
                                                      for a, e, n in zip(lo, hi, x.shape[2:]))]
        # windows reach at most to the end of the padding
        count = np.prod([min(e, n + q[1]) - a for a, e, n, q in zip(lo, hi, x.shape[2:], p)])
        y[(slice(None), slice(None)) + place] = combine(window.reshape(*x.shape[:2], -1), count)
    return y


def avg_pool(x, kernel_sizes, strides=None, pad_type='valid', pad=None, ceil_mode=False,
             exclude_padding_from_average=False):
    return pool(x, kernel_sizes, strides, pad_type, pad, ceil_mode,
                lambda w, n: w.sum(-1) / (w.shape[-1] if exclude_padding_from_average else n))


def max_pool(x, kernel_sizes, strides=None, pad_type='valid', pad=None, ceil_mode=False):
    return pool(x, kernel_sizes, strides, pad_type, pad, ceil_mode, lambda w, n: w.max(-1))


def l2_pool(x, kernel_sizes, strides=None, pad_type='valid', pad=None, ceil_mode=False):
    return pool(x, kernel_sizes, strides, pad_type, pad, ceil_mode, lambda w, n: np.sqrt((w * w).sum(-1)))


# ---- normalizations ----

def channels(v, x, otherwise):
    v = np.full(x.shape[1], otherwise, x.dtype) if v is None else v
    return v.reshape(-1, *[1] * (x.ndim - 2))


def batch_norm(x, mean, variance, gamma=None, beta=None, epsilon=1e-5):
    return (x - channels(mean, x, 0)) / np.sqrt(channels(variance, x, 0) + epsilon) * channels(gamma, x, 1) + \
        channels(beta, x, 0)


def instance_norm(x, gamma=None, beta=None, epsilon=1e-5):
    axes = tuple(range(2, x.ndim))
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)
    return y * channels(gamma, x, 1) + channels(beta, x, 0)


def layer_norm(x, axes, gamma=None, beta=None, epsilon=1e-5):
    axes = tuple(a % x.ndim for a in axes)
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)
    shape = [n if i in axes else 1 for i, n in enumerate(x.shape)]
    y = y if gamma is None else y * gamma.reshape(shape)
    return y if beta is None else y + beta.reshape(shape)


def lrn(x, size, alpha=1e-4, beta=0.75, k=1.0):
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        lo, hi = max(0, c - (size - 1) // 2), min(x.shape[1], c + size // 2 + 1)
        y[:, c] = x[:, c] / (k + alpha / size * (x[:, lo:hi] ** 2).sum(1)) ** beta
    return y


# ---- images ----

def positions(mode, n, m):
    """Where m results lie among n elements."""
    i = np.arange(m, dtype=np.float64)
    if mode == 'STRICT_ALIGN_CORNERS' or mode == 'ALIGN_CORNERS':
        p = i * (n - 1) / (m - 1) if m > 1 else np.array([(n - 1) / 2 if mode == 'ALIGN_CORNERS' else 0.0])
    elif mode == 'DEFAULT':
        p = i * n / m
    elif mode == 'OFFSET_CORNERS':
        p = (i + 0.5) * max(1, n - 1) / m
    else:
        p = (i + 0.5) * n / m - 0.5
    return np.clip(p, 0, n - 1)


def linear(x, p, axis):
    lo = np.floor(p).astype(int)
    hi = np.minimum(lo + 1, x.shape[axis] - 1)
    w = (p - lo).reshape([-1 if k == axis % x.ndim else 1 for k in range(x.ndim)])
    return np.take(x, lo, axis) * (1 - w) + np.take(x, hi, axis) * w


def resize_bilinear(x, target_size_height=1, target_size_width=1, sampling_mode='DEFAULT'):
    y = linear(x, positions(sampling_mode, x.shape[-2], target_size_height), -2)
    return linear(y, positions(sampling_mode, x.shape[-1], target_size_width), -1).astype(np.float32)


def resize_nearest(x, h, w):
    rows = np.floor(np.arange(h) * (x.shape[-2] / h)).astype(int)
    columns = np.floor(np.arange(w) * (x.shape[-1] / w)).astype(int)
    return x[..., rows, :][..., columns]


def upsample_bilinear(x, scale_factor_height=1, scale_factor_width=1, align_corners=True):
    h, w = int(x.shape[-2] * scale_factor_height), int(x.shape[-1] * scale_factor_width)
    return resize_bilinear(x, h, w, 'STRICT_ALIGN_CORNERS' if align_corners else 'UNALIGN_CORNERS')


def box_positions(mode, first, last, m):
    n = last - first + 1
    i = np.arange(m, dtype=np.float64)
    if mode in ('STRICT_ALIGN_CORNERS', 'ALIGN_CORNERS'):
        p = i * (n - 1) / (m - 1) if m > 1 else np.array([(n - 1) / 2 if mode == 'ALIGN_CORNERS' else 0.0])
    elif mode == 'OFFSET_CORNERS':
        p = (i + 0.5) * max(1, n - 1) / m
    else:
        p = i * n / m if mode == 'DEFAULT' else (i + 0.5) * n / m - 0.5
        p = np.clip(p, 0, n - 1)
    return first + p


def crop_resize(x, boxes, box_indices, target_height=1, target_width=1, normalized_coordinates=False,
                spatial_scale=1.0, box_coordinate_mode='CORNERS_HEIGHT_FIRST', sampling_mode='DEFAULT', pad_value=0.0):
    out = []
    h, w = x.shape[2:]
    for box, image in zip(boxes.astype(np.float64) * spatial_scale, box_indices):
        a, b = box[:2], box[2:]
        if box_coordinate_mode.endswith('WIDTH_FIRST'):
            a, b = a[::-1], b[::-1]
        if box_coordinate_mode.startswith('CENTER'):
            a, b = a - b / 2, a + b / 2
        if normalized_coordinates:
            a, b = a * [h - 1, w - 1], b * [h - 1, w - 1]
        rows = box_positions(sampling_mode, a[0], b[0], target_height)
        columns = box_positions(sampling_mode, a[1], b[1], target_width)
        y = linear(linear(x[image], np.clip(rows, 0, h - 1), -2), np.clip(columns, 0, w - 1), -1)
        inside = ((rows >= 0) & (rows <= h - 1))[:, None] & ((columns >= 0) & (columns <= w - 1))
        out.append(np.where(inside, y, pad_value))
    return np.stack(out).astype(np.float32)


def sample(image, row, column, nearest, padding_mode, fill):
    """image [C, H, W] at a position, in elements"""
    def element(i, j):
        at = []
        for k, n in ((i, image.shape[1]), (j, image.shape[2])):
            if padding_mode == 'constant' and not 0 <= k < n:
                return np.full(image.shape[0], fill, np.float64)
            if padding_mode == 'border':
                k = min(max(k, 0), n - 1)
            elif padding_mode == 'symmetric':
                k = k % (2 * n)
                k = k if k < n else 2 * n - 1 - k
            elif padding_mode == 'reflection' and n > 1:
                k = k % (2 * n - 2)
                k = k if k < n else 2 * n - 2 - k
            elif padding_mode == 'reflection':
                k = 0
            at.append(k)
        return image[:, at[0], at[1]].astype(np.float64)
    if nearest:
        return element(int(np.rint(row)), int(np.rint(column)))
    i, j = int(np.floor(row)), int(np.floor(column))
    return sum(element(i + a, j + b) * (row - i if a else 1 - row + i) * (column - j if b else 1 - column + j)
               for a, b in itertools.product((0, 1), (0, 1)))


def resample(x, coordinates, sampling_mode, padding_mode, padding_value, coordinates_mode, align_corners):
    n, c, h, w = x.shape
    y = np.zeros((n, c) + coordinates.shape[1:3], np.float32)
    for b, i, j in np.ndindex(n, *coordinates.shape[1:3]):
        place = []
        for v, size in zip(coordinates[b, i, j].astype(np.float64), (w, h)):
            if coordinates_mode == 'normalized_minus_one_to_one':
                v = (v + 1) / 2
            if coordinates_mode != 'unnormalized':
                v = v * (size - 1) if align_corners else v * size - 0.5
            place.append(v)
        y[b, :, i, j] = sample(x[b], place[1], place[0], sampling_mode == 'nearest', padding_mode, padding_value)
    return y


def affine(x, transform_matrix, output_height, output_width, padding_value=0, **_):
    n, c, h, w = x.shape
    y = np.zeros((n, c, output_height, output_width), np.float32)
    for b, i, j in np.ndindex(n, output_height, output_width):
        u = -1 + 2 * j / (output_width - 1) if output_width > 1 else -1
        v = -1 + 2 * i / (output_height - 1) if output_height > 1 else -1
        m = transform_matrix[b].astype(np.float64)
        column, row = m[0] * u + m[1] * v + m[2], m[3] * u + m[4] * v + m[5]
        y[b, :, i, j] = sample(x[b], (row + 1) / 2 * (h - 1), (column + 1) / 2 * (w - 1), False, 'constant',
                               padding_value)
    return y


# ---- recurrent layers ----

ACTIVATIONS = {'tanh': np.tanh, 'sigmoid': lambda x: 1 / (1 + np.exp(-x)), 'relu': lambda x: np.maximum(x, 0),
               'linear': lambda x: x, 'hard_sigmoid': lambda x: np.clip(0.2 * x + 0.5, 0, 1)}


def steps(x, direction, step, sequence):
    """Results in the order in which the steps are processed."""
    every = [step(v) for v in (x[::-1] if direction == 'reverse' else x)]
    return np.stack(every if sequence else every[-1:])


def rnn(x, initial_h, weight_ih, weight_hh, bias, direction, output_sequence, activation):
    h = initial_h

    def step(v):
        nonlocal h
        h = ACTIVATIONS[activation](v @ weight_ih.T + h @ weight_hh.T + bias)
        return h
    y = steps(x, direction, step, output_sequence)
    return [y, h]


def gru(x, initial_h, weight_ih, weight_hh, bias, output_sequence, direction='forward', activation='tanh',
        recurrent_activation='sigmoid', reset_after=False, input_bias=None):
    h = initial_h
    (wr, wo, wz), (rr, ro, rz), (br, bo, bz) = (np.split(v, 3) for v in (weight_ih, weight_hh, bias))
    ir, io, iz = (0, 0, 0) if input_bias is None else np.split(input_bias, 3)
    gate, act = ACTIVATIONS[recurrent_activation], ACTIVATIONS[activation]

    def step(v):
        nonlocal h
        r = gate(v @ wr.T + ir + h @ rr.T + br)
        z = gate(v @ wz.T + iz + h @ rz.T + bz)
        o = act(v @ wo.T + io + r * (h @ ro.T + bo)) if reset_after else act(v @ wo.T + io + (r * h) @ ro.T + bo)
        h = (1 - z) * o + z * h
        return h
    y = steps(x, direction, step, output_sequence)
    return [y, h]


def lstm_one(x, h, c, w, r, bias, peephole, direction, sequence, acts):
    gate, cell, hidden = (ACTIVATIONS[a] for a in acts)
    bias = np.zeros(w.shape[0]) if bias is None else bias
    pi, pf, po = np.split(np.zeros(3 * r.shape[1]) if peephole is None else peephole, 3)

    def step(v):
        nonlocal h, c
        i, f, o, g = np.split(v @ w.T + h @ r.T + bias, 4, -1)
        c = gate(f + c * pf) * c + gate(i + c * pi) * cell(g)
        h = gate(o + c * po) * hidden(c)
        return h
    y = steps(x, direction, step, sequence)
    return y, h, c


def lstm(x, initial_h, initial_c, weight_ih, weight_hh, bias=None, peephole=None, weight_ih_back=None,
         weight_hh_back=None, bias_back=None, peephole_back=None, direction='forward', output_sequence=False,
         recurrent_activation='sigmoid', cell_activation='tanh', activation='tanh'):
    acts = (recurrent_activation, cell_activation, activation)
    if direction != 'bidirectional':
        return list(lstm_one(x, initial_h, initial_c, weight_ih, weight_hh, bias, peephole, direction,
                             output_sequence, acts))
    units = weight_hh.shape[1]
    a = lstm_one(x, initial_h[:, :units], initial_c[:, :units], weight_ih, weight_hh, bias, peephole, 'forward',
                 output_sequence, acts)
    b = lstm_one(x, initial_h[:, units:], initial_c[:, units:], weight_ih_back, weight_hh_back, bias_back,
                 peephole_back, 'reverse', output_sequence, acts)
    return [np.concatenate([a[0], b[0][::-1]], -1), np.concatenate([a[1], b[1]], -1), np.concatenate([a[2], b[2]], -1)]


# ---- weights of few bits ----

def along(v, x, axis):
    v = np.asarray(v)
    return v if v.ndim == 0 else v.reshape([-1 if k == axis % x.ndim else 1 for k in range(x.ndim)])


def quantize(input, scale, output_dtype, zero_point=0, axis=0):
    info = np.iinfo(output_dtype)
    y = np.rint(input / along(scale, input, axis)) + along(zero_point, input, axis).astype(np.float32)
    return np.clip(y, info.min, info.max).astype(output_dtype)


def dequantize(input, scale, zero_point=0, axis=0):
    return (input.astype(np.float32) - along(zero_point, input, axis).astype(np.float32)) * along(scale, input, axis)


def blockwise(data, scale, offset):
    data = data.astype(scale.dtype)
    offset = offset.astype(scale.dtype)
    for axis, (n, m) in enumerate(zip(data.shape, scale.shape)):
        scale, offset = np.repeat(scale, n // m, axis), np.repeat(offset, n // m, axis)
    return (data - offset) * scale


def lut(indices, lut, vector_axis=None):
    entries, vector = lut.shape[-2:]
    for axis, (n, m) in enumerate(zip(indices.shape, lut.shape)):
        lut = np.repeat(lut, n // m, axis)
    y = np.empty(indices.shape + (vector,), lut.dtype)
    for place in np.ndindex(*indices.shape):
        y[place] = lut[place][int(indices[place])]
    if vector_axis is None:
        return y[..., 0]
    y = np.moveaxis(y, -1, vector_axis + 1)
    shape = list(indices.shape)
    shape[vector_axis] *= vector
    return y.reshape(shape)
