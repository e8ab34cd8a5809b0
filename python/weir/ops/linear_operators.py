"""The kinds of linear operators."""

from weir import signal
from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops, check_ops, linalg_ops, math_ops
from weir.ops.linear_operator import _KINDS, LinearOperator, _adjoint, _with_common_batch
from weir.ops.composed_operators import (LinearOperatorBlockDiag, LinearOperatorComposition,  # noqa: F401: asked for here
                                         LinearOperatorKronecker)


def _to_complex(x):
    """A tensor in the complex type of its precision."""
    if x.dtype.base_dtype.is_complex:
        return x
    return math_ops.cast(x, dtypes.complex128 if x.dtype.base_dtype == dtypes.float64 else dtypes.complex64)


def _conj_if(x, adjoint):
    return math_ops.conj(x) if adjoint else x


class LinearOperatorFullMatrix(LinearOperator):
    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorFullMatrix"):
        self._matrix = convert_to_tensor(matrix, name="matrix")
        if self._matrix.shape.ndims is not None and self._matrix.shape.ndims < 2:
            raise ValueError("Argument matrix must have at least 2 dimensions. Found: %s" % self._matrix)
        super().__init__(self._matrix.dtype, [self._matrix], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _to_dense(self):
        return self._matrix


class LinearOperatorLowerTriangular(LinearOperator):
    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorLowerTriangular"):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        tril = convert_to_tensor(tril, name="tril")
        if tril.shape.ndims is not None and tril.shape.ndims < 2:
            raise ValueError("Argument tril must have at least 2 dimensions. Found: %s" % tril)
        self._tril = array_ops.matrix_band_part(tril, -1, 0)
        super().__init__(self._tril.dtype, [self._tril], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    def _to_dense(self):
        return self._tril

    def _solve(self, rhs, adjoint=False):
        tril, rhs = _with_common_batch(self._tril, rhs)
        return math_ops.matrix_triangular_solve(tril, rhs, lower=True, adjoint=adjoint)

    def _diag_part(self):
        return array_ops.matrix_diag_part(self._tril)

    def _determinant(self):
        return math_ops.reduce_prod(self.diag_part(), axis=-1)

    def _log_abs_determinant(self):
        return math_ops.reduce_sum(math_ops.log(math_ops.abs(self.diag_part())), axis=-1)

    def _assert_non_singular(self):
        return check_ops.assert_positive(math_ops.abs(self.diag_part()), message="Singular operator: Diagonal contained zero values.")


def _hints_of_product(left, right):
    """Of diagonal matrices: they commute."""
    both = {hint: True if getattr(left, hint) and getattr(right, hint) else None
            for hint in ("is_non_singular", "is_self_adjoint", "is_positive_definite")}
    if not both["is_self_adjoint"]:
        both["is_positive_definite"] = None
    return both


class LinearOperatorDiag(LinearOperator):
    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorDiag"):
        self._diag = convert_to_tensor(diag, name="diag")
        if self._diag.shape.ndims == 0:
            raise ValueError("Argument diag must have at least 1 dimension. Found: %s" % self._diag)
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(self._diag.dtype, [self._diag], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    diag = property(lambda self: self._diag)

    def _shape(self):
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _shape_tensor(self):
        sizes = array_ops.shape(self._diag)
        return array_ops.concat([sizes, sizes[-1:]], 0)

    def _to_dense(self):
        return array_ops.matrix_diag(self._diag)

    def _matmul(self, x, adjoint=False):
        return array_ops.expand_dims(_conj_if(self._diag, adjoint), -1) * x

    def _solve(self, rhs, adjoint=False):
        return rhs / array_ops.expand_dims(_conj_if(self._diag, adjoint), -1)

    def _diag_part(self):
        return self._diag

    def _determinant(self):
        return math_ops.reduce_prod(self._diag, axis=-1)

    def _log_abs_determinant(self):
        return math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diag)), axis=-1)

    def _add_to_tensor(self, x):
        return array_ops.matrix_set_diag(x, array_ops.matrix_diag_part(x) + self._diag)

    def _assert_non_singular(self):
        return check_ops.assert_positive(math_ops.abs(self._diag), message="Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        return check_ops.assert_positive(math_ops.real(self._diag), message="The diagonal holds non-positive real parts: the "
                                         "operator is not positive definite.")

    def _assert_self_adjoint(self):
        imaginary = math_ops.imag(self._diag) if self.dtype.is_complex else array_ops.zeros_like(self._diag)
        return check_ops.assert_equal(imaginary, array_ops.zeros_like(imaginary), message="The diagonal holds imaginary parts "
                                      "that are not zero: the operator is not self-adjoint.")

    def _inverse_operator(self):
        return LinearOperatorDiag(1.0 / self._diag, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite, True)

    def _cholesky_operator(self):
        return LinearOperatorDiag(math_ops.sqrt(self._diag), is_positive_definite=True)

    def _times_operator(self, other):
        if not isinstance(other, LinearOperatorDiag):
            return super()._times_operator(other)
        return LinearOperatorDiag(self._diag * other._diag, **_hints_of_product(self, other))


class LinearOperatorScaledIdentity(LinearOperatorDiag):
    def __init__(self, num_rows, multiplier, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=True, assert_proper_shapes=False,
                 name="LinearOperatorScaledIdentity"):
        self._multiplier = convert_to_tensor(multiplier, name="multiplier")
        rows = array_ops.expand_dims(convert_to_tensor(num_rows, dtype=dtypes.int32), 0)
        ones = array_ops.ones(array_ops.concat([array_ops.ones_like(array_ops.shape(self._multiplier)), rows], 0), self._multiplier.dtype)
        super().__init__(array_ops.expand_dims(self._multiplier, -1) * ones, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    multiplier = property(lambda self: self._multiplier)

    def _inverse_operator(self):
        return LinearOperatorScaledIdentity(self.domain_dimension_tensor(), 1.0 / self._multiplier, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite)


class LinearOperatorIdentity(LinearOperatorDiag):
    def __init__(self, num_rows, batch_shape=None, dtype=None, is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True,
                 assert_proper_shapes=False, name="LinearOperatorIdentity"):
        if not is_self_adjoint or not is_non_singular or not is_positive_definite:
            raise ValueError("An identity operator is always self adjoint, non-singular and positive definite.")
        rows = array_ops.expand_dims(convert_to_tensor(num_rows, dtype=dtypes.int32), 0)
        sizes = rows if batch_shape is None else array_ops.concat([convert_to_tensor(batch_shape, dtype=dtypes.int32), rows], 0)
        super().__init__(array_ops.ones(sizes, dtypes.as_dtype(dtype or dtypes.float32)), True, True, True, is_square, name)

    def _matmul(self, x, adjoint=False):
        return x if self.tensor_rank == 2 else super()._matmul(x, adjoint)

    def _solve(self, rhs, adjoint=False):
        return rhs if self.tensor_rank == 2 else super()._solve(rhs, adjoint)

    def _inverse_operator(self):
        return self

    _cholesky_operator = _inverse_operator

    def _times_operator(self, other):
        return other


class LinearOperatorZeros(LinearOperator):
    def __init__(self, num_rows, num_columns=None, batch_shape=None, dtype=None, is_non_singular=False, is_self_adjoint=True, is_positive_definite=False,
                 is_square=True, assert_proper_shapes=False, name="LinearOperatorZeros"):
        if is_non_singular or is_positive_definite:
            raise ValueError("A zero operator is always singular and not positive-definite.")
        sizes = convert_to_tensor([num_rows, num_rows if num_columns is None else num_columns], dtype=dtypes.int32)
        sizes = sizes if batch_shape is None else array_ops.concat([convert_to_tensor(batch_shape, dtype=dtypes.int32), sizes], 0)
        self._zeros = array_ops.zeros(sizes, dtypes.as_dtype(dtype or dtypes.float32))
        super().__init__(self._zeros.dtype, [], is_non_singular, is_self_adjoint if is_square else None, None, is_square, name)

    def _to_dense(self):
        return self._zeros

    def _times_operator(self, other):
        return self if self.is_square and other.is_square else super()._times_operator(other)

    def _log_abs_determinant(self):
        return math_ops.log(math_ops.abs(self.determinant()))

    def _determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)


class LinearOperatorAdjoint(LinearOperator):
    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        self._operator = operator
        either = lambda hint, own: own if hint is None else hint  # noqa: E731
        super().__init__(operator.dtype, operator.graph_parents, either(is_non_singular, operator.is_non_singular),
                         either(is_self_adjoint, operator.is_self_adjoint), either(is_positive_definite, operator.is_positive_definite),
                         either(is_square, operator._is_square_set), name or operator.name + "_adjoint")

    operator = property(lambda self: self._operator)

    def _shape(self):
        return self._operator.batch_shape.concatenate(TensorShape([self._operator.domain_dimension, self._operator.range_dimension]))

    def _to_dense(self):
        return _adjoint(self._operator.to_dense())

    def _matmul(self, x, adjoint=False):
        return self._operator.matmul(x, adjoint=not adjoint)

    def _solve(self, rhs, adjoint=False):
        return self._operator.solve(rhs, adjoint=not adjoint)

    def _adjoint_operator(self):
        return self._operator

    def _determinant(self):
        return _conj_if(self._operator.determinant(), self.dtype.is_complex)

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()


class LinearOperatorInversion(LinearOperator):
    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        if is_non_singular is False or operator.is_non_singular is False:
            raise ValueError("operator and supplied hints must have is_non_singular=True or None")
        self._operator = operator
        super().__init__(operator.dtype, operator.graph_parents, True, operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
                         operator.is_positive_definite if is_positive_definite is None else is_positive_definite, True, name or operator.name + "_inv")

    operator = property(lambda self: self._operator)

    def _shape(self):
        return self._operator.shape

    def _to_dense(self):
        return math_ops.matrix_inverse(self._operator.to_dense())

    def _matmul(self, x, adjoint=False):
        return self._operator.solve(x, adjoint=adjoint)

    def _solve(self, rhs, adjoint=False):
        return self._operator.matmul(rhs, adjoint=adjoint)

    def _inverse_operator(self):
        return self._operator

    def _determinant(self):
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self):
        return -self._operator.log_abs_determinant()


class LinearOperatorHouseholder(LinearOperator):
    """The reflection across the plane that is orthogonal to an axis."""

    def __init__(self, reflection_axis, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorHouseholder"):
        self._axis = convert_to_tensor(reflection_axis, name="reflection_axis")
        if self._axis.shape.ndims == 0:
            raise ValueError("Argument reflection_axis must have at least 1 dimension.")
        if is_positive_definite or is_self_adjoint is False or is_non_singular is False or is_square is False:
            raise ValueError("A Householder operator is always square, self adjoint, non-singular and not positive definite.")
        super().__init__(self._axis.dtype, [self._axis], True, True, is_positive_definite, True, name)

    reflection_axis = property(lambda self: self._axis)

    def _shape(self):
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _shape_tensor(self):
        sizes = array_ops.shape(self._axis)
        return array_ops.concat([sizes, sizes[-1:]], 0)

    def _to_dense(self):
        sizes = self.shape_tensor()
        return self._matmul(math_ops.eye(sizes[-1], batch_shape=sizes[:-2], dtype=self.dtype))

    def _matmul(self, x, adjoint=False):
        length = math_ops.sqrt(math_ops.reduce_sum(self._axis * math_ops.conj(self._axis), axis=-1, keepdims=True))
        unit = array_ops.expand_dims(self._axis / length, -1)
        unit, x = _with_common_batch(unit, x)
        return x - 2 * unit * math_ops.matmul(unit, x, adjoint_a=True)

    def _solve(self, rhs, adjoint=False):
        return self._matmul(rhs, adjoint)

    def _determinant(self):
        return -array_ops.ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _inverse_operator(self):
        return self


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H."""

    def __init__(self, base_operator, u, diag_update=None, v=None, is_diag_update_positive=None, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name="LinearOperatorLowRankUpdate"):
        self._base, self._u = base_operator, convert_to_tensor(u, name="u", dtype=base_operator.dtype)
        self._v = self._u if v is None else convert_to_tensor(v, name="v", dtype=base_operator.dtype)
        self._diag = None if diag_update is None else convert_to_tensor(diag_update, name="diag_update", dtype=base_operator.dtype)
        self._is_diag_update_positive = True if diag_update is None else is_diag_update_positive
        if v is None and self._is_diag_update_positive and base_operator.is_self_adjoint and base_operator.is_positive_definite:
            is_self_adjoint, is_positive_definite = True, True
        super().__init__(base_operator.dtype, base_operator.graph_parents + [self._u], is_non_singular, is_self_adjoint, is_positive_definite,
                         base_operator._is_square_set if is_square is None else is_square, name)

    base_operator = property(lambda self: self._base)
    u = property(lambda self: self._u)
    v = property(lambda self: self._v)
    diag_update = property(lambda self: self._diag)
    is_diag_update_positive = property(lambda self: self._is_diag_update_positive)

    def _shape(self):
        batch = array_ops.broadcast_static_shape(self._base.batch_shape, self._u.shape[:-2])
        return batch.concatenate(self._base.shape[-2:])

    def _shape_tensor(self):
        batch = array_ops.broadcast_dynamic_shape(self._base.batch_shape_tensor(), array_ops.shape(self._u)[:-2])
        return array_ops.concat([batch, self._base.shape_tensor()[-2:]], 0)

    def _scaled(self, x, adjoint):
        return x if self._diag is None else array_ops.expand_dims(_conj_if(self._diag, adjoint), -1) * x

    def _matmul(self, x, adjoint=False):
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        update = math_ops.matmul(left, self._scaled(math_ops.matmul(right, x, adjoint_a=True), adjoint))
        return self._base.matmul(x, adjoint=adjoint) + update

    def _to_dense(self):
        return self._base.to_dense() + math_ops.matmul(self._u, self._scaled(_adjoint(self._v), False))

    # By the lemmas of Woodbury and of the determinant: the base is solved with, and a matrix of the update's size.

    @property
    def _use_cholesky(self):
        return bool(self._v is self._u and self._is_diag_update_positive and self._base.is_self_adjoint
                    and self._base.is_positive_definite)

    def _capacitance(self):
        inner = math_ops.matmul(self._v, self._base.solve(self._u), adjoint_a=True)
        if self._diag is None:
            return array_ops.matrix_set_diag(inner, array_ops.matrix_diag_part(inner) + 1)
        return inner + array_ops.matrix_diag(1 / self._diag)

    def _solve(self, rhs, adjoint=False):
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        by_base = self._base.solve(rhs, adjoint=adjoint)
        capacitance, inner = _with_common_batch(self._capacitance(), math_ops.matmul(right, by_base, adjoint_a=True))
        if self._use_cholesky:
            inner = linalg_ops.cholesky_solve(math_ops.cholesky(capacitance), inner)
        else:
            inner = math_ops.matrix_solve(capacitance, inner, adjoint=adjoint)
        return by_base - self._base.solve(math_ops.matmul(left, inner), adjoint=adjoint)

    def _determinant(self):
        result = self._base.determinant() * math_ops.matrix_determinant(self._capacitance())
        return result if self._diag is None else result * math_ops.reduce_prod(self._diag, axis=-1)

    def _log_abs_determinant(self):
        if self._use_cholesky:
            diagonal = array_ops.matrix_diag_part(math_ops.cholesky(self._capacitance()))
            result = 2 * math_ops.reduce_sum(math_ops.log(math_ops.real(diagonal)), axis=-1)
        else:
            result = math_ops.log(math_ops.abs(math_ops.matrix_determinant(self._capacitance())))
        if self._diag is not None:
            result += math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diag)), axis=-1)
        return self._base.log_abs_determinant() + math_ops.cast(result, self.dtype)


class LinearOperatorToeplitz(LinearOperator):
    """The same number all along each diagonal."""

    def __init__(self, col, row, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorToeplitz"):
        self._col, self._row = convert_to_tensor(col, name="col"), convert_to_tensor(row, name="row")
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        super().__init__(self._row.dtype, [self._row, self._col], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    col = property(lambda self: self._col)
    row = property(lambda self: self._row)

    def _to_dense(self):
        size = array_ops.shape(self._row)[-1]
        entries = array_ops.concat([array_ops.reverse(self._row[..., 1:], [-1]), self._col], -1)
        places = array_ops.expand_dims(math_ops.range(size), 1) - array_ops.expand_dims(math_ops.range(size), 0) + size - 1
        return array_ops.gather(entries, places, axis=-1)


class LinearOperatorCirculant(LinearOperator):
    """A convolution on a circle, which Fourier's transform makes diagonal."""

    _depth = 1

    def __init__(self, spectrum, input_output_dtype=dtypes.complex64, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=True,
                 name=None):
        self._spectrum = convert_to_tensor(spectrum, name="spectrum")
        if self._spectrum.shape.ndims is not None and self._spectrum.shape.ndims < self._depth:
            raise ValueError(f"Argument spectrum must have at least {self._depth} dimensions. Found: {self._spectrum}")
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
            is_self_adjoint = True
        self._complex = dtypes.complex128 if dtypes.as_dtype(input_output_dtype) in (dtypes.float64, dtypes.complex128) else dtypes.complex64
        super().__init__(input_output_dtype, [self._spectrum], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    spectrum = property(lambda self: self._spectrum)
    block_depth = property(lambda self: self._depth)
    block_shape = property(lambda self: self._spectrum.shape[-self._depth:])

    def block_shape_tensor(self):
        return array_ops.shape(self._spectrum)[-self._depth:]

    def _shape(self):
        size = self.block_shape.num_elements()
        return self._spectrum.shape[:-self._depth].concatenate(TensorShape([size, size]))

    def _shape_tensor(self):
        size = math_ops.reduce_prod(self.block_shape_tensor())
        return array_ops.concat([array_ops.shape(self._spectrum)[:-self._depth], array_ops.stack([size, size])], 0)

    def _through_spectrum(self, x, function):
        """Transforms columns, applies the function of the spectrum to them, and transforms back."""
        forward, back = {1: (signal.fft, signal.ifft), 2: (signal.fft2d, signal.ifft2d), 3: (signal.fft3d, signal.ifft3d)}[self._depth]
        columns = math_ops.matrix_transpose(math_ops.cast(x, self._complex))
        sizes = array_ops.shape(columns)
        blocks = array_ops.reshape(columns, array_ops.concat([sizes[:-1], self.block_shape_tensor()], 0))
        spectrum = array_ops.expand_dims(math_ops.cast(self._spectrum, self._complex), -self._depth - 1)
        mixed = back(function(spectrum, forward(blocks)))
        result = array_ops.reshape(mixed, array_ops.concat([array_ops.shape(mixed)[:-self._depth], sizes[-1:]], 0))
        return math_ops.cast(math_ops.matrix_transpose(result), self.dtype)

    def _matmul(self, x, adjoint=False):
        return self._through_spectrum(x, lambda s, v: _conj_if(s, adjoint) * v)

    def _solve(self, rhs, adjoint=False):
        return self._through_spectrum(rhs, lambda s, v: v / _conj_if(s, adjoint))

    def _assert_non_singular(self):
        return check_ops.assert_positive(math_ops.abs(self._spectrum), message="Singular operator: Spectrum contained zero values.")

    def _assert_positive_definite(self):
        return check_ops.assert_positive(math_ops.real(self._spectrum), message="Not positive definite: Real part of spectrum was "
                                         "not all positive.")

    def convolution_kernel(self, name="convolution_kernel"):
        back = {1: signal.ifft, 2: signal.ifft2d, 3: signal.ifft3d}[self._depth]
        return math_ops.cast(back(math_ops.cast(self._spectrum, self._complex)), self.dtype)

    def _block_axes(self):
        return list(range(-self._depth, 0))

    def _determinant(self):
        return math_ops.cast(math_ops.reduce_prod(self._spectrum, axis=self._block_axes()), self.dtype)

    def _log_abs_determinant(self):
        return math_ops.cast(math_ops.reduce_sum(math_ops.log(math_ops.abs(self._spectrum)), axis=self._block_axes()), self.dtype)


class LinearOperatorCirculant2D(LinearOperatorCirculant):
    _depth = 2


class LinearOperatorCirculant3D(LinearOperatorCirculant):
    _depth = 3


_KINDS.update(Adjoint=LinearOperatorAdjoint, Identity=LinearOperatorIdentity,
              Inversion=LinearOperatorInversion, LowerTriangular=LinearOperatorLowerTriangular, Zeros=LinearOperatorZeros)
