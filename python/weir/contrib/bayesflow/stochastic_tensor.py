"""Values that distributions draw, which can stand wherever a tensor can: tf.contrib.bayesflow.stochastic_tensor."""

import contextlib
import threading

import weir as tf
from weir.contrib.bayesflow.stochastic_gradient_estimators import score_function
from weir.distributions.distribution import Distribution

STOCHASTIC_TENSOR_COLLECTION = "_stochastic_tensor_collection_"


class BaseStochasticTensor:
    """What has a ``value`` that is random and may add a term to the loss of what follows from it."""

    def __init__(self):
        tf.add_to_collection(STOCHASTIC_TENSOR_COLLECTION, self)

    def value(self, name=None):
        raise NotImplementedError(f"{type(self).__name__} has no value")

    def loss(self, sample_loss):
        """What to add to ``sample_loss``, which follows from the value, so that its gradient reaches the distribution's
        parameters; None when it does so by itself."""
        raise NotImplementedError(f"{type(self).__name__} has no loss")

    @staticmethod
    def _tensor_conversion_function(v, dtype=None, name=None, as_ref=False):
        if dtype is not None and not tf.as_dtype(dtype).is_compatible_with(v.dtype):
            raise ValueError(f"Incompatible type conversion requested to type '{tf.as_dtype(dtype).name}' for variable of "
                             f"type '{v.dtype.name}'")
        if as_ref:
            raise ValueError(f"{v}: Ref type is not supported.")
        return v.value()


tf.register_tensor_conversion_function(BaseStochasticTensor, BaseStochasticTensor._tensor_conversion_function)


class _ValueType:
    """What the value of a stochastic tensor is. ``pushed_above`` and ``popped_above`` hear of scopes inside of its own."""

    stop_gradient = False

    def pushed_above(self, value_type):
        pass

    def popped_above(self, value_type):
        pass

    def declare_inputs(self, stochastic_tensor, inputs_dict):
        pass


class MeanValue(_ValueType):
    """The mean of the distribution."""

    def __init__(self, stop_gradient=False):
        self.stop_gradient = stop_gradient


class SampleValue(_ValueType):
    """Samples, ``shape`` of them."""

    def __init__(self, shape=(), stop_gradient=False):
        self.shape = shape
        self.stop_gradient = stop_gradient


class NoValueTypeSetError(ValueError):
    pass


class _Scopes(threading.local):
    def __init__(self):
        self.stack = []


_scopes = _Scopes()


@contextlib.contextmanager
def value_type(dist_value_type):
    """Within it stochastic tensors have values of this type, unless they are made with one of their own."""
    if not isinstance(dist_value_type, _ValueType):
        raise TypeError("dist_value_type must be a Distribution Value Type")
    stack = _scopes.stack
    if stack:
        stack[-1].pushed_above(dist_value_type)
    stack.append(dist_value_type)
    try:
        yield
    finally:
        stack.pop()
        if stack:
            stack[-1].popped_above(dist_value_type)


def get_current_value_type():
    if not _scopes.stack:
        raise NoValueTypeSetError("No value type currently set for this thread. Did you forget to wrap "
                                  "'with stochastic_graph.value_type(...)'?")
    return _scopes.stack[-1]


class StochasticTensor(BaseStochasticTensor):
    """A value that a distribution draws once for all who read it."""

    def __init__(self, dist, name="StochasticTensor", dist_value_type=None, loss_fn=score_function):
        _require_distribution(dist)
        if dist_value_type is None:
            self._value_type = _scopes.stack[-1] if _scopes.stack else SampleValue()
        else:
            with value_type(dist_value_type):
                self._value_type = dist_value_type
        if loss_fn is not None and not callable(loss_fn):
            raise TypeError("loss_fn must be callable")
        self._loss_fn = loss_fn
        with tf.name_scope(name) as scope:
            self._name = scope
            self._dist = dist
            self._value = self._drawn()
        super().__init__()

    value_type = property(lambda self: self._value_type)
    distribution = property(lambda self: self._dist)
    name = property(lambda self: self._name)
    graph = property(lambda self: self._value.graph)
    dtype = property(lambda self: self._dist.dtype)

    def _drawn(self):
        if isinstance(self._value_type, MeanValue):
            value = self._dist.mean()
        elif isinstance(self._value_type, SampleValue):
            value = self._dist.sample(self._value_type.shape)
        else:
            raise TypeError(f"Unrecognized Distribution Value Type: {self._value_type}")
        return value if self._has_gradient() else tf.stop_gradient(value)

    def _has_gradient(self):
        """Whether the value tells the distribution's parameters what to learn."""
        if self._value_type.stop_gradient:
            return False
        return isinstance(self._value_type, MeanValue) or self._dist.is_continuous and self._dist.is_reparameterized

    def entropy(self, name="entropy"):
        return self._dist.entropy(name=name)

    def mean(self, name="mean"):
        return self._dist.mean(name=name)

    def value(self, name="value"):
        return self._value

    def loss(self, final_loss, name="Loss"):
        if self._loss_fn is None or self._has_gradient():
            return None
        with tf.name_scope(self.name, values=[final_loss]), tf.name_scope(name):
            return self._loss_fn(self, self._value, final_loss)


class ObservedStochasticTensor(StochasticTensor):
    """A value that was observed, of which a distribution is supposed."""

    def __init__(self, dist, value, name=None):
        _require_distribution(dist)
        with tf.name_scope(name, "ObservedStochasticTensor", [value]) as scope:
            self._name = scope
            self._dist = dist
            value = tf.convert_to_tensor(value)
            _require_shape(value.get_shape(), dist.get_batch_shape().concatenate(dist.get_event_shape()))
            if value.dtype != dist.dtype:
                raise ValueError(f"Type of observed value ({value.dtype}) does not match type of distribution ({dist.dtype}).")
            self._value = tf.identity(value)
        BaseStochasticTensor.__init__(self)

    def loss(self, final_loss, name=None):
        return None


def _require_distribution(dist):
    if not isinstance(dist, Distribution):
        raise TypeError("dist must be an instance of Distribution")


def _require_shape(observed, drawn):
    """An observed value must look like samples: any dimensions, then those of one sample."""
    if observed.ndims is None or drawn.ndims is None:
        return
    if observed.ndims < drawn.ndims:
        raise ValueError(f"Rank of observed value ({observed.ndims}) must be >= rank of a sample from the distribution "
                         f"({drawn.ndims}).")
    if not observed[observed.ndims - drawn.ndims:].is_compatible_with(drawn):
        raise ValueError(f"Shape of observed value {observed} is incompatible with the shape of a sample from the "
                         f"distribution {drawn}.")
