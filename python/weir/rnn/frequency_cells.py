"""LSTMs that run over frequencies as well as over time (Li et al., 2015 and 2016)."""

import collections

from weir import _weir, logging
from weir.core.stack import get_default_graph as _graph
from weir.ops import array_ops
from weir.rnn.cells import RNNCell
from weir.rnn.gated_cells import _options, _weights


def _known_size(inputs):
    size = inputs.shape.with_rank(2).as_list()[-1]
    if size is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return size


class TimeFreqLSTMCell(RNNCell):
    """An LSTM that goes through windows of its input; the state holds c and h of each of them."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_unit_shards=1,
                 forget_bias=1.0, feature_size=None, frequency_skip=1, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_unit_shards, self._forget_bias = initializer, num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip

    state_size = property(lambda self: 2 * self._num_units)
    output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        _known_size(inputs)
        options = _options(self, "use_peepholes", "cell_clip", "num_unit_shards", "forget_bias", "feature_size",
                           "frequency_skip")
        output, (state,) = _weir.time_freq_lstm_step(_graph(), inputs, [state], self._num_units, options,
                                                     _weights(inputs.dtype))
        return output, state


class GridLSTMCell(RNNCell):
    """A grid of LSTMs, one along time and one along frequencies, in blocks of windows."""

    def __init__(self, num_units, use_peepholes=False, share_time_frequency_weights=False, cell_clip=None,
                 initializer=None, num_unit_shards=1, forget_bias=1.0, feature_size=None, frequency_skip=None,
                 num_frequency_blocks=None, start_freqindex_list=None, end_freqindex_list=None,
                 couple_input_forget_gates=False, state_is_tuple=True, reuse=None):
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                         "state_is_tuple=True.", self)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._share_time_frequency_weights = share_time_frequency_weights
        self._couple_input_forget_gates, self._backward_slice_offset = couple_input_forget_gates, 0
        self._num_unit_shards, self._forget_bias, self._state_is_tuple = num_unit_shards, forget_bias, state_is_tuple
        self._feature_size, self._frequency_skip = feature_size, frequency_skip
        self._start_freqindex_list, self._end_freqindex_list = start_freqindex_list, end_freqindex_list
        self._num_frequency_blocks = num_frequency_blocks
        self._total_blocks = sum(int(blocks) for blocks in num_frequency_blocks)
        self._state_tuple_type = None
        self._state_size = 2 * num_units * self._total_blocks
        if state_is_tuple:
            self._set_state_type("GridLSTMStateTuple", ["state"])
        self._output_size = 2 * num_units * self._total_blocks

    def _set_state_type(self, name, prefixes):
        fields = [f"{prefix}_f{at:02d}_b{block:02d}_{part}" for prefix in prefixes
                  for block, count in enumerate(self._num_frequency_blocks) for at in range(count) for part in "cm"]
        self._state_tuple_type = collections.namedtuple(name, fields)
        self._state_size = self._state_tuple_type(*([self._num_units] * len(fields)))

    state_size = property(lambda self: self._state_size)
    output_size = property(lambda self: self._output_size)
    state_tuple_type = property(lambda self: self._state_tuple_type)

    _step = staticmethod(_weir.grid_lstm_step)

    def _parts(self, state):
        """c and m of each window, block by block. Of a joined state every block reads the first ones, as in TensorFlow."""
        if self._state_is_tuple:
            return list(state)
        units = self._num_units
        return [array_ops.slice(state, [0, place * units], [-1, units])
                for count in self._num_frequency_blocks for place in range(2 * int(count))]

    def call(self, inputs, state):
        _known_size(inputs)
        options = _options(self, "use_peepholes", "share_time_frequency_weights", "cell_clip", "num_unit_shards",
                           "forget_bias", "feature_size", "frequency_skip", "num_frequency_blocks",
                           "start_freqindex_list", "end_freqindex_list", "couple_input_forget_gates",
                           "backward_slice_offset")
        output, states = self._step(_graph(), inputs, self._parts(state), self._num_units, options,
                                    _weights(inputs.dtype))
        return output, self._state_tuple_type(*states) if self._state_is_tuple else array_ops.concat(states, 1)


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A grid that goes through the frequencies upwards and, with weights of its own, downwards."""

    def __init__(self, num_units, use_peepholes=False, share_time_frequency_weights=False, cell_clip=None,
                 initializer=None, num_unit_shards=1, forget_bias=1.0, feature_size=None, frequency_skip=None,
                 num_frequency_blocks=None, start_freqindex_list=None, end_freqindex_list=None,
                 couple_input_forget_gates=False, backward_slice_offset=0, reuse=None):
        super().__init__(num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer,
                         num_unit_shards, forget_bias, feature_size, frequency_skip, num_frequency_blocks,
                         start_freqindex_list, end_freqindex_list, couple_input_forget_gates, True, reuse)
        self._backward_slice_offset = int(backward_slice_offset)
        self._set_state_type("BidirectionalGridLSTMStateTuple", ["fwd_state", "bwd_state"])
        self._output_size = 4 * num_units * self._total_blocks

    _step = staticmethod(_weir.bidirectional_grid_lstm_step)
