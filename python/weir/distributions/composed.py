"""Distributions made of others: independent events, mixtures, transformed and relaxed ones."""

import functools

import numpy as np

import weir as tf
from weir.distributions.discrete import Categorical, _given, _logits_and_probs
from weir.distributions.distribution import (FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, RegisterKL,
                                             _new_seed, _tensors, kl_divergence)
from weir.distributions.distribution_util import pad_mixture_dimensions


class Independent(Distribution):
    """Dimensions of the batch as part of the event: their log probabilities are added."""

    def __init__(self, distribution, reinterpreted_batch_ndims=None, validate_args=False, name=None):
        parameters = _given(locals())
        self._distribution = distribution
        ndims = reinterpreted_batch_ndims
        if ndims is None:
            ndims = max(0, distribution.batch_shape.ndims - 1)
        if distribution.batch_shape.ndims is not None and ndims > distribution.batch_shape.ndims:
            raise ValueError("reinterpreted_batch_ndims cannot exceed distribution.batch_ndims")
        self._ndims = int(ndims)
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args,
                         distribution.allow_nan_stats, parameters, None, name or "Independent" + distribution.name)

    distribution = property(lambda self: self._distribution)
    reinterpreted_batch_ndims = property(lambda self: self._ndims)

    def _batch_shape(self):
        shape = self._distribution.batch_shape
        return shape if shape.ndims is None else shape[:shape.ndims - self._ndims]

    def _batch_shape_tensor(self):
        shape = self._distribution.batch_shape_tensor()
        return shape[:tf.size(shape) - self._ndims]

    def _event_shape(self):
        shape = self._distribution.batch_shape
        if shape.ndims is None:
            return shape
        return shape[shape.ndims - self._ndims:].concatenate(self._distribution.event_shape)

    def _event_shape_tensor(self):
        shape = self._distribution.batch_shape_tensor()
        return tf.concat([shape[tf.size(shape) - self._ndims:], self._distribution.event_shape_tensor()], 0)

    def _summed(self, value):
        return tf.reduce_sum(value, axis=[-1 - i for i in range(self._ndims)]) if self._ndims else value

    def _sample_n(self, n, seed=None):
        return self._distribution.sample(sample_shape=n, seed=seed)

    def _log_prob(self, x):
        return self._summed(self._distribution.log_prob(x))

    def _entropy(self):
        return self._summed(self._distribution.entropy())

    def _mean(self):
        return self._distribution.mean()

    def _variance(self):
        return self._distribution.variance()

    def _stddev(self):
        return self._distribution.stddev()

    def _mode(self):
        return self._distribution.mode()


@RegisterKL(Independent, Independent)
def _kl_independents(a, b, name=None):
    if a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims:
        raise NotImplementedError("KL between Independents with different event shapes not supported.")
    return a._summed(kl_divergence(a.distribution, b.distribution, name=name))


class MixtureSameFamily(Distribution):
    """A mixture of the last dimension of a batch of distributions."""

    def __init__(self, mixture_distribution, components_distribution, validate_args=False, allow_nan_stats=True,
                 name="MixtureSameFamily"):
        parameters = _given(locals())
        self._mixture, self._components = mixture_distribution, components_distribution
        self._event_ndims = components_distribution.event_shape.ndims
        super().__init__(components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         None, name)

    mixture_distribution = property(lambda self: self._mixture)
    components_distribution = property(lambda self: self._components)

    def _batch_shape(self):
        return self._components.batch_shape[:-1]

    def _batch_shape_tensor(self):
        return self._components.batch_shape_tensor()[:-1]

    def _event_shape(self):
        return self._components.event_shape

    def _event_shape_tensor(self):
        return self._components.event_shape_tensor()

    def _over_components(self, value):
        """A value with a dimension for the components."""
        return tf.expand_dims(value, -1 - self._event_ndims)

    def _padded(self, probs):
        """Probabilities of components beside their events."""
        return tf.reshape(probs, tf.concat([tf.shape(probs), tf.ones([self._event_ndims], tf.int32)], 0))

    def _sample_n(self, n, seed=None):
        drawn = self._components.sample(n, seed=seed)
        chosen = self._mixture.sample(n, seed=_new_seed(seed, "MixtureSameFamily"))
        mask = tf.one_hot(chosen, tf.shape(self._mixture.logits)[-1], dtype=self.dtype)
        # One choice for all of the components' batch where the mixture has none.
        mask = pad_mixture_dimensions(mask, self, self._mixture, self._event_ndims)
        return tf.reduce_sum(drawn * mask, axis=-1 - self._event_ndims)

    def _log_prob(self, x):
        log_probs = self._components.log_prob(self._over_components(x))
        return tf.reduce_logsumexp(log_probs + tf.nn.log_softmax(self._mixture.logits), axis=-1)

    def _cdf(self, x):
        return tf.reduce_sum(self._components.cdf(self._over_components(x)) * self._mixture.probs, axis=-1)

    def _mean(self):
        return tf.reduce_sum(self._padded(self._mixture.probs) * self._components.mean(), axis=-1 - self._event_ndims)

    def _variance(self):
        axis, probs = -1 - self._event_ndims, self._padded(self._mixture.probs)
        mean = tf.expand_dims(self._mean(), axis)
        inner = tf.reduce_sum(probs * self._components.variance(), axis=axis)
        return inner + tf.reduce_sum(probs * tf.squared_difference(self._components.mean(), mean), axis=axis)

    def _covariance(self):
        if self._event_ndims != 1:
            raise NotImplementedError("covariance is only implemented for vectors")
        probs = self._mixture.probs[..., None]
        means = self._components.mean()
        off = means - tf.reduce_sum(probs * means, axis=-2, keepdims=True)
        inner = tf.reduce_sum(probs[..., None] * self._components.covariance(), axis=-3)
        return inner + tf.reduce_sum(probs[..., None] * off[..., None] * off[..., None, :], axis=-3)


class Mixture(Distribution):
    """A mixture of a list of distributions."""

    def __init__(self, cat, components, validate_args=False, allow_nan_stats=True,
                 use_static_graph=False, name="Mixture"):
        parameters = _given(locals())
        if not isinstance(cat, Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not all(isinstance(component, Distribution) for component in components):
            raise TypeError(f"all entries in components must be Distribution instances but saw: {components}")
        self._cat, self._components = cat, list(components)
        first = self._components[0]
        if not all(component.dtype == first.dtype for component in self._components):
            raise TypeError("All components must have the same dtype.")
        self._check_sizes()
        super().__init__(first.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None, name)

    def _check_sizes(self):
        """Raises for what is known not to fit."""
        classes = self._cat.logits.get_shape()[-1:].as_list()[0] if self._cat.logits.get_shape().ndims else None
        if classes is None:
            raise ValueError("Could not infer number of classes from cat and unable to compare this value to the number of "
                             "components passed in.")
        if classes != len(self._components):
            raise ValueError(f"cat.num_classes != len(components): {classes} vs. {len(self._components)}")
        batch, event = self._cat.batch_shape, self._components[0].event_shape
        for component in self._components:
            batch, event = batch.merge_with(component.batch_shape), event.merge_with(component.event_shape)

    cat = property(lambda self: self._cat)
    components = property(lambda self: self._components)
    num_components = property(lambda self: len(self._components))

    def _batch_shape(self):
        return functools.reduce(tf.broadcast_static_shape, (c.batch_shape for c in self._components))

    def _batch_shape_tensor(self):
        return self._components[0].batch_shape_tensor()

    def _event_shape(self):
        return self._components[0].event_shape

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _events(self):
        return self._components[0].event_shape.ndims

    def _probs(self):
        """The components' probabilities, one beside another in a first dimension."""
        probs = self._cat.probs + tf.zeros(tf.concat([self.batch_shape_tensor(), [1]], 0), self._cat.probs.dtype)
        rank = self.batch_shape.ndims
        probs = tf.transpose(probs, [rank, *range(rank)])
        return tf.reshape(probs, tf.concat([tf.shape(probs), tf.ones([self._events()], tf.int32)], 0))

    def _sample_n(self, n, seed=None):
        drawn = tf.stack([component.sample(n, seed=_new_seed(seed, f"mixture{i}"))
                          for i, component in enumerate(self._components)], axis=-1)
        chosen = self._cat.sample(n, seed=seed) + tf.zeros(tf.concat([[n], self.batch_shape_tensor()], 0), tf.int32)
        chosen = tf.reshape(chosen, tf.concat([tf.shape(chosen), tf.ones([self._events()], tf.int32)], 0))
        mask = tf.one_hot(chosen, len(self._components), dtype=self.dtype)
        return tf.reduce_sum(drawn * mask, axis=-1)

    def _log_prob(self, x):
        log_cat = tf.unstack(tf.nn.log_softmax(self._cat.logits), num=len(self._components), axis=-1)
        return tf.reduce_logsumexp(tf.stack([component.log_prob(x) + weight for component, weight
                                             in zip(self._components, log_cat)], axis=0), axis=0)

    def _cdf(self, x):
        probs = tf.unstack(self._cat.probs, num=len(self._components), axis=-1)
        return tf.add_n([component.cdf(x) * p for component, p in zip(self._components, probs)])

    def _mean(self):
        return tf.reduce_sum(self._probs() * tf.stack([c.mean() for c in self._components]), axis=0)

    def _stddev(self):
        return tf.sqrt(self._variance())

    def _variance(self):
        probs, means = self._probs(), tf.stack([c.mean() for c in self._components])
        mean = tf.reduce_sum(probs * means, axis=0)
        inner = tf.stack([c.variance() for c in self._components])
        return tf.reduce_sum(probs * (inner + tf.squared_difference(means, mean)), axis=0)

    def entropy_lower_bound(self, name="entropy_lower_bound"):
        with self._scope(name):
            probs = tf.unstack(self._cat.probs, num=len(self._components), axis=-1)
            return tf.add_n([component.entropy() * p for component, p in zip(self._components, probs)])


class ExpRelaxedOneHotCategorical(Distribution):
    """The logarithm of a class that is nearly chosen: softmax of logits with Gumbel noise over a temperature."""

    def __init__(self, temperature, logits=None, probs=None, dtype=None, validate_args=False, allow_nan_stats=True,
                 name="ExpRelaxedOneHotCategorical"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args, multidimensional=True)
            self._temperature, = _tensors(temperature, dtype=self._logits.dtype)
        super().__init__(self._logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None,
                         scope)

    temperature = property(lambda self: self._temperature)
    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _batch_shape(self):
        return self._logits.get_shape()[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self._logits)[:-1]

    def _event_shape(self):
        return self._logits.get_shape()[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._logits)[-1:]

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], tf.shape(self._logits)], 0)
        drawn = tf.random_uniform(shape, minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.0, dtype=self.dtype,
                                  seed=seed)
        gumbel = -tf.log(-tf.log(drawn))
        return tf.nn.log_softmax((gumbel + self._logits) / self._temperature)

    def _log_prob(self, x):
        k = tf.cast(tf.shape(self._logits)[-1], self.dtype)
        scaled = tf.nn.log_softmax(self._logits - x * self._temperature)
        return tf.lgamma(k) + (k - 1) * tf.log(self._temperature) + tf.reduce_sum(scaled, axis=-1)


class RelaxedOneHotCategorical(ExpRelaxedOneHotCategorical):
    def __init__(self, temperature, logits=None, probs=None, dtype=None, validate_args=False, allow_nan_stats=True,
                 name="RelaxedOneHotCategorical"):
        super().__init__(temperature, logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return tf.exp(super()._sample_n(n, seed))

    def _log_prob(self, x):
        logs = tf.log(x)
        return super()._log_prob(logs) - tf.reduce_sum(logs, axis=-1)


class RelaxedBernoulli(Distribution):
    """Numbers near 0 or 1: the sigmoid of a logistic number over a temperature."""

    def __init__(self, temperature, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="RelaxedBernoulli"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args)
            self._temperature, = _tensors(temperature, dtype=self._logits.dtype)
        self._batch_of = (self._logits, self._temperature)
        super().__init__(self._logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None,
                         scope)

    temperature = property(lambda self: self._temperature)
    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        drawn = tf.random_uniform(shape, minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.0, dtype=self.dtype,
                                  seed=seed)
        logistic = tf.log(drawn) - tf.log1p(-drawn)
        return tf.sigmoid((logistic + self._logits) / self._temperature)

    def _cdf(self, y):
        return tf.sigmoid((tf.log(y) - tf.log1p(-y)) * self._temperature - self._logits)

    def _log_prob(self, y):
        x = tf.log(y) - tf.log1p(-y)
        z = x * self._temperature - self._logits
        return tf.log(self._temperature) - z - 2.0 * tf.nn.softplus(-z) - tf.log(y) - tf.log1p(-y)
