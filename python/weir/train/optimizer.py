"""Optimizers: names and arguments; the work is C++."""

import weakref

from weir import _weir
from weir.core.defaults import from_extension
from weir.core.graph import GraphKeys, IndexedSlices, Tensor, control_dependencies, convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.variables import Variable
from weir.distribute.context import _replicas
from weir.ops.control_flow_ops import no_op
from weir.ops.gradients import gradients


def _constrained(variable, sparse, update):
    """What stands for a variable's update: the update, or the constraint that follows it."""
    if variable.constraint is None:
        return update
    if sparse:
        raise RuntimeError("Cannot use a constraint function on a sparse variable.")
    with control_dependencies([update]):
        return variable.assign(variable.constraint(variable if variable._is_resource else variable.read_value()))


class Optimizer:
    """Minimises a loss: ``minimize``, or ``compute_gradients`` and ``apply_gradients`` with something in between.

    A class of a program's own derives from this one, or from an optimizer, and defines the steps that it wants to do
    itself: ``_create_slots``, ``_prepare``, ``_apply_dense`` and its like, ``_finish``. C++ calls them in that order.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    _STEPS = ("_create_slots", "_prepare", "_apply_dense", "_resource_apply_dense", "_apply_sparse",
              "_resource_apply_sparse", "_apply_sparse_duplicate_indices", "_resource_apply_sparse_duplicate_indices",
              "_finish")

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name

    def get_name(self):
        return self._name

    def _make(self, graph):
        """The C++ optimizer; each subclass says which. None when a program's class does every step."""
        return None

    @property
    def _impls(self):
        """The C++ optimizers by graph: slots and other state belong to one."""
        impls = self.__dict__.get("_impls_by_graph")
        if impls is None:
            impls = self.__dict__["_impls_by_graph"] = weakref.WeakKeyDictionary()
        return impls

    def _optimizer(self, graph):
        impl = self._impls.get(graph)
        if impl is None:
            impl = self._make(graph)
            if impl is not None:
                impl.set_use_locking(bool(self._use_locking))
            own = {step for step in self._STEPS if getattr(type(self), step) is not getattr(Optimizer, step)}
            if impl is None or own:
                impl = _weir.program_optimizer(self, self._name, impl, own)
            self._impls[graph] = impl
        return impl

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        # By name, as in TensorFlow: classes of programs may take them in another order, or as **kwargs.
        pairs = self.compute_gradients(loss, var_list=var_list, gate_gradients=gate_gradients,
                                       aggregation_method=aggregation_method,
                                       colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        if not any(gradient is not None for gradient, _ in pairs):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             f"gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(f"gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             f"Optimizer.GATE_GRAPH.  Not {gate_gradients}")
        if callable(loss) and not isinstance(loss, (Tensor, Variable)):
            loss = loss()
        if not isinstance(loss, (Tensor, Variable, IndexedSlices)):
            loss = convert_to_tensor(loss)  # an object of a library that stands for a tensor
        if var_list is not None:
            var_list = [var_list] if isinstance(var_list, (Tensor, Variable)) else list(_flat(var_list))
        graph = loss.graph
        if not (graph.get_collection("trainable_variables") if var_list is None else var_list):
            raise ValueError("No variables to optimize.")
        if var_list is not None and any(isinstance(item, Tensor) for item in var_list):
            found = gradients(loss, var_list, None if grad_loss is None else [grad_loss],
                              colocate_gradients_with_ops=bool(colocate_gradients_with_ops))
            return list(zip(found, var_list))
        return self._optimizer(graph).compute_gradients(loss, var_list, grad_loss, bool(colocate_gradients_with_ops),
                                                        gate_gradients)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = [tuple(pair) for pair in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        for gradient, variable in pairs:
            if gradient is not None and isinstance(variable, Tensor):
                raise NotImplementedError(f"Trying to update a Tensor {variable}")
        if not any(gradient is not None for gradient, _ in pairs):
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        if _replicas() is not None:  # of a strategy: the last one applies the gradients of all
            pairs = _replicas().gradients(pairs)
            if pairs is None:
                return no_op(name=name)
        graph = next((v.graph for _, v in pairs if isinstance(v, Variable)), None) or _graph()
        constrained = any(getattr(variable, "constraint", None) is not None for _, variable in pairs)
        return self._optimizer(graph).apply_gradients(graph, [(_gradient(g), v) for g, v in pairs], global_step, name,
                                                      _constrained if constrained else None)

    def get_slot(self, var, name):
        impl = self._impls.get(var.graph)
        return None if impl is None else impl.get_slot(var, name)

    def get_slot_names(self):
        impl = self._impls.get(_graph())
        return [] if impl is None else impl.get_slot_names()

    @property
    def _slots(self):
        """The slots by their names and by (graph, name) of the variables that they belong to."""
        return {name: self._slot_dict(name) for name in self.get_slot_names()}

    def _slot_dict(self, slot_name):
        graph = _graph()
        variables = dict.fromkeys(graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
                                  + graph.get_collection(GraphKeys.GLOBAL_VARIABLES))
        slots = ((variable, self.get_slot(variable, slot_name)) for variable in variables)
        return {(graph, variable.op.name): slot for variable, slot in slots if slot is not None}

    def variables(self):
        impl = self._impls.get(_graph())
        return [] if impl is None else sorted(impl.variables(), key=lambda v: v.op.name)

    # The steps, as they are when a program's class does not define them.

    def _base_step(self, step, first=None, second=None):
        graph = _graph()
        return self._optimizer(graph).base_step(step, graph, first, second)

    def _create_slots(self, var_list):
        if self._extends():
            self._base_step("create_slots", list(var_list))

    def _prepare(self):
        if self._extends():
            self._base_step("prepare")

    def _apply_dense(self, grad, var):
        return self._base_step("apply_dense", grad, var)

    _resource_apply_dense = _apply_dense

    def _apply_sparse(self, grad, var):
        return self._base_step("apply_sparse", grad, var)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._base_step("apply_sparse", IndexedSlices(grad, indices), handle)

    def _apply_sparse_duplicate_indices(self, grad, var):
        return self._base_step("apply_sparse_duplicate_indices", grad, var)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        return self._base_step("apply_sparse_duplicate_indices", IndexedSlices(grad, indices), handle)

    def _finish(self, update_ops, name_scope):
        if self._extends():
            return self._base_step("finish", list(update_ops), name_scope)
        return _graph()._group(list(update_ops), name_scope)

    def _extends(self):
        """Whether there is a C++ optimizer below."""
        return type(self)._make is not Optimizer._make

    # What the steps of a program's class call.

    def _zeros_slot(self, var, slot_name, op_name):
        return self._optimizer(var.graph).make_slot(var, None, slot_name, op_name)

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        return self._optimizer(var.graph).make_slot(var, val, slot_name, op_name)

    def _get_or_make_slot_with_initializer(self, var, initializer, shape, dtype, slot_name, op_name):
        return self._get_or_make_slot(var, initializer(shape.as_list(), dtype=dtype), slot_name, op_name)

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        return self._optimizer(colocate_with.graph).make_non_slot(initial_value, name, colocate_with)

    def _get_non_slot_variable(self, name, graph=None):
        graph = _graph() if graph is None else graph
        impl = self._impls.get(graph)
        return None if impl is None else impl.get_non_slot(name, graph)

    def _call_if_callable(self, param):
        return param() if callable(param) else param

    def _assert_valid_dtypes(self, tensors):
        for tensor in tensors:
            if not tensor.dtype.base_dtype.is_floating:
                raise ValueError(f"Invalid type {tensor.dtype.base_dtype!r} for {tensor.name}, expected a float.")


def _gradient(gradient):
    """A gradient as a tensor, or what stands for one."""
    if gradient is None or isinstance(gradient, (Tensor, Variable, IndexedSlices)):
        return gradient
    try:
        return convert_to_tensor(gradient)
    except (TypeError, ValueError):
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {gradient}") from None


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
    @from_extension(_weir.gradient_descent, use_locking=False)
    def __init__(self, learning_rate, use_locking, name):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _make(self, graph):
        return _weir.gradient_descent(graph, _value(self._learning_rate), self._name)


class MomentumOptimizer(Optimizer):
    @from_extension(_weir.momentum, use_locking=False)
    def __init__(self, learning_rate, momentum, use_locking, name, use_nesterov):
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _make(self, graph):
        return _weir.momentum(graph, _value(self._learning_rate), _value(self._momentum), self._name, self._use_nesterov)


class AdamOptimizer(Optimizer):
    @from_extension(_weir.adam, use_locking=False)
    def __init__(self, learning_rate, beta1, beta2, epsilon, use_locking, name):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _make(self, graph):
        return _weir.adam(graph, _value(self._lr), _value(self._beta1), _value(self._beta2), _value(self._epsilon),
                          self._name)

    def _get_beta_accumulators(self):
        return self._get_non_slot_variable("beta1_power"), self._get_non_slot_variable("beta2_power")


class AdagradOptimizer(Optimizer):
    @from_extension(_weir.adagrad, use_locking=False)
    def __init__(self, learning_rate, initial_accumulator_value, use_locking, name):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value

    def _make(self, graph):
        return _weir.adagrad(graph, _value(self._learning_rate), self._initial, self._name)


class RMSPropOptimizer(Optimizer):
    @from_extension(_weir.rms_prop, use_locking=False)
    def __init__(self, learning_rate, decay, momentum, epsilon, use_locking, centered, name):
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = centered

    def _make(self, graph):
        return _weir.rms_prop(graph, _value(self._learning_rate), _value(self._decay), _value(self._momentum),
                              _value(self._epsilon), self._centered, self._name)


class AdadeltaOptimizer(Optimizer):
    @from_extension(_weir.adadelta, use_locking=False)
    def __init__(self, learning_rate, rho, epsilon, use_locking, name):
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _make(self, graph):
        return _weir.adadelta(graph, _value(self._lr), _value(self._rho), _value(self._epsilon), self._name)


class FtrlOptimizer(Optimizer):
    @from_extension(_weir.ftrl, use_locking=False)
    def __init__(self, learning_rate, learning_rate_power, initial_accumulator_value, l1_regularization_strength,
                 l2_regularization_strength, use_locking, name, accum_name, linear_name,
                 l2_shrinkage_regularization_strength):
        super().__init__(use_locking, name)
        if learning_rate_power > 0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        for argument, value in (("initial_accumulator_value", initial_accumulator_value),
                                ("l1_regularization_strength", l1_regularization_strength),
                                ("l2_regularization_strength", l2_regularization_strength),
                                ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)):
            if value < 0:
                raise ValueError(f"{argument} {value} needs to be positive or zero")
        self._learning_rate, self._power, self._initial = learning_rate, learning_rate_power, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage = l2_shrinkage_regularization_strength
        self._accum_name, self._linear_name = accum_name, linear_name

    def _make(self, graph):
        return _weir.ftrl(graph, _value(self._learning_rate), self._power, self._initial, self._l1, self._l2,
                          self._name, self._accum_name, self._linear_name, self._shrinkage)


class ProximalGradientDescentOptimizer(Optimizer):
    @from_extension(_weir.proximal_gradient_descent, use_locking=False)
    def __init__(self, learning_rate, l1_regularization_strength, l2_regularization_strength, use_locking, name):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _make(self, graph):
        return _weir.proximal_gradient_descent(graph, _value(self._learning_rate), self._l1, self._l2, self._name)


class ProximalAdagradOptimizer(Optimizer):
    @from_extension(_weir.proximal_adagrad, use_locking=False)
    def __init__(self, learning_rate, initial_accumulator_value, l1_regularization_strength,
                 l2_regularization_strength, use_locking, name):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _make(self, graph):
        return _weir.proximal_adagrad(graph, _value(self._learning_rate), self._initial, self._l1, self._l2, self._name)


class AdagradDAOptimizer(Optimizer):
    @from_extension(_weir.adagrad_da, use_locking=False)
    def __init__(self, learning_rate, global_step, initial_gradient_squared_accumulator_value,
                 l1_regularization_strength, l2_regularization_strength, use_locking, name):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: "
                             f"{initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _make(self, graph):
        return _weir.adagrad_da(graph, _value(self._learning_rate), self._global_step, self._initial, self._l1,
                                self._l2, self._name)
