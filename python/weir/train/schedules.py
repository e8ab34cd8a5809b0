"""Learning rates that change with the step, and moving averages."""

from weir import _weir
from weir.core import variable_scope
from weir.core.defaults import from_extension
from weir.core.graph import Tensor, convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.variables import Variable
from weir.ops import array_ops, init_ops, math_ops


def _in_graph(value):
    return isinstance(value, (Tensor, Variable))


@from_extension(_weir.exponential_decay)
def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase, name):
    """``learning_rate * decay_rate ** (global_step / decay_steps)``; in whole steps with ``staircase``."""
    return _weir.exponential_decay(_graph(), learning_rate, global_step, decay_steps, decay_rate, staircase, name)


@from_extension(_weir.natural_exp_decay)
def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase, name):
    return _weir.natural_exp_decay(_graph(), learning_rate, global_step, decay_steps, decay_rate, staircase, name)


@from_extension(_weir.inverse_time_decay)
def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase, name):
    return _weir.inverse_time_decay(_graph(), learning_rate, global_step, decay_steps, decay_rate, staircase, name)


@from_extension(_weir.polynomial_decay)
def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate, power, cycle, name):
    return _weir.polynomial_decay(_graph(), learning_rate, global_step, decay_steps, end_learning_rate, power, cycle, name)


@from_extension(_weir.cosine_decay)
def cosine_decay(learning_rate, global_step, decay_steps, alpha, name):
    return _weir.cosine_decay(_graph(), learning_rate, global_step, decay_steps, alpha, name)


@from_extension(_weir.cosine_decay_restarts)
def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul, m_mul, alpha, name):
    """cosine_decay that begins again, ``t_mul`` times as long and from ``m_mul`` of the rate, when it has ended."""
    return _weir.cosine_decay_restarts(_graph(), learning_rate, global_step, first_decay_steps, t_mul, m_mul, alpha, name)


@from_extension(_weir.linear_cosine_decay)
def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods, alpha, beta, name):
    return _weir.linear_cosine_decay(_graph(), learning_rate, global_step, decay_steps, num_periods, alpha, beta, name=name)


@from_extension(_weir.linear_cosine_decay, initial_variance=1.0)  # linear_cosine_decay has no noise
def noisy_linear_cosine_decay(learning_rate, global_step, decay_steps, initial_variance, variance_decay, num_periods,
                              alpha, beta, name):
    return _weir.linear_cosine_decay(_graph(), learning_rate, global_step, decay_steps, num_periods, alpha, beta,
                                     initial_variance, variance_decay, name)


def piecewise_constant(x, boundaries, values, name=None):
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    return _weir.piecewise_constant(_graph(), x if _in_graph(x) else convert_to_tensor(x), list(boundaries), list(values),
                                    name)


piecewise_constant_decay = piecewise_constant


class ExponentialMovingAverage:
    """Moving averages of variables and tensors: ``apply(list)`` makes the update, ``average(var)`` gives one."""

    @from_extension(_weir.exponential_moving_average)
    def __init__(self, decay, num_updates, zero_debias, name):
        if isinstance(zero_debias, str):  # TensorFlow 0.x: (decay, num_updates, name)
            zero_debias, name = False, zero_debias
        self._name, self._zero_debias = name, bool(zero_debias)
        self._decay, self._num_updates = decay, num_updates
        self._graphs = {_graph()}  # whose nodes the averages are; they must outlive those
        self._impl = _weir.exponential_moving_average(_graph(), decay, num_updates, zero_debias, name)

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
        self._graphs.add(graph)
        return self._impl.apply(graph, list(var_list))

    def average(self, var):
        return self._impl.average(var)

    def average_name(self, var):
        return self._impl.average_name(var)

    def variables_to_restore(self, moving_avg_variables=None):
        return self._impl.variables_to_restore(_graph(), moving_avg_variables)


@from_extension(_weir.assign_moving_average)
def assign_moving_average(variable, value, decay, zero_debias, name):
    return _weir.assign_moving_average(variable, value, decay, zero_debias, name)


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
