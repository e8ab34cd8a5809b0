"""Arrays in and out of a session: what is copied, who owns what, how much memory stays."""

import gc
import os

import numpy as np
import pytest

import weir as tf


def _resident():
    """Bytes of memory that the process holds."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _address(array):
    return array.__array_interface__["data"][0]


def test_a_fetched_array_belongs_to_the_program_and_is_writable(sess):
    value = sess.run(tf.constant(np.arange(6.0).reshape(2, 3)) * 2)
    assert value.flags.writeable and value.flags.c_contiguous
    value[0, 0] = 7
    assert value[0, 0] == 7


def test_writing_to_a_fetched_constant_does_not_change_the_constant(sess):
    constant = tf.constant([1.0, 2.0])
    first = sess.run(constant)
    first[:] = 9
    assert sess.run(constant).tolist() == [1, 2]


def test_writing_to_a_fetched_variable_does_not_change_the_variable(sess):
    variable = tf.Variable([1.0, 2.0])
    sess.run(variable.initializer)
    sess.run(variable)[:] = 9
    assert sess.run(variable).tolist() == [1, 2]


def test_a_later_run_does_not_change_an_earlier_result(sess):
    x = tf.placeholder(tf.float32, [4])
    y = x * 2
    first = sess.run(y, {x: [1, 2, 3, 4]})
    for _ in range(3):
        sess.run(y, {x: [5, 6, 7, 8]})
    assert first.tolist() == [2, 4, 6, 8]


def test_an_update_does_not_change_an_array_that_was_fetched_before(sess):
    variable = tf.Variable(np.zeros(1000, np.float32))
    step = variable.assign_add(np.ones(1000, np.float32))
    sess.run(variable.initializer)
    before = sess.run(variable)
    sess.run(step)
    assert before.sum() == 0 and sess.run(variable).sum() == 1000


def test_two_fetches_of_one_tensor_are_two_arrays(sess):
    y = tf.constant([1.0, 2.0]) + 1
    a, b = sess.run([y, y])
    a[0] = 50
    assert b[0] == 2


def test_a_run_does_not_write_to_the_array_that_is_fed(sess):
    x = tf.placeholder(tf.float32, [1000])
    array = np.ones(1000, np.float32)
    sess.run(tf.nn.relu(x * 3 - 5), {x: array})
    sess.run([x + 1, -x], {x: array})
    assert (array == 1).all()


def test_changing_a_fed_array_afterwards_changes_nothing(sess):
    x = tf.placeholder(tf.float32, [3])
    variable = tf.Variable([0.0, 0.0, 0.0])
    assign = variable.assign(x)
    array = np.array([1, 2, 3], np.float32)
    fetched = sess.run(x, {x: array})
    sess.run(assign, {x: array})
    array[:] = 9
    assert fetched.tolist() == [1, 2, 3]
    assert sess.run(variable).tolist() == [1, 2, 3]


def test_a_matching_feed_is_not_copied(sess):
    """Feeding 256 MB while the process may only grow by a part of that: a copy would show."""
    array = np.zeros(64 << 20, np.float32)
    array[-1] = 5
    x = tf.placeholder(tf.float32, [None])
    last = x[-1]
    assert sess.run(last, {x: array[:100]}) == 0
    peak = _peak_growth(lambda: sess.run(last, {x: array}))
    assert sess.run(last, {x: array}) == 5
    assert peak < 128 << 20


def _peak_growth(function):
    """How much the high-water mark of the process rises while the function runs."""

    def high_water():
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))

    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")  # the high-water mark begins at the present size
    except OSError:
        pytest.skip("the kernel does not let a process reset its high-water mark")
    before = high_water()
    function()
    return high_water() - before


def test_a_fed_array_lives_as_long_as_the_run_needs_it(sess):
    x = tf.placeholder(tf.float32, [None])
    for size in (10, 1000, 100000):
        assert sess.run(tf.reduce_sum(x), {x: np.ones(size, np.float32)}) == size


@pytest.mark.parametrize("array", [
    np.arange(12, dtype=np.float32).reshape(3, 4).T, np.arange(24, dtype=np.float32)[::2], np.arange(3, dtype=">f4"),
    np.arange(3, dtype=np.float64), np.arange(3), np.asfortranarray(np.ones((2, 3), np.float32)),
    np.zeros((0, 3), np.float32), np.array(5.0, np.float32), np.ones((2, 2), bool), np.array([1, 2], dtype=object),
    np.broadcast_to(np.float32(3), (2, 2)), np.frombuffer(b"\0\0\0\0\0\0\x80\x3f", np.float32),
])
def test_arrays_of_other_layouts_and_types_are_converted(sess, array):
    x = tf.placeholder(tf.float32)
    assert np.array_equal(sess.run(x + 0, {x: array}), array.astype(np.float32))


def test_arrays_of_strings_come_back_as_bytes(sess):
    x = tf.placeholder(tf.string, [None])
    for value in (["a", "b\0"], np.array(["a", "b\0"], object), np.array([b"a", b"b\0"], object)):
        result = sess.run(tf.identity(x), {x: value})
        assert result.dtype == object and result.tolist() == [b"a", b"b\0"]


def test_dlpack_goes_both_ways(sess):
    source = np.arange(6, dtype=np.float32).reshape(2, 3)
    array = tf.from_dlpack(source)
    assert _address(array) == _address(source)
    x = tf.placeholder(tf.float32, [2, 3])
    fetched = sess.run(x * 2, {x: array})
    assert np.array_equal(np.from_dlpack(fetched), source * 2)
    assert _address(np.from_dlpack(fetched)) == _address(fetched)


def test_ten_thousand_runs_with_fresh_feeds_do_not_grow_the_process(sess):
    x = tf.placeholder(tf.float32, [None, 64])
    y = tf.matmul(x, tf.ones([64, 32]))
    rng = np.random.RandomState(0)
    batch = rng.rand(32, 64).astype(np.float32)

    def runs(count):
        for i in range(count):
            sess.run(y, {x: batch + i})

    runs(2000)
    gc.collect()
    before = _resident()
    runs(10000)
    gc.collect()
    assert _resident() - before < 16 << 20  # one result a run kept would be 40 MB, one feed 80


def test_runs_that_fail_do_not_grow_the_process(sess):
    x = tf.placeholder(tf.float32, [None])
    y = tf.reshape(x, [7, -1])

    def runs(count):
        for _ in range(count):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(y, {x: np.ones(100000, np.float32)})

    runs(20)
    before = _resident()
    runs(200)
    assert _resident() - before < 32 << 20  # the feeds alone would be 80


def test_an_array_of_a_type_that_an_operation_does_not_take_gets_its_default_type():
    """As in TensorFlow: labels that were read from a file are floats, and indices to one_hot."""
    assert tf.one_hot(np.array([2.0, 0.0], np.float32), 3).op.inputs[0].dtype == tf.int64
    assert tf.Session().run(tf.one_hot(np.array([2.0, 0.0]), 3)).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert tf.reduce_sum(np.ones([2, 3]), axis=np.array([1.0])).op.inputs[1].dtype == tf.int32
    for values in (np.array(["2"]), np.array([2j]), tf.constant([2.0]), [2.0]):
        with pytest.raises(TypeError):
            tf.one_hot(values, 3)
