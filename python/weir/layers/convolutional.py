"""tf.layers: convolutions, separable and transposed ones, over one, two and three dimensions."""

from weir import _weir
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.layers.arguments import (_activation, _conv_length, _data_format, _deconv_length, _initializer, _padding,
                                   _sizes)
from weir.layers.base import Layer
from weir.layers.input_spec import InputSpec
from weir.ops.init_ops import zeros_initializer


class _Convolution(Layer):
    """What convolutions over ``rank`` dimensions share."""

    def __init__(self, rank, filters, kernel_size, strides=1, padding="valid", data_format="channels_last",
                 dilation_rate=1, activation=None, use_bias=True, bias_initializer=zeros_initializer(),
                 bias_regularizer=None, activity_regularizer=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.rank, self.filters = rank, filters
        self.kernel_size = _sizes(kernel_size, rank, "kernel_size")
        self.strides = _sizes(strides, rank, "strides")
        self.padding = _padding(padding)
        if self.padding == "causal" and rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.data_format = _data_format(data_format)
        self.dilation_rate = _sizes(dilation_rate, rank, "dilation_rate")
        self.activation, self.use_bias = _activation(activation), use_bias
        self.bias_initializer, self.bias_regularizer = _initializer(bias_initializer), bias_regularizer
        self.bias_constraint, self.bias = bias_constraint, None
        self.input_spec = InputSpec(ndim=rank + 2)

    def _channels(self, input_shape):
        """The number of channels, which from now on no input may contradict."""
        axis = 1 if self.data_format == "channels_first" else -1
        channels = TensorShape(input_shape).as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return channels

    def _add_bias(self):
        if self.use_bias:
            self.bias = self.add_weight("bias", shape=(self.filters,), initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint,
                                        trainable=True)

    def _activated(self, outputs):
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for i in range(self.rank):
            sizes[first + i] = _conv_length(sizes[first + i], self.kernel_size[i], self.padding, self.strides[i],
                                            self.dilation_rate[i])
        sizes[1 if first == 2 else -1] = self.filters
        return TensorShape(sizes)


class Conv(_Convolution):
    """A convolution over ``rank`` dimensions."""

    def __init__(self, rank, filters, kernel_size, kernel_initializer=None, kernel_regularizer=None,
                 kernel_constraint=None, **kwargs):
        super().__init__(rank, filters, kernel_size, **kwargs)
        self.kernel_initializer, self.kernel_regularizer = _initializer(kernel_initializer), kernel_regularizer
        self.kernel_constraint, self.kernel, self._rate = kernel_constraint, None, None

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self.kernel = self.add_weight("kernel", shape=self.kernel_size + (channels, self.filters),
                                      initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint, trainable=True)
        self._add_bias()
        self._rate = _weir.dilation_rate_constant(_graph(), self.dilation_rate)
        self.built = True

    def call(self, inputs):
        return self._activated(_weir.layer_conv(_graph(), inputs, self.kernel, self.bias, self._rate, self.strides,
                                                self.dilation_rate, self.padding, self.data_format))


class _ConvTranspose(Conv):
    def __init__(self, rank, *args, output_padding=None, **kwargs):
        super().__init__(rank, *args, **kwargs)
        self.output_padding = None if output_padding is None else _sizes(output_padding, rank, "output_padding")
        for stride, pad in zip(self.strides, self.output_padding or ()):
            if pad >= stride:
                raise ValueError(f"Stride {self.strides} must be greater than output padding {self.output_padding}")

    def build(self, input_shape):
        shape = TensorShape(input_shape)
        if shape.ndims != self.rank + 2:
            raise ValueError(f"Inputs should have rank {self.rank + 2}. Received input shape: {shape}")
        channels = self._channels(input_shape)
        self.kernel = self.add_weight("kernel", shape=self.kernel_size + (self.filters, channels),
                                      initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint, trainable=True)
        self._add_bias()
        self.built = True

    def call(self, inputs):
        return self._activated(_weir.layer_conv_transpose(
            _graph(), inputs, self.kernel, self.bias, self.strides, self.dilation_rate, self.padding, self.data_format,
            self.output_padding))

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for i in range(self.rank):
            pad = None if self.output_padding is None else self.output_padding[i]
            sizes[first + i] = _deconv_length(sizes[first + i], self.kernel_size[i], self.padding, pad, self.strides[i],
                                              self.dilation_rate[i])
        sizes[1 if first == 2 else -1] = self.filters
        return TensorShape(sizes)


class _SeparableConv(_Convolution):
    def __init__(self, rank, filters, kernel_size, depth_multiplier=1, depthwise_initializer=None,
                 pointwise_initializer=None, depthwise_regularizer=None, pointwise_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, **kwargs):
        super().__init__(rank, filters, kernel_size, **kwargs)
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = _initializer(depthwise_initializer)
        self.pointwise_initializer = _initializer(pointwise_initializer)
        self.depthwise_regularizer, self.pointwise_regularizer = depthwise_regularizer, pointwise_regularizer
        self.depthwise_constraint, self.pointwise_constraint = depthwise_constraint, pointwise_constraint
        self.depthwise_kernel = self.pointwise_kernel = None

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", shape=self.kernel_size + (channels, self.depth_multiplier),
            initializer=self.depthwise_initializer, regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint, trainable=True)
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", shape=(1,) * self.rank + (self.depth_multiplier * channels, self.filters),
            initializer=self.pointwise_initializer, regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint, trainable=True)
        self._add_bias()
        self.built = True

    def call(self, inputs):
        return self._activated(_weir.layer_separable_conv(
            _graph(), inputs, self.depthwise_kernel, self.pointwise_kernel, self.bias, self.strides,
            self.dilation_rate, self.padding, self.data_format))


class Conv1D(Conv):
    """A convolution of signals."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(1, filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                         dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
                         kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                         kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)


def conv1d(inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
           activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
           kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
           bias_constraint=None, trainable=True, name=None, reuse=None):
    return Conv1D(filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                  dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
                  kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                  kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                  activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
                  bias_constraint=bias_constraint, trainable=trainable, name=name, _reuse=reuse, _scope=name).apply(inputs)


class Conv2D(Conv):
    """A convolution of images."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                 dilation_rate=(1, 1), activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(2, filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                         dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
                         kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                         kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)


def conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
           dilation_rate=(1, 1), activation=None, use_bias=True, kernel_initializer=None,
           bias_initializer=zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
           reuse=None):
    return Conv2D(filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                  dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
                  kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                  kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                  activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
                  bias_constraint=bias_constraint, trainable=trainable, name=name, _reuse=reuse, _scope=name).apply(inputs)


class Conv3D(Conv):
    """A convolution of volumes."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
                 dilation_rate=(1, 1, 1), activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(3, filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                         dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
                         kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                         kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)


def conv3d(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
           dilation_rate=(1, 1, 1), activation=None, use_bias=True, kernel_initializer=None,
           bias_initializer=zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
           reuse=None):
    return Conv3D(filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                  dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
                  kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                  kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                  activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
                  bias_constraint=bias_constraint, trainable=trainable, name=name, _reuse=reuse, _scope=name).apply(inputs)


class SeparableConv1D(_SeparableConv):
    """A convolution of signals channel by channel, then one across the channels."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None,
                 pointwise_initializer=None, bias_initializer=zeros_initializer(), depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True,
                 name=None, **kwargs):
        super().__init__(1, filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                         dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation,
                         use_bias=use_bias, depthwise_initializer=depthwise_initializer,
                         pointwise_initializer=pointwise_initializer, bias_initializer=bias_initializer,
                         depthwise_regularizer=depthwise_regularizer, pointwise_regularizer=pointwise_regularizer,
                         bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                         depthwise_constraint=depthwise_constraint, pointwise_constraint=pointwise_constraint,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)


def separable_conv1d(inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last",
                     dilation_rate=1, depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None,
                     pointwise_initializer=None, bias_initializer=zeros_initializer(), depthwise_regularizer=None,
                     pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                     depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True,
                     name=None, reuse=None):
    return SeparableConv1D(filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                           dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation,
                           use_bias=use_bias, depthwise_initializer=depthwise_initializer,
                           pointwise_initializer=pointwise_initializer, bias_initializer=bias_initializer,
                           depthwise_regularizer=depthwise_regularizer, pointwise_regularizer=pointwise_regularizer,
                           bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                           depthwise_constraint=depthwise_constraint, pointwise_constraint=pointwise_constraint,
                           bias_constraint=bias_constraint, trainable=trainable, name=name, _reuse=reuse, _scope=name).apply(inputs)


class SeparableConv2D(_SeparableConv):
    """A convolution of images channel by channel, then one across the channels."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                 dilation_rate=(1, 1), depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None,
                 pointwise_initializer=None, bias_initializer=zeros_initializer(), depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True,
                 name=None, **kwargs):
        super().__init__(2, filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                         dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation,
                         use_bias=use_bias, depthwise_initializer=depthwise_initializer,
                         pointwise_initializer=pointwise_initializer, bias_initializer=bias_initializer,
                         depthwise_regularizer=depthwise_regularizer, pointwise_regularizer=pointwise_regularizer,
                         bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                         depthwise_constraint=depthwise_constraint, pointwise_constraint=pointwise_constraint,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)


def separable_conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                     dilation_rate=(1, 1), depth_multiplier=1, activation=None, use_bias=True,
                     depthwise_initializer=None, pointwise_initializer=None, bias_initializer=zeros_initializer(),
                     depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                     activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None,
                     bias_constraint=None, trainable=True, name=None, reuse=None):
    return SeparableConv2D(filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                           dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation,
                           use_bias=use_bias, depthwise_initializer=depthwise_initializer,
                           pointwise_initializer=pointwise_initializer, bias_initializer=bias_initializer,
                           depthwise_regularizer=depthwise_regularizer, pointwise_regularizer=pointwise_regularizer,
                           bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                           depthwise_constraint=depthwise_constraint, pointwise_constraint=pointwise_constraint,
                           bias_constraint=bias_constraint, trainable=trainable, name=name, _reuse=reuse, _scope=name).apply(inputs)


class Conv2DTranspose(_ConvTranspose):
    """The transpose of a convolution of images: enlarges them by the strides."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                 activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(2, filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                         activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                         bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                         bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                         kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable,
                         name=name, **kwargs)


def conv2d_transpose(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                     activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
                     kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                     kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):
    return Conv2DTranspose(filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                           activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                           bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                           bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                           kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable,
                           name=name, _reuse=reuse, _scope=name).apply(inputs)


class Conv3DTranspose(_ConvTranspose):
    """The transpose of a convolution of volumes: enlarges them by the strides."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
                 activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(3, filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                         activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                         bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                         bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                         kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable,
                         name=name, **kwargs)


def conv3d_transpose(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
                     activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
                     kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                     kernel_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):
    return Conv3DTranspose(filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
                           activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                           bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                           bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                           kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable,
                           name=name, _reuse=reuse, _scope=name).apply(inputs)


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
SeparableConvolution2D = SeparableConv2D
Convolution2DTranspose = Deconvolution2D = Deconv2D = Conv2DTranspose
Convolution3DTranspose = Deconvolution3D = Deconv3D = Conv3DTranspose
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
separable_convolution2d = separable_conv2d
convolution2d_transpose = deconvolution2d = deconv2d = conv2d_transpose
convolution3d_transpose = deconvolution3d = deconv3d = conv3d_transpose
