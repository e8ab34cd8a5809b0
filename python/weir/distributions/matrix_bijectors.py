"""Bijectors of matrices, and of vectors by matrices."""

import numpy as np

import weir as tf
from weir.distributions.bijector import Bijector
from weir.distributions.bijectors import AffineScalar, Chain, Softplus
from weir.distributions.util import fill_triangular, fill_triangular_inverse
from weir.ops.linear_operator import LinearOperator


def _square_checks(x):
    shape = tf.shape(x)
    return [tf.assert_rank_at_least(x, 2, message="Input must have rank at least 2."),
            tf.assert_equal(shape[-2], shape[-1], message="Input must be a (batch of) square matrix.")]


class CholeskyOuterProduct(Bijector):
    """X X^T of a lower triangle X with a positive diagonal."""

    def __init__(self, validate_args=False, name="cholesky_outer_product"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        with tf.control_dependencies(_square_checks(x) if self._validate_args else []):
            x = tf.matrix_band_part(x, -1, 0)
        return tf.matmul(x, x, adjoint_b=True)

    def _inverse(self, y):
        return tf.cholesky(y)

    def _forward_log_det_jacobian(self, x):
        # The entry (i, j) of X X^T depends on X[i, j] by 2^(i == j) X[j, j]: the diagonal's i-th occurs p - i times.
        diagonal = tf.matrix_diag_part(x)
        if self._validate_args:
            positive = tf.assert_positive(diagonal, message="Input must be positive definite.")
            with tf.control_dependencies([*_square_checks(x), positive]):
                diagonal = tf.identity(diagonal)
        size = tf.cast(tf.shape(x)[-1], x.dtype)
        times = size - tf.cast(tf.range(tf.shape(x)[-1]), x.dtype)
        return size * np.log(2.0).astype(x.dtype.as_numpy_dtype) + tf.reduce_sum(times * tf.log(diagonal), axis=-1)


class MatrixInverseTriL(Bijector):
    """The inverse of a lower triangle, with the determinant that it has as a function of all matrices."""

    def __init__(self, validate_args=False, name="matrix_inverse_tril"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        with tf.control_dependencies(self._checks(x)):
            shape = tf.shape(x)
            return tf.matrix_triangular_solve(x, tf.eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype), lower=True)

    _inverse = _forward

    def _forward_log_det_jacobian(self, x):
        with tf.control_dependencies(self._checks(x)):
            size = tf.cast(tf.shape(x)[-1], x.dtype.base_dtype)
            return -2.0 * size * tf.reduce_sum(tf.log(tf.abs(tf.matrix_diag_part(x))), axis=-1)

    def _checks(self, x):
        if not self._validate_args:
            return []
        if x.get_shape().ndims is not None and x.get_shape().ndims < 2:
            raise ValueError(f"Input must have rank at least 2, has shape {x.get_shape()}")
        diagonal = tf.matrix_diag_part(x)
        above = tf.matrix_band_part(tf.matrix_set_diag(x, tf.zeros_like(diagonal)), 0, -1)
        return [tf.assert_rank_at_least(x, 2, message="Input must have rank at least 2."),
                tf.assert_equal(tf.shape(x)[-2], tf.shape(x)[-1], message="Input must be a square matrix."),
                tf.assert_equal(above, tf.zeros_like(above), message="Input must be lower triangular."),
                tf.assert_none_equal(diagonal, tf.zeros_like(diagonal),
                                     message="Input must have all diagonal entries nonzero.")]


class FillTriangular(Bijector):
    """The n (n + 1) / 2 numbers of a vector as a triangle."""

    def __init__(self, upper=False, validate_args=False, name="fill_triangular"):
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2, is_constant_jacobian=False,
                         validate_args=validate_args, name=name)
        self._upper = upper

    def _forward(self, x):
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y):
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x):
        return tf.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y):
        return tf.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape):
        numbers = input_shape[-1].value
        size = None if numbers is None else int((np.sqrt(1 + 8 * numbers) - 1) / 2)
        if size is not None and size * (size + 1) // 2 != numbers:
            raise ValueError("Vector length is not a triangular number.")
        return input_shape[:-1].concatenate([size, size])

    def _inverse_event_shape(self, output_shape):
        rows, columns = output_shape[-2].value, output_shape[-1].value
        if rows is None or columns is None:
            return output_shape[:-2].concatenate([None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        return output_shape[:-2].concatenate([rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape):
        size = tf.cast((tf.sqrt(1.0 + 8.0 * tf.to_float(input_shape[-1])) - 1.0) / 2.0, input_shape.dtype)
        if self._validate_args:
            check = tf.assert_equal(size * (size + 1) // 2, input_shape[-1],
                                    message="Vector length is not a triangular number")
            with tf.control_dependencies([check]):
                size = tf.identity(size)
        return tf.concat([input_shape[:-1], [size, size]], 0)

    def _inverse_event_shape_tensor(self, output_shape):
        size = output_shape[-1]
        if self._validate_args:
            with tf.control_dependencies([tf.assert_equal(size, output_shape[-2], message="Matrix must be square.")]):
                size = tf.identity(size)
        return tf.concat([output_shape[:-2], [size * (size + 1) // 2]], 0)


class TransformDiagonal(Bijector):
    """A matrix whose diagonal another bijector has changed."""

    def __init__(self, diag_bijector, validate_args=False, name="transform_diagonal"):
        super().__init__(forward_min_event_ndims=2, inverse_min_event_ndims=2, validate_args=validate_args, name=name)
        self._diagonal = diag_bijector

    def _forward(self, x):
        return tf.matrix_set_diag(x, self._diagonal.forward(tf.matrix_diag_part(x)))

    def _inverse(self, y):
        return tf.matrix_set_diag(y, self._diagonal.inverse(tf.matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x):
        return self._diagonal.forward_log_det_jacobian(tf.matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y):
        return self._diagonal.inverse_log_det_jacobian(tf.matrix_diag_part(y), event_ndims=1)


class ScaleTriL(Chain):
    """A vector as a lower triangle with a positive diagonal."""

    def __init__(self, diag_bijector=None, diag_shift=1e-5, validate_args=False, name="scale_tril"):
        diagonal = Softplus(validate_args=validate_args) if diag_bijector is None else diag_bijector
        if diag_shift is not None:
            diagonal = Chain([AffineScalar(shift=diag_shift), diagonal])
        super().__init__([TransformDiagonal(diagonal), FillTriangular()], validate_args=validate_args, name=name)


class AffineLinearOperator(Bijector):
    """shift + scale x, where the scale is a LinearOperator."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_linear_operator"):
        self._shift = None if shift is None else tf.convert_to_tensor(shift, name="shift")
        self._scale = scale
        if scale is not None:
            if self._shift is not None and self._shift.dtype.base_dtype != scale.dtype.base_dtype:
                raise TypeError(f"shift.dtype({self._shift.dtype}) is incompatible with scale.dtype({scale.dtype}).")
            if not isinstance(scale, LinearOperator):
                raise TypeError("scale is not an instance of tf.LinearOperator")
            if validate_args and not scale.is_non_singular:
                raise ValueError("Scale matrix must be non-singular.")
        known = scale if scale is not None else self._shift
        super().__init__(graph_parents=[] if self._shift is None else [self._shift], is_constant_jacobian=True,
                         validate_args=validate_args, dtype=tf.float32 if known is None else known.dtype.base_dtype,
                         forward_min_event_ndims=1, name=name)

    shift = property(lambda self: self._shift)
    scale = property(lambda self: self._scale)

    def _forward(self, x):
        if self._scale is not None:
            with tf.control_dependencies(self._checks()):
                x = self._scale.matvec(x)
        return x if self._shift is None else x + self._shift

    def _inverse(self, y):
        y = y if self._shift is None else y - self._shift
        return y if self._scale is None else self._scale.solvevec(y)

    def _forward_log_det_jacobian(self, x):
        if self._scale is None:
            return tf.zeros([], x.dtype.base_dtype)
        with tf.control_dependencies(self._checks()):
            return self._scale.log_abs_determinant()

    def _checks(self):
        try:
            return [self._scale.assert_non_singular()] if self._validate_args else []
        except NotImplementedError:
            return []
