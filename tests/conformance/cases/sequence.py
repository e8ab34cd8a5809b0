"""Rows of the table of operations: sequences, recurrent cells, beams, sets."""
import numpy as np

from cases.table import C, K, REAL, row

INDICES = K([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], np.int64)
row('CTCLoss', lambda v: [
    C(v(6, 3, 5), INDICES, K([0, 1, 2, 3, 3]), K(lengths), compared=1, **attrs) for lengths, attrs in (
        ([6, 4, 5], {}), ([6, 6, 6], dict(preprocess_collapse_repeated=True)), ([6, 5, 6], dict(ctc_merge_repeated=False)),
        ([6, 1, 1], dict(ignore_longer_outputs_than_inputs=True)))] + [
            C(v(2, 3, 5), INDICES, K([0, 1, 2, 3, 3]), K([2, 2, 2]), gradient=False, what='too short'),
            C(v(6, 3, 5), INDICES, K([0, 1, 2, 3, 9]), K([6, 6, 6]), gradient=False, what='no such class')], REAL)
row('CTCGreedyDecoder', lambda v: [C(v(6, 3, 5), K([6, 4, 0]), merge_repeated=merge) for merge in (False, True)], REAL)
row('CTCBeamSearchDecoder', lambda v: [
    C(v(6, 3, 5), K([6, 4, 1]), beam_width=width, top_paths=paths, merge_repeated=merge)
    for width, paths, merge in ((10, 1, True), (10, 3, False), (3, 2, False))], REAL)
row('GatherTree', lambda v: [
    C(v.of([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]]), v.of([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]]]), K([3]), v.of(10, 0, 99)),
    C(v.of([[[1, 2]], [[10, 5]], [[7, 8]]], 0, 99), v.of([[[0, 0]], [[1, 0]], [[0, 1]]]), K([2]), v.of(10, 0, 99))], ('int32',))


def cell(v, steps=None, batch=3, size=4, width=5):
    """The inputs of a cell, or of a block of steps."""
    x = v(batch, width) if steps is None else v(steps, batch, width)
    weights = [v(width + size, 4 * size, low=-0.5, high=0.5)] + [v(size, low=-0.5, high=0.5) for _ in range(3)] + [v(4 * size)]
    return [x, v(batch, size), v(batch, size, low=-1, high=1)] + weights


HALVES = ('float32', 'float16')
row('LSTMBlockCell', lambda v: [
    C(*cell(v), **attrs) for attrs in ({}, dict(use_peephole=True), dict(cell_clip=0.5, forget_bias=0.0),
                                       dict(cell_clip=-1.0, use_peephole=True))], HALVES)
row('BlockLSTM', lambda v: [
    # Behind the end of short sequences TensorFlow leaves what was in memory.
    C(K(steps, np.int64), *cell(v, 4), **attrs) for steps, attrs in (
        (4, {}), (4, dict(use_peephole=True, cell_clip=-1.0)), (4, dict(cell_clip=0.5, forget_bias=0.5)))], HALVES)
row('BlockLSTMV2', lambda v: [C(K(4, np.int64), *cell(v, 4), **attrs) for attrs in ({}, dict(use_peephole=True, cell_clip=0.5))],
    HALVES)


def parts(v, *shape):
    """What a cell has computed: gates between 0 and 1, states between -1 and 1."""
    return [v(*shape, low=-1 if name in ('cs', 'ci', 'co') else 0.1, high=0.9) for name in ('i', 'cs', 'f', 'o', 'ci', 'co')]


row('LSTMBlockCellGrad', lambda v: [
    C(*(cell(v) + parts(v, 3, 4) + [v(3, 4), v(3, 4)]), use_peephole=peephole, gradient=False,
      compared=None if peephole else 2) for peephole in (False, True)], HALVES)
row('BlockLSTMGrad BlockLSTMGradV2', lambda v: [
    C(K(4, np.int64), *(cell(v, 4) + parts(v, 4, 3, 4) + [v(4, 3, 4), v(4, 3, 4), v(4, 3, 4)]), use_peephole=peephole, gradient=False)
    for peephole in (False, True)], HALVES)
gru = (lambda v: [v(3, 5), v(3, 4), v(9, 8, low=-0.5, high=0.5), v(9, 4, low=-0.5, high=0.5), v(8), v(4)])
row('GRUBlockCell', lambda v: [C(*gru(v))], ('float32',))
row('GRUBlockCellGrad', lambda v: [
    C(*(gru(v) + [v(3, 4, low=0.1, high=0.9), v(3, 4, low=0.1, high=0.9), v(3, 4, low=-1, high=1), v(3, 4)]), gradient=False)],
    ('float32',))

SETS = ('int32', 'int64', 'int8', 'uint16', 'string')
OPERATIONS = ('a-b', 'b-a', 'intersection', 'union')


def sparse(v, places, values, shape):
    return [K(places, np.int64), v.of(values, -9, 99), K(shape, np.int64)]


row('DenseToDenseSetOperation', lambda v: [
    C(v.of([[9, 9, 5], [1, 2, 3]]), v.of([[5, 7], [2, 8]]), set_operation=op) for op in OPERATIONS], SETS)
row('DenseToSparseSetOperation', lambda v: [
    C(v.of([[1, 2], [3, 4]]), *sparse(v, [[1, 0], [1, 1]], [4, 5], [2, 2]), set_operation=op) for op in OPERATIONS], SETS)
row('SparseToSparseSetOperation', lambda v: [
    C(*(sparse(v, [[0, 0], [2, 0], [2, 1]], [1, 2, 3], [3, 2]) + sparse(v, [[1, 0], [2, 0]], [7, 3], [3, 1])), set_operation=op)
    for op in OPERATIONS] + [
        C(*(sparse(v, [[0, 0], [2, 1], [2, 0]], [1, 2, 3], [3, 2]) + sparse(v, [[2, 0]], [3], [3, 1])), set_operation='union',
          what='out of order')], SETS)
row('SetSize', lambda v: [C(*sparse(v, [[0, 0], [0, 1], [2, 0], [2, 1]], [4, 4, 5, 6], [3, 2])),
                          C(*sparse(v, np.zeros([0, 2]), [], [3, 2]))], SETS)
