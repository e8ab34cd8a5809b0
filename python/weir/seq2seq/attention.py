"""What decoders look at: attention over a memory, and the cell that does it (Bahdanau et al., 2014; Luong et al., 2015)."""

import collections
import functools
import math

from weir import _weir, nest
from weir.core import dtypes
from weir.core.graph import Tensor, control_dependencies, convert_to_tensor, name_scope
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.core.variable_scope import get_variable, variable_scope
from weir.layers.base import Layer
from weir.ops import array_ops, check_ops, clip_ops, init_ops, math_ops, nn_ops, random_ops
from weir.ops.tensor_array_ops import TensorArray
from weir.rnn.cells import RNNCell, assert_like_rnncell, zeros_of_size


def _size(tensor, axis):
    """A size: a number where it is known."""
    return tensor.shape.as_list()[axis] or array_ops.shape(tensor)[axis]


class _Projection(Layer):
    """A product with a learned matrix along the last dimension: a dense layer without bias."""

    def __init__(self, units, name, dtype):
        super().__init__(name=name, dtype=dtype)
        self.units = units

    def build(self, input_shape):
        depth = TensorShape(input_shape).as_list()[-1]
        if depth is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.kernel = self.add_weight("kernel", shape=[depth, self.units])
        self.built = True

    def call(self, inputs):
        if inputs.shape.ndims == 2:
            return math_ops.matmul(inputs, self.kernel)
        flat = math_ops.matmul(array_ops.reshape(inputs, [-1, inputs.shape.as_list()[-1]]), self.kernel)
        result = array_ops.reshape(flat, array_ops.concat([array_ops.shape(inputs)[:-1], [self.units]], 0))
        result.set_shape(self.compute_output_shape(inputs.shape))
        return result

    def compute_output_shape(self, input_shape):
        return TensorShape(input_shape)[:-1].concatenate(self.units)


def hardmax(logits, name=None):
    """One where the logits are largest along the last dimension, zero elsewhere."""
    return _weir.hardmax(_graph(), logits, name)


def safe_cumprod(x, *args, **kwargs):
    """``cumprod`` of numbers in [0, 1] by way of logarithms, so that gradients stay finite."""
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = dtypes._numpy().finfo(x.dtype.as_numpy_dtype).tiny
        return math_ops.exp(math_ops.cumsum(math_ops.log(clip_ops.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i, previous_attention, mode):
    """How likely a monotonic attention is at each place (Raffel et al., 2017); "recursive", "parallel" or "hard"."""
    return _weir.monotonic_attention(_graph(), convert_to_tensor(p_choose_i), convert_to_tensor(previous_attention), mode)


def _prepare_memory(memory, memory_sequence_length=None, memory_mask=None, check_inner_dims_defined=True):
    memory = nest.map_structure(lambda part: convert_to_tensor(part, name="memory"), memory)
    if memory_sequence_length is not None and memory_mask is not None:
        raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")
    if check_inner_dims_defined:
        for part in nest.flatten(memory):
            if not part.shape[2:].is_fully_defined():
                raise ValueError(f"Expected memory {part.name} to have fully defined inner dims, but saw shape: "
                                 f"{part.shape}")
    if memory_sequence_length is not None:
        lengths = convert_to_tensor(memory_sequence_length, name="memory_sequence_length")
        return nest.map_structure(lambda part: _weir.masked_memory(_graph(), part, lengths), memory)
    if memory_mask is None:
        return memory

    def masked(part):
        mask = math_ops.cast(memory_mask, part.dtype)
        return part * array_ops.reshape(mask, array_ops.concat(
            [array_ops.shape(mask), array_ops.ones([part.shape.ndims - 2], dtype="int32")], 0))

    return nest.map_structure(masked, memory)


def _maybe_mask_score(score, memory_sequence_length=None, score_mask_value=None):
    if memory_sequence_length is None:
        return score
    return _weir.masked_scores(_graph(), score, convert_to_tensor(memory_sequence_length), score_mask_value)


class AttentionMechanism:
    """What an AttentionWrapper looks at. One's own gives ``values``, ``batch_size``, ``alignments_size``, ``state_size``,
    ``initial_alignments``, ``initial_state``, and ``__call__(query, state)``: alignments and the next state."""

    @property
    def alignments_size(self):
        raise NotImplementedError

    @property
    def state_size(self):
        raise NotImplementedError


class _BaseAttentionMechanism(AttentionMechanism):
    def __init__(self, query_layer, memory, probability_fn, memory_sequence_length=None, memory_layer=None,
                 check_inner_dims_defined=True, score_mask_value=None, custom_key_value_fn=None, name=None):
        for layer, what in ((query_layer, "query_layer"), (memory_layer, "memory_layer")):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self.dtype = memory_layer.dtype if memory_layer is not None else nest.flatten(memory)[0].dtype
        if score_mask_value is None:
            score_mask_value = -math.inf
        self._probability_fn = lambda score, previous: probability_fn(
            _maybe_mask_score(score, memory_sequence_length, score_mask_value), previous)
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _prepare_memory(memory, memory_sequence_length=memory_sequence_length,
                                           check_inner_dims_defined=check_inner_dims_defined)
            self._keys = self.memory_layer(self._values) if self.memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size, self._alignments_size = _size(self._keys, 0), _size(self._keys, 1)

    memory_layer = property(lambda self: self._memory_layer)
    query_layer = property(lambda self: self._query_layer)
    values = property(lambda self: self._values)
    keys = property(lambda self: self._keys)
    batch_size = property(lambda self: self._batch_size)
    alignments_size = property(lambda self: self._alignments_size)
    state_size = property(lambda self: self._alignments_size)

    def initial_alignments(self, batch_size, dtype):
        return zeros_of_size(batch_size, self._alignments_size, dtype)

    def initial_state(self, batch_size, dtype):
        return self.initial_alignments(batch_size, dtype)

    def _attended(self, score, state):
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _bahdanau_weights(units, normalize, dtype):
    """v, and with ``normalize`` the length g of v and a bias b."""
    v = get_variable("attention_v", [units], dtype=dtype)
    if not normalize:
        return v, None, None
    g = get_variable("attention_g", dtype=dtype, initializer=init_ops.constant_initializer(math.sqrt(1. / units)),
                     shape=())
    return v, g, get_variable("attention_b", [units], dtype=dtype, initializer=init_ops.zeros_initializer())


def _luong_scale(wanted, dtype):
    if not wanted:
        return None
    return get_variable("attention_g", dtype=dtype, initializer=init_ops.ones_initializer(), shape=())


class LuongAttention(_BaseAttentionMechanism):
    """Scores are products of the query and the keys; ``scale``: times a learned number."""

    def __init__(self, num_units, memory, memory_sequence_length=None, scale=False, probability_fn=None,
                 score_mask_value=None, dtype=None, custom_key_value_fn=None, name="LuongAttention"):
        probability_fn = probability_fn or nn_ops.softmax
        super().__init__(query_layer=None, memory_layer=_Projection(num_units, "memory_layer", dtype or "float32"),
                         memory=memory, probability_fn=lambda score, _: probability_fn(score),
                         memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value,
                         custom_key_value_fn=custom_key_value_fn, name=name)
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query, state):
        with variable_scope(None, "luong_attention", [query]):
            score = _weir.luong_score(_graph(), query, self._keys, _luong_scale(self._scale, query.dtype))
        return self._attended(score, state)


class BahdanauAttention(_BaseAttentionMechanism):
    """Scores are v tanh(keys + query); ``normalize``: v is a direction and a length."""

    def __init__(self, num_units, memory, memory_sequence_length=None, normalize=False, probability_fn=None,
                 score_mask_value=None, dtype=None, custom_key_value_fn=None, name="BahdanauAttention"):
        probability_fn = probability_fn or nn_ops.softmax
        super().__init__(query_layer=_Projection(num_units, "query_layer", dtype or "float32"),
                         memory_layer=_Projection(num_units, "memory_layer", dtype or "float32"), memory=memory,
                         probability_fn=lambda score, _: probability_fn(score),
                         memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value,
                         custom_key_value_fn=custom_key_value_fn, name=name)
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query, state):
        with variable_scope(None, "bahdanau_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            weights = _bahdanau_weights(self._num_units, self._normalize, query.dtype)
            score = _weir.bahdanau_score(_graph(), processed, self._keys, *weights)
        return self._attended(score, state)


def _monotonic_probability_fn(score, previous_alignments, sigmoid_noise, mode, seed=None):
    if sigmoid_noise > 0:
        noise = random_ops.random_normal(array_ops.shape(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * noise
    p_choose_i = math_ops.cast(score > 0, score.dtype) if mode == "hard" else math_ops.sigmoid(score)
    return monotonic_attention(p_choose_i, previous_alignments, mode)


class _BaseMonotonicAttentionMechanism(_BaseAttentionMechanism):
    """Attention that begins at the first place and only goes on."""

    def _set_bias(self, num_units, score_bias_init, name):
        self._num_units, self._score_bias_init, self._name = num_units, score_bias_init, name

    def initial_alignments(self, batch_size, dtype):
        first = array_ops.zeros(array_ops.stack([batch_size]), dtype="int32")
        return array_ops.one_hot(first, self._alignments_size, dtype=dtype)

    def _biased(self, score):
        return score + get_variable("attention_score_bias", dtype=score.dtype, shape=(),
                                    initializer=init_ops.constant_initializer(self._score_bias_init))


class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention with Bahdanau's scores."""

    def __init__(self, num_units, memory, memory_sequence_length=None, normalize=False, score_mask_value=None,
                 sigmoid_noise=0., sigmoid_noise_seed=None, score_bias_init=0., mode="parallel", dtype=None,
                 name="BahdanauMonotonicAttention"):
        super().__init__(query_layer=_Projection(num_units, "query_layer", dtype or "float32"),
                         memory_layer=_Projection(num_units, "memory_layer", dtype or "float32"), memory=memory,
                         probability_fn=functools.partial(_monotonic_probability_fn, sigmoid_noise=sigmoid_noise,
                                                          mode=mode, seed=sigmoid_noise_seed),
                         memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value, name=name)
        self._set_bias(num_units, score_bias_init, name)
        self._normalize = normalize

    def __call__(self, query, state):
        with variable_scope(None, "bahdanau_monotonic_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            weights = _bahdanau_weights(self._num_units, self._normalize, query.dtype)
            score = self._biased(_weir.bahdanau_score(_graph(), processed, self._keys, *weights))
        return self._attended(score, state)


class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention with Luong's scores."""

    def __init__(self, num_units, memory, memory_sequence_length=None, scale=False, score_mask_value=None,
                 sigmoid_noise=0., sigmoid_noise_seed=None, score_bias_init=0., mode="parallel", dtype=None,
                 name="LuongMonotonicAttention"):
        super().__init__(query_layer=None, memory_layer=_Projection(num_units, "memory_layer", dtype or "float32"),
                         memory=memory,
                         probability_fn=functools.partial(_monotonic_probability_fn, sigmoid_noise=sigmoid_noise,
                                                          mode=mode, seed=sigmoid_noise_seed),
                         memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value, name=name)
        self._set_bias(num_units, score_bias_init, name)
        self._scale = scale

    def __call__(self, query, state):
        with variable_scope(None, "luong_monotonic_attention", [query]):
            scale = _luong_scale(self._scale, query.dtype)
            score = self._biased(_weir.luong_score(_graph(), query, self._keys, scale))
        return self._attended(score, state)


class AttentionWrapperState(collections.namedtuple("AttentionWrapperState", (
        "cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"))):
    """The state of an AttentionWrapper."""

    def clone(self, **kwargs):
        """This state with other parts, which keep the shapes that are known of the ones before."""

        def with_same_shape(old, new):
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                new.set_shape(old.shape)
            return new

        return nest.map_structure(with_same_shape, self, self._replace(**kwargs))


def _compute_attention(attention_mechanism, cell_output, attention_state, attention_layer):
    """What is seen by a mechanism: the attention, the alignments and the mechanism's next state."""
    alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    context = math_ops.matmul(array_ops.expand_dims(alignments, 1), attention_mechanism.values)
    context = array_ops.squeeze(context, [1])
    if attention_layer is None:
        return context, alignments, next_state
    return attention_layer(array_ops.concat([cell_output, context], 1)), alignments, next_state


_BATCH_MESSAGE = ("Non-matching batch sizes between the memory (encoder output) and {what}.  Are you using the "
                  "BeamSearchDecoder?  {advice}")


class AttentionWrapper(RNNCell):
    """A cell that gets what it looked at last beside its inputs."""

    def __init__(self, cell, attention_mechanism, attention_layer_size=None, alignment_history=False,
                 cell_input_fn=None, output_attention=True, initial_cell_state=None, name=None, attention_layer=None,
                 attention_fn=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        for mechanism in mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                want = ("contain only instances of AttentionMechanism" if self._is_multi else
                        "be an AttentionMechanism or list of multiple AttentionMechanism instances")
                raise TypeError(f"attention_mechanism must {want}, saw type: {type(mechanism).__name__}")
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._cell, self._attention_mechanisms = cell, mechanisms
        self._cell_input_fn = cell_input_fn or (
            lambda inputs, attention: array_ops.concat([inputs, attention], -1))
        self._set_layers(attention_layer_size, attention_layer)
        self._attention_fn = attention_fn or _compute_attention
        self._output_attention, self._alignment_history = output_attention, alignment_history
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                last = nest.flatten(initial_cell_state)[-1]
                message = f"When constructing AttentionWrapper {self._base_name}: " + _BATCH_MESSAGE.format(
                    what="initial_cell_state", advice="You may need to tile your initial state via the "
                    "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width.")
                with control_dependencies(self._batch_size_checks(_size(last, 0), message)):
                    self._initial_cell_state = nest.map_structure(
                        lambda part: array_ops.identity(part, name="check_initial_cell_state"), initial_cell_state)

    def _set_layers(self, sizes, layers):
        mechanisms = self._attention_mechanisms
        self._attention_layers = None
        if sizes is not None:
            sizes = tuple(sizes) if isinstance(sizes, (list, tuple)) else (sizes,)
            self._require_one_each("attention_layer_size must contain exactly one integer", sizes)
            self._attention_layers = tuple(_Projection(size, "attention_layer", getattr(mechanism, "dtype", None))
                                           for size, mechanism in zip(sizes, mechanisms))
            self._attention_layer_size = sum(sizes)
        elif layers is not None:
            layers = tuple(layers) if isinstance(layers, (list, tuple)) else (layers,)
            self._require_one_each("attention_layer must contain exactly one layer", layers)
            self._attention_layers = layers
            self._attention_layer_size = sum(
                TensorShape(layer.compute_output_shape(
                    [None, self._cell.output_size + mechanism.values.shape.as_list()[-1]])).as_list()[-1]
                for layer, mechanism in zip(layers, mechanisms))
        else:
            self._attention_layer_size = sum(mechanism.values.shape.as_list()[-1] for mechanism in mechanisms)

    def _require_one_each(self, what, given):
        if len(given) != len(self._attention_mechanisms):
            raise ValueError(f"If provided, {what} per attention_mechanism, saw: {len(given)} vs "
                             f"{len(self._attention_mechanisms)}")

    def _batch_size_checks(self, batch_size, error_message):
        return [check_ops.assert_equal(batch_size, mechanism.batch_size, message=error_message)
                for mechanism in self._attention_mechanisms]

    def _item_or_tuple(self, items):
        items = tuple(items)
        return items if self._is_multi else items[0]

    @property
    def output_size(self):
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self):
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size, time=TensorShape([]), attention=self._attention_layer_size,
            alignments=self._item_or_tuple(each.alignments_size for each in mechanisms),
            attention_state=self._item_or_tuple(each.state_size for each in mechanisms),
            alignment_history=self._item_or_tuple(
                each.alignments_size if self._alignment_history else () for each in mechanisms))

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = f"When calling zero_state of AttentionWrapper {self._base_name}: " + _BATCH_MESSAGE.format(
                what="the requested batch size", advice="If so, make sure your encoder output has been tiled to "
                "beam_width via tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to zero_state is "
                "batch_size * beam_width.")
            with control_dependencies(self._batch_size_checks(batch_size, message)):
                cell_state = nest.map_structure(lambda part: array_ops.identity(part, name="checked_cell_state"),
                                                cell_state)
            alignments = [each.initial_alignments(batch_size, dtype) for each in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state, time=array_ops.zeros([], dtype="int32"),
                attention=zeros_of_size(batch_size, self._attention_layer_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    each.initial_state(batch_size, dtype) for each in self._attention_mechanisms),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=each.shape)
                    if self._alignment_history else () for each in alignments))

    def call(self, inputs, state):
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} "
                            "instead.")
        cell_output, next_cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        message = f"When applying AttentionWrapper {self.name}: " + _BATCH_MESSAGE.format(
            what="the query (decoder output)", advice="You may need to tile your memory input via the "
            "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width.")
        with control_dependencies(self._batch_size_checks(_size(cell_output, 0), message)):
            cell_output = array_ops.identity(cell_output, name="checked_cell_output")
        states = state.attention_state if self._is_multi else [state.attention_state]
        histories = state.alignment_history if self._is_multi else [state.alignment_history]
        layers = self._attention_layers or [None] * len(states)
        attentions, alignments, next_states, next_histories = [], [], [], []
        for mechanism, before, history, layer in zip(self._attention_mechanisms, states, histories, layers):
            attention, alignment, after = self._attention_fn(mechanism, cell_output, before, layer)
            attentions.append(attention)
            alignments.append(alignment)
            next_states.append(after)
            next_histories.append(history.write(state.time, alignment) if self._alignment_history else ())
        attention = array_ops.concat(attentions, 1)
        next_state = AttentionWrapperState(
            time=state.time + 1, cell_state=next_cell_state, attention=attention,
            attention_state=self._item_or_tuple(next_states), alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(next_histories))
        return attention if self._output_attention else cell_output, next_state
