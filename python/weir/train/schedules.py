"""Learning rates that change with the step, and moving averages."""

from weir import _weir
from weir.framework.stack import get_default_graph as _graph


def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """``learning_rate * decay_rate ** (global_step / decay_steps)``; in whole steps with ``staircase``."""
    if global_step is None:
        raise ValueError("global_step is required for exponential_decay.")
    return _weir.exponential_decay(_graph(), learning_rate, global_step, decay_steps, decay_rate, bool(staircase), name)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    if global_step is None:
        raise ValueError("global_step is required for natural_exp_decay.")
    return _weir.natural_exp_decay(_graph(), learning_rate, global_step, decay_steps, decay_rate, bool(staircase), name)


def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    if global_step is None:
        raise ValueError("global_step is required for inverse_time_decay.")
    return _weir.inverse_time_decay(_graph(), learning_rate, global_step, decay_steps, decay_rate, bool(staircase), name)


def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                     name=None):
    if global_step is None:
        raise ValueError("global_step is required for polynomial_decay.")
    return _weir.polynomial_decay(_graph(), learning_rate, global_step, decay_steps, end_learning_rate, power,
                                  bool(cycle), name)


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    if global_step is None:
        raise ValueError("cosine decay requires global_step")
    return _weir.cosine_decay(_graph(), learning_rate, global_step, decay_steps, float(alpha), name)


def piecewise_constant(x, boundaries, values, name=None):
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    return _weir.piecewise_constant(_graph(), x, list(boundaries), list(values), name)


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
