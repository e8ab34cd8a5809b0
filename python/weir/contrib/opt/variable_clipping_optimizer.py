"""Clips what it trains: another optimizer's updates, then the norms of the variables."""

import contextlib

import weir as tf


class VariableClippingOptimizer(tf.train.Optimizer):
    """``vars_to_clip_dims`` says for each variable along which dimensions its norm is at most ``max_norm``."""

    def __init__(self, opt, vars_to_clip_dims, max_norm, use_locking=False, colocate_clip_ops_with_vars=False,
                 name="VariableClipping"):
        super().__init__(use_locking, name)
        self._wrapped, self._max_norm, self._colocate = opt, max_norm, colocate_clip_ops_with_vars
        self._dims = {variable: list(dims) for variable, dims in vars_to_clip_dims.items()}

    def compute_gradients(self, *args, **kwargs):
        return self._wrapped.compute_gradients(*args, **kwargs)

    def get_slot(self, *args, **kwargs):
        return self._wrapped.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._wrapped.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        with tf.name_scope(name, self._name) as scope:
            update = self._wrapped.apply_gradients(pairs, global_step=global_step)
            with tf.control_dependencies([update]):
                clips = [self._clip(grad, variable) for grad, variable in pairs
                         if grad is not None and variable in self._dims]
            return tf.group(update, *clips, name=scope)

    def _clip(self, grad, variable):
        dims = self._dims[variable]
        beside = tf.colocate_with(variable) if self._colocate else contextlib.nullcontext()
        with tf.name_scope("clip_" + variable.op.name), beside:
            if isinstance(grad, tf.IndexedSlices) and 0 not in dims:  # only the rows that were updated
                rows = tf.gather(variable, grad.indices)
                return tf.scatter_sub(variable, grad.indices, rows - tf.clip_by_norm(rows, self._max_norm, dims),
                                      use_locking=self._use_locking)
            value = variable.read_value()
            return variable.assign_sub(value - tf.clip_by_norm(value, self._max_norm, dims), use_locking=self._use_locking)
