"""tf.contrib.cudnn_rnn on any device: stacks of recurrent layers, with the variables that TensorFlow's checkpoints of them
have (those of the compatible cells)."""

import weir as tf
from weir import names as _names
from weir.rnn.cudnn_cells import CudnnCompatibleGRUCell, CudnnCompatibleLSTMCell

CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = "unidirectional", "bidirectional"


class _CudnnRNN:
    """Layers [time, batch, depth] -> ([time, batch, units], states [layers, batch, units])."""

    _cell = None
    _states = 1  # how many a layer has

    def __init__(self, num_layers, num_units, input_mode="linear_input", direction=CUDNN_RNN_UNIDIRECTION, dropout=0.0,
                 seed=None, dtype=tf.float32, kernel_initializer=None, bias_initializer=None, name=None):
        if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
            raise ValueError(f"Invalid direction: {direction}, expecting {CUDNN_RNN_UNIDIRECTION} or "
                             f"{CUDNN_RNN_BIDIRECTION}")
        if input_mode not in ("linear_input", "auto_select"):
            raise ValueError(f"input_mode {input_mode!r} is not in Weir: linear_input and auto_select are.")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError("Dropout should be a number in [0, 1].")
        self._num_layers, self._num_units, self._direction = num_layers, num_units, direction
        self._dropout, self._seed, self._dtype = dropout, seed, tf.as_dtype(dtype)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer
        self._name, self._scope = name or self._default_name, None

    name = property(lambda self: self._name)
    num_layers = property(lambda self: self._num_layers)
    num_units = property(lambda self: self._num_units)
    direction = property(lambda self: self._direction)
    num_dirs = property(lambda self: 1 if self._direction == CUDNN_RNN_UNIDIRECTION else 2)
    built = property(lambda self: self._scope is not None)

    def state_shape(self, batch_size):
        return ([self._num_layers * self.num_dirs, batch_size, self._num_units],) * self._states

    @property
    def variables(self):
        return tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=self._scope.name + "/") if self._scope else []

    trainable_variables = weights = trainable_weights = variables

    def __call__(self, inputs, initial_state=None, sequence_lengths=None, time_major=True, training=True):
        inputs = tf.convert_to_tensor(inputs, dtype=self._dtype)
        if not time_major:
            inputs = tf.transpose(inputs, [1, 0, 2])
        batch = tf.shape(inputs)[1]
        if initial_state is None:
            initial_state = tuple(tf.zeros([self._num_layers * self.num_dirs, batch, self._num_units], self._dtype)
                                  for _ in range(self._states))
        if self._scope is None:
            with tf.variable_scope(None, default_name=self._name) as scope:
                self._scope, outputs = scope, self._layers(inputs, initial_state, sequence_lengths, training)
        else:
            with tf.variable_scope(self._scope, reuse=True):
                outputs = self._layers(inputs, initial_state, sequence_lengths, training)
        output, states = outputs
        return output if time_major else tf.transpose(output, [1, 0, 2]), states

    apply = __call__

    def _layers(self, net, initial_state, lengths, training):
        finals = []
        for layer in range(self._num_layers):
            if layer and training and self._dropout:
                net = tf.nn.dropout(net, keep_prob=1.0 - self._dropout, seed=self._seed)
            outputs = []
            for way in range(self.num_dirs):
                given = self._state(initial_state, layer * self.num_dirs + way)
                with tf.variable_scope(self._place(layer, way), initializer=self._kernel_initializer):
                    steps = net if way == 0 else self._reversed(net, lengths)
                    output, final = tf.nn.dynamic_rnn(self._cell(self._num_units), steps, sequence_length=lengths,
                                                      initial_state=given, time_major=True, scope=self._last(way))
                outputs.append(output if way == 0 else self._reversed(output, lengths))
                finals.append(final)
            net = outputs[0] if len(outputs) == 1 else tf.concat(outputs, 2)
        return net, self._final(finals)

    def _place(self, layer, way):
        """Where the compatible cells of a stack have their variables."""
        if self.num_dirs == 1:
            return f"rnn/multi_rnn_cell/cell_{layer}"
        return f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn"

    def _last(self, way):
        if self.num_dirs == 1:
            return tf.get_variable_scope()
        return "bw" if way else "fw"

    @staticmethod
    def _reversed(net, lengths):
        if lengths is None:
            return tf.reverse(net, [0])
        return tf.reverse_sequence(net, lengths, seq_axis=0, batch_axis=1)

    def _state(self, given, i):
        return given[0][i]

    def _final(self, finals):
        return (tf.stack(finals),)


class CudnnLSTM(_CudnnRNN):
    _cell, _states, _default_name = CudnnCompatibleLSTMCell, 2, "cudnn_lstm"

    def _state(self, given, i):
        h, c = given
        return tf.nn.rnn_cell.LSTMStateTuple(c[i], h[i])

    def _final(self, finals):
        return tf.stack([state.h for state in finals]), tf.stack([state.c for state in finals])


class CudnnGRU(_CudnnRNN):
    _cell, _default_name = CudnnCompatibleGRUCell, "cudnn_gru"


class CudnnRNNTanh(_CudnnRNN):
    _default_name = "cudnn_rnn_tanh"

    @staticmethod
    def _cell(units):
        return tf.nn.rnn_cell.BasicRNNCell(units, activation=tf.nn.tanh)


class CudnnRNNRelu(_CudnnRNN):
    _default_name = "cudnn_rnn_relu"

    @staticmethod
    def _cell(units):
        return tf.nn.rnn_cell.BasicRNNCell(units, activation=tf.nn.relu)


__getattr__, __dir__ = _names.namespace(__name__)
