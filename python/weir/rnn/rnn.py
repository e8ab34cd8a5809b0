"""Recurrent networks: cells (weir.rnn.cells) along sequences."""

from weir import _weir, nest
from weir.core import dtypes
from weir.core.graph import control_dependencies, convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape, as_shape
from weir.core.variable_scope import variable_scope
from weir.ops import array_ops, math_ops
from weir.ops.control_flow_ops import while_loop
from weir.rnn.cells import assert_like_rnncell, zeros_of_size
from weir.ops.tensor_array_ops import TensorArray


def transpose_batch_time(x):
    """``x`` with its first two dimensions exchanged."""
    return _weir.transpose_batch_time(_graph(), x)


def best_effort_input_batch_size(flat_input):
    """The size of the batch of inputs [time, batch, ...]: a number where one of them tells."""
    for tensor in flat_input:
        if tensor.shape.ndims is None:
            continue
        if tensor.shape.ndims < 2:
            raise ValueError(f"Expected input tensor {tensor} to have rank at least 2")
        if tensor.shape.as_list()[1] is not None:
            return tensor.shape.as_list()[1]
    return array_ops.shape(flat_input[0])[1]


def _initial_state(cell, initial_state, batch_size, dtype, message):
    if initial_state is not None:
        return initial_state
    if not dtype:
        raise ValueError(message)
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _as_tensors(state):
    return nest.map_structure(lambda part: part if isinstance(part, TensorArray) else convert_to_tensor(part), state)


def _state_dtype(dtype, state):
    """The type of outputs: the one given, or that of all tensors of the state."""
    if dtype is not None:
        return dtype
    found = [tensor.dtype for tensor in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(each != found[0] for each in found):
        raise ValueError("State has tensors of different inferred_dtypes. Unable to infer a single representative "
                         "dtype.")
    return found[0]


def _flows(structure):
    """The tensors of a structure, of TensorArrays their flows."""
    return [part.flow if isinstance(part, TensorArray) else part for part in nest.flatten(structure)]


def _like(structure, tensors):
    """The tensors in a structure, TensorArrays where it has them."""
    return nest.pack_sequence_as(structure, [part._with_flow(tensor) if isinstance(part, TensorArray) else tensor
                                             for part, tensor in zip(nest.flatten(structure), tensors)])


def _frozen(finished, old, new):
    """``new``, but ``old`` in the rows of the batch that are finished."""
    nest.assert_same_structure(old, new)
    return _like(new, _weir.frozen(_graph(), finished, _flows(old), _flows(new)))


def _step(cell, inputs, state, time, sequence_length, zero_output):
    """One step. Behind the end of a sequence its outputs are zeros, and its state stays."""
    output, new_state = cell(inputs, state)
    if sequence_length is None:
        return output, new_state
    finished = time >= sequence_length
    return _frozen(finished, zero_output, output), _frozen(finished, state, new_state)


def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None, dtype=None, parallel_iterations=None,
                swap_memory=False, time_major=False, scope=None):
    """Runs a cell along ``inputs`` [batch, time, ...] (or [time, batch, ...]): all outputs and the last state.

    The number of steps is that of the run. Where ``sequence_length`` says that a sequence ends earlier its outputs are
    zeros from there on, and its last state is the one at its end.
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn"):
        flat = [convert_to_tensor(tensor) for tensor in nest.flatten(inputs)]
        if not time_major:
            flat = [transpose_batch_time(tensor) for tensor in flat]
        batch_size = best_effort_input_batch_size(flat)
        if sequence_length is not None:
            sequence_length = _weir.checked_lengths(_graph(), sequence_length, batch_size)
        state = _initial_state(cell, initial_state, batch_size, dtype,
                               "If there is no initial_state, you must give a dtype.")
        state = _as_tensors(state)
        outputs, state = _dynamic_loop(cell, nest.pack_sequence_as(inputs, flat), state, batch_size, sequence_length,
                                       _state_dtype(dtype, state), parallel_iterations or 32)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state


def _dynamic_loop(cell, inputs, state, batch_size, sequence_length, dtype, parallel_iterations):
    def step(now, before):
        before = _like(state, before)
        output, after = cell(nest.pack_sequence_as(inputs, now), before)
        nest.assert_same_structure(before, after)
        nest.assert_same_structure(cell.output_size, output)
        return _flows(output), _flows(after)

    outputs, last = _weir.dynamic_loop(_graph(), step, nest.flatten(inputs), _flows(state),
                                       [as_shape(size) for size in nest.flatten(cell.output_size)],
                                       dtypes.as_dtype(dtype), batch_size, sequence_length, parallel_iterations)
    return nest.pack_sequence_as(cell.output_size, outputs), _like(state, last)


def bidirectional_dynamic_rnn(cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None,
                              initial_state_bw=None, dtype=None, parallel_iterations=None, swap_memory=False,
                              time_major=False, scope=None):
    """``dynamic_rnn`` of one cell forwards and of another backwards: a pair of outputs and a pair of states."""
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reverse(tensor):
        if sequence_length is None:
            return array_ops.reverse(tensor, axis=[time_axis])
        return array_ops.reverse_sequence(tensor, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    def run(cell, inputs, state, scope):
        return dynamic_rnn(cell, inputs, sequence_length, state, dtype, parallel_iterations, swap_memory, time_major,
                           scope)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw_scope:
            forward, state_fw = run(cell_fw, inputs, initial_state_fw, fw_scope)
        with variable_scope("bw") as bw_scope:
            backward, state_bw = run(cell_bw, nest.map_structure(reverse, inputs), initial_state_bw, bw_scope)
    return (forward, nest.map_structure(reverse, backward)), (state_fw, state_bw)


def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """Runs a cell as long as ``loop_fn`` says, on inputs that it gives.

    ``loop_fn(time, output, state, loop_state)`` gives ``finished, next_input, next_state, emit_output,
    next_loop_state``. At time 0 output, state and loop state are None, and emit_output tells what is emitted, without
    the batch. Gives the TensorArrays of what was emitted, the last state and the last loop state.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn"):
        time = array_ops.constant(0, dtype="int32")
        finished, inputs, state, emitted, first_loop_state = loop_fn(time, None, None, None)
        loop_state = array_ops.constant(0, dtype="int32") if first_loop_state is None else first_loop_state
        flat_inputs = [convert_to_tensor(tensor) for tensor in nest.flatten(inputs)]
        inputs = nest.pack_sequence_as(inputs, flat_inputs)
        static_batch = TensorShape([None])
        for tensor in flat_inputs:
            static_batch = static_batch.merge_with(tensor.shape[:1])
        batch_size = static_batch.as_list()[0] if static_batch.ndims else None
        if batch_size is None:
            batch_size = array_ops.shape(flat_inputs[0])[0]
        nest.assert_same_structure(state, cell.state_size)
        state = _as_tensors(state)
        if emitted is None:
            emitted, kinds = cell.output_size, [nest.flatten(state)[0].dtype] * len(nest.flatten(cell.output_size))
            sizes = nest.flatten(cell.output_size)
        else:
            tensors = [convert_to_tensor(tensor) for tensor in nest.flatten(emitted)]
            sizes, kinds = [tensor.shape for tensor in tensors], [tensor.dtype for tensor in tensors]
        zeros = nest.pack_sequence_as(emitted, [zeros_of_size(batch_size, size, kind)
                                                for size, kind in zip(sizes, kinds)])
        arrays = nest.pack_sequence_as(emitted, [
            TensorArray(kind, size=0, dynamic_size=True, element_shape=static_batch.concatenate(as_shape(size)),
                        name=f"rnn_output_{i}") for i, (size, kind) in enumerate(zip(sizes, kinds))])

        def body(time, finished, inputs, arrays, state, loop_state):
            output, cell_state = cell(inputs, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output)
            next_finished, next_input, next_state, emit, next_loop_state = loop_fn(time + 1, output, cell_state,
                                                                                  loop_state)
            nest.assert_same_structure(inputs, next_input)
            nest.assert_same_structure(arrays, emit)
            arrays = nest.map_structure(lambda array, part: array.write(time, part), arrays,
                                        _frozen(finished, zeros, emit))
            return (time + 1, math_ops.logical_or(finished, next_finished), next_input, arrays,
                    _frozen(finished, state, next_state), loop_state if next_loop_state is None else next_loop_state)

        result = while_loop(lambda _, finished, *rest: math_ops.logical_not(math_ops.reduce_all(finished)), body,
                            [time, finished, inputs, arrays, state, loop_state],
                            parallel_iterations=parallel_iterations or 32, swap_memory=swap_memory)
        return result[3], result[4], None if first_loop_state is None else result[5]


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """Runs a cell along a Python list of inputs [batch, ...], one part of the graph a step: outputs and last state."""
    assert_like_rnncell("cell", cell)
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn") as varscope:
        static_batch = TensorShape([None])
        for tensor in nest.flatten(inputs):
            if tensor.shape.ndims != 1 and not tensor.shape.with_rank_at_least(2)[1:].is_fully_defined():
                raise ValueError("Input size (dimension 0 of inputs) must be accessible via shape inference, but saw "
                                 "value None.")
            static_batch = static_batch.merge_with(tensor.shape[:1])
        batch_size = static_batch.as_list()[0]
        if batch_size is None:
            batch_size = array_ops.shape(nest.flatten(inputs)[0])[0]
        state = _initial_state(cell, initial_state, batch_size, dtype,
                               "If no initial_state is provided, dtype must be specified")
        zero_output = None
        if sequence_length is not None:
            sequence_length = math_ops.cast(sequence_length, "int32", name="sequence_length")
            if sequence_length.shape.ndims not in (None, 1):
                raise ValueError("sequence_length must be a vector of length batch_size")
            kind = _state_dtype(dtype, state)
            zero_output = nest.map_structure(lambda size: zeros_of_size(batch_size, size, kind), cell.output_size)
        outputs = []
        for time, step_input in enumerate(inputs):
            if time > 0:
                varscope.reuse_variables()
            output, state = _step(cell, step_input, state, array_ops.constant(time, dtype="int32"), sequence_length,
                                  zero_output)
            outputs.append(output)
        return outputs, state


def _reversed_steps(steps, lengths):
    """A list of steps backwards, each row of the batch from its own end on."""
    if lengths is None:
        return list(reversed(steps))
    columns = [array_ops.unstack(array_ops.reverse_sequence(array_ops.stack(column), lengths, seq_axis=0, batch_axis=1),
                                 num=len(steps))
               for column in zip(*(nest.flatten(step) for step in steps))]
    return [nest.pack_sequence_as(step, list(parts)) for step, parts in zip(steps, zip(*columns))]


def static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None,
                             sequence_length=None, scope=None):
    """``static_rnn`` of one cell forwards and of another backwards: joined outputs and both states."""
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw_scope:
            forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=fw_scope)
        with variable_scope("bw") as bw_scope:
            backward, state_bw = static_rnn(cell_bw, _reversed_steps(inputs, sequence_length), initial_state_bw, dtype,
                                            sequence_length, scope=bw_scope)
    joined = nest.map_structure(lambda fw, bw: array_ops.concat([fw, bw], 1), forward,
                                _reversed_steps(backward, sequence_length))
    return joined, state_fw, state_bw


def static_state_saving_rnn(cell, inputs, state_saver, state_name, sequence_length=None, scope=None):
    """``static_rnn`` that begins with a saved state and saves its last: ``state_saver.state(name)`` and
    ``state_saver.save_state(name, value)``. The last output waits until the state is saved."""
    sizes = cell.state_size
    if nest.is_sequence(sizes) != nest.is_sequence(state_name):
        raise ValueError(f"state_name should be the same type as cell.state_size.  state_name: {state_name}, "
                         f"cell.state_size: {sizes}")
    names, count = nest.flatten(state_name), len(nest.flatten(sizes))
    if len(names) != count:
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {count}")
    first = nest.pack_sequence_as(sizes, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=first, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state))]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(array_ops.identity, outputs[-1])
        state = nest.map_structure(array_ops.identity, state)
    return outputs, state


def _transpose_batch_time(x):
    """The first two dimensions, of sequences and steps, in the other order; what has no two dimensions as it is."""
    x = convert_to_tensor(x)
    if x.shape.ndims is None or x.shape.ndims < 2:
        return x
    return array_ops.transpose(x, [1, 0, *range(2, x.shape.ndims)])
