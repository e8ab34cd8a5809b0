"""LSTMs whose inputs and states are pictures (Shi et al., 2015)."""

from weir import _weir
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.rnn.cells import LSTMStateTuple, RNNCell
from weir.rnn.gated_cells import _weights


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
        output, (c, _) = _weir.conv_lstm_step(_graph(), inputs, list(state), self._output_channels, self._kernel_shape,
                                              self._use_bias, self._skip_connection, self._forget_bias,
                                              _weights(inputs.dtype))
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
