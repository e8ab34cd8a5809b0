"""tf.layers: pools over one, two and three dimensions."""

from weir import _weir
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.layers.arguments import _conv_length, _data_format, _padding, _sizes
from weir.layers.base import Layer
from weir.layers.input_spec import InputSpec


class _Pooling(Layer):
    _rank, _max = 2, True

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        self.pool_size = _sizes(pool_size, self._rank, "pool_size")
        self.strides = _sizes(strides, self._rank, "strides")
        self.padding, self.data_format = _padding(padding), _data_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def call(self, inputs):
        return _weir.layer_pool(_graph(), inputs, self._max, self.pool_size, self.strides, self.padding,
                                self.data_format)

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for i in range(self._rank):
            sizes[first + i] = _conv_length(sizes[first + i], self.pool_size[i], self.padding, self.strides[i])
        return TensorShape(sizes)


class MaxPooling1D(_Pooling):
    _rank = 1


class MaxPooling2D(_Pooling):
    _rank = 2


class MaxPooling3D(_Pooling):
    _rank = 3


class AveragePooling1D(_Pooling):
    _rank, _max = 1, False


class AveragePooling2D(_Pooling):
    _rank, _max = 2, False


class AveragePooling3D(_Pooling):
    _rank, _max = 3, False


def max_pooling1d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    return MaxPooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


def max_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    return MaxPooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


def max_pooling3d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    return MaxPooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


def average_pooling1d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    return AveragePooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


def average_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    return AveragePooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


def average_pooling3d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    return AveragePooling3D(pool_size, strides, padding, data_format, name).apply(inputs)
