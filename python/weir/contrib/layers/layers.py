"""tf.contrib.layers: layers as functions with normalizer, activation and collections, for arg_scope."""

import functools

from weir.contrib.framework.arg_scopes import add_arg_scope
from weir.contrib.framework.variables import model_variable
from weir.contrib.layers import utils
from weir.contrib.layers.building import (_NAMES, _activated, _add_variable_to_collections, _build_variable_getter,
                                          _finished, _layout, _model_variable_getter)
from weir.contrib.layers.initializers import xavier_initializer
from weir.core import dtypes
from weir.core.custom_gradients import custom_gradient
from weir.core.graph import GraphKeys, control_dependencies, convert_to_tensor, name_scope
from weir.core.variable_scope import get_variable, variable_scope
from weir.layers import convolutional, core, pooling
from weir.ops import array_ops, check_ops, conv_ops, math_ops, nn_ops, sparse_functions, sparse_ops
from weir.ops.init_ops import constant_initializer, ones_initializer, zeros_initializer

_IMAGES, _VOLUMES = ("NHWC", "NCHW"), ("NDHWC", "NCDHW")


# Pools.


def _pooled(layer_class, usual_name, formats, inputs, kernel_size, stride, padding, data_format, collections, scope):
    layout = _layout(data_format, formats)
    with name_scope(scope, usual_name, [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        layer = layer_class(pool_size=kernel_size, strides=stride, padding=padding, data_format=layout, _scope=sc)
        return utils.collect_named_outputs(collections, sc, layer.apply(inputs))


@add_arg_scope
def avg_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None, scope=None):
    return _pooled(pooling.AveragePooling2D, "AvgPool2D", _IMAGES, inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def avg_pool3d(inputs, kernel_size, stride=2, padding="VALID", data_format="NDHWC", outputs_collections=None,
               scope=None):
    return _pooled(pooling.AveragePooling3D, "AvgPool3D", _VOLUMES, inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def max_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None, scope=None):
    return _pooled(pooling.MaxPooling2D, "MaxPool2D", _IMAGES, inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def max_pool3d(inputs, kernel_size, stride=2, padding="VALID", data_format="NDHWC", outputs_collections=None,
               scope=None):
    return _pooled(pooling.MaxPooling3D, "MaxPool3D", _VOLUMES, inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def pool(inputs, kernel_size, pooling_type, padding="VALID", data_format=None, dilation_rate=1, stride=1,
         outputs_collections=None, scope=None):
    with name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        sizes = functools.partial(utils.n_positive_integers, rank - 2)
        output = conv_ops.pool(input=inputs, window_shape=sizes(kernel_size), pooling_type=pooling_type,
                               padding=padding, data_format=data_format, dilation_rate=sizes(dilation_rate),
                               strides=sizes(stride), name=sc)
        return utils.collect_named_outputs(outputs_collections, sc, output)


# Convolutions.


@add_arg_scope
def bias_add(inputs, activation_fn=None, initializer=zeros_initializer(), regularizer=None, reuse=None,
             variables_collections=None, outputs_collections=None, trainable=True, data_format="NHWC", scope=None):
    """Adds a variable along the channels."""
    _layout(data_format, _IMAGES)
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape()
        if shape.ndims is None:
            raise ValueError("Dims of shape must be known but is None")
        if shape.ndims != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = shape.as_list()[1 if data_format == "NCHW" else -1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable("biases", shape=[channels], dtype=inputs.dtype.base_dtype, initializer=initializer,
                                regularizer=regularizer, trainable=trainable,
                                collections=utils.get_variable_collections(variables_collections, "biases"))
        outputs = nn_ops.bias_add(inputs, biases, data_format=data_format)
        return _activated(outputs, activation_fn, outputs_collections, sc)


def _applied(layer_class, size, layer_options, inputs, sc, normalizer_fn, weights_initializer, weights_regularizer,
             biases_initializer, biases_regularizer, reuse, variables_collections, trainable):
    """The outputs of a layer with a kernel and perhaps a bias, whose variables join their collections."""
    layer = layer_class(
        size, activation=None, use_bias=not normalizer_fn and bool(biases_initializer),
        kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
        kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, activity_regularizer=None,
        trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse, **layer_options)
    outputs = layer.apply(inputs)
    _add_variable_to_collections(layer.kernel, variables_collections, "weights")
    if layer.bias is not None:
        _add_variable_to_collections(layer.bias, variables_collections, "biases")
    return outputs


@add_arg_scope
def convolution(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1,
                activation_fn=nn_ops.relu, normalizer_fn=None, normalizer_params=None,
                weights_initializer=xavier_initializer(), weights_regularizer=None,
                biases_initializer=zeros_initializer(), biases_regularizer=None, reuse=None,
                variables_collections=None, outputs_collections=None, trainable=True, scope=None, conv_dims=None):
    """A convolution of signals, images or volumes, then a normalizer (without one, biases) and an activation."""
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=_build_variable_getter(_NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in (3, 4, 5):
            raise ValueError("Convolution not supported for input with rank", rank)
        layer_class = (convolutional.Conv1D, convolutional.Conv2D, convolutional.Conv3D)[rank - 3]
        layout = "channels_first" if data_format and data_format.startswith("NC") else "channels_last"
        outputs = _applied(layer_class, num_outputs,
                           dict(kernel_size=kernel_size, strides=stride, padding=padding, data_format=layout,
                                dilation_rate=rate),
                           inputs, sc, normalizer_fn, weights_initializer, weights_regularizer, biases_initializer,
                           biases_regularizer, reuse, variables_collections, trainable)
        return _finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc)


@add_arg_scope
def convolution1d(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1,
                  activation_fn=nn_ops.relu, normalizer_fn=None, normalizer_params=None,
                  weights_initializer=xavier_initializer(), weights_regularizer=None,
                  biases_initializer=zeros_initializer(), biases_regularizer=None, reuse=None,
                  variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    return convolution(inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn,
                       normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer,
                       biases_regularizer, reuse, variables_collections, outputs_collections, trainable, scope,
                       conv_dims=1)


@add_arg_scope
def convolution2d(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1,
                  activation_fn=nn_ops.relu, normalizer_fn=None, normalizer_params=None,
                  weights_initializer=xavier_initializer(), weights_regularizer=None,
                  biases_initializer=zeros_initializer(), biases_regularizer=None, reuse=None,
                  variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    return convolution(inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn,
                       normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer,
                       biases_regularizer, reuse, variables_collections, outputs_collections, trainable, scope,
                       conv_dims=2)


@add_arg_scope
def convolution3d(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1,
                  activation_fn=nn_ops.relu, normalizer_fn=None, normalizer_params=None,
                  weights_initializer=xavier_initializer(), weights_regularizer=None,
                  biases_initializer=zeros_initializer(), biases_regularizer=None, reuse=None,
                  variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    return convolution(inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn,
                       normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer,
                       biases_regularizer, reuse, variables_collections, outputs_collections, trainable, scope,
                       conv_dims=3)


def _own_biases(outputs, size, dtype, initializer, regularizer, collections, trainable, data_format="NHWC"):
    if initializer is None:
        return outputs
    biases = model_variable("biases", shape=[size], dtype=dtype, initializer=initializer, regularizer=regularizer,
                            collections=utils.get_variable_collections(collections, "biases"), trainable=trainable)
    return nn_ops.bias_add(outputs, biases, data_format=data_format)


@add_arg_scope
def convolution2d_in_plane(inputs, kernel_size, stride=1, padding="SAME", activation_fn=nn_ops.relu, normalizer_fn=None,
                           normalizer_params=None, weights_initializer=xavier_initializer(), weights_regularizer=None,
                           biases_initializer=zeros_initializer(), biases_regularizer=None, reuse=None,
                           variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """The same small filter on every channel by itself."""
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        dtype = inputs.dtype.base_dtype
        height, width = utils.two_element_tuple(kernel_size)
        step_down, step_right = utils.two_element_tuple(stride)
        channels = utils.last_dimension(inputs.get_shape(), min_rank=4)
        weights = model_variable("weights", shape=[height, width, 1, 1], dtype=dtype, initializer=weights_initializer,
                                 regularizer=weights_regularizer, trainable=trainable,
                                 collections=utils.get_variable_collections(variables_collections, "weights"))
        outputs = conv_ops.depthwise_conv2d(inputs, array_ops.tile(weights, [1, 1, channels, 1]),
                                            [1, step_down, step_right, 1], padding)
        if normalizer_fn is None:
            outputs = _own_biases(outputs, channels, dtype, biases_initializer, biases_regularizer,
                                  variables_collections, trainable)
        return _finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc)


def _transposed(layer_class, usual_name, formats, inputs, num_outputs, kernel_size, stride, padding, data_format,
                activation_fn, normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
                biases_initializer, biases_regularizer, reuse, variables_collections, outputs_collections, trainable,
                scope):
    with variable_scope(scope, usual_name, [inputs], reuse=reuse, custom_getter=_build_variable_getter(_NAMES)) as sc:
        layout = _layout(data_format, formats)
        inputs = convert_to_tensor(inputs)
        outputs = _applied(layer_class, num_outputs,
                           dict(kernel_size=kernel_size, strides=stride, padding=padding, data_format=layout), inputs,
                           sc, normalizer_fn, weights_initializer, weights_regularizer, biases_initializer,
                           biases_regularizer, reuse, variables_collections, trainable)
        return _finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc)


@add_arg_scope
def convolution2d_transpose(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format="NHWC",
                            activation_fn=nn_ops.relu, normalizer_fn=None, normalizer_params=None,
                            weights_initializer=xavier_initializer(), weights_regularizer=None,
                            biases_initializer=zeros_initializer(), biases_regularizer=None, reuse=None,
                            variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    return _transposed(convolutional.Conv2DTranspose, "Conv2d_transpose", _IMAGES, inputs, num_outputs, kernel_size,
                       stride, padding, data_format, activation_fn, normalizer_fn, normalizer_params,
                       weights_initializer, weights_regularizer, biases_initializer, biases_regularizer, reuse,
                       variables_collections, outputs_collections, trainable, scope)


@add_arg_scope
def convolution3d_transpose(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format="NDHWC",
                            activation_fn=nn_ops.relu, normalizer_fn=None, normalizer_params=None,
                            weights_initializer=xavier_initializer(), weights_regularizer=None,
                            biases_initializer=zeros_initializer(), biases_regularizer=None, reuse=None,
                            variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    return _transposed(convolutional.Conv3DTranspose, "Conv3d_transpose", _VOLUMES, inputs, num_outputs, kernel_size,
                       stride, padding, data_format, activation_fn, normalizer_fn, normalizer_params,
                       weights_initializer, weights_regularizer, biases_initializer, biases_regularizer, reuse,
                       variables_collections, outputs_collections, trainable, scope)


@add_arg_scope
def separable_convolution2d(inputs, num_outputs, kernel_size, depth_multiplier=1, stride=1, padding="SAME",
                            data_format="NHWC", rate=1, activation_fn=nn_ops.relu, normalizer_fn=None,
                            normalizer_params=None, weights_initializer=xavier_initializer(),
                            pointwise_initializer=None, weights_regularizer=None,
                            biases_initializer=zeros_initializer(), biases_regularizer=None, reuse=None,
                            variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """Channel by channel, then across the channels; with ``num_outputs=None`` channel by channel only."""
    layout = _layout(data_format, _IMAGES)
    getter = _build_variable_getter({"bias": "biases", "depthwise_kernel": "depthwise_weights",
                                     "pointwise_kernel": "pointwise_weights"})
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        if num_outputs is not None:
            layer = convolutional.SeparableConv2D(
                filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding, data_format=layout,
                dilation_rate=utils.two_element_tuple(rate), activation=None, depth_multiplier=depth_multiplier,
                use_bias=not normalizer_fn and bool(biases_initializer), depthwise_initializer=weights_initializer,
                pointwise_initializer=weights_initializer if pointwise_initializer is None else pointwise_initializer,
                bias_initializer=biases_initializer, depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
                activity_regularizer=None, trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc,
                _reuse=reuse)
            outputs = layer.apply(inputs)
            _add_variable_to_collections(layer.depthwise_kernel, variables_collections, "weights")
            _add_variable_to_collections(layer.pointwise_kernel, variables_collections, "weights")
            if layer.bias is not None:
                _add_variable_to_collections(layer.bias, variables_collections, "biases")
        else:
            outputs = _depthwise(inputs, kernel_size, depth_multiplier, stride, padding, data_format, layout, rate,
                                 weights_initializer, weights_regularizer, variables_collections, trainable)
            if normalizer_fn is None:
                size = depth_multiplier * utils.channel_dimension(inputs.get_shape(), layout, min_rank=4)
                outputs = _own_biases(outputs, size, inputs.dtype.base_dtype, biases_initializer, biases_regularizer,
                                      variables_collections, trainable, data_format)
        return _finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc)


def _depthwise(inputs, kernel_size, depth_multiplier, stride, padding, data_format, layout, rate, initializer,
               regularizer, collections, trainable):
    height, width = utils.two_element_tuple(kernel_size)
    steps = list(utils.two_element_tuple(stride))
    channels = utils.channel_dimension(inputs.get_shape(), layout, min_rank=4)
    weights = model_variable("depthwise_weights", shape=[height, width, channels, depth_multiplier],
                             dtype=inputs.dtype.base_dtype, initializer=initializer, regularizer=regularizer,
                             trainable=trainable, collections=utils.get_variable_collections(collections, "weights"))
    strides = [1, 1] + steps if layout == "channels_first" else [1] + steps + [1]
    return conv_ops.depthwise_conv2d(inputs, weights, strides, padding, rate=utils.two_element_tuple(rate),
                                     data_format=data_format)


# Dense layers.


@add_arg_scope
def fully_connected(inputs, num_outputs, activation_fn=nn_ops.relu, normalizer_fn=None, normalizer_params=None,
                    weights_initializer=xavier_initializer(), weights_regularizer=None,
                    biases_initializer=zeros_initializer(), biases_regularizer=None, reuse=None,
                    variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """inputs * weights, then a normalizer (without one, biases) and an activation."""
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of {[int]}, got {type(num_outputs)}.")
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse,
                        custom_getter=_build_variable_getter(_NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        outputs = _applied(core.Dense, num_outputs, {}, inputs, sc, normalizer_fn, weights_initializer,
                           weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
                           trainable)
        return _finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc)


def legacy_fully_connected(x, num_output_units, activation_fn=None, weight_init=xavier_initializer(),
                           bias_init=zeros_initializer(), name=None, weight_collections=(GraphKeys.WEIGHTS,),
                           bias_collections=(GraphKeys.BIASES,), output_collections=(GraphKeys.ACTIVATIONS,),
                           trainable=True, weight_regularizer=None, bias_regularizer=None):
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        shape = x.get_shape()
        if shape.dims is None:
            raise ValueError("dims of x must be known but is None")
        if shape.ndims < 2:
            raise ValueError(f"rank of x must be at least 2 not: {shape.ndims}")
        size, dtype = shape.as_list()[-1], x.dtype.base_dtype
        if size is None:
            raise ValueError("last dimension of x must be known but is None")

        def variable(kind, sizes, initializer, collections, regularizer):
            collections = list(collections or []) + [GraphKeys.GLOBAL_VARIABLES]
            return get_variable(kind, shape=sizes, dtype=dtype, initializer=initializer, collections=set(collections),
                                regularizer=regularizer, trainable=trainable)

        weights = variable("weights", [size, num_output_units], weight_init, weight_collections, weight_regularizer)
        y = math_ops.matmul(x if shape.ndims <= 2 else array_ops.reshape(x, [-1, size]), weights)
        if bias_init is not None:
            y = nn_ops.bias_add(y, variable("bias", [num_output_units], bias_init, bias_collections, bias_regularizer))
        if shape.ndims > 2:
            sizes = array_ops.unstack(array_ops.shape(x))
            y = array_ops.reshape(y, array_ops.stack(sizes[:-1] + [num_output_units]))
            y.set_shape(shape.as_list()[:-1] + [num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        utils.add_to_collections(list(output_collections or []) + [GraphKeys.ACTIVATIONS], y)
        return y


# Shapes and others.


@add_arg_scope
def dense_to_sparse(tensor, eos_token=0, outputs_collections=None, scope=None):
    with variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = convert_to_tensor(tensor)
        indices = array_ops.where(math_ops.not_equal(tensor, array_ops.constant(eos_token, tensor.dtype)))
        outputs = sparse_ops.SparseTensor(indices, array_ops.gather_nd(tensor, indices),
                                          array_ops.shape(tensor, out_type=dtypes.int64))
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def dropout(inputs, keep_prob=0.5, noise_shape=None, is_training=True, outputs_collections=None, scope=None, seed=None):
    with variable_scope(scope, "Dropout", [inputs], custom_getter=_model_variable_getter) as sc:
        inputs = convert_to_tensor(inputs)
        layer = core.Dropout(rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc)
        return utils.collect_named_outputs(outputs_collections, sc.name, layer.apply(inputs, training=is_training))


@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
    with name_scope(scope, "Flatten", [inputs]) as sc:
        return utils.collect_named_outputs(outputs_collections, sc, core.flatten(convert_to_tensor(inputs)))


def _flat_tensor(inputs, new_rank):
    check = check_ops.assert_rank_at_least(inputs, new_rank, message="inputs has rank less than new_rank")
    with control_dependencies([check]):
        outer = array_ops.strided_slice(array_ops.shape(inputs), [0], [new_rank - 1])
        outputs = array_ops.reshape(inputs, array_ops.concat((outer, [-1]), 0))
    if inputs.shape.ndims is not None:
        sizes, inner = inputs.shape.as_list(), 1
        for size in sizes[new_rank - 1:]:
            inner = None if inner is None or size is None else inner * size
        outputs.set_shape(sizes[:new_rank - 1] + [inner])
    return outputs


@add_arg_scope
def _inner_flatten(inputs, new_rank, output_collections=None, scope=None):
    """The last dimensions as one, so that ``new_rank`` are left."""
    with name_scope(scope, "InnerFlatten", [inputs, new_rank]) as sc:
        if isinstance(inputs, sparse_ops.SparseTensor):
            rank = inputs.dense_shape.get_shape().as_list()[0]
            if rank < new_rank:
                raise ValueError(f"Inputs has rank less than new_rank. {inputs} must have rank at least {new_rank}. "
                                 f"Received rank {rank}, shape {inputs.get_shape()}")
            shape = array_ops.concat((inputs.dense_shape[:new_rank - 1],
                                      [math_ops.reduce_prod(inputs.dense_shape[new_rank - 1:])]), 0)
            outputs = sparse_functions.sparse_reshape(inputs, shape)
        else:
            outputs = _flat_tensor(convert_to_tensor(inputs), new_rank)
    return utils.collect_named_outputs(output_collections, sc, outputs)


@add_arg_scope
def images_to_sequence(inputs, data_format="NHWC", outputs_collections=None, scope=None):
    """Columns of images as steps of a sequence: [width, batch * height, depth]."""
    layout = _layout(data_format, _IMAGES)
    with name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        if layout == "channels_first":
            inputs = array_ops.transpose(inputs, [0, 2, 3, 1])
        width, depth = inputs.get_shape().as_list()[2:]
        sizes = array_ops.shape(inputs)
        batch, height = sizes[0], sizes[1]
        columns = array_ops.transpose(inputs, [2, 0, 1, 3])
        outputs = array_ops.reshape(columns, [width, batch * height, depth])
        return utils.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def sequence_to_images(inputs, height, output_data_format="channels_last", outputs_collections=None, scope=None):
    with name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        width, batches, depth = inputs.get_shape().as_list()
        batches = -1 if batches is None else batches // height
        images = array_ops.reshape(inputs, [width, batches, height, depth])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return utils.collect_named_outputs(outputs_collections, sc, array_ops.transpose(images, order))


@add_arg_scope
def one_hot_encoding(labels, num_classes, on_value=1.0, off_value=0.0, outputs_collections=None, scope=None):
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = math_ops.to_int64(labels)
        outputs = array_ops.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return utils.collect_named_outputs(outputs_collections, sc, outputs)


def _name_of(layer, usual):
    layer = getattr(layer, "func", layer) if not hasattr(layer, "__name__") else layer
    return getattr(layer, "__name__", usual)


def repeat(inputs, repetitions, layer, *args, **kwargs):
    """The same layer again and again, in scopes scope_1, scope_2, ..."""
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        outputs = convert_to_tensor(inputs)
        scope = _name_of(layer, "repeat") if scope is None else scope
        for i in range(repetitions):
            outputs = layer(outputs, *args, **dict(kwargs, scope=f"{scope}_{i + 1}"))
        return outputs


def stack(inputs, layer, stack_args, **kwargs):
    """The same layer again and again, with one item of ``stack_args`` each."""
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        outputs = convert_to_tensor(inputs)
        scope = _name_of(layer, "stack") if scope is None else scope
        for i, given in enumerate(stack_args):
            given = given if isinstance(given, (list, tuple)) else [given]
            outputs = layer(outputs, *given, **dict(kwargs, scope=f"{scope}_{i + 1}"))
        return outputs


def scale_gradient(inputs, gradient_multiplier):
    """``inputs``, whose gradient is multiplied on the way back."""

    @custom_gradient
    def scaled(x):
        return array_ops.identity(x), lambda grad: grad * gradient_multiplier

    return scaled(convert_to_tensor(inputs))


@add_arg_scope
def softmax(logits, scope=None):
    """Softmax along the last dimension of a tensor of any rank."""
    with variable_scope(scope, "softmax", [logits]):
        size = utils.last_dimension(logits.get_shape(), min_rank=2)
        predictions = nn_ops.softmax(array_ops.reshape(logits, [-1, size]))
        predictions = array_ops.reshape(predictions, array_ops.shape(logits))
        predictions.set_shape(logits.get_shape())
        return predictions


@add_arg_scope
def spatial_softmax(features, temperature=None, name=None, variables_collections=None, trainable=True,
                    data_format="NHWC"):
    """Where in the image each channel is: its expected position under a softmax over the pixels."""
    with variable_scope(name, "spatial_softmax"):
        sizes = array_ops.shape(features)
        layout = _layout(data_format, _IMAGES)
        first = 2 if layout == "channels_first" else 1
        height, width = sizes[first], sizes[first + 1]
        channels = features.shape.as_list()[1 if layout == "channels_first" else 3]
        if channels is None:
            raise ValueError("The num_channels dimension of the inputs to `spatial_softmax` should be defined. Found "
                             "`None`.")
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            xs, ys = array_ops.meshgrid(math_ops.lin_space(-1.0, 1.0, num=height),
                                        math_ops.lin_space(-1.0, 1.0, num=width), indexing="ij")
            xs, ys = array_ops.reshape(xs, [height * width]), array_ops.reshape(ys, [height * width])
            initializer = ones_initializer() if temperature is None else constant_initializer(temperature)
            collections = utils.get_variable_collections(variables_collections, "temperature") if trainable else None
            temperature = model_variable("temperature", shape=(), dtype=dtypes.float32, initializer=initializer,
                                         collections=collections, trainable=trainable)
            if layout == "channels_last":
                features = array_ops.transpose(features, [0, 3, 1, 2])
            attention = nn_ops.softmax(array_ops.reshape(features, [-1, height * width]) / temperature)
            x = math_ops.reduce_sum(xs * attention, [1], keepdims=True)
            y = math_ops.reduce_sum(ys * attention, [1], keepdims=True)
            keypoints = array_ops.reshape(array_ops.concat([x, y], 1), [-1, channels * 2])
            keypoints.set_shape([None, channels * 2])
    return keypoints


@add_arg_scope
def unit_norm(inputs, dim, epsilon=1e-7, scope=None):
    """Scaled so that the length along ``dim`` is 1."""
    with variable_scope(scope, "UnitNorm", [inputs]):
        rank = inputs.get_shape().ndims
        if not rank:
            raise ValueError("The input rank must be known.")
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = math_ops.sqrt(epsilon + math_ops.reduce_sum(math_ops.square(inputs), dim, True))
        multiples = [array_ops.ones([dim], dtypes.int32)] if dim > 0 else []
        multiples.append(array_ops.strided_slice(array_ops.shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(array_ops.ones([rank - 1 - dim], dtypes.int32))
        return math_ops.div(inputs, array_ops.tile(lengths, array_ops.concat(multiples, 0)))


@add_arg_scope
def maxout(inputs, num_units, axis=-1, scope=None):
    """The largest of each group of channels."""
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape().as_list()
        channels = shape[axis]
        if channels % num_units:
            raise ValueError(f"number of features({channels}) is not a multiple of num_units({num_units})")
        shape[axis] = num_units
        shape = [array_ops.shape(inputs)[i] if size is None else size for i, size in enumerate(shape)]
        groups = array_ops.reshape(inputs, shape + [channels // num_units])
        return math_ops.reduce_max(groups, -1, keepdims=False)


def poincare_normalize(x, axis=1, epsilon=1e-5, name=None):
    """Brought into the unit ball."""
    with name_scope(name, "poincare_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        inverse = math_ops.rsqrt(math_ops.reduce_sum(math_ops.square(x), axis, keepdims=True))
        return math_ops.multiply(x, math_ops.minimum((1.0 - epsilon) * inverse, 1.0), name=name)


elu = functools.partial(fully_connected, activation_fn=nn_ops.elu)
relu = functools.partial(fully_connected, activation_fn=nn_ops.relu)
relu6 = functools.partial(fully_connected, activation_fn=nn_ops.relu6)
linear = functools.partial(fully_connected, activation_fn=None)
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=nn_ops.relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
conv1d, conv2d, conv3d = convolution1d, convolution2d, convolution3d
conv2d_transpose, conv3d_transpose = convolution2d_transpose, convolution3d_transpose
conv2d_in_plane, separable_conv2d = convolution2d_in_plane, separable_convolution2d
