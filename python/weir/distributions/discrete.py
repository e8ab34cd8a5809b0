"""Distributions of classes and counts."""

import numpy as np

import weir as tf
from weir.distributions.distribution import (FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, RegisterKL, _checked,
                                             _new_seed, _positive, _tensors, _valid_counts)
from weir.distributions.native import _bodies, _divergence, _make


def _given(scope):
    return {key: value for key, value in scope.items() if key not in ("self", "__class__")}


def _odds(logits, probs, validate_args, multidimensional=False):
    """The one that is given as a tensor, checked, and None for the other."""
    if (probs is None) == (logits is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if probs is None:
        return _tensors(logits, names=("logits",))[0], None
    probs, = _tensors(probs, names=("probs",))

    def checks():
        found = [tf.assert_non_negative(probs), tf.assert_less_equal(probs, tf.ones_like(probs),
                                                                     message="probs has components greater than 1.")]
        if multidimensional:
            total = tf.abs(tf.reduce_sum(probs, -1) - 1.0)
            found.append(tf.assert_less(total, 1e-3 * tf.ones_like(total), message="probs does not sum to 1."))
        return found

    return None, _checked(validate_args, [probs], checks)[0]


def _logits_and_probs(logits, probs, validate_args, multidimensional=False, name=None):
    """Both, of the one that is given."""
    with tf.name_scope(name, "get_logits_and_probs", [logits, probs]):
        logits, probs = _odds(logits, probs, validate_args, multidimensional)
        if probs is None:
            return logits, (tf.nn.softmax(logits, name="probs") if multidimensional
                            else tf.sigmoid(logits, name="probs"))
        return (tf.log(probs) if multidimensional else tf.log(probs) - tf.log1p(-probs)), probs


@_bodies("sample_n", "log_prob", "entropy", "mean", "variance", "mode")
class Bernoulli(Distribution):
    """0 or 1."""

    _shaped_parameters = ("logits",)
    _old_names = {"p": "probs"}

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="Bernoulli"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            self._native = _make("Bernoulli", _odds(logits, probs, validate_args), scope, dtype, allow_nan_stats)
        self._logits, self._probs = self._native.parameter("logits"), self._native.parameter("probs")
        self._batch_of = (self._logits,)
        super().__init__(tf.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._logits, self._probs], scope)

    logits = property(lambda self: self._logits)
    probs = p = property(lambda self: self._probs)


class BernoulliWithSigmoidProbs(Bernoulli):
    _old_names = {"p": "logits"}

    def __init__(self, logits=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="BernoulliWithSigmoidProbs"):
        super().__init__(probs=tf.sigmoid(logits, name="sigmoid_probs"), dtype=dtype, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, name=name)


@_bodies("entropy")
class _Classes(Distribution):
    """One of the classes of the last dimension."""

    _old_names = {"p": "probs"}

    def _setup(self, parameters, logits, probs, dtype, validate_args, allow_nan_stats, name):
        with tf.name_scope(name) as scope:
            self._native = _make(self._kind, _odds(logits, probs, validate_args, multidimensional=True), scope, dtype,
                                 allow_nan_stats)
        self._logits, self._probs = self._native.parameter("logits"), self._native.parameter("probs")
        super().__init__(tf.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._logits, self._probs], scope)

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    @property
    def event_size(self):
        size = self._logits.get_shape()[-1].value
        return tf.shape(self._logits)[-1] if size is None else tf.constant(size, tf.int32)

    num_classes = event_size

    def _batch_shape(self):
        return self._logits.get_shape()[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self._logits)[:-1]


@_bodies("sample_n", "log_prob", "cdf", "mode")
class Categorical(_Classes):
    """The number of a class."""

    _kind = "Categorical"

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="Categorical"):
        self._setup(_given(locals()), logits, probs, dtype, validate_args, allow_nan_stats, name)


@_bodies("sample_n", "log_prob", "mean", "variance", "mode", "covariance")
class OneHotCategorical(_Classes):
    """A class as a row of zeros and a one."""

    _kind = "OneHotCategorical"

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="OneHotCategorical"):
        self._setup(_given(locals()), logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _event_shape(self):
        return self._logits.get_shape()[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._logits)[-1:]


class _Counts(Distribution):
    def _ones(self):
        return tf.ones(self.batch_shape_tensor(), self.dtype)

    def _lchoose(self, total, counts):
        return tf.lgamma(1.0 + total) - tf.lgamma(1.0 + counts) - tf.lgamma(1.0 + total - counts)


@_bodies("sample_n", "log_prob", "cdf", "mean", "variance", "mode")
class Binomial(_Counts):
    _old_names = {"n": "total_count", "p": "probs"}

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Binomial"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            odds = _odds(logits, probs, validate_args)
            self._total_count = tf.cast(total_count, next(value.dtype for value in odds if value is not None))
            self._native = _make("Binomial", (self._total_count, *odds), scope, None, allow_nan_stats)
        self._logits, self._probs = self._native.parameter("logits"), self._native.parameter("probs")
        self._batch_of = (self._total_count, self._probs)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None, scope)

    total_count = property(lambda self: self._total_count)
    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _valid_sample(self, counts):
        return _valid_counts(self, tf.cast(counts, self.dtype), self._total_count)


@_bodies("sample_n", "log_prob", "mean", "variance", "covariance")
class Multinomial(_Counts):
    """How often each class comes in a number of draws."""

    _old_names = {"n": "total_count", "p": "probs"}

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="Multinomial"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            odds = _odds(logits, probs, validate_args, multidimensional=True)
            self._total_count = tf.cast(total_count, next(value.dtype for value in odds if value is not None))
            self._native = _make("Multinomial", (self._total_count, *odds), scope, None, allow_nan_stats)
        self._logits, self._probs = self._native.parameter("logits"), self._native.parameter("probs")
        self._mean_val = self._native.parameter("mean")
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None, scope)

    total_count = property(lambda self: self._total_count)
    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _batch_shape(self):
        return self._mean_val.get_shape()[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self._mean_val)[:-1]

    def _event_shape(self):
        return self._mean_val.get_shape()[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._mean_val)[-1:]

    def _valid_sample(self, counts):
        return _valid_counts(self, tf.cast(counts, self.dtype), self._total_count, of_classes=True)


@_bodies("sample_n", "log_prob", "cdf", "mean", "variance", "mode")
class Poisson(_Counts):
    _shaped_parameters = ("rate",)
    _old_names = {"lam": "rate"}

    def __init__(self, rate=None, log_rate=None, interpolate_nondiscrete=True, validate_args=False, allow_nan_stats=True,
                 name="Poisson"):
        parameters = _given(locals())
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        with tf.name_scope(name) as scope:
            if rate is None:
                log_rate, = _tensors(log_rate, names=("log_rate",))
            else:
                rate, = _positive(validate_args, (_tensors(rate, names=("rate",))[0], "rate"))
            self._native = _make("Poisson", (rate, log_rate), scope)
        self._rate, self._log_rate = self._native.parameter("rate"), self._native.parameter("log_rate")
        self._batch_of = (self._rate,)
        super().__init__(self._rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None, scope)

    rate = property(lambda self: self._rate)
    log_rate = property(lambda self: self._log_rate)

    def _valid_sample(self, x):
        return _valid_counts(self, tf.cast(x, self.dtype))


class Geometric(_Counts):
    """Failures before the first success."""

    _shaped_parameters = ("logits",)

    def __init__(self, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Geometric"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args)
        self._batch_of = (self._probs,)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None, scope)

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _sample_n(self, n, seed=None):
        drawn = tf.random_uniform(tf.concat([[n], self.batch_shape_tensor()], 0),
                                  minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.0, dtype=self.dtype, seed=seed)
        return tf.floor(tf.log(drawn) / tf.log1p(-self._probs))

    def _log_prob(self, counts):
        return tf.cast(counts, self.dtype) * tf.log1p(-self._probs) + tf.log(self._probs)

    def _cdf(self, counts):
        value = -tf.expm1((1.0 + tf.floor(counts)) * tf.log1p(-self._probs))
        return tf.where(counts + tf.zeros_like(value) < 0, tf.zeros_like(value), value)

    def _entropy(self):
        p = self._probs
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=p, logits=self._logits) / p

    def _mean(self):
        return tf.exp(-self._logits)

    def _variance(self):
        return self._mean() / self._probs

    def _mode(self):
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)


class NegativeBinomial(_Counts):
    """Successes before a number of failures."""

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="NegativeBinomial"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args)
            self._total_count = tf.cast(total_count, self._logits.dtype)
        self._batch_of = (self._total_count, self._probs)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None, scope)

    total_count = property(lambda self: self._total_count)
    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _sample_n(self, n, seed=None):
        rate = tf.random_gamma([n], alpha=self._total_count * self._ones(), beta=tf.exp(-self._logits) * self._ones(),
                               dtype=self.dtype, seed=seed)
        return tf.random_poisson(rate, [], dtype=self.dtype, seed=_new_seed(seed, "negative_binom"))

    def _log_prob(self, x):
        x = tf.cast(x, self.dtype)
        return (self._total_count * -tf.nn.softplus(self._logits) + x * -tf.nn.softplus(-self._logits)
                - (tf.lgamma(1.0 + x) + tf.lgamma(self._total_count) - tf.lgamma(self._total_count + x)))

    def _cdf(self, x):
        x = tf.floor(tf.cast(x, self.dtype)) + tf.zeros(self.batch_shape_tensor(), self.dtype)
        zeros = tf.zeros_like(x)
        return tf.betainc(self._total_count + zeros, 1.0 + x, tf.sigmoid(-self._logits) + zeros)

    def _mode(self):
        most = tf.floor((self._total_count - 1.0) * tf.exp(self._logits))
        return tf.where(tf.greater(self._total_count + tf.zeros_like(most), 1.0), most, tf.zeros_like(most))

    def _mean(self):
        return self._total_count * tf.exp(self._logits)

    def _variance(self):
        return self._mean() / tf.sigmoid(-self._logits)


class Deterministic(Distribution):
    """One value, always."""

    def __init__(self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="Deterministic"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            self._loc = tf.convert_to_tensor(loc, name="loc")
            zero = tf.zeros([], self._loc.dtype)
            self._atol = zero if atol is None else tf.cast(atol, self._loc.dtype)
            self._rtol = zero if rtol is None else tf.cast(rtol, self._loc.dtype)
            self._slack = self._atol + self._rtol * tf.abs(self._loc)
        self._batch_of = (self._loc,)
        super().__init__(self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None, scope)

    loc = property(lambda self: self._loc)
    atol = property(lambda self: self._atol)
    rtol = property(lambda self: self._rtol)

    def _sample_n(self, n, seed=None):
        return tf.zeros(tf.concat([[n], tf.ones_like(tf.shape(self._loc))], 0), self.dtype) + self._loc

    def _prob(self, x):
        return tf.cast(tf.abs(x - self._loc) <= self._slack, self.dtype)

    def _cdf(self, x):
        return tf.cast(x >= self._loc - self._slack, self.dtype)

    def _mean(self):
        return tf.identity(self._loc)

    _mode = _mean

    def _variance(self):
        return tf.zeros_like(self._loc)

    _entropy = _variance


class VectorDeterministic(Deterministic):
    """One vector, always."""

    def __init__(self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="VectorDeterministic"):
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name)

    def _batch_shape(self):
        return self._loc.get_shape()[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self._loc)[:-1]

    def _event_shape(self):
        return self._loc.get_shape()[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._loc)[-1:]

    def _prob(self, x):
        return tf.cast(tf.reduce_all(tf.abs(x - self._loc) <= self._slack, axis=-1), self.dtype)


for _class in (Bernoulli, Categorical, OneHotCategorical, Poisson):
    RegisterKL(_class, _class)(_divergence)
