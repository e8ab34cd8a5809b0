"""TransformedDistribution: a distribution after a bijector."""

import weir as tf
from weir.distributions.bijectors import Identity
from weir.distributions.discrete import _given
from weir.distributions.distribution import Distribution


class TransformedDistribution(Distribution):
    """The distribution of ``bijector.forward(x)``. A scalar one may be given a batch's or an event's shape: of so many
    independent numbers. Functions take arguments of the bijector, and of the distribution, in the dictionaries
    ``bijector_kwargs`` and ``distribution_kwargs``; those by other names are the bijector's."""

    def __init__(self, distribution, bijector=None, batch_shape=None, event_shape=None, validate_args=False, name=None):
        parameters = _given(locals())
        self._distribution = distribution
        self._bijector = Identity(validate_args=validate_args) if bijector is None else bijector
        base = distribution.name.rstrip("/").split("/")[-1]
        with tf.name_scope(name or ("" if bijector is None else bijector.name) + base) as scope:
            self._batch_given = _given_shape(batch_shape, distribution.is_scalar_batch(), validate_args, "batch_shape")
            self._event_given = _given_shape(event_shape, distribution.is_scalar_event(), validate_args, "event_shape")
            self._rotated, self._turns = self._rotation()
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args,
                         distribution.allow_nan_stats, parameters, None, scope)

    distribution = property(lambda self: self._distribution)
    bijector = property(lambda self: self._bijector)

    def _rotation(self):
        """Numbers of an event lie beside those of the distribution's batch, which are the last dimensions of samples: (how
        many dimensions then change places, whether they do if only the run knows)."""
        if self._event_given is None or self._batch_given is not None and _value(self._batch_given) is not None:
            return 0, None
        turns = tf.logical_not(self._distribution.is_scalar_batch())
        if self._batch_given is not None:
            turns = tf.logical_and(turns, tf.equal(tf.size(self._batch_given), 0))
        known = tf.contrib.util.constant_value(turns)
        ndims = self._event_given.get_shape().num_elements()
        ndims = tf.size(self._event_given) if ndims is None else ndims
        if known is not None:
            return (ndims if known else 0), None
        return tf.where(turns, ndims, 0), turns

    # Shapes.

    def _batch_shape(self):
        return self._distribution.batch_shape if self._batch_given is None else _static(self._batch_given)

    def _batch_shape_tensor(self):
        return _given_or_own(self._batch_given, self._distribution.batch_shape_tensor())

    def _event_shape(self):
        shape = self._distribution.event_shape if self._event_given is None else _static(self._event_given)
        return self._bijector.forward_event_shape(shape)

    def _event_shape_tensor(self):
        shape = _given_or_own(self._event_given, self._distribution.event_shape_tensor())
        return self._bijector.forward_event_shape_tensor(shape)

    def _event_rank(self):
        return tf.size(self.event_shape_tensor()) if self.event_shape.ndims is None else self.event_shape.ndims

    # Samples.

    def _call_sample_n(self, sample_shape, seed, name, bijector_kwargs=None, distribution_kwargs=None, **more):
        with self._scope(name, values=[sample_shape]):
            sample_shape = tf.reshape(tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape"), [-1])
            n = [tf.reduce_prod(sample_shape)]
            given = [shape for shape in (self._batch_given, self._event_given) if shape is not None]
            before, after = tf.concat([n, *given], 0), tf.concat([*given, n], 0)
            if self._turns is not None:
                shape = tf.cond(self._turns, lambda: after, lambda: before)
            else:
                shape = before if isinstance(self._rotated, int) and self._rotated == 0 else after
            x = self._turned(self._distribution.sample(shape, seed=seed, **(distribution_kwargs or {})))
            # In its final shape, so that the bijector knows x again when it is asked for the sample's probability.
            x = tf.reshape(x, tf.concat([sample_shape, tf.shape(x)[1:]], 0))
            y = self._bijector.forward(x, **{**(bijector_kwargs or {}), **more})
            known = tf.contrib.util.constant_value(sample_shape)
            if known is not None and self.batch_shape.ndims is not None and self.event_shape.ndims is not None:
                y.set_shape(tf.TensorShape(known.tolist()).concatenate(self.batch_shape).concatenate(self.event_shape))
            return y

    def sample(self, sample_shape=(), seed=None, name="sample", **condition_kwargs):
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def _turned(self, x, back=False):
        """The first dimensions of x, so many as there are of an event's shape, as the last ones; or back."""
        if isinstance(self._rotated, int) and self._rotated == 0:
            return x
        rank = tf.rank(x)
        cut = rank - self._rotated if back else self._rotated
        return tf.transpose(x, tf.concat([tf.range(cut, rank), tf.range(0, cut)], 0))

    # Densities.

    def _fibers(self, y, bijector_kwargs):
        """[(x, the logarithm of the inverse's determinant)] of all x that y may come from."""
        x = self._bijector.inverse(y, **bijector_kwargs)
        log_det = self._bijector.inverse_log_det_jacobian(y, self._event_rank(), **bijector_kwargs)
        return [(x, log_det)] if self._bijector._is_injective else list(zip(x, log_det))

    def _log_prob(self, y, bijector_kwargs=None, distribution_kwargs=None, **more):
        found = []
        for x, log_det in self._fibers(y, {**(bijector_kwargs or {}), **more}):
            log_prob = self._distribution.log_prob(self._turned(x, back=True), **(distribution_kwargs or {}))
            if self._event_given is not None:
                count = self._event_given.get_shape().num_elements()
                count = tf.size(self._event_given) if count is None else count
                first = self._rotated - count
                log_prob = tf.reduce_sum(log_prob, axis=tf.range(first, self._rotated))
            log_prob = log_prob + tf.cast(log_det, log_prob.dtype)
            rank = self._event_rank()
            if isinstance(rank, int) and self._event_given is not None and y.get_shape().ndims is not None:
                log_prob.set_shape(tf.broadcast_static_shape(y.get_shape()[:max(y.get_shape().ndims - rank, 0)],
                                                             self.batch_shape))
            found.append(log_prob)
        return found[0] if len(found) == 1 else tf.reduce_logsumexp(tf.stack(found), axis=0)

    def _inverse_for(self, name, y, bijector_kwargs):
        if self._event_given is not None:
            raise NotImplementedError(f"{name} is not implemented when overriding event_shape")
        if not self._bijector._is_injective:
            raise NotImplementedError(f"{name} is not implemented when bijector is not injective.")
        return self._bijector.inverse(y, **bijector_kwargs)

    def _log_cdf(self, y, bijector_kwargs=None, distribution_kwargs=None, **more):
        x = self._inverse_for("log_cdf", y, {**(bijector_kwargs or {}), **more})
        return self._distribution.log_cdf(x, **(distribution_kwargs or {}))

    def _cdf(self, y, bijector_kwargs=None, distribution_kwargs=None, **more):
        x = self._inverse_for("cdf", y, {**(bijector_kwargs or {}), **more})
        return self._distribution.cdf(x, **(distribution_kwargs or {}))

    def _log_survival_function(self, y, bijector_kwargs=None, distribution_kwargs=None, **more):
        x = self._inverse_for("log_survival_function", y, {**(bijector_kwargs or {}), **more})
        return self._distribution.log_survival_function(x, **(distribution_kwargs or {}))

    def _survival_function(self, y, bijector_kwargs=None, distribution_kwargs=None, **more):
        x = self._inverse_for("survival_function", y, {**(bijector_kwargs or {}), **more})
        return self._distribution.survival_function(x, **(distribution_kwargs or {}))

    def _quantile(self, p, bijector_kwargs=None, distribution_kwargs=None, **more):
        if self._event_given is not None:
            raise NotImplementedError("quantile is not implemented when overriding event_shape")
        x = self._distribution.quantile(p, **(distribution_kwargs or {}))
        return self._bijector.forward(x, **{**(bijector_kwargs or {}), **more})

    # Moments.

    def _mean(self, bijector_kwargs=None, distribution_kwargs=None, **more):
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError("mean is not implemented for non-affine bijectors")
        mean = self._distribution.mean(**(distribution_kwargs or {}))
        if self._batch_given is not None or self._event_given is not None:
            event = _given_or_own(self._event_given, self._distribution.event_shape_tensor())
            if self._event_given is not None:
                mean = tf.reshape(mean, tf.concat([tf.shape(mean), tf.ones_like(self._event_given)], 0))
            mean = mean + tf.zeros(tf.concat([self.batch_shape_tensor(), event], 0), mean.dtype)
        return self._bijector.forward(mean, **{**(bijector_kwargs or {}), **more})

    def _entropy(self, bijector_kwargs=None, distribution_kwargs=None, **more):
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self._bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        entropy = self._distribution.entropy(**(distribution_kwargs or {}))
        if self._event_given is not None:  # that of independent numbers is the sum of theirs
            entropy = entropy * tf.cast(tf.reduce_prod(self._event_given), entropy.dtype)
        if self._batch_given is not None:
            entropy = entropy + tf.zeros(self._batch_given, entropy.dtype)
        zeros = tf.zeros(tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
        log_det = self._bijector.inverse_log_det_jacobian(zeros, self._event_rank(), **{**(bijector_kwargs or {}), **more})
        entropy = entropy - tf.cast(log_det, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy


ConditionalTransformedDistribution = TransformedDistribution


def _value(shape):
    return tf.contrib.util.constant_value(shape)


def _static(shape):
    """What is known of a shape that is a tensor."""
    known, count = _value(shape), shape.get_shape().num_elements()
    if known is not None:
        return tf.TensorShape(known.tolist())
    return tf.TensorShape(None if count is None else [None] * count)


def _given_or_own(given, own):
    """A shape that is given, unless it is that of a scalar."""
    if given is None or given.get_shape().num_elements() is not None:
        return own if given is None else given
    return tf.cond(tf.equal(tf.size(given), 0), lambda: own, lambda: given)


def _given_shape(shape, base_is_scalar, validate_args, name):
    """A shape that is given to a scalar distribution, as a tensor; None without one, or for that of a scalar."""
    if shape is None:
        return None
    shape = tf.convert_to_tensor(shape, preferred_dtype=tf.int32, name=name)
    if not shape.dtype.is_integer:
        raise TypeError("shape override must be an integer")
    known, checks = _value(shape), []
    if shape.get_shape().num_elements() == 0:
        return None
    if shape.get_shape().ndims not in (None, 1):
        raise ValueError("shape override must be a vector")
    if shape.get_shape().ndims is None and validate_args:
        checks.append(tf.assert_rank(shape, 1, message="shape override must be a vector"))
    if known is not None and (known <= 0).any():
        raise ValueError("shape override must have positive elements")
    if known is None and validate_args:
        checks.append(tf.assert_positive(shape, message="shape override must have positive elements"))
    scalar = tf.contrib.util.constant_value(base_is_scalar)
    if scalar is not None and not scalar and shape.get_shape().num_elements():
        raise ValueError("base distribution not scalar")
    if (scalar is None or not scalar) and validate_args:
        both = tf.logical_and(tf.logical_not(base_is_scalar), tf.greater(tf.size(shape), 0))
        checks.append(tf.assert_equal(both, False, message="base distribution not scalar"))
    with tf.control_dependencies(checks):
        return tf.identity(shape) if checks else shape
