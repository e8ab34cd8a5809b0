"""Cells around another cell: dropout, residual connections, a device, embeddings, projections."""

import math

from weir import _weir, nest
from weir.core import dtypes, tensor_util
from weir.core.graph import Tensor, device
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.core.variable_scope import get_variable, get_variable_scope
from weir.ops import array_ops, init_ops, math_ops, nn_ops
from weir.ops.tensor_array_ops import TensorArray
from weir.rnn.cells import LSTMStateTuple, _Around, _affine


class _Wrapper(_Around):
    """One that has no scope of its own: the variables are those of the cell."""

    cell = wrapped_cell = property(lambda self: self._cell)
    trainable_weights = property(lambda self: self._cell.trainable_weights)
    non_trainable_weights = property(lambda self: self._cell.non_trainable_weights)
    weights = variables = property(lambda self: self._cell.weights)

    def __call__(self, inputs, state, scope=None):
        return self._wrapped(inputs, state, lambda inputs, state: self._cell(inputs, state, scope=scope))


def _drops_state(substate):
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)  # the memory of an LSTM is left alone
    return not isinstance(substate, TensorArray)


def _chosen(visitor, state, decision=True):
    """For every tensor of a state whether the visitor wants it dropped."""
    if decision is True:
        decision = visitor(state)
    if decision is False:
        return [False] * len(nest.flatten(state))
    if not nest.is_sequence(state):
        return [True]
    parts = [state[key] for key in sorted(state)] if isinstance(state, dict) else state
    decisions = [True] * len(parts) if decision is True else decision
    return [flag for part, each in zip(parts, decisions)
            for flag in ([each] if each is True and not nest.is_sequence(part) else _chosen(visitor, part, each))]


class DropoutWrapper(_Wrapper):
    """Dropout of inputs, outputs or states of a cell. ``variational_recurrent`` draws once for all steps of a run."""

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0,
                 variational_recurrent=False, input_size=None, dtype=None, seed=None, dropout_state_filter_visitor=None, **kwargs):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._visitor = dropout_state_filter_visitor or _drops_state
        self._seed = seed
        self._keep = {}
        for part, keep in (("input", input_keep_prob), ("state", state_keep_prob), ("output", output_keep_prob)):
            value = keep
            if isinstance(keep, Tensor) or hasattr(keep, "initializer"):
                value = tensor_util.constant_value(keep) if isinstance(keep, Tensor) else None
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"Parameter {part}_keep_prob must be between 0 and 1: {value}")
            self._keep[part] = keep if value is None else float(value)
        self._noise = {}
        if variational_recurrent:
            if dtype is None:
                raise ValueError("When variational_recurrent=True, dtype must be provided")
            if self._keep["input"] != 1.0 and input_size is None:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size "
                                 "must be provided")
            sizes = {"input": input_size, "state": cell.state_size, "output": cell.output_size}
            for part, size in sizes.items():
                if size is not None:
                    self._noise[part] = [
                        _weir.variational_noise(_graph(), TensorShape(each), dtypes.as_dtype(dtype),
                                                self._seed_of(part, i)) for i, each in enumerate(nest.flatten(size))]

    def _seed_of(self, part, index):
        """TensorFlow's seed for one tensor of a structure."""
        return None if self._seed is None else _weir.dropout_seed(self._seed, part, index)

    def _drop(self, part, values, wanted=None):
        keep = self._keep[part]
        if isinstance(keep, float) and keep >= 1:
            return values

        def dropped(i, value):
            if part not in self._noise:
                return nn_ops.dropout(value, rate=1. - keep, seed=self._seed_of(part, i))
            return _weir.variational_dropout(_graph(), value, self._noise[part][i], keep)

        flat = nest.flatten(values)
        wanted = wanted or [True] * len(flat)
        return nest.pack_sequence_as(values, [dropped(i, value) if want else value
                                              for i, (value, want) in enumerate(zip(flat, wanted))])

    def _wrapped(self, inputs, state, cell):
        output, state = cell(self._drop("input", inputs), state)
        return self._drop("output", output), self._drop("state", state, _chosen(self._visitor, state))


class ResidualWrapper(_Wrapper):
    """Adds the inputs of a cell to its outputs."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _wrapped(self, inputs, state, cell):
        outputs, state = cell(inputs, state)
        if self._residual_fn:
            return self._residual_fn(inputs, outputs), state

        def total(x, y):
            x.shape.assert_is_compatible_with(y.shape)
            return x + y

        return nest.map_structure(total, inputs, outputs), state


class DeviceWrapper(_Wrapper):
    """Runs a cell on a device."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size, dtype):
        with device(self._device):
            return super().zero_state(batch_size, dtype)

    def _wrapped(self, inputs, state, cell):
        with device(self._device):
            return cell(inputs, state)


class EmbeddingWrapper(_Around):
    """Looks the inputs, numbers of classes, up in a table before they go to a cell."""

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(cell, _reuse=reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError("Both embedding_classes and embedding_size must be > 0: "
                             f"{embedding_classes}, {embedding_size}.")
        self._shape, self._initializer = [embedding_classes, embedding_size], initializer

    def call(self, inputs, state):
        bound = math.sqrt(3)  # a variance of 1
        initializer = (self._initializer or get_variable_scope().initializer
                       or init_ops.random_uniform_initializer(-bound, bound))
        embedding = get_variable("embedding", self._shape, initializer=initializer, dtype=nest.flatten(state)[0].dtype)
        return self._cell(nn_ops.embedding_lookup(embedding, array_ops.reshape(inputs, [-1])), state)


class _Projection(_Around):
    def __init__(self, cell, size, activation, reuse):
        super().__init__(cell, _reuse=reuse)
        self._size, self._project_activation = size, activation

    def _projected(self, x):
        kernel = get_variable("kernel", [x.shape.as_list()[1], self._size], dtype=x.dtype)
        bias = get_variable("bias", [self._size], dtype=x.dtype, initializer=init_ops.zeros_initializer())
        result = _affine([x], kernel, bias)
        return self._project_activation(result) if self._project_activation else result


class InputProjectionWrapper(_Projection):
    """A linear map before a cell."""

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(cell, num_proj, activation, reuse)

    def call(self, inputs, state):
        return self._cell(self._projected(inputs), state)


class OutputProjectionWrapper(_Projection):
    """A linear map behind a cell."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell, output_size, activation, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")

    output_size = property(lambda self: self._size)

    def call(self, inputs, state):
        output, state = self._cell(inputs, state)
        return self._projected(output), state


class HighwayWrapper(_Wrapper):
    """Lets a learned share of a cell's inputs through beside its outputs (Srivastava et al., 2015)."""

    def __init__(self, cell, couple_carry_transform_gates=True, carry_bias_init=1.0):
        super().__init__(cell)
        self._couple, self._carry_bias = couple_carry_transform_gates, carry_bias_init

    def _gate(self, x, which, bias):
        size = x.shape.with_rank(2).as_list()[1]
        weights = get_variable(which + "_w", [size, size])
        biases = get_variable(which + "_b", [size], initializer=init_ops.constant_initializer(bias))
        return math_ops.sigmoid(nn_ops.xw_plus_b(x, weights, biases))

    def _highway(self, x, y):
        x.shape.assert_is_compatible_with(y.shape)
        carry = self._gate(x, "carry", self._carry_bias)
        transform = 1 - carry if self._couple else self._gate(x, "transform", -self._carry_bias)
        return x * carry + y * transform

    def _wrapped(self, inputs, state, cell):
        outputs, state = cell(inputs, state)
        nest.assert_same_structure(inputs, outputs)
        return nest.map_structure(self._highway, inputs, outputs), state


class CompiledWrapper(_Wrapper):
    """The cell itself: plans fuse and compile everything there is."""

    def __init__(self, cell, compile_stateful=False):
        super().__init__(cell)

    def _wrapped(self, inputs, state, cell):
        return cell(inputs, state)
