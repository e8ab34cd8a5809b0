"""Rows of the table of operations: numbers one by one, pairs of arrays, reductions, sums and products, casts, matrix products."""
import numpy as np

from cases.table import ALL_TYPES, C, FLOATS, K, REAL, ROWS, SPECIAL, row


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

row('NextAfter', lambda v: [C(v(3, 4), v(3, 4)), C(v(3, 1), v(4))], REAL)
row('ApproximateEqual', lambda v: [C(v(3, 4), v(3, 4)), C(v.of([1.0, 2, 3]), v.of([1.0, 2, 4]), tolerance=0.5)])
row('CumulativeLogsumexp', lambda v: [C(v(3, 4), K(1)), C(v(3, 4), K(0), exclusive=True, gradient=False),
                                      C(v(2, 3, 4), K(-1), reverse=True)], ('float32', 'float64'))
row('Einsum', lambda v: [
    C([v(3, 4), v(4, 5)], equation='ij,jk->ik'), C([v(2, 3, 4), v(2, 4, 5)], equation='bij,bjk->kbi'),
    C([v(3, 3)], equation='ii->i'), C([v(3, 4)], equation='ij->'), C([v(2, 3, 4), v(4, 5)], equation='...j,jk->...k'),
    C([v(3)], equation='i->ii'), C([v(2, 1, 3, 4), v(5, 4, 2)], equation='...ij,...jk->...ik'),
], ('float32', 'float64', 'complex64', 'int32'))
row('MatrixDiagV2', lambda v: [
    C(v(2, 3), K(0), K(-1), K(-1), v.of(0)), C(v(2, 3), K(1), K(-1), K(-1), v.of(1)),
    C(v(2, 3, 3), K([-1, 1]), K(-1), K(-1), v.of(0)), C(v(3), K(-2), K(5), K(4), v.of(1)),
    C(v(2, 4), K([0, 1]), K(4), K(5), v.of(1), gradient=False),
], ('float32', 'int32', 'complex64', 'bool'))
row('MatrixDiagPartV2', lambda v: [
    C(v(2, 3, 4), K(0), v.of(0)), C(v(2, 3, 4), K(1), v.of(1)), C(v(2, 3, 4), K([-2, 1]), v.of(0)), C(v(4, 3), K(-3), v.of(0)),
], ('float32', 'int32', 'complex64', 'bool'))
row('MatrixSetDiagV2', lambda v: [
    C(v(2, 3, 4), v(2, 3), K(0)), C(v(2, 3, 4), v(2, 3, 3), K([-1, 1])), C(v(4, 3), v(2), K(1)),
], ('float32', 'int32', 'complex64', 'bool'))
