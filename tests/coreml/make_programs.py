"""Makes ML programs, one or more for each operation, with the outputs that they must have.

    python tests/coreml/make_programs.py            writes tests/coreml/programs.tar.xz
    python tests/coreml/make_programs.py gather     the cases of an operation alone, to programs.tar.xz here
    python tests/coreml/make_programs.py models     writes tests/coreml/models.tar.xz: states, a classifier

Needs coremltools 9. What an operation computes is said by its own value inference in coremltools
("MIL"), or by the functions of programs_oracle.py where it has none. Operands are inputs of the
programs, so that nothing is folded.
"""
import io
import json
import logging
import os
import sys
import tarfile
import tempfile
import warnings

import numpy as np

warnings.filterwarnings('ignore')
logging.disable(logging.CRITICAL)
os.environ['TQDM_DISABLE'] = '1'

import coremltools as ct  # noqa: E402
from coremltools.converters.mil.mil import Builder as mb  # noqa: E402
from coremltools.converters.mil.mil import Function, types  # noqa: E402

import programs_oracle as oracle  # noqa: E402

TARGET = {5: ct.target.iOS15, 6: ct.target.iOS16, 7: ct.target.iOS17, 8: ct.target.iOS18}
BUILTIN = {'float32': types.fp32, 'float16': types.fp16, 'int32': types.int32, 'bool': types.bool,
           'int8': types.int8, 'uint8': types.uint8, 'int16': types.int16, 'uint16': types.uint16}
rng = np.random.default_rng(5)
CASES = []


def real(*shape, lo=-2.0, hi=2.0, dtype=np.float32):
    return rng.uniform(lo, hi, shape).astype(dtype)


def half(*shape, lo=-2.0, hi=2.0):
    return real(*shape, lo=lo, hi=hi, dtype=np.float16)


def whole(*shape, lo=-9, hi=9):
    return rng.integers(lo, hi, shape, endpoint=True).astype(np.int32)


def flags(*shape):
    return rng.integers(0, 1, shape, endpoint=True).astype(bool)


class Case:
    """An operation, its operands (inputs of the program; a list is a variadic operand), its constant
    arguments, the opset, and how its results are found: None is MIL's value inference."""

    def __init__(self, op, operands, constants=None, opset=8, by=None, build=None):
        self.op, self.operands, self.constants = op, operands, dict(constants or {})
        self.opset, self.by, self.build = opset, by, build

    def flat(self):
        for name, value in self.operands.items():
            if isinstance(value, (list, tuple)):
                for k, item in enumerate(value):
                    yield '%s_%d' % (name, k), np.asarray(item)
            else:
                yield name, np.asarray(value)

    def call(self, give):
        """Builds the operation; give(name, value) makes an operand."""
        if self.build:
            return self.build({k: give(k, v) for k, v in self.flat()})
        args = {}
        for name, value in self.operands.items():
            if isinstance(value, (list, tuple)):
                args[name] = [give('%s_%d' % (name, k), v) for k, v in enumerate(value)]
            else:
                args[name] = give(name, value)
        return getattr(mb, self.op)(**args, **self.constants)

    def program(self):
        specs, kinds = [], {}
        for name, value in self.flat():
            kinds[name] = value.dtype.name
            carried = value.dtype.name if value.dtype.name in ('float32', 'float16', 'int32') else 'int32'
            specs.append((name, mb.TensorSpec(shape=value.shape, dtype=BUILTIN[carried])))

        def body(*given):
            values = {name: v for (name, _), v in zip(specs, given)}

            def give(name, value):
                v = values[name]
                kind = kinds[name]
                return v if kind in ('float32', 'float16', 'int32') else mb.cast(x=v, dtype=kind)
            out = self.call(give)
            out = list(out) if isinstance(out, (tuple, list)) else [out]
            out = [o if o.dtype in (types.fp32, types.fp16, types.int32) else mb.cast(x=o, dtype='int32')
                   for o in out]
            out = [mb.identity(x=o, name='y%d' % k) for k, o in enumerate(out)]
            return tuple(out) if len(out) > 1 else out[0]
        names = [n for n, _ in specs]
        scope = {'body': body}
        exec('def function(%s):\n  return body(%s)' % (', '.join(names), ', '.join(names)), scope)
        return mb.program(input_specs=[s for _, s in specs],
                          opset_version=TARGET[self.opset])(scope['function'])

    def inputs(self):
        return [v.astype(np.int32) if v.dtype.name not in ('float32', 'float16', 'int32') else v
                for _, v in self.flat()]

    def expected(self):
        if self.by is not None:
            out = self.by(**self.operands, **self.constants)
        else:
            with Function({}, opset_version=TARGET[self.opset]):
                out = self.call(lambda name, value: mb.const(val=value))
                out = [o.val for o in (out if isinstance(out, (tuple, list)) else [out])]
            if any(o is None for o in out):
                raise ValueError('MIL does not say what %s computes' % self.op)
        out = list(out) if isinstance(out, (tuple, list)) else [out]
        return [np.asarray(o) for o in out]


def case(op, *args, **kwargs):
    CASES.append(Case(op, *args, **kwargs))


# ---- elements ----

def elementwise():
    everywhere = 'abs ceil cos cosh erf exp exp2 floor relu relu6 round sign sigmoid sin sinh softplus softsign ' \
                 'square tan tanh atan'.split()
    for op in everywhere:
        case(op, {'x': real(2, 3, 4, lo=-3, hi=3)})
        case(op, {'x': real(7, lo=-1, hi=1)})
        case(op, {'x': half(3, 5)})
    for op in ['acos', 'asin', 'atanh']:
        for x in (real(2, 3, lo=-0.9, hi=0.9), real(4, lo=-0.5, hi=0.5), half(3, lo=-0.9, hi=0.9)):
            case(op, {'x': x})
    case('sqrt', {'x': real(3, 4, lo=0, hi=9)})
    case('sqrt', {'x': half(5, lo=0, hi=9)})
    case('sqrt', {'x': real(1, lo=4, hi=5)})
    for op in ['abs', 'sign', 'square']:
        case(op, {'x': whole(3, 4)})
    case('silu', {'x': real(2, 5)}, by=lambda x: x / (1 + np.exp(-x)))
    case('silu', {'x': half(6)}, by=lambda x: x / (1 + np.exp(-x)))
    case('silu', {'x': real(2, 3, 4, 5, lo=-8, hi=8)}, by=lambda x: x / (1 + np.exp(-x)))
    for x in (flags(3, 4), flags(5), flags(2, 2, 2)):
        case('logical_not', {'x': x})
    case('log', {'x': real(3, 4, lo=0.1, hi=5)})
    case('log', {'x': real(5, lo=0.1, hi=5)}, {'epsilon': np.float32(0.5)})
    case('log', {'x': half(4, lo=1, hi=5)}, {'epsilon': np.float16(0.25)})
    for op in ['rsqrt', 'inverse']:
        case(op, {'x': real(3, 4, lo=0.5, hi=5)})
        case(op, {'x': real(5, lo=0.5, hi=5)}, {'epsilon': np.float32(0.5)})
        case(op, {'x': half(4, lo=1, hi=5)}, {'epsilon': np.float16(0.25)})
    case('clip', {'x': real(3, 4)}, {'alpha': np.float32(-0.5), 'beta': np.float32(0.75)})
    case('clip', {'x': half(9)}, {'alpha': np.float16(-1), 'beta': np.float16(1)})
    case('clip', {'x': real(2, 2, 3)}, {'alpha': np.float32(0), 'beta': np.float32(6)})
    case('threshold', {'x': real(3, 4)}, {'alpha': np.float32(-0.5)})
    case('threshold', {'x': half(9)}, {'alpha': np.float16(0.5)})
    case('threshold', {'x': whole(9)}, {'alpha': np.int32(2)})
    for source in (real(3, 4, lo=-9, hi=9), half(5, lo=-9, hi=9), whole(4), flags(6)):
        for to in ('int32', 'fp16', 'fp32', 'bool'):
            case('cast', {'x': source}, {'dtype': to})
    for to in ('int8', 'uint8', 'int16', 'uint16'):
        case('cast', {'x': whole(6, lo=0, hi=100)}, {'dtype': to})
    for op in 'add sub mul real_div maximum minimum equal not_equal less less_equal greater greater_equal'.split():
        case(op, {'x': real(2, 3, 4), 'y': real(3, 1)})
        case(op, {'x': half(3, 4), 'y': half(4)})
        case(op, {'x': real(5), 'y': real(2, 1, 5)})
        if op != 'real_div':
            case(op, {'x': whole(3, 4, lo=-2, hi=2), 'y': whole(4, lo=-2, hi=2)})
    for op in ['floor_div', 'mod']:
        case(op, {'x': real(3, 4, lo=-9, hi=9), 'y': real(4, lo=0.7, hi=2)})
        case(op, {'x': real(6, lo=-9, hi=9), 'y': real(6, lo=-3, hi=-1)})
        case(op, {'x': whole(3, 4, lo=-20, hi=20), 'y': whole(4, lo=1, hi=5)})
        case(op, {'x': whole(6, lo=-20, hi=20), 'y': whole(6, lo=-5, hi=-1)})
    case('real_div', {'x': whole(6, lo=1, hi=20) * 12, 'y': np.array([1, 2, 3, 4, 6, 12], np.int32)},
         by=lambda x, y: x // y)
    case('pow', {'x': real(3, 4, lo=0.1, hi=3), 'y': real(4)})
    case('pow', {'x': real(5, lo=-3, hi=3), 'y': np.array([0, 1, 2, 3, -2], np.float32)})
    case('pow', {'x': half(4, lo=0.5, hi=2), 'y': half(3, 4)})
    for op in ['logical_and', 'logical_or', 'logical_xor']:
        for shapes in (((3, 4), (3, 4)), ((2, 3), (3,)), ((4,), (2, 1))):
            case(op, {'x': flags(*shapes[0]), 'y': flags(*shapes[1])})
    for shapes in (((3, 4), (3, 4)), ((3, 1), (1, 4)), ((2, 3, 4), (4,))):
        case('select', {'cond': flags(*np.broadcast_shapes(*shapes)), 'a': real(*np.broadcast_shapes(*shapes)),
                        'b': real(*np.broadcast_shapes(*shapes))})


def activations():
    f = np.float32
    case('clamped_relu', {'x': real(3, 4)}, {'alpha': f(0.5), 'beta': f(1)})
    case('clamped_relu', {'x': half(9)}, {'alpha': np.float16(0.25), 'beta': np.float16(1.5)})
    case('clamped_relu', {'x': real(2, 3, 4, lo=-9, hi=9)}, {'alpha': f(0.1), 'beta': f(6)})
    for op, numbers in [('elu', [1, 0.5, 2]), ('leaky_relu', [0.1, 0.5, 0]), ('thresholded_relu', [0.5, 1, 0])]:
        for alpha in numbers:
            case(op, {'x': real(3, 5)}, {'alpha': f(alpha)})
        case(op, {'x': half(7)}, {'alpha': np.float16(0.5)})
    for op in ['linear_activation', 'scaled_tanh', 'sigmoid_hard']:
        for alpha, beta in ((0.2, 0.5), (1.5, -0.25), (1.7159, 0.6667)):
            case(op, {'x': real(3, 5)}, {'alpha': f(alpha), 'beta': f(beta)})
        case(op, {'x': half(7)}, {'alpha': np.float16(0.5), 'beta': np.float16(0.25)})
    for mode in ('EXACT', 'TANH_APPROXIMATION', 'SIGMOID_APPROXIMATION'):
        case('gelu', {'x': real(3, 5, lo=-4, hi=4)}, {'mode': mode})
    case('gelu', {'x': real(4)})
    for shape in ((2, 3, 4), (1, 3, 2, 2), (1, 2, 2, 2, 3)):
        same = len(shape) != 4
        alpha = real(shape[1], lo=0.1, hi=1) if not same else np.full(shape[1], 0.25, f)
        case('prelu', {'x': real(*shape)}, {'alpha': alpha})
        case('softplus_parametric', {'x': real(*shape)}, {'alpha': alpha, 'beta': alpha * 2})
    for shape, axis in (((3, 4), -1), ((2, 3, 4), 1), ((5,), 0), ((2, 3, 4, 2), -3)):
        case('softmax', {'x': real(*shape)}, {'axis': axis})
    case('softmax', {'x': half(3, 4)}, {'axis': 0})
    for value in (f(1.5), np.int32(3), np.float16(0.5)):
        case('fill', {'x': real(2, 3)}, by=lambda x, value=value: np.full(x.shape, value),
             build=lambda v, value=value: mb.fill(shape=mb.shape(x=v['x']), value=value))
        case('fill_like', {'ref_tensor': real(2, 3)}, {'value': value})


def reductions():
    for op in 'sum mean max min l1_norm l2_norm log_sum_exp prod sum_square'.split():
        op = 'reduce_' + op
        for axes, keep in (([0], False), ([1, 2], True), ([-1], True), (None, False)):
            case(op, {'x': real(2, 3, 4)}, {'axes': axes, 'keep_dims': keep} if axes else {'keep_dims': keep})
        case(op, {'x': half(3, 4)}, {'axes': [1]})
    for op in 'sum max min prod sum_square l1_norm'.split():
        case('reduce_' + op, {'x': whole(3, 4, lo=-3, hi=3)}, {'axes': [1]})
    for axes in ([0], [1, 2], [-1]):
        case('reduce_log_sum', {'x': real(2, 3, 4, lo=0.1, hi=2)}, {'axes': axes})
    for op in ['reduce_argmax', 'reduce_argmin']:
        for axis, keep in ((0, False), (1, True), (-1, False)):
            case(op, {'x': real(2, 3, 4)}, {'axis': axis, 'keep_dims': keep})
        case(op, {'x': whole(3, 9)}, {'axis': 1, 'output_dtype': 'uint16'})
    for axis, exclusive, reverse in ((0, False, False), (1, True, False), (-1, False, True), (2, True, True)):
        case('cumsum', {'x': real(2, 3, 4)}, {'axis': axis, 'exclusive': exclusive, 'reverse': reverse},
             by=oracle.cumsum)
    case('cumsum', {'x': whole(6)}, by=oracle.cumsum)
    for axis, k, ascending in ((-1, 2, False), (0, 1, True), (1, 3, False)):
        case('topk', {'x': real(3, 4, 5)}, {'k': k, 'axis': axis, 'ascending': ascending})
    case('topk', {'x': real(3, 7)}, {'k': 3, 'return_indices': False})
    case('topk', {'x': real(3, 7)}, {'k': 3, 'output_indices_dtype': 'uint16'})
    for axis, ascending in ((-1, False), (0, True), (1, False)):
        case('argsort', {'x': real(3, 4, 5)}, {'axis': axis, 'ascending': ascending})


# ---- shapes ----

def shapes():
    for shape in ((2, 3), (4,), (1, 2, 3, 4)):
        case('shape', {'x': real(*shape)}, by=lambda x: np.array(x.shape, np.int32))
        case('identity', {'x': real(*shape)})
    for shape, to in (((2, 6), [3, 4]), ((2, 3, 4), [-1]), ((2, 3, 4), [2, -1, 2]), ((2, 3, 4), [0, -1, 2])):
        case('reshape', {'x': real(*shape)}, {'shape': to})
    case('reshape_like', {'x': real(6, 4), 'ref_tensors': [real(2, 3, 9), real(4, 7)]},
         {'begins': [0, 0], 'ends': [2, 1], 'end_masks': [False, False]}, by=lambda x, **k: x.reshape(2, 3, 4))
    case('reshape_like', {'x': real(24), 'ref_tensors': [real(2, 3), real(9, 4)]},
         {'begins': [0, 1], 'ends': [0, 0], 'end_masks': [True, True]}, by=lambda x, **k: x.reshape(2, 3, 4))
    case('reshape_like', {'x': real(3, 8), 'ref_tensors': [real(5, 24, 2)]},
         {'begins': [-2], 'ends': [-1], 'end_masks': [False]}, by=lambda x, **k: x.reshape(24))
    for shape, axis in (((2, 3, 4), 1), ((2, 3, 4), -1), ((2, 3, 4), 2)):
        case('flatten2d', {'x': real(*shape)}, {'axis': axis})
    for shape, axes in (((2, 3), [0]), ((2, 3), [1, -1]), ((4,), [0, 2])):
        case('expand_dims', {'x': real(*shape)}, {'axes': axes})
    for shape, axes in (((1, 3, 1), [0]), ((1, 3, 1), [-1]), ((2, 1, 1, 3), [1, 2])):
        case('squeeze', {'x': real(*shape)}, {'axes': axes})
    case('squeeze', {'x': real(1, 3, 1)})
    for shape, perm in (((2, 3), [1, 0]), ((2, 3, 4), [2, 0, 1]), ((1, 2, 3, 4), [0, -1, 1, 2])):
        case('transpose', {'x': real(*shape)}, {'perm': perm})
    for shape, block in (((1, 2, 4, 6), 2), ((2, 3, 3, 3), 3), ((1, 1, 4, 4), 4)):
        case('space_to_depth', {'x': real(*shape)}, {'block_size': block}, by=oracle.space_to_depth)
        case('pixel_unshuffle', {'x': real(*shape)}, {'downscale_factor': np.uint32(block)},
             by=oracle.pixel_unshuffle)
        n, c, h, w = shape
        x = real(n, c * block * block, h, w)
        case('depth_to_space', {'x': x}, {'block_size': block}, by=oracle.depth_to_space)
        case('pixel_shuffle', {'x': x}, {'upscale_factor': block}, by=oracle.pixel_shuffle)
    for block, pads in (([2, 2], [[0, 0], [0, 0]]), ([2, 3], [[1, 1], [0, 2]]), ([1, 2], [[0, 0], [1, 1]])):
        case('space_to_batch', {'x': real(1, 2, 4, 4)}, {'block_shape': block, 'paddings': pads},
             by=oracle.space_to_batch)
        case('batch_to_space', {'x': real(12, 2, 3, 3)}, {'block_shape': block, 'crops': pads},
             by=oracle.batch_to_space)
    for axis in (0, 1):
        case('concat', {'values': [real(2, 3), real(2, 3), real(2, 3)]}, {'axis': axis})
    for axis in (-1, 0):  # MIL's value inference does not interleave
        case('concat', {'values': [real(2, 3), real(2, 3), real(2, 3)]}, {'axis': axis, 'interleave': True},
             by=lambda values, axis, interleave: np.stack(values, 2 if axis else 1).reshape(
                 (2, 9) if axis else (6, 3)))
    case('concat', {'values': [real(2, 3), real(5, 3)]}, {'axis': 0})
    for axis in (0, 1, -1):
        case('stack', {'values': [real(2, 3), real(2, 3)]}, {'axis': axis})
    case('split', {'x': real(6, 4)}, {'num_splits': 3, 'axis': 0})
    case('split', {'x': real(6, 4)}, {'split_sizes': [1, 3], 'axis': -1})
    case('split', {'x': real(2, 6, 4)}, {'num_splits': 2, 'split_sizes': [2, 4], 'axis': 1})
    for shape, reps in (((2, 3), [2, 1]), ((3,), [4]), ((1, 2, 3), [2, 2, 2])):
        case('tile', {'x': real(*shape)}, {'reps': reps})
    for pad, mode in (([1, 2], 'constant'), ([1, 1, 0, 2], 'reflect'), ([2, 1, 1, 3], 'replicate')):
        case('pad', {'x': real(2, 4, 5)}, {'pad': pad, 'mode': mode})
    case('pad', {'x': real(2, 3)}, {'pad': [1, 0, 0, 1], 'constant_val': np.float32(7)})
    for lower, upper in ((0, -1), (-1, 0), (1, 2), (0, 0)):
        case('band_part', {'x': real(2, 4, 5)}, {'lower': lower, 'upper': upper})
    for axes in ([0], [1, -1], None):
        case('reverse', {'x': real(2, 3, 4)}, {'axes': axes} if axes else {})
    case('reverse_sequence', {'x': real(4, 3), 'lengths': np.array([1, 4, 2], np.int32)},
         {'seq_axis': 0, 'batch_axis': 1}, by=oracle.reverse_sequence)
    case('reverse_sequence', {'x': real(3, 2, 5), 'lengths': np.array([5, 3, 2], np.int32)},
         {'seq_axis': 2, 'batch_axis': 0}, by=oracle.reverse_sequence)
    case('reverse_sequence', {'x': real(2, 4, 2), 'lengths': np.array([3, 1], np.int32)},
         {'seq_axis': 1, 'batch_axis': 0}, by=oracle.reverse_sequence)
    for start, end, step in ((0, 7, 1), (2, 9, 3), (5, 0, -2)):
        case('range_1d', {'x': real(end if end else 3)}, by=lambda x, a=(start, end, step): np.arange(*a).astype(np.int32),
             build=lambda v, a=(start, end, step): mb.add(
                 x=mb.range_1d(start=a[0], end=a[1], step=a[2]),
                 y=mb.cast(x=mb.mul(x=mb.reduce_sum(x=v['x'], axes=[0]), y=np.float32(0)), dtype='int32')))


def slices():
    for begin, end, more in (([0, 1], [2, 3], {}), ([1, -3], [3, -1], {}),
                             ([0, 3], [3, 0], {'stride': [1, -1]}),
                             ([0, 0], [2, 4], {'stride': [2, 2]}),
                             ([1, 2], [0, 0], {'end_mask': [True, True]}),
                             ([0, 2], [2, 3], {'begin_mask': [True, False], 'squeeze_mask': [False, True]}),
                             ([1, 0], [2, 2], {'squeeze_mask': [True, False]})):
        case('slice_by_index', {'x': real(3, 4)}, {'begin': begin, 'end': end, **more})
    case('slice_by_index', {'x': real(3, 4), 'i': np.array([2], np.int32)}, by=lambda x, i: x[i[0]],
         build=lambda v: mb.slice_by_index(
             x=v['x'], begin=mb.concat(values=[v['i'], np.array([0], np.int32)], axis=0),
             end=np.array([0, 0], np.int32), squeeze_mask=[True, False], end_mask=[False, True]))
    for begin, size in (([0, 1], [2, 2]), ([1, 0], [-1, 3]), ([2, -2], [1, -1])):
        case('slice_by_size', {'x': real(3, 4)}, {'begin': begin, 'size': size})
    case('slice_by_size', {'x': real(3, 4), 'begin': np.array([1, 2], np.int32)}, {'size': [2, 1]},
         by=lambda x, begin, size: x[1:3, 2:3])
    for begin, end, more in (([0, 1], [2, 3], {}), ([1, 0], [3, 4], {'stride': [1, 2]}),
                             ([0, 0], [0, 2], {'end_mask': [True, False]}),
                             ([1, 0], [2, 4], {'squeeze_mask': [True, False]})):
        x = real(3, 4)
        if 'squeeze_mask' in more:
            u = real(4)
        else:
            rows = range(3)[slice(begin[0], None if more.get('end_mask', [0])[0] else end[0], more.get('stride', [1])[0])]
            columns = range(4)[slice(begin[1], end[1], more.get('stride', [1, 1])[1])]
            u = real(len(rows), len(columns))
        case('slice_update', {'x': x, 'update': u}, {'begin': begin, 'end': end, **more})
    case('slice_update', {'x': real(3, 4), 'update': real(1, 4), 'begin': np.array([2, 0], np.int32),
                          'end': np.array([3, 4], np.int32)},
         by=lambda x, update, begin, end: np.concatenate([x[:2], update]))
    for axis, size, stride in ((1, 2, 1), (0, 3, 2), (-1, 2, 2)):
        case('sliding_windows', {'x': real(5, 6)}, {'axis': axis, 'size': size, 'stride': stride},
             by=oracle.sliding_windows)


def indices():
    i = np.array
    for op5 in (5, 6, 8):
        case('gather', {'x': real(4, 3), 'indices': i([2, 0, 3], np.int32)}, {'axis': 0}, opset=op5)
    case('gather', {'x': real(4, 3), 'indices': i([[2, 0], [1, 1]], np.int32)}, {'axis': 1})
    case('gather', {'x': real(4, 3), 'indices': i([1], np.int32)}, by=lambda x, indices: x[:, 1],
         build=lambda v: mb.gather(x=v['x'], indices=mb.squeeze(x=v['indices']), axis=-1))
    case('gather', {'x': real(2, 4, 3), 'indices': i([[2, 0], [1, 3]], np.int32)}, {'axis': 1, 'batch_dims': 1},
         by=lambda x, indices, **k: np.stack([x[b][indices[b]] for b in range(2)]))
    case('gather', {'x': whole(4, 3), 'indices': i([-1, 0], np.int32)}, {'axis': 0}, opset=5)
    for axis in (0, 1, -1):
        case('gather_along_axis', {'x': real(3, 4), 'indices': whole(3, 4, lo=0, hi=2)}, {'axis': axis})
    case('gather_nd', {'x': real(3, 4), 'indices': i([[0, 1], [2, 3]], np.int32)}, by=oracle.gather_nd)
    case('gather_nd', {'x': real(3, 4, 2), 'indices': i([[1], [0]], np.int32)}, by=oracle.gather_nd)
    case('gather_nd', {'x': real(2, 4, 3), 'indices': i([[[1], [0]], [[3], [2]]], np.int32)}, {'batch_dims': 1},
         by=oracle.gather_nd)
    for mode in 'add div max min mul sub update'.split():
        case('scatter', {'data': real(4, 3), 'indices': i([2, 0], np.int32), 'updates': real(2, 3, lo=1, hi=2)},
             {'axis': 0, 'mode': mode}, by=oracle.scatter)
        case('scatter_along_axis', {'data': real(2, 4), 'indices': i([[0, 2, 1], [3, 1, 0]], np.int32),
                                    'updates': real(2, 3, lo=1, hi=2)}, {'axis': 1, 'mode': mode},
             by=oracle.scatter_along_axis)
        case('scatter_nd', {'data': real(3, 4), 'indices': i([[0, 1], [2, 3]], np.int32),
                            'updates': real(2, lo=1, hi=2)}, {'mode': mode}, by=oracle.scatter_nd)
    case('scatter', {'data': whole(3, 5), 'indices': i([4, 1, 4], np.int32), 'updates': whole(3, 3)},
         {'axis': 1, 'mode': 'add'}, by=oracle.scatter)
    case('scatter_nd', {'data': real(3, 4), 'indices': i([[2], [0]], np.int32), 'updates': real(2, 4)},
         {'mode': 'update', 'validate_indices': True}, by=oracle.scatter_nd)
    for axis in (-1, 0, 1):
        case('one_hot', {'indices': whole(2, 3, lo=0, hi=3)}, {'one_hot_vector_size': 4, 'axis': axis},
             by=oracle.one_hot)
    case('one_hot', {'indices': i([0, -1, 5, 2], np.int32)},
         {'one_hot_vector_size': 4, 'on_value': np.float32(2), 'off_value': np.float32(-1)}, by=oracle.one_hot)
    for x in (whole(3, 4, lo=0, hi=1), real(5) * flags(5), flags(2, 2, 3)):
        case('non_zero', {'y': real(3)}, by=lambda y, x=x: np.argwhere(x).astype(np.int32),
             build=lambda v, x=x: mb.add(x=mb.non_zero(x=x), y=mb.cast(
                 x=mb.mul(x=mb.reduce_sum(x=v['y'], axes=[0]), y=np.float32(0)), dtype='int32')))
    for each in (False, True):
        for most, overlap, least in ((3, 0.3, 0.2), (8, 0.5, 0.0), (2, 0.1, 5.0)):
            boxes = np.concatenate([real(2, 6, 2, lo=0, hi=4), real(2, 6, 2, lo=1, hi=3)], -1)
            case('non_maximum_suppression', {'boxes': boxes, 'scores': real(2, 6, 3, lo=0, hi=1)},
                 {'iou_threshold': np.float32(overlap), 'score_threshold': np.float32(least),
                  'max_boxes': most, 'per_class_suppression': each}, opset=6,
                 by=oracle.non_maximum_suppression)


# ---- layers ----

def layers():
    def weights(*shape):
        return real(*shape, lo=-0.5, hi=0.5)
    for more in ({}, {'strides': [2], 'pad_type': 'same'}, {'pad_type': 'custom', 'pad': [1, 2], 'dilations': [2]}):
        case('conv', {'x': real(2, 4, 9)}, {'weight': weights(6, 4, 3), **more}, by=oracle.conv)
    for more in ({'groups': 2, 'bias': real(4)}, {'strides': [2, 1], 'pad_type': 'same_lower'},
                 {'pad_type': 'same', 'strides': [3, 2]},
                 {'pad_type': 'custom', 'pad': [1, 0, 2, 1], 'bias': real(4)}):
        case('conv', {'x': real(1, 4, 7, 6)}, {'weight': weights(4, 4 // more.get('groups', 1), 3, 2), **more},
             by=oracle.conv)
    case('conv', {'x': real(1, 2, 4, 4, 4)}, {'weight': weights(3, 2, 2, 2, 2), 'strides': [2, 2, 2]}, by=oracle.conv)
    case('conv', {'x': half(1, 2, 5, 5)}, {'weight': weights(3, 2, 3, 3).astype(np.float16)}, by=oracle.conv)
    case('conv', {'x': real(1, 2, 5, 5), 'weight': weights(3, 2, 3, 3)}, {'bias': real(3)}, by=oracle.conv)
    for more in ({}, {'strides': [2], 'pad_type': 'same'}, {'strides': [3], 'pad_type': 'custom', 'pad': [1, 2]}):
        case('conv_transpose', {'x': real(2, 4, 5)}, {'weight': weights(4, 3, 3), **more}, by=oracle.conv_transpose)
    for more in ({'groups': 2, 'bias': real(4)}, {'strides': [2, 2], 'pad_type': 'same'},
                 {'strides': [2, 1], 'pad_type': 'custom', 'pad': [1, 0, 0, 1], 'dilations': [1, 2]},
                 {'strides': [2, 2], 'output_shape': [1, 4, 8, 7]}):
        case('conv_transpose', {'x': real(1, 4, 3, 3)}, {'weight': weights(4, 4 // more.get('groups', 1), 3, 2), **more},
             by=oracle.conv_transpose)
    for op in ['avg_pool', 'max_pool', 'l2_pool']:
        for shape, kernel, more in (((1, 2, 7), [3], {'strides': [2], 'pad_type': 'valid'}),
                                    ((1, 2, 6, 7), [2, 3], {'strides': [2, 2], 'pad_type': 'same'}),
                                    ((1, 2, 6, 7), [3, 3], {'strides': [2, 3], 'pad_type': 'custom', 'pad': [1, 1, 1, 1]}),
                                    ((1, 2, 6, 7), [2, 2], {'strides': [2, 2], 'pad_type': 'same_lower'}),
                                    ((1, 2, 6, 8), [3, 3], {'strides': [2, 2], 'pad_type': 'valid', 'ceil_mode': True})):
            case(op, {'x': real(*shape)}, {'kernel_sizes': kernel, **more}, by=getattr(oracle, op))
    case('avg_pool', {'x': real(1, 2, 5, 5)}, {'kernel_sizes': [3, 3], 'pad_type': 'same',
                                              'exclude_padding_from_average': True}, by=oracle.avg_pool)
    for shape in ((4,), (3, 4), (2, 3, 4)):
        case('linear', {'x': real(*shape)}, {'weight': weights(5, 4), 'bias': real(5)})
    case('linear', {'x': half(3, 4)}, {'weight': weights(5, 4).astype(np.float16)})
    for a, b, more in (((3, 4), (4, 2), {}), ((4, 3), (4, 2), {'transpose_x': True}),
                       ((2, 3, 4), (2, 5, 4), {'transpose_y': True}), ((2, 1, 3, 4), (5, 4, 2), {})):
        case('matmul', {'x': real(*a), 'y': real(*b)}, more)
    case('einsum', {'values': [real(2, 3, 4), real(4, 3, 5)]}, {'equation': 'abc,cbd->abd'})
    case('einsum', {'values': [real(2, 3, 4, 5), real(2, 5, 4, 3)]}, {'equation': 'nchw,nwhu->nchu'})
    case('einsum', {'values': [real(2, 3, 4, 5), real(1, 5, 4, 3)]}, {'equation': 'nchw,nwhu->nchu'})
    for q, k, v, m in (((2, 3, 4), (2, 5, 4), (2, 5, 6), None), ((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4), (3, 5)),
                       ((2, 3, 4), (2, 3, 4), (2, 3, 4), (2, 3, 3))):
        operands = {'query': real(*q), 'key': real(*k), 'value': real(*v)}
        if m:
            operands['attn_mask'] = real(*m)
        case('scaled_dot_product_attention', operands)
    mask = np.tril(np.ones((3, 3), bool))
    case('scaled_dot_product_attention', {'query': real(2, 3, 4), 'key': real(2, 3, 4), 'value': real(2, 3, 4),
                                          'attn_mask': mask})
    for shape in ((2, 3, 4), (1, 3, 2, 2), (1, 3, 2, 2, 2)):
        case('batch_norm', {'x': real(*shape)}, {'mean': real(3), 'variance': real(3, lo=0.5, hi=2), 'gamma': real(3),
                                                'beta': real(3)}, by=oracle.batch_norm)
    case('batch_norm', {'x': real(2, 3, 4)}, {'mean': real(3), 'variance': real(3, lo=0.5, hi=2),
                                             'epsilon': np.float32(0.1)}, by=oracle.batch_norm)
    for shape, more in (((2, 3, 4), {}), ((1, 3, 4, 5), {'gamma': real(3), 'beta': real(3)}),
                        ((1, 3, 4, 5), {'gamma': real(3), 'beta': real(3), 'epsilon': np.float32(0.01)})):
        case('instance_norm', {'x': real(*shape)}, more, by=oracle.instance_norm)
    for shape in ((2, 3, 4), (2, 3, 4, 5), (2, 2, 2, 3, 4)):
        case('l2_norm', {'x': real(*shape)})
    for shape, axes, more in (((2, 3, 4), [-1], {'gamma': real(4), 'beta': real(4)}), ((2, 3, 4), [1, 2], {}),
                              ((2, 3, 4, 5), [2, 3], {'gamma': real(4, 5)}), ((2, 3, 4), [1], {'epsilon': np.float32(0.1)})):
        case('layer_norm', {'x': real(*shape)}, {'axes': axes, **more}, by=oracle.layer_norm)
    for size, alpha, beta, k in ((3, 1e-2, 0.75, 1), (5, 0.5, 0.5, 2), (1, 1, 1, 1)):
        case('local_response_norm', {'x': real(1, 6, 3, 3)}, {'size': size, 'alpha': np.float32(alpha),
                                                             'beta': np.float32(beta), 'k': np.float32(k)}, by=oracle.lrn)


def images():
    for mode in ('DEFAULT', 'STRICT_ALIGN_CORNERS', 'ALIGN_CORNERS', 'OFFSET_CORNERS', 'UNALIGN_CORNERS'):
        for h, w in ((5, 7), (2, 1), (8, 3)):
            case('resize_bilinear', {'x': real(1, 2, 4, 5)}, {'target_size_height': h, 'target_size_width': w,
                                                             'sampling_mode': mode}, by=oracle.resize_bilinear)
        case('resize', {'x': real(1, 2, 4, 5)}, {'shape': [1, 6, 0], 'resized_dims': np.uint32(2), 'sampling_mode': mode},
             by=lambda x, shape, resized_dims, sampling_mode:
             oracle.resize_bilinear(x, 6, 5, sampling_mode))
    case('resize', {'x': real(1, 2, 4, 5)}, {'shape': [7, 9], 'resized_dims': np.uint32(2),
                                            'interpolation_mode': 'NEAREST_NEIGHBOR'},
         by=lambda x, **k: oracle.resize_nearest(x, 7, 9))
    for h, w in ((5, 7), (2, 1), (8, 10)):
        case('resize_nearest_neighbor', {'x': real(1, 2, 4, 5)}, {'target_size_height': h, 'target_size_width': w},
             by=lambda x, target_size_height, target_size_width:
             oracle.resize_nearest(x, target_size_height, target_size_width))
    for h, w in ((2, 3), (np.float32(1.5), np.float32(2.5)), (1, 2)):
        case('upsample_nearest_neighbor', {'x': real(2, 4, 6)}, {'scale_factor_height': h, 'scale_factor_width': w},
             by=lambda x, scale_factor_height, scale_factor_width: oracle.resize_nearest(
                 x, int(4 * scale_factor_height), int(6 * scale_factor_width)))
        for align in (True, False):
            case('upsample_bilinear', {'x': real(2, 4, 6)}, {'scale_factor_height': h, 'scale_factor_width': w,
                                                            'align_corners': align}, by=oracle.upsample_bilinear)
    for rows, columns in (([1, 1], [0, 2]), ([0, 0], [1, 0]), ([2, 1], [1, 1])):
        case('crop', {'x': real(1, 2, 5, 5)}, {'crop_height': rows, 'crop_width': columns},
             by=lambda x, crop_height, crop_width: x[..., crop_height[0]:5 - crop_height[1],
                                                    crop_width[0]:5 - crop_width[1]])
    for mode in ('ALIGN_CORNERS', 'STRICT_ALIGN_CORNERS', 'UNALIGN_CORNERS', 'DEFAULT', 'OFFSET_CORNERS'):
        for words in ('CORNERS_HEIGHT_FIRST', 'CENTER_SIZE_WIDTH_FIRST'):
            boxes = np.array([[0, 1, 2, 3], [1, 0.5, 3.5, 2]], np.float32)
            if words.startswith('CENTER'):
                boxes = np.array([[2, 2, 1, 3], [1.5, 1, 2, 1]], np.float32)
            case('crop_resize', {'x': real(2, 3, 5, 5), 'boxes': boxes, 'box_indices': np.array([1, 0], np.int32)},
                 {'target_height': 3, 'target_width': 2, 'box_coordinate_mode': words, 'sampling_mode': mode},
                 by=oracle.crop_resize)
    case('crop_resize', {'x': real(2, 3, 5, 5), 'boxes': np.array([[-0.5, 0, 0.5, 1.2]], np.float32),
                         'box_indices': np.array([1], np.int32)},
         {'target_height': 4, 'target_width': 4, 'normalized_coordinates': True, 'sampling_mode': 'ALIGN_CORNERS',
          'pad_value': np.float32(3)}, by=oracle.crop_resize)
    case('crop_resize', {'x': real(2, 3, 5, 5), 'roi': np.array([1, 1, 2, 3], np.float32).reshape(1, 1, 4, 1, 1)},
         {'target_height': 2, 'target_width': 2, 'sampling_mode': 'ALIGN_CORNERS'}, opset=5,
         by=lambda x, roi, **k: np.stack([oracle.crop_resize(x, roi.reshape(1, 4), np.array([b]), **k)[0]
                                          for b in range(2)])[None])
    case('crop_resize', {'x': real(1, 3, 5, 5), 'roi': np.array([0, 1, 1, 2, 3], np.float32).reshape(1, 1, 5, 1, 1)},
         {'target_height': 2, 'target_width': 2, 'sampling_mode': 'ALIGN_CORNERS'}, opset=6,
         by=lambda x, roi, **k: oracle.crop_resize(x, roi.reshape(1, 5)[:, 1:], np.array([0]), **k)[:, None])
    for h, w in ((3, 4), (1, 1), (6, 6)):
        case('affine', {'x': real(2, 2, 4, 5), 'transform_matrix': real(2, 6, lo=-0.8, hi=0.8)},
             {'output_height': h, 'output_width': w, 'sampling_mode': 'bilinear', 'padding_mode': 'constant',
              'padding_value': np.float32(0), 'coordinates_mode': 'normalized_minus_one_to_one', 'align_corners': True},
             by=oracle.affine)
    for padding in ('constant', 'border', 'reflection', 'symmetric'):
        for coordinates, lo, hi in (('unnormalized', -3, 7), ('normalized_minus_one_to_one', -2, 2),
                                    ('normalized_zero_to_one', -0.5, 1.5)):
            for align in (True, False):
                case('resample', {'x': real(1, 2, 4, 5), 'coordinates': real(1, 3, 2, 2, lo=lo, hi=hi)},
                     {'sampling_mode': 'bilinear' if align else 'nearest', 'padding_mode': padding,
                      'padding_value': np.float32(2), 'coordinates_mode': coordinates, 'align_corners': align},
                     by=oracle.resample)


def recurrent():
    def states(steps, batch, inputs, units, gates, many=1):
        return ({'x': real(steps, batch, inputs), 'initial_h': real(batch, units * many)},
                {'weight_ih': real(gates * units, inputs, lo=-0.7, hi=0.7),
                 'weight_hh': real(gates * units, units, lo=-0.7, hi=0.7), 'bias': real(gates * units)})
    for direction, sequence, act in (('forward', True, 'tanh'), ('reverse', True, 'relu'), ('forward', False, 'sigmoid')):
        a, b = states(4, 2, 3, 5, 1)
        case('rnn', a, {**b, 'direction': direction, 'output_sequence': sequence, 'activation': act}, by=oracle.rnn)
        a, b = states(4, 2, 3, 5, 3)
        case('gru', a, {**b, 'direction': direction, 'output_sequence': sequence, 'activation': act}, opset=6,
             by=oracle.gru)
    a, b = states(3, 1, 3, 4, 3)
    case('gru', a, {**b, 'reset_after': True, 'input_bias': real(12), 'output_sequence': True,
                    'recurrent_activation': 'sigmoid', 'activation': 'tanh'}, by=oracle.gru)
    for direction, sequence, more in (('forward', True, {}), ('reverse', True, {'peephole': real(15)}),
                                      ('forward', False, {'recurrent_activation': 'hard_sigmoid', 'activation': 'linear'}),
                                      ('bidirectional', True, {}), ('bidirectional', False, {'bias_back': real(20)})):
        many = 2 if direction == 'bidirectional' else 1
        a, b = states(4, 2, 3, 5, 4, many)
        a['initial_c'] = real(2, 5 * many)
        if many == 2:
            b.update(weight_ih_back=real(20, 3, lo=-0.7, hi=0.7), weight_hh_back=real(20, 5, lo=-0.7, hi=0.7))
        case('lstm', a, {**b, 'direction': direction, 'output_sequence': sequence, **more}, by=oracle.lstm)


def flow():
    def branch(v):
        return mb.cond(pred=mb.cast(x=mb.squeeze(x=v['p']), dtype='bool'), _true_fn=lambda: mb.add(x=v['x'], y=1.0),
                       _false_fn=lambda: mb.mul(x=v['x'], y=2.0))
    for p in (0, 1, 7):
        case('cond', {'x': real(2, 3), 'p': np.array([p], np.int32)}, build=branch,
             by=lambda x, p: x + 1 if p[0] else x * 2)

    def loop(v):
        n = mb.squeeze(x=v['n'])
        return mb.while_loop(_cond=lambda i, x: mb.less(x=i, y=n),
                             _body=lambda i, x: (mb.add(x=i, y=1), mb.mul(x=x, y=np.float32(1.5))),
                             loop_vars=(np.int32(0), v['x']))[1]
    for n in (0, 1, 9):
        case('while_loop', {'x': real(2, 3), 'n': np.array([n], np.int32)}, build=loop,
             by=lambda x, n: x * np.float32(1.5) ** n[0])

    def listed(v):
        ls = mb.make_list(init_length=4, elem_shape=(3,), dtype='fp32', dynamic_length=False)
        n = mb.squeeze(x=v['n'])
        _, ls = mb.while_loop(_cond=lambda i, ls: mb.less(x=i, y=n),
                              _body=lambda i, ls: (mb.add(x=i, y=1),
                                                   mb.list_write(ls=ls, index=i, value=mb.mul(x=v['x'], y=mb.cast(x=i, dtype='fp32')))),
                              loop_vars=(np.int32(0), ls))
        return (mb.list_read(ls=ls, index=2), mb.list_gather(ls=ls, indices=[3, 0, 1]), mb.list_length(ls=ls))
    for n in (4, 3, 0):
        def by(x, n):
            y = np.stack([x * i if i < n[0] else x * 0 for i in range(4)])
            return y[2], y[[3, 0, 1]], np.int32(4)
        for op in ('list_write', 'list_read', 'list_gather', 'list_length', 'make_list'):
            if op == 'list_write' or n == 4:
                case(op, {'x': real(3), 'n': np.array([n], np.int32)}, build=listed, by=by)

    def scattered(v):
        ls = mb.make_list(init_length=3, elem_shape=(2,), dtype='fp32')
        ls = mb.list_scatter(ls=ls, indices=[2, 0], value=v['x'])
        return mb.list_gather(ls=ls, indices=[0, 1, 2])
    for _ in range(3):
        case('list_scatter', {'x': real(2, 2)}, build=scattered, by=lambda x: np.stack([x[1], x[0] * 0, x[0]]))


# ---- weights of few bits ----

def quantized():
    for axis, scale, zero in ((0, real(3, lo=0.01, hi=0.1), None), (1, real(4, lo=0.01, hi=0.1), None),
                              (0, real(3, lo=0.01, hi=0.1), whole(3).astype(np.int8))):
        more = {'scale': scale, 'axis': axis, **({'zero_point': zero} if zero is not None else {})}
        case('quantize', {'input': real(3, 4)}, {**more, 'output_dtype': 'int8'}, by=oracle.quantize)
        case('dequantize', {'input': whole(3, 4, lo=-100, hi=100).astype(np.int8)}, more, by=oracle.dequantize)
    case('quantize', {'input': real(3, 4)}, {'scale': np.float32(0.02), 'zero_point': np.uint8(128),
                                            'output_dtype': 'uint8'}, by=oracle.quantize)

    def plus(op, **k):
        """x + the constant that the operation gives"""
        def build(v):
            out = getattr(mb, op)(**k)
            return mb.add(x=v['x'], y=out)
        return build

    def add(op, value, opset, **k):
        case(op, {'x': np.zeros(np.shape(value), np.asarray(value).dtype)}, opset=opset, build=plus(op, **k),
             by=lambda x: value)
    q = whole(6, 4, lo=-100, hi=100).astype(np.int8)
    for axis, scale, zero in ((0, real(6, lo=0.01, hi=0.1), np.int8(3)), (1, real(4, lo=0.01, hi=0.1), np.zeros(4, np.int8)),
                              (0, np.float32(0.5), np.int8(-7))):
        add('constexpr_affine_dequantize', oracle.dequantize(q, scale, zero, axis), 6, quantized_data=q, scale=scale,
            zero_point=zero, axis=axis)
    for bits in (1, 2, 4, 6, 8):
        n = 21
        index = rng.integers(0, 2 ** bits, n).astype(np.uint8)
        lut = real(2 ** bits)
        packed = np.packbits(np.unpackbits(index.reshape(-1, 1), axis=1, bitorder='little')[:, :bits].ravel(),
                             bitorder='little')
        add('constexpr_lut_to_dense', lut[index].reshape(3, 7), 6, indices=packed, lut=lut,
            shape=np.array([3, 7], np.uint32))
    for shape in ((3, 7), (20,), (2, 3, 4)):
        mask = flags(*shape)
        data = real(int(mask.sum()))
        dense = np.zeros(shape, np.float32)
        dense[mask] = data
        add('constexpr_sparse_to_dense', dense, 6, nonzero_data=data,
            mask=np.packbits(mask.ravel(), bitorder='little'), shape=np.array(shape, np.uint32))
        bit = mask.astype(types.nptype_from_builtin(types.uint1))
        add('constexpr_sparse_to_dense', dense, 8, nonzero_data=data, mask=bit)
    for value in (half(3, 4), half(5), half(2, 2, 3)):
        add('constexpr_cast', value.astype(np.float32), 6, source_val=value, output_dtype='fp32')
    for kind, lo, hi in ((types.int4, -8, 7), (types.uint4, 0, 15), (types.int8, -100, 100)):
        for blocks in ((6, 1), (3, 4), (6, 2)):
            data = rng.integers(lo, hi, (6, 8), endpoint=True).astype(types.nptype_from_builtin(kind))
            scale = real(*blocks, lo=0.01, hi=0.1)
            offset = rng.integers(lo, hi, blocks, endpoint=True).astype(types.nptype_from_builtin(kind))
            add('constexpr_blockwise_shift_scale', oracle.blockwise(data, scale, offset), 8, data=data, scale=scale,
                offset=offset)
    for bits, kind in ((1, types.uint1), (2, types.uint2), (3, types.uint3), (4, types.uint4), (6, types.uint6)):
        index = rng.integers(0, 2 ** bits, (4, 6)).astype(types.nptype_from_builtin(kind))
        for tables in ((1, 1), (2, 1), (2, 3)):
            lut = real(*tables, 2 ** bits, 1)
            add('constexpr_lut_to_dense', oracle.lut(index, lut), 8, indices=index, lut=lut)
        for axis in (0, 1):
            lut = real(2, 1, 2 ** bits, 2)
            add('constexpr_lut_to_dense', oracle.lut(index, lut, axis), 8, indices=index, lut=lut, vector_axis=np.int32(axis))
    uint1 = types.nptype_from_builtin(types.uint1)

    def joined(first, second):
        def build(v):
            mask, data = getattr(mb, first)(**second)
            return mb.add(x=v['x'], y=mb.constexpr_sparse_to_dense(nonzero_data=data, mask=mask))
        return build
    for vector in (1, 1, 2):
        mask = flags(4, 6)
        index = rng.integers(0, 4, int(mask.sum())).astype(types.nptype_from_builtin(types.uint2))
        lut = real(2, 1, 4, vector)
        full = np.zeros(mask.shape, np.int64)
        full[mask] = index
        axis = None if vector == 1 else 1
        dense = oracle.lut(full, lut, axis) * np.repeat(mask, vector, axis or 0)
        more = {} if vector == 1 else {'vector_axis': np.int32(1)}
        case('constexpr_lut_to_sparse', {'x': np.zeros_like(dense)}, by=lambda x, d=dense: d,
             build=joined('constexpr_lut_to_sparse', dict(indices_mask=mask.astype(uint1), indices_nonzero_data=index,
                                                         lut=lut, **more)))
    for blocks in ((4, 1), (1, 6), (2, 3)):
        mask = flags(4, 6)
        data = rng.integers(-100, 100, int(mask.sum())).astype(np.int8)
        scale, offset = real(*blocks, lo=0.01, hi=0.1), rng.integers(-9, 9, blocks).astype(np.int8)
        full = np.zeros(mask.shape, np.int8)
        full[mask] = data
        dense = oracle.blockwise(full, scale, offset) * mask
        case('constexpr_sparse_blockwise_shift_scale', {'x': np.zeros_like(dense)}, by=lambda x, d=dense: d,
             build=joined('constexpr_sparse_blockwise_shift_scale',
                          dict(data_mask=mask.astype(uint1), nonzero_data=data, scale=scale, offset=offset)))


# ---- files ----

def package(case):
    return files_of(ct.convert(case.program(), convert_to='mlprogram', skip_model_load=True,
                               pass_pipeline=ct.PassPipeline.EMPTY, minimum_deployment_target=TARGET[case.opset]))


def counter():
    """A state that sums up the inputs; the result is twice the state after a run."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(3,), dtype=types.fp16), mb.StateTensorSpec((3,), dtype=types.fp16)],
                opset_version=ct.target.iOS18)
    def program(x, s):
        total = mb.add(x=mb.read_state(input=s), y=x)
        return mb.mul(x=mb.coreml_update_state(state=s, value=total), y=np.float16(2), name='y')
    return ct.convert(program, convert_to='mlprogram', skip_model_load=True,
                      minimum_deployment_target=ct.target.iOS18)


def classifier():
    @mb.program(input_specs=[mb.TensorSpec(shape=(1, 3))], opset_version=ct.target.iOS16)
    def program(x):
        return mb.softmax(x=x, axis=-1, name='p')
    return ct.convert(program, convert_to='mlprogram', skip_model_load=True, compute_precision=ct.precision.FLOAT32,
                      minimum_deployment_target=ct.target.iOS16,
                      classifier_config=ct.ClassifierConfig(['cat', 'dog', 'eel']))


def files_of(model):
    """The files of the model, by their names in a package."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'm.mlpackage')
        model.save(path)
        files = {}
        for root, _, names in os.walk(path):
            for name in names:
                full = os.path.join(root, name)
                with open(full, 'rb') as f:
                    files[os.path.relpath(full, path)] = f.read()
    manifest = json.loads(files['Manifest.json'])  # its identifiers are random
    for k, entry in enumerate(sorted(manifest['itemInfoEntries'], key=lambda e: manifest['itemInfoEntries'][e]['path'])):
        manifest['itemInfoEntries'][str(k)] = manifest['itemInfoEntries'].pop(entry)
        if manifest['rootModelIdentifier'] == entry:
            manifest['rootModelIdentifier'] = str(k)
    files['Manifest.json'] = json.dumps(manifest).encode()
    return files


def saved(value):
    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value))
    return out.getvalue()


def write(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def models():
    here = os.path.dirname(os.path.abspath(__file__))
    with tarfile.open(os.path.join(here, 'models.tar.xz'), 'w:xz') as archive:
        for make in (counter, classifier):
            for file, data in files_of(make()).items():
                write(archive, '%s.mlpackage/%s' % (make.__name__, file), data)


def main():
    if sys.argv[1:] == ['models']:
        return models()
    for group in (elementwise, activations, reductions, shapes, slices, indices, layers, images, recurrent, flow,
                  quantized):
        group()
    only = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    counts, failed = {}, 0
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode='w:xz') as archive:
        for c in CASES:
            if only and c.op not in only:
                continue
            name = '%s-%d' % (c.op, counts.get(c.op, 0))
            try:
                expected, files, inputs = c.expected(), package(c), c.inputs()
            except Exception as e:  # a mistake in a case above: show all of them
                failed += 1
                print('%s: %s: %s' % (name, type(e).__name__, str(e)[:300]))
                continue
            counts[c.op] = counts.get(c.op, 0) + 1
            for file, data in files.items():
                write(archive, '%s/m.mlpackage/%s' % (name, file), data)
            for k, value in enumerate(inputs):
                write(archive, '%s/input_%d.npy' % (name, k), saved(value))
            for k, value in enumerate(expected):
                kind = value.dtype if value.dtype in (np.float32, np.float16, np.int32) else \
                    np.float32 if value.dtype.kind == 'f' else np.int32
                write(archive, '%s/output_%d.npy' % (name, k), saved(value.astype(kind)))
    print('%d operations, %d programs, %d bytes' % (len(counts), sum(counts.values()), len(target.getvalue())))
    if only or not failed:
        with open(os.path.join('.' if only else here, 'programs.tar.xz'), 'wb') as f:
            f.write(target.getvalue())
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
