"""Distribution: what all distributions have; divergences between pairs of them."""

import contextlib
import functools
import hashlib

import weir as tf
from weir.distributions import old_names


class ReparameterizationType:
    """Whether gradients of samples go to a distribution's parameters."""

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return f"<Reparameteriation Type: {self._rep_type}>"

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class _ByEitherName(dict):
    """Parameters by their names of today, which can be asked for by those of before TensorFlow 1.0."""

    def __init__(self, old_names, items):
        super().__init__(items)
        self._old_names = old_names

    def __missing__(self, name):
        if name not in self._old_names:
            raise KeyError(name)
        return self[self._old_names[name]]


class Distribution:
    """Values of one distribution have the event shape; a batch of distributions with different parameters is one object.

    Subclasses define ``_log_prob`` (or ``_prob``), ``_sample_n`` and the like; a function that is not defined says so.
    """

    def __init__(self, dtype, reparameterization_type, validate_args, allow_nan_stats, parameters=None,
                 graph_parents=None, name=None):
        if not name or name[-1] != "/":
            with tf.name_scope(name or type(self).__name__) as name:
                pass
        self._dtype, self._reparameterization_type = dtype, reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._parameters = {key: value for key, value in (parameters or {}).items()
                            if key != "self" and not key.startswith("__")}
        self._graph_parents, self._name = graph_parents or [], name

    _old_names = {}  # what parameters were called before TensorFlow 1.0

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        old_names._provide(cls)

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    parameters = property(lambda self: dict(self._parameters))
    reparameterization_type = property(lambda self: self._reparameterization_type)
    allow_nan_stats = property(lambda self: self._allow_nan_stats)
    validate_args = property(lambda self: self._validate_args)

    # Old names, of before TensorFlow 1.0.
    is_continuous = property(lambda self: self.dtype.is_floating)
    is_reparameterized = property(lambda self: self._reparameterization_type is FULLY_REPARAMETERIZED)

    @contextlib.contextmanager
    def _scope(self, name, values=None):
        with tf.name_scope(self._name), tf.name_scope(name, values=values) as scope:
            yield scope

    _name_scope = _scope

    def copy(self, **override_parameters_kwargs):
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    # Shapes.

    _batch_of = ()  # the parameters whose shapes, broadcast, are the batch shape

    def _batch_shape(self):
        if not self._batch_of:
            return tf.TensorShape(None)
        return functools.reduce(tf.broadcast_static_shape, (p.get_shape() for p in self._batch_of))

    def _batch_shape_tensor(self):
        return functools.reduce(tf.broadcast_dynamic_shape, (tf.shape(p) for p in self._batch_of))

    def _event_shape(self):
        return tf.TensorShape([])

    def _event_shape_tensor(self):
        return tf.constant([], tf.int32)

    @property
    def batch_shape(self):
        return old_names._ShapeAndTensor(self._batch_shape(), self.batch_shape_tensor)

    @property
    def event_shape(self):
        return old_names._ShapeAndTensor(self._event_shape(), self.event_shape_tensor)

    def get_batch_shape(self):
        return tf.TensorShape(self._batch_shape())

    def get_event_shape(self):
        return tf.TensorShape(self._event_shape())

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        with self._scope(name):
            if self.batch_shape.is_fully_defined():
                return tf.constant(self.batch_shape.as_list(), dtype=tf.int32, name="batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name="event_shape_tensor"):
        with self._scope(name):
            if self.event_shape.is_fully_defined():
                return tf.constant(self.event_shape.as_list(), dtype=tf.int32, name="event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name="is_scalar_event"):
        with self._scope(name):
            return tf.equal(tf.size(self.event_shape_tensor()), 0)

    def is_scalar_batch(self, name="is_scalar_batch"):
        with self._scope(name):
            return tf.equal(tf.size(self.batch_shape_tensor()), 0)

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes"):
        with tf.name_scope(name, values=[sample_shape]):
            return _ByEitherName(cls._old_names, cls._param_shapes(sample_shape))

    @classmethod
    def param_static_shapes(cls, sample_shape):
        shape = tf.TensorShape(sample_shape).as_list()
        return _ByEitherName(cls._old_names, {key: tf.TensorShape(tf.contrib.util.constant_value(value))
                                              for key, value in cls.param_shapes(shape).items()})

    _shaped_parameters = ()  # those of which a batch has one number for each of its distributions

    @classmethod
    def _param_shapes(cls, sample_shape):
        if not cls._shaped_parameters:
            raise NotImplementedError("_param_shapes not implemented")
        return dict.fromkeys(cls._shaped_parameters, tf.convert_to_tensor(sample_shape, dtype=tf.int32))

    # Samples.

    def _sample_n(self, n, seed=None):
        raise _missing(self, "sample_n")

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """Samples of shape sample_shape + batch_shape + event_shape."""
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(self, sample_shape, seed, name, **kwargs):
        with self._scope(name, values=[sample_shape]):
            sample_shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
            if sample_shape.get_shape().ndims == 0:
                sample_shape = tf.reshape(sample_shape, [1])
            samples = self._sample_n(tf.reduce_prod(sample_shape), seed, **kwargs)
            samples = tf.reshape(samples, tf.concat([sample_shape, tf.shape(samples)[1:]], 0))
            known = tf.contrib.util.constant_value(sample_shape)
            if known is not None and self.batch_shape.ndims is not None and self.event_shape.ndims is not None:
                samples.set_shape(tf.TensorShape(known.tolist()).concatenate(self.batch_shape).concatenate(
                    self.event_shape))
            return samples

    def sample_n(self, n, seed=None, name="sample_n"):
        return self.sample([n], seed, name)

    # Densities.

    def _value_as_tensor(self, value):
        return tf.convert_to_tensor(value, name="value", preferred_dtype=self.dtype)

    def log_prob(self, value, name="log_prob", **kwargs):
        with self._scope(name, values=[value]):
            value = self._value_as_tensor(value)
            if _has(self, "_log_prob"):
                return self._log_prob(value, **kwargs)
            if _has(self, "_prob"):
                return tf.log(self._prob(value, **kwargs))
            raise _missing(self, "log_prob")

    def prob(self, value, name="prob", **kwargs):
        with self._scope(name, values=[value]):
            value = self._value_as_tensor(value)
            if _has(self, "_prob"):
                return self._prob(value, **kwargs)
            if _has(self, "_log_prob"):
                return tf.exp(self._log_prob(value, **kwargs))
            raise _missing(self, "prob")

    # Before TensorFlow 1.0 densities and probabilities had different names.

    def pdf(self, value, name="pdf", **kwargs):
        return self.prob(value, name, **kwargs)

    def log_pdf(self, value, name="log_pdf", **kwargs):
        return self.log_prob(value, name, **kwargs)

    def pmf(self, value, name="pmf", **kwargs):
        return self.prob(value, name, **kwargs)

    def log_pmf(self, value, name="log_pmf", **kwargs):
        return self.log_prob(value, name, **kwargs)

    def log_cdf(self, value, name="log_cdf", **kwargs):
        with self._scope(name, values=[value]):
            value = self._value_as_tensor(value)
            if _has(self, "_log_cdf"):
                return self._log_cdf(value, **kwargs)
            if _has(self, "_cdf"):
                return tf.log(self._cdf(value, **kwargs))
            raise _missing(self, "log_cdf")

    def cdf(self, value, name="cdf", **kwargs):
        with self._scope(name, values=[value]):
            value = self._value_as_tensor(value)
            if _has(self, "_cdf"):
                return self._cdf(value, **kwargs)
            if _has(self, "_log_cdf"):
                return tf.exp(self._log_cdf(value, **kwargs))
            raise _missing(self, "cdf")

    def survival_function(self, value, name="survival_function", **kwargs):
        with self._scope(name, values=[value]):
            value = self._value_as_tensor(value)
            if _has(self, "_survival_function"):
                return self._survival_function(value, **kwargs)
            return 1.0 - self.cdf(value, **kwargs)

    def log_survival_function(self, value, name="log_survival_function", **kwargs):
        with self._scope(name, values=[value]):
            value = self._value_as_tensor(value)
            if _has(self, "_log_survival_function"):
                return self._log_survival_function(value, **kwargs)
            return tf.log1p(-self.cdf(value, **kwargs))

    def quantile(self, value, name="quantile", **kwargs):
        with self._scope(name, values=[value]):
            if not _has(self, "_quantile"):
                raise _missing(self, "quantile")
            return self._quantile(self._value_as_tensor(value), **kwargs)

    # Moments.

    def _moment(self, name, scope, **kwargs):
        with self._scope(scope):
            if not _has(self, "_" + name):
                raise _missing(self, name)
            return getattr(self, "_" + name)(**kwargs)

    def entropy(self, name="entropy", **kwargs):
        return self._moment("entropy", name, **kwargs)

    def mean(self, name="mean", **kwargs):
        return self._moment("mean", name, **kwargs)

    def mode(self, name="mode", **kwargs):
        return self._moment("mode", name, **kwargs)

    def covariance(self, name="covariance", **kwargs):
        return self._moment("covariance", name, **kwargs)

    def variance(self, name="variance", **kwargs):
        if not _has(self, "_variance") and _has(self, "_stddev"):
            with self._scope(name):
                return tf.square(self._stddev(**kwargs))
        return self._moment("variance", name, **kwargs)

    def stddev(self, name="stddev", **kwargs):
        if not _has(self, "_stddev") and _has(self, "_variance"):
            with self._scope(name):
                return tf.sqrt(self._variance(**kwargs))
        return self._moment("stddev", name, **kwargs)

    std = stddev

    def cross_entropy(self, other, name="cross_entropy"):
        with self._scope(name):
            return kl_divergence(self, other, self.allow_nan_stats) + self.entropy()

    def kl_divergence(self, other, name="kl_divergence"):
        with self._scope(name):
            return kl_divergence(self, other, self.allow_nan_stats)

    def __str__(self):
        known = {"batch_shape": self.batch_shape, "event_shape": self.event_shape}
        shapes = "".join(f"{name}={shape}, " for name, shape in known.items() if shape.ndims is not None)
        return f'tfp.distributions.{type(self).__name__}("{self.name}", {shapes}dtype={self.dtype.name})'

    def __repr__(self):
        return (f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
                f"event_shape={self.event_shape} dtype={self.dtype.name}>")


def _has(distribution, name):
    """Whether a class defines one of the functions; the base has only those that always serve."""
    return hasattr(distribution, name)


def _missing(distribution, name):
    return NotImplementedError(f"{name} is not implemented: {type(distribution).__name__}")


class ConditionalDistribution(Distribution):
    """A distribution whose functions take further arguments, by name."""

    def sample(self, sample_shape=(), seed=None, name="sample", **condition_kwargs):
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)


# Divergences.

_DIVERGENCES = {}


def _registered_kl(type_a, type_b):
    best = None
    for i, a in enumerate(type_a.__mro__):
        for j, b in enumerate(type_b.__mro__):
            if (a, b) in _DIVERGENCES and (best is None or i + j < best[0]):
                best = i + j, _DIVERGENCES[a, b]
    return best and best[1]


def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None):
    """The Kullback-Leibler divergence KL(a || b)."""
    function = _registered_kl(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError("No KL(distribution_a || distribution_b) registered for distribution_a type "
                                  f"{type(distribution_a).__name__} and distribution_b type "
                                  f"{type(distribution_b).__name__}")
    with tf.name_scope("KullbackLeibler"):
        value = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return value
        message = (f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values "
                   "(and was called with allow_nan_stats=False). Values:")
        with tf.control_dependencies([tf.Assert(tf.logical_not(tf.reduce_any(tf.is_nan(value))), [message, value])]):
            return tf.identity(value, name="checked_kl")


def kl(dist_a, dist_b, allow_nan=False, name=None):
    """``kl_divergence`` as it was before TensorFlow 1.0."""
    return kl_divergence(dist_a, dist_b, allow_nan, name)


class RegisterKL:
    """Decorates a function that works out the divergence of two classes of distributions."""

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = dist_cls_a, dist_cls_b

    def __call__(self, kl_fn):
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            raise ValueError(f"KL({self._key[0].__name__} || {self._key[1].__name__}) has already been registered to: "
                             f"{_DIVERGENCES[self._key]}")
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


# What distributions share.


def _tensors(*values, names=(), dtype=None):
    """Parameters as tensors of one floating type."""
    given = [value for value in values if isinstance(value, (tf.Tensor, tf.Variable))]
    preferred = dtype or (given[0].dtype.base_dtype if given else None)
    found = []
    for i, value in enumerate(values):
        tensor = tf.convert_to_tensor(value, dtype=preferred, name=names[i] if i < len(names) else None)
        if preferred is None:
            if not tensor.dtype.is_floating and not tensor.dtype.is_complex:
                tensor = tf.to_float(tensor)
            preferred = tensor.dtype.base_dtype
        found.append(tensor)
    return found


def _checked(condition, tensors, checks):
    """Tensors that are used after checks, where checks are asked for."""
    if not condition:
        return tensors
    with tf.control_dependencies(checks()):
        return [tf.identity(tensor) for tensor in tensors]


def _valid_counts(distribution, counts, total=None, of_classes=False):
    """Counts, after checks where the distribution has them: whole, not negative, and no more than there are in all."""

    def checks():
        found = [tf.assert_non_negative(counts, message="counts must be non-negative."),
                 tf.assert_equal(counts, tf.floor(counts), message="counts cannot contain fractional components.")]
        if of_classes:
            found.append(tf.assert_equal(total + tf.zeros_like(counts[..., 0]), tf.reduce_sum(counts, -1) + tf.zeros_like(
                total), message="counts must sum to `self.total_count`"))
        elif total is not None:
            found.append(tf.assert_less_equal(counts, total + tf.zeros_like(counts),
                                              message="counts are not less than or equal to n."))
        return found

    return _checked(distribution.validate_args, [counts], checks)[0]


def _positive(validate_args, *named):
    """Tensors, (tensor, name) each, after checks that they are positive."""
    return _checked(validate_args, [tensor for tensor, _ in named], lambda: [
        tf.assert_positive(tensor, message=f"{name} must be positive.") for tensor, name in named])


def _new_seed(seed, salt):
    """Another seed of a seed, TensorFlow's."""
    if seed is None:
        return None
    return int(hashlib.md5((str(seed) + salt).encode("utf-8")).hexdigest()[:8], 16) & 0x7FFFFFFF
