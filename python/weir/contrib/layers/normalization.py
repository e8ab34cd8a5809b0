"""tf.contrib.layers: normalization by batch, layer, instance and group."""

from weir.contrib.framework.arg_scopes import add_arg_scope
from weir.contrib.layers import utils
from weir.contrib.layers.building import (_activated, _add_variable_to_collections, _build_variable_getter, _layout,
                                          _parameter)
from weir.core import dtypes
from weir.core.graph import GraphKeys, control_dependencies, convert_to_tensor
from weir.core.variable_scope import get_variable_scope, variable_scope
from weir.layers.normalization import BatchNormalization
from weir.ops import array_ops, math_ops, nn_ops
from weir.ops.init_ops import ones_initializer, zeros_initializer
from weir.train.schedules import assign_moving_average

_IMAGES = ("NHWC", "NCHW")


def _averages(shape, dtype, collections, initializers):
    """The moving averages, which are updated whole."""
    with variable_scope(get_variable_scope()) as local_scope:
        local_scope.set_partitioner(None)
        return (_parameter("moving_mean", shape, dtype, collections, False, initializers),
                _parameter("moving_variance", shape, dtype, collections, False, initializers))


def _updates(averages, moments, decay, zero_debias):
    return (assign_moving_average(averages[0], moments[0], decay, zero_debias=zero_debias),
            assign_moving_average(averages[1], moments[1], decay, zero_debias=False))


def _delayed(is_training, averages, moments, decay, zero_debias, collections):
    """Updates that the program runs itself, from its collections."""
    updates = utils.smart_cond(is_training, lambda: _updates(averages, moments, decay, zero_debias), lambda: averages)
    for update in updates:
        utils.add_to_collections(collections, update)


def _fused_batch_norm(inputs, decay, center, scale, epsilon, activation_fn, param_initializers, param_regularizers,
                      updates_collections, is_training, reuse, variables_collections, outputs_collections, trainable,
                      data_format, zero_debias_moving_mean, scope):
    _layout(data_format, _IMAGES)
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
        original, rank = inputs, inputs.get_shape().ndims
        if rank == 2:  # images of one pixel
            channels = inputs.get_shape().as_list()[-1]
            if channels is None:
                raise ValueError("`C` dimension must be known but is None")
            shape = [-1, channels, 1, 1] if data_format == "NCHW" else [-1, 1, 1, channels]
            inputs = array_ops.reshape(inputs, shape)
        shape = inputs.get_shape()
        params_shape = shape[1:2] if data_format == "NCHW" else shape[-1:]
        if not params_shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {params_shape}.")
        regularizers, dtype = param_regularizers or {}, dtypes.float32
        if center:
            beta = _parameter("beta", params_shape, dtype, variables_collections, trainable, param_initializers,
                              regularizers.get("beta"))
        else:
            beta = array_ops.constant(0.0, dtype=dtype, shape=params_shape.as_list())
        if scale:
            gamma = _parameter("gamma", params_shape, dtype, variables_collections, trainable, param_initializers,
                               regularizers.get("gamma"))
        else:
            gamma = array_ops.constant(1.0, dtype=dtype, shape=params_shape.as_list())
        averages = _averages(params_shape, dtype, variables_collections, param_initializers)
        outputs, mean, variance = utils.smart_cond(
            is_training,
            lambda: nn_ops.fused_batch_norm(inputs, gamma, beta, epsilon=epsilon, data_format=data_format),
            lambda: nn_ops.fused_batch_norm(inputs, gamma, beta, mean=averages[0], variance=averages[1],
                                            epsilon=epsilon, is_training=False, data_format=data_format))
        known = utils.constant_value(is_training)
        if known is None or known:
            if updates_collections is None:
                normalized = outputs

                def force_updates():
                    with control_dependencies(_updates(averages, (mean, variance), decay, zero_debias_moving_mean)):
                        return array_ops.identity(normalized)

                outputs = utils.smart_cond(is_training, force_updates, lambda: normalized)
            else:
                _delayed(is_training, averages, (mean, variance), decay, zero_debias_moving_mean, updates_collections)
        outputs.set_shape(shape)
        if rank == 2:
            outputs = array_ops.reshape(outputs, array_ops.shape(original))
        return _activated(outputs, activation_fn, outputs_collections, sc)


@add_arg_scope
def batch_norm(inputs, decay=0.999, center=True, scale=False, epsilon=0.001, activation_fn=None,
               param_initializers=None, param_regularizers=None, updates_collections=GraphKeys.UPDATE_OPS,
               is_training=True, reuse=None, variables_collections=None, outputs_collections=None, trainable=True,
               batch_weights=None, fused=None, data_format="NHWC", zero_debias_moving_mean=False, scope=None,
               renorm=False, renorm_clipping=None, renorm_decay=0.99, adjustment=None):
    """Batch normalization. Updates of the averages are in ``updates_collections``; with None the outputs wait for them."""
    fused = True if fused is None else fused
    inputs = convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    plain = updates_collections is GraphKeys.UPDATE_OPS or updates_collections == GraphKeys.UPDATE_OPS
    can_be_fused = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    if fused and can_be_fused and (zero_debias_moving_mean or rank == 2 or not plain):
        return _fused_batch_norm(inputs, decay, center, scale, epsilon, activation_fn, param_initializers,
                                 param_regularizers, updates_collections, is_training, reuse, variables_collections,
                                 outputs_collections, trainable, data_format, zero_debias_moving_mean, scope)
    _layout(data_format, _IMAGES)
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=_build_variable_getter()) as sc:
        inputs = convert_to_tensor(inputs)
        if batch_weights is None and plain and not zero_debias_moving_mean:
            outputs = _by_layer(inputs, sc, decay, center, scale, epsilon, param_initializers, param_regularizers,
                                is_training, reuse, variables_collections, trainable, fused, data_format, renorm,
                                renorm_clipping, renorm_decay, adjustment)
        else:
            if renorm:
                raise ValueError("renorm is not supported with batch_weights, updates_collections or "
                                 "zero_debias_moving_mean")
            outputs = _by_moments(inputs, decay, center, scale, epsilon, param_initializers, updates_collections,
                                  is_training, variables_collections, trainable, batch_weights, data_format,
                                  zero_debias_moving_mean)
        return _activated(outputs, activation_fn, outputs_collections, sc)


def _by_layer(inputs, sc, decay, center, scale, epsilon, initializers, regularizers, is_training, reuse, collections,
              trainable, fused, data_format, renorm, renorm_clipping, renorm_decay, adjustment):
    initializers, regularizers = initializers or {}, regularizers or {}
    shape = inputs.get_shape()
    if shape.ndims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if shape.as_list()[1 if data_format == "NCHW" else -1] is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {shape}.")
    layer = BatchNormalization(
        axis=1 if data_format == "NCHW" else -1, momentum=decay, epsilon=epsilon, center=center, scale=scale,
        beta_initializer=initializers.get("beta", zeros_initializer()),
        gamma_initializer=initializers.get("gamma", ones_initializer()),
        moving_mean_initializer=initializers.get("moving_mean", zeros_initializer()),
        moving_variance_initializer=initializers.get("moving_variance", ones_initializer()),
        beta_regularizer=regularizers.get("beta"), gamma_regularizer=regularizers.get("gamma"), trainable=trainable,
        renorm=renorm, renorm_clipping=renorm_clipping, renorm_momentum=renorm_decay, adjustment=adjustment,
        name=sc.name, _scope=sc, _reuse=reuse, fused=fused)
    outputs = layer.apply(inputs, training=is_training)
    for kind in ("moving_mean", "moving_variance", "beta", "gamma"):
        if getattr(layer, kind) is not None:
            _add_variable_to_collections(getattr(layer, kind), collections, kind)
    return outputs


def _by_moments(inputs, decay, center, scale, epsilon, initializers, updates_collections, is_training, collections,
                trainable, batch_weights, data_format, zero_debias):
    shape = inputs.get_shape()
    if shape.ndims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    dtype, rank, first = inputs.dtype.base_dtype, shape.ndims, data_format == "NCHW"
    if batch_weights is not None:
        batch_weights = convert_to_tensor(batch_weights)
        shape[0:1].assert_is_compatible_with(batch_weights.get_shape())
        batch_weights = array_ops.reshape(batch_weights, [-1] + [1] * (rank - 1))
    axes = [0] + list(range(2, rank)) if first else list(range(rank - 1))
    params_shape = shape[1:2] if first else shape[-1:]
    if not params_shape.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {params_shape}.")
    beta = _parameter("beta", params_shape, dtype, collections, trainable, initializers) if center else None
    gamma = _parameter("gamma", params_shape, dtype, collections, trainable, initializers) if scale else None
    averages = _averages(params_shape, dtype, collections, initializers)
    known = utils.constant_value(is_training)
    mean, variance = averages
    if known is None or known:
        if batch_weights is None:
            moments = nn_ops.moments(inputs, axes, keep_dims=first)
        else:
            moments = nn_ops.weighted_moments(inputs, axes, batch_weights, keep_dims=first)
        if first:
            moments = [array_ops.reshape(moment, [-1]) for moment in moments]
        if updates_collections is None:
            def force_updates():
                with control_dependencies(_updates(averages, moments, decay, zero_debias)):
                    return array_ops.identity(moments[0]), array_ops.identity(moments[1])

            mean, variance = utils.smart_cond(is_training, force_updates, lambda: averages)
        else:
            _delayed(is_training, averages, moments, decay, zero_debias, updates_collections)
            mean, variance = utils.smart_cond(is_training, lambda: moments, lambda: averages)
    if first:
        broadcast = [1, shape.as_list()[1]] + [1] * (rank - 2)
        mean, variance, beta, gamma = [None if part is None else array_ops.reshape(part, broadcast)
                                       for part in (mean, variance, beta, gamma)]
    outputs = nn_ops.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
    outputs.set_shape(shape)
    return outputs


@add_arg_scope
def layer_norm(inputs, center=True, scale=True, activation_fn=None, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, begin_norm_axis=1, begin_params_axis=-1, scope=None):
    """Each example by itself, over the dimensions from ``begin_norm_axis`` on."""
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        shape, dtype = inputs.shape, inputs.dtype.base_dtype
        if shape.ndims is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        begin_norm_axis += shape.ndims if begin_norm_axis < 0 else 0
        if begin_params_axis >= shape.ndims or begin_norm_axis >= shape.ndims:
            raise ValueError(f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be < "
                             f"rank(inputs) ({shape.ndims})")
        params_shape = shape[begin_params_axis:]
        if not params_shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined last dimension: shape(inputs)[{begin_params_axis}:] is "
                             f"not fully defined: {shape}")
        beta = _parameter("beta", params_shape, dtype, variables_collections, trainable) if center else None
        gamma = _parameter("gamma", params_shape, dtype, variables_collections, trainable) if scale else None
        mean, variance = nn_ops.moments(inputs, list(range(begin_norm_axis, shape.ndims)), keep_dims=True)
        outputs = nn_ops.batch_normalization(inputs, mean, variance, offset=beta, scale=gamma,
                                             variance_epsilon=1e-3 if dtype == dtypes.float16 else 1e-12)
        outputs.set_shape(shape)
        return _activated(outputs, activation_fn, outputs_collections, sc)


@add_arg_scope
def instance_norm(inputs, center=True, scale=True, epsilon=1e-6, activation_fn=None, param_initializers=None,
                  reuse=None, variables_collections=None, outputs_collections=None, trainable=True, data_format="NHWC",
                  scope=None):
    """Each channel of each image by itself."""
    inputs = convert_to_tensor(inputs)
    shape = inputs.shape
    if shape.ndims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    _layout(data_format, _IMAGES)
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        axis = 1 if data_format == "NCHW" else shape.ndims - 1
        params_shape, dtype = shape[axis:axis + 1], inputs.dtype.base_dtype
        if not params_shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {params_shape}.")

        def parameter(kind, wanted):
            if not wanted:
                return None
            made = _parameter(kind, params_shape, dtype, variables_collections, trainable, param_initializers)
            return made if axis != 1 else array_ops.reshape(made, [1, shape.as_list()[1]] + [1] * (shape.ndims - 2))

        beta, gamma = parameter("beta", center), parameter("gamma", scale)
        mean, variance = nn_ops.moments(inputs, [d for d in range(1, shape.ndims) if d != axis], keep_dims=True)
        outputs = nn_ops.batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        return _activated(outputs, activation_fn, outputs_collections, sc)


def _group_axes(inputs, groups, channels_axis, reduction_axes):
    """(channels, axis of the channels, axes to reduce), checked."""
    ndims, sizes = inputs.shape.ndims, inputs.shape.as_list()
    if channels_axis > ndims - 1:
        raise ValueError("Axis is out of bounds.")
    channels_axis += ndims if channels_axis < 0 else 0
    channels = sizes[channels_axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {channels_axis}.")
    axes = [axis + ndims if axis < 0 else axis for axis in reduction_axes]
    for axis in axes:
        if axis >= ndims:
            raise ValueError("Axis is out of bounds.")
        if sizes[axis] is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {axis}.")
        if axis == channels_axis:
            raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    return channels, channels_axis, axes


@add_arg_scope
def group_norm(inputs, groups=32, channels_axis=-1, reduction_axes=(-3, -2), center=True, scale=True, epsilon=1e-6,
               activation_fn=None, param_initializers=None, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, scope=None, mean_close_to_zero=False):
    """Groups of channels of each image by themselves."""
    inputs = convert_to_tensor(inputs)
    if inputs.shape.ndims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    channels, axis, reduced = _group_axes(inputs, groups, channels_axis, reduction_axes)
    dynamic = array_ops.shape(inputs)
    sizes = [dynamic[i] if size is None else size for i, size in enumerate(inputs.shape.as_list())]
    grouped = [groups, channels // groups]
    broadcast = [1] * axis + grouped + [1] * (len(sizes) - axis - 1)
    inputs = array_ops.reshape(inputs, sizes[:axis] + grouped + sizes[axis + 1:])
    moments_axes = [axis + 1] + [a + 1 if a > axis else a for a in reduced]
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        def parameter(kind, wanted):
            if not wanted:
                return None
            made = _parameter(kind, [channels], inputs.dtype.base_dtype, variables_collections, trainable,
                              param_initializers)
            return array_ops.reshape(made, broadcast)

        beta, gamma = parameter("beta", center), parameter("gamma", scale)
        if mean_close_to_zero:
            counts, means, variances, _ = nn_ops.sufficient_statistics(inputs, moments_axes, keep_dims=True)
            mean, variance = nn_ops.normalize_moments(counts, means, variances, shift=None)
        else:
            mean, variance = nn_ops.moments(inputs, moments_axes, keep_dims=True)
        gain = math_ops.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain, offset = gain * gamma, offset * gamma
        if beta is not None:
            offset = offset + beta
        outputs = array_ops.reshape(inputs * gain + offset, sizes)
        return _activated(outputs, activation_fn, outputs_collections, sc)
