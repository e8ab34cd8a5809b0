"""Rows of the table of operations: shapes, moves, slices, gathers, segments."""
import numpy as np

from cases.table import ALL_TYPES, C, K, MOVED, V, row

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
row('TensorScatterUpdate', lambda v: [C(v(4, 3), K([[0], [2]]), v(2, 3))])
# TensorFlow ends the process for truths and strings here.
row('TensorScatterAdd TensorScatterSub', lambda v: [C(v(4, 3), K([[0], [2]]), v(2, 3))], ALL_TYPES[:-2])
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
row('TileGrad', lambda v: [C(v(4, 6), K([2, 3]), gradient=False), C(v(2, 3), K([1, 1]), gradient=False)])
row('DebugGradientIdentity', lambda v: [C(v(2, 3))], MOVED)
