"""Convolutions and pools: tf.nn's functions for signals, images and volumes over the operations of each rank."""

from weir import _weir
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.op_functions import apply, op_function
from weir.core.stack import get_default_graph as _graph
from weir.ops import array_ops, simple

simple.install(globals(), simple.CONVOLUTIONS)

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _channels_first(data_format):
    return data_format is not None and data_format.startswith("NC")


def _format(data_format, dims, function):
    """The layout of ``dims`` spatial dimensions; the first of TensorFlow's names for it when none is given."""
    if data_format is None:
        return _FORMATS[dims][0]
    if data_format not in _FORMATS[dims]:
        raise ValueError(f"data_format must be one of {', '.join(_FORMATS[dims])} for {function}; got {data_format!r}")
    return data_format


def _sizes(value, dims, data_format, argument):
    """An entry for each dimension, of one number for all spatial dimensions, one for each of them, or all."""
    if value is None:
        value = 1
    value = [value] if isinstance(value, int) or getattr(value, "ndim", None) == 0 else list(value)
    if len(value) == 1:
        value = value * dims
    if len(value) == dims:
        return [1, 1, *value] if _channels_first(data_format) else [1, *value, 1]
    if len(value) != dims + 2:
        raise ValueError(f"{argument} should be of length 1, {dims} or {dims + 2} but was {len(value)}")
    return value


def _set_padding(attrs, padding):
    """The name of a padding, or for each of the four dimensions (before, after)."""
    if isinstance(padding, (list, tuple)):
        for i, pair in enumerate(padding):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise ValueError("When padding is a list, each element of padding must be a list/tuple of size 2. "
                                 f"Element {i} is {pair!r}")
        if len(padding) != 4:
            raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
        attrs["padding"] = "EXPLICIT"
        attrs["explicit_paddings"] = [int(size) for pair in padding for size in pair]
    else:
        attrs["padding"] = padding
    return attrs


def _first(value, other):
    return other if value is None else value


# Two dimensions.


def _conv2d_attrs(strides, padding, data_format, dilations):
    data_format = data_format or "NHWC"
    if strides is None or padding is None:
        raise TypeError("a convolution needs strides and padding")
    return _set_padding({"data_format": data_format, "dilations": _sizes(dilations, 2, data_format, "dilations"),
                         "strides": _sizes(strides, 2, data_format, "strides")}, padding)


def conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format="NHWC",
           dilations=[1, 1, 1, 1], name=None, filters=None):
    """Convolution of images [batch, height, width, in] with a filter [height, width, in, out]."""
    if isinstance(dilations, str):  # TensorFlow 1.0: the name stood here
        dilations, name = None, dilations
    return apply("Conv2D", (input, _first(filter, filters)), _conv2d_attrs(strides, padding, data_format, dilations), name)


def conv2d_backprop_input(input_sizes, filter=None, out_backprop=None, strides=None, padding=None, use_cudnn_on_gpu=True,
                          data_format="NHWC", dilations=[1, 1, 1, 1], name=None, filters=None):
    return apply("Conv2DBackpropInput", (input_sizes, _first(filter, filters), out_backprop),
                 _conv2d_attrs(strides, padding, data_format, dilations), name)


def conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, use_cudnn_on_gpu=True,
                           data_format="NHWC", dilations=[1, 1, 1, 1], name=None):
    return apply("Conv2DBackpropFilter", (input, filter_sizes, out_backprop),
                 _conv2d_attrs(strides, padding, data_format, dilations), name)


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NHWC",
                     name=None, input=None, filters=None, dilations=None):
    """The gradient of conv2d with respect to its input: enlarges images by the stride."""
    value, filter = _first(value, input), _first(filter, filters)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        return conv2d_backprop_input(output_shape, filter, value, strides, padding, data_format=data_format,
                                     dilations=dilations, name=scope)


deconv2d = conv2d_transpose


def atrous_conv2d(value, filters, rate, padding, name=None):
    return convolution(value, filters, padding, dilation_rate=[rate, rate], name=name)


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding, name=name or "atrous_conv2d_transpose",
                            dilations=[1, rate, rate, 1])


# One dimension: images of height one.


def _conv1d_parts(value, kernel, data_format, function):
    data_format = {None: "NWC", "NHWC": "NWC", "NCHW": "NCW"}.get(data_format, data_format)
    data_format = _format(data_format, 1, function)
    axis = 2 if data_format == "NCW" else 1
    return (array_ops.expand_dims(convert_to_tensor(value), axis), array_ops.expand_dims(convert_to_tensor(kernel), 0),
            axis, data_format)


def _wide_sizes(value, data_format, argument):
    """Of a signal's stride or dilation, those of images of height one."""
    value = _sizes(value, 1, data_format, argument)
    return [1, 1, *value[1:]] if data_format == "NWC" else [*value[:2], 1, value[2]]


def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None,
           input=None, dilations=None):
    """Convolution of [batch, width, in] with [width, in, out]."""
    value = _first(value, input)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        image, kernel, axis, data_format = _conv1d_parts(value, filters, data_format, "conv1d")
        result = conv2d(image, kernel, _wide_sizes(stride, data_format, "stride"), padding,
                        data_format="NCHW" if data_format == "NCW" else "NHWC",
                        dilations=_wide_sizes(dilations, data_format, "dilations"), name=scope)
        return array_ops.squeeze(result, [axis])


def conv1d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None, name=None):
    """The gradient of conv1d with respect to its input."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]):
        image, kernel, axis, data_format = _conv1d_parts(input, filters, data_format, "conv1d_transpose")
        sizes, place = convert_to_tensor(output_shape), 2 if data_format == "NCW" else 1
        sizes = array_ops.concat([sizes[:place], [1], sizes[place:]], 0)
        result = conv2d_transpose(image, kernel, sizes, _wide_sizes(strides, data_format, "strides"), padding,
                                  data_format="NCHW" if data_format == "NCW" else "NHWC",
                                  dilations=_wide_sizes(dilations, data_format, "dilations"))
        return array_ops.squeeze(result, [axis])


# Three dimensions.


def _conv3d_attrs(strides, padding, data_format, dilations):
    data_format = data_format or "NDHWC"
    return {"data_format": data_format, "dilations": _sizes(dilations, 3, data_format, "dilations"),
            "strides": _sizes(strides, 3, data_format, "strides"), "padding": padding}


def conv3d(input, filter=None, strides=None, padding=None, data_format="NDHWC", dilations=[1, 1, 1, 1, 1], name=None,
           filters=None):
    """Convolution of volumes [batch, depth, height, width, in] with [depth, height, width, in, out]."""
    return apply("Conv3D", (input, _first(filter, filters)), _conv3d_attrs(strides, padding, data_format, dilations), name)


def conv3d_backprop_filter_v2(input, filter_sizes, out_backprop, strides, padding, data_format="NDHWC",
                              dilations=[1, 1, 1, 1, 1], name=None):
    return apply("Conv3DBackpropFilterV2", (input, filter_sizes, out_backprop),
                 _conv3d_attrs(strides, padding, data_format, dilations), name)


conv3d_backprop_filter = conv3d_backprop_filter_v2


def conv3d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NDHWC",
                     name=None, input=None, filters=None, dilations=None):
    """The gradient of conv3d with respect to its input: enlarges volumes by the stride."""
    value, filter = _first(value, input), _first(filter, filters)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        return apply("Conv3DBackpropInputV2", (output_shape, filter, value),
                     _conv3d_attrs(strides, padding, data_format, dilations), scope)


# Any number of dimensions.


def _rank(input, dims_of):
    """The number of spatial dimensions, of the rank of the input or of something else that tells."""
    rank = convert_to_tensor(input).shape.ndims
    if rank is None:
        rank = dims_of
    if rank is None:
        raise ValueError("the number of dimensions of the input is not known")
    return rank - 2


def convolution(input, filter=None, padding="VALID", strides=None, dilation_rate=None, name=None, data_format=None,
                filters=None, dilations=None):
    """A convolution over one, two or three dimensions, the number of which the filter tells."""
    filter, dilations = _first(filter, filters), _first(dilation_rate, dilations)
    if not isinstance(filter, Tensor):
        filter = convert_to_tensor(filter)
    dims = _rank(input, filter.shape.ndims)
    if dims in _FORMATS:
        data_format = _format(data_format, dims, "convolution")
    strides = [strides] * dims if isinstance(strides, int) else strides
    dilations = [dilations] * dims if isinstance(dilations, int) else dilations
    return _weir.convolution(_graph(), input, filter, padding, strides, dilations, data_format, name)


def conv_transpose(input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None):
    """conv1d_transpose, conv2d_transpose or conv3d_transpose, which the length of ``output_shape`` tells."""
    if isinstance(output_shape, Tensor):
        length = output_shape.shape.as_list()[0]
    elif hasattr(output_shape, "__len__"):
        length = len(output_shape)
    else:
        raise ValueError("output_shape must be a tensor or sized collection.")
    if length not in (3, 4, 5):
        raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {length}.")
    function = {3: conv1d_transpose, 4: conv2d_transpose, 5: conv3d_transpose}[length]
    with name_scope(name, "conv_transpose", [input, filters]):
        return function(input, filters, output_shape, strides, padding, data_format or _FORMATS[length - 2][0],
                        dilations=dilations)


def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """``op(input, number of spatial dimensions, "VALID")`` on every rate-th element, for all of them at once."""
    input = convert_to_tensor(input)
    rate = convert_to_tensor(dilation_rate, "int32", name="dilation_rate")
    dims = rate.shape.as_list()[0] if rate.shape.ndims == 1 else None
    if dims is None:
        raise ValueError("rate must be rank 1 and its length must be known")
    known = _weir.constant_value(rate)
    if known is not None and (known <= 0).any():
        raise ValueError("dilation_rate must be positive")
    if spatial_dims is None:
        first = 2 if _channels_first(data_format) else 1
        spatial_dims = range(first, first + dims)
    spatial_dims = sorted(set(int(d) for d in spatial_dims))
    if spatial_dims[0] < 1:
        raise ValueError("spatial_dims must be positive")
    if len(spatial_dims) != dims:
        raise ValueError("spatial_dims and dilation_rate must have the same length")
    if known is not None and (known == 1).all():
        return op(input, dims, padding)
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"Invalid padding method {padding!r}")
    base = None
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("filter_shape must be specified for SAME padding")
        extra = (convert_to_tensor(filter_shape, "int32", name="filter_shape")[:dims] - 1) * rate
        base = array_ops.stack([extra // 2, extra - extra // 2], 1)
    sizes = input.shape.as_list() if input.shape.ndims is not None else None
    if sizes is not None and all(sizes[d] is not None for d in spatial_dims):
        sizes = convert_to_tensor([sizes[d] for d in spatial_dims], "int32")
    else:
        sizes = array_ops.stack([array_ops.shape(input)[d] for d in spatial_dims])
    blocks, (paddings, crops) = rate, array_ops.required_space_to_batch_paddings(sizes, rate, base)
    # Dimensions between the spatial ones are blocks of one.
    places = [spatial_dims.index(d) if d in spatial_dims else None for d in range(1, spatial_dims[-1] + 1)]
    if len(places) != dims:
        blocks = array_ops.stack([1 if i is None else rate[i] for i in places])
        paddings, crops = (array_ops.stack([[0, 0] if i is None else pairs[i] for i in places])
                           for pairs in (paddings, crops))
    result = op(array_ops.space_to_batch_nd(input, blocks, paddings), dims, "VALID")
    return array_ops.batch_to_space_nd(result, blocks, crops)


# Pools.


def _pool(op, dims, value, ksize, strides, padding, data_format, name):
    data_format = data_format or _FORMATS[dims][0]
    return apply(op, (value,), {"ksize": _sizes(ksize, dims, data_format, "ksize"),
                                "strides": _sizes(strides, dims, data_format, "strides"), "padding": padding,
                                "data_format": data_format}, name or op)


def max_pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None):
    return _pool("MaxPool", 2, _first(value, input), ksize, strides, padding, data_format, name)


def avg_pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None):
    return _pool("AvgPool", 2, _first(value, input), ksize, strides, padding, data_format, name)


def max_pool2d(input=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, value=None):
    return _pool("MaxPool", 2, _first(input, value), ksize, strides, padding, data_format, name)


def avg_pool2d(input=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, value=None):
    return _pool("AvgPool", 2, _first(input, value), ksize, strides, padding, data_format, name)


def max_pool3d(input, ksize=None, strides=None, padding=None, data_format="NDHWC", name=None):
    return _pool("MaxPool3D", 3, input, ksize, strides, padding, data_format, name)


def avg_pool3d(input, ksize=None, strides=None, padding=None, data_format="NDHWC", name=None):
    return _pool("AvgPool3D", 3, input, ksize, strides, padding, data_format, name)


def _pool1d(op, input, ksize, strides, padding, data_format, name):
    """Through images of height one."""
    data_format = _format(data_format, 1, "pool1d")
    with name_scope(name, op + "1d", [input]):
        axis = 2 if data_format == "NCW" else 1
        image = array_ops.expand_dims(convert_to_tensor(input), axis)
        result = _pool(op, 2, image, _wide_sizes(ksize, data_format, "ksize"),
                       _wide_sizes(strides, data_format, "strides"), padding,
                       "NCHW" if data_format == "NCW" else "NHWC", None)
        return array_ops.squeeze(result, [axis])


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    return _pool1d("MaxPool", input, ksize, strides, padding, data_format, name)


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    return _pool1d("AvgPool", input, ksize, strides, padding, data_format, name)


def _pool_of_rank(op, dims, input, ksize, strides, padding, data_format, name):
    if dims == 1:
        return _pool1d(op, input, ksize, strides, padding, data_format, name)
    return _pool(op if dims == 2 else op + "3D", dims, input, ksize, strides, padding, data_format, name)


def _pool_v2(op, input, ksize, strides, padding, data_format, name):
    input = convert_to_tensor(input)
    dims = _rank(input, None if data_format is None else len(data_format))
    if dims not in _FORMATS:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {dims + 2}.")
    return _pool_of_rank(op, dims, input, ksize, strides, padding, data_format, name)


def max_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """max_pool1d, max_pool or max_pool3d, which the rank of the input tells."""
    return _pool_v2("MaxPool", input, ksize, strides, padding, data_format, name)


def avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """avg_pool1d, avg_pool or avg_pool3d, which the rank of the input tells."""
    return _pool_v2("AvgPool", input, ksize, strides, padding, data_format, name)


def pool(input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None, data_format=None,
         dilations=None):
    """A pool over one, two or three dimensions, of every ``dilation_rate``-th element."""
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pooling_type must be MAX or AVG, got {pooling_type}")
    dims = len(window_shape)
    if dims not in _FORMATS:
        raise ValueError(f"window_shape must have 1, 2 or 3 entries; it is {window_shape}")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"Invalid padding method {padding!r}")
    data_format = _format(data_format, dims, "pool")
    strides = [1] * dims if strides is None else [strides] * dims if isinstance(strides, int) else list(strides)
    rate = _first(dilation_rate, dilations)
    rate = [1] * dims if rate is None else [rate] * dims if isinstance(rate, int) else list(rate)
    if any(r < 1 for r in rate):
        raise ValueError(f"dilation_rate must be positive; it is {rate}")
    op = "MaxPool" if pooling_type == "MAX" else "AvgPool"
    if all(r == 1 for r in rate):
        return _pool_of_rank(op, dims, input, list(window_shape), strides, padding, data_format, name)
    if any(s > 1 for s in strides):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    if padding == "SAME":
        raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")

    def pooled(value, dims, padding):
        return _pool_of_rank(op, dims, value, list(window_shape), strides, padding, data_format, None)

    with name_scope(name, f"{pooling_type.lower()}_pool", [input]):
        return with_space_to_batch(input, rate, padding, pooled, data_format=data_format)


def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", Targmax=None, name=None,
                         output_dtype=None, include_batch_in_index=False):
    """(maxima, places): each place counts in its image, or in the batch with ``include_batch_in_index``."""
    if data_format is not None and not isinstance(data_format, str):  # TensorFlow 1.0: Targmax stood here
        data_format, Targmax = "NHWC", data_format
    if data_format not in (None, "NHWC"):
        raise ValueError("data_format values other than 'NHWC' are not supported")

    return op_function("MaxPoolWithArgmax")(
        input, _sizes(ksize, 2, "NHWC", "ksize"), _sizes(strides, 2, "NHWC", "strides"), padding,
        Targmax=_first(Targmax, output_dtype) or "int64", include_batch_in_index=include_batch_in_index, name=name)


# Channels by themselves.


def _rate(rate, dilations):
    """The dilation of height and width, of one number, two or one for each dimension."""
    rate = rate or dilations or 1
    rate = [rate] * 2 if isinstance(rate, int) else list(rate)
    return rate[1:3] if len(rate) == 4 else rate


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    return _weir.depthwise_conv2d(_graph(), input, filter, strides, padding, _rate(rate, dilations),
                                  data_format or "NHWC", name)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None,
                     data_format=None, dilations=None):
    return _weir.separable_conv2d(_graph(), input, depthwise_filter, pointwise_filter, strides, padding,
                                  _rate(rate, dilations), data_format or "NHWC", name)


def depthwise_conv2d_native_backprop_input(input_sizes, filter, out_backprop, strides, padding, data_format="NHWC",
                                           dilations=[1, 1, 1, 1], name=None):
    return apply("DepthwiseConv2dNativeBackpropInput", (input_sizes, filter, out_backprop),
                 {"strides": strides, "padding": padding, "data_format": data_format, "dilations": dilations}, name)


def depthwise_conv2d_native_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format="NHWC",
                                            dilations=[1, 1, 1, 1], name=None):
    return apply("DepthwiseConv2dNativeBackpropFilter", (input, filter_sizes, out_backprop),
                 {"strides": strides, "padding": padding, "data_format": data_format, "dilations": dilations}, name)


depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input
depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter