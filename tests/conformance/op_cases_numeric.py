"""More rows of the table of op_cases.py: transforms, seeded numbers, bands of matrices, ragged tensors, quantised numbers,
and the other numeric families."""
import numpy as np

from op_cases import C, K, V, row

COMPLEX = ('complex64', 'complex128')
REAL = ('float32', 'float64')
FLOATS = ('float32', 'float64', 'float16', 'bfloat16')
MOVED = ('float32', 'int32', 'bool', 'string', 'complex64')


# Fourier transforms.
def transforms(rank):

    def cases(v):
        for shape in ((2, 6), (3, 17), (16,), (1, 31 * 2), (5, 128)) if rank == 1 else ((3, 4, 5), (7, 3, 8), (2, 2, 3, 16)):
            if len(shape) >= rank:
                yield C(v(*shape))

    return cases


row('FFT IFFT', transforms(1), COMPLEX)
row('FFT2D IFFT2D', transforms(2), COMPLEX)
row('FFT3D IFFT3D', transforms(3), COMPLEX)
row('BatchFFT BatchIFFT', transforms(1), ('complex64',))
row('BatchFFT2D BatchIFFT2D', transforms(2), ('complex64',))
row('BatchFFT3D BatchIFFT3D', transforms(3), ('complex64',))
row('RFFT', lambda v: [C(v(2, 6), K([6])), C(v(3, 9), K([9])), C(v(3, 9), K([6]), gradient=False), C(v(16), K([16]))],
    ('float32',))
row('RFFT2D', lambda v: [C(v(2, 3, 6), K([3, 6])), C(v(4, 5), K([4, 5])), C(v(2, 5, 6), K([4, 3]), gradient=False)],
    ('float32',))
row('RFFT3D', lambda v: [C(v(2, 3, 4, 6), K([3, 4, 6])), C(v(4, 5, 7), K([2, 5, 6]))], ('float32',))
row('IRFFT', lambda v: [C(v(2, 4), K([6])), C(v(3, 5), K([9])), C(v(3, 9), K([6]), gradient=False), C(v(9), K([16]))],
    ('complex64',))
row('IRFFT2D', lambda v: [C(v(2, 3, 4), K([3, 6])), C(v(4, 3), K([4, 5])), C(v(2, 5, 6), K([4, 3]), gradient=False)],
    ('complex64',))
row('IRFFT3D', lambda v: [C(v(2, 3, 4, 4), K([3, 4, 6])), C(v(4, 5, 7), K([2, 5, 6]))], ('complex64',))

# Numbers that seeds decide.
STATELESS = ('StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal')
row(STATELESS, lambda v: [C(K([3, 100]), K([1, 2]), dtype=v.dtype), C(K([7]), K([-5, 1 << 20]), dtype=v.dtype)], FLOATS)
row('StatelessRandomUniformInt',
    lambda v: [C(K([3, 100]), K([1, 2]), K(-3, v.dtype), K(100, v.dtype))], ('int32', 'int64'))
row('StatefulUniform StatefulStandardNormalV2 StatefulTruncatedNormal',
    lambda v: [C(V(np.array([5, 7, 11], np.int64)), K(1, np.int64), K([3, 50], np.int64), dtype=v.dtype)], FLOATS)
row('StatefulUniformInt',
    lambda v: [C(V(np.array([5, 7, 11], np.int64)), K(1, np.int64), K([50], np.int64), K(-3, v.dtype), K(9, v.dtype))],
    ('int32', 'int64'))
row('StatefulUniformFullInt',
    lambda v: [C(V(np.array([5, 7, 11], np.int64)), K(1, np.int64), K([50], np.int64), dtype=v.dtype)],
    ('int32', 'int64', 'uint32', 'uint64'))
row('StatefulStandardNormal', lambda v: [C(V(np.array([1, 5, 7, 11], np.int64)), K([50], np.int64), dtype=v.dtype)], FLOATS)
row('RngSkip', lambda v: [C(V(np.array([5, 7, 11], np.int64)), K(1, np.int64), K(12345, np.int64))], ('float32',))
row('StatefulRandomBinomial', lambda v: [
    C(V(np.array([5, 7, 11], np.int64)), K(1, np.int64), np.array([60], np.int32), v.of(20.0, 0, 99), v.of(0.3, 0, 1), dtype='float32', compared=1),
    C(V(np.array([5, 7, 11], np.int64)), K(1, np.int64), np.array([60], np.int32), v.of(200.0, 0, 999), v.of(0.7, 0, 1), dtype='int64', compared=1),
], REAL)
row('ParameterizedTruncatedNormal', lambda v: [
    C(np.array([60], np.int32), v.of(0.0), v.of(1.0), v.of(-2.0), v.of(2.0), seed=1, seed2=2),
    C(np.array([60], np.int32), v.of(0.0), v.of(1.0), v.of(0.5), v.of(0.8), seed=1, seed2=2),
    C(np.array([60], np.int32), v.of(1.0), v.of(2.0), v.of(7.0), v.of(99.0), seed=1, seed2=2),
    C(np.array([60], np.int32), v.of(1.0), v.of(2.0), v.of(-99.0), v.of(-7.0), seed=1, seed2=2),
], REAL)
row('RandomGammaGrad', lambda v: [C(v(3, 4, low=0.3, high=5), v(3, 4, low=0.1, high=6))], REAL)

# Elementwise, reductions, matrices.
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

# Arrays.
row('ParallelConcat', lambda v: [C([v(1, 3), v(1, 3)], shape=[2, 3])], ('float32', 'int32', 'string'))
row('GuaranteeConst', lambda v: [C(v(2, 3), gradient=False)], MOVED)
row('Empty', lambda v: [C(K([2, 3]), dtype=v.dtype, init=True)], ('float32', 'int32'))
row('InplaceUpdate InplaceAdd InplaceSub', lambda v: [C(v(5, 3), K([3, 0]), v(2, 3)), C(v(4), K([-1, 6]), v(2))],
    ('float32', 'float64', 'int32', 'int64'))
row('UnravelIndex', lambda v: [C(v.of([22, 41, 37], 0, 99), v.of([7, 6], 0, 9)), C(v.of(1621, 0, 9999), v.of([6, 7, 8, 9], 0, 9))],
    ('int32', 'int64'))
row('UniqueV2 UniqueWithCountsV2', lambda v: [
    C(v.of([1, 1, 2, 4, 4, 4, 7, 8, 8]), K([], np.int64)), C(v.of([[1, 0, 0], [1, 0, 0], [2, 0, 0]]), K([0], np.int64)),
    C(v.of([[1, 0, 0], [1, 0, 0], [2, 0, 0]]), K([1], np.int64)),
], ('float32', 'int32', 'int64', 'string'))
row('CompareAndBitpack', lambda v: [C(v(3, 16), v.of(0.25)), C(v(8), v.of(0))],
    ('float32', 'float64', 'float16', 'int8', 'int16', 'int32', 'int64', 'bool'))
row('ExtractVolumePatches', lambda v: [
    C(v(1, 3, 4, 5, 2), ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1], padding='VALID'),
    C(v(2, 3, 4, 3, 1), ksizes=[1, 2, 3, 2, 1], strides=[1, 2, 2, 2, 1], padding='SAME'),
], ('float32', 'float64', 'int32'))
row('ResourceGatherNd', lambda v: [C(V(v(3, 4)), K([[0], [2]]), dtype=v.dtype), C(V(v(3, 4)), K([[0, 1], [2, 3]]), dtype=v.dtype)],
    ('float32', 'int32'))
row('ResourceCountUpTo', lambda v: [C(V(v.of(3, 0, 9)), limit=5, T=v.dtype)], ('int32', 'int64'))
row('StridedSliceAssign ResourceStridedSliceAssign', lambda v: [
    C(V(v(5, 4)), K([1, 0]), K([4, 4]), K([2, 1]), v(2, 4)), C(V(v(5, 4)), K([2]), K([3]), K([1]), v(4), shrink_axis_mask=1),
], ('float32', 'int32'))
row('TensorStridedSliceUpdate', lambda v: [
    C(v(5, 4), K([1, 0]), K([4, 4]), K([2, 1]), v(2, 4), gradient=False),
    C(v(5, 4), K([4]), K([0]), K([-2]), v(2, 4), gradient=False),
], ('float32', 'int32'))
row('RaggedRange', lambda v: [C(v.of([2, 5, 8]), v.of([3, 5, 12]), v.of([1, 1, 1])), C(v.of(0), v.of([3, 5, 8]), v.of(2))],
    ('float32', 'float64', 'int32', 'int64'))
SPLITS = K([0, 2, 2, 5], np.int64)
row('RaggedGather', lambda v: [
    C([SPLITS], v(5), K([2, 0, 2]), OUTPUT_RAGGED_RANK=1, gradient=False),
    C([SPLITS], v(5, 2), K([[2, 0], [1, 1]]), OUTPUT_RAGGED_RANK=2, gradient=False),
    C([SPLITS, K([0, 1, 3, 3, 4, 6], np.int64)], v(6), K([2, 0]), OUTPUT_RAGGED_RANK=2, gradient=False),
], ('float32', 'int32', 'string'))
row('RaggedTensorToSparse', lambda v: [
    C([SPLITS], v(5)), C([SPLITS], v(5, 2)), C([SPLITS, K([0, 1, 3, 3, 4, 6], np.int64)], v(6)),
], ('float32', 'int32', 'string'))
row('RaggedTensorToTensor', lambda v: [
    C(K([-1, -1], np.int64), v(5), v.of(0), [SPLITS], row_partition_types=['ROW_SPLITS'], gradient=False),
    C(K([2, 4], np.int64), v(5), v.of(1), [SPLITS], row_partition_types=['ROW_SPLITS'], gradient=False),
    C(K([4, -1], np.int64), v(5), v.of(1), [K(4, np.int64), K([0, 0, 2, 2, 3], np.int64)],
      row_partition_types=['FIRST_DIM_SIZE', 'VALUE_ROWIDS'], gradient=False),
    C(K([-1, 2, 2], np.int64), v(5, 2), v(2), [SPLITS], row_partition_types=['ROW_SPLITS'], gradient=False),
], ('float32', 'int32', 'string'))

# Pictures and volumes.
row('Dilation2D', lambda v: [
    C(v.distinct(2, 5, 6, 2), v(2, 3, 2), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID'),
    C(v.distinct(1, 7, 6, 1), v(3, 3, 1), strides=[1, 2, 2, 1], rates=[1, 2, 1, 1], padding='SAME'),
], ('float32', 'float64', 'int32'))
row('Dilation2DBackpropInput Dilation2DBackpropFilter', lambda v: [
    C(v.distinct(2, 5, 6, 2), v(2, 3, 2), v(2, 4, 4, 2), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID'),
], ('float32', 'float64', 'int32'))
RATIO = [1.0, 1.44, 1.73, 1.0]
row('FractionalAvgPool FractionalMaxPool', lambda v: [
    C(v.distinct(2, 9, 8, 2), pooling_ratio=RATIO, pseudo_random=pseudo, overlapping=overlapping, deterministic=True,
      seed=3, seed2=5) for pseudo in (False, True) for overlapping in (False, True)
], ('float32', 'float64', 'int32'))
row('FractionalAvgPoolGrad', lambda v: [
    C(K([1, 4, 5, 2], np.int64), v(1, 2, 3, 2), K([0, 2, 4], np.int64), K([0, 1, 3, 5], np.int64), overlapping=o)
    for o in (False, True)], ('float32', 'float64'))
row('FusedPadConv2D', lambda v: [
    C(v(1, 4, 5, 2), K([[0, 0], [1, 1], [2, 0], [0, 0]]), v(3, 2, 2, 3), mode=mode, strides=[1, s, s, 1], padding='VALID')
    for mode, s in (('REFLECT', 1), ('SYMMETRIC', 2))], ('float32', 'float64'))
row('FusedResizeAndPadConv2D', lambda v: [
    C(v(1, 4, 5, 2), K([6, 7]), K([[0, 0], [1, 1], [2, 0], [0, 0]]), v(3, 2, 2, 3), mode=mode, strides=[1, 1, 1, 1],
      padding='VALID', resize_align_corners=align) for mode, align in (('REFLECT', True), ('SYMMETRIC', False))],
    ('float32', 'float64'))

# Quantised numbers.
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

# Sound.
row('AudioSpectrogram', lambda v: [C(v(600, 1), window_size=100, stride=40), C(v(300, 1), window_size=64, stride=64, magnitude_squared=True),
                                   C(v(30, 1), window_size=64, stride=1)], FLOAT)
row('Mfcc', lambda v: [C(abs(v(1, 3, 257)), K(16000)), C(abs(v(2, 2, 129)), K(8000), dct_coefficient_count=20, lower_frequency_limit=100.0)], FLOAT)
row('EncodeWav', lambda v: [C(v(50, 2, low=-1, high=1), K(16000))], FLOAT)

# Clusters.
row('NearestNeighbors', lambda v: [C(v(20, 3), v(5, 3), K(2, np.int64)), C(v(4, 2), v(3, 2), K(9, np.int64))], FLOAT)
row('KMC2ChainInitialization', lambda v: [C(v(30, low=0.1, high=2), K(7, np.int64))], FLOAT)
row('KmeansPlusPlusInitialization', lambda v: [
    C(v(30, 2), K(4, np.int64), K(7, np.int64), K(0, np.int64)), C(v(30, 2), K(4, np.int64), K(7, np.int64), K(3, np.int64))], FLOAT)
