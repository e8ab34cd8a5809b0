"""Linear operators: matrices, in batches, of which only what describes them is kept. What they share."""

import contextlib

from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.tensor_shape import Dimension, TensorShape
from weir.ops import array_ops, check_ops, linalg_ops, math_ops


_KINDS = {}  # by what stands behind "LinearOperator"; the module of the kinds, which is built upon this one, fills it


def _kind(name):
    return _KINDS[name]


def _adjoint(x):
    return linalg_ops.adjoint(x)


def _with_common_batch(a, b):
    """Two batches of matrices with the same batch dimensions."""
    if a.shape.ndims is not None and a.shape.ndims == b.shape.ndims and a.shape.is_fully_defined() and b.shape.is_fully_defined() \
            and a.shape[:-2].as_list() == b.shape[:-2].as_list():
        return a, b
    batch = array_ops.broadcast_dynamic_shape(array_ops.shape(a)[:-2], array_ops.shape(b)[:-2])
    return tuple(array_ops.broadcast_to(x, array_ops.concat([batch, array_ops.shape(x)[-2:]], 0)) for x in (a, b))


class LinearOperator:
    """``[..., range_dimension, domain_dimension]``. A kind says what its dense matrix is, and what it can do better than that."""

    def __init__(self, dtype, graph_parents=None, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        if is_positive_definite and is_non_singular is False:
            raise ValueError("A positive definite matrix is always non-singular.")
        if is_positive_definite:
            is_non_singular = True
        if (is_non_singular or is_self_adjoint) and is_square is False:
            raise ValueError("A non-singular or self-adjoint matrix is always square.")
        if is_non_singular or is_self_adjoint:
            is_square = True
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        self._graph_parents = list(graph_parents or ())
        self._is_non_singular, self._is_self_adjoint, self._is_positive_definite = is_non_singular, is_self_adjoint, is_positive_definite
        self._is_square_set = is_square
        self._name = name or type(self).__name__

    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)
    graph_parents = property(lambda self: self._graph_parents)
    is_non_singular = property(lambda self: self._is_non_singular)
    is_self_adjoint = property(lambda self: self._is_self_adjoint)
    is_positive_definite = property(lambda self: self._is_positive_definite)

    @property
    def is_square(self):
        shape = self.shape
        rows, columns = (None, None) if shape.ndims is None else (shape.dims[-2].value, shape.dims[-1].value)
        known = None if rows is None or columns is None else rows == columns
        if known is not None and self._is_square_set is not None and known != self._is_square_set:
            raise ValueError(f"User set is_square hint to {self._is_square_set}, but the operator was "
                             f"{'square' if known else 'not square'}: its shape is {self.shape}.")
        return self._is_square_set if known is None else known

    @contextlib.contextmanager
    def _name_scope(self, name=None):
        """The names of what a method makes, for operators that a program derives."""
        with name_scope(self.name), name_scope(name) as scope:
            yield scope

    def _check_input_dtype(self, x):
        if x.dtype.base_dtype != self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}.  Found: {x.dtype} in tensor {x}")

    # Shapes.

    def _shape(self):
        return self.to_dense().shape

    def _shape_tensor(self):
        return array_ops.shape(self.to_dense())

    @property
    def shape(self):
        return TensorShape(self._shape())

    def shape_tensor(self, name="shape_tensor"):
        with name_scope(None, name, self._graph_parents):
            shape = self.shape
            return array_ops.constant(shape.as_list(), dtypes.int32) if shape.is_fully_defined() else self._shape_tensor()

    batch_shape = property(lambda self: self.shape[:-2])
    tensor_rank = property(lambda self: self.shape.ndims)
    range_dimension = property(lambda self: self._size(-2))
    domain_dimension = property(lambda self: self._size(-1))

    def _size(self, place):
        shape = self.shape
        return Dimension(None) if shape.ndims is None else shape.dims[place]

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        return self.shape_tensor(name)[:-2]

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        return array_ops.size(self.shape_tensor(name))

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        return self.shape_tensor(name)[-2]

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        return self.shape_tensor(name)[-1]

    # What kinds define; the defaults go through the dense matrix.

    def _to_dense(self):
        return self._matmul(math_ops.eye(self.domain_dimension_tensor(), dtype=self.dtype))

    def _matmul(self, x, adjoint=False):
        dense, x = _with_common_batch(self.to_dense(), x)
        return math_ops.matmul(dense, x, adjoint_a=adjoint)

    def _solve(self, rhs, adjoint=False):
        dense, rhs = _with_common_batch(self.to_dense(), rhs)
        if self.is_positive_definite and self.is_self_adjoint:
            return linalg_ops.cholesky_solve(math_ops.cholesky(dense), rhs)
        return math_ops.matrix_solve(dense, rhs, adjoint=adjoint)

    def _determinant(self):
        return math_ops.matrix_determinant(self.to_dense())

    def _log_abs_determinant(self):
        if self.is_positive_definite and self.is_self_adjoint:
            diagonal = array_ops.matrix_diag_part(math_ops.cholesky(self.to_dense()))
            return 2 * math_ops.reduce_sum(math_ops.log(math_ops.abs(diagonal)), axis=-1)
        return linalg_ops.slogdet(self.to_dense())[1]

    def _diag_part(self):
        return array_ops.matrix_diag_part(self.to_dense())

    def _trace(self):
        return math_ops.reduce_sum(self.diag_part(), axis=-1)

    def _add_to_tensor(self, x):
        return self.to_dense() + x

    def _assert_non_singular(self):
        singular_values = linalg_ops.svd(self.to_dense(), compute_uv=False)
        least, most = math_ops.reduce_min(singular_values, -1), math_ops.reduce_max(singular_values, -1)
        return check_ops.assert_greater(least, most * 1e-6, message="Singular matrix: the smallest singular value is too small beside the largest")

    def _assert_positive_definite(self):
        diagonal = math_ops.real(array_ops.matrix_diag_part(math_ops.cholesky(self.to_dense())))
        return check_ops.assert_positive(diagonal, message="Matrix was not positive definite.")

    def _assert_self_adjoint(self):
        dense = self.to_dense()
        return check_ops.assert_equal(dense, _adjoint(dense), message="Matrix was not equal to its adjoint.")

    # What programs call.

    def _operand(self, x, name):
        x = convert_to_tensor(x, dtype=None if hasattr(x, "dtype") else self.dtype, name=name)
        if self.dtype is not None and x.dtype.base_dtype != self.dtype:
            raise TypeError(f"Input argument does not have the same dtype as the operator: {x.dtype.name} and {self.dtype.name}")
        return x

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        if isinstance(x, LinearOperator):
            left, right = self.adjoint() if adjoint else self, x.adjoint() if adjoint_arg else x
            if right.range_dimension.value is not None and left.domain_dimension.value is not None and \
                    left.domain_dimension.value != right.range_dimension.value:
                raise ValueError(f"Operators are incompatible. Expected `x` to have dimension {left.domain_dimension} but got "
                                 f"{right.range_dimension}.")
            return left._times_operator(right)
        with name_scope(None, name, [x]):
            x = self._operand(x, "x")
            x = _adjoint(x) if adjoint_arg else x
            if x.shape.with_rank_at_least(2).ndims is not None:
                (self.range_dimension if adjoint else self.domain_dimension).assert_is_compatible_with(x.shape.dims[-2])
            return self._matmul(x, adjoint=adjoint)

    def __matmul__(self, other):
        return self.matmul(other)

    def _times_operator(self, other):
        if isinstance(other, _kind("Identity")):
            return self
        if isinstance(other, _kind("Zeros")) and self.is_square and other.is_square:
            return other
        return _kind("Composition")([self, other])

    def matvec(self, x, adjoint=False, name="matvec"):
        with name_scope(None, name, [x]):
            return array_ops.squeeze(self.matmul(array_ops.expand_dims(self._operand(x, "x"), -1), adjoint=adjoint), axis=[-1])

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            left, right = self.adjoint() if adjoint else self, rhs.adjoint() if adjoint_arg else rhs
            if right.range_dimension.value is not None and left.domain_dimension.value is not None and \
                    left.domain_dimension.value != right.range_dimension.value:
                raise ValueError(f"Operators are incompatible. Expected `rhs` to have dimension {left.domain_dimension} but got "
                                 f"{right.range_dimension}.")
            return left.inverse()._times_operator(right)
        with name_scope(None, name, [rhs]):
            rhs = self._operand(rhs, "rhs")
            return self._solve(_adjoint(rhs) if adjoint_arg else rhs, adjoint=adjoint)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        with name_scope(None, name, [rhs]):
            return array_ops.squeeze(self.solve(array_ops.expand_dims(self._operand(rhs, "rhs"), -1), adjoint=adjoint), axis=[-1])

    def _require_square(self, what):
        if self.is_square is False:
            raise NotImplementedError(f"{what} not implemented for an operator that is expected to not be square.")

    def determinant(self, name="det"):
        self._require_square("Determinant")
        with name_scope(None, name, self._graph_parents):
            return self._determinant()

    def log_abs_determinant(self, name="log_abs_det"):
        self._require_square("Determinant")
        with name_scope(None, name, self._graph_parents):
            result = self._log_abs_determinant()
            return result if result.dtype == self.dtype else math_ops.cast(result, self.dtype)

    def to_dense(self, name="to_dense"):
        with name_scope(None, name, self._graph_parents):
            return self._to_dense()

    def diag_part(self, name="diag_part"):
        with name_scope(None, name, self._graph_parents):
            return self._diag_part()

    def trace(self, name="trace"):
        with name_scope(None, name, self._graph_parents):
            return self._trace()

    def add_to_tensor(self, x, name="add_to_tensor"):
        with name_scope(None, name, [x]):
            return self._add_to_tensor(self._operand(x, "x"))

    def assert_non_singular(self, name="assert_non_singular"):
        with name_scope(None, name, self._graph_parents):
            return self._assert_non_singular()

    def assert_positive_definite(self, name="assert_positive_definite"):
        with name_scope(None, name, self._graph_parents):
            return self._assert_positive_definite()

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        with name_scope(None, name, self._graph_parents):
            return self._assert_self_adjoint()

    def _adjoint_operator(self):
        return self if self.is_self_adjoint else _kind("Adjoint")(self)

    def adjoint(self, name="adjoint"):
        return self._adjoint_operator()

    H = property(lambda self: self.adjoint())

    def _inverse_operator(self):
        return _kind("Inversion")(self)

    def inverse(self, name="inverse"):
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._inverse_operator()

    def cholesky(self, name="cholesky"):
        if not (self.is_self_adjoint and self.is_positive_definite):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with name_scope(None, name, self._graph_parents):
            return self._cholesky_operator()

    def _cholesky_operator(self):
        return _kind("LowerTriangular")(math_ops.cholesky(self.to_dense()), is_non_singular=True, is_self_adjoint=False, is_square=True)
