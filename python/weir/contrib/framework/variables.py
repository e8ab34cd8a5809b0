"""Variables by name and kind, and their values from elsewhere."""

import functools
import re

from weir import logging
from weir.contrib.framework.arg_scopes import add_arg_scope
from weir.core import dtypes
from weir.core.device import DeviceSpec
from weir.core.graph import (GraphKeys, add_to_collection, control_dependencies, device as device_scope,
                             get_collection)
from weir.core.variable_scope import VariableScope, get_variable, get_variable_scope
from weir.core.variables import Variable, is_variable_initialized
from weir.ops import array_ops, control_flow_ops, math_ops, state_ops
from weir.train import steps
from weir.train.checkpoints import CheckpointReader
from weir.train.saver import Saver


@add_arg_scope
def variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
             caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None,
             synchronization=None, aggregation=None):
    """get_variable, on a device and in these collections; ``custom_getter`` takes the place of get_variable."""
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(dict.fromkeys(collections))
    getter = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    with device_scope(device or ""):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                      trainable=trainable, collections=collections, caching_device=caching_device,
                      partitioner=partitioner, use_resource=use_resource, synchronization=synchronization,
                      aggregation=aggregation)


@add_arg_scope
def model_variable(name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, trainable=True,
                   collections=None, caching_device=None, device=None, partitioner=None, custom_getter=None,
                   use_resource=None, synchronization=None, aggregation=None):
    """A variable of the model: one that is there for inference, too."""
    collections = list(collections or []) + [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                    trainable=trainable, collections=collections, caching_device=caching_device, device=device,
                    partitioner=partitioner, custom_getter=custom_getter, use_resource=use_resource,
                    synchronization=synchronization, aggregation=aggregation)


def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    return Variable(initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                    validate_shape=validate_shape, name=name, use_resource=use_resource)


def global_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    return Variable(initial_value, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
                    validate_shape=validate_shape, name=name, use_resource=use_resource)


def add_model_variable(var):
    if var not in get_collection(GraphKeys.MODEL_VARIABLES):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def zero_initializer(ref, use_locking=True, name="zero_initializer"):
    """Sets a variable that has no value yet to zeros."""
    unset = math_ops.logical_not(is_variable_initialized(ref))
    with control_dependencies([control_flow_ops.Assert(unset, ["input is already initialized"])]):
        return state_ops.assign(ref, array_ops.zeros(ref.get_shape(), ref.dtype.base_dtype), name=name)


# Finding them.


def get_variables(scope=None, suffix=None, collection=GraphKeys.GLOBAL_VARIABLES):
    """Those whose names begin with ``scope``, a regular expression, and end with ``suffix``."""
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = (scope or "") + ".*" + (suffix if ":" in suffix else suffix + ":")
    return get_collection(collection, scope)


def get_model_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix, scope=None):
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name, scope=None):
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name):
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variables_to_restore(include=None, exclude=None):
    """Those in the scopes ``include`` (all by default) and in none of ``exclude``."""
    for argument, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{argument} is provided but is not a list or a tuple.")
    chosen = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    left_out = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in chosen if id(v) not in left_out]


def filter_variables(var_list, include_patterns=None, exclude_patterns=None, reg_search=True):
    found = re.search if reg_search else re.match

    def matches(variable_, patterns):
        return any(found(pattern, variable_.name) for pattern in patterns)

    chosen = list(var_list)
    if include_patterns is not None:
        chosen = [v for v in chosen if matches(v, include_patterns)]
    if exclude_patterns is not None:
        chosen = [v for v in chosen if not matches(v, exclude_patterns)]
    return chosen


def get_variable_full_name(var):
    """The name under which a variable is saved."""
    info = getattr(var, "_save_slice_info", None)
    return info.full_name if info else var.op.name


def assert_or_get_global_step(graph=None, global_step_tensor=None):
    if global_step_tensor is None:
        return steps.get_global_step(graph)
    steps.assert_global_step(global_step_tensor)
    return global_step_tensor


# Their values.


def _assignment(var, value):
    """(operation that sets a variable from a placeholder, placeholder, value)."""
    given = array_ops.placeholder(dtype=var.dtype.base_dtype, shape=var.get_shape(), name=f"placeholder/{var.op.name}")
    return var.assign(given), given, value


def _grouped(assignments):
    operation = control_flow_ops.group(*[assign for assign, _, _ in assignments])
    return operation, {given: value for _, given, value in assignments}


def assign_from_values(var_names_to_values):
    """(operation, feed) that set variables, found by name, to values."""
    assignments = []
    for name, value in var_names_to_values.items():
        found = get_collection(GraphKeys.GLOBAL_VARIABLES, name)
        if not found:
            raise ValueError(f"Variable {name} wasn't found")
        if len(found) > 1:
            found = [v for v in found if v.op.name == name]
            if not found:
                raise ValueError(f"Variable {name} doesn't uniquely identify a variable")
        assignments.append(_assignment(found[0], value.reshape(found[0].get_shape().as_list())))
    return _grouped(assignments)


def assign_from_values_fn(var_names_to_values):
    operation, feed = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feed)


def assign_from_checkpoint(model_path, var_list, ignore_missing_vars=False):
    """(operation, feed) that set variables to their values in a checkpoint."""
    if isinstance(var_list, (tuple, list)):
        wanted = {}
        for var in var_list:
            wanted.setdefault(get_variable_full_name(var), []).append(var)
    else:
        wanted = {name: value if isinstance(value, (tuple, list)) else [value] for name, value in var_list.items()}
    reader = CheckpointReader(model_path)
    assignments = []
    for name, variables in wanted.items():
        if not reader.has_tensor(name):
            if not ignore_missing_vars:
                raise ValueError(f"Checkpoint is missing variable [{name}]")
            logging.warning("Checkpoint is missing variable [%s]", name)
            continue
        value = reader.get_tensor(name)
        for var in variables:
            info, part = getattr(var, "_save_slice_info", None), value
            if info:
                part = value[tuple(slice(start, start + size) for start, size in zip(info.var_offset, info.var_shape))]
            elif tuple(var.get_shape().as_list()) != value.shape:
                raise ValueError(f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], "
                                 f"rh_shape: [{var.get_shape()}]")
            assignments.append(_assignment(var, part))
    return _grouped(assignments)


def assign_from_checkpoint_fn(model_path, var_list, ignore_missing_vars=False, reshape_variables=False):
    """A function of a session that sets variables to their values in a checkpoint."""
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = CheckpointReader(model_path)
        wanted = var_list if isinstance(var_list, dict) else {var.op.name: var for var in var_list}
        for name in wanted:
            if not reader.has_tensor(name):
                logging.warning("Variable %s missing in checkpoint %s", name, model_path)
        var_list = {name: var for name, var in wanted.items() if reader.has_tensor(name)}
        if not var_list:
            logging.warning("No Variables to restore")
            return None
    saver = Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


class VariableDeviceChooser:
    """A device function that spreads variables over the tasks of parameter servers."""

    def __init__(self, num_tasks=0, job_name="ps", device_type="CPU", device_index=0, replica=None):
        self._job_name, self._device_type, self._device_index = job_name, device_type, device_index
        self._replica, self._num_tasks, self._next_task_id = replica, num_tasks, 0

    def __call__(self, op):
        place = dict(replica=self._replica, device_type=self._device_type, device_index=self._device_index)
        if self._num_tasks > 0:
            place.update(job=self._job_name, task=self._next_task_id)
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        return DeviceSpec(**place).to_string()
