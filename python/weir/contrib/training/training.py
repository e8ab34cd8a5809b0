"""Training steps with clipped, multiplied and summarised gradients, and the loop around them."""

from weir import logging, names, summary
from weir.core.graph import GraphKeys, add_to_collection, control_dependencies, convert_to_tensor, get_collection, name_scope
from weir.core.tensor import IndexedSlices
from weir.core.variables import trainable_variables
from weir.ops import array_ops, clip_ops, control_flow_ops
from weir.train import steps
from weir.train.optimizer import Optimizer

_USE_GLOBAL_STEP = 0


def _values(grad):
    return grad.values if isinstance(grad, IndexedSlices) else grad


def _with_values(grad, values):
    return IndexedSlices(values, grad.indices, grad.dense_shape) if isinstance(grad, IndexedSlices) else values


def _add_summaries(grads_and_vars, separator):
    made = []
    for grad, variable in grads_and_vars:
        if grad is None:
            logging.info("Var %s has no gradient", variable.op.name)
            continue
        made.append(summary.histogram(f"{variable.op.name}{separator}gradient", _values(grad)))
        made.append(summary.scalar(f"{variable.op.name}{separator}gradient_norm", clip_ops.global_norm([_values(grad)])))
    return made


def add_gradients_summaries(grads_and_vars):
    return _add_summaries(grads_and_vars, "_")


def clip_gradient_norms(gradients_to_variables, max_norm):
    """Each gradient by itself, to a norm of at most ``max_norm``."""
    return [(grad if grad is None else _with_values(grad, clip_ops.clip_by_norm(_values(grad), max_norm)), variable)
            for grad, variable in gradients_to_variables]


def clip_gradient_norms_fn(max_norm):
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def multiply_gradients(grads_and_vars, gradient_multipliers):
    """The gradients of some variables, found by themselves or by name, times a number."""
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    result = []
    for grad, variable in grads_and_vars:
        key = variable if variable in gradient_multipliers else variable.op.name
        if key in gradient_multipliers:
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = convert_to_tensor(gradient_multipliers[key], dtype=grad.dtype)
            grad = _with_values(grad, _values(grad) * factor)
        result.append((grad, variable))
    return result


def create_train_op(total_loss, optimizer, global_step=_USE_GLOBAL_STEP, update_ops=None, variables_to_train=None,
                    transform_grads_fn=None, summarize_gradients=False, gate_gradients=Optimizer.GATE_OP,
                    aggregation_method=None, colocate_gradients_with_ops=False, check_numerics=True):
    """A tensor, the loss, whose evaluation is a training step after the updates."""
    if global_step is _USE_GLOBAL_STEP:
        global_step = steps.get_or_create_global_step()
    collected = get_collection(GraphKeys.UPDATE_OPS)
    update_ops = list(dict.fromkeys(collected if update_ops is None else update_ops))
    if not set(collected) <= set(update_ops):
        logging.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if update_ops:
        with control_dependencies(update_ops):
            barrier = control_flow_ops.no_op(name="update_barrier")
        total_loss = control_flow_ops.with_dependencies([barrier], total_loss)
    known = trainable_variables()
    if variables_to_train is None:
        variables_to_train = known
    assert variables_to_train and all(variable in known for variable in variables_to_train)
    grads = optimizer.compute_gradients(total_loss, variables_to_train, gate_gradients=gate_gradients,
                                        aggregation_method=aggregation_method,
                                        colocate_gradients_with_ops=colocate_gradients_with_ops)
    if transform_grads_fn:
        grads = transform_grads_fn(grads)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(grads)
    update = optimizer.apply_gradients(grads, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = array_ops.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = control_flow_ops.with_dependencies([update], total_loss)
    if train_op not in get_collection(GraphKeys.TRAIN_OP):
        add_to_collection(GraphKeys.TRAIN_OP, train_op)
    return train_op


def train(train_op, logdir, master="", is_chief=True, scaffold=None, hooks=None, chief_only_hooks=None,
          save_checkpoint_secs=600, save_summaries_steps=100, config=None, max_wait_secs=7200, run_metadata=None):
    """Runs ``train_op`` in a monitored session until a hook ends it; gives the last loss."""
    if logdir is None and is_chief:
        for name, value in (("save_summaries_steps", save_summaries_steps),
                            ("save_checkpoint_secs", save_checkpoint_secs)):
            if value:
                raise ValueError(f"logdir cannot be None when {name} is not None")
    monitored = names.find("tf.train.MonitoredTrainingSession")
    with monitored(master=master, is_chief=is_chief, checkpoint_dir=logdir, scaffold=scaffold, hooks=hooks,
                   chief_only_hooks=chief_only_hooks, save_checkpoint_secs=save_checkpoint_secs,
                   save_summaries_steps=save_summaries_steps, config=config, max_wait_secs=max_wait_secs) as session:
        loss = None
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
