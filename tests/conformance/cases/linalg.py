"""Rows of the table of operations: matrices."""
import numpy as np

from cases.table import C, K, row

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
