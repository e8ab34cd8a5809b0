"""Data parallelism: one model on several devices, with the same variables."""

import collections

from weir import _weir
from weir.core.graph import device, name_scope
from weir.core.stack import get_default_graph
from weir.core.variable_scope import get_variable_scope, variable_scope
from weir.ops.math_ops import add_n

Tower = collections.namedtuple("Tower", "index device scope")
Towers = collections.namedtuple("Towers", "losses loss gradients train")


def average_gradients(tower_grads):
    """[(gradient, variable)]: the mean of each over the towers, of which each gives what compute_gradients() gave."""
    return _weir.average_gradients(get_default_graph(), [list(grads) for grads in tower_grads])


def _variables_on(where):
    """A device function: variables that the scopes inside it do not place stand there."""
    return lambda op: where if op.type in ("VariableV2", "VarHandleOp") and not op.device else op.device


def towers(optimizer, devices, model, global_step=None, var_list=None, variable_device="/cpu:0", scope="tower",
           name=None):
    """Builds a model once for each device, averages the gradients and applies them.

    ``model(tower)`` builds the replica ``tower.index`` for ``tower.device``, inside the name scope ``tower.scope``
    ("tower_0/"), and returns its loss. Variables come from ``tf.get_variable``: the first tower makes them, the others
    share them; they stand on ``variable_device``, as does the averaging, unless the model places them. Returns Towers:
    ``losses`` of the towers, their mean ``loss``, the averaged ``gradients`` and the operation ``train`` that applies
    them. With equal batches and losses that are means over them, a step is that of one model with the joint batch.
    """
    devices = list(devices)
    if not devices:
        raise ValueError("there are no devices for towers")
    losses, tower_grads, variables = [], [], None
    with variable_scope(get_variable_scope()):
        for index, where in enumerate(devices):
            with device(where), device(_variables_on(variable_device)), name_scope(f"{scope}_{index}") as tower_scope:
                loss = model(Tower(index, where, tower_scope))
                if loss is None:
                    raise ValueError(f"the model of tower {index} gives no loss")
                # One that a tower makes for itself would be trained by its part of the batch alone, and unnoticed.
                made = get_default_graph().get_collection("trainable_variables")
                if variables is not None and len(made) != variables:
                    raise ValueError(f"tower {index} makes variables that the first does not have: {made[-1].name!r}; "
                                     "tf.get_variable shares")
                variables = len(made)
                get_variable_scope().reuse_variables()
                losses.append(loss)
                tower_grads.append(optimizer.compute_gradients(loss, var_list))
    with device(variable_device), name_scope("average_gradients"):
        loss = losses[0] if len(losses) == 1 else add_n(losses) / len(losses)
        gradients = average_gradients(tower_grads)
    return Towers(losses, loss, gradients, optimizer.apply_gradients(gradients, global_step, name))
