"""Decompositions and functions of matrices, the innermost two dimensions of tensors."""

import collections

from weir import _weir
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph
from weir.ops import array_ops, math_ops, simple

simple.install(globals(), {
    "lu": "Lu",
    "matrix_square_root": "MatrixSquareRoot",
    "logm": "MatrixLogarithm",
    "qr": "Qr",
    "expm": "MatrixExponential",
})

_SLogDet = collections.namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """Singular values s, and u and v of tensor = u diag(s) adjoint(v) unless ``compute_uv`` is false."""
    s, u, v = apply("Svd", (tensor,), {"compute_uv": compute_uv, "full_matrices": full_matrices}, name)
    s = math_ops.real(s)
    return (s, u, v) if compute_uv else s


def self_adjoint_eig(tensor, name=None):
    e, v = apply("SelfAdjointEigV2", (tensor,), {"compute_v": True}, name)
    return e, v


def self_adjoint_eigvals(tensor, name=None):
    return apply("SelfAdjointEigV2", (tensor,), {"compute_v": False}, name)[0]


def matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """The x that minimises |matrix x - rhs|^2 + l2_regularizer |x|^2."""
    return apply("MatrixSolveLs", (matrix, rhs, l2_regularizer), {"fast": fast}, name)


def cholesky_solve(chol, rhs, name=None):
    return _weir.cholesky_solve(_graph(), chol, rhs, name)


def adjoint(matrix, name=None):
    return _weir.adjoint(_graph(), matrix, name)


def logdet(matrix, name=None):
    return _weir.logdet(_graph(), matrix, name)


def slogdet(input, name=None):
    return _SLogDet(*apply("LogMatrixDeterminant", (input,), {}, name))


def matrix_rank(a, tol=None, validate_args=False, name=None):
    return _weir.matrix_rank(_graph(), a, tol, name)


def pinv(a, rcond=None, validate_args=False, name=None):
    return _weir.pinv(_graph(), a, rcond, name)


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    return _weir.matvec(_graph(), a, b, bool(transpose_a), bool(adjoint_a), name)


def _diagonals(diagonals, diagonals_format):
    """The diagonals above, on and below the main one, each [..., m]."""
    if diagonals_format == "compact":
        return [diagonals[..., i, :] for i in range(3)]
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = map(convert_to_tensor, diagonals)
        if not (above.shape[:-1].is_compatible_with(main.shape[:-1])
                and below.shape[:-1].is_compatible_with(main.shape[:-1])):
            raise ValueError("Tensors representing the three diagonals must have the same shape,except for the last "
                             f"dimension, got {below.shape}, {main.shape}, {above.shape}")
        return [_padded(above, main, "superdiagonal", [0, 1]), main, _padded(below, main, "subdiagonal", [1, 0])]
    if diagonals_format == "matrix":
        rows, columns = diagonals.shape[-2].value, diagonals.shape[-1].value
        if rows and columns and rows != columns:
            raise ValueError(f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}")
        if not rows and not columns:
            raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
        main = array_ops.matrix_diag_part(diagonals)
        above = array_ops.matrix_diag_part(diagonals[..., :-1, 1:])
        below = array_ops.matrix_diag_part(diagonals[..., 1:, :-1])
        return [_padded(above, main, "superdiagonal", [0, 1]), main, _padded(below, main, "subdiagonal", [1, 0])]
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


def _padded(diagonal, main, what, padding):
    size, whole = diagonal.shape[-1].value, main.shape[-1].value
    if size is None or size == whole:
        return diagonal
    if size != whole - 1:
        raise ValueError(f"Expected {what} to be have length {whole} or {whole - 1}, got {size}.")
    return array_ops.pad(diagonal, [[0, 0]] * (len(diagonal.shape) - 1) + [padding])


def tridiagonal_solve(diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, name=None,
                      partial_pivoting=True):
    """Solves systems whose matrices have three diagonals, for right-hand sides [..., m] or [..., m, k]."""
    rhs = convert_to_tensor(rhs)
    if diagonals_format != "compact":
        diagonals = array_ops.stack(_diagonals(diagonals, diagonals_format), axis=-2)
    diagonals = convert_to_tensor(diagonals)
    rank, rhs_rank = len(diagonals.shape), len(rhs.shape)
    if rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
    if rhs_rank not in (rank, rank - 1):
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {rhs_rank}")
    if not diagonals.shape[:-2].is_compatible_with(rhs.shape[:rank - 2]):
        raise ValueError(f"Batch shapes {diagonals.shape[:-2]} and {rhs.shape[:rank - 2]} are incompatible")
    if conjugate_rhs:
        rhs = math_ops.conj(rhs)
    vectors = rhs_rank == rank - 1
    if vectors:
        rhs = array_ops.expand_dims(rhs, -1)
    elif transpose_rhs:
        rhs = math_ops.matrix_transpose(rhs)
    left, right = diagonals.shape[-1].value, rhs.shape[-2].value
    if left and right and left != right:
        raise ValueError(f"Expected number of left-hand sided and right-hand sides to be equal, got {left} and {right}")
    result = apply("TridiagonalSolve", (diagonals, rhs), {"partial_pivoting": partial_pivoting}, name)
    if vectors:
        return array_ops.squeeze(result, -1)
    return math_ops.matrix_transpose(result) if transpose_rhs else result


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    above, main, below = (array_ops.expand_dims(d, -2) for d in _diagonals(diagonals, diagonals_format))
    return apply("TridiagonalMatMul", (above, main, below, rhs), {}, name)
