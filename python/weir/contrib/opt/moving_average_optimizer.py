"""Keeps moving averages of what it trains, and savers that write these under the variables' names."""

from weir.core.graph import control_dependencies
from weir.core.variables import global_variables
from weir.ops.control_flow_ops import group
from weir.train.schedules import ExponentialMovingAverage
from weir.train.optimizer import Optimizer
from weir.train.saver import Saver


class MovingAverageOptimizer(Optimizer):
    def __init__(self, opt, average_decay=0.9999, num_updates=None, sequential_update=True):
        super().__init__(False, f"MovingAverage{type(opt).__name__}")
        self._wrapped = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential_update, self._swapped = sequential_update, None

    def compute_gradients(self, *args, **kwargs):
        return self._wrapped.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        train = self._wrapped.apply_gradients(pairs, global_step=global_step, name=name)
        trained = [variable for gradient, variable in pairs if gradient is not None]
        with control_dependencies([train] if self._sequential_update else []):
            averaged = self._ema.apply(trained)
        self._swapped = {}
        for variable in trained:
            average = self._ema.average(variable)
            self._swapped[variable.op.name] = average.op.name
            self._swapped[average.op.name] = variable.op.name
        return group(train, averaged, name="train_with_avg")

    def get_slot(self, *args, **kwargs):
        return self._wrapped.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._wrapped.get_slot_names(*args, **kwargs)

    def variables(self):
        return self._wrapped.variables()

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A saver for training: in its files averages have the names of the variables, and the other way round."""
        if self._swapped is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        var_list = global_variables() if var_list is None else var_list
        if not isinstance(var_list, dict):
            var_list = {variable.op.name: variable for variable in var_list}
        by_name = {part.op.name: part for value in var_list.values()
                   for part in (value if isinstance(value, (list, tuple)) else [value])}

        def swapped(variable):
            other = self._swapped.get(variable.op.name)
            if other is not None and other not in by_name:
                raise ValueError(f"Variable to swap {other} is not part of variables to save. This breaks "
                                 "MovingAverageOptimizer.")
            return variable if other is None else by_name[other]

        return Saver({key: [swapped(part) for part in value] if isinstance(value, (list, tuple)) else swapped(value)
                      for key, value in var_list.items()}, name=name, **kwargs)
