"""BatchReshape: the distributions of a batch in another order of rows."""

import numpy as np

import weir as tf
from weir.distributions.discrete import _given
from weir.distributions.distribution import Distribution


class BatchReshape(Distribution):
    """The same distributions, with ``batch_shape`` as their batch's shape; one size may be -1."""

    def __init__(self, distribution, batch_shape, validate_args=False, allow_nan_stats=True, name=None):
        parameters = _given(locals())
        name = name or f"BatchReshape{distribution.name.split('/')[-2] if '/' in distribution.name else distribution.name}"
        self._distribution = distribution
        with tf.name_scope(name) as scope:
            self._given_shape = tf.convert_to_tensor(batch_shape, dtype=tf.int32, name="batch_shape")
            self._checks = _shape_checks(self._given_shape, distribution, validate_args)
            self._sizes, self._known = _filled(self._given_shape, distribution)
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args, allow_nan_stats,
                         parameters, None, scope)

    distribution = property(lambda self: self._distribution)

    def _batch_shape(self):
        return self._known

    def _batch_shape_tensor(self):
        with tf.control_dependencies(self._checks):
            return tf.identity(self._sizes)

    def _event_shape(self):
        return self._distribution.event_shape

    def _event_shape_tensor(self):
        with tf.control_dependencies(self._checks):
            return tf.identity(self._distribution.event_shape_tensor())

    def _sample_n(self, n, seed=None):
        with tf.control_dependencies(self._checks):
            drawn = self._distribution.sample(n, seed=seed)
            return tf.reshape(drawn, tf.concat([[n], self._sizes, self._distribution.event_shape_tensor()], 0))

    def _of_values(self, function, x):
        """A function of values of the distribution, for values in this shape."""
        with tf.control_dependencies(self._checks + self._value_checks(x)):
            event = self._distribution.event_shape_tensor()
            samples = tf.shape(x)[:tf.rank(x) - tf.size(self._sizes) - tf.size(event)]
            result = function(tf.reshape(x, tf.concat([samples, self._distribution.batch_shape_tensor(), event], 0)))
            result = tf.reshape(result, tf.concat([samples, self._sizes], 0))
        ndims = self._ndims()
        if ndims is not None and x.get_shape().ndims is not None:
            result.set_shape(x.get_shape()[:x.get_shape().ndims - ndims].concatenate(self._known))
        return result

    def _ndims(self):
        """How many dimensions the batch's shape and an event's have together."""
        if self._known.ndims is None or self.event_shape.ndims is None:
            return None
        return self._known.ndims + self.event_shape.ndims

    def _value_checks(self, x):
        """A value must have the batch's whole shape: reshaping what would broadcast gives something else."""
        ndims, rank, checks = self._ndims(), x.get_shape().ndims, []
        why = "Broadcasting is not supported; "
        if ndims is not None and rank is not None:
            if rank < ndims:
                raise NotImplementedError(f"{why}too few batch and event dims (expected at least {ndims}, saw {rank}).")
            wanted, have = self._known.concatenate(self.event_shape), x.get_shape()[rank - ndims:]
            if wanted.is_fully_defined() and have.is_fully_defined():
                if wanted != have:
                    raise NotImplementedError(f"{why}unexpected batch and event shape (expected {wanted}, saw {have}).")
                return []
        if self._validate_args:
            wanted = tf.concat([self._sizes, self._distribution.event_shape_tensor()], 0)
            enough = tf.assert_greater_equal(tf.rank(x), tf.size(wanted), message=f"{why}too few batch and event dims.")
            with tf.control_dependencies([enough]):
                have = tf.shape(x)[tf.maximum(tf.rank(x) - tf.size(wanted), 0):]
            checks = [enough, tf.assert_equal(wanted, have, message=f"{why}unexpected batch and event shape.")]
        return checks

    def _log_prob(self, x):
        return self._of_values(self._distribution.log_prob, x)

    def _prob(self, x):
        return self._of_values(self._distribution.prob, x)

    def _log_cdf(self, x):
        return self._of_values(self._distribution.log_cdf, x)

    def _cdf(self, x):
        return self._of_values(self._distribution.cdf, x)

    def _log_survival_function(self, x):
        return self._of_values(self._distribution.log_survival_function, x)

    def _survival_function(self, x):
        return self._of_values(self._distribution.survival_function, x)

    def _reshaped(self, value, events):
        """A value of each distribution, which has the event's shape so many times."""
        with tf.control_dependencies(self._checks):
            event = [self._distribution.event_shape_tensor()] * events
            result = tf.reshape(value, tf.concat([self._sizes, *event], 0))
        if self._ndims() is not None:
            shape = self._known
            for _ in range(events):
                shape = shape.concatenate(self.event_shape)
            result.set_shape(shape)
        return result

    def _entropy(self):
        return self._reshaped(self._distribution.entropy(), 0)

    def _mean(self):
        return self._reshaped(self._distribution.mean(), 1)

    def _mode(self):
        return self._reshaped(self._distribution.mode(), 1)

    def _stddev(self):
        return self._reshaped(self._distribution.stddev(), 1)

    def _variance(self):
        return self._reshaped(self._distribution.variance(), 1)

    def _covariance(self):
        return self._reshaped(self._distribution.covariance(), 2)


def _filled(shape, distribution):
    """(a batch shape with the size in it that is -1, what is known of it)"""
    known = tf.contrib.util.constant_value(shape)
    batch = distribution.batch_shape
    if known is not None and (batch.is_fully_defined() or not np.any(known < 0)):
        sizes = np.array(known, np.int32)
        if np.any(sizes < 0):
            others = int(np.prod(np.where(sizes < 0, 1, sizes)))
            sizes[sizes < 0] = batch.num_elements() // others if others else 0
        return tf.constant(sizes, tf.int32), tf.TensorShape(sizes.tolist())
    total = tf.reduce_prod(distribution.batch_shape_tensor())
    others = tf.reduce_prod(tf.where(shape < 0, tf.ones_like(shape), shape))
    left = total // tf.maximum(others, 1)
    sizes = tf.where(tf.equal(shape, -1), tf.ones_like(shape) * left, shape)
    if known is not None:
        return sizes, tf.TensorShape([None if n < 0 else int(n) for n in known])
    ndims = shape.get_shape().num_elements()
    return sizes, tf.TensorShape(None if ndims is None else [None] * ndims)


def _shape_checks(shape, distribution, validate_args):
    """Raises for shapes that no such batch has; checks in the run for what is not known."""
    if shape.get_shape().ndims is not None and shape.get_shape().ndims != 1:
        raise ValueError("`batch_shape` must be a vector.")
    known, batch, checks = tf.contrib.util.constant_value(shape), distribution.batch_shape, []
    if shape.get_shape().ndims is None and validate_args:
        checks.append(tf.assert_rank(shape, 1, message="`batch_shape` must be a vector."))
    if known is not None and batch.is_fully_defined() and np.all(known >= 0):
        if np.prod(known) != batch.num_elements():
            raise ValueError(f"`batch_shape` size ({np.prod(known)}) must match `distribution.batch_shape` size "
                             f"({batch.num_elements()})")
    elif validate_args:
        sizes, _ = _filled(shape, distribution)
        checks.append(tf.assert_equal(tf.reduce_prod(sizes), tf.reduce_prod(distribution.batch_shape_tensor()),
                                      message="Shape sizes do not match."))
    if known is not None:
        if np.any(known < -1) or (np.any(known == 0) and np.any(known < 0)):
            raise ValueError("`batch_shape` elements must be >=-1.")
    elif validate_args:
        checks.append(tf.assert_greater_equal(shape, -1, message="`batch_shape` elements must be >=-1."))
    return checks
