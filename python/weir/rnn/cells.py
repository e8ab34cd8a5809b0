"""tf.nn.rnn_cell: one step of a recurrent network each.

A cell is called with the input of a step and the state before it, and gives the output and the state after it.
Variables have TensorFlow 1.15's names: a cell's scope is its class's name in snake case, opened where the cell is
called first.
"""

import collections
import copy

from weir import _weir, logging, nest
from weir.core import dtypes, tensor_util
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import as_shape
from weir.core.variable_scope import VariableScope, get_variable, get_variable_scope, variable_scope
from weir.core.variables import PartitionedVariable, trainable_variables
from weir.layers.base import Layer
from weir.layers.input_spec import InputSpec
from weir.ops import array_ops, init_ops, math_ops, nn_ops


def _activation(activation):
    if isinstance(activation, str):
        return getattr(math_ops if activation in ("tanh", "sigmoid") else nn_ops, activation)
    return activation or math_ops.tanh


def _or_none(activation):
    """The function for C++, whose own is tanh."""
    return None if activation is math_ops.tanh else activation


def assert_like_rnncell(cell_name, cell):
    """Raises TypeError for what dynamic_rnn and the like cannot call."""
    errors = [f"'{name}' property is missing" for name in ("output_size", "state_size") if not hasattr(cell, name)]
    if not hasattr(cell, "zero_state") and not hasattr(cell, "get_initial_state"):
        errors.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        errors.append("is not callable")
    if errors:
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(errors)}.")


def zeros_of_size(batch_size, size, dtype):
    """Zeros for one tensor of a state or an output: ``size`` without the dimension of the batch."""
    if isinstance(size, Tensor):  # an attention over a memory whose length only the run knows
        return array_ops.zeros(array_ops.concat([array_ops.reshape(batch_size, [1]), array_ops.reshape(size, [-1])], 0),
                               dtype)
    zeros = _weir.zeros_for_batch(_graph(), batch_size, as_shape(size), dtypes.as_dtype(dtype))
    static = tensor_util.constant_value(batch_size) if isinstance(batch_size, Tensor) else None
    if static is not None:
        zeros.set_shape([int(static)] + as_shape(size).as_list())
    return zeros


def _zero_state_tensors(state_size, batch_size, dtype):
    """Zeros of all parts of a state."""
    return nest.map_structure(lambda size: zeros_of_size(batch_size, size, dtype), state_size)


class RNNCell(Layer):
    """A cell of one's own gives ``state_size``, ``output_size`` and ``call(inputs, state)``, and may make its variables
    in ``build(inputs_shape)`` with ``add_variable`` or in ``call`` with ``tf.get_variable``."""

    def __call__(self, inputs, state, scope=None, *args, **kwargs):
        cell = self._of_scope(inputs, scope)
        with variable_scope(get_variable_scope() if scope is None else scope, custom_getter=cell._remember) as opened:
            if scope is not None:
                kwargs["scope"] = opened
            return Layer.__call__(cell, inputs, state, *args, **kwargs)

    def _of_scope(self, inputs, scope):
        """The cell that has this one's weights for the scope where it is called.

        Since TensorFlow 1.2 that is the cell itself, everywhere. Before, every scope had weights of its own. Programs of
        0.x tell by what else they call, and those of 1.0 by inputs of several depths, which one matrix could not serve.
        """
        name = scope if isinstance(scope, str) else (scope or get_variable_scope()).name
        if isinstance(scope, str) and get_variable_scope().name:
            name = f"{get_variable_scope().name}/{scope}"
        depths = [each.shape[-1:].as_list() for each in nest.flatten(inputs) if isinstance(each, Tensor)]
        known = self.__dict__.setdefault("_by_scope", {})  # None for the cell itself, and the depths of the inputs
        if name not in known:
            one_matrix = isinstance(self, LayerRNNCell)
            apart = known and (_apart() or one_matrix and any(other != depths for _, other in known.values()))
            known[name] = _with_own_weights(self) if apart else None, depths
        return known[name][0] or self

    def _remember(self, getter, *args, **kwargs):
        """What ``tf.get_variable`` gives inside of the cell is one of its weights."""
        variable = getter(*args, **kwargs)
        parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
        known = trainable_variables()
        weights = (self._trainable_weights if all(any(part is other for other in known) for part in parts)
                   else self._non_trainable_weights)
        if all(variable is not other for other in weights):
            weights.append(variable)
        return variable

    def add_weight(self, *args, **kwargs):
        variable = super().add_weight(*args, **kwargs)
        for weights in (self._trainable_weights, self._non_trainable_weights):
            places = [i for i, other in enumerate(weights) if other is variable]
            for place in reversed(places[1:]):  # it came by the getter as well
                del weights[place]
        return variable

    def build(self, inputs_shape):
        pass

    def call(self, inputs, state):
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self):
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            found = inputs.shape.as_list()[0]
            known = tensor_util.constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
            if batch_size is not None and found != known:
                raise ValueError("batch size from input tensor is different from the input param. Input tensor batch: "
                                 f"{found}, batch_size: {batch_size}")
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError("dtype from input tensor is different from the input param. Input tensor dtype: "
                                 f"{inputs.dtype}, dtype: {dtype}")
            batch_size = array_ops.shape(inputs)[0] if found is None else found
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError("batch_size and dtype cannot be None while constructing initial state: "
                             f"batch_size={batch_size}, dtype={dtype}")
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return _zero_state_tensors(self.state_size, batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in ``build``."""

    def __call__(self, inputs, state, scope=None, *args, **kwargs):
        return Layer.__call__(self._of_scope(inputs, scope), inputs, state, *args, scope=scope, **kwargs)


class _UnitsCell(LayerRNNCell):
    """What cells with ``num_units`` outputs and a matrix for input and state share."""

    def __init__(self, num_units, activation, reuse, name, dtype, kwargs):
        if kwargs.pop("input_size", None) is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._activation = num_units, _activation(activation)

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        if inputs_shape.ndims is None or inputs_shape.as_list()[-1] is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        self._build(inputs_shape.as_list()[-1])
        self.built = True

    def _add_linear(self, rows, columns, prefix="", kernel_initializer=None, bias_initializer=None):
        kernel = self.add_variable(f"{prefix}kernel", [rows, columns], initializer=kernel_initializer)
        if bias_initializer is None:
            bias_initializer = init_ops.zeros_initializer()
        return kernel, self.add_variable(f"{prefix}bias", [columns], initializer=bias_initializer)


def _affine(tensors, kernel, bias):
    return nn_ops.bias_add(math_ops.matmul(array_ops.concat(tensors, 1), kernel), bias)


class _Linear:
    """Variables, made in the scope of the call, and their products with ``args`` side by side. Programs import this and
    ``_linear`` for cells of their own."""

    def __init__(self, args, output_size, build_bias, bias_initializer=None, kernel_initializer=None):
        if not isinstance(args, Tensor) and not args:
            raise ValueError("`args` must be specified")
        tensors = list(args) if nest.is_sequence(args) else [args]
        for tensor in tensors:
            if tensor.shape.ndims != 2 or tensor.shape.as_list()[1] is None:
                raise ValueError(f"linear is expecting 2D arguments of known depth: {[each.shape for each in tensors]}")
        dtype = tensors[0].dtype
        self._kernel = get_variable("kernel", [sum(tensor.shape.as_list()[1] for tensor in tensors), output_size],
                                    dtype=dtype, initializer=kernel_initializer)
        self._bias = None
        if build_bias:
            if bias_initializer is None:
                bias_initializer = init_ops.constant_initializer(0.0, dtype=dtype)
            self._bias = get_variable("bias", [output_size], dtype=dtype, initializer=bias_initializer)

    weights = property(lambda self: (self._kernel, self._bias))

    def __call__(self, args):
        tensors = list(args) if nest.is_sequence(args) else [args]
        product = math_ops.matmul(array_ops.concat(tensors, 1) if len(tensors) > 1 else tensors[0], self._kernel)
        return product if self._bias is None else nn_ops.bias_add(product, self._bias)


def _linear(args, output_size, bias, bias_initializer=None, kernel_initializer=None, bias_start=None, scope=None):
    """Releases before 1.2 had ``(args, output_size, bias, bias_start, scope)``."""
    if isinstance(bias_initializer, (int, float)):
        bias_start, bias_initializer = bias_initializer, None
    if isinstance(kernel_initializer, (str, VariableScope)):
        scope, kernel_initializer = kernel_initializer, None
    if scope is not None:
        with variable_scope(scope):
            return _linear(args, output_size, bias, bias_initializer, kernel_initializer, bias_start)
    if bias_start is not None:
        bias_initializer = init_ops.constant_initializer(bias_start)
    return _Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


linear = _linear  # its name in TensorFlow 0.7


class BasicRNNCell(_UnitsCell):
    """``output = state = activation(W [input, state] + b)``."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)

    def _build(self, depth):
        self._kernel, self._bias = self._add_linear(depth + self._num_units, self._num_units)

    def call(self, inputs, state):
        output, _ = _weir.basic_rnn_step(_graph(), inputs, state, self._kernel, self._bias, _or_none(self._activation))
        return output, output


class GRUCell(_UnitsCell):
    """Gated recurrent units."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None,
                 name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def _build(self, depth):
        rows = depth + self._num_units
        bias = self._bias_initializer
        self._gate_kernel, self._gate_bias = self._add_linear(
            rows, 2 * self._num_units, "gates/", self._kernel_initializer,
            init_ops.constant_initializer(1.0) if bias is None else bias)
        self._candidate_kernel, self._candidate_bias = self._add_linear(
            rows, self._num_units, "candidate/", self._kernel_initializer, bias)

    def call(self, inputs, state):
        output, _ = _weir.gru_step(_graph(), inputs, state, self._gate_kernel, self._gate_bias, self._candidate_kernel,
                                   self._candidate_bias, _or_none(self._activation))
        return output, output


class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: the cell's memory and its output."""

    __slots__ = ()

    @property
    def dtype(self):
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class _LSTM(_UnitsCell):
    """What both kinds of LSTM share. A state is a tuple, or both parts side by side."""

    def _set_state(self, state_is_tuple, h_size):
        self._state_is_tuple, self._h_size = state_is_tuple, h_size
        if not state_is_tuple:
            logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                         "state_is_tuple=True.", self)

    @property
    def state_size(self):
        sizes = LSTMStateTuple(self._num_units, self._h_size)
        return sizes if self._state_is_tuple else sum(sizes)

    output_size = property(lambda self: self._h_size)

    def _joined(self, state):
        """Whether both parts stand side by side. Programs of releases before 0.12 pass such a tensor to cells that they
        do not say so of."""
        return not self._state_is_tuple or isinstance(state, Tensor)

    def _parts(self, state):
        return array_ops.split(state, [self._num_units, self._h_size], axis=1) if self._joined(state) else state

    def _like(self, state, c, h):
        return array_ops.concat([c, h], 1) if self._joined(state) else LSTMStateTuple(c, h)


class BasicLSTMCell(_LSTM):
    """Long short-term memory without peepholes, clipping or projection."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)
        self._forget_bias = forget_bias
        self._set_state(state_is_tuple, num_units)

    def _build(self, depth):
        self._kernel, self._bias = self._add_linear(depth + self._num_units, 4 * self._num_units)

    def call(self, inputs, state):
        c, h = self._parts(state)
        h, (c, _) = _weir.basic_lstm_step(_graph(), inputs, c, h, self._kernel, self._bias, self._forget_bias,
                                          _or_none(self._activation))
        return h, self._like(state, c, h)


class LSTMCell(_LSTM):
    """Long short-term memory with optional peepholes, clipping and projection of the output."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None,
                 reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, kwargs)
        if num_unit_shards is not None or num_proj_shards is not None:
            logging.warn("%s: The num_unit_shards and proj_unit_shards parameters are deprecated; use a variable scope "
                         "with a partitioner instead. They are not used.", self)
        self._use_peepholes, self._cell_clip, self._initializer = use_peepholes, cell_clip, initializer
        self._num_proj, self._proj_clip, self._forget_bias = num_proj, proj_clip, forget_bias
        self._set_state(state_is_tuple, num_proj or num_units)

    def _build(self, depth):
        units = self._num_units
        self._kernel, self._bias = self._add_linear(depth + self._h_size, 4 * units,
                                                    kernel_initializer=self._initializer)
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_variable(f"w_{gate}_diag", [units], initializer=self._initializer) for gate in "fio")
        if self._num_proj is not None:
            self._proj_kernel = self.add_variable("projection/kernel", [units, self._num_proj],
                                                  initializer=self._initializer)

    def call(self, inputs, state):
        c, h = self._parts(state)
        peepholes = (self._w_f_diag, self._w_i_diag, self._w_o_diag) if self._use_peepholes else (None,) * 3
        projection = self._proj_kernel if self._num_proj is not None else None
        h, (c, _) = _weir.lstm_step(_graph(), inputs, c, h, (self._kernel, self._bias, *peepholes, projection),
                                    self._forget_bias, self._cell_clip, self._proj_clip, _or_none(self._activation))
        return h, self._like(state, c, h)


class MultiRNNCell(RNNCell):
    """Cells on top of each other: the output of one is the input of the next."""

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_sequence(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        self._cells, self._state_is_tuple = list(cells), state_is_tuple
        if not state_is_tuple and any(nest.is_sequence(cell.state_size) for cell in cells):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes "
                             f"are: {[cell.state_size for cell in cells]}")

    @property
    def state_size(self):
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    output_size = property(lambda self: self._cells[-1].output_size)

    def zero_state(self, batch_size, dtype):
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs, state):
        if not self._state_is_tuple:
            state = array_ops.split(state, [cell.state_size for cell in self._cells], axis=1)
        elif not nest.is_sequence(state):
            raise ValueError(f"Expected state to be a tuple of length {len(self._cells)}, but received: {state}")
        states, depths = [], []
        for i, cell in enumerate(self._cells):
            depths.append(nest.flatten(inputs)[0].shape[-1:].as_list())
            # Before TensorFlow 1.2 [cell] * 2 were cells with weights of their own; where inputs differ they still are.
            same = [depth for other, depth in zip(self._cells, depths[:i]) if other is cell]
            if any(depth != depths[i] for depth in same):
                cell = self._cells[i] = _with_own_weights(cell)
            elif same:
                logging.log_first_n(logging.WARN, "At least two cells provided to MultiRNNCell are the same object and "
                                    "will share weights.", 1)
            with variable_scope(f"cell_{i}"):
                inputs, new_state = cell(inputs, state[i])
                states.append(new_state)
        return inputs, tuple(states) if self._state_is_tuple else array_ops.concat(states, 1)


class _SlimRNNCell(RNNCell):
    """A cell of a function ``cell_fn(inputs, state, scope)``, which without inputs gives the shapes of both results."""

    def __init__(self, cell_fn):
        super().__init__()
        if not callable(cell_fn):
            raise TypeError(f"cell_fn {cell_fn} needs to be callable")
        self._cell_fn, self._cell_name = cell_fn, cell_fn.func.__name__
        output, state = cell_fn(None, None)
        self._output_size, self._state_size = (each.shape.with_rank(2).as_list()[1] for each in (output, state))

    state_size = property(lambda self: self._state_size)
    output_size = property(lambda self: self._output_size)

    def __call__(self, inputs, state, scope=None):
        return self._cell_fn(inputs, state, scope=scope or self._cell_name)


def _apart():
    """Whether cells have weights of their own in every scope. What shows it late does not count: weights that were shared in
    one part of a program must be found in the next."""
    graph = _graph()
    if graph._cells_apart is None:
        graph._cells_apart = graph._of_0_x
    return graph._cells_apart


def _with_own_weights(cell):
    """A cell like ``cell`` that has not been called yet."""
    own = copy.copy(cell)
    own._scope, own.built, own._by_scope = None, False, {}
    own._trainable_weights, own._non_trainable_weights = [], []
    if isinstance(own, _Around):
        own._cell = _with_own_weights(own._cell)
    elif isinstance(own, MultiRNNCell):
        own._cells = [_with_own_weights(inner) for inner in own._cells]
    return own


class _Around(RNNCell):
    """A cell around another, of the same sizes unless it says otherwise."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)
