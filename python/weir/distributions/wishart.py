"""Random matrices that are positive definite: Wishart's distribution."""

import math

import weir as tf
from weir.distributions.continuous import _or_nan
from weir.distributions.discrete import _given
from weir.distributions.distribution import FULLY_REPARAMETERIZED, Distribution, _checked, _tensors


class _Wishart(Distribution):
    """Sums of ``df`` squares of normal vectors whose covariance is the scale, kept as its Cholesky factor."""

    def __init__(self, df, factor, cholesky_input_output_matrices, validate_args, allow_nan_stats, parameters, scope):
        self._df, self._factor, self._as_factors = df, factor, cholesky_input_output_matrices
        super().__init__(factor.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None, scope)

    df = property(lambda self: self._df)
    cholesky_input_output_matrices = property(lambda self: self._as_factors)
    dimension = property(lambda self: self._factor.shape.dims[-1])

    def scale(self):
        return self._factor if self._as_factors else self._whole(self._factor)

    @staticmethod
    def _whole(factor):
        return tf.matmul(factor, factor, adjoint_b=True)

    def _size(self):
        return tf.cast(tf.shape(self._factor)[-1], self.dtype)

    def _batch_shape(self):
        return tf.broadcast_static_shape(self._df.shape, self._factor.shape[:-2])

    def _batch_shape_tensor(self):
        return tf.broadcast_dynamic_shape(tf.shape(self._df), tf.shape(self._factor)[:-2])

    def _event_shape(self):
        return self._factor.shape[-2:]

    def _event_shape_tensor(self):
        return tf.shape(self._factor)[-2:]

    def _halves(self):
        """(df - i) / 2 for each dimension i."""
        return 0.5 * (self._df[..., None] - tf.range(self._size()))

    def _sample_n(self, n, seed=None):
        # Bartlett's decomposition: a triangle of normals with roots of chi squares on its diagonal.
        batch, size = self.batch_shape_tensor(), tf.shape(self._factor)[-1:]
        shape = tf.concat([[n], batch, size, size], 0)
        normals = tf.random_normal(shape, dtype=self.dtype, seed=seed)
        halves = self._halves() + tf.zeros(tf.concat([batch, size], 0), self.dtype)
        squares = tf.random_gamma([n], alpha=halves, beta=0.5, dtype=self.dtype, seed=None if seed is None else seed + 1)
        triangle = tf.matrix_set_diag(tf.matrix_band_part(normals, -1, 0), tf.sqrt(squares))
        factors = tf.matmul(self._factor + tf.zeros_like(triangle), triangle)
        return factors if self._as_factors else self._whole(factors)

    def _log_det(self):
        return 2.0 * tf.reduce_sum(tf.log(tf.matrix_diag_part(self._factor)), -1)

    def _multi_lgamma(self):
        p = self._size()
        return 0.25 * p * (p - 1.0) * math.log(math.pi) + tf.reduce_sum(tf.lgamma(self._halves()), -1)

    def _multi_digamma(self):
        return tf.reduce_sum(tf.digamma(self._halves()), -1)

    def log_normalization(self, name="log_normalization"):
        with tf.name_scope(name):
            return 0.5 * self._df * (self._log_det() + self._size() * math.log(2.0)) + self._multi_lgamma()

    def mean_log_det(self, name="mean_log_det"):
        with tf.name_scope(name):
            return self._multi_digamma() + self._size() * math.log(2.0) + self._log_det()

    def _log_prob(self, x):
        root = x if self._as_factors else tf.cholesky(x)
        factor = self._factor + tf.zeros_like(root)
        # The trace of V^-1 X is the sum of squares of L^-1 times the root of X.
        trace = tf.reduce_sum(tf.square(tf.matrix_triangular_solve(factor, root + tf.zeros_like(factor), lower=True)), [-2, -1])
        log_det = 2.0 * tf.reduce_sum(tf.log(tf.matrix_diag_part(root)), -1)
        return 0.5 * (self._df - self._size() - 1.0) * log_det - 0.5 * trace - self.log_normalization()

    def _entropy(self):
        p = self._size()
        return (0.5 * (p + 1.0) * self._log_det() + 0.5 * p * (p + 1.0) * math.log(2.0) + self._multi_lgamma()
                - 0.5 * (self._df - p - 1.0) * self._multi_digamma() + 0.5 * self._df * p)

    def _mean(self):
        if self._as_factors:
            return tf.sqrt(self._df)[..., None, None] * self._factor
        return self._df[..., None, None] * self._whole(self._factor)

    def _variance(self):
        scale = self._whole(self._factor)
        diagonal = tf.matrix_diag_part(scale)
        variance = self._df[..., None, None] * (tf.square(scale) + diagonal[..., None] * diagonal[..., None, :])
        return tf.cholesky(variance) if self._as_factors else variance

    def _stddev(self):
        if self._as_factors:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        return tf.cholesky(self._variance())

    def _mode(self):
        free = self._df - self._size() - 1.0
        factor = tf.sqrt(tf.maximum(free, 0.0))[..., None, None] * self._factor
        mode = factor if self._as_factors else self._whole(factor)
        return _or_nan(self, (free >= 0.0)[..., None, None], mode, "Mode undefined when df < dimension + 1")


class WishartCholesky(_Wishart):
    """Given the Cholesky factor of the scale."""

    def __init__(self, df, scale, cholesky_input_output_matrices=False, validate_args=False, allow_nan_stats=True, name="WishartCholesky"):
        parameters = _given(locals())
        with tf.name_scope(name, values=[df, scale]) as scope:
            df, scale = _tensors(df, scale, names=("df", "scale"))
            df, scale = _checked(validate_args, [df, scale], lambda: [
                tf.assert_positive(tf.matrix_diag_part(scale), message="scale must be positive definite")])
        super().__init__(df, tf.matrix_band_part(scale, -1, 0), cholesky_input_output_matrices, validate_args, allow_nan_stats, parameters, scope)


class WishartFull(_Wishart):
    """Given the scale itself."""

    def __init__(self, df, scale, cholesky_input_output_matrices=False, validate_args=False, allow_nan_stats=True, name="WishartFull"):
        parameters = _given(locals())
        with tf.name_scope(name, values=[df, scale]) as scope:
            df, scale = _tensors(df, scale, names=("df", "scale"))
            factor = tf.cholesky(scale)
        super().__init__(df, factor, cholesky_input_output_matrices, validate_args, allow_nan_stats, parameters, scope)
