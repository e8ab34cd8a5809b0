"""tensorflow.python.keras.backend: what the package Keras asks TensorFlow for."""

import collections
import contextlib
import sys

from weir import nest, names
from weir.core import dtypes, stack
from weir.core.graph import Tensor, control_dependencies, convert_to_tensor
from weir.core.tensor_shape import TensorShape
from weir.core.variables import Variable, global_variables, is_variable_initialized, variables_initializer
from weir.ops import array_ops, clip_ops, control_flow_ops, math_ops, nn_ops, random_ops, sparse_ops, tensor_array_ops

_settings = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last", "manual": False}
_session = None


class _State:
    """What Keras keeps for a graph: the learning phase and the numbers of names."""

    def __init__(self):
        self.phase, self.uids = None, collections.Counter()


def _state():
    graph = stack.get_default_graph()
    if not hasattr(graph, "_keras_state"):
        graph._keras_state = _State()
    return graph._keras_state


def __getattr__(name):
    """Everything else is the backend's of the package, once it is loaded."""
    package = sys.modules.get("keras")
    if not name.startswith("__") and (package is None or hasattr(package, "Model")):
        backend = names.find("tf.keras").backend
        if hasattr(backend, name):
            return getattr(backend, name)
    raise AttributeError(f"module 'tensorflow.keras.backend' has no attribute {name!r}")


# Settings.


def floatx():
    return _settings["floatx"]


def set_floatx(value):
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown floatx type: {value}")
    _settings["floatx"] = str(value)


def epsilon():
    return _settings["epsilon"]


def set_epsilon(value):
    _settings["epsilon"] = value


def image_data_format():
    return _settings["image_data_format"]


def set_image_data_format(data_format):
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown data_format: {data_format}")
    _settings["image_data_format"] = str(data_format)


def cast_to_floatx(x):
    if isinstance(x, (Tensor, Variable, sparse_ops.SparseTensor)):
        return math_ops.cast(x, dtype=floatx())
    return dtypes._numpy().asarray(x, dtype=floatx())


def manual_variable_initialization(value):
    _settings["manual"] = value


# Graphs and sessions.


def get_graph():
    return stack.get_default_graph()


def get_uid(prefix=""):
    uids = _state().uids
    uids[prefix] += 1
    return uids[prefix]


def reset_uids():
    _state().uids.clear()


def learning_phase():
    """0, 1, or a tensor that is 0 unless it is fed."""
    state = _state()
    if state.phase is None:
        with stack.get_default_graph().name_scope(None), control_dependencies(None):
            state.phase = array_ops.placeholder_with_default(False, shape=(), name="keras_learning_phase")
    return state.phase


def set_learning_phase(value):
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    _state().phase = value


@contextlib.contextmanager
def learning_phase_scope(value):
    state = _state()
    before, state.phase = state.phase, value
    try:
        yield
    finally:
        state.phase = before


def get_session(op_input_list=()):
    """The default session, or Keras's own, in which every variable has a value."""
    global _session
    session = stack.get_default_session()
    if session is None:
        if _session is None or _session.graph is not stack.get_default_graph():
            _session = names.find("tf.Session")()
        session = _session
    if not _settings["manual"]:
        with session.graph.as_default():
            _initialize(session)
    return session


def _initialize(session):
    new = [v for v in global_variables() if not getattr(v, "_keras_initialized", False)]
    if not new:
        return
    for variable in new:
        variable._keras_initialized = True
    known = session.run([is_variable_initialized(variable) for variable in new])
    missing = [variable for variable, has_value in zip(new, known) if not has_value]
    if missing:
        session.run(variables_initializer(missing))


def set_session(session):
    global _session
    _session = session


def clear_session():
    """Begins a new graph."""
    global _session
    stack.reset_default_graph()
    _session = None


# Variables and placeholders.


def variable(value, dtype=None, name=None, constraint=None):
    dtype = floatx() if dtype is None else dtype
    if hasattr(value, "tocoo"):  # a sparse matrix of scipy
        value = value.tocoo()
        indices = dtypes._numpy().stack([value.row, value.col], 1)
        result = sparse_ops.SparseTensor(indices=indices, values=value.data, dense_shape=value.shape)
        result._keras_shape, result._uses_learning_phase = value.shape, False
        return result
    made = Variable(value, dtype=dtypes.as_dtype(dtype), name=name, constraint=constraint, use_resource=True)
    if hasattr(value, "shape"):
        shape = value.shape
        made._keras_shape = tuple(shape.as_list()) if isinstance(shape, TensorShape) else tuple(shape)
    else:
        made._keras_shape = tuple(made.shape.as_list())
    made._uses_learning_phase = False
    return made


def constant(value, dtype=None, shape=None, name=None):
    return array_ops.constant(value, dtype=floatx() if dtype is None else dtype, shape=shape, name=name)


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None, ragged=False):
    dtype = floatx() if dtype is None else dtype
    if shape is None and ndim:
        shape = (None,) * ndim
    made = (sparse_ops.sparse_placeholder if sparse else array_ops.placeholder)(dtype, shape=shape, name=name)
    return made


def batch_get_value(tensors):
    return get_session(tensors).run(tensors) if tensors else []


def set_value(x, value):
    batch_set_value([(x, value)])


def batch_set_value(tuples):
    """Sets variables through placeholders that each of them keeps."""
    operations, feed = [], {}
    numpy = dtypes._numpy()
    for x, value in tuples:
        value = numpy.asarray(value, dtype=x.dtype.base_dtype.as_numpy_dtype)
        if not hasattr(x, "_assign_placeholder"):
            x._assign_placeholder = array_ops.placeholder(x.dtype.base_dtype, shape=[None] * value.ndim)
            x._assign_op = x.assign(x._assign_placeholder)
        operations.append(x._assign_op)
        feed[x._assign_placeholder] = value
    if operations:
        get_session().run(operations, feed_dict=feed)


class GraphExecutionFunction:
    """A function of values for ``inputs`` that gives the values of ``outputs`` and runs ``updates``."""

    def __init__(self, inputs, outputs, updates=None, name=None, **session_kwargs):
        if not isinstance(updates or [], (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self._structure = outputs
        self.inputs, self.outputs = nest.flatten(inputs), nest.flatten(outputs)
        self.name, self.feed_dict = name, session_kwargs.pop("feed_dict", None)  # which programs may change between calls
        self.fetches = list(session_kwargs.pop("fetches", None) or [])
        self.run_options = session_kwargs.pop("options", None)
        self.run_metadata = session_kwargs.pop("run_metadata", None)
        if session_kwargs:
            raise ValueError(f"Some keys in session_kwargs are not supported at this time: {session_kwargs.keys()}")
        # Everything is computed from the values of before the updates.
        with control_dependencies([output for output in self.outputs if isinstance(output, Tensor)]):
            operations = []
            for update in updates or []:
                if isinstance(update, tuple):
                    update = update[0].assign(update[1])
                if update is not None:
                    operations.append(update)
            self.updates_op = control_flow_ops.group(*operations)
        self.fetch_callbacks = {}

    def __call__(self, inputs):
        session = get_session(inputs)
        feed = dict(self.feed_dict or {})
        for tensor, value in zip(self.inputs, nest.flatten(inputs)):
            if value is None:
                raise TypeError("Passing None value as input to a Keras function")
            if hasattr(value, "tocoo"):
                value = value.tocoo()
                indices = dtypes._numpy().stack([value.row, value.col], 1)
                value = (indices, value.data, value.shape)
            feed[tensor] = value
        symbols = {tensor: value for tensor, value in feed.items() if isinstance(value, (Tensor, Variable))}
        if symbols:  # a batch that the graph itself gives
            feed.update(zip(symbols, session.run(list(symbols.values()))))
        fetched = session.run([self.outputs, self.updates_op, self.fetches], feed_dict=feed,
                              options=self.run_options, run_metadata=self.run_metadata)
        for fetch, value in zip(self.fetches, fetched[2]):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        return nest.pack_sequence_as(self._structure, fetched[0])


def function(inputs, outputs, updates=None, name=None, **kwargs):
    return GraphExecutionFunction(inputs, outputs, updates=updates, name=name, **kwargs)


# Losses and activations.


def _clipped(output):
    small = convert_to_tensor(epsilon(), output.dtype.base_dtype)
    return clip_ops.clip_by_value(output, small, 1.0 - small)


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    if from_logits:
        return nn_ops.softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)
    output = output / math_ops.reduce_sum(output, axis, True)
    return -math_ops.reduce_sum(target * math_ops.log(_clipped(output)), axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    rank = output.shape.ndims
    if axis not in (-1, rank - 1):
        output = array_ops.transpose(output, [d for d in range(rank) if d != axis % rank] + [axis % rank])
    if not from_logits:
        output = math_ops.log(_clipped(output))
    shape = array_ops.shape(output)
    targets = array_ops.reshape(math_ops.cast(target, "int64"), [-1])
    logits = array_ops.reshape(output, [-1, output.shape.as_list()[-1] or shape[-1]])
    losses = nn_ops.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
    return array_ops.reshape(losses, shape[:-1]) if rank is None or rank >= 3 else losses


def binary_crossentropy(target, output, from_logits=False):
    if from_logits:
        return nn_ops.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    output = _clipped(output)
    loss = target * math_ops.log(output + epsilon())
    return -(loss + (1 - target) * math_ops.log(1 - output + epsilon()))


def hard_sigmoid(x):
    return clip_ops.clip_by_value(x * 0.2 + 0.5, 0.0, 1.0)


# Random numbers. Without a seed there is one of numpy's, so that numpy.random.seed decides.


def _seed(seed):
    return dtypes._numpy().random.randint(10_000_000) if seed is None else seed


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return random_ops.random_normal(shape, mean=mean, stddev=stddev, dtype=dtype or floatx(), seed=_seed(seed))


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    return random_ops.random_uniform(shape, minval=minval, maxval=maxval, dtype=dtype or floatx(), seed=_seed(seed))


def random_binomial(shape, p=0.0, dtype=None, seed=None):
    dtype = dtype or floatx()
    drawn = random_ops.random_uniform(shape, dtype=dtype, seed=_seed(seed))
    return array_ops.where(drawn <= p, array_ops.ones(shape, dtype=dtype), array_ops.zeros(shape, dtype=dtype))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return random_ops.truncated_normal(shape, mean, stddev, dtype=dtype or floatx(), seed=_seed(seed))


# Recurrence.


def _swap(tensor):
    """Batch and time exchanged."""
    return array_ops.transpose(tensor, [1, 0] + list(range(2, tensor.shape.ndims)))


def _masked(mask, new, old):
    """``new`` where the mask of an example is set, else ``old``."""
    while mask.shape.ndims < new.shape.ndims:
        mask = array_ops.expand_dims(mask, -1)
    mask = math_ops.logical_and(mask, array_ops.ones_like(new, dtype="bool"))
    return array_ops.where(mask, new, old)


def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False,
        input_length=None, time_major=False, zero_output_for_mask=False):
    """(last output, outputs, last states) of a step function along the time of ``inputs`` [batch, time, ...]."""
    sequence = inputs if time_major else nest.map_structure(_swap, inputs)
    flat = nest.flatten(sequence)
    if mask is not None:
        mask = mask if mask.dtype == dtypes.as_dtype("bool") else math_ops.cast(mask, "bool")
        mask = array_ops.expand_dims(mask, -1) if mask.shape.ndims == 2 else mask
        mask = mask if time_major else _swap(mask)
        mask = array_ops.squeeze(mask, [-1]) if mask.shape.ndims == 3 else mask
    constants = list(constants or [])
    if unroll:
        last, outputs, states = _unrolled(step_function, sequence, flat, initial_states, go_backwards, mask, constants,
                                          zero_output_for_mask)
    else:
        last, outputs, states = _looped(step_function, sequence, flat, initial_states, go_backwards, mask, constants,
                                        zero_output_for_mask)
    if not time_major:
        outputs = nest.map_structure(_swap, outputs)
    return last, outputs, states


def _unrolled(step_function, sequence, flat, initial_states, go_backwards, mask, constants, zero_for_mask):
    steps = flat[0].shape.as_list()[0]
    if not steps:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    states, outputs = tuple(initial_states), []
    for t in reversed(range(steps)) if go_backwards else range(steps):
        given = nest.map_structure(lambda tensor, t=t: tensor[t], sequence)
        output, new_states = step_function(given, tuple(states) + tuple(constants))
        if mask is not None:
            before = outputs[-1] if outputs and not zero_for_mask else array_ops.zeros_like(output)
            output = _masked(mask[t], output, before)
            new_states = [_masked(mask[t], new, old) for new, old in zip(new_states, states)]
        states = tuple(new_states)
        outputs.append(output)
    return outputs[-1], array_ops.stack(outputs), list(states)


def _looped(step_function, sequence, flat, initial_states, go_backwards, mask, constants, zero_for_mask):
    steps = array_ops.shape(flat[0])[0]

    def arrays(tensors, name):
        made = []
        for tensor in tensors:
            array = tensor_array_ops.TensorArray(dtype=tensor.dtype, size=steps, tensor_array_name=name)
            made.append(array.unstack(array_ops.reverse(tensor, [0]) if go_backwards else tensor))
        return made

    inputs = arrays(flat, "input_ta")
    masks = None if mask is None else arrays([mask], "mask_ta")[0]
    # One step on the side tells the type and shape of the outputs.
    first, _ = step_function(nest.map_structure(lambda tensor: tensor[0], sequence),
                             tuple(initial_states) + tuple(constants))
    outputs = tensor_array_ops.TensorArray(dtype=first.dtype, size=steps, tensor_array_name="output_ta",
                                           element_shape=first.shape)

    def body(time, array, previous, *states):
        given = nest.pack_sequence_as(sequence, [source.read(time) for source in inputs])
        output, new_states = step_function(given, tuple(states) + tuple(constants))
        if masks is not None:
            allowed = masks.read(time)
            output = _masked(allowed, output, array_ops.zeros_like(output) if zero_for_mask else previous)
            new_states = [_masked(allowed, new, old) for new, old in zip(new_states, states)]
        for state, new in zip(states, new_states):
            new.set_shape(state.shape)
        return (time + 1, array.write(time, output), output) + tuple(new_states)

    results = control_flow_ops.while_loop(
        lambda time, *unused: time < steps, body,
        (array_ops.constant(0, dtype="int32"), outputs, array_ops.zeros_like(first)) + tuple(initial_states))
    stacked = results[1].stack()
    stacked.set_shape(flat[0].shape[0:1].concatenate(first.shape))
    return results[2], stacked, list(results[3:])
