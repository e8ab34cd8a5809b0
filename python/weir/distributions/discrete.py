"""Distributions of classes and counts."""

import numpy as np

import weir as tf
from weir.distributions.distribution import (FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, RegisterKL, _checked,
                                             _new_seed, _positive, _tensors, _valid_counts)


def _given(scope):
    return {key: value for key, value in scope.items() if key not in ("self", "__class__")}


def _logits_and_probs(logits, probs, validate_args, multidimensional=False, name=None):
    """Both, of the one that is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Must pass probs or logits, but not both.")
    with tf.name_scope(name, "get_logits_and_probs", [logits, probs]):
        if probs is None:
            logits, = _tensors(logits, names=("logits",))
            return logits, (tf.nn.softmax(logits, name="probs") if multidimensional
                            else tf.sigmoid(logits, name="probs"))
        probs, = _tensors(probs, names=("probs",))

        def checks():
            found = [tf.assert_non_negative(probs), tf.assert_less_equal(probs, tf.ones_like(probs),
                                                                         message="probs has components greater than 1.")]
            if multidimensional:
                total = tf.abs(tf.reduce_sum(probs, -1) - 1.0)
                found.append(tf.assert_less(total, 1e-3 * tf.ones_like(total), message="probs does not sum to 1."))
            return found

        probs, = _checked(validate_args, [probs], checks)
        return (tf.log(probs) if multidimensional else tf.log(probs) - tf.log1p(-probs)), probs


class Bernoulli(Distribution):
    """0 or 1."""

    _shaped_parameters = ("logits",)
    _old_names = {"p": "probs"}

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="Bernoulli"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args)
        self._batch_of = (self._logits,)
        super().__init__(tf.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._logits, self._probs], scope)

    logits = property(lambda self: self._logits)
    probs = p = property(lambda self: self._probs)

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        drawn = tf.random_uniform(shape, seed=seed, dtype=self._probs.dtype)
        return tf.cast(tf.less(drawn, self._probs), self.dtype)

    def _log_prob(self, event):
        event = tf.cast(event, self._logits.dtype)
        logits = self._logits + tf.zeros_like(event)
        return -tf.nn.sigmoid_cross_entropy_with_logits(labels=event + tf.zeros_like(logits), logits=logits)

    def _entropy(self):
        return -self._logits * (tf.sigmoid(self._logits) - 1) + tf.nn.softplus(-self._logits)

    def _mean(self):
        return tf.identity(self._probs)

    def _variance(self):
        return self._probs * (1.0 - self._probs)

    def _mode(self):
        return tf.cast(self._probs > 0.5, self.dtype)


class BernoulliWithSigmoidProbs(Bernoulli):
    _old_names = {"p": "logits"}

    def __init__(self, logits=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="BernoulliWithSigmoidProbs"):
        super().__init__(probs=tf.sigmoid(logits, name="sigmoid_probs"), dtype=dtype, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, name=name)


class _Classes(Distribution):
    """One of the classes of the last dimension."""

    _old_names = {"p": "probs"}

    def _setup(self, parameters, logits, probs, dtype, validate_args, allow_nan_stats, name):
        with tf.name_scope(name) as scope:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args, multidimensional=True)
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

    def _draw(self, n, seed):
        """Class numbers [n, *batch]."""
        size = self._logits.get_shape()[-1].value
        flat = tf.reshape(self._logits, [-1, tf.shape(self._logits)[-1] if size is None else size])
        drawn = tf.transpose(tf.multinomial(flat, n, seed=seed))
        return tf.reshape(drawn, tf.concat([[n], self.batch_shape_tensor()], 0))

    def _log_probs(self):
        return tf.nn.log_softmax(self._logits)

    def _entropy(self):
        log_probs = self._log_probs()
        return -tf.reduce_sum(tf.where(tf.equal(self._probs, 0.0), tf.zeros_like(log_probs),
                                       tf.exp(log_probs) * log_probs), axis=-1)


class Categorical(_Classes):
    """The number of a class."""

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="Categorical"):
        self._setup(_given(locals()), logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return tf.cast(self._draw(n, seed), self.dtype)

    def _matched(self, k):
        """Class numbers and logits of one batch shape."""
        if k.get_shape().is_fully_defined() and self.batch_shape.is_fully_defined() and k.get_shape() == self.batch_shape:
            return k, self._logits
        k = k * tf.ones(tf.shape(self._logits)[:-1], k.dtype)
        logits = self._logits * tf.ones_like(tf.expand_dims(k, -1), dtype=self._logits.dtype)
        shape = tf.broadcast_static_shape(k.get_shape(), logits.get_shape()[:-1])
        k.set_shape(shape)
        return k, logits

    def _log_prob(self, k):
        k, logits = self._matched(k)
        if not k.dtype.is_integer:
            k = tf.cast(k, tf.int32)
        return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _cdf(self, k):
        # Of classes before k, as in TensorFlow 1.15.
        k, logits = self._matched(tf.cast(k, tf.int32))
        below = tf.sequence_mask(k, tf.shape(logits)[-1], dtype=logits.dtype)
        return tf.reduce_sum(tf.nn.softmax(logits) * below, axis=-1)

    def _mode(self):
        return tf.cast(tf.argmax(self._logits, axis=-1), self.dtype)


class OneHotCategorical(_Classes):
    """A class as a row of zeros and a one."""

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="OneHotCategorical"):
        self._setup(_given(locals()), logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _event_shape(self):
        return self._logits.get_shape()[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._logits)[-1:]

    def _sample_n(self, n, seed=None):
        return tf.one_hot(self._draw(n, seed), self.event_size, dtype=self.dtype)

    def _log_prob(self, x):
        return tf.reduce_sum(tf.cast(x, self._logits.dtype) * self._log_probs(), axis=-1)

    def _mean(self):
        return tf.nn.softmax(self._logits)

    def _variance(self):
        p = tf.nn.softmax(self._logits)
        return p * (1.0 - p)

    def _mode(self):
        return tf.one_hot(tf.argmax(self._logits, axis=-1), self.event_size, dtype=self.dtype)

    def _covariance(self):
        p = tf.nn.softmax(self._logits)
        return tf.matrix_set_diag(-tf.matmul(p[..., None], p[..., None, :]), p * (1.0 - p))


class _Counts(Distribution):
    def _ones(self):
        return tf.ones(self.batch_shape_tensor(), self.dtype)

    def _lchoose(self, total, counts):
        return tf.lgamma(1.0 + total) - tf.lgamma(1.0 + counts) - tf.lgamma(1.0 + total - counts)


class Binomial(_Counts):
    _old_names = {"n": "total_count", "p": "probs"}

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Binomial"):
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
        """As many draws of 0 or 1 as there are trials."""
        trials, probs = self._total_count * self._ones(), self._probs * self._ones()
        most = tf.cast(tf.reduce_max(trials), tf.int32)
        drawn = tf.random_uniform(tf.concat([[n], self.batch_shape_tensor(), [most]], 0), dtype=self.dtype, seed=seed)
        counted = tf.logical_and(drawn < probs[..., None], tf.sequence_mask(tf.cast(trials, tf.int32), most)[None])
        return tf.reduce_sum(tf.cast(counted, self.dtype), axis=-1)

    def _log_prob(self, counts):
        counts = _valid_counts(self, tf.cast(counts, self.dtype), self._total_count)
        return (self._lchoose(self._total_count, counts) + counts * tf.log(self._probs)
                + (self._total_count - counts) * tf.log1p(-self._probs))

    def _cdf(self, counts):
        counts = tf.floor(tf.cast(counts, self.dtype)) + tf.zeros(self.batch_shape_tensor(), self.dtype)
        zeros = tf.zeros_like(counts)
        return tf.betainc(self._total_count - counts, 1.0 + counts, 1.0 - self._probs + zeros)

    def _mean(self):
        return self._total_count * self._probs

    def _variance(self):
        return self._mean() * (1.0 - self._probs)

    def _mode(self):
        return tf.floor((1.0 + self._total_count) * self._probs)


class Multinomial(_Counts):
    """How often each class comes in a number of draws."""

    _old_names = {"n": "total_count", "p": "probs"}

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="Multinomial"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args, multidimensional=True)
            self._total_count = tf.cast(total_count, self._logits.dtype)
            self._mean_val = self._total_count[..., None] * self._probs
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

    def _sample_n(self, n, seed=None):
        classes = self.event_shape_tensor()[0]
        logits = tf.reshape(self._logits + tf.zeros_like(self._mean_val), [-1, classes])
        trials = tf.reshape(tf.cast(self._total_count * self._ones(), tf.int32), [-1])
        most = tf.reduce_max(trials)
        drawn = tf.reshape(tf.multinomial(logits, n * most, seed=seed), [-1, n, most])
        counted = tf.cast(tf.sequence_mask(trials, most), self.dtype)[:, None, :, None]
        counts = tf.reduce_sum(tf.one_hot(drawn, classes, dtype=self.dtype) * counted, axis=2)
        return tf.reshape(tf.transpose(counts, [1, 0, 2]), tf.concat([[n], self.batch_shape_tensor(), [classes]], 0))

    def _log_prob(self, counts):
        counts = _valid_counts(self, tf.cast(counts, self.dtype), self._total_count, of_classes=True)
        log_probs = tf.nn.log_softmax(self._logits)
        coefficient = tf.lgamma(self._total_count + 1.0) - tf.reduce_sum(tf.lgamma(counts + 1.0), axis=-1)
        return tf.reduce_sum(counts * log_probs, -1) + coefficient

    def _mean(self):
        return tf.identity(self._mean_val)

    def _variance(self):
        return self._mean_val - self._mean_val * self._probs

    def _covariance(self):
        p = self._probs * tf.ones_like(self._total_count)[..., None]
        return tf.matrix_set_diag(-tf.matmul(self._mean_val[..., None], p[..., None, :]), self._variance())


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
                self._log_rate, = _tensors(log_rate, names=("log_rate",))
                self._rate = tf.exp(self._log_rate)
            else:
                self._rate, = _tensors(rate, names=("rate",))
                self._rate, = _positive(validate_args, (self._rate, "rate"))
                self._log_rate = tf.log(self._rate)
        self._batch_of = (self._rate,)
        super().__init__(self._rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None, scope)

    rate = property(lambda self: self._rate)
    log_rate = property(lambda self: self._log_rate)

    def _sample_n(self, n, seed=None):
        return tf.random_poisson(self._rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        x = _valid_counts(self, tf.cast(x, self.dtype))
        return x * self._log_rate - tf.lgamma(1.0 + x) - self._rate

    def _cdf(self, x):
        x = tf.cast(x, self.dtype)
        return tf.igammac(tf.floor(x) + 1.0, self._rate + tf.zeros_like(x))

    def _mean(self):
        return tf.identity(self._rate)

    _variance = _mean

    def _mode(self):
        return tf.floor(self._rate)


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


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoullis(a, b, name=None):
    with tf.name_scope(name, "kl_bernoulli_bernoulli"):
        zero, one = (tf.nn.softplus(b.logits) - tf.nn.softplus(a.logits),
                     tf.nn.softplus(-b.logits) - tf.nn.softplus(-a.logits))
        return tf.sigmoid(a.logits) * one + tf.sigmoid(-a.logits) * zero


def _kl_classes(a, b, name=None):
    with tf.name_scope(name, "kl_categorical_categorical"):
        return tf.reduce_sum(tf.nn.softmax(a.logits) * (a._log_probs() - b._log_probs()), axis=-1)


RegisterKL(Categorical, Categorical)(_kl_classes)
RegisterKL(OneHotCategorical, OneHotCategorical)(_kl_classes)


@RegisterKL(Poisson, Poisson)
def _kl_poissons(a, b, name=None):
    with tf.name_scope(name, "kl_poisson_poisson"):
        return a.rate * (a.log_rate - b.log_rate) - a.rate + b.rate
