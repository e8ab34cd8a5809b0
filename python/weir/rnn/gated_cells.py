"""Gated cells of tf.contrib.rnn: coupled gates, normalised layers, groups, clocks, and those that a search found."""

from weir import _weir, logging
from weir.core.graph import Tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import as_shape
from weir.core.variable_scope import get_variable, get_variable_scope, variable_scope
from weir.ops import array_ops, clip_ops, init_ops, math_ops, nn_ops, random_ops
from weir.rnn.cells import LSTMStateTuple, LayerRNNCell, RNNCell, _Linear, _or_none


def _known_depth(inputs):
    depth = inputs.shape.with_rank(2).as_list()[1]
    if depth is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return depth


def _normalized(x, scope, gain, shift):
    """``x`` with mean ``shift`` and deviation ``gain`` over its last dimension; both are learned."""
    with variable_scope(scope):
        gamma = get_variable("gamma", shape=x.shape[-1:], dtype=x.dtype,
                             initializer=init_ops.constant_initializer(gain))
        beta = get_variable("beta", shape=x.shape[-1:], dtype=x.dtype,
                            initializer=init_ops.constant_initializer(shift))
        mean, variance = nn_ops.moments(x, [-1], keep_dims=True)
        return nn_ops.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def _sharded(name, shape, dtype, shards):
    """A matrix whose rows lie in several variables."""
    if shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={shards}")
    rows, more = divmod(shape[0], shards)
    parts = [get_variable(f"{name}_{i}", [rows + (i < more)] + shape[1:], dtype=dtype) for i in range(shards)]
    return parts[0] if shards == 1 else array_ops.concat(parts, 0, name=name + "/concat")


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

    def _norm(self, x, scope):
        return _normalized(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def call(self, inputs, state):
        sigmoid, units, h_size = math_ops.sigmoid, self._num_units, self._num_proj or self._num_units
        joined = isinstance(state, Tensor)  # so were states before TensorFlow 1.0
        c, h = array_ops.split(state, [units, h_size], axis=1) if joined else state
        dtype = inputs.dtype
        kernel = _sharded("W", [_known_depth(inputs) + h_size, 3 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[3 * units], initializer=init_ops.zeros_initializer(), dtype=dtype)
        gates = math_ops.matmul(array_ops.concat([inputs, h], 1), kernel)
        if not self._layer_norm:
            gates = nn_ops.bias_add(gates, bias)
        j, f, o = array_ops.split(gates, 3, axis=1)
        j, f, o = self._norm(j, "transform"), self._norm(f, "forget"), self._norm(o, "output")
        f = f + self._forget_bias
        if self._use_peepholes:
            w_f, w_o = (get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in "FO")
            f = f + w_f * c
        f = sigmoid(f)
        c = self._norm(f * c + (1 - f) * self._activation(j), "state")
        if self._use_peepholes:
            o = o + w_o * c
        h = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            h = math_ops.matmul(h, _sharded("W_P", [units, self._num_proj], dtype, self._num_proj_shards))
            if self._proj_clip is not None:
                h = clip_ops.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, array_ops.concat([c, h], 1) if joined else LSTMStateTuple(c, h)


class LayerNormBasicLSTMCell(RNNCell):
    """A basic LSTM whose gates and memory are normalised, with dropout that leaves the memory alone."""

    def __init__(self, num_units, forget_bias=1.0, input_size=None, activation=math_ops.tanh, layer_norm=True,
                 norm_gain=1.0, norm_shift=0.0, dropout_keep_prob=1.0, dropout_prob_seed=None, reuse=None):
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units, self._activation, self._forget_bias = num_units, activation, forget_bias
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def _norm(self, x, scope):
        return _normalized(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def call(self, inputs, state):
        c, h = state
        args = array_ops.concat([inputs, h], 1)
        kernel = get_variable("kernel", [args.shape.as_list()[-1], 4 * self._num_units], dtype=args.dtype)
        gates = math_ops.matmul(args, kernel)
        if not self._layer_norm:
            gates = nn_ops.bias_add(gates, get_variable("bias", [4 * self._num_units], dtype=args.dtype))
        i, j, f, o = (self._norm(gate, scope) for gate, scope in
                      zip(array_ops.split(gates, 4, axis=1), ("input", "transform", "forget", "output")))
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = nn_ops.dropout(g, self._keep_prob, seed=self._seed)
        c = self._norm(c * math_ops.sigmoid(f + self._forget_bias) + math_ops.sigmoid(i) * g, "state")
        h = self._activation(c) * math_ops.sigmoid(o)
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

    def _norm(self, x, scope):
        return _normalized(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def call(self, inputs, state):
        sigmoid, units = math_ops.sigmoid, self._num_units
        c, h = state
        _known_depth(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            args, dtype = array_ops.concat([inputs, h], 1), inputs.dtype
            kernel = get_variable("kernel", [args.shape.as_list()[1], 4 * units], dtype=dtype)
            bias = get_variable("bias", [4 * units], dtype=dtype, initializer=init_ops.constant_initializer(0.0))
            gates = math_ops.matmul(args, kernel)
            if not self._layer_norm:
                gates = nn_ops.bias_add(gates, bias)
            i, j, f, o = (self._norm(gate, scope) for gate, scope in
                          zip(array_ops.split(gates, 4, axis=1), ("input", "transform", "forget", "output")))
            f = f + self._forget_bias
            if self._use_peepholes:
                w_f, w_i, w_o = (get_variable(f"w_{gate}_diag", shape=[units], dtype=dtype) for gate in "fio")
                f, i = f + w_f * c, i + w_i * c
            c = self._norm(sigmoid(f) * c + sigmoid(i) * self._activation(j), "state")
            if self._cell_clip is not None:
                c = clip_ops.clip_by_value(c, -self._cell_clip, self._cell_clip)
            if self._use_peepholes:
                o = o + w_o * c
            h = sigmoid(o) * self._activation(c)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    h = math_ops.matmul(h, get_variable("kernel", [units, self._num_proj], dtype=dtype))
                if self._proj_clip is not None:
                    h = clip_ops.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h)


class WeightNormLSTMCell(_LSTMSizes, RNNCell):
    """An LSTM whose weights are directions and lengths (Salimans and Kingma, 2016)."""

    def __init__(self, num_units, norm=True, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None,
                 proj_clip=None, forget_bias=1, activation=None, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._norm, self._initializer = num_units, norm, initializer
        self._use_peepholes, self._cell_clip, self._forget_bias = use_peepholes, cell_clip, forget_bias
        self._num_proj, self._proj_clip, self._activation = num_proj, proj_clip, activation or math_ops.tanh

    def _product(self, args, columns):
        depths = [arg.shape.as_list()[1] for arg in args]
        weights = get_variable("kernel", [sum(depths), columns], dtype=args[0].dtype)
        if self._norm:
            parts, row = [], 0
            for i, depth in enumerate(depths):
                part = weights[row:row + depth, :]
                length = get_variable(f"norm_{i}", [columns], dtype=args[0].dtype)
                parts.append(nn_ops.l2_normalize(part, axis=0) * length)
                row += depth
            weights = array_ops.concat(parts, axis=0)
        return math_ops.matmul(args[0] if len(args) == 1 else array_ops.concat(args, 1), weights)

    def call(self, inputs, state):
        sigmoid, units, dtype = math_ops.sigmoid, self._num_units, inputs.dtype
        c, h = state
        _known_depth(inputs)
        with variable_scope("wn_lstm_cell", initializer=self._initializer):
            gates = self._product([inputs, h], 4 * units)
            bias = get_variable("bias", [4 * units], dtype=dtype, initializer=init_ops.constant_initializer(0.0))
            i, j, f, o = array_ops.split(nn_ops.bias_add(gates, bias), 4, axis=1)
            f = f + self._forget_bias
            if self._use_peepholes:
                w_f, w_i, w_o = (get_variable(f"w_{gate}_diag", shape=[units], dtype=dtype) for gate in "fio")
                f, i = f + w_f * c, i + w_i * c
            c = c * sigmoid(f) + sigmoid(i) * self._activation(j)
            if self._cell_clip is not None:
                c = clip_ops.clip_by_value(c, -self._cell_clip, self._cell_clip)
            if self._use_peepholes:
                o = o + w_o * c
            h = sigmoid(o) * self._activation(c)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    h = self._product([h], self._num_proj)
                if self._proj_clip is not None:
                    h = clip_ops.clip_by_value(h, -self._proj_clip, self._proj_clip)
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
        units, sigmoid = self._num_units, math_ops.sigmoid
        depth = _known_depth(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if depth != units:
                if not self._num_input_proj:
                    raise ValueError("Must have input size == output size for Intersection RNN. To fix, num_in_proj "
                                     "should be set to num_units at cell init.")
                with variable_scope("in_projection"):
                    inputs = _Linear(inputs, units, True)(inputs)
            args = array_ops.concat([inputs, state], 1)
            gh, h, gy, y = array_ops.split(_Linear(args, 4 * units, True)(args), 4, axis=1)
            h, y = math_ops.tanh(h), self._y_activation(y)
            gh, gy = sigmoid(gh + self._forget_bias), sigmoid(gy + self._forget_bias)
            return gy * inputs + (1.0 - gy) * y, gh * state + (1.0 - gh) * h


def _exponential_initializer(low, high):
    """exp of a uniform distribution between the logarithms: every order of magnitude is as likely."""

    def initializer(shape, dtype="float32", partition_info=None):
        return math_ops.exp(random_ops.random_uniform(shape, math_ops.log(low), math_ops.log(high), dtype))

    return initializer


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

    @staticmethod
    def _cycle(time, phase, period):
        """How far a unit is in its period, in [0, 1). The gradient is that of the time itself."""
        phase, period = math_ops.cast(phase, time.dtype), math_ops.cast(period, time.dtype)
        shifted = time - phase
        within = array_ops.stop_gradient(math_ops.mod(shifted, period) - shifted) + shifted
        return math_ops.cast(within / period, "float32")

    def call(self, inputs, state):
        (time, x), (c_prev, h_prev) = inputs, state
        units, peepholes = self._num_units, self._use_peepholes
        with variable_scope("mask_gates"):
            args = [x, h_prev] + ([c_prev] if peepholes else [])
            i, f = array_ops.split(math_ops.sigmoid(_Linear(args, 2 * units, True)(args)), 2, axis=1)
        with variable_scope("new_input"):
            new_input = math_ops.tanh(_Linear([x, h_prev], units, True)([x, h_prev]))
        c = c_prev * f + i * new_input
        with variable_scope("output_gate"):
            args = [x, h_prev] + ([c] if peepholes else [])
            o = math_ops.sigmoid(_Linear(args, units, True)(args))
        h = math_ops.tanh(c) * o
        period = get_variable("period", [units],
                              initializer=_exponential_initializer(self._period_init_min, self._period_init_max))
        phase = get_variable("phase", [units],
                             initializer=init_ops.random_uniform_initializer(0., period.initial_value))
        ratio_on = get_variable("ratio_on", [units], initializer=init_ops.constant_initializer(self._ratio_on),
                                trainable=self._trainable_ratio_on)
        cycle = self._cycle(time, phase, period)
        up = 2 * cycle / ratio_on
        k = array_ops.where(cycle < ratio_on, 2 - up, self._leak * cycle)
        k = array_ops.where(cycle < 0.5 * ratio_on, up, k)
        c, h = k * c + (1 - k) * c_prev, k * h + (1 - k) * h_prev
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
        c, h = state
        groups, units, dtype = self._number_of_groups, self._num_units, inputs.dtype
        depth = inputs.shape.as_list()[1]
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % groups:
            raise ValueError(f"input size ({depth}) must be divisible by number_of_groups ({groups})")
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            parts = []
            for group, (x, own_h) in enumerate(zip(array_ops.split(inputs, groups, axis=1),
                                                   array_ops.split(h, groups, axis=1))):
                with variable_scope(f"group{group}"):
                    args = array_ops.concat([x, own_h], axis=1)
                    parts.append(array_ops.split(_Linear(args, 4 * units // groups, False)(args), 4, axis=1))
            biases = [get_variable(f"bias_{gate}", [units], dtype=dtype,
                                   initializer=init_ops.constant_initializer(0.0)) for gate in "ijfo"]
            i, j, f, o = (nn_ops.bias_add(array_ops.concat(list(gate), axis=1), bias)
                          for gate, bias in zip(zip(*parts), biases))
        c = math_ops.sigmoid(f + self._forget_bias) * c + math_ops.sigmoid(i) * math_ops.tanh(j)
        h = math_ops.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                h = _Linear(h, self._num_proj, False)(h)
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
