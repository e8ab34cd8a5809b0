"""Switch, Merge, Enter, Exit and NextIteration made by hand; arrays and stacks as operations."""

import numpy as np
import pytest

import weir as tf
from weir import names

control_flow_ops = names.find("tf.python.ops.control_flow_ops")
data_flow = names.find("tf.python.ops.gen_data_flow_ops")


def _run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_switch_and_merge_run_one_side_and_have_gradients():
    x, pred = tf.constant(3.0), tf.placeholder(tf.bool, [])
    false, true = control_flow_ops.switch(x, pred)
    merged, index = control_flow_ops.merge([false * 2, true + 10])
    grad = tf.gradients(merged, x)[0]
    assert _run([merged, index, grad], {pred: True}) == [13, 1, 1]
    assert _run([merged, index, grad], {pred: False}) == [6, 0, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"The tensor returned for .* was not valid.*Retval\[0\]"):
        _run(true, {pred: False})


def test_slices_are_switched_and_merged_part_by_part():
    slices = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 3]))
    false, true = control_flow_ops.switch(slices, tf.constant(True))
    merged = control_flow_ops.merge([false, true])[0]
    assert _run([merged.values, merged.indices])[1].tolist() == [0, 3]


def test_a_loop_goes_round_through_updated_inputs():
    limit = tf.placeholder(tf.int32, [])
    begin = control_flow_ops._Enter(tf.constant(0), "loop")
    end = control_flow_ops._Enter(limit, "loop", is_constant=True)
    merge = control_flow_ops.merge([begin, begin])[0]
    goes_on = data_flow_loop_cond(merge < end)
    false, true = control_flow_ops.switch(merge, goes_on)
    with tf.control_dependencies([true]):
        one = tf.constant(1)
    merge.op._update_input(1, control_flow_ops._NextIteration(true + one))
    last = control_flow_ops.exit(false)
    for n in (0, 3, 50):
        assert _run(last, {limit: n}) == n


def data_flow_loop_cond(value):
    return names.find("tf.python.ops.gen_control_flow_ops").loop_cond(value)


def test_an_update_may_not_close_another_cycle():
    a = tf.identity(tf.constant(1.0))
    b = tf.identity(a)
    with pytest.raises(tf.errors.InvalidArgumentError, match="depend on itself"):
        a.op._update_input(0, b)
    with pytest.raises(tf.errors.InvalidArgumentError, match="depend on itself"):
        a.op._add_control_input(b.op)


def test_variables_are_changed_on_the_side_that_runs():
    v, pred = tf.Variable(1.0), tf.placeholder(tf.bool, [])
    false, true = control_flow_ops._SwitchRefOrTensor(v, pred)
    changed = control_flow_ops.merge([tf.assign(false, 5.0), tf.assign_add(true, 10.0)])[0]
    assert _run(changed, {pred: True}) == 11
    assert _run(changed, {pred: False}) == 5


def test_arrays_as_operations_have_gradients():
    x = tf.constant([1.0, 2.0])
    handle, flow = data_flow.tensor_array_v3(size=2, dtype=tf.float32)
    flow = data_flow.tensor_array_write_v3(handle, 0, x * 2, flow)
    flow = data_flow.tensor_array_write_v3(handle, 1, x * 3, flow)
    rows = data_flow.tensor_array_gather_v3(handle, [0, 1], flow, dtype=tf.float32)
    values, grad = _run([rows, tf.gradients(rows, x)[0]])
    assert values.tolist() == [[2, 4], [3, 6]] and grad.tolist() == [5, 5]


def test_a_run_in_pieces_computes_nothing_twice():
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    counter = tf.Variable(0.0)
    counted = tf.assign_add(counter, 1.0)
    with tf.control_dependencies([counted]):
        first = a + b
    second = first * c
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        handle = session.partial_run_setup([first, second], [a, b, c])
        result = session.partial_run(handle, first, {a: 1, b: 2})
        assert result == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="has already been fed.$"):
            session.partial_run(handle, second, {a: 1, c: 3})
        with pytest.raises(tf.errors.InvalidArgumentError, match="was not specified in partial_run_setup.$"):
            session.partial_run(handle, counted)
        assert session.partial_run(handle, second, {c: result * 10}) == 90
        with pytest.raises(tf.errors.InvalidArgumentError, match="has already been fetched.$"):
            session.partial_run(handle, first)
        assert session.run(counter) == 1
        handle = session.partial_run_setup([second], [a, b, c])
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder"):
            session.partial_run(handle, second, {a: 1})
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least one target to fetch or execute"):
            session.partial_run_setup([], [a])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
            session.partial_run("nothing", second)


def test_a_session_keeps_tensors_by_handle():
    a = tf.placeholder(tf.float32, [2])
    kept = tf.get_session_handle(a * 2)
    with tf.Session() as session:
        handle = session.run(kept, {a: [1, 2]})
        assert handle.eval().tolist() == [2, 4]
        holder, value = tf.get_session_tensor(handle.handle, tf.float32)
        assert session.run(value + 1, {holder: handle.handle}).tolist() == [3, 5]
        assert session.run(value + 1, {holder: handle}).tolist() == [3, 5]
        assert session.run(a + 1, {a: handle}).tolist() == [3, 5]
        holder, delete = tf.delete_session_tensor(handle.get_raw_handle())
        session.run(delete, {holder: handle.handle})
        with pytest.raises(TypeError, match="may have already been deleted"):
            handle.eval()
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
            session.run(value, {tf.get_default_graph().get_tensor_by_name(value.op.inputs[0].name): handle.handle})
        for _ in range(30):  # those that nobody has go by themselves
            session.run(kept, {a: [1, 2]})
        assert len(session._dead_handles) < 15


def test_stacks_give_back_what_was_pushed_last():
    stack = data_flow.stack_v2(max_size=2, elem_type=tf.float32)
    pushed = data_flow.stack_push_v2(stack, tf.constant(4.0))
    with tf.control_dependencies([pushed]):
        popped = data_flow.stack_pop_v2(stack, elem_type=tf.float32)
    assert np.isclose(_run(popped), 4)
