"""Rows of the table of operations: sparse tensors."""
import numpy as np

from cases.text import STRING, text
from cases.table import C, K, row

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
