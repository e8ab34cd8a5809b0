"""tf.contrib.grid_rnn: recurrent cells whose units stand in a grid of several dimensions (Kalchbrenner et al., 2015)."""

import weir as tf


def _dimensions(chosen, count):
    """A number, some numbers or None as an ordered list of dimensions."""
    if chosen is None:
        chosen = []
    chosen = sorted(set(chosen if isinstance(chosen, (list, tuple)) else [chosen]))
    if any(not 0 <= i < count for i in chosen):
        raise ValueError(f"Invalid dims: {chosen}. Must be in [0, {count})")
    return chosen


class GridRNNCell(tf.nn.rnn_cell.RNNCell):
    """A grid with an inner cell along each recurrent dimension and ``non_recurrent_fn`` along the others.

    Dimensions of ``input_dims`` begin with a projection of the input. Those of ``priority_dims`` come last, and see what the
    others have put out in the same step."""

    def __init__(self, num_units, num_dims=1, input_dims=None, output_dims=None, priority_dims=None, non_recurrent_dims=None,
                 tied=False, cell_fn=None, non_recurrent_fn=None, state_is_tuple=True, output_is_tuple=True):
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._units, self._tied, self._transfer = num_units, tied, non_recurrent_fn or tf.nn.relu
        self._inputs, self._outputs = _dimensions(input_dims, num_dims), _dimensions(output_dims, num_dims)
        self._last = _dimensions(priority_dims, num_dims)
        self._first = [i for i in range(num_dims) if i not in self._last]
        flat = _dimensions(non_recurrent_dims, num_dims)
        self._recurrent = [i for i in range(num_dims) if i not in flat]
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple

        def make():
            return cell_fn(num_units) if cell_fn else tf.nn.rnn_cell.LSTMCell(num_units, state_is_tuple=state_is_tuple)

        self._cells = [make()] * num_dims if tied else [make() for _ in range(num_dims)]
        inner = self._cells[0]
        if not isinstance(inner, tf.nn.rnn_cell.RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(inner)}")
        self._inner_size = sum(inner.state_size) if isinstance(inner.state_size, tuple) else inner.state_size
        outputs, states = len(self._outputs), len(self._recurrent)
        self._output_size = (inner.output_size,) * outputs if output_is_tuple else inner.output_size * outputs
        self._state_size = (inner.state_size,) * states if state_is_tuple else self._inner_size * states

    output_size = property(lambda self: self._output_size)
    state_size = property(lambda self: self._state_size)

    def __call__(self, inputs, state, scope=None):
        memory, hidden = self._split_state(state)
        dims = len(self._cells)
        output, new_state = [None] * dims, [None] * dims
        with tf.variable_scope(scope or type(self).__name__):
            self._project_input(inputs, memory, hidden)
            shared = set()
            self._propagate(self._first, memory, hidden, output, new_state, shared)
            self._propagate(self._last, memory, hidden, output, new_state, shared)
            outputs = tuple(output[i] for i in self._outputs)
            states = tuple(new_state[i] for i in self._recurrent)
            if not self._output_is_tuple:
                outputs = tf.concat(outputs, 1) if outputs else tf.zeros([0, 0], inputs.dtype)
            if not self._state_is_tuple:
                parts = [part for one in states for part in tf.contrib.framework.nest.flatten(one)]
                states = tf.concat(parts, 1) if parts else tf.zeros([0, 0], inputs.dtype)
        return outputs, states

    def _split_state(self, state):
        """The memory of the inner cells that have one beside their output, and their outputs, by dimension."""
        memory, hidden = [None] * len(self._cells), [None] * len(self._cells)
        with_memory = self._inner_size > self._units
        if self._state_is_tuple:
            if len(self._recurrent) != len(state):
                raise ValueError(f"Expected state as a tuple of {len(self._recurrent)} element")
            parts = state
        else:
            parts = tf.split(state, len(self._recurrent), 1) if self._recurrent else []
        for i, part in zip(self._recurrent, parts):
            if not with_memory:
                hidden[i] = part
            elif self._state_is_tuple:
                memory[i], hidden[i] = part
            else:
                memory[i], hidden[i] = part[:, :self._units], part[:, self._units:]
        return memory, hidden

    def _project_input(self, inputs, memory, hidden):
        if inputs is None or not self._inputs or inputs.shape.with_rank(2)[1].value == 0:
            return
        parts = tf.split(inputs, len(self._inputs), 1)
        size = parts[0].shape.with_rank(2)[1].value
        for i, part in zip(self._inputs, parts):
            shape = [size, self._units]
            hidden[i] = tf.matmul(part, tf.get_variable(f"project_m_{i}", shape, dtype=inputs.dtype))
            if self._inner_size > self._units:
                memory[i] = tf.matmul(part, tf.get_variable(f"project_c_{i}", shape, dtype=inputs.dtype))

    def _propagate(self, dims, memory, hidden, output, new_state, shared):
        """A step along some dimensions. The last dimension is the state of the cells, the others are their input.
        ``shared`` has the kinds of weights that tied dimensions have made already."""
        if not dims:
            return
        now = [h if o is None else o for h, o in zip(hidden, output)]
        last = now[-1]
        around = tf.concat(now[:-1], 1) if len(now) > 1 else tf.zeros([last.get_shape().as_list()[0], 0], last.dtype)
        for i in dims:
            kind = "recurrent" if i in self._recurrent else "non_recurrent"
            with tf.variable_scope(kind if self._tied else f"{kind}/cell_{i}") as here:
                if self._tied and kind in shared:
                    here.reuse_variables()
                shared.add(kind)
                if i in self._recurrent:
                    output[i], new_state[i] = self._cells[i](around, last if memory[i] is None else (memory[i], last))
                else:
                    output[i] = tf.contrib.layers.fully_connected(
                        tf.concat([around, last], 1) if len(now) > 1 else last, self._units, activation_fn=self._transfer,
                        weights_initializer=here.initializer or tf.contrib.layers.xavier_initializer(),
                        weights_regularizer=here.regularizer)


def _basic_rnn(units):
    return tf.nn.rnn_cell.BasicRNNCell(num_units=units)


def _grid(cell, num_units, num_dims, cell_fn, tied, non_recurrent_fn, state_is_tuple, output_is_tuple):
    """A grid that takes its input and gives its output in the first dimension, which may be without recurrence."""
    GridRNNCell.__init__(cell, num_units, num_dims, input_dims=0, output_dims=0, priority_dims=0,
                         non_recurrent_dims=None if non_recurrent_fn is None else 0, tied=tied, cell_fn=cell_fn,
                         non_recurrent_fn=non_recurrent_fn, state_is_tuple=state_is_tuple, output_is_tuple=output_is_tuple)


class Grid1BasicRNNCell(GridRNNCell):
    def __init__(self, num_units, state_is_tuple=True, output_is_tuple=True):
        _grid(self, num_units, 1, _basic_rnn, False, None, state_is_tuple, output_is_tuple)


class Grid2BasicRNNCell(GridRNNCell):
    def __init__(self, num_units, tied=False, non_recurrent_fn=None, state_is_tuple=True, output_is_tuple=True):
        _grid(self, num_units, 2, _basic_rnn, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid1BasicLSTMCell(GridRNNCell):
    def __init__(self, num_units, forget_bias=1, state_is_tuple=True, output_is_tuple=True):
        _grid(self, num_units, 1, lambda n: tf.nn.rnn_cell.BasicLSTMCell(n, forget_bias=forget_bias), False, None,
              state_is_tuple, output_is_tuple)


class Grid2BasicLSTMCell(GridRNNCell):
    def __init__(self, num_units, tied=False, non_recurrent_fn=None, forget_bias=1, state_is_tuple=True,
                 output_is_tuple=True):
        _grid(self, num_units, 2, lambda n: tf.nn.rnn_cell.BasicLSTMCell(n, forget_bias=forget_bias), tied, non_recurrent_fn,
              state_is_tuple, output_is_tuple)


def _lstm(forget_bias, use_peepholes):
    return lambda n: tf.nn.rnn_cell.LSTMCell(n, forget_bias=forget_bias, use_peepholes=use_peepholes)


class Grid1LSTMCell(GridRNNCell):
    def __init__(self, num_units, use_peepholes=False, forget_bias=1.0, state_is_tuple=True, output_is_tuple=True):
        _grid(self, num_units, 1, _lstm(forget_bias, use_peepholes), False, None, state_is_tuple, output_is_tuple)


class Grid2LSTMCell(GridRNNCell):
    def __init__(self, num_units, tied=False, non_recurrent_fn=None, use_peepholes=False, forget_bias=1.0,
                 state_is_tuple=True, output_is_tuple=True):
        _grid(self, num_units, 2, _lstm(forget_bias, use_peepholes), tied, non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid3LSTMCell(GridRNNCell):
    def __init__(self, num_units, tied=False, non_recurrent_fn=None, use_peepholes=False, forget_bias=1.0,
                 state_is_tuple=True, output_is_tuple=True):
        _grid(self, num_units, 3, _lstm(forget_bias, use_peepholes), tied, non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid2GRUCell(GridRNNCell):
    def __init__(self, num_units, tied=False, non_recurrent_fn=None, state_is_tuple=True, output_is_tuple=True):
        _grid(self, num_units, 2, lambda n: tf.nn.rnn_cell.GRUCell(n), tied, non_recurrent_fn, state_is_tuple, output_is_tuple)
