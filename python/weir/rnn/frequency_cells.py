"""LSTMs that run over frequencies as well as over time (Li et al., 2015 and 2016)."""

import collections

from weir import logging
from weir.core.variable_scope import get_variable, variable_scope
from weir.ops import array_ops, clip_ops, init_ops, math_ops, nn_ops
from weir.rnn.cells import RNNCell
from weir.rnn.gated_cells import _sharded


def _windows(inputs, first, size, feature_size, skip):
    """The windows of ``feature_size`` frequencies, ``skip`` apart, of ``size`` frequencies from ``first`` on."""
    return [array_ops.slice(inputs, [0, first + i * skip], [-1, feature_size])
            for i in range(int((size - feature_size) / skip) + 1)]


def _known_size(inputs):
    size = inputs.shape.with_rank(2).as_list()[-1]
    if size is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return size


def _batch_size(inputs):
    return inputs.shape.as_list()[0] or array_ops.shape(inputs)[0]


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
        sigmoid, tanh, units, dtype = math_ops.sigmoid, math_ops.tanh, self._num_units, inputs.dtype
        windows = _windows(inputs, 0, _known_size(inputs), self._feature_size, self._frequency_skip)
        kernel = _sharded("W", [self._feature_size + 2 * units, 4 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[4 * units], initializer=init_ops.zeros_initializer(), dtype=dtype)
        if self._use_peepholes:
            w_f, w_i, w_o = (get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in "FIO")
        below = array_ops.zeros(array_ops.stack([_batch_size(inputs), units]), dtype)
        states, outputs = [], []
        for at, window in enumerate(windows):
            c = array_ops.slice(state, [0, 2 * at * units], [-1, units])
            h = array_ops.slice(state, [0, (2 * at + 1) * units], [-1, units])
            gates = nn_ops.bias_add(math_ops.matmul(array_ops.concat([window, h, below], 1), kernel), bias)
            i, j, f, o = array_ops.split(gates, 4, axis=1)
            f = f + self._forget_bias
            if self._use_peepholes:
                f, i = f + w_f * c, i + w_i * c
            c = sigmoid(f) * c + sigmoid(i) * tanh(j)
            if self._cell_clip is not None:
                c = clip_ops.clip_by_value(c, -self._cell_clip, self._cell_clip)
            below = sigmoid(o + w_o * c if self._use_peepholes else o) * tanh(c)
            states += [c, below]
            outputs.append(below)
        return array_ops.concat(outputs, 1), array_ops.concat(states, 1)


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
        self._share, self._couple = share_time_frequency_weights, couple_input_forget_gates
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

    def call(self, inputs, state):
        batch_size = _batch_size(inputs)
        outputs, states = [], []
        for block, windows in enumerate(self._features(inputs)):
            self._compute(windows, block, state, batch_size, "state", outputs, states)
        joined = self._state_tuple_type(*states) if self._state_is_tuple else array_ops.concat(states, 1)
        return array_ops.concat(outputs, 1), joined

    def _peephole_weights(self, block, axis, dtype):
        """By gate the weights for c along frequencies and for c along time."""
        gates = "IO" if self._couple else "FIO"
        return {gate: [get_variable(f"W_{gate}_diag_{axis}{of}_{block}", shape=[self._num_units], dtype=dtype)
                       for of in "ft"] for gate in gates}

    def _weights(self, block, axis, depth, dtype):
        columns = (3 if self._couple else 4) * self._num_units
        kernel = _sharded(f"W_{axis}_{block}", [depth + 2 * self._num_units, columns], dtype, self._num_unit_shards)
        return kernel, get_variable(f"B_{axis}_{block}", shape=[columns], initializer=init_ops.zeros_initializer(),
                                    dtype=dtype)

    def _memory(self, gates, peepholes, before, c_freq, c_time):
        """What an LSTM remembers. ``gates`` are i, j, f (None when it is coupled to i)."""
        i, j, f = gates

        def looking(gate, x):
            return x if peepholes is None else x + peepholes[gate][0] * c_freq + peepholes[gate][1] * c_time

        i = math_ops.sigmoid(looking("I", i))
        f = 1.0 - i if f is None else math_ops.sigmoid(looking("F", f + self._forget_bias))
        c = f * before + i * math_ops.tanh(j)
        return c if self._cell_clip is None else clip_ops.clip_by_value(c, -self._cell_clip, self._cell_clip)

    def _compute(self, windows, block, state, batch_size, prefix, outputs, states):
        units, dtype = self._num_units, windows[0].dtype
        freq = self._weights(block, "f", windows[0].shape.as_list()[1], dtype)
        time = None if self._share else self._weights(block, "t", windows[0].shape.as_list()[1], dtype)
        freq_peep = self._peephole_weights(block, "freq", dtype) if self._use_peepholes else None
        time_peep = freq_peep
        if self._use_peepholes and not self._share:
            time_peep = self._peephole_weights(block, "time", dtype)
        m_freq = array_ops.zeros(array_ops.stack([batch_size, units]), dtype)
        c_freq = array_ops.zeros(array_ops.stack([batch_size, units]), dtype)

        def gates_of(args, weights):
            gates = array_ops.split(nn_ops.bias_add(math_ops.matmul(args, weights[0]), weights[1]),
                                    3 if self._couple else 4, axis=1)
            return (gates[0], gates[1], None if self._couple else gates[2]), gates[-1]

        def output(o, peepholes, c, c_freq, c_time):
            if peepholes is not None:
                o = o + peepholes["O"][0] * c_freq + peepholes["O"][1] * c_time
            return math_ops.sigmoid(o) * math_ops.tanh(c)

        for at, window in enumerate(windows):
            if self._state_is_tuple:
                c_time, m_time = (getattr(state, f"{prefix}_f{at:02d}_b{block:02d}_{part}") for part in "cm")
            else:
                c_time = array_ops.slice(state, [0, 2 * at * units], [-1, units])
                m_time = array_ops.slice(state, [0, (2 * at + 1) * units], [-1, units])
            args = array_ops.concat([window, m_time, m_freq], 1)
            by_freq, o_freq = gates_of(args, freq)
            by_time, o_time = (by_freq, o_freq) if self._share else gates_of(args, time)
            new_freq = self._memory(by_freq, freq_peep, c_freq, c_freq, c_time)
            new_time = self._memory(by_time, time_peep, c_time, c_freq, c_time)
            m_freq = output(o_freq, freq_peep, new_freq, new_freq, new_time)
            m_time = output(o_time, time_peep, new_time, new_freq, new_time)
            c_freq = new_freq
            states += [new_time, m_time]
            outputs += [m_time, m_freq]

    def _features(self, inputs, offset=0):
        """For each block its windows; ``offset`` moves them, and zeros come in from that side."""
        size = _known_size(inputs)
        if offset:
            inputs = array_ops.pad(inputs, [[0, 0], [max(-offset, 0), max(offset, 0)]])
            offset = max(offset, 0)
        starts, ends = self._start_freqindex_list or [0], self._end_freqindex_list or [size]
        if len(starts) != len(ends):
            raise ValueError(f"Length of start and end freqindex_list does not match {len(starts)} {len(ends)}")
        if len(self._num_frequency_blocks) != len(starts):
            raise ValueError(f"Length of num_frequency_blocks is not {len(starts)}, but instead is "
                             f"{len(self._num_frequency_blocks)}")
        blocks = []
        for wanted, start, end in zip(self._num_frequency_blocks, starts, ends):
            windows = _windows(inputs, start + offset, end - start, self._feature_size, self._frequency_skip)
            if len(windows) != wanted:
                raise ValueError(f"Invalid num_frequency_blocks, requires {wanted} but gets {len(windows)}, please check "
                                 "the input size and filter config are correct.")
            blocks.append(windows)
        return blocks


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

    def call(self, inputs, state):
        batch_size = _batch_size(inputs)
        forward = self._features(inputs)
        backward = self._features(inputs, self._backward_slice_offset) if self._backward_slice_offset else forward
        outputs, states = [], []
        for scope, blocks in (("fwd", forward), ("bwd", [windows[::-1] for windows in backward])):
            with variable_scope(scope):
                for block, windows in enumerate(blocks):
                    self._compute(windows, block, state, batch_size, scope + "_state", outputs, states)
        return array_ops.concat(outputs, 1), self._state_tuple_type(*states)
