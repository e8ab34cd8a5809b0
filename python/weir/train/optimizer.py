"""Optimizers: names and arguments; the work is C++."""

from weir import _weir
from weir.framework.graph import Tensor
from weir.framework.stack import get_default_graph as _graph
from weir.framework.variables import Variable
from weir.ops.gradients import AggregationMethod


class Optimizer:
    """Minimises a loss: ``minimize``, or ``compute_gradients`` and ``apply_gradients`` with something in between."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name, self._impl = use_locking, name, None

    def get_name(self):
        return self._name

    def _make(self, graph):
        """The C++ optimizer; each subclass says which."""
        raise NotImplementedError(f"{type(self).__name__} must define _make()")

    def _optimizer(self):
        if self._impl is None:
            self._impl = self._make(_graph())
        return self._impl

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
                                       grad_loss)
        if not any(gradient is not None for gradient, _ in pairs):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             f"gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(f"gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             f"Optimizer.GATE_GRAPH.  Not {gate_gradients}")
        if callable(loss) and not isinstance(loss, (Tensor, Variable)):
            loss = loss()
        if var_list is not None:
            var_list = [var_list] if isinstance(var_list, Variable) else list(_flat(var_list))
        graph = loss.graph
        if not (graph.get_collection("trainable_variables") if var_list is None else var_list):
            raise ValueError("No variables to optimize.")
        return self._optimizer().compute_gradients(loss, var_list, grad_loss, bool(colocate_gradients_with_ops),
                                                   gate_gradients)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = [tuple(pair) for pair in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        if not any(gradient is not None for gradient, _ in pairs):
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        return self._optimizer().apply_gradients(_graph(), pairs, global_step, name)

    def get_slot(self, var, name):
        return self._optimizer().get_slot(var, name)

    def get_slot_names(self):
        return self._optimizer().get_slot_names()

    def variables(self):
        return self._optimizer().variables()


def _flat(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _flat(item)
        else:
            yield item


def _value(number):
    """Numbers of numpy as Python's, which take the variables' type; functions called."""
    if callable(number) and not isinstance(number, (Tensor, Variable)):
        number = number()
    return number.item() if hasattr(number, "item") and getattr(number, "ndim", 0) == 0 else number


class GradientDescentOptimizer(Optimizer):
    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _make(self, graph):
        return _weir.gradient_descent(graph, _value(self._learning_rate), self._name)


class MomentumOptimizer(Optimizer):
    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _make(self, graph):
        return _weir.momentum(graph, _value(self._learning_rate), _value(self._momentum), self._use_nesterov, self._name)


class AdamOptimizer(Optimizer):
    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _make(self, graph):
        return _weir.adam(graph, _value(self._lr), _value(self._beta1), _value(self._beta2), _value(self._epsilon),
                          self._name)


class AdagradOptimizer(Optimizer):
    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value

    def _make(self, graph):
        return _weir.adagrad(graph, _value(self._learning_rate), self._initial, self._name)


class RMSPropOptimizer(Optimizer):
    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 name="RMSProp"):
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = bool(centered)

    def _make(self, graph):
        return _weir.rms_prop(graph, _value(self._learning_rate), _value(self._decay), _value(self._momentum),
                              _value(self._epsilon), self._centered, self._name)


class AdadeltaOptimizer(Optimizer):
    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _make(self, graph):
        return _weir.adadelta(graph, _value(self._lr), _value(self._rho), _value(self._epsilon), self._name)


class FtrlOptimizer(Optimizer):
    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="Ftrl",
                 accum_name=None, linear_name=None, l2_shrinkage_regularization_strength=0.0):
        super().__init__(use_locking, name)
        self._learning_rate, self._power, self._initial = learning_rate, learning_rate_power, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage = l2_shrinkage_regularization_strength

    def _make(self, graph):
        return _weir.ftrl(graph, _value(self._learning_rate), self._power, self._initial, self._l1, self._l2,
                          self._shrinkage, self._name)


class ProximalGradientDescentOptimizer(Optimizer):
    def __init__(self, learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 use_locking=False, name="ProximalGradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _make(self, graph):
        return _weir.proximal_gradient_descent(graph, _value(self._learning_rate), self._l1, self._l2, self._name)


class ProximalAdagradOptimizer(Optimizer):
    def __init__(self, learning_rate, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False, name="ProximalAdagrad"):
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _make(self, graph):
        return _weir.proximal_adagrad(graph, _value(self._learning_rate), self._initial, self._l1, self._l2, self._name)


class AdagradDAOptimizer(Optimizer):
    def __init__(self, learning_rate, global_step, initial_gradient_squared_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="AdagradDA"):
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _make(self, graph):
        return _weir.adagrad_da(graph, _value(self._learning_rate), self._global_step, self._initial, self._l1,
                                self._l2, self._name)


__all__ = ["AdadeltaOptimizer", "AdagradDAOptimizer", "FtrlOptimizer", "ProximalAdagradOptimizer",
           "ProximalGradientDescentOptimizer", "AdagradOptimizer", "AdamOptimizer", "AggregationMethod", "GradientDescentOptimizer", "MomentumOptimizer",
           "Optimizer", "RMSPropOptimizer"]
