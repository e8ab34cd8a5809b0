"""Layers of recurrent networks that run both ways, each on the joined outputs of the one below."""

from weir.core.variable_scope import variable_scope
from weir.ops import array_ops
from weir.rnn.rnn import bidirectional_dynamic_rnn, static_bidirectional_rnn


def _check(cells_fw, cells_bw, states_fw, states_bw):
    for cells, way in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not cells:
            raise ValueError(f"Must specify at least one {way} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{way} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for states, way in ((states_fw, "fw"), (states_bw, "bw")):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"initial_states_{way} must be a list of state tensors (one per layer).")


def stack_bidirectional_rnn(cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None, dtype=None,
                            sequence_length=None, scope=None):
    """``static_bidirectional_rnn`` in layers: the outputs of the last, and the states of all."""
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    none = [None] * len(cells_fw)
    states_fw, states_bw = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw, first_fw, first_bw) in enumerate(zip(cells_fw, cells_bw, initial_states_fw or none,
                                                             initial_states_bw or none)):
            with variable_scope(f"cell_{i}") as cell_scope:
                inputs, state_fw, state_bw = static_bidirectional_rnn(
                    fw, bw, inputs, initial_state_fw=first_fw, initial_state_bw=first_bw, dtype=dtype,
                    sequence_length=sequence_length, scope=cell_scope)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_dynamic_rnn(cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None,
                                    dtype=None, sequence_length=None, parallel_iterations=None, time_major=False,
                                    scope=None, swap_memory=False):
    """The same with ``bidirectional_dynamic_rnn``."""
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    none = [None] * len(cells_fw)
    states_fw, states_bw = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw, first_fw, first_bw) in enumerate(zip(cells_fw, cells_bw, initial_states_fw or none,
                                                             initial_states_bw or none)):
            with variable_scope(f"cell_{i}"):
                outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
                    fw, bw, inputs, initial_state_fw=first_fw, initial_state_bw=first_bw, dtype=dtype,
                    sequence_length=sequence_length, parallel_iterations=parallel_iterations, time_major=time_major,
                    swap_memory=swap_memory)
                inputs = array_ops.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)
