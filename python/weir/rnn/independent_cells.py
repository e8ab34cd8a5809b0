"""Cells whose units see only their own state (Li et al., 2018; Gonnet and Deselaers, 2019): the recurrent weights are a
vector and not a matrix."""

from weir import _weir
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import as_shape
from weir.ops import init_ops, math_ops
from weir.rnn.cells import LSTMStateTuple, LayerRNNCell, _or_none


class _IndependentCell(LayerRNNCell):
    def __init__(self, num_units, activation, reuse, name, dtype, kernel_initializer=None, bias_initializer=None):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._activation = num_units, activation or math_ops.tanh
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        depth = as_shape(inputs_shape).as_list()[1]
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        self._build(depth)
        self.built = True

    def _weights(self, depth, gates, prefix="", kernel="kernel_w", bias=0.0):
        """The weights of the inputs, those of the units' own state, and the bias."""
        columns = gates * self._num_units
        bias_initializer = self._bias_initializer
        if bias_initializer is None:
            bias_initializer = init_ops.constant_initializer(bias) if bias else init_ops.zeros_initializer()
        return (self.add_variable(prefix + kernel, shape=[depth, columns], initializer=self._kernel_initializer),
                self.add_variable(prefix + "kernel_u", shape=[1, columns],
                                  initializer=init_ops.random_uniform_initializer(minval=-1, maxval=1)),
                self.add_variable(prefix + "bias", shape=[columns], initializer=bias_initializer))


class IndRNNCell(_IndependentCell):
    """``BasicRNNCell`` with independent units."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None):
        super().__init__(num_units, activation, reuse, name, dtype)

    def _build(self, depth):
        self._kernel_w, self._kernel_u, self._bias = self._weights(depth, 1)

    def call(self, inputs, state):
        output, _ = _weir.ind_rnn_step(_graph(), inputs, state, (self._kernel_w, self._kernel_u, self._bias),
                                       _or_none(self._activation))
        return output, output


class IndyGRUCell(_IndependentCell):
    """``GRUCell`` with independent units."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None,
                 name=None, dtype=None):
        super().__init__(num_units, activation, reuse, name, dtype, kernel_initializer, bias_initializer)

    def _build(self, depth):
        self._gates = self._weights(depth, 2, "gates/", bias=1.0)
        self._candidate = self._weights(depth, 1, "candidate/", kernel="kernel")

    def call(self, inputs, state):
        output, _ = _weir.indy_gru_step(_graph(), inputs, state, self._gates, self._candidate,
                                        _or_none(self._activation))
        return output, output


class IndyLSTMCell(_IndependentCell):
    """``BasicLSTMCell`` with independent units."""

    def __init__(self, num_units, forget_bias=1.0, activation=None, reuse=None, kernel_initializer=None,
                 bias_initializer=None, name=None, dtype=None):
        super().__init__(num_units, activation, reuse, name, dtype, kernel_initializer, bias_initializer)
        self._forget_bias = forget_bias

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))

    def _build(self, depth):
        self._kernel_w, self._kernel_u, self._bias = self._weights(depth, 4)

    def call(self, inputs, state):
        c, h = state
        h, (c, _) = _weir.indy_lstm_step(_graph(), inputs, c, h, (self._kernel_w, self._kernel_u, self._bias),
                                         self._forget_bias, _or_none(self._activation))
        return h, LSTMStateTuple(c, h)
