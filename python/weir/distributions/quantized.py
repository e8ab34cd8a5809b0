"""QuantizedDistribution: a distribution rounded up to whole numbers."""

import numpy as np

import weir as tf
from weir.distributions.discrete import _given
from weir.distributions.distribution import NOT_REPARAMETERIZED, Distribution, _has


class QuantizedDistribution(Distribution):
    """Y = ceil(X), with everything below ``low`` counted as low and everything above ``high`` as high."""

    _old_names = {"lower_cutoff": "low", "upper_cutoff": "high"}

    def __init__(self, distribution, low=None, high=None, validate_args=False, name="QuantizedDistribution"):
        parameters = _given(locals())
        self._distribution = distribution
        with tf.name_scope(name) as scope:
            self._low = None if low is None else tf.convert_to_tensor(low, name="low", dtype=distribution.dtype)
            self._high = None if high is None else tf.convert_to_tensor(high, name="high", dtype=distribution.dtype)
            tf.assert_same_float_dtype([value for value in (self._low, self._high) if value is not None],
                                       distribution.dtype)
            if validate_args:
                self._check_cutoffs()
        super().__init__(distribution.dtype, NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats, parameters,
                         None, scope)

    distribution = property(lambda self: self._distribution)
    low = property(lambda self: self._low)
    high = property(lambda self: self._high)

    def _check_cutoffs(self):
        checks = []
        if self._low is not None and self._high is not None:
            checks.append(tf.assert_greater(self._high, self._low, message="low must be strictly less than high."))
        checks += [tf.Assert(tf.reduce_all(tf.equal(tf.floor(value), value)), [f"{name} has non-integer components", value])
                   for name, value in (("low", self._low), ("high", self._high)) if value is not None]
        with tf.control_dependencies(checks):
            self._low = None if self._low is None else tf.identity(self._low)
            self._high = None if self._high is None else tf.identity(self._high)

    def _batch_shape(self):
        return self._distribution.batch_shape

    def _batch_shape_tensor(self):
        return self._distribution.batch_shape_tensor()

    def _event_shape(self):
        return self._distribution.event_shape

    def _event_shape_tensor(self):
        return self._distribution.event_shape_tensor()

    def _sample_n(self, n, seed=None):
        drawn = tf.ceil(self._distribution.sample(n, seed=seed))
        drawn = drawn if self._low is None else tf.maximum(drawn, self._low)
        return drawn if self._high is None else tf.minimum(drawn, self._high)

    def _with_cutoffs(self, value, y, below, above):
        """A function's value for y, with what it is below ``low``, and from ``high`` on."""
        y = y + tf.zeros_like(value)
        if self._low is not None:
            value = tf.where(y < self._low, tf.fill(tf.shape(value), tf.constant(below, value.dtype)), value)
        if self._high is not None:
            value = tf.where(y < self._high, value, tf.fill(tf.shape(value), tf.constant(above, value.dtype)))
        return value

    # There are no numbers between whole ones.

    def _cdf(self, y):
        y = tf.floor(y)
        return self._with_cutoffs(self._distribution.cdf(y), y, 0.0, 1.0)

    def _log_cdf(self, y):
        y = tf.floor(y)
        return self._with_cutoffs(self._distribution.log_cdf(y), y, -np.inf, 0.0)

    def _survival_function(self, y):
        y = tf.floor(y)
        return self._with_cutoffs(self._distribution.survival_function(y), y, 1.0, 0.0)

    def _log_survival_function(self, y):
        y = tf.floor(y)
        return self._with_cutoffs(self._distribution.log_survival_function(y), y, 0.0, -np.inf)

    def _tails(self):
        """Whether the distribution knows its (cumulative function, survival function) of its own."""
        base = self._distribution
        return (_has(base, "_cdf") or _has(base, "_log_cdf"),
                _has(base, "_survival_function") or _has(base, "_log_survival_function"))

    # The probability of y is a difference of the smaller tail, which has more digits.

    def _prob(self, y):
        has_cdf, has_survival = self._tails()
        if not has_survival:
            return self.cdf(y) - self.cdf(y - 1)
        above, from_here = self.survival_function(y), self.survival_function(y - 1)
        if not has_cdf:
            return from_here - above
        until, below = self.cdf(y), self.cdf(y - 1)
        return tf.where(above < until, from_here - above, until - below)

    def _log_prob(self, y):
        has_cdf, has_survival = self._tails()
        if not has_survival:
            return _log_difference(self.log_cdf(y), self.log_cdf(y - 1))
        above, from_here = self.log_survival_function(y), self.log_survival_function(y - 1)
        if not has_cdf:
            return _log_difference(from_here, above)
        until, below = self.log_cdf(y), self.log_cdf(y - 1)
        upper = above < until
        # Chosen before anything is computed, so that gradients of what is not chosen are none.
        return _log_difference(tf.where(upper, from_here, until), tf.where(upper, above, below))


def _log_difference(large, small):
    """log(exp(large) - exp(small)), minus infinity where they are equal."""
    same = tf.equal(large, small)
    first = tf.where(same, tf.zeros_like(large), large)
    second = tf.where(same, -tf.ones_like(small), small)
    nothing = tf.fill(tf.shape(first), tf.constant(-np.inf, first.dtype))
    return tf.where(same, nothing, first + tf.log1p(-tf.exp(second - first)))
