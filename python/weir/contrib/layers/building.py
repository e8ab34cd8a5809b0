"""What the layers of tf.contrib.layers share: variables of the model with their names, normalizers, collections."""

import functools

from weir.contrib.framework.variables import model_variable
from weir.contrib.layers import utils
from weir.core.graph import get_collection
from weir.core.variables import PartitionedVariable
from weir.ops.init_ops import ones_initializer, zeros_initializer

_NAMES = {"bias": "biases", "kernel": "weights"}


def _model_variable_getter(getter, name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True,
                           collections=None, caching_device=None, partitioner=None, rename=None, use_resource=None,
                           synchronization=None, aggregation=None, **unused):
    """A custom getter: variables of layers become variables of the model, under these names."""
    scope, slash, last = name.rpartition("/")
    if rename and last in rename:
        name = scope + slash + rename[last]
    return model_variable(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                          collections=collections, trainable=trainable, caching_device=caching_device,
                          partitioner=partitioner, custom_getter=getter, use_resource=use_resource,
                          synchronization=synchronization, aggregation=aggregation)


def _build_variable_getter(rename=None):
    return functools.partial(_model_variable_getter, rename=rename)


def _add_variable_to_collections(variable, collections_set, collections_name):
    for collection in utils.get_variable_collections(collections_set, collections_name) or ():
        known = get_collection(collection)
        for part in variable if isinstance(variable, PartitionedVariable) else (variable,):
            if part not in known:
                utils.add_to_collections(collection, part)


def _layout(data_format, allowed):
    """A layer's name of a layout; ValueError for one that is not among those of TensorFlow that are allowed."""
    if data_format not in allowed:
        raise ValueError(f"data_format has to be either {allowed[1]} or {allowed[0]}.")
    return "channels_first" if data_format.startswith("NC") else "channels_last"


def _finished(outputs, normalizer_fn, normalizer_params, activation_fn, collections, scope):
    """What comes after a layer's sum."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    return _activated(outputs, activation_fn, collections, scope)


def _activated(outputs, activation_fn, collections, scope):
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return utils.collect_named_outputs(collections, getattr(scope, "name", scope), outputs)


def _parameter(name, shape, dtype, collections_set, trainable, initializers=None, regularizer=None):
    """The scale, centre or average of a normalizer: begins as ones (gamma, moving_variance) or zeros."""
    usual = ones_initializer() if name in ("gamma", "moving_variance") else zeros_initializer()
    return model_variable(name, shape=shape, dtype=dtype, initializer=(initializers or {}).get(name, usual),
                          regularizer=regularizer, trainable=trainable,
                          collections=utils.get_variable_collections(collections_set, name))
