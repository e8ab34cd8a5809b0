"""How to make inputs for each operation: the table that ops.py runs on Weir and on TensorFlow.

A row is a function of a Values (numbers of one element type, from a seeded generator) that gives cases. A case is
C(*inputs, **attributes); an input is an array, a list of arrays, or one of

  K(array)  indices, axes, shapes: a constant in the static form of a case, fed in the dynamic form; not differentiated
  V(array)  a variable with this value; what it holds afterwards is compared too

Every row is tried with every type; those that Weir's table of the operation does not accept are left out.
"""
import re

import numpy as np

ALL_TYPES = ('float32', 'float64', 'float16', 'bfloat16', 'int32', 'int64', 'uint8', 'int8', 'int16', 'uint16',
             'complex64', 'complex128', 'bool', 'string')
FLOATS = ('float32', 'float64', 'float16', 'bfloat16')


class K(object):

    def __init__(self, value, dtype=np.int32):
        self.value = np.asarray(value, dtype)


class V(object):

    def __init__(self, value):
        self.value = value


class C(object):

    def __init__(self, *inputs, **attrs):
        self.inputs, self.attrs = inputs, attrs
        self.gradient = attrs.pop('gradient', True)
        self.compared = attrs.pop('compared', None)  # how many outputs are; the others are not defined. None: all
        self.what = attrs.pop('what', '')


class Values(object):
    """Makes arrays of one element type."""

    def __init__(self, dtype, seed):
        self.dtype, self.random = dtype, np.random.RandomState(seed)
        self.is_float, self.is_complex = dtype in FLOATS, dtype.startswith('complex')
        self.is_int = 'int' in dtype

    def __call__(self, *shape, **limits):
        low, high = limits.get('low', -2), limits.get('high', 2)
        return self.of(self.random.uniform(low, high, shape), low, high)

    def of(self, values, low=-9, high=9):
        """`values` in this element type."""
        values = np.asarray(values)
        if self.dtype == 'string':
            words = [('w%d' % (abs(int(v * 100)) % 7)).encode() for v in values.reshape(-1)]
            result = np.empty(values.size, object)
            result[:] = words
            return result.reshape(values.shape)
        if self.dtype == 'bool':
            return values > (low + high) / 2.0
        if self.dtype == 'bfloat16':
            bits = values.astype(np.float32).view(np.uint32) if values.ndim else np.asarray(
                values, np.float32).reshape(1).view(np.uint32)
            return ((bits + 0x8000) & np.uint32(0xffff0000)).view(np.float32).reshape(values.shape)
        if self.is_complex:
            other = np.asarray(self.random.uniform(low, high, values.shape))
            return (values + 1j * other).astype(self.dtype)
        if self.is_int:
            values = np.round(values * 3) if high - low <= 4.5 else np.round(values)
            return (abs(values) if self.dtype.startswith('u') else values).astype(self.dtype)
        return values.astype(self.dtype)

    def nonzero(self, *shape):
        values = self.random.uniform(0.5, 2, shape)
        return self.of(np.maximum(values, 1) if self.is_int else values * self.random.choice([-1, 1], shape), 0.5, 9)

    def distinct(self, *shape):
        """No two alike, so that maxima are unique."""
        count = int(np.prod(shape))
        return self.of(self.random.permutation(count).reshape(shape) * (0.5 if count < 64 else 0.125) - 2, -9, 99)

    def well_conditioned(self, *shape):
        return (self(*shape, low=-0.5, high=0.5) + 3 * np.eye(shape[-1])).astype(self.dtype)

    def positive_definite(self, *shape):
        a = self(*shape, low=-0.5, high=0.5).astype('complex128' if self.is_complex else 'float64')
        return (np.matmul(a, np.conj(np.swapaxes(a, -1, -2))) + 2 * np.eye(shape[-1])).astype(self.dtype)

    def indices(self, high, *shape):
        return K(self.random.randint(0, high, shape))


SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 1e30, -1e30, 88.9, -104.0
]
ROWS = {}


def row(names, make, types=ALL_TYPES):
    for name in names.split():
        assert name not in ROWS, name
        ROWS[name] = (make, types)


def unary(low, high, special=True):

    def cases(v):
        yield C(v(3, 4, low=low, high=high))
        yield C(v(17, low=low, high=high))
        yield C(v(low=low, high=high))
        yield C(v(0, 3, low=low, high=high))
        if special and v.dtype in ('float32', 'float64'):
            yield C(v.of(SPECIAL), what='special values', gradient=False)

    return cases


row(
    'Abs Neg Sign Square Exp Expm1 Sin Cos Tan Sinh Cosh Tanh Sigmoid Asinh Atan Erf Erfc Floor Ceil Rint Round IsNan '
    'IsInf IsFinite Relu Relu6 LeakyRelu Elu Selu Softplus Softsign Conj Real Imag ComplexAbs LogicalNot Identity '
    'StopGradient PreventGradient Shape Size Rank ZerosLike OnesLike L2Loss Snapshot DeepCopy', unary(-2, 2))
row('Sqrt Rsqrt Log Log1p Inv Reciprocal Digamma Lgamma', unary(0.2, 4))
row('Acos Asin Atanh Erfinv Ndtri', unary(-0.9, 0.9))
row('Acosh', unary(1.1, 4))
row('BesselI0e BesselI1e', unary(-3, 3))
row('Invert PopulationCount', unary(-8, 8, False))


def activation_gradient(low, high):

    def cases(v):
        yield C(v(3, 4, low=low, high=high), v(3, 4))
        yield C(v(0, 2), v(0, 2))
        yield C(v(19, low=low, high=high), v(19))

    return cases


def swapped(cases):

    def result(v):
        for case in cases(v):
            case.inputs = case.inputs[::-1]
            yield case

    return result


row('SigmoidGrad TanhGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad', activation_gradient(0.2, 0.9))
row('ReluGrad Relu6Grad LeakyReluGrad EluGrad SeluGrad SoftplusGrad SoftsignGrad', swapped(activation_gradient(-2, 2)))

BROADCASTS = [((3, 4), (3, 4)), ((3, 4), (4,)), ((2, 1, 5), (4, 1)), ((), (3,)), ((7,), ()), ((0, 3), (3,)),
              ((2, 3, 4, 5), (3, 1, 5))]


def binary(left, right, special=True):

    def cases(v):
        for a, b in BROADCASTS:
            yield C(left(v, a), right(v, b))
        if special and v.dtype in ('float32', 'float64'):
            grid = np.array([0, -0.0, 1, -1, 2.5, -2.5, np.inf, -np.inf, np.nan])
            yield C(v.of(grid.reshape(-1, 1)), v.of(grid), what='special values', gradient=False)

    return cases


def plain(v, shape):
    return v(*shape)


def nonzero(v, shape):
    return v.nonzero(*shape)


def positive(v, shape):
    return v(*shape, low=0.3, high=3)


row(
    'Add AddV2 Sub Mul Maximum Minimum SquaredDifference Atan2 Greater GreaterEqual Less LessEqual Equal NotEqual '
    'LogicalAnd LogicalOr BitwiseAnd BitwiseOr BitwiseXor', binary(plain, plain))
row('Div RealDiv DivNoNan FloorDiv TruncateDiv FloorMod TruncateMod Mod', binary(plain, nonzero))
row('MulNoNan Xdivy Xlogy', binary(plain, positive))
row('Pow',
    binary(positive, lambda v, shape: v.of(abs(np.round(v.random.uniform(0, 1, shape)))) if v.is_int else v(*shape)))
row('Igamma Igammac Zeta', binary(lambda v, shape: v(*shape, low=1.2, high=4), positive, False))
row('Polygamma', binary(lambda v, shape: v.of(v.random.randint(1, 4, shape)), positive, False))
row('Betainc', lambda v: [C(v(3, 4, low=0.5, high=3), v(3, 4, low=0.5, high=3), v(3, 4, low=0.1, high=0.9))])
row('LeftShift RightShift', binary(plain, lambda v, shape: v.of(v.random.randint(0, 4, shape), 0, 9), False))


def reduction(v):
    yield C(v.distinct(3, 4, 5), K([1]))
    yield C(v.distinct(3, 4, 5), K([0, 2]), keep_dims=True)
    yield C(v.distinct(4, 3), K([-1]))
    yield C(v.distinct(4, 3), K(np.zeros([0], int)))
    yield C(v.distinct(3, 2, 2), K([2, 0, 1]))
    yield C(v.distinct(7), K(0))
    yield C(v.distinct(0, 3), K([1]))
    yield C(v.distinct(3, 0), K([1]), gradient=False)
    yield C(v(40, 33, 3), K([0]))


row('Sum Mean All Any EuclideanNorm', reduction)
# TensorFlow ends the process for complex numbers here.
ORDERED = tuple(t for t in ALL_TYPES if not t.startswith('complex'))
row('Max Min', reduction, ORDERED)
row(
    'Prod', lambda v:
    [C(v.nonzero(*c.inputs[0].shape), *c.inputs[1:], gradient=c.gradient, **c.attrs) for c in list(reduction(v))[:-1]])
row(
    'ArgMax ArgMin', lambda v: [
        C(v.distinct(3, 4), K(1)),
        C(v.distinct(3, 4, 2), K(0), output_type='int32'),
        C(v.distinct(5), K(-1)),
        C(v.of([1, 3, 3, 0, 0]), K(0), what='ties')
    ], ORDERED)
row(
    'Cumsum Cumprod', lambda v: [
        C(v(3, 4), K(1)),
        C(v(3, 4), K(0), exclusive=True),
        C(v(2, 3, 2), K(1), reverse=True),
        C(v(5), K(-1), exclusive=True, reverse=True),
        C(v(0, 2), K(0))
    ])
row('AddN', lambda v: [C([v(3, 4), v(3, 4), v(3, 4)]), C([v(2)]), C([v(5) for _ in range(9)]), C([v(0), v(0)])])
row('AccumulateNV2', lambda v: [C([v(3, 4), v(3, 4)], shape=(3, 4))])
row(
    'ClipByValue', lambda v: [
        C(v(3, 4), v.of(np.array(0.0) - 0.5), v.of(np.array(1.0))),
        C(v(3, 4), v(3, 4, low=-2, high=-1), v(3, 4, low=0.3, high=2))
    ])
row('Complex', lambda v: [C(v(3, 4), v(4), Tout='complex128' if v.dtype == 'float64' else 'complex64')], FLOATS[:2])
for name in ('Real', 'Imag', 'ComplexAbs'):
    make = ROWS[name][0]
    ROWS[name] = (lambda v: [
        C(v(3, 4), Tout='float64' if v.dtype == 'complex128' else 'float32'),
        C(v(0, 2), Tout='float64' if v.dtype == 'complex128' else 'float32')
    ], ('complex64', 'complex128'))
row('Angle', ROWS['Real'][0], ROWS['Real'][1])


def cast(v):
    for to in ALL_TYPES[:-1]:
        yield C(v(3, 4), DstT=to)
    if v.is_float and v.dtype != 'bfloat16':
        for to in ('int32', 'bool', 'float16', 'bfloat16', 'float64'):
            yield C(v.of([0.4, 0.5, 1.5, 2.5, -0.5, -1.5, 1.0009765, 70.0, 65519.0]), DstT=to, what='rounding')


row('Cast', cast)
row(
    'Bitcast', lambda v: [
        C(v(3, 4),
          type={'float32': 'int32', 'float64': 'int64', 'int32': 'float32', 'int64': 'float64', 'float16': 'int16'}[
              v.dtype]),
        C(v(3, 4), type='uint8'),
        C(v(3, 0, 2), type={2: 'int32', 4: 'int64', 8: 'complex128'}[np.dtype(v.dtype).itemsize])
    ], ('float32', 'float64', 'int32', 'int64', 'float16'))
row(
    'Select', lambda v: [
        C(v.random.rand(3, 4) > 0.5, v(3, 4), v(3, 4)),
        C(np.array([True, False, True]), v(3, 4), v(3, 4)),
        C(np.array(True), v(3, 4), v(3, 4))
    ])
row(
    'SelectV2', lambda v: [
        C(v.random.rand(3, 4) > 0.5, v(3, 4), v(4)),
        C(np.array([[True], [False]]), v(3), v(2, 3)),
        C(np.array(False), v(3, 4), v(3, 4))
    ])
row(
    'Range', lambda v: [C(v.of(0), v.of(5), v.of(1)),
                        C(v.of(2), v.of(11), v.of(3)),
                        C(v.of(3), v.of(3), v.of(1))] +
    ([] if v.dtype.startswith('u') else [C(v.of(9), v.of(1), v.of(-2))]) + ([C(v.of(0), v.of(1), v.of(0.1))]
                                                                            if v.is_float else []))
row('LinSpace', lambda v: [C(v.of(-1), v.of(2), K(7)), C(v.of(3), v.of(1), K(1)), C(v.of(3), v.of(1), K(2))])


def matrices(v):
    yield C(v(3, 4), v(4, 5))
    yield C(v(4, 3), v(4, 5), transpose_a=True)
    yield C(v(3, 4), v(5, 4), transpose_b=True)
    yield C(v(4, 3), v(5, 4), transpose_a=True, transpose_b=True)
    yield C(v(1, 7), v(7, 1))
    yield C(v(0, 3), v(3, 2))
    yield C(v(2, 0), v(0, 3))
    yield C(v(33, 70), v(70, 17))


def batches(v):
    yield C(v(2, 3, 4), v(2, 4, 5))
    yield C(v(2, 2, 4, 3), v(2, 2, 4, 5), adj_x=True)
    yield C(v(2, 3, 4), v(2, 5, 4), adj_y=True)
    yield C(v(3, 4), v(4, 2))
    yield C(v(0, 3, 4), v(0, 4, 2))


def broadcast_batches(v):
    for case in batches(v):
        yield case
    yield C(v(2, 1, 3, 4), v(5, 4, 2))
    yield C(v(3, 4), v(2, 4, 2))


row('MatMul', matrices)
row('BatchMatMul', batches)
row('BatchMatMulV2', broadcast_batches)

# Shapes and moves.
row(
    'Reshape', lambda v: [
        C(v(3, 4), K([2, 6])),
        C(v(3, 4), K([-1])),
        C(v(2, 3, 4), K([4, -1, 2])),
        C(v(1), K(np.zeros([0], int))),
        C(v(0, 4), K([2, 0]))
    ])
row('ExpandDims', lambda v: [C(v(3, 4), K(0)), C(v(3, 4), K(-1)), C(v(), K(0)), C(v(3, 4), K(1))])
row('Squeeze', lambda v: [C(v(1, 3, 1)), C(v(1, 3, 1), squeeze_dims=[2]), C(v(1, 1, 2), squeeze_dims=[0, -2])])
row('EnsureShape', lambda v: [C(v(3, 4), shape=[None, 4]), C(v(3, 4), shape=None)])
row(
    'Transpose', lambda v: [
        C(v(3, 4), K([1, 0])),
        C(v(2, 3, 4), K([2, 0, 1])),
        C(v(2, 3, 4, 5), K([0, 3, 1, 2])),
        C(v(2, 1, 3, 2, 2), K([4, 3, 2, 1, 0])),
        C(v(), K(np.zeros([0], int))),
        C(v(0, 4), K([1, 0]))
    ])
row('ConjugateTranspose', lambda v: [C(v(3, 4), K([1, 0])), C(v(2, 3, 4), K([2, 0, 1]))])
row('InvertPermutation', lambda v: [C(np.array([2, 0, 1, 3], v.dtype)), C(np.zeros([0], v.dtype))], ('int32', 'int64'))
row('ReverseV2',
    lambda v: [C(v(3, 4), K([1])),
               C(v(2, 3, 4), K([0, -1])),
               C(v(3), K(np.zeros([0], int))),
               C(v(0, 2), K([0]))])
row('Reverse', lambda v: [C(v(3, 4), K([True, False], bool))])
row('ReverseSequence',
    lambda v: [C(v(3, 5), K([1, 5, 3]), seq_dim=1),
               C(v(4, 3, 2), K([2, 0, 4]), seq_dim=0, batch_dim=1)])
row(
    'ConcatV2', lambda v: [
        C([v(3, 4), v(3, 2)], K(1)),
        C([v(2, 3), v(1, 3), v(4, 3)], K(0)),
        C([v(2, 3, 2), v(2, 1, 2)], K(-2)),
        C([v(0, 3), v(2, 3)], K(0))
    ])
row('Concat', lambda v: [C(K(1), [v(3, 4), v(3, 2)]), C(K(0), [v(2, 3), v(1, 3), v(4, 3)])])
row('ConcatOffset', lambda v: [C(K(1), [K([3, 4]), K([3, 2])]),
                               C(K(0), [K([3, 4, 1]), K([1, 4, 1]), K([2, 4, 1])])], ('int32',))
row('Split', lambda v: [C(K(1), v(3, 4), num_split=2), C(K(0), v(6), num_split=3), C(K(-1), v(2, 3), num_split=1)])
row('SplitV', lambda v: [C(v(3, 4), K([1, 3]), K(1), num_split=2), C(v(6), K([2, -1, 1]), K(0), num_split=3)])
row('Pack',
    lambda v: [C([v(3, 4), v(3, 4)]),
               C([v(3, 4), v(3, 4), v(3, 4)], axis=1),
               C([v(2), v(2)], axis=-1),
               C([v(), v()])])
row('Unpack', lambda v: [C(v(3, 4), num=3), C(v(3, 4), num=4, axis=1), C(v(2, 3, 2), num=2, axis=-1)])
row('Slice',
    lambda v: [C(v(3, 4), K([1, 0]), K([2, 3])),
               C(v(3, 4, 2), K([0, 2, 1]), K([-1, 2, -1])),
               C(v(5), K([1]), K([0]))])


def strided(v, make):
    yield make((6, 5), [1, 0], [5, 4], [2, 1], {})
    yield make((6, 5), [4, 4], [0, 0], [-2, -1], {})
    yield make((6, 5), [0, 1], [0, 5], [1, 3], dict(begin_mask=1, end_mask=1))
    yield make((3, 4, 5), [0, 1, 0], [0, 2, 0], [1, 1, 1], dict(ellipsis_mask=1, shrink_axis_mask=2))
    yield make((3, 4), [0, 0, 1], [0, 2, 3], [1, 1, 1], dict(new_axis_mask=1))
    yield make((6,), [-2], [-1], [1], dict(shrink_axis_mask=1))
    yield make((6,), [4], [2], [1], {})


def strided_slice_gradient(shape, begin, end, strides, attrs, v):
    result, index, n = np.zeros(shape), [], len(begin)
    for i in range(n):
        bit = 1 << i
        if attrs.get('ellipsis_mask', 0) & bit:
            index.append(Ellipsis)
        elif attrs.get('new_axis_mask', 0) & bit:
            index.append(None)
        elif attrs.get('shrink_axis_mask', 0) & bit:
            index.append(begin[i])
        else:
            index.append(
                slice(None if attrs.get('begin_mask', 0) & bit else begin[i],
                      None if attrs.get('end_mask', 0) & bit else end[i], strides[i]))
    return C(K(shape), K(begin), K(end), K(strides), v(*result[tuple(index)].shape), **attrs)


row('StridedSlice', lambda v: strided(v, lambda shape, b, e, s, attrs: C(v(*shape), K(b), K(e), K(s), **attrs)))
row('StridedSliceGrad',
    lambda v: strided(v, lambda shape, b, e, s, attrs: strided_slice_gradient(shape, b, e, s, attrs, v)))
row(
    'Gather', lambda v:
    [C(v(5, 3), K([4, 0, 4])),
     C(v(6), K([[1, 2], [0, 5]])),
     C(v(3, 2, 2), K(1)),
     C(v(4, 3), K(np.zeros([0], int)))])
row(
    'GatherV2', lambda v: [
        C(v(5, 3), K([4, 0, 4]), K(0)),
        C(v(3, 6), K([[1, 2], [0, 5]]), K(1)),
        C(v(3, 2, 4), K(1), K(-1)),
        C(v(2, 5), K([[1, 0], [4, 4]]), K(1), batch_dims=1)
    ])
row('GatherNd',
    lambda v: [C(v(4, 3), K([[0, 1], [3, 2]])),
               C(v(4, 3, 2), K([[1], [1], [0]])),
               C(v(4, 3), K([[[0, 0]], [[2, 1]]]))])
row('ScatterNd', lambda v: [C(K([[0], [2], [0]]), v(3, 4), K([4, 4])), C(K([[0, 1], [2, 2]]), v(2), K([3, 3]))])
row('TensorScatterAdd TensorScatterSub TensorScatterUpdate', lambda v: [C(v(4, 3), K([[0], [2]]), v(2, 3))])
row('ScatterNdNonAliasingAdd', lambda v: [C(v(4, 3), K([[0], [2]]), v(2, 3))])
row('SparseToDense',
    lambda v: [C(K([[0, 1], [2, 0]]), K([3, 2]), v(2), v()),
               C(K([1, 3]), K([5]), v(), v()),
               C(K(2), K([4]), v(), v())])
row(
    'Roll', lambda v: [
        C(v(5), K(2), K(0)),
        C(v(3, 4), K([1, -2]), K([0, 1])),
        C(v(2, 3, 4), K([7, -1, 3]), K([-1, 1, 2])),
        C(v(0, 3), K(1), K(0)),
        C(v(3), K(np.zeros([0])), K(np.zeros([0])))
    ])
row('Fill', lambda v: [C(K([3, 4]), v()), C(K(np.zeros([0], int)), v()), C(K([0, 2]), v())])
row('Tile', lambda v: [C(v(3, 4), K([2, 1])), C(v(2, 3), K([2, 3])), C(v(3), K([0])), C(v(2, 1, 3), K([1, 4, 2]))])
row('Pad',
    lambda v: [C(v(3, 4), K([[1, 0], [0, 2]])),
               C(v(5), K([[2, 3]])),
               C(v(2, 3, 2), K([[0, 0], [1, 1], [0, 1]]))])
row('PadV2', lambda v: [C(v(3, 4), K([[1, 0], [0, 2]]), v()), C(v(5), K([[2, 3]]), v())])
row('MirrorPad',
    lambda v: [C(v(3, 4), K([[1, 2], [0, 3]]), mode='REFLECT'),
               C(v(3, 4), K([[3, 2], [0, 4]]), mode='SYMMETRIC')])
row('MirrorPadGrad',
    lambda v: [C(v(6, 7), K([[1, 2], [0, 3]]), mode='REFLECT'),
               C(v(8, 8), K([[3, 2], [0, 4]]), mode='SYMMETRIC')])
row('BroadcastTo', lambda v: [C(v(4), K([3, 4])), C(v(3, 1), K([2, 3, 5])), C(v(), K([2, 2]))])
row('BroadcastArgs', lambda v: [C(K([3, 1]), K([4])), C(K([2, 1, 5]), K([4, 1]))], ('int32',))
row('BroadcastGradientArgs', lambda v:
    [C(K([3, 4]), K([4])), C(K([2, 1, 5]), K([4, 1])),
     C(K([3]), K([3])), C(K([1]), K([1]))], ('int32',))
row(
    'OneHot', lambda v: [
        C(K([0, 2, -1, 4]), K(3), v.of(1, 0, 1), v.of(0, 0, 1)),
        C(K([[1, 0], [2, 2]]), K(3), v.of(1, 0, 1), v.of(0, 0, 1), axis=0),
        C(K([1, 2]), K(4), v(), v(), axis=1)
    ])
row(
    'Where', lambda v: [
        C(v.of(v.random.randint(0, 2, (3, 4)), 0, 1)),
        C(v.of(v.random.randint(0, 2, (7,)), 0, 1)),
        C(v.of(np.zeros((2, 2)), 0, 1))
    ], ALL_TYPES[:-1])
row('IdentityN', lambda v: [C([v(3, 4), v(2)]), C([v()])])
row('ShapeN', lambda v: [C([v(3, 4), v(2), v()]), C([v(3), v(4)], out_type='int64')])
row('PlaceholderWithDefault', lambda v: [C(v(3, 4), shape=[None, 4], gradient=False)])
row('DynamicStitch ParallelDynamicStitch',
    lambda v: [C([K([0, 2]), K([1, 3, 4])], [v(2, 3), v(3, 3)]),
               C([K(1), K([0, 2])], [v(), v(2)])])
row(
    'DynamicPartition', lambda v: [
        C(v(5, 2), K([0, 2, 0, 1, 2]), num_partitions=3),
        C(v(2, 2), K([[0, 1], [1, 0]]), num_partitions=2),
        C(v(3), K([1, 1, 1]), num_partitions=2)
    ])
row('Unique',
    lambda v: [C(v.of([4, 1, 4, 2, 1, 3])),
               C(v.of([4, 1, 4, 2, 1, 3]), out_idx='int64'),
               C(v.of(np.zeros([0])))])
row('UniqueWithCounts', lambda v: [C(v.of([4, 1, 4, 2, 1, 3])), C(v.of([4, 1, 4, 2, 1, 3]), out_idx='int64')])
row('ListDiff',
    lambda v: [C(v.of([4, 1, 4, 2, 1, 3]), v.of([1, 2])),
               C(v.of([1, 2]), v.of([4, 1, 2]), out_idx='int64')])
row('SpaceToBatchND', lambda v: [C(v(2, 4, 6, 3), K([2, 3]), K([[0, 0], [0, 0]])), C(v(1, 5, 2), K([2]), K([[1, 0]]))])
row('BatchToSpaceND', lambda v: [C(v(12, 2, 2, 3), K([2, 3]), K([[0, 0], [0, 0]])), C(v(2, 3, 2), K([2]), K([[1, 0]]))])
row(
    'SpaceToBatch', lambda v:
    [C(v(2, 4, 6, 3), K([[0, 0], [0, 0]]), block_size=2),
     C(v(1, 3, 4, 2), K([[1, 0], [0, 0]]), block_size=2)])
row(
    'BatchToSpace', lambda v:
    [C(v(8, 2, 2, 3), K([[0, 0], [0, 0]]), block_size=2),
     C(v(4, 2, 2, 1), K([[1, 0], [0, 1]]), block_size=2)])
row('SpaceToDepth', lambda v: [C(v(2, 4, 6, 3), block_size=2), C(v(1, 3, 6, 2), block_size=3)])
row('DepthToSpace', lambda v: [C(v(2, 2, 3, 12), block_size=2), C(v(1, 1, 2, 18), block_size=3)])
row('Bincount',
    lambda v: [C(K([0, 2, 2, 1, 7]), K(5), v(5)), C(K([0, 2, 2, 1]), K(3), v(0))],
    ('float32', 'float64', 'int32', 'int64'))
row(
    'TopK', lambda v:
    [C(v.distinct(3, 5), k=2),
     C(v.distinct(7), k=7),
     C(v.of([1, 3, 3, 2, 3]), k=4, what='ties', gradient=False)])
row(
    'TopKV2', lambda v: [
        C(v.distinct(3, 5), K(2)),
        C(v.distinct(2, 2, 4), K(1)),
        C(v.of([1, 3, 3, 2, 3]), K(4), what='ties', gradient=False)
    ])
row('NthElement', lambda v: [C(v.distinct(3, 5), K(2)), C(v.distinct(7), K(0), reverse=True)])
row('InTopK', lambda v: [C(v.distinct(4, 5), K([0, 3, 2, 1]), k=2)], ('float32',))
row('InTopKV2', lambda v: [C(v.distinct(4, 5), K([0, 3, 2, 1]), K(2))], ('float32',))
row('UpperBound LowerBound', lambda v: [C(np.sort(v.distinct(2, 5), 1), v(2, 3))],
    ('float32', 'float64', 'int32', 'int64'))
row('Bucketize', lambda v: [C(v(3, 4), boundaries=[-1.0, 0.0, 1.0])])

segment_cases = [([0, 0, 1, 3, 3], (5, 3)), ([0, 1, 2], (3,)), ([0, 0], (2, 2, 2))]
row('SegmentSum SegmentMean SegmentProd SegmentMax SegmentMin',
    lambda v: [C(v.nonzero(*shape), K(ids)) for ids, shape in segment_cases])
row(
    'UnsortedSegmentSum UnsortedSegmentProd UnsortedSegmentMax UnsortedSegmentMin', lambda v: [
        C(v.nonzero(5, 3), K([3, 0, 1, 3, 0]), K(5)),
        C(v.nonzero(3), K([2, -1, 0]), K(3)),
        C(v.nonzero(2, 2, 3), K([[1, 0], [0, 1]]), K(2))
    ])
sparse_segment_cases = [([4, 0, 2, 2], [0, 0, 1, 3], (5, 3)), ([1, 1, 0], [0, 0, 0], (2,)), ([2, 0], [1, 1], (3, 2, 65)),
                        ([], [], (3, 2))]
row('SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN',
    lambda v: [C(v(*shape), K(indices), K(ids)) for indices, ids, shape in sparse_segment_cases])
row('SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments',
    lambda v: [C(v(*shape), K(indices), K(ids), K(5)) for indices, ids, shape in sparse_segment_cases])
row('SparseSegmentMeanGrad SparseSegmentSqrtNGrad',
    lambda v: [C(v(4, 3), K([4, 0, 2, 2]), K([0, 0, 1, 3]), K(6)), C(v(1, 2), K([]), K([]), K(3))])
sparse_matrix = (K([[0, 1], [3, 0], [1, 2], [0, 1]], np.int64), K([4, 3], np.int64))
row(
    'SparseTensorDenseMatMul', lambda v: [
        C(sparse_matrix[0], v(4), sparse_matrix[1], v(3, 5)),
        C(sparse_matrix[0], v(4), sparse_matrix[1], v(4, 5), adjoint_a=True),
        C(sparse_matrix[0], v(4), sparse_matrix[1], v(5, 3), adjoint_b=True),
        C(sparse_matrix[0], v(4), sparse_matrix[1], v(5, 4), adjoint_a=True, adjoint_b=True),
        C(K(np.zeros([0, 2]), np.int64), v(0), sparse_matrix[1], v(3, 2))
    ])

# Matrices.
row('Diag MatrixDiag', lambda v: [C(v(4))] + [C(v(2, 3))])
row('DiagPart', lambda v: [C(v(4, 4)), C(v(2, 3, 2, 3))])
row('MatrixDiagPart', lambda v: [C(v(4, 3)), C(v(2, 3, 5))])
row('MatrixSetDiag', lambda v: [C(v(4, 3), v(3)), C(v(2, 3, 3), v(2, 3))])
row('MatrixBandPart', lambda v: [C(v(4, 5), K(1), K(-1)), C(v(2, 4, 4), K(0), K(2)), C(v(4, 4), K(-1), K(0))])
row('MatrixInverse',
    lambda v: [C(v.well_conditioned(3, 3)),
               C(v.well_conditioned(2, 4, 4), adjoint=True),
               C(v.well_conditioned(1, 1))])
row('MatrixDeterminant LogMatrixDeterminant', lambda v: [C(v.well_conditioned(3, 3)), C(v.well_conditioned(2, 4, 4))])
row('MatrixSolve',
    lambda v: [C(v.well_conditioned(3, 3), v(3, 2)),
               C(v.well_conditioned(2, 4, 4), v(2, 4, 1), adjoint=True)])
row(
    'MatrixTriangularSolve', lambda v: [
        C(v.well_conditioned(3, 3), v(3, 2)),
        C(v.well_conditioned(2, 4, 4), v(2, 4, 1), lower=False),
        C(v.well_conditioned(3, 3), v(3, 2), adjoint=True),
        C(v.well_conditioned(3, 3), v(3, 2), adjoint=True, lower=False)
    ])
row('Cholesky', lambda v: [C(v.positive_definite(3, 3)), C(v.positive_definite(2, 4, 4))])
row('CholeskyGrad', lambda v: [C(np.linalg.cholesky(v.positive_definite(3, 3)), np.tril(v(3, 3)))],
    ('float32', 'float64'))
row('MatrixSolveLs BatchMatrixSolveLs', lambda v: [
    C(v.well_conditioned(3, 3), v(3, 2), K(0.1, np.float64)),
    C(v.well_conditioned(2, 4, 4)[:, :, :3], v(2, 4, 2), K(0.0, np.float64)),
    C(v.well_conditioned(4, 4)[:3], v(3, 1), K(0.0, np.float64))])
row('Svd BatchSvd', lambda v: [C(v(3, 4), compute_uv=False, compared=1), C(v(2, 5, 3), compute_uv=False, compared=1),
                               C(v(3, 4), compared=1, gradient=False)])
row('Qr', lambda v: [C(v.well_conditioned(3, 3)), C(v(2, 4, 3), gradient=not v.is_complex),
                     C(v(3, 4), gradient=False), C(v(4, 2), full_matrices=True, gradient=False)])
row('Lu', lambda v: [C(v.well_conditioned(3, 3)[[1, 2, 0]]), C(v(2, 4, 4))])
row('SelfAdjointEigV2 BatchSelfAdjointEigV2', lambda v: [C(v.positive_definite(3, 3), compute_v=False, compared=1),
                                                         C(v.positive_definite(2, 4, 4), compared=1, gradient=False)])
row('MatrixExponential', lambda v: [C(v(3, 3), gradient=False), C(v(2, 4, 4), gradient=False)])
row('MatrixLogarithm', lambda v: [C(v.well_conditioned(3, 3)), C(v.well_conditioned(2, 4, 4))])
row('MatrixSquareRoot', lambda v: [C(v.positive_definite(3, 3))])


def tridiagonal(v):
    main = v(2, 1, 4) + np.array(4, v.dtype)
    return [np.concatenate([v(2, 1, 4), main, v(2, 1, 4)], 1).astype(v.dtype), v(2, 4, 3)]


row('TridiagonalSolve', lambda v: [C(*tridiagonal(v)), C(*tridiagonal(v), partial_pivoting=False)])
row('TridiagonalMatMul', lambda v: [C(v(2, 1, 4), v(2, 1, 4), v(2, 1, 4), v(2, 4, 3))])
row('BatchCholesky', lambda v: [C(v.positive_definite(2, 4, 4))])
row('BatchCholeskyGrad', lambda v: [C(np.linalg.cholesky(v.positive_definite(2, 3, 3)), np.tril(v(2, 3, 3)))],
    ('float32', 'float64'))
row('BatchMatrixDeterminant BatchMatrixInverse', lambda v: [C(v.well_conditioned(2, 4, 4))])
row('BatchMatrixSolve BatchMatrixTriangularSolve', lambda v: [C(v.well_conditioned(2, 4, 4), v(2, 4, 1))])
row('BatchMatrixDiag', lambda v: [C(v(2, 3))])
row('BatchMatrixDiagPart', lambda v: [C(v(2, 3, 3))])
row('BatchMatrixSetDiag', lambda v: [C(v(2, 3, 3), v(2, 3))])
row('BatchMatrixBandPart', lambda v: [C(v(2, 4, 4), K(0, np.int64), K(2, np.int64))])
row('Cross', lambda v: [C(v(3), v(3)), C(v(4, 3), v(4, 3))])

# Networks.
row(
    'Softmax LogSoftmax', lambda v: [C(v(3, 4)), C(v(7)), C(v(2, 3, 5)), C(v(1, 1))] +
    ([C(v(2, 3, low=50, high=90), what='large logits')] if v.dtype in ('float32', 'float64') else []))


def probabilities(v, *shape):
    values = v.random.uniform(0.1, 1, shape)
    return v.of(values / values.sum(-1, keepdims=True))


row(
    'SoftmaxCrossEntropyWithLogits', lambda v: [
        C(v(3, 4), probabilities(v, 3, 4)),
        C(v(5, 2, low=-40, high=40), probabilities(v, 5, 2)),
        C(v(3, 4), probabilities(v, 1, 4), what='broadcast labels')
    ])
row('SparseSoftmaxCrossEntropyWithLogits',
    lambda v: [C(v(3, 4), K([3, 0, 1])), C(v(5, 2, low=-40, high=40), K([1, 0, 1, 1, 0]))])
row('BiasAdd BiasAddV1', lambda v: [C(v(3, 4), v(4)), C(v(2, 3, 2, 5), v(5)), C(v(2, 3, 4), v(4))])
row('BiasAddGrad', lambda v: [C(v(3, 4)), C(v(2, 3, 2, 5))])


def output_size(size, kernel, stride, padding, dilation=1):
    kernel = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding == 'SAME' else -(-(size - kernel + 1) // stride)


CONVOLUTIONS = [((2, 6, 5, 3), (3, 3, 3, 4), 1, 'SAME', 1), ((2, 7, 6, 2), (2, 3, 2, 5), 2, 'VALID', 1),
                ((1, 5, 5, 1), (1, 1, 1, 2), 1, 'VALID', 1), ((1, 9, 8, 2), (3, 3, 2, 3), 1, 'SAME', 2),
                ((2, 5, 5, 2), (5, 5, 2, 16), 1, 'SAME', 1), ((1, 8, 8, 3), (4, 4, 3, 2), 3, 'SAME', 1)]


def convolution(v, make, depthwise=False):
    for image, kernel, stride, padding, dilation in CONVOLUTIONS:
        if depthwise:
            kernel = kernel[:3] + (2,)
        attrs = dict(strides=[1, stride, stride, 1], padding=padding)
        if dilation != 1:
            attrs['dilations'] = [1, dilation, dilation, 1]
        out = [output_size(image[1 + i], kernel[i], stride, padding, dilation) for i in (0, 1)]
        depth = kernel[2] * kernel[3] if depthwise else kernel[3]
        if make != 'forward' and dilation != 1:
            continue
        values, weights, gradient = v(*image), v(*kernel, low=-0.5, high=0.5), v(image[0], out[0], out[1], depth)
        if make == 'forward':
            yield C(values, weights, **attrs)
        elif make == 'input':
            yield C(K(image), weights, gradient, **attrs)
        else:
            yield C(values, K(kernel), gradient, **attrs)
    if make == 'forward' and not depthwise:
        yield C(v(1, 5, 6, 2),
                v(3, 3, 2, 2),
                strides=[1, 2, 1, 1],
                padding='EXPLICIT',
                explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0])


for kind, suffix in [('forward', ''), ('input', 'BackpropInput'), ('filter', 'BackpropFilter')]:
    row('Conv2D' + suffix, lambda v, kind=kind: convolution(v, kind))
    row('DepthwiseConv2dNative' + suffix, lambda v, kind=kind: convolution(v, kind, True))

POOLS = [((2, 6, 5, 3), 2, 2, 'SAME'), ((1, 7, 7, 2), 3, 2, 'VALID'), ((2, 4, 4, 1), 2, 1, 'SAME'),
         ((1, 5, 5, 4), 2, 3, 'SAME')]


def pool_attrs(size, stride, padding):
    return dict(ksize=[1, size, size, 1], strides=[1, stride, stride, 1], padding=padding)


def windows(size, kernel, stride, padding):
    """[(begin, end)] along one dimension."""
    count = output_size(size, kernel, stride, padding)
    before = max((count - 1) * stride + kernel - size, 0) // 2 if padding == 'SAME' else 0
    return [(max(i * stride - before, 0), min(i * stride - before + kernel, size)) for i in range(count)]


def max_pool(image, size, stride, padding):
    rows, columns = windows(image.shape[1], size, stride, padding), windows(image.shape[2], size, stride, padding)
    return np.stack([np.stack([image[:, a:b, c:d].max((1, 2)) for c, d in columns], 1) for a, b in rows], 1)


def max_pool_gradient(v, second):
    for shape, size, stride, padding in POOLS:
        image = v.distinct(*shape)
        out = max_pool(image, size, stride, padding)
        yield C(image, out, v(*shape) if second else v(*out.shape), **pool_attrs(size, stride, padding))


def average_pool_gradient(v):
    for shape, size, stride, padding in POOLS:
        out = [output_size(n, size, stride, padding) for n in shape[1:3]]
        yield C(K(shape), v(shape[0], out[0], out[1], shape[3]), **pool_attrs(size, stride, padding))


row('MaxPool AvgPool',
    lambda v: [C(v.distinct(*shape), **pool_attrs(*rest)) for shape, rest in ((p[0], p[1:]) for p in POOLS)])
row('MaxPoolWithArgmax',
    lambda v: [C(v.distinct(*shape), **pool_attrs(*rest)) for shape, rest in ((p[0], p[1:]) for p in POOLS)])
row('MaxPoolGrad', lambda v: max_pool_gradient(v, False))
row('MaxPoolGradGrad', lambda v: max_pool_gradient(v, True))
row('AvgPoolGrad', average_pool_gradient)


def fed_windows(case):
    """The case with its windows as inputs, as the V2 operations have them."""
    attrs = dict(case.attrs)
    sizes, strides = attrs.pop('ksize'), attrs.pop('strides')
    return C(*case.inputs, K(sizes), K(strides), **attrs)


row('MaxPoolV2', lambda v: [
    fed_windows(C(v.distinct(*shape), **pool_attrs(*rest))) for shape, rest in ((p[0], p[1:]) for p in POOLS)
])
row('MaxPoolGradV2', lambda v: [fed_windows(case) for case in max_pool_gradient(v, False)])
row('MaxPoolGradGradV2', lambda v: [fed_windows(case) for case in max_pool_gradient(v, True)])
row('MaxPoolGradWithArgmax', lambda v: [
    C(v(1, 3, 3, 1), v(1, 2, 2, 1), K(np.array([0, 1, 3, 5]).reshape(1, 2, 2, 1)), **pool_attrs(2, 1, 'VALID'))
])

VOLUMES = [((2, 4, 5, 3, 2), (2, 3, 2, 2, 3), (1, 1, 1), 'SAME'), ((1, 5, 4, 6, 3), (3, 2, 2, 3, 2), (2, 1, 2), 'VALID'),
           ((1, 3, 3, 3, 1), (1, 1, 1, 1, 4), (1, 1, 1), 'VALID'), ((2, 5, 3, 4, 2), (2, 2, 2, 2, 1), (2, 3, 1), 'SAME')]


def volume_cases(v, make):
    for image, kernel, stride, padding in VOLUMES:
        out = [output_size(image[1 + i], kernel[i], stride[i], padding) for i in range(3)]
        attrs = dict(strides=[1] + list(stride) + [1], padding=padding)
        values, weights = v(*image), v(*kernel, low=-0.5, high=0.5)
        gradient = v(image[0], out[0], out[1], out[2], kernel[4])
        if make == 'forward':
            yield C(values, weights, **attrs)
        elif make == 'input':
            yield C(K(image), weights, gradient, **attrs)
        elif make == 'filter':
            yield C(values, K(kernel), gradient, **attrs)
        elif make == 'pool':
            yield C(v.distinct(*image), ksize=[1] + list(kernel[:3]) + [1], **attrs)
        else:
            yield C(K(image), v(*([image[0]] + out + [image[4]])), ksize=[1] + list(kernel[:3]) + [1], **attrs)


row('Conv3D', lambda v: volume_cases(v, 'forward'))
row('Conv3DBackpropInputV2', lambda v: volume_cases(v, 'input'))
row('Conv3DBackpropFilterV2', lambda v: volume_cases(v, 'filter'))
row('MaxPool3D AvgPool3D', lambda v: volume_cases(v, 'pool'))
row('AvgPool3DGrad', lambda v: volume_cases(v, 'pool gradient'))
row('DataFormatDimMap', lambda v: [C(K([0, 1, 2, 3, -1, -2, -3, -4])), C(K([[1, 3], [-2, 0]]), dst_format='HWNC')])
row('DataFormatVecPermute', lambda v: [C(K([7, 4, 9, 3])), C(K([[7, 4], [9, 3], [4, 5], [5, 1]]), src_format='HWNC', dst_format='NHWC')])
row(
    'LRN', lambda v:
    [C(v(2, 3, 2, 7), depth_radius=2, bias=1.0, alpha=0.1, beta=0.75),
     C(v(1, 2, 2, 3)),
     C(v(1, 1, 1, 12), beta=1.0)])


def lrn_gradient(v):
    image = v(2, 3, 2, 7)
    squares = np.square(np.pad(image.astype(np.float64), [(0, 0)] * 3 + [(2, 2)], 'constant'))
    scale = 1.0 + 0.1 * sum(squares[..., i:i + 7] for i in range(5))
    attrs = dict(depth_radius=2, bias=1.0, alpha=0.1, beta=0.75)
    yield C(v(2, 3, 2, 7), image, v.of(image.astype(np.float64) * scale**-0.75), **attrs)


row('LRNGrad', lrn_gradient, FLOATS)


def batch_norm(v):
    scale = v.dtype if v.dtype == 'float32' else 'float32'
    s = Values(scale, 5)
    empty = s(0)
    yield C(v(4, 3, 2, 5), s(5, low=0.5, high=1.5), s(5), empty, empty)
    yield C(v(5, 2, 1, 3), s(3, low=0.5, high=1.5), s(3), empty, empty, epsilon=0.01)
    yield C(v(4, 3, 2, 5), s(5, low=0.5, high=1.5), s(5), s(5), s(5, low=0.5, high=2), is_training=False, compared=1)


def batch_norm_gradient(v, third):
    s = Values('float32', 5)
    x = v(4, 3, 2, 5)
    mean, variance = x.astype(np.float64).mean((0, 1, 2)), x.astype(np.float64).var((0, 1, 2))
    more = [s(0)] if third else []
    for training in (True, False):
        yield C(v(4, 3, 2, 5),
                x,
                s(5, low=0.5, high=1.5),
                s.of(mean),
                s.of(variance),
                *more,
                is_training=training,
                gradient=False,
                compared=3)


row('FusedBatchNorm', batch_norm, ('float32',))
row('FusedBatchNormV2 FusedBatchNormV3', batch_norm, FLOATS)
row('FusedBatchNormGrad', lambda v: batch_norm_gradient(v, False), ('float32',))
row('FusedBatchNormGradV2', lambda v: batch_norm_gradient(v, False), FLOATS)
row('FusedBatchNormGradV3', lambda v: batch_norm_gradient(v, True), FLOATS)

# Random numbers: TensorFlow's own for the same seeds.
SEEDS = dict(seed=87654321, seed2=7)
row(
    'RandomUniform RandomStandardNormal TruncatedNormal', lambda v:
    [C(K([3, 5]), dtype=v.dtype, **SEEDS),
     C(K([1003]), dtype=v.dtype, **SEEDS),
     C(K([0, 2]), dtype=v.dtype, **SEEDS)], FLOATS)
row('RandomUniformInt', lambda v: [C(K([100]), v.of(-5), v.of(90), **SEEDS)], ('int32', 'int64'))
row('RandomShuffle', lambda v: [C(v.distinct(10, 2), **SEEDS), C(v(100), **SEEDS), C(v(1, 3), **SEEDS)])
row('Multinomial', lambda v: [C(v(3, 6), K(50), **SEEDS), C(v(1, 4), K(7), output_dtype='int32', **SEEDS)], FLOATS)
row(
    'LogUniformCandidateSampler UniformCandidateSampler', lambda v: [
        C(K([[1, 3], [0, 2]], np.int64), num_true=2, num_sampled=5, unique=unique, range_max=20, **SEEDS)
        for unique in (True, False)
    ], ('int64',))
row('ComputeAccidentalHits',
    lambda v: [C(K([[1, 3], [0, 2]], np.int64), K([3, 7, 1, 0], np.int64), num_true=2, **SEEDS)], ('int64',))

# Variables.
row('Assign', lambda v: [C(V(v(3, 4)), v(3, 4))])
row('AssignAdd AssignSub AssignAddVariableOp AssignSubVariableOp AssignVariableOp',
    lambda v: [C(V(v(3, 4)), v(3, 4)), C(V(v()), v())])
row(
    'ScatterAdd ScatterSub ScatterUpdate ScatterMul ScatterMin ScatterMax ResourceScatterAdd ResourceScatterSub '
    'ResourceScatterUpdate ResourceScatterMul ResourceScatterMin ResourceScatterMax',
    lambda v: [C(V(v(5, 3)), K([4, 0, 2]), v(3, 3)),
               C(V(v(5)), K([[1, 2], [0, 4]]), v(2, 2))])
row('ScatterDiv ResourceScatterDiv', lambda v: [C(V(v(5, 3)), K([4, 0, 2]), v.nonzero(3, 3))])
row('ScatterNdAdd ScatterNdSub ScatterNdUpdate ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate', lambda v: [C(V(v(5, 3)), K([[4], [0]]), v(2, 3))])
row('ResourceGather', lambda v: [C(V(v(5, 3)), K([4, 0, 4]), dtype=v.dtype)])
row('ReadVariableOp', lambda v: [C(V(v(3, 4)), dtype=v.dtype)])
row('VariableShape IsVariableInitialized VarIsInitializedOp', lambda v: [C(V(v(3, 4)))])
row('CountUpTo', lambda v: [C(V(np.array(3, v.dtype)), limit=5)], ('int32', 'int64'))
row('Variable VariableV2 VarHandleOp', lambda v: [], ())

SCALARS = {
    'lr': 0.1, 'alpha': 0.1, 'rho': 0.9, 'epsilon': 0.01, 'momentum': 0.9, 'beta1_power': 0.81, 'beta2_power': 0.99,
    'beta1': 0.9, 'beta2': 0.99, 'l1': 0.02, 'l2': 0.03, 'lr_power': -0.5, 'l2_shrinkage': 0.05, 'beta': 0.9,
    'logbase': 1.0, 'sign_decay': 0.9
}


def update(input_names, attr_names):
    """The row of an operation that applies a gradient to variables, from the names of its inputs."""
    sparse = 'indices' in input_names

    def cases(v):
        if not v.is_float and not v.is_complex:
            return
        for flag in [{}] + [{name: True} for name in ('use_nesterov', 'use_locking') if name in attr_names]:
            for rows in (3, 17):
                inputs = []
                for name in input_names:
                    if name == 'indices':
                        inputs.append(K([0, 2]))
                    elif name == 'global_step':
                        inputs.append(K(4, np.int64))
                    elif name in SCALARS:
                        inputs.append(
                            np.asarray(v.of(SCALARS[name]).real, v.dtype if v.dtype != 'bfloat16' else np.float32))
                    elif name in ('grad', 'delta'):
                        inputs.append(v(2 if sparse else rows, 4))
                    elif name in ('var', 'm', 'mom', 'mg', 'linear', 'gradient_accumulator'):
                        inputs.append(V(v(rows, 4, low=-0.3, high=0.3)))
                    else:
                        inputs.append(V(v(rows, 4, low=0.5, high=2)))
                yield C(*inputs, gradient=False, **flag)

    return cases


# Text.
def text(*words):
    result = np.empty(len(words), object)
    result[:] = [w if isinstance(w, bytes) else w.encode() for w in words]
    return result


STRING = ('string',)
row('StringJoin', lambda v: [C([v(3, 2), v(3, 2)], separator='-'), C([v(3), v()]), C([v()])], STRING)
row(
    'AsString', lambda v: [C(v(3, 4)), C(v(3), width=8), C(v(3), width=8, fill='0')] +
    ([C(v(3), precision=2), C(v(3), scientific=True),
      C(v(3), shortest=True)] if v.is_float or v.is_complex else []), ALL_TYPES[:-1])
row(
    'StringToNumber', lambda v: [C(text('1', '-3', ' 7 ', '+12'), out_type=t) for t in ('int32', 'int64')] +
    [C(text('1', '-3.5e2', 'inf', '.5', ' 2.25 '), out_type=t) for t in ('float32', 'float64')], STRING)
row(
    'StringSplit', lambda v: [
        C(text('a b  c', '', 'd e'), K(b' ', object)),
        C(text('a b  c', 'd'), K(b' ', object), skip_empty=False),
        C(text('abc'), K(b'', object))
    ], STRING)
row(
    'StringSplitV2', lambda v: [
        C(text('a b  c', '', 'd e'), K(b' ', object)),
        C(text('a<>b<>c'), K(b'<>', object)),
        C(text(' a  b '), K(b'', object))
    ], STRING)
row('ReduceJoin',
    lambda v: [C(v(3, 4), K([1])),
               C(v(3, 4), K([0, 1]), separator='-'),
               C(v(3, 4), K([-2]), keep_dims=True)], STRING)
row(
    'Substr', lambda v: [
        C(text('hello', 'world'), K(1), K(3)),
        C(text('hello', 'world'), K([0, 2]), K([2, 9])),
        C(text('hello'), K(-3), K(2))
    ], STRING)
row(
    'DecodeRaw', lambda v: [
        C(text(b'\x01\x02\x03\x04\x05\x06\x07\x08', b'abcdefgh'), out_type=v.dtype),
        C(text(b'\x01\x02\x03\x04\x05\x06\x07\x08'), out_type=v.dtype, little_endian=False)
    ], ('uint8', 'int8', 'int16', 'int32', 'int64', 'uint16'))
row('EncodeBase64', lambda v: [C(text('hello', '', 'a')), C(text('hello', 'ab'), pad=True)], STRING)
row('DecodeBase64',
    lambda v: [C(text('aGVsbG8', '', 'YQ', 'aGk=', '__79', '-_-_')), C(text('YR')), C(text('a')), C(text('YQ=')), C(text('a+b/'))],
    STRING)
row('StringToHashBucketFast StringToHashBucket',
    lambda v: [C(text('hello', '', 'a', 'x' * 100), num_buckets=n) for n in (10, 1 << 40)], STRING)
row('StringToHashBucketStrong', lambda v: [C(text('hello', '', 'a', 'x' * 100), num_buckets=1000, key=[3, 4])], STRING)
row('StringLength', lambda v: [C(text('hello', '', b'\xc3\xa4'))], STRING)
row('StringLower StringUpper StringStrip', lambda v: [C(text(' Hello ', 'AbC\t', ''))], STRING)
row(
    'RegexReplace', lambda v: [
        C(text('hello', 'all'), K(b'l+', object), K(b'L', object)),
        C(text('a1b22'), K(b'([0-9]+)', object), K(b'<\\1>', object), replace_global=False)
    ], STRING)
row('StaticRegexReplace', lambda v: [C(text('hello', 'all'), pattern='l+', rewrite='L')], STRING)
row('RegexFullMatch', lambda v: [C(text('hello', 'all'), K(b'.*o', object))], STRING)
row('StaticRegexFullMatch', lambda v: [C(text('hello', 'all'), pattern='.*o')], STRING)
row(
    'EditDistance', lambda v: [
        C(K([[0, 0], [0, 1], [1, 0]], np.int64),
          v.of([1, 2, 3]),
          K([2, 2], np.int64),
          K([[0, 0], [0, 1], [1, 0]], np.int64),
          v.of([1, 3, 3]),
          K([2, 2], np.int64),
          normalize=n,
          gradient=False) for n in (True, False)
    ])
row('Fingerprint', lambda v: [C(text('hello', ''), K(b'farmhash64', object))], STRING)
row('UnsortedSegmentJoin', lambda v: [C(text('a', 'b', 'c'), K([1, 0, 1]), K(3), separator='-')], STRING)
row('UnicodeTranscode', lambda v: [C(text(b'h\xc3\xa4', b'\xff!'), input_encoding='UTF-8', output_encoding=to)
                                   for to in ('UTF-8', 'UTF-16-BE', 'UTF-32-BE')], STRING)
row('UnicodeDecode UnicodeDecodeWithOffsets', lambda v: [C(text(b'h\xc3\xa4', b'\xff!', ''), input_encoding='UTF-8')], STRING)
row('UnicodeEncode', lambda v: [C(K([104, 228, 33]), K([0, 2, 3], np.int64), output_encoding='UTF-8')], STRING)
row('StringNGrams', lambda v: [C(text('a', 'b', 'c', 'd'), K([0, 3, 4], np.int64), separator='|', ngram_widths=[2, 3],
                                 left_pad='L', right_pad='R', pad_width=width, preserve_short_sequences=short)
                               for width in (-1, 0, 1) for short in (True, False)], STRING)

# Sparse tensors.
PLACES, OTHERS, SIZES = K([[0, 1], [1, 0], [1, 2]], np.int64), K([[0, 1], [0, 2], [1, 2]], np.int64), K([2, 3], np.int64)
row('SparseReorder', lambda v: [C(K([[1, 2], [0, 1], [1, 0]], np.int64), v(3), SIZES)])
row('SparseReshape', lambda v: [C(PLACES, SIZES, K([3, -1], np.int64))], ('int64',))
row('SparseSlice', lambda v: [C(PLACES, v(3), SIZES, K([0, 1], np.int64), K([2, 5], np.int64))])
row('SparseSliceGrad', lambda v: [C(v(2), PLACES, K([0, 1], np.int64), K([[0, 0], [1, 1]], np.int64))])
row('SparseConcat', lambda v: [C([PLACES, OTHERS], [v(3), v(3)], [SIZES, SIZES], concat_dim=d) for d in (0, 1, -1)])
row('SparseSplit', lambda v: [C(K(d, np.int64), PLACES, v(3), SIZES, num_split=2) for d in (0, 1)])
row('SparseAdd', lambda v: [C(PLACES, v(3), SIZES, OTHERS, v(3), SIZES, K(0, np.float32))], ('float32',))
row('SparseAddGrad', lambda v: [C(v(4), PLACES, OTHERS, K([[0, 1], [0, 2], [1, 0], [1, 2]], np.int64))])
row('SparseSparseMaximum SparseSparseMinimum', lambda v: [C(PLACES, v(3), SIZES, OTHERS, v(3), SIZES)])
row('SparseFillEmptyRows', lambda v: [C(K([[0, 1], [2, 0]], np.int64), v(2), K([4, 3], np.int64), v())])
row('SparseFillEmptyRowsGrad', lambda v: [C(K([0, 2], np.int64), v(4))])
row('SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv',
    lambda v: [C(PLACES, v(3), SIZES, v.nonzero(2, 3)), C(PLACES, v(3), SIZES, v.nonzero(3)), C(PLACES, v(3), SIZES, v.nonzero(2, 1))])
row('SparseTensorDenseAdd', lambda v: [C(PLACES, v(3), SIZES, v(2, 3))])
row('SparseReduceSum SparseReduceMax SparseReduceSumSparse SparseReduceMaxSparse',
    lambda v: [C(PLACES, v(3, low=0.1, high=3), SIZES, K([1])), C(PLACES, v(3, low=0.1, high=3), SIZES, K([-1, 0]), keep_dims=True)])
row('SparseSoftmax', lambda v: [C(PLACES, v(3), SIZES)])
row('SparseMatMul', lambda v: [C(v(3, 4), v(4, 2)), C(v(4, 3), v(2, 4), transpose_a=True, transpose_b=True)], ('float32',))
row('SparseCross', lambda v: [
    C([PLACES, OTHERS], [text('a', 'b', 'c'), text('x', 'y', 'z')], [SIZES, SIZES], [], hashed_output=hashed, num_buckets=n,
      hash_key=956888297470, out_type='int64' if hashed else 'string', internal_type='string')
    for hashed, n in ((False, 0), (True, 0), (True, 100))], STRING)
row('HistogramFixedWidth', lambda v: [C(v(20, low=-8, high=8), v.of([-5, 5], -9, 99), K(n)) for n in (5, 10)])
row('IgammaGradA', lambda v: [C(v(3, 4, low=1.2, high=4), v(3, 4, low=0.3, high=3), gradient=False)])
row('ShardedFilename', lambda v: [C(K(b'model', object), K(3), K(12))], STRING)
row('ShardedFilespec', lambda v: [C(K(b'model', object), K(12))], STRING)
row('Unbatch', lambda v: [], ())

# Summaries: serialised messages; pictures are compared as pixels.
TAG = K(b'tag', object)
row('ScalarSummary', lambda v: [C(TAG, v()), C(K([b'a', b'b'], object), v(2))])
row('HistogramSummary', lambda v: [C(TAG, v(3, 4)), C(TAG, v(200, low=-30, high=30)), C(TAG, v(0))])
row(
    'ImageSummary', lambda v:
    [C(TAG, v(2, 3, 4, 1, low=0, high=1.5)),
     C(TAG, v(1, 3, 4, 3)),
     C(TAG, v(4, 2, 2, 4, low=0, high=3), max_images=2)])
row('AudioSummary', lambda v: [C(TAG, v(2, 9, 2), sample_rate=10.0)], ('float32',))
row('AudioSummaryV2',
    lambda v: [C(TAG, v(2, 9, 2), K(10.0, np.float32)),
               C(TAG, v(2, 9), K(10.0, np.float32), max_outputs=1)], ('float32',))
row('TensorSummary', lambda v: [C(v(3, 4), description='text', display_name='name')])
row('TensorSummaryV2', lambda v: [C(TAG, v(3, 4), K(b'', object))])



# Pictures.
def _boxes(v, *shape):
    return v.random.uniform(0, 1, shape).astype('float32')


def _resize(corners):

    def cases(v):
        for size in ([7, 3], [4, 10], [5, 6]):
            for attrs in ({}, {"align_corners": True}) + (({"half_pixel_centers": True},) if corners else ()):
                for channels in (1, 3, 4):
                    yield C(v(2, 5, 6, channels), K(size), **attrs)

    return cases


def _resize_grad(v):
    for attrs in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
        yield C(v.random.uniform(-1, 1, (2, 7, 3, 3)).astype('float32'), v(2, 5, 6, 3), **attrs)


def _suppression(extra):

    def cases(v):
        yield C(v.of(_boxes(v, 20, 4)), v.of(v.random.permutation(20) / 20.0), K(8), *extra(v))
        yield C(v.of(_boxes(v, 3, 4)), v.of(v.random.permutation(3) / 20.0), K(8), *extra(v))

    return cases


def _threshold(v, value):
    return v.of(np.asarray(value))


row('ResizeBilinear ResizeNearestNeighbor ResizeBicubic', _resize(True))
row('ResizeArea', _resize(False))
row('ResizeBilinearGrad ResizeBicubicGrad', _resize_grad)
row('ResizeNearestNeighborGrad', lambda v: [C(v(2, 7, 3, 3), K([5, 6])), C(v(2, 7, 3, 3), K([5, 6]), align_corners=True)])
row(
    'ScaleAndTranslate', lambda v: [
        C(v(1, 5, 6, 3), K([7, 4]), K([1.5, 0.7], np.float32), K([0.5, -1], np.float32), kernel_type=kernel, antialias=a)
        for kernel in ('lanczos3', 'triangle', 'keyscubic') for a in (True, False)
    ])
row('ScaleAndTranslateGrad',
    lambda v: [C(v(1, 7, 4, 3), v(1, 5, 6, 3), K([1.5, 0.7], np.float32), K([0.5, -1], np.float32))])
row(
    'CropAndResize', lambda v: [
        C(v(2, 5, 6, 3), _boxes(v, 3, 4) * 1.4 - 0.2, K([0, 1, 1]), K(size), method=method)
        for size in ([3, 4], [1, 1]) for method in ('bilinear', 'nearest')
    ])
row(
    'CropAndResizeGradImage',
    lambda v: [C(v.random.uniform(-1, 1, (3, 2, 4, 2)).astype('float32'), _boxes(v, 3, 4), K([0, 1, 1]), K([2, 5, 6, 2]),
                 T=v.dtype)], ('float32', 'float64', 'float16'))
row('CropAndResizeGradBoxes',
    lambda v: [C(v.random.uniform(-1, 1, (3, 2, 4, 2)).astype('float32'), v(2, 5, 6, 2), _boxes(v, 3, 4), K([0, 1, 1]))])
row('ExtractGlimpse', lambda v: [C(v(2, 9, 8, 3), K([3, 4]), K([[0.1, -0.2], [0.3, 0.2]], np.float32))], ('float32',))
row(
    'ExtractImagePatches', lambda v: [
        C(v(2, 5, 6, 2), ksizes=[1, 3, 2, 1], strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding=padding)
        for padding in ('SAME', 'VALID')
    ])
row('RGBToHSV HSVToRGB', lambda v: [C(v(3, 4, 3, low=0, high=1)), C(v(3, low=0, high=1))], ('float32', 'float64'))
row('AdjustHue AdjustSaturation AdjustContrastv2',
    lambda v: [C(v(2, 5, 4, 3, low=0, high=1), K(amount, np.float32)) for amount in (0.3, 1.0, 0.0)], ('float32',))
row('DrawBoundingBoxes', lambda v: [C(v(2, 8, 9, 3), _boxes(v, 2, 4, 4))], ('float32',))
row('DrawBoundingBoxesV2', lambda v: [C(v(2, 8, 9, 3), _boxes(v, 2, 4, 4), _boxes(v, 3, 4))], ('float32',))
row('NonMaxSuppression', _suppression(lambda v: ()), ('float32',))
row('NonMaxSuppressionV2', _suppression(lambda v: (_threshold(v, 0.4),)), ('float32',))
row('NonMaxSuppressionV3 NonMaxSuppressionV4', _suppression(lambda v: (_threshold(v, 0.4), _threshold(v, 0.2))),
    ('float32',))
row('NonMaxSuppressionV5',
    _suppression(lambda v: (_threshold(v, 0.4), _threshold(v, 0.2), _threshold(v, 0.3))), ('float32',))
row('NonMaxSuppressionWithOverlaps',
    lambda v: [C(np.maximum(_boxes(v, 9, 9), np.eye(9, dtype='float32')), _boxes(v, 9), K(5), K(0.6, np.float32),
                 K(0.1, np.float32))], ('float32',))
row('CombinedNonMaxSuppression',
    lambda v: [C(_boxes(v, 2, 9, 1, 4), _boxes(v, 2, 9, 3), K(3), K(7), K(0.5, np.float32), K(0.1, np.float32))],
    ('float32',))
row(
    'SampleDistortedBoundingBox', lambda v:
    [C(K([60, 80, 3], v.dtype), K(np.array([[[0.1, 0.2, 0.7, 0.9]]]), np.float32), seed=3, seed2=s) for s in (1, 2, 3)],
    ('int32', 'int64'))
row(
    'SampleDistortedBoundingBoxV2', lambda v: [
        C(K([60, 80, 3], v.dtype), K(np.array([[[0.1, 0.2, 0.7, 0.9]]]), np.float32), K(0.5, np.float32), seed=3, seed2=s)
        for s in (1, 2, 3)
    ], ('int32', 'int64'))
PICTURE = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3) * 2
row('EncodeJpeg', lambda v: [C(K(PICTURE, np.uint8), quality=q, progressive=p) for q in (30, 95) for p in (False, True)],
    ('uint8',))
row('EncodeJpegVariableQuality', lambda v: [C(K(PICTURE, np.uint8), K(70))], ('uint8',))

row('RandomGamma',
    lambda v: [C(K([5]), v.of([0.3, 1.0, 4.5]), seed=3, seed2=4, gradient=False), C(K([2, 2]), v.of(2.0), seed=1, seed2=2, gradient=False)],
    ('float32', 'float64', 'float16'))
row('RandomPoissonV2', lambda v: [C(K([5]), K([0.5, 3.0, 40.0], np.float32), dtype='float32', seed=3, seed2=4)], ('float32',))

FLOW = 'whole graphs are exchanged by control_flow_graphs.py'
EXCLUDED = {
    'SelfAdjointEig': 'TensorFlow imports it only from graphs of version 10 and older',
    'BatchSelfAdjointEig': 'TensorFlow imports it only from graphs of version 10 and older',
    'SerializeSparse': 'strings that hold the same tensors in other bytes',
    'SerializeManySparse': 'strings that hold the same tensors in other bytes',
    'DeserializeSparse': 'what the operations above have written',
    'DeserializeManySparse': 'what the operations above have written',
    'StringFormat': 'a list of types; python/tests',
    'Placeholder': 'the input of every case',
    'Const': 'an input of most cases; all types in the exchange of graphs',
    'Variable': 'the former VariableV2',
    'VariableV2': 'the variable of every case of a state operation',
    'VarHandleOp': 'the variable of every case of a resource operation',
    'DestroyResourceOp': 'no value',
    'NoOp': 'no value',
    'Assert': 'no value',
    'Print': 'prints',
    'CheckNumerics': 'its value is its input',
    'Save': 'files',
    'SaveSlices': 'files',
    'SaveV2': 'files',
    'Restore': 'files',
    'RestoreSlice': 'files',
    'RestoreV2': 'files',
    'MergeV2Checkpoints': 'files',
    'ReadFile': 'files',
    'WriteFile': 'files',
    'FakeParam': 'no value',
    'If': FLOW,
    'StatelessIf': FLOW,
    'While': FLOW,
    'StatelessWhile': FLOW,
    'PyFunc': 'functions of Python',
    'PyFuncStateless': 'functions of Python',
    'MatchingFiles': 'files',
    'DecodeJpeg': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'DecodeAndCropJpeg': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'ExtractJpegShape': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'DecodePng': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'DecodeGif': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'DecodeBmp': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'EncodePng': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'RandomPoisson': 'TensorFlow imports it only from graphs of version 25 and older; RandomPoissonV2 is compared',
    'RandomCrop': 'TensorFlow imports it only from graphs of version 7 and older',
    'ImageProjectiveTransform': 'of tf.contrib, which is a library of its own',
    'ImageProjectiveTransformV2': 'of tf.contrib, which is a library of its own',
    'BatchNormWithGlobalNormalization': 'TensorFlow imports it only from graphs of version 8 and older',
    'BatchNormWithGlobalNormalizationGrad': 'TensorFlow imports it only from graphs of version 8 and older',
    'MaxPoolGradGradWithArgmax': 'TensorFlow has it on GPUs only',
    'MaxPool3DGrad': 'the gradient of MaxPool3D, which is compared',
    'MaxPool3DGradGrad': 'the gradient of the gradient of MaxPool3D',
    'TopK': 'TensorFlow imports it only from graphs of version 6 and older; TopKV2 is compared',
    'AudioSummary': 'TensorFlow imports it only from graphs of version 14 and older; AudioSummaryV2 is compared',
    'Timestamp': 'the time',
    'PrintV2': 'prints; in python/tests',
    'EagerPyFunc': "calls the program's function; in python/tests",
    'MergeSummary': 'joins the outputs of others; in the exchange of event files',
}

# Differences that are meant, or are TensorFlow's: (operation, type, part of the description, why).
ACCEPTED = [
    ('Sqrt|Rsqrt', 'float32', 'special values', 'of infinity: TensorFlow 1.15 gives NaN'),
    ('Atan2', '.*', 'shapes unknown: gradient', "TensorFlow 1.15 does not sum the gradient over broadcast dimensions"),
    ('Mean', 'int8', '3x4x5', 'TensorFlow adds up in the type itself, which overflows'),
    ('Mean', 'bfloat16|complex.*', '3x0',
     'of nothing: TensorFlow gives 0 in these types and NaN, as Weir, in the others'),
    ('DepthwiseConv2dNative', '.*', 'dilations',
     'TensorFlow 1.15 ignores the dilations here (its Python function does them)'),
    ('Multinomial', 'bfloat16', '', 'TensorFlow 1.15 gives other numbers at every run, whatever the seed'),
    ('MaxPoolGradGrad(V2)?', 'bfloat16', '', 'TensorFlow 1.15 gives zeros'),
    ('TruncateDiv', 'float32', 'special values', 'by infinity: TensorFlow 1.15 gives NaN'),
    ('UnsortedSegmentProd', 'complex.*', 'gradient', 'TensorFlow does not conjugate the product of the others'),
    ('SparseSegment(Mean|SqrtN).*', 'float.*', '[], []', 'of nothing: TensorFlow 1.15 leaves the gradient unset'),
    ('SparseTensorDenseMatMul', 'complex.*', 'adjoint_a', 'TensorFlow 1.15 does not conjugate the sparse matrix'),
    ('EuclideanNorm', 'u?int(8|16)', '', 'TensorFlow adds up in the type itself, which overflows'),
    ('MatrixDiag(Part)?V2', '.*', 'shapes unknown: gradient', 'TensorFlow 1.15 forgets k unless it is a constant'),
    ('FloorMod', 'float64', 'special values', '0 mod -inf: NaN, as TensorFlow has it for float32'),
]


def accepted(name, dtype, what):
    """Why a difference is accepted, or None."""
    for operation, types, part, why in ACCEPTED:
        if re.match('(%s)$' % operation, name) and re.match('(%s)$' % types, dtype) and part in what:
            return why
    return None


def find(name, input_names, attr_names):
    """The row of an operation, or why there is none."""
    if name.startswith('_'):
        return 'internal: made by the optimizer of graphs'
    if 'Table' in name or 'TensorsMap' in name:
        return 'a table is no value; src/ops/lookup and src/ops/sparse have tests of what is asked of them'
    if 'TensorList' in name:
        return 'a list is no value; loops and TensorArrays are compared in python/tests and control_flow_graphs.py'
    if 'TensorArray' in name or re.match('Stack(Push|Pop|Close)?(V2)?$', name):
        return 'it lives for one run; loops with arrays and stacks are compared in control_flow_graphs.py'
    if re.match('(Ref)?(Switch|Merge|Enter|Exit|NextIteration|Select)$|LoopCond|ControlTrigger', name):
        return 'a part of a conditional or loop; these are compared in control_flow_graphs.py'
    if re.match('.*Session(Handle|Tensor)|.*Mutex', name):
        return 'state of a session; in python/tests'
    if name in EXCLUDED:
        return EXCLUDED[name]
    if name in ROWS:
        return ROWS[name]
    if re.match('(Resource)?(Sparse)?Apply', name):
        return update(input_names, attr_names), ('float32', 'float64', 'float16', 'bfloat16', 'complex64')
    return None

import op_cases_numeric  # noqa: E402,F401  (its rows)
