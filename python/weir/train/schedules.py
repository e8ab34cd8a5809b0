"""Learning rates that change with the step, and moving averages."""

from weir import _weir
from weir.core import variable_scope
from weir.core.graph import Tensor, convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.variables import Variable
from weir.ops import array_ops, init_ops, math_ops


def _step(global_step, function):
    """The step as something of a graph."""
    if global_step is None:
        raise ValueError(f"global_step is required for {function}.")
    return global_step if isinstance(global_step, Variable) else convert_to_tensor(global_step)


def _in_graph(value):
    return isinstance(value, (Tensor, Variable))


def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """``learning_rate * decay_rate ** (global_step / decay_steps)``; in whole steps with ``staircase``."""
    step = _step(global_step, "exponential_decay")
    return _weir.exponential_decay(_graph(), learning_rate, step, decay_steps, decay_rate, bool(staircase), name)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    step = _step(global_step, "natural_exp_decay")
    return _weir.natural_exp_decay(_graph(), learning_rate, step, decay_steps, decay_rate, bool(staircase), name)


def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    step = _step(global_step, "inverse_time_decay")
    return _weir.inverse_time_decay(_graph(), learning_rate, step, decay_steps, decay_rate, bool(staircase), name)


def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                     name=None):
    step = _step(global_step, "polynomial_decay")
    return _weir.polynomial_decay(_graph(), learning_rate, step, decay_steps, end_learning_rate, power, bool(cycle), name)


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    return _weir.cosine_decay(_graph(), learning_rate, _step(global_step, "cosine_decay"), decay_steps, float(alpha), name)


def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    """cosine_decay that begins again, ``t_mul`` times as long and from ``m_mul`` of the rate, when it has ended."""
    step = _step(global_step, "cosine_decay_restarts")
    return _weir.cosine_decay_restarts(_graph(), learning_rate, step, first_decay_steps, float(t_mul), float(m_mul),
                                       float(alpha), name)


def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    step = _step(global_step, "linear_cosine_decay")
    return _weir.linear_cosine_decay(_graph(), learning_rate, step, decay_steps, float(num_periods), float(alpha),
                                     float(beta), (0.0, 0.55), name)


def noisy_linear_cosine_decay(learning_rate, global_step, decay_steps, initial_variance=1.0, variance_decay=0.55,
                              num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    step = _step(global_step, "noisy_linear_cosine_decay")
    return _weir.linear_cosine_decay(_graph(), learning_rate, step, decay_steps, float(num_periods), float(alpha),
                                     float(beta), (float(initial_variance), float(variance_decay)), name)


def piecewise_constant(x, boundaries, values, name=None):
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    return _weir.piecewise_constant(_graph(), x if _in_graph(x) else convert_to_tensor(x), list(boundaries), list(values),
                                    name)


piecewise_constant_decay = piecewise_constant


class ExponentialMovingAverage:
    """Moving averages of variables and tensors: ``apply(list)`` makes the update, ``average(var)`` gives one."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        if isinstance(zero_debias, str):  # TensorFlow 0.x: (decay, num_updates, name)
            zero_debias, name = False, zero_debias
        self._name = name
        self._impl = _weir.exponential_moving_average(_graph(), decay, num_updates, bool(zero_debias), name)

    @property
    def name(self):
        return self._name

    def apply(self, var_list=None):
        graph = _graph()
        if var_list is None:
            var_list = graph.get_collection("trainable_variables")
        for item in var_list:
            if not item.dtype.base_dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {item.name}")
        return self._impl.apply(graph, list(var_list))

    def average(self, var):
        return self._impl.average(var)

    def average_name(self, var):
        return self._impl.average_name(var)

    def variables_to_restore(self, moving_avg_variables=None):
        return self._impl.variables_to_restore(_graph(), moving_avg_variables)


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    return _weir.assign_moving_average(variable, value, decay, bool(zero_debias), name)


def weighted_moving_average(value, decay, weight, truediv=True, collections=None, name=None):
    """The moving average of ``value`` with weights that come with it: averages of value * weight and of weight."""
    with variable_scope.variable_scope(name, "WeightedMovingAvg", [value, weight, decay]):
        value = convert_to_tensor(value, name="value")
        parts = {}
        for part in ("value_x_weight", "weight"):
            shape = value.shape if part == "value_x_weight" else weight.shape if _in_graph(weight) else []
            parts[part] = variable_scope.get_variable(part, shape.as_list() if hasattr(shape, "as_list") else shape,
                                                      value.dtype.base_dtype, init_ops.zeros_initializer(),
                                                      trainable=False, collections=collections)
        numerator = assign_moving_average(parts["value_x_weight"], value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(parts["weight"], array_ops.identity(weight), decay, zero_debias=False)
        return math_ops.truediv(numerator, denominator) if truediv else math_ops.divide(numerator, denominator)
