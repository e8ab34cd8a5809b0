"""AttentionCellWrapper: a cell that looks back at its own last outputs (Bahdanau et al., 2014)."""

from weir import logging, nest
from weir.core.variable_scope import get_variable, variable_scope
from weir.ops import array_ops, conv_ops, math_ops, nn_ops
from weir.rnn.cells import RNNCell, _Linear, assert_like_rnncell


class AttentionCellWrapper(RNNCell):
    """The state holds the cell's own, what it looked at last, and its last ``attn_length`` outputs."""

    def __init__(self, cell, attn_length, attn_size=None, attn_vec_size=None, input_size=None, state_is_tuple=True,
                 reuse=None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_sequence(cell.state_size) and not state_is_tuple:
            raise ValueError("Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: "
                             f"{cell.state_size}")
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                         "state_is_tuple=True.", self)
        self._cell, self._attn_length, self._state_is_tuple = cell, attn_length, state_is_tuple
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size

    @property
    def state_size(self):
        sizes = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return sizes if self._state_is_tuple else sum(sizes)

    output_size = property(lambda self: self._attn_size)

    def call(self, inputs, state):
        if not self._state_is_tuple:
            state = array_ops.split(state, [self._cell.state_size, self._attn_size,
                                            self._attn_size * self._attn_length], axis=1)
        state, look, history = state
        history = array_ops.reshape(history, [-1, self._attn_length, self._attn_size])
        size = inputs.shape.as_list()[1] if self._input_size is None else self._input_size
        inputs = _Linear([inputs, look], size, True)([inputs, look])
        cell_output, state = self._cell(inputs, state)
        query = array_ops.concat(nest.flatten(state), 1) if self._state_is_tuple else state
        look = self._attention(query, history)
        with variable_scope("attn_output_projection"):
            output = _Linear([cell_output, look], self._attn_size, True)([cell_output, look])
        history = array_ops.concat([array_ops.slice(history, [0, 1, 0], [-1, -1, -1]),
                                    array_ops.expand_dims(output, 1)], 1)
        state = (state, look, array_ops.reshape(history, [-1, self._attn_length * self._attn_size]))
        return output, state if self._state_is_tuple else array_ops.concat(list(state), 1)

    def _attention(self, query, history):
        length, size = self._attn_length, self._attn_size
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, size, self._attn_vec_size])
            vector = get_variable("attn_v", [self._attn_vec_size])
            hidden = array_ops.reshape(history, [-1, length, 1, size])
            features = conv_ops.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            y = _Linear(query, self._attn_vec_size, True)(query)
            y = array_ops.reshape(y, [-1, 1, 1, self._attn_vec_size])
            weights = nn_ops.softmax(math_ops.reduce_sum(vector * math_ops.tanh(features + y), [2, 3]))
            seen = math_ops.reduce_sum(array_ops.reshape(weights, [-1, length, 1, 1]) * hidden, [1, 2])
            return array_ops.reshape(seen, [-1, size])
