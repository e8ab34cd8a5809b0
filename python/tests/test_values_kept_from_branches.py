"""What programs keep of a branch and read elsewhere has one value in a run."""

import numpy as np
import pytest

import weir as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def pred():
    return tf.placeholder_with_default(True, [])


def zero():
    return tf.constant(0.0)


def draw():
    return tf.random_normal([])


def keeping(make):
    """A function for a branch, and the list that it puts what it made into."""
    kept = []

    def branch():
        kept.append(make())
        return kept[-1] * 1

    return branch, kept


def assert_equal_in_runs(*tensors):
    with tf.Session() as session:
        runs = [session.run(tensors) for _ in range(2)]
    for values in runs:
        assert all(value == values[0] for value in values)
    assert runs[0][0] != runs[1][0]


def test_a_second_branch_reads_the_number_that_the_first_drew(pred):
    branch, kept = keeping(draw)
    first = tf.cond(pred, branch, zero)
    assert_equal_in_runs(first, tf.cond(pred, lambda: kept[0] + 0, zero), kept[0])


def test_the_other_branch_that_is_not_taken_changes_nothing(pred):
    branch, kept = keeping(draw)
    first = tf.cond(pred, zero, branch)
    second = tf.cond(pred, zero, lambda: kept[0] + 0)
    with tf.Session() as session:
        assert session.run([first, second]) == [0, 0]
        a, b = session.run([first, second], {pred: False})
    assert a == b != 0


def test_numbers_drawn_in_branches_of_branches_are_drawn_once(pred):
    branch, kept = keeping(draw)
    first = tf.cond(pred, lambda: tf.cond(pred, branch, zero) + 0, zero)
    assert_equal_in_runs(first, tf.cond(pred, lambda: kept[0] + 0, zero))


def test_results_of_control_flow_in_a_branch_are_computed_once(pred):
    branch, kept = keeping(lambda: tf.cond(pred, draw, zero))
    loop, sums = keeping(lambda: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + draw()), [0, 0.0])[1])
    for function, values in [(branch, kept), (loop, sums)]:
        first = tf.cond(pred, function, zero)
        assert_equal_in_runs(first, tf.cond(pred, lambda values=values: values[0] + 0, zero))


def test_gradients_of_both_readers_see_one_number(pred):
    x = tf.constant(3.0)
    kept = []

    def branch():
        kept.append(draw())
        return x * kept[0]

    first = tf.cond(pred, branch, zero)
    second = tf.cond(pred, lambda: kept[0] * x, zero)
    assert_equal_in_runs(tf.gradients(first, x)[0], tf.gradients(second, x)[0], tf.cond(pred, lambda: kept[0] + 0, zero))


def test_every_iteration_of_a_loop_draws_one_number_for_its_branches(pred):
    def body(i, equal):
        branch, kept = keeping(draw)
        first = tf.cond(pred, branch, zero)
        second = tf.cond(pred, lambda: kept[0] + 0, zero)
        return i + 1, tf.logical_and(equal, tf.equal(first, second))

    _, equal = tf.while_loop(lambda i, _: i < 4, body, [0, True])
    with tf.Session() as session:
        assert session.run(equal)


def test_an_element_that_two_branches_read_is_taken_from_the_queue_once(pred):
    queue = tf.FIFOQueue(4, tf.float32, shapes=[[]])
    branch, kept = keeping(queue.dequeue)
    first = tf.cond(pred, branch, zero)
    second = tf.cond(pred, lambda: kept[0] + 0, zero)
    with tf.Session() as session:
        session.run(queue.enqueue_many([[1.0, 2.0, 3.0]]))
        assert session.run([first, second]) == [1, 1]
        assert session.run(queue.size()) == 2


def test_what_a_branch_waits_for_is_called_once_though_others_read_it(pred):
    calls = []

    def call():
        calls.append(1)
        return np.float32(7)

    kept = []

    def branch():
        kept.append(tf.py_func(call, [], tf.float32))
        with tf.control_dependencies(kept):
            return tf.constant(1.0) + 0

    first = tf.cond(pred, branch, zero)
    second = tf.cond(pred, lambda: tf.reshape(kept[0], []) + 0, zero)
    with tf.Session() as session:
        assert session.run([first, second]) == [1, 7]
    assert len(calls) == 1
