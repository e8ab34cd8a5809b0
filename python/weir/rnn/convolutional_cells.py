"""LSTMs whose inputs and states are pictures (Shi et al., 2015)."""

from weir.core.tensor_shape import TensorShape
from weir.core.variable_scope import get_variable
from weir.ops import array_ops, conv_ops, init_ops, math_ops
from weir.rnn.cells import LSTMStateTuple, RNNCell


def _convolved(args, kernel_shape, features, bias):
    x = array_ops.concat(args, axis=-1)
    rank = x.shape.ndims
    if rank not in (3, 4, 5) or any(arg.shape.ndims != rank for arg in args):
        raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {[arg.shape.as_list() for arg in args]}")
    kernel = get_variable("kernel", kernel_shape + [x.shape.as_list()[-1], features], dtype=x.dtype)
    convolve = {3: conv_ops.conv1d, 4: conv_ops.conv2d, 5: conv_ops.conv3d}[rank]
    result = convolve(x, kernel, 1 if rank == 3 else [1] * rank, padding="SAME")
    if not bias:
        return result
    return result + get_variable("biases", [features], dtype=x.dtype, initializer=init_ops.constant_initializer(0.0))


class ConvLSTMCell(RNNCell):
    """``input_shape`` is that of an input without its batch; the state has ``output_channels`` channels."""

    def __init__(self, conv_ndims, input_shape, output_channels, kernel_shape, use_bias=True, skip_connection=False,
                 forget_bias=1.0, initializers=None, name="conv_lstm_cell"):
        super().__init__(name=name)
        input_shape = TensorShape(input_shape).as_list()
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims, self._kernel_shape, self._output_channels = conv_ndims, list(kernel_shape), output_channels
        self._use_bias, self._skip_connection, self._forget_bias = use_bias, skip_connection, forget_bias
        size = TensorShape(input_shape[:-1] + [output_channels])
        self._state_size = LSTMStateTuple(size, size)
        channels = output_channels + (input_shape[-1] if skip_connection else 0)
        self._output_size = TensorShape(input_shape[:-1] + [channels])

    state_size = property(lambda self: self._state_size)
    output_size = property(lambda self: self._output_size)

    def call(self, inputs, state, scope=None):
        c, h = state
        gates = _convolved([inputs, h], self._kernel_shape, 4 * self._output_channels, self._use_bias)
        i, j, f, o = array_ops.split(gates, 4, axis=self._conv_ndims + 1)
        c = math_ops.sigmoid(f + self._forget_bias) * c
        c += math_ops.sigmoid(i) * math_ops.tanh(j)
        output = math_ops.tanh(c) * math_ops.sigmoid(o)
        if self._skip_connection:
            output = array_ops.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(c, output)


class Conv1DLSTMCell(ConvLSTMCell):
    def __init__(self, name="conv_1d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    def __init__(self, name="conv_2d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    def __init__(self, name="conv_3d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=3, name=name, **kwargs)
