"""Distributions of numbers."""

import math

import numpy as np

import weir as tf
from weir.distributions.distribution import (FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, RegisterKL, _checked,
                                             _positive, _tensors)
from weir.distributions.native import _bodies, _divergence, _make
from weir.distributions.normal_functions import _ndtri


class _Scalar(Distribution):
    """A distribution whose parameters broadcast to the batch."""

    _kind = None  # the class of C++ that has its functions

    def _setup(self, parameters, tensors, validate_args, allow_nan_stats, name, reparameterized=True):
        self._batch_of = tuple(tensors)
        if self._kind is not None:
            self._native = _make(self._kind, tensors, name, allow_nan_stats=allow_nan_stats)
        super().__init__(dtype=tensors[0].dtype.base_dtype, validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                         reparameterization_type=FULLY_REPARAMETERIZED if reparameterized else NOT_REPARAMETERIZED,
                         parameters=parameters, graph_parents=list(tensors), name=name)

    def _samples_shape(self, n):
        return tf.concat([[n], self.batch_shape_tensor()], 0)

    def _spread(self, tensor):
        """A parameter in the shape of the batch."""
        return tensor * tf.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _uniform(self, n, seed):
        # Of the open interval: its logarithm is taken.
        return tf.random_uniform(self._samples_shape(n), minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.0,
                                 dtype=self.dtype, seed=seed)


class _LocScale(_Scalar):
    _shaped_parameters = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name=None):
        parameters = dict(locals())
        name = name or type(self).__name__
        with tf.name_scope(name, values=[loc, scale]) as scope:
            self._loc, self._scale = _tensors(loc, scale, names=("loc", "scale"))
            self._loc, self._scale = _checked(validate_args, [self._loc, self._scale],
                                              lambda: [tf.assert_positive(self._scale)])
        parameters.pop("__class__", None)
        self._setup(parameters, [self._loc, self._scale], validate_args, allow_nan_stats, scope)

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _z(self, x):
        return (x - self._loc) / self._scale

    def _mean(self):
        return self._spread(self._loc)

    _mode = _median = _mean


@_bodies("sample_n", "log_prob", "cdf", "survival_function", "log_cdf", "log_survival_function", "entropy", "quantile",
         "stddev")
class Normal(_LocScale):
    _kind = "Normal"
    _old_names = {"mu": "loc", "sigma": "scale"}

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    # The names of before TensorFlow 1.0.
    mu = property(lambda self: self._loc)
    sigma = property(lambda self: self._scale)


class NormalWithSoftplusScale(Normal):
    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="NormalWithSoftplusScale"):
        with tf.name_scope(name, values=[scale]):
            positive = tf.nn.softplus(scale, name="softplus_scale")
        super().__init__(loc, positive, validate_args, allow_nan_stats, name)


class NormalWithSoftplusSigma(NormalWithSoftplusScale):
    """The same before TensorFlow 1.0, when the parameters were called mu and sigma."""

    _shaped_parameters = ("mu", "sigma")


@_bodies("sample_n", "log_prob", "cdf", "entropy", "stddev")
class Laplace(_LocScale):
    _kind = "Laplace"
    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


class LaplaceWithSoftplusScale(Laplace):
    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="LaplaceWithSoftplusScale"):
        super().__init__(loc, tf.nn.softplus(scale, name="softplus_scale"), validate_args, allow_nan_stats, name)


@_bodies("sample_n", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function", "entropy", "stddev")
class Logistic(_LocScale):
    _kind = "Logistic"
    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Logistic"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


@_bodies("sample_n", "log_prob", "cdf", "quantile", "entropy")
class Cauchy(_LocScale):
    _kind = "Cauchy"
    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Cauchy"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _mean(self):
        if self.allow_nan_stats:
            return tf.fill(self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan))
        raise ValueError("`mean` is undefined for Cauchy distribution.")

    _stddev = _mean

    def _mode(self):
        return self._spread(self._loc)


class HalfNormal(_Scalar):
    _shaped_parameters = ("scale",)

    def __init__(self, scale, validate_args=False, allow_nan_stats=True, name="HalfNormal"):
        parameters = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        self._scale, = _tensors(scale, names=("scale",))
        self._setup(parameters, [self._scale], validate_args, allow_nan_stats, name)

    scale = property(lambda self: self._scale)

    def _sample_n(self, n, seed=None):
        return tf.abs(tf.random_normal(self._samples_shape(n), dtype=self.dtype, seed=seed) * self._scale)

    def _prob(self, x):
        density = (math.sqrt(2.0 / math.pi) / self._scale) * tf.exp(-0.5 * tf.square(x / self._scale))
        return density * tf.cast(x >= 0, self.dtype)

    def _cdf(self, x):
        return tf.erf(tf.maximum(x, 0.0) / self._scale / math.sqrt(2.0))

    def _quantile(self, p):
        return self._scale * _ndtri(0.5 * (p + 1.0))

    def _entropy(self):
        return 0.5 * tf.log(math.pi * self._scale ** 2.0 / 2.0) + 0.5

    def _mean(self):
        return self._scale * math.sqrt(2.0) / math.sqrt(math.pi)

    def _mode(self):
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _variance(self):
        return self._scale ** 2.0 * (1.0 - 2.0 / math.pi)


@_bodies("sample_n", "prob", "cdf", "entropy", "mean", "variance", "stddev")
class Uniform(_Scalar):
    """Numbers from ``low`` to below ``high``."""

    _kind = "Uniform"
    _shaped_parameters = ("low", "high")
    _old_names = {"a": "low", "b": "high"}

    def __init__(self, low=0.0, high=1.0, validate_args=False, allow_nan_stats=True, name="Uniform"):
        parameters = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        with tf.name_scope(name, values=[low, high]) as scope:
            self._low, self._high = _tensors(low, high, names=("low", "high"))
            self._low, self._high = _checked(validate_args, [self._low, self._high], lambda: [
                tf.assert_less(self._low, self._high, message="uniform not defined when low >= high.")])
        self._setup(parameters, [self._low, self._high], validate_args, allow_nan_stats, scope)

    low = a = property(lambda self: self._low)
    high = b = property(lambda self: self._high)

    def range(self, name="range"):
        with self._scope(name):
            return self._high - self._low


@_bodies("sample_n", "log_prob", "cdf", "entropy", "mean", "variance", "stddev", "mode")
class Gamma(_Scalar):
    _kind = "Gamma"
    _shaped_parameters = ("concentration", "rate")
    _old_names = {"alpha": "concentration", "beta": "rate"}

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"):
        parameters = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        with tf.name_scope(name, values=[concentration, rate]) as scope:
            self._concentration, self._rate = _tensors(concentration, rate, names=("concentration", "rate"))
            self._concentration, self._rate = _checked(validate_args, [self._concentration, self._rate], lambda: [
                tf.assert_positive(self._concentration), tf.assert_positive(self._rate)])
        self._setup(parameters, [self._concentration, self._rate], validate_args, allow_nan_stats, scope)

    concentration = alpha = property(lambda self: self._concentration)
    rate = beta = property(lambda self: self._rate)


def _or_nan(distribution, defined, value, message):
    """A moment where it is defined, and NaN or an error where it is not."""
    defined = tf.logical_and(defined, tf.ones_like(value, dtype=tf.bool))
    if distribution.allow_nan_stats:
        return tf.where(defined, value, tf.fill(tf.shape(value), value.dtype.as_numpy_dtype(np.nan)))
    with tf.control_dependencies([tf.Assert(tf.reduce_all(defined), [message])]):
        return tf.identity(value)


class GammaWithSoftplusConcentrationRate(Gamma):
    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True,
                 name="GammaWithSoftplusConcentrationRate"):
        super().__init__(tf.nn.softplus(concentration), tf.nn.softplus(rate), validate_args, allow_nan_stats, name)


@_bodies("sample_n", "log_prob")
class Exponential(Gamma):
    _kind = "Exponential"
    _shaped_parameters = ("rate",)
    _old_names = {"lam": "rate"}

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        rate, = _tensors(rate, names=("rate",))
        super().__init__(tf.ones([], dtype=rate.dtype), rate, validate_args, allow_nan_stats, name)
        self._parameters = {"rate": rate, "validate_args": validate_args, "allow_nan_stats": allow_nan_stats,
                            "name": name}


class ExponentialWithSoftplusRate(Exponential):
    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="ExponentialWithSoftplusRate"):
        super().__init__(tf.nn.softplus(rate), validate_args, allow_nan_stats, name)


class Chi2(Gamma):
    _shaped_parameters = ("df",)
    _old_names = {}

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2"):
        self._df, = _tensors(df, names=("df",))
        super().__init__(0.5 * self._df, tf.constant(0.5, dtype=self._df.dtype), validate_args, allow_nan_stats, name)
        self._parameters = {"df": df, "validate_args": validate_args, "allow_nan_stats": allow_nan_stats, "name": name}

    df = property(lambda self: self._df)


class Chi2WithAbsDf(Chi2):
    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2WithAbsDf"):
        super().__init__(tf.floor(tf.abs(df, name="abs_df")), validate_args, allow_nan_stats, name)


class InverseGamma(_Scalar):
    _shaped_parameters = ("concentration", "rate")
    _old_names = {"alpha": "concentration", "beta": "rate"}

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="InverseGamma"):
        parameters = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        self._concentration, self._rate = _tensors(concentration, rate, names=("concentration", "rate"))
        self._concentration, self._rate = _positive(validate_args, (self._concentration, "concentration"),
                                                    (self._rate, "rate"))
        self._setup(parameters, [self._concentration, self._rate], validate_args, allow_nan_stats, name)

    concentration = property(lambda self: self._concentration)
    rate = property(lambda self: self._rate)

    def _sample_n(self, n, seed=None):
        return 1.0 / tf.random_gamma(shape=[n], alpha=self._spread(self._concentration), beta=self._spread(self._rate),
                                     dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        return (-(1.0 + self._concentration) * tf.log(x) - self._rate / x
                - (tf.lgamma(self._concentration) - self._concentration * tf.log(self._rate)))

    def _cdf(self, x):
        return tf.igammac(self._spread(self._concentration) + tf.zeros_like(x), self._rate / x)

    def _entropy(self):
        return (self._concentration + tf.log(self._rate) + tf.lgamma(self._concentration)
                - (1.0 + self._concentration) * tf.digamma(self._concentration))

    def _mean(self):
        return _or_nan(self, self._concentration > 1.0, self._rate / (self._concentration - 1.0),
                       "mean undefined when any concentration <= 1")

    def _variance(self):
        value = tf.square(self._rate) / tf.square(self._concentration - 1.0) / (self._concentration - 2.0)
        return _or_nan(self, self._concentration > 2.0, value, "variance undefined when any concentration <= 2")

    def _mode(self):
        return self._rate / (1.0 + self._concentration)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True,
                 name="InverseGammaWithSoftplusConcentrationRate"):
        super().__init__(tf.nn.softplus(concentration), tf.nn.softplus(rate), validate_args, allow_nan_stats, name)


@_bodies("sample_n", "log_prob", "cdf", "entropy", "mean", "variance", "mode")
class Beta(_Scalar):
    _kind = "Beta"
    _shaped_parameters = ("concentration1", "concentration0")
    _old_names = {"a": "concentration1", "b": "concentration0", "a_b_sum": "total_concentration"}

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Beta"):
        parameters = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        with tf.name_scope(name, values=[concentration1, concentration0]) as scope:
            self._a, self._b = _tensors(concentration1, concentration0, names=("concentration1", "concentration0"))
            self._a, self._b = _checked(validate_args, [self._a, self._b], lambda: [
                tf.assert_positive(self._a, message="Concentration parameter must be positive."),
                tf.assert_positive(self._b, message="Concentration parameter must be positive.")])
        self._setup(parameters, [self._a, self._b], validate_args, allow_nan_stats, scope)
        self._total = self._native.parameter("total_concentration")

    concentration1 = a = property(lambda self: self._a)
    concentration0 = b = property(lambda self: self._b)
    total_concentration = property(lambda self: self._total)


class BetaWithSoftplusConcentration(Beta):
    def __init__(self, concentration1, concentration0, validate_args=False, allow_nan_stats=True,
                 name="BetaWithSoftplusConcentration"):
        super().__init__(tf.nn.softplus(concentration1), tf.nn.softplus(concentration0), validate_args, allow_nan_stats,
                         name)


class Kumaraswamy(Beta):
    """Like Beta, with a distribution function that has an inverse."""

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True,
                 name="Kumaraswamy"):
        super().__init__(concentration1, concentration0, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return self._quantile(self._uniform(n, seed))

    def _quantile(self, p):
        return (1.0 - (1.0 - p) ** (1.0 / self._b)) ** (1.0 / self._a)

    def _cdf(self, x):
        return 1.0 - (1.0 - x ** self._a) ** self._b

    def _log_prob(self, x):
        return tf.log(self._a) + tf.log(self._b) + (self._a - 1) * tf.log(x) + (self._b - 1) * tf.log1p(-x ** self._a)

    def _moment_of(self, order):
        power = 1.0 + order / self._a
        return tf.exp(tf.log(self._b) + tf.lgamma(power) + tf.lgamma(self._b) - tf.lgamma(power + self._b))

    def _mean(self):
        return self._moment_of(1)

    def _variance(self):
        return self._moment_of(2) - tf.square(self._moment_of(1))

    def _mode(self):
        mode = ((self._a - 1) / (self._a * self._b - 1)) ** (1 / self._a)
        return _or_nan(self, tf.logical_and(self._a > 1.0, self._b > 1.0), mode, "Mode undefined for concentration <= 1.")

    def _entropy(self):
        harmonic = tf.digamma(self._b + 1) + 0.5772156649015329
        return (1 - 1.0 / self._a) + (1 - 1.0 / self._b) * harmonic + tf.log(self._a) + tf.log(self._b)


@_bodies("sample_n", "log_prob", "cdf", "entropy", "mean", "variance", "mode")
class StudentT(_Scalar):
    _kind = "StudentT"
    _shaped_parameters = ("df", "loc", "scale")
    _old_names = {"mu": "loc", "sigma": "scale"}

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        parameters = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        with tf.name_scope(name, values=[df, loc, scale]) as scope:
            self._df, self._loc, self._scale = _tensors(df, loc, scale, names=("df", "loc", "scale"))
            self._df, self._scale = _positive(validate_args, (self._df, "df"), (self._scale, "scale"))
        self._setup(parameters, [self._df, self._loc, self._scale], validate_args, allow_nan_stats, scope)

    df = property(lambda self: self._df)
    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)


class StudentTWithAbsDfSoftplusScale(StudentT):
    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentTWithAbsDfSoftplusScale"):
        super().__init__(tf.floor(tf.abs(df)), loc, tf.nn.softplus(scale), validate_args, allow_nan_stats, name)


for _class in (Normal, Laplace, Uniform, Gamma, Beta):
    RegisterKL(_class, _class)(_divergence)


@RegisterKL(HalfNormal, HalfNormal)
def _kl_half_normals(a, b, name=None):
    with tf.name_scope(name, "kl_half_normal_half_normal"):
        return tf.log(b.scale) - tf.log(a.scale) + (a.scale ** 2 - b.scale ** 2) / (2 * b.scale ** 2)
