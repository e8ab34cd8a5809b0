"""tf.contrib.framework: variables by name and kind."""

import re as _re

from weir import names as _names
from weir.core.graph import (GraphKeys as _GraphKeys, add_to_collection as _add, device as _device_scope,
                             get_collection as _collection)
from weir.core.variable_scope import get_variable as _get_variable
from weir.core.variables import Variable as _Variable


def variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
             caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None,
             synchronization=None, aggregation=None):
    collections = list(collections if collections is not None else [_GraphKeys.GLOBAL_VARIABLES])
    if _GraphKeys.GLOBAL_VARIABLES not in collections and _GraphKeys.LOCAL_VARIABLES not in collections:
        collections.append(_GraphKeys.GLOBAL_VARIABLES)
    with _device_scope(device or ""):
        return _get_variable(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                             trainable=trainable, collections=collections, use_resource=use_resource,
                             custom_getter=custom_getter, partitioner=partitioner)


def model_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
                   **kwargs):
    collections = list(collections or []) + [_GraphKeys.GLOBAL_VARIABLES, _GraphKeys.MODEL_VARIABLES]
    return variable(name, shape, dtype, initializer, regularizer, trainable, collections, **kwargs)


def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    return _Variable(initial_value, trainable=False, collections=[_GraphKeys.LOCAL_VARIABLES],
                     validate_shape=validate_shape, name=name, use_resource=use_resource)


def add_model_variable(var):
    if var not in _collection(_GraphKeys.MODEL_VARIABLES):
        _add(_GraphKeys.MODEL_VARIABLES, var)


def get_variables(scope=None, suffix=None, collection=_GraphKeys.GLOBAL_VARIABLES):
    scope = getattr(scope, "name", scope)
    if suffix is not None:
        scope = (scope or "") + ".*" + suffix
    return _collection(collection, scope)


def get_model_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, _GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, _GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, _GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix, scope=None):
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name, scope=None):
    suffix = "/" + given_name + ":|^" + given_name + ":"
    return get_variables(scope=scope, suffix=suffix)


def get_unique_variable(var_op_name):
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def _filtered(var_list, include_patterns, exclude_patterns, found):
    if include_patterns is not None:
        patterns = list(include_patterns)
        var_list = [v for v in var_list if any(found(pattern, v.op.name) for pattern in patterns)]
    if exclude_patterns is not None:
        patterns = list(exclude_patterns)
        var_list = [v for v in var_list if not any(found(pattern, v.op.name) for pattern in patterns)]
    return list(var_list)


def filter_variables(var_list, include_patterns=None, exclude_patterns=None, reg_search=True):
    return _filtered(var_list, include_patterns, exclude_patterns, _re.search if reg_search else _re.match)


def get_variables_to_restore(include=None, exclude=None):
    if include is None:
        chosen = get_variables()
    else:
        chosen = [v for scope in include for v in get_variables(scope)]
    left_out = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in chosen if id(v) not in left_out]


__getattr__, __dir__ = _names.namespace(__name__)
