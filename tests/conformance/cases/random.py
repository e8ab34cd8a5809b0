"""Rows of the table of operations: seeded numbers, and what is drawn with them."""
import numpy as np

from cases.table import C, FLOATS, K, REAL, V, row

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
row('LearnedUnigramCandidateSampler ThreadUnsafeUnigramCandidateSampler', lambda v: [
    C(K([[1, 3], [0, 2]], np.int64), num_true=2, num_sampled=3, unique=unique, range_max=20, **SEEDS)
    for unique in (True, False)], ('int64',))
row('AllCandidateSampler', lambda v: [
    C(K([[1, 3], [0, 2]], np.int64), num_true=2, num_sampled=5, unique=unique, **SEEDS) for unique in (True, False)], ('int64',))
row('FixedUnigramCandidateSampler', lambda v: [
    C(K([[1, 3], [0, 2]], np.int64), num_true=2, num_sampled=n, unique=unique, range_max=5 + reserved, num_reserved_ids=reserved,
      unigrams=[1.0, 3.0, 0.5, 2.0, 4.0], distortion=distortion, **SEEDS)
    for unique, n in ((True, 3), (False, 9)) for reserved in (0, 1) for distortion in (1.0, 0.75)], ('int64',))
row('StatelessMultinomial', lambda v: [
    C(v(3, 6), K(50), K([3, 4])), C(v(1, 4), K(7), K([5, -6], np.int64), output_dtype='int32')], FLOATS + ('int32',))
row('ComputeAccidentalHits',
    lambda v: [C(K([[1, 3], [0, 2]], np.int64), K([3, 7, 1, 0], np.int64), num_true=2, **SEEDS)], ('int64',))

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

row('NearestNeighbors', lambda v: [C(v(20, 3), v(5, 3), K(2, np.int64)), C(v(4, 2), v(3, 2), K(9, np.int64))], ('float32',))
row('KMC2ChainInitialization', lambda v: [C(v(30, low=0.1, high=2), K(7, np.int64))], ('float32',))
row('KmeansPlusPlusInitialization', lambda v: [
    C(v(30, 2), K(4, np.int64), K(7, np.int64), K(0, np.int64)), C(v(30, 2), K(4, np.int64), K(7, np.int64), K(3, np.int64))], ('float32',))


def sdca(loss, flag, iterations):
    # One example: of several TensorFlow takes one or another first.
    return C([K([0], np.int64)], [K([7], np.int64)], [K([2], np.float32)], [K([[1, 2]], np.float32)], K([1.5], np.float32),
             K([1], np.float32), [K([3, 7], np.int64)], [K([0.1, -0.2], np.float32)], [K([0.3, 0], np.float32)],
             K(np.zeros([1, 4]), np.float32), loss_type=loss, l1=0.1, l2=1.0, num_loss_partitions=1,
             num_inner_iterations=iterations, **flag)


LOSSES = ('logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss')
row('SdcaOptimizer', lambda v: [
    sdca(loss, dict(adaptative=a), n) for loss in LOSSES for a in (False, True) for n in (1, 2)], ('float32',))
row('SdcaOptimizerV2', lambda v: [
    sdca(loss, dict(adaptive=a), n) for loss in LOSSES for a in (False, True) for n in (1, 2)], ('float32',))
