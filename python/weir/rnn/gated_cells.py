"""Gated cells of tf.contrib.rnn: coupled gates, normalised layers, groups, clocks, and those that a search found."""

from weir import _weir, logging
from weir.core.graph import Tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import as_shape
from weir.core.variable_scope import get_variable, get_variable_scope, variable_scope
from weir.ops import array_ops, init_ops, math_ops, nn_ops
from weir.rnn.cells import LSTMStateTuple, LayerRNNCell, RNNCell, _Linear, _or_none


def _known_depth(inputs):
    depth = inputs.shape.with_rank(2).as_list()[1]
    if depth is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return depth


def _weights(dtype):
    """Where a step of C++ gets its variables: from the scope of the call, in the order in which it asks."""

    def weight(name, shape, initializer, trainable):
        return get_variable(name, list(shape), dtype=dtype, initializer=initializer, trainable=trainable)

    return weight


def _options(cell, *names):
    """A cell's options by name, as C++ takes them."""
    found = {name: getattr(cell, "_" + name) for name in names}
    if "activation" in found:
        found["activation"] = _or_none(found["activation"])
    return found


class _LSTMSizes:
    """The state and output of an LSTM with an optional projection."""

    _state_is_tuple = True

    @property
    def state_size(self):
        sizes = LSTMStateTuple(self._num_units, self._num_proj or self._num_units)
        return sizes if self._state_is_tuple else sum(sizes)

    output_size = property(lambda self: self._num_proj or self._num_units)


class CoupledInputForgetGateLSTMCell(_LSTMSizes, RNNCell):
    """An LSTM that takes in as much as it forgets."""

    def __init__(self, num_units, use_peepholes=False, initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=1, num_proj_shards=1, forget_bias=1.0, state_is_tuple=True, activation=math_ops.tanh,
                 reuse=None, layer_norm=False, norm_gain=1.0, norm_shift=0.0):
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                         "state_is_tuple=True.", self)
        self._num_units, self._use_peepholes, self._initializer = num_units, use_peepholes, initializer
        self._num_proj, self._proj_clip, self._forget_bias = num_proj, proj_clip, forget_bias
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._state_is_tuple, self._activation = state_is_tuple, activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    def call(self, inputs, state):
        units, h_size = self._num_units, self._num_proj or self._num_units
        joined = isinstance(state, Tensor)  # so were states before TensorFlow 1.0
        parts = array_ops.split(state, [units, h_size], axis=1) if joined else list(state)
        _known_depth(inputs)
        options = _options(self, "use_peepholes", "num_proj", "proj_clip", "num_unit_shards", "num_proj_shards",
                           "forget_bias", "activation", "layer_norm", "norm_gain", "norm_shift")
        h, (c, _) = _weir.coupled_lstm_step(_graph(), inputs, parts, units, options, _weights(inputs.dtype))
        return h, array_ops.concat([c, h], 1) if joined else LSTMStateTuple(c, h)


class LayerNormBasicLSTMCell(RNNCell):
    """A basic LSTM whose gates and memory are normalised, with dropout that leaves the memory alone."""

    def __init__(self, num_units, forget_bias=1.0, input_size=None, activation=math_ops.tanh, layer_norm=True,
                 norm_gain=1.0, norm_shift=0.0, dropout_keep_prob=1.0, dropout_prob_seed=None, reuse=None):
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units, self._activation, self._forget_bias = num_units, activation, forget_bias
        self._dropout_keep_prob, self._dropout_prob_seed = dropout_keep_prob, dropout_prob_seed
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        options = _options(self, "forget_bias", "activation", "layer_norm", "norm_gain", "norm_shift",
                           "dropout_keep_prob", "dropout_prob_seed")
        h, (c, _) = _weir.layer_norm_basic_lstm_step(_graph(), inputs, list(state), self._num_units, options,
                                                     _weights(inputs.dtype))
        return h, LSTMStateTuple(c, h)


class LayerNormLSTMCell(_LSTMSizes, RNNCell):
    """An LSTM with peepholes, clipping and projection whose gates and memory may be normalised."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
                 forget_bias=1.0, activation=None, layer_norm=False, norm_gain=1.0, norm_shift=0.0, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip = initializer, num_proj, proj_clip
        self._forget_bias, self._activation = forget_bias, activation or math_ops.tanh
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    def call(self, inputs, state):
        _known_depth(inputs)
        options = _options(self, "use_peepholes", "cell_clip", "num_proj", "proj_clip", "forget_bias", "activation",
                           "layer_norm", "norm_gain", "norm_shift")
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            h, (c, _) = _weir.layer_norm_lstm_step(_graph(), inputs, list(state), self._num_units, options,
                                                   _weights(inputs.dtype))
        return h, LSTMStateTuple(c, h)


class WeightNormLSTMCell(_LSTMSizes, RNNCell):
    """An LSTM whose weights are directions and lengths (Salimans and Kingma, 2016)."""

    def __init__(self, num_units, norm=True, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None,
                 proj_clip=None, forget_bias=1, activation=None, reuse=None):
        super().__init__(_reuse=reuse, name="wn_lstm_cell")
        self._num_units, self._norm, self._initializer = num_units, norm, initializer
        self._use_peepholes, self._cell_clip, self._forget_bias = use_peepholes, cell_clip, forget_bias
        self._num_proj, self._proj_clip, self._activation = num_proj, proj_clip, activation or math_ops.tanh

    def call(self, inputs, state):
        _known_depth(inputs)
        options = _options(self, "norm", "use_peepholes", "cell_clip", "num_proj", "proj_clip", "forget_bias",
                           "activation")
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            h, (c, _) = _weir.weight_norm_lstm_step(_graph(), inputs, list(state), self._num_units, options,
                                                    _weights(inputs.dtype))
        return h, LSTMStateTuple(c, h)


class NASCell(_LSTMSizes, LayerRNNCell):
    """The cell that a search over architectures found (Zoph and Le, 2016)."""

    _NAS_BASE = 8

    def __init__(self, num_units, num_proj=None, use_bias=False, reuse=None, **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    def build(self, inputs_shape):
        depth = as_shape(inputs_shape).with_rank(2).as_list()[1]
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        columns = self._NAS_BASE * self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self._num_proj or self._num_units, columns])
        self.kernel = self.add_variable("kernel", [depth, columns])
        if self._use_bias:
            self.bias = self.add_variable("bias", shape=[columns], initializer=init_ops.zeros_initializer())
        if self._num_proj is not None:
            self.projection_weights = self.add_variable("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs, state):
        c, m = state
        weights = (self.recurrent_kernel, self.kernel, self.bias if self._use_bias else None,
                   None if self._num_proj is None else self.projection_weights)
        m, (c, _) = _weir.nas_step(_graph(), inputs, c, m, weights)
        return m, LSTMStateTuple(c, m)


class UGRNNCell(RNNCell):
    """A cell with a single gate, between a plain one and a GRU (Collins et al., 2016)."""

    def __init__(self, num_units, initializer=None, forget_bias=1.0, activation=math_ops.tanh, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._activation = forget_bias, activation

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        _known_depth(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            kernel, bias = _Linear([inputs, state], 2 * self._num_units, True).weights
            output, _ = _weir.ugrnn_step(_graph(), inputs, state, kernel, bias, self._forget_bias,
                                         _or_none(self._activation))
        return output, output


class IntersectionRNNCell(RNNCell):
    """A cell with one gate through time and one through depth (Collins et al., 2016)."""

    def __init__(self, num_units, num_in_proj=None, initializer=None, forget_bias=1.0, y_activation=nn_ops.relu,
                 reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._num_input_proj, self._initializer = num_units, num_in_proj, initializer
        self._forget_bias, self._y_activation = forget_bias, y_activation

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        _known_depth(inputs)
        options = {"num_in_proj": self._num_input_proj or None, "forget_bias": self._forget_bias,
                   "y_activation": self._y_activation}
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            y, (h,) = _weir.intersection_step(_graph(), inputs, [state], self._num_units, options,
                                              _weights(inputs.dtype))
        return y, h


class PhasedLSTMCell(RNNCell):
    """An LSTM whose units are open only during a part of their own period (Neil et al., 2016).

    Its inputs are ``(time, x)``; units learn period, phase and share of open time."""

    def __init__(self, num_units, use_peepholes=False, leak=0.001, ratio_on=0.1, trainable_ratio_on=True,
                 period_init_min=1.0, period_init_max=1000.0, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._period_init_min, self._period_init_max = period_init_min, period_init_max

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        time, x = inputs
        options = _options(self, "use_peepholes", "leak", "ratio_on", "trainable_ratio_on", "period_init_min",
                           "period_init_max")
        h, (c, _) = _weir.phased_lstm_step(_graph(), time, x, list(state), self._num_units, options, _weights(None))
        return h, LSTMStateTuple(c, h)


class GLSTMCell(_LSTMSizes, RNNCell):
    """An LSTM in groups that do not see each other (Kuchaiev and Ginsburg, 2017)."""

    def __init__(self, num_units, initializer=None, num_proj=None, number_of_groups=1, forget_bias=1.0,
                 activation=math_ops.tanh, reuse=None):
        super().__init__(_reuse=reuse)
        for size, what in ((num_units, "num_units"), (num_proj or 0, "num_proj")):
            if size % number_of_groups:
                raise ValueError(f"{what} must be divisible by number_of_groups")
        self._num_units, self._initializer, self._num_proj = num_units, initializer, num_proj
        self._number_of_groups, self._forget_bias, self._activation = number_of_groups, forget_bias, activation

    def call(self, inputs, state):
        if inputs.shape.as_list()[1] is None:
            raise ValueError("input size must be statically known")
        options = _options(self, "num_proj", "number_of_groups", "forget_bias", "activation")
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            h, (c, _) = _weir.group_lstm_step(_graph(), inputs, list(state), self._num_units, options,
                                              _weights(inputs.dtype))
        return h, LSTMStateTuple(c, h)


class SRUCell(LayerRNNCell):
    """Simple recurrent units: the products do not depend on the step before (Lei et al., 2017)."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units, self._activation = num_units, activation or math_ops.tanh

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        depth = as_shape(inputs_shape).as_list()[1]
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        self._kernel = self.add_variable("kernel", shape=[depth, 4 * self._num_units])
        self._bias = self.add_variable("bias", shape=[2 * self._num_units], initializer=init_ops.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        output, (c,) = _weir.sru_step(_graph(), inputs, state, self._kernel, self._bias, _or_none(self._activation))
        return output, c
