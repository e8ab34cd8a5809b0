"""Rows of the table of operations: quantised numbers."""
import numpy as np

from cases.table import C, K, Q, REAL, row

FLOAT = ('float32',)

row('FakeQuantWithMinMaxArgs', lambda v: [
    C(v(3, 50, low=-9, high=9)), C(v(3, 50), min=-1.5, max=1.0, num_bits=4, narrow_range=True), C(v(40), min=0.5, max=2.0)], FLOAT)
row('FakeQuantWithMinMaxArgsGradient', lambda v: [C(v(3, 50), v(3, 50, low=-9, high=9), gradient=False)], FLOAT)
row('FakeQuantWithMinMaxVars', lambda v: [
    C(v(3, 50), v.of(-1.2), v.of(1.7)), C(v(3, 50), v.of(0.1), v.of(1.7), num_bits=3, narrow_range=True), C(v(4), v.of(0), v.of(0))], FLOAT)
row('FakeQuantWithMinMaxVarsGradient', lambda v: [C(v(3, 50), v(3, 50), v.of(-1.2), v.of(1.7), gradient=False)], FLOAT)
row('FakeQuantWithMinMaxVarsPerChannel', lambda v: [
    C(v(5, 3), v.of([-1.2, -1, 0]), v.of([1.7, 0.5, 0])), C(v(2, 3, 4, 2), v.of([-1.2, -1]), v.of([1.7, 0.5]), num_bits=5)], FLOAT)
row('FakeQuantWithMinMaxVarsPerChannelGradient', lambda v: [
    C(v(5, 3), v(5, 3), v.of([-1.2, -1, 0]), v.of([1.7, 0.5, 0]), gradient=False)], FLOAT)
row('QuantizeAndDequantize', lambda v: [
    C(v(30)), C(v(30), num_bits=4, range_given=True, input_min=-1.0, input_max=1.2), C(abs(v(30)), signed_input=False)], REAL)
row('QuantizeAndDequantizeV2', lambda v: [
    C(v(30), v.of(0), v.of(0)), C(v(30), v.of(-1.0), v.of(1.2), num_bits=4, range_given=True, narrow_range=True),
    C(abs(v(30)), v.of(0), v.of(2), signed_input=False, range_given=True, round_mode='HALF_UP')], REAL)
row('QuantizeAndDequantizeV3', lambda v: [C(v(30), v.of(-1.5), v.of(1.2), K(5)), C(v(30), v.of(0), v.of(0), K(8), range_given=False)],
    REAL)


KINDS = ('quint8', 'qint8', 'qint32', 'quint16', 'qint16')
MODES = ('MIN_COMBINED', 'MIN_FIRST', 'SCALED')
LIMITS = {'quint8': (0, 256), 'qint8': (-128, 128), 'qint32': (-(1 << 31), 1 << 31), 'quint16': (0, 1 << 16),
          'qint16': (-(1 << 15), 1 << 15)}


def steps(v, kind, *shape):
    """Any numbers of a quantised type."""
    low, high = LIMITS[kind]
    return Q(v.random.randint(low, high, shape, np.int64), kind)


def at(*limits):
    """The range of what is quantised, and so on: numbers of their own."""
    return [K(limit, np.float32) for limit in limits]


row('QuantizeV2', lambda v: [
    C(v(40, low=-3, high=3), *at(low, high), T=kind, mode=mode, **attrs)
    for kind in KINDS for mode in MODES for low, high in ((-2, 2), (-1, 2.5))
    for attrs in [{}] + ([dict(round_mode='HALF_TO_EVEN')] if mode == 'SCALED' else [])] + [
        C(v(4), *at(2, -2), T='quint8', what='no range')], FLOAT)
row('Dequantize', lambda v: [
    C(steps(v, kind, 5, 8), *at(low, high), mode=mode) for kind in KINDS for mode in MODES for low, high in ((-2, 2), (-1, 2.5))],
    FLOAT)
row('QuantizeDownAndShrinkRange', lambda v: [
    C(Q(v.random.randint(-5000, 7000, (30,)), 'qint32'), *at(-256, 256), out_type='quint8'),
    C(steps(v, 'qint32', 30), *at(-256, 256), out_type='quint8')], FLOAT)
row('RequantizationRange', lambda v: [C(Q(v.random.randint(-5000, 7000, (30,)), 'qint32'), *at(-256, 256)),
                                      C(steps(v, 'qint32', 30), *at(0, 256))], FLOAT)
row('Requantize', lambda v: [
    C(Q(v.random.randint(-(1 << 24), 1 << 24, (30,)), 'qint32'), *at(low, high, -1, 1), out_type='quint8')
    for low, high in ((-256, 256), (-100, 300))], FLOAT)
row('RequantizationRangePerChannel', lambda v: [
    C(steps(v, 'qint32', 2, 3, 3, 4), K([-9, -8, -7, -6], np.float32), K([9, 8, 7, 6], np.float32), clip_value_max=6.0)], FLOAT)
row('RequantizePerChannel', lambda v: [
    C(steps(v, 'qint32', 2, 3, 3, 4), K([-9, -8, -7, -6], np.float32), K([9, 8, 7, 6], np.float32), *at(-1, 1))], FLOAT)
row('QuantizedAdd QuantizedMul', lambda v: [
    C(steps(v, 'quint8', *a), steps(v, 'quint8', *b), *at(low, high, -1, 3))
    for a, b in (((3, 4), (3, 4)), ((3, 4), (4,)), ((), (5,)), ((40,), (40,))) for low, high in ((-2, 2), (0, 5))], FLOAT)
POOL = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1])
row('QuantizedAvgPool QuantizedMaxPool', lambda v: [
    C(steps(v, kind, 2, 5, 6, 3), *at(-1, 2), padding=padding, **POOL) for kind in ('quint8', 'qint8')
    for padding in ('SAME', 'VALID')], FLOAT)
row('QuantizedBatchNormWithGlobalNormalization', lambda v: [
    C(steps(v, 'quint8', 2, 3, 4, 3), *(at(-2, 2) + sum(([steps(v, 'quint8', 3)] + at(low, high) for low, high in (
        (-1, 1), (0.5, 2), (-1, 1), (0.5, 1.5))), [])), out_type='qint32', variance_epsilon=0.001,
      scale_after_normalization=scale) for scale in (False, True)], FLOAT)
row('QuantizedBiasAdd', lambda v: [
    C(steps(v, a, 3, 4), steps(v, b, 4), *at(-1, 2, -3, 1), out_type='qint32')
    for a, b in (('quint8', 'quint8'), ('qint8', 'qint8'))] + [
        C(steps(v, 'quint8', 2, 3, 2, 5), steps(v, 'quint8', 5), *at(0, 255, 0, 255), out_type='qint32')], FLOAT)
row('QuantizedConcat', lambda v: [
    C(K(axis), [steps(v, kind, 3, 4), steps(v, kind, 3, 4)], at(-1, low), at(2, 3)) for axis in (0, 1)
    for kind in ('quint8', 'qint32') for low in (-1, -4)], FLOAT)
row('QuantizedConv2D', lambda v: [
    C(steps(v, 'quint8', 2, 6, 5, 3), steps(v, 'quint8', 3, 3, 3, 4), *at(-1, 2, low, 1), strides=[1, stride, stride, 1],
      padding=padding) for low in (-1, 0) for stride in (1, 2) for padding in ('SAME', 'VALID')], FLOAT)
row('QuantizedInstanceNorm', lambda v: [
    C(steps(v, 'quint8', 2, 5, 4, 3), *at(-1, 2)),
    C(steps(v, 'quint8', 1, 8, 8, 16), *at(-1, 2), output_range_given=True, given_y_min=-3.0, given_y_max=2.0)], FLOAT)
row('QuantizedMatMul', lambda v: [
    C(steps(v, 'quint8', *((4, 3) if a else (3, 4))), steps(v, 'quint8', *((5, 4) if b else (4, 5))), *at(-1, 2, -3, 1),
      transpose_a=a, transpose_b=b) for a in (False, True) for b in (False, True)] + [
          C(steps(v, 'quint8', 33, 70), steps(v, 'quint8', 70, 17), *at(0, 1, 0, 1))], FLOAT)
row('QuantizedRelu QuantizedRelu6', lambda v: [C(steps(v, 'quint8', 40), *at(low, high), out_type='quint8')
                                               for low, high in ((-8, 8), (0, 3), (-1, 7))], FLOAT)
row('QuantizedReluX', lambda v: [C(steps(v, 'quint8', 40), *at(3, low, high), out_type='quint8')
                                 for low, high in ((-8, 8), (0, 2), (-1, 7))], FLOAT)
row('QuantizedReshape', lambda v: [C(steps(v, kind, 3, 4), K([2, -1]), *at(-1, 2)) for kind in ('quint8', 'qint32')], FLOAT)
row('QuantizedResizeBilinear', lambda v: [
    C(steps(v, kind, 2, 4, 5, 3), K(size), *at(-1, 2), **attrs) for kind in ('quint8', 'qint32')
    for size in ([7, 3], [8, 10]) for attrs in ({}, dict(align_corners=True), dict(half_pixel_centers=True))] + [
        C(v(1, 4, 5, 2), K([8, 9]), *at(0, 1))], FLOAT)


def layer(v, product, bias, sum_of=None, ends=False):
    """The inputs of a quantised layer that oneDNN computes."""
    inputs = list(product)
    if bias is not None:
        inputs.append(bias)
    inputs += at(-1, 2, -1, 1)
    if ends:
        inputs += at(-2, 2)
    if sum_of == 'float':
        inputs.append(v(2, 6, 5, 4))
    elif sum_of:
        inputs += [steps(v, sum_of, 2, 6, 5, 4)] + at(-1, 1)
    return C(*inputs, **({} if len(product[0].value.shape) == 2 else dict(strides=[1, 1, 1, 1], padding='SAME')))


CONV = (lambda v: (steps(v, 'quint8', 2, 6, 5, 3), steps(v, 'qint8', 3, 3, 3, 4)))
DEPTHWISE = (lambda v: (steps(v, 'quint8', 2, 6, 5, 4), steps(v, 'qint8', 3, 3, 4, 1)))
PRODUCT = (lambda v: (steps(v, 'quint8', 3, 4), steps(v, 'qint8', 4, 4)))
for _prefix, _made in (('QuantizedConv2D', CONV), ('QuantizedDepthwiseConv2D', DEPTHWISE), ('QuantizedMatMul', PRODUCT)):
    for _suffix, _with_bias, _sum, _ends in (
            ('PerChannel', False, None, False), ('AndRelu', False, None, False), ('AndReluAndRequantize', False, None, True),
            ('AndRequantize', False, None, True), ('WithBias', True, None, False), ('WithBiasAndRelu', True, None, False),
            ('WithBiasAndReluAndRequantize', True, None, True), ('WithBiasAndRequantize', True, None, True),
            ('WithBiasSumAndRelu', True, 'float', False), ('WithBiasSumAndReluAndRequantize', True, 'quint8', True),
            ('WithBiasSignedSumAndReluAndRequantize', True, 'qint8', True)):
        row(_prefix + _suffix, lambda v, made=_made, bias=_with_bias, sum_of=_sum, ends=_ends: [
            layer(v, made(v), v(4) if bias else None, sum_of, ends)], FLOAT)
row('QuantizedDepthwiseConv2D', lambda v: [layer(v, DEPTHWISE(v), None)], FLOAT)
