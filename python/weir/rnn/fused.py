"""Cells that are one operation a step or a sequence, and what makes other cells run along sequences like them."""

import abc

from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.core.tensor_shape import as_shape
from weir.ops import array_ops, init_ops, math_ops
from weir.rnn.cells import LSTMStateTuple, LayerRNNCell, RNNCell
from weir.rnn.rnn import dynamic_rnn, static_rnn


class GRUBlockCell(LayerRNNCell):
    """``GRUCell`` as one operation, with variables of other names."""

    _names = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(self, num_units=None, cell_size=None, reuse=None, name="gru_cell"):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size = cell_size if num_units is None else num_units

    state_size = property(lambda self: self._cell_size)
    output_size = property(lambda self: self._cell_size)

    def build(self, input_shape):
        depth = as_shape(input_shape).as_list()[1]
        if depth is None:
            raise ValueError("Expecting input_size to be set.")
        units, (w_ru, b_ru, w_c, b_c) = self._cell_size, self._names
        self._gate_kernel = self.add_variable(w_ru, [depth + units, 2 * units])
        self._gate_bias = self.add_variable(b_ru, [2 * units], initializer=init_ops.constant_initializer(1.0))
        self._candidate_kernel = self.add_variable(w_c, [depth + units, units])
        self._candidate_bias = self.add_variable(b_c, [units], initializer=init_ops.constant_initializer(0.0))
        self.built = True

    def call(self, inputs, h_prev):
        found = h_prev.shape.with_rank(2).as_list()[1]
        if found is not None and found != self._cell_size:
            raise ValueError(f"Shape of h_prev[1] incorrect: cell_size {self._cell_size} vs {found}")
        state = apply("GRUBlockCell", (inputs, h_prev, self._gate_kernel, self._candidate_kernel, self._gate_bias,
                                       self._candidate_bias), {}, None)[3]
        return state, state


class GRUBlockCellV2(GRUBlockCell):
    """The same with ``GRUCell``'s names of variables, so that checkpoints fit both."""

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


class _BlockLSTM:
    """The weights that the fused LSTMs have, in the names of ``LSTMCell`` (with gates in the order i, c, f, o)."""

    def _add_weights(self, depth):
        units = self._num_units
        if not depth:
            raise ValueError("Expecting inputs_shape[-1] to be set")
        self._kernel = self.add_variable("kernel", [depth + units, 4 * units])
        self._bias = self.add_variable("bias", [4 * units], initializer=init_ops.constant_initializer(0.0))
        if self._use_peephole:
            self._w_i_diag, self._w_f_diag, self._w_o_diag = (
                self.add_variable(f"w_{gate}_diag", [units]) for gate in "ifo")
        self.built = True

    def _weights(self, dtype):
        if self._use_peephole:
            peepholes = (self._w_i_diag, self._w_f_diag, self._w_o_diag)
        else:
            peepholes = (array_ops.zeros([self._num_units], dtype=dtype),) * 3
        return (self._kernel, *peepholes, self._bias)

    def _attrs(self):
        return {"forget_bias": self._forget_bias, "cell_clip": self._cell_clip, "use_peephole": self._use_peephole}


class LSTMBlockCell(_BlockLSTM, LayerRNNCell):
    """``LSTMCell`` as one operation a step."""

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, dtype=None, reuse=None,
                 name="lstm_cell"):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units, self._forget_bias, self._use_peephole = num_units, forget_bias, use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        self._add_weights(as_shape(inputs_shape).as_list()[1])

    def call(self, inputs, state):
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        outputs = apply("LSTMBlockCell", (inputs, *state, *self._weights(inputs.dtype)), self._attrs(), None)
        return outputs[6], LSTMStateTuple(outputs[1], outputs[6])


class LSTMBlockWrapper(RNNCell):
    """An LSTM that is called with a whole sequence: ``_call_cell`` gives memories and outputs of all its steps."""

    @property
    def num_units(self):
        raise NotImplementedError("Abstract method")

    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        raise NotImplementedError("Abstract method")

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        stacked = array_ops.stack(inputs) if isinstance(inputs, list) else inputs
        return super().__call__(stacked, initial_state, scope=scope, dtype=dtype, sequence_length=sequence_length,
                                as_list=isinstance(inputs, list))

    def call(self, inputs, initial_state=None, dtype=None, sequence_length=None, as_list=False):
        shape = inputs.shape.with_rank(3).as_list()
        if not shape[2]:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {shape}")
        batch_size = shape[1] or array_ops.shape(inputs)[1]
        steps = shape[0] or array_ops.shape(inputs)[0]
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = array_ops.zeros(array_ops.stack([batch_size, self.num_units]), dtype=dtype)
            initial_state = zeros, zeros
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        dtype = dtype or initial_state[0].dtype
        c_first, h_first = initial_state
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        states, outputs = self._call_cell(inputs, c_first, h_first, dtype, sequence_length)
        if sequence_length is None:
            last = LSTMStateTuple(states[-1], outputs[-1])
        else:
            mask = array_ops.transpose(array_ops.sequence_mask(sequence_length, steps, dtype=dtype), [1, 0])
            outputs *= array_ops.expand_dims(mask, -1)
            # Of each sequence the state at its own end; an empty one ends where it begins.
            ends = array_ops.stack([sequence_length, math_ops.range(batch_size)], axis=1)
            last = LSTMStateTuple(*(array_ops.gather_nd(array_ops.concat([array_ops.expand_dims(first, 0), all_], 0), ends)
                                    for first, all_ in ((c_first, states), (h_first, outputs))))
        return array_ops.unstack(outputs) if as_list else outputs, last


class LSTMBlockFusedCell(_BlockLSTM, LSTMBlockWrapper):
    """An LSTM along a whole sequence [time, batch, size] as one operation."""

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, reuse=None, dtype=None,
                 name="lstm_fused_cell"):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._forget_bias, self._use_peephole = num_units, forget_bias, use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip

    num_units = property(lambda self: self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def build(self, input_shape):
        self._add_weights(as_shape(input_shape).as_list()[2])

    def _call_cell(self, inputs, initial_cell_state=None, initial_output=None, dtype=None, sequence_length=None):
        longest = array_ops.shape(inputs)[0] if sequence_length is None else math_ops.reduce_max(sequence_length)
        outputs = apply("BlockLSTM", (math_ops.cast(longest, "int64"), inputs, initial_cell_state, initial_output,
                                      *self._weights(dtype)), self._attrs(), None)
        return outputs[1], outputs[6]


class FusedRNNCell(abc.ABC):
    """What runs along a whole sequence at once: inputs [time, batch, size] or a list of its steps."""

    @abc.abstractmethod
    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """Outputs like the inputs, and the last state."""


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell as one that runs along whole sequences."""

    def __init__(self, cell, use_dynamic_rnn=False):
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        is_list = isinstance(inputs, list)
        options = dict(sequence_length=sequence_length, initial_state=initial_state, dtype=dtype, scope=scope)
        if self._use_dynamic_rnn:
            outputs, state = dynamic_rnn(self._cell, array_ops.stack(inputs) if is_list else inputs, time_major=True,
                                         **options)
            return array_ops.unstack(outputs) if is_list else outputs, state
        outputs, state = static_rnn(self._cell, inputs if is_list else array_ops.unstack(inputs), **options)
        return outputs if is_list else array_ops.stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """Another one backwards; each sequence from its own end on."""

    def __init__(self, cell):
        self._cell = cell

    @staticmethod
    def _reverse(x, lengths):
        if isinstance(x, list):
            return list(reversed(x))
        return array_ops.reverse_v2(x, [0]) if lengths is None else array_ops.reverse_sequence(x, lengths, 0, 1)

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        outputs, state = self._cell(self._reverse(inputs, sequence_length), initial_state=initial_state, dtype=dtype,
                                    sequence_length=sequence_length, scope=scope)
        return self._reverse(outputs, sequence_length), state
