"""Cells whose weights are those of cuDNN's, so that what was trained there runs step by step."""

from weir.ops import array_ops, init_ops, math_ops, nn_ops
from weir.rnn.cells import GRUCell
from weir.rnn.fused import LSTMBlockCell


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM without a forget bias of its own."""

    def __init__(self, num_units, reuse=None):
        super().__init__(num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse,
                         name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """A GRU that resets after the product with the state, and not before."""

    def __init__(self, num_units, reuse=None, kernel_initializer=None):
        super().__init__(num_units, activation=None, reuse=reuse, kernel_initializer=kernel_initializer)

    def _build(self, depth):
        units, kernel = self._num_units, self._kernel_initializer
        self._gate_kernel, self._gate_bias = self._add_linear(depth + units, 2 * units, "gates/", kernel,
                                                              init_ops.constant_initializer(1.0))
        self._candidate_input_kernel, self._candidate_hidden_kernel = (
            self.add_variable(f"candidate/{part}_projection/kernel", [rows, units], initializer=kernel)
            for part, rows in (("input", depth), ("hidden", units)))
        self._candidate_input_bias, self._candidate_hidden_bias = (
            self.add_variable(f"candidate/{part}_projection/bias", [units], initializer=init_ops.zeros_initializer())
            for part in ("input", "hidden"))

    def call(self, inputs, state):
        gates = math_ops.matmul(array_ops.concat([inputs, state], 1), self._gate_kernel)
        r, u = array_ops.split(math_ops.sigmoid(nn_ops.bias_add(gates, self._gate_bias)), 2, axis=1)
        candidate = nn_ops.bias_add(math_ops.matmul(inputs, self._candidate_input_kernel), self._candidate_input_bias)
        candidate += r * nn_ops.bias_add(math_ops.matmul(state, self._candidate_hidden_kernel),
                                         self._candidate_hidden_bias)
        state = (1 - u) * self._activation(candidate) + u * state
        return state, state
