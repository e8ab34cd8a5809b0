"""The base of bijectors: functions with an inverse and the logarithm of their Jacobian's determinant."""

import contextlib

import weir as tf


class _Pair:
    """An argument of a bijector and its value, as far as they are known, and log determinants by event_ndims."""

    def __init__(self, x=None, y=None):
        self.x, self.y, self.log_dets = x, y, {}


class Bijector:
    """A function of events. Subclasses define ``_forward``, ``_inverse`` and one of ``_forward_log_det_jacobian`` and
    ``_inverse_log_det_jacobian``, for events of the fewest dimensions that they take; a bijector that changes shapes also
    ``_forward_event_shape`` and its like. What has been computed for a tensor is not computed again, for it or for what
    it became."""

    def __new__(cls, *args, **kwargs):
        if cls is Bijector:
            raise TypeError("Can't instantiate abstract class Bijector with abstract methods __init__")
        return super().__new__(cls)

    def __init__(self, graph_parents=None, is_constant_jacobian=False, validate_args=False, dtype=None,
                 forward_min_event_ndims=None, inverse_min_event_ndims=None, name=None, event_ndims=None):
        if forward_min_event_ndims is None:
            forward_min_event_ndims = inverse_min_event_ndims
        if forward_min_event_ndims is None:
            forward_min_event_ndims = event_ndims or 0
        self._forward_min = forward_min_event_ndims
        self._inverse_min = forward_min_event_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims
        if self._forward_min < 0 or self._inverse_min < 0:
            raise ValueError("min_event_ndims must be a non-negative integer.")
        self._is_constant_jacobian, self._validate_args, self._dtype = is_constant_jacobian, validate_args, dtype
        self._graph_parents, self._event_ndims = graph_parents or [], event_ndims
        self._name = name or _snake(type(self).__name__)
        self._of_x, self._of_y = {}, {}

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    graph_parents = property(lambda self: self._graph_parents)
    validate_args = property(lambda self: self._validate_args)
    is_constant_jacobian = property(lambda self: self._is_constant_jacobian)
    forward_min_event_ndims = property(lambda self: self._forward_min)
    inverse_min_event_ndims = property(lambda self: self._inverse_min)
    _is_injective = True  # otherwise ``_inverse`` and its log determinant give a tuple, one item for each branch

    # What subclasses define.

    def _forward(self, x):
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y):
        raise NotImplementedError("inverse not implemented.")

    def _forward_log_det_jacobian(self, x):
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y):
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _forward_event_shape(self, input_shape):
        return input_shape

    def _inverse_event_shape(self, output_shape):
        return output_shape

    def _forward_event_shape_tensor(self, input_shape):
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape):
        return output_shape

    # Shapes of events.

    def forward_event_shape(self, input_shape):
        return self._forward_event_shape(tf.TensorShape(input_shape))

    def inverse_event_shape(self, output_shape):
        return self._inverse_event_shape(tf.TensorShape(output_shape))

    def forward_event_shape_tensor(self, input_shape, name="forward_event_shape_tensor"):
        with tf.name_scope(self._name), tf.name_scope(name, values=[input_shape]):
            shape = tf.convert_to_tensor(input_shape, dtype=tf.int32, name="input_shape")
            return tf.identity(tf.convert_to_tensor(self._forward_event_shape_tensor(shape), dtype=tf.int32),
                               name="forward_event_shape")

    def inverse_event_shape_tensor(self, output_shape, name="inverse_event_shape_tensor"):
        with tf.name_scope(self._name), tf.name_scope(name, values=[output_shape]):
            shape = tf.convert_to_tensor(output_shape, dtype=tf.int32, name="output_shape")
            return tf.identity(tf.convert_to_tensor(self._inverse_event_shape_tensor(shape), dtype=tf.int32),
                               name="inverse_event_shape")

    # Values.

    def forward(self, x, name="forward", **kwargs):
        with tf.name_scope(self._name), tf.name_scope(name, values=[x]):
            x = self._argument(x, "x")
            if not self._is_injective:
                return self._forward(x, **kwargs)
            return self._y_of(self._pair(x, None, kwargs), kwargs)

    def inverse(self, y, name="inverse", **kwargs):
        with tf.name_scope(self._name), tf.name_scope(name, values=[y]):
            y = self._argument(y, "y")
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            return self._x_of(self._pair(None, y, kwargs), kwargs)

    def forward_log_det_jacobian(self, x, event_ndims=None, name="forward_log_det_jacobian", **kwargs):
        if not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        with tf.name_scope(self._name), tf.name_scope(name, values=[x]):
            x = self._argument(x, "x")
            event_ndims, key, checks = self._checked_event_ndims(event_ndims, self._forward_min)
            pair = self._pair(x, None, kwargs)
            if key not in pair.log_dets:
                with tf.control_dependencies(checks):
                    pair.log_dets[key] = self._one_of(
                        lambda: self._log_det_of_x(x, event_ndims, kwargs),
                        lambda: -self._log_det_of_y(self._y_of(pair, kwargs), event_ndims - self._forward_min
                                                    + self._inverse_min, kwargs))
            return pair.log_dets[key]

    def inverse_log_det_jacobian(self, y, event_ndims=None, name="inverse_log_det_jacobian", **kwargs):
        with tf.name_scope(self._name), tf.name_scope(name, values=[y]):
            y = self._argument(y, "y")
            event_ndims, key, checks = self._checked_event_ndims(event_ndims, self._inverse_min)
            if not self._is_injective:
                with tf.control_dependencies(checks):
                    return tuple(self._over_event(value, y, event_ndims, self._inverse_min)
                                 for value in self._inverse_log_det_jacobian(y, **kwargs))
            pair = self._pair(None, y, kwargs)
            # Log determinants are noted by the dimensions of the argument.
            key = key - self._inverse_min + self._forward_min if isinstance(key, int) else key
            if key not in pair.log_dets:
                with tf.control_dependencies(checks):
                    pair.log_dets[key] = self._one_of(
                        lambda: -self._log_det_of_y(y, event_ndims, kwargs),
                        lambda: self._log_det_of_x(self._x_of(pair, kwargs), event_ndims - self._inverse_min
                                                   + self._forward_min, kwargs))
            return -pair.log_dets[key]

    def inverse_and_inverse_log_det_jacobian(self, y, name="inverse_and_inverse_log_det_jacobian", **kwargs):
        """Both at once, as before TensorFlow 1.0."""
        with tf.name_scope(name):
            return self.inverse(y, **kwargs), self.inverse_log_det_jacobian(y, **kwargs)

    # How.

    def _argument(self, value, name):
        tensor = tf.convert_to_tensor(value, name=name, preferred_dtype=self._dtype)
        if self._dtype is not None and tensor.dtype.base_dtype != tf.as_dtype(self._dtype).base_dtype:
            raise TypeError(f"Input had dtype {tensor.dtype} but expected {self._dtype}.")
        return tensor

    def _pair(self, x, y, kwargs):
        """What is known of an argument, or of a value."""
        known, tensor = (self._of_x, x) if y is None else (self._of_y, y)
        return known.setdefault((tensor, _hashable(kwargs)), _Pair(x, y))

    def _y_of(self, pair, kwargs):
        if pair.y is None:
            pair.y = self._forward(pair.x, **kwargs)
            self._of_y[pair.y, _hashable(kwargs)] = pair
        return pair.y

    def _x_of(self, pair, kwargs):
        if pair.x is None:
            pair.x = self._inverse(pair.y, **kwargs)
            self._of_x[pair.x, _hashable(kwargs)] = pair
        return pair.x

    def _log_det_of_x(self, x, event_ndims, kwargs):
        return self._over_event(self._forward_log_det_jacobian(x, **kwargs), x, event_ndims, self._forward_min)

    def _log_det_of_y(self, y, event_ndims, kwargs):
        return self._over_event(self._inverse_log_det_jacobian(y, **kwargs), y, event_ndims, self._inverse_min)

    @staticmethod
    def _one_of(first, second):
        """The first way, or the second where a bijector does not have the first."""
        try:
            return first()
        except NotImplementedError as error:
            try:
                return second()
            except NotImplementedError:
                raise error from None

    @contextlib.contextmanager
    def _name_scope(self, name=None, default_name=None, values=None):
        """What subclasses of programs make their nodes in."""
        with tf.name_scope(self._name), tf.name_scope(name, default_name, values=[] if values is None else values) as scope:
            yield scope

    def _checked_event_ndims(self, event_ndims, fewest):
        """(the number of an event's dimensions, a number if it is known; what it is known by; checks in the run)"""
        if event_ndims is None:
            event_ndims = fewest if self._event_ndims is None else self._event_ndims
        tensor = tf.convert_to_tensor(event_ndims, name="event_ndims")
        if not tensor.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {tensor.dtype}")
        if tensor.get_shape().ndims not in (None, 0):
            raise ValueError(f"Expected scalar event_ndims, got shape {tensor.get_shape()}")
        known = tf.contrib.util.constant_value(tensor)
        if known is not None:
            if known < fewest:
                raise ValueError(f"event_ndims ({known}) must be larger than min_event_ndims ({fewest})")
            return int(known), int(known), []
        checks = []
        if self._validate_args:
            with tf.control_dependencies([tf.assert_rank(tensor, 0, message="Expected scalar.")]):
                checks.append(tf.assert_greater_equal(tensor, fewest))
        return tensor, tensor, checks

    def _over_event(self, log_det, tensor, event_ndims, fewest):
        """Adds what the further dimensions of an event have; a number that is the same everywhere counts for each."""
        if isinstance(event_ndims, int) and event_ndims == fewest:
            return log_det
        extra = event_ndims - fewest
        if self._is_constant_jacobian:
            shape, rank = tf.shape(tensor), tf.rank(tensor)
            log_det = log_det * tf.ones(shape[rank - event_ndims:rank - fewest], log_det.dtype)
        known = isinstance(extra, int)
        result = tf.reduce_sum(log_det, axis=list(range(-extra, 0)) if known else tf.range(-extra, 0))
        if known and tensor.get_shape().ndims is not None and log_det.get_shape().ndims is not None:
            result.set_shape(log_det.get_shape()[:max(log_det.get_shape().ndims - extra, 0)])
        return result


def _hashable(value):
    if isinstance(value, dict):
        return tuple(sorted((key, _hashable(item)) for key, item in value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value


def _snake(name):
    return "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(name.lstrip("_")))


class ConditionalBijector(Bijector):
    """A bijector whose functions take further arguments, by name."""
