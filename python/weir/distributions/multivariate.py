"""Normal and Laplace vectors."""

import math

import weir as tf
from weir.distributions.discrete import _given
from weir.distributions.distribution import FULLY_REPARAMETERIZED, Distribution, RegisterKL, _tensors


class _NormalVector(Distribution):
    """loc + scale z, z standard normal. ``_diag`` is the scale's diagonal where it has nothing else, ``_tril`` a lower
    triangle otherwise."""

    def _setup(self, parameters, loc, diag, tril, validate_args, allow_nan_stats, name):
        self._diag, self._tril = diag, tril
        scale = diag if tril is None else tril[..., 0]
        self._loc = tf.zeros([], scale.dtype) if loc is None else loc
        self._like = self._loc + tf.zeros_like(scale)  # a vector of the whole batch
        super().__init__(scale.dtype.base_dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None,
                         name)

    loc = mu = property(lambda self: self._loc)
    sigma = property(lambda self: self.covariance())

    def log_sigma_det(self, name="log_sigma_det"):
        """Of the covariance, as before TensorFlow 1.0."""
        with self._scope(name):
            return 2.0 * self._log_det()

    def sigma_det(self, name="sigma_det"):
        with self._scope(name):
            return tf.exp(2.0 * self._log_det())

    @property
    def scale(self):
        """The scale as a matrix; TensorFlow gives a LinearOperator with ``to_dense``."""
        return _Scale(self)

    def _batch_shape(self):
        return self._like.get_shape()[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self._like)[:-1]

    def _event_shape(self):
        return self._like.get_shape()[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._like)[-1:]

    def _times_scale(self, z):
        if self._tril is None:
            return z * self._diag
        return tf.reduce_sum(self._tril * z[..., None, :], axis=-1)

    def _by_scale(self, x):
        """scale^-1 x"""
        if self._tril is None:
            return x / self._diag
        batch = tf.concat([tf.shape(x)[:-1], tf.shape(self._tril)[-2:]], 0)
        tril = self._tril + tf.zeros(batch, self.dtype)
        return tf.matrix_triangular_solve(tril, x[..., None] + tf.zeros_like(tril[..., :1]), lower=True)[..., 0]

    def _log_det(self):
        diag = self._diag if self._tril is None else tf.matrix_diag_part(self._tril)
        return tf.reduce_sum(tf.log(tf.abs(diag + tf.zeros_like(self._like))), axis=-1)

    def _size(self):
        return tf.cast(self.event_shape_tensor()[0], self.dtype)

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], tf.shape(self._like)], 0)
        return self._times_scale(tf.random_normal(shape, dtype=self.dtype, seed=seed)) + self._loc

    def _log_prob(self, x):
        z = self._by_scale(x - self._loc)
        return -0.5 * tf.reduce_sum(tf.square(z), axis=-1) - 0.5 * self._size() * math.log(2.0 * math.pi) - self._log_det()

    def _entropy(self):
        return 0.5 * self._size() * (1.0 + math.log(2.0 * math.pi)) + self._log_det()

    def _mean(self):
        return tf.identity(self._like)

    _mode = _mean

    def _dense(self):
        if self._tril is not None:
            return self._tril
        return tf.matrix_diag(self._diag + tf.zeros_like(self._like))

    # Statistics that loc has no part in have the shape of the scale.
    def _covariance(self):
        if self._tril is None:
            return tf.matrix_diag(tf.square(self._diag))
        dense = self._tril
        return tf.matmul(dense, dense, adjoint_b=True)

    def _variance(self):
        if self._tril is None:
            return tf.square(self._diag)
        return tf.reduce_sum(tf.square(self._tril), axis=-1)

    def _stddev(self):
        return tf.sqrt(self._variance())


class _Scale:
    """What programs ask a scale for."""

    def __init__(self, distribution):
        self._distribution = distribution

    def to_dense(self, name="to_dense"):
        return self._distribution._dense()

    def diag_part(self, name="diag_part"):
        return tf.matrix_diag_part(self.to_dense())

    def log_abs_determinant(self, name="log_abs_det"):
        return self._distribution._log_det()

    def matvec(self, x, name="matvec"):
        return self._distribution._times_scale(x)

    def __getattr__(self, name):
        """What else a linear operator has, by that of the whole matrix."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(tf.linalg.LinearOperatorFullMatrix(self.to_dense()), name)


def _diag_of(loc, scale_diag, scale_identity_multiplier):
    """The diagonal of a scale that is given in one of three ways."""
    given = [value for value in (loc, scale_diag, scale_identity_multiplier) if value is not None]
    found = iter(_tensors(*given))
    loc = None if loc is None else next(found)
    diag = None if scale_diag is None else next(found)
    if scale_identity_multiplier is not None:
        multiplier = next(found)[..., None]
        diag = multiplier * tf.ones_like(loc) if diag is None else diag + multiplier
    if diag is None:
        diag = tf.ones_like(loc)
    for value, what in ((loc, "loc"), (diag, "scale_diag")):
        if value is not None and value.shape.ndims == 0:
            raise ValueError(f"{what} must have at least 1 dimension")
    return loc, diag


class MultivariateNormalDiag(_NormalVector):
    _old_names = {"mu": "loc", "diag_stdev": "scale_diag"}

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False,
                 allow_nan_stats=True, name="MultivariateNormalDiag"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            loc, diag = _diag_of(loc, scale_diag, scale_identity_multiplier)
            self._setup(parameters, loc, diag, None, validate_args, allow_nan_stats, scope)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    def __init__(self, loc, scale_diag, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalDiagWithSoftplusScale"):
        super().__init__(loc, tf.nn.softplus(scale_diag), None, validate_args, allow_nan_stats, name)


class MultivariateNormalTriL(_NormalVector):
    def __init__(self, loc=None, scale_tril=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalTriL"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            if scale_tril is None:
                loc, = _tensors(loc)
                self._setup(parameters, loc, tf.ones_like(loc), None, validate_args, allow_nan_stats, scope)
            else:
                tril, *rest = _tensors(scale_tril, *([] if loc is None else [loc]))
                self._setup(parameters, rest[0] if rest else None, None, tf.matrix_band_part(tril, -1, 0), validate_args,
                            allow_nan_stats, scope)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    _old_names = {"mu": "loc", "sigma": "covariance_matrix"}

    def __init__(self, loc=None, covariance_matrix=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalFullCovariance"):
        parameters = _given(locals())
        tril = None if covariance_matrix is None else tf.cholesky(_tensors(covariance_matrix)[0])
        super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalDiagPlusLowRank(MultivariateNormalTriL):
    """Scale = diagonal + U D U^T."""

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, scale_perturb_factor=None,
                 scale_perturb_diag=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalDiagPlusLowRank"):
        parameters = _given(locals())
        with tf.name_scope(name):
            own_loc, diag = _diag_of(loc, scale_diag, scale_identity_multiplier)
            scale = tf.matrix_diag(diag)
            if scale_perturb_factor is not None:
                u = tf.convert_to_tensor(scale_perturb_factor, dtype=scale.dtype)
                ud = u if scale_perturb_diag is None else u * tf.convert_to_tensor(scale_perturb_diag,
                                                                                   dtype=scale.dtype)[..., None, :]
                scale = scale + tf.matmul(ud, u, adjoint_b=True)
            tril = tf.cholesky(tf.matmul(scale, scale, adjoint_b=True))
        super().__init__(own_loc, tril, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalCholesky(MultivariateNormalTriL):
    """By the Cholesky factor of the covariance; of before TensorFlow 1.0, as is the next one."""

    def __init__(self, mu, chol, validate_args=False, allow_nan_stats=True, name="MultivariateNormalCholesky"):
        super().__init__(mu, chol, validate_args, allow_nan_stats, name)


class MultivariateNormalDiagPlusVDVT(MultivariateNormalDiagPlusLowRank):
    """Scale = diag_large + V diag_small V^T."""

    def __init__(self, mu, diag_large, v, diag_small=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalDiagPlusVDVT"):
        super().__init__(mu, diag_large, None, v, diag_small, validate_args, allow_nan_stats, name)


class VectorLaplaceDiag(_NormalVector):
    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False,
                 allow_nan_stats=True, name="VectorLaplaceDiag"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            loc, diag = _diag_of(loc, scale_diag, scale_identity_multiplier)
            self._setup(parameters, loc, diag, None, validate_args, allow_nan_stats, scope)

    def _sample_n(self, n, seed=None):
        drawn = tf.random_uniform(tf.concat([[n], tf.shape(self._like)], 0), minval=-0.99999994, maxval=1.0,
                                  dtype=self.dtype, seed=seed)
        return self._times_scale(-tf.sign(drawn) * tf.log1p(-tf.abs(drawn))) + self._loc

    def _log_prob(self, x):
        return -tf.reduce_sum(tf.abs(self._by_scale(x - self._loc)), -1) - self._size() * math.log(2.0) - self._log_det()

    def _entropy(self):
        return self._size() * (1.0 + math.log(2.0)) + self._log_det()

    def _variance(self):
        return 2.0 * super()._variance()

    def _covariance(self):
        return 2.0 * super()._covariance()


@RegisterKL(_NormalVector, _NormalVector)
def _kl_normal_vectors(a, b, name=None):
    with tf.name_scope(name, "kl_mvn"):
        if a._tril is None and b._tril is None:
            trace = tf.reduce_sum(tf.square((a._diag + tf.zeros_like(a._like)) / b._diag), axis=-1)
        else:
            ours, theirs = a._dense(), b._dense()
            solved = tf.matrix_triangular_solve(theirs + tf.zeros_like(ours), ours + tf.zeros_like(theirs), lower=True)
            trace = tf.reduce_sum(tf.square(solved), axis=[-2, -1])
        distance = tf.reduce_sum(tf.square(b._by_scale(b.loc - a.loc + tf.zeros_like(b._like))), axis=-1)
        return b._log_det() - a._log_det() + 0.5 * (-a._size() + trace + distance)
