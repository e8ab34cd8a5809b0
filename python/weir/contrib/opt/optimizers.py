"""AddSign, PowerSign, and the relatives of Adam; weight decay apart from the gradient."""

import math

from weir import _weir
from weir.core.defaults import from_extension
from weir.core.graph import control_dependencies
from weir.core.op_functions import raw_ops
from weir.ops import array_ops, math_ops, state_ops
from weir.ops.clip_ops import clip_by_global_norm, global_norm
from weir.ops.control_flow_ops import cond, no_op
from weir.train.optimizer import AdamOptimizer, MomentumOptimizer, Optimizer
from weir.train.optimizer import _value


class _SignOptimizer(Optimizer):
    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        if self._sign_decay_fn is not None:
            self._sign_decay = self._sign_decay_fn(global_step)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)


class AddSignOptimizer(_SignOptimizer):
    def __init__(self, learning_rate=0.1, alpha=1.0, beta=0.9, sign_decay_fn=None, use_locking=False,
                 name="AddSignOptimizer"):
        super().__init__(use_locking, name)
        self._learning_rate, self._alpha, self._beta = learning_rate, alpha, beta
        self._sign_decay_fn, self._sign_decay = sign_decay_fn, 1.0

    def _make(self, graph):
        return _weir.add_sign(graph, _value(self._learning_rate), _value(self._alpha), _value(self._beta), self._sign_decay,
                              self._name)


class PowerSignOptimizer(_SignOptimizer):
    def __init__(self, learning_rate=0.1, base=math.e, beta=0.9, sign_decay_fn=None, use_locking=False,
                 name="PowerSignOptimizer"):
        super().__init__(use_locking, name)
        self._learning_rate, self._base, self._beta = learning_rate, base, beta
        self._sign_decay_fn, self._sign_decay = sign_decay_fn, 1.0

    def _make(self, graph):
        return _weir.power_sign(graph, _value(self._learning_rate), float(self._base), _value(self._beta), self._sign_decay,
                                self._name)


class AdaMaxOptimizer(AdamOptimizer):
    @from_extension(_weir.ada_max, use_locking=False)
    def __init__(self, learning_rate, beta1, beta2, epsilon, use_locking, name):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _make(self, graph):
        return _weir.ada_max(graph, _value(self._lr), _value(self._beta1), _value(self._beta2), _value(self._epsilon),
                             self._name)

    def _get_beta_accumulators(self):
        return self._get_non_slot_variable("beta1_power")


class NadamOptimizer(AdamOptimizer):
    def _make(self, graph):
        return _weir.nadam(graph, _value(self._lr), _value(self._beta1), _value(self._beta2), _value(self._epsilon),
                           self._name)


class LazyAdamOptimizer(AdamOptimizer):
    def _make(self, graph):
        return _weir.lazy_adam(graph, _value(self._lr), _value(self._beta1), _value(self._beta2), _value(self._epsilon),
                               self._name)


class DecoupledWeightDecayExtension:
    """Takes a part of each weight away before its update (Loshchilov and Hutter, 2017). Stands before an optimizer."""

    def __init__(self, weight_decay, **kwargs):
        self._weight_decay, self._decay_var_list = weight_decay, None
        super().__init__(**kwargs)

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None, decay_var_list=None):
        pairs = self.compute_gradients(loss, var_list=var_list, gate_gradients=gate_gradients,
                                       aggregation_method=aggregation_method,
                                       colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        return self.apply_gradients(pairs, global_step=global_step, name=name, decay_var_list=decay_var_list)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        pairs = list(grads_and_vars)
        chosen = None if not decay_var_list else {id(v) for v in decay_var_list}
        decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        # Weights decay after all gradients are known.
        grads = [g for g, _ in pairs if g is not None]
        with control_dependencies([getattr(g, "values", g) for g in grads]):
            decays = [self._decayed(decay, grad, variable) for grad, variable in pairs
                      if grad is not None and (chosen is None or id(variable) in chosen)]
        with control_dependencies(decays):
            return super().apply_gradients(pairs, global_step=global_step, name=name)

    def _decayed(self, decay, grad, variable):
        factor = math_ops.cast(decay, variable.dtype.base_dtype)
        if hasattr(grad, "indices"):  # only the rows that are updated
            rows = array_ops.unique(grad.indices)[0]
            return state_ops.scatter_sub(variable, rows, factor * array_ops.gather(variable, rows))
        return variable.assign_sub(factor * variable, use_locking=self._use_locking)


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    def __init__(self, weight_decay, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False,
                 name="AdamW"):
        super().__init__(weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
                         use_locking=use_locking, name=name)


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    def __init__(self, weight_decay, learning_rate, momentum, use_locking=False, name="MomentumW", use_nesterov=False):
        super().__init__(weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking, name=name,
                         use_nesterov=use_nesterov)


def extend_with_decoupled_weight_decay(base_optimizer):
    """A class that is ``base_optimizer`` with weight decay as its first parameter."""
    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        def __init__(self, weight_decay, *args, **kwargs):
            base_optimizer.__init__(self, *args, **kwargs)
            self._weight_decay = weight_decay

    return OptimizerWithDecoupledWeightDecay


def _is_all_zeros(grad):
    return math_ops.equal(math_ops.count_nonzero(getattr(grad, "values", grad)), 0)


def clip_gradients_by_global_norm(gradients_variables, clip_norm=20.0):
    """The clipped pairs, and the norm; gradients that are zero throughout have no part in it."""
    gradients, variables = zip(*gradients_variables)
    norm = global_norm(gradients)
    clipped, _ = clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm


class MultitaskOptimizerWrapper:
    """An optimizer that leaves a variable and its slots alone when its gradient is zero throughout: a task that had no part
    in the batch. What it lacks is asked of the optimizer."""

    def __init__(self, opt):
        if not isinstance(opt, Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        # The steps are looked up in the class of an optimizer.
        opt.__class__ = type(type(opt).__name__, (_SkipsZeros, type(opt)), {})
        self._opt = opt

    def __getattr__(self, name):
        return getattr(self._opt, name)


def _unless_zero(grad, update):
    def run():
        with control_dependencies([update()]):
            return no_op()

    return cond(_is_all_zeros(grad), no_op, run)


class _SkipsZeros:
    def _apply_dense(self, grad, var):
        return _unless_zero(grad, lambda: super(_SkipsZeros, self)._apply_dense(grad, var))

    def _resource_apply_dense(self, grad, handle):
        return _unless_zero(grad, lambda: super(_SkipsZeros, self)._resource_apply_dense(grad, handle))

    def _apply_sparse(self, grad, var):
        return _unless_zero(grad, lambda: super(_SkipsZeros, self)._apply_sparse(grad, var))

    def _resource_apply_sparse(self, grad, handle, indices):
        return _unless_zero(grad, lambda: super(_SkipsZeros, self)._resource_apply_sparse(grad, handle, indices))


class LARSOptimizer(MomentumOptimizer):
    """Momentum with a learning rate for each variable by the ratio of its norm to its gradient's (You et al., 2017)."""

    def __init__(self, learning_rate, momentum=0.9, weight_decay=0.0001, eeta=0.001, epsilon=0.0, name="LARSOptimizer",
                 skip_list=None, use_nesterov=False):
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(learning_rate, momentum, use_locking=False, name=name, use_nesterov=use_nesterov)
        self._weight_decay, self._eeta, self._lars_epsilon = weight_decay, eeta, epsilon
        self._skip_list = skip_list

    def compute_lr(self, grad, var):
        """The rate and the gradient for a variable; those of ``skip_list`` keep theirs."""
        rate = self._learning_rate
        if self._skip_list is None or not any(part in var.name for part in self._skip_list):
            weight, slope = math_ops.norm(var, ord=2), math_ops.norm(grad, ord=2)
            ratio = self._eeta * weight / (slope + self._weight_decay * weight + self._lars_epsilon)
            ones = array_ops.ones_like(ratio)
            rate = rate * array_ops.where(math_ops.logical_and(weight > 0, slope > 0), ratio, ones)
            grad = grad + self._weight_decay * var
        return rate, grad

    def _apply_dense(self, grad, var):
        rate, grad = self.compute_lr(grad, var)
        slot = self.get_slot(var, "momentum")
        kind = {"ResourceApplyMomentum": (var.handle, slot.handle)} if var._is_resource else {"ApplyMomentum": (var, slot)}
        for name, (to, momentum) in kind.items():
            return getattr(raw_ops, name)(var=to, accum=momentum, lr=math_ops.cast(1.0, grad.dtype), grad=grad * rate,
                                          momentum=math_ops.cast(_value(self._momentum), grad.dtype),
                                          use_locking=False, use_nesterov=self._use_nesterov)

    _resource_apply_dense = _apply_dense
