"""Containers, shared names, Session.reset, and variables that several threads use."""

import threading

import numpy as np
import pytest

import weir as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def container_of(variable):
    return variable.op.get_attr("container")


def test_container_is_set_on_variables():
    outside = tf.Variable(1.0)
    with tf.container("box") as name:
        inside = tf.Variable(1.0)
        with tf.get_default_graph().container("crate"):
            nested = tf.get_variable("nested", [])
        handle = tf.get_variable("handle", [], use_resource=True)
        constant = tf.constant(1.0)
    assert name == "box"
    assert container_of(outside) == b""
    assert container_of(inside) == b"box"
    assert container_of(nested) == b"crate"
    assert container_of(handle) == b"box"
    assert "container" not in constant.op.node_def.attr
    assert container_of(tf.Variable(1.0)) == b""


def test_container_keeps_names_as_they_are():
    with tf.name_scope("a"):
        with tf.container("box"):
            assert tf.Variable(1.0, name="v").op.name == "a/v"
            with tf.name_scope("b"):
                assert tf.Variable(1.0, name="v").op.name == "a/b/v"


def test_container_must_have_a_valid_name():
    with tf.container("no_such"):
        v = tf.Variable(1.0)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="container contains invalid"):
        sess.run(v.initializer)


def variable_op(**kwargs):
    from weir.inner.variables import variable_op as make

    return make([2], tf.float32, **kwargs)


def test_shared_name_means_the_same_variable():
    a, b, c = variable_op(shared_name="x"), variable_op(shared_name="x"), variable_op(shared_name="x", container="box")
    with tf.Session() as sess:
        sess.run(tf.assign(a, [1.0, 2.0]))
        np.testing.assert_array_equal(sess.run(b), [1, 2])
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
            sess.run(c)


def test_sessions_have_variables_of_their_own():
    v = tf.Variable(1.0)
    with tf.Session() as one, tf.Session() as two:
        one.run(v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
            two.run(v)


def test_reset_closes_the_sessions_of_the_process():
    v = tf.Variable(1.0)
    one, two = tf.Session(), tf.Session()
    one.run(v.initializer)
    tf.Session.reset("")
    for session in one, two:
        with pytest.raises(RuntimeError, match="closed"):
            session.run(v)
    with tf.Session() as later:
        later.run(v.initializer)
        assert later.run(v) == 1.0


def test_reset_takes_containers_and_refuses_unknown_targets():
    tf.Session.reset("", ["box", b"crate"])
    with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
        tf.Session.reset("nowhere")
    with pytest.raises(TypeError):
        tf.Session.reset(3)


def test_destroyed_variable_is_uninitialised():
    v = tf.get_variable("v", [], use_resource=True)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(tf.is_variable_initialized(v))
        sess.run(tf.get_default_graph().create_op("DestroyResourceOp", [v.handle]))
        assert not sess.run(tf.is_variable_initialized(v))


@pytest.mark.parametrize("use_resource", [False, True])
def test_fetched_tables_do_not_change_while_threads_update_rows(use_resource):
    table = tf.get_variable("table", [64, 8], initializer=tf.zeros_initializer(), use_resource=use_resource)
    ids = tf.placeholder(tf.int32, [4])
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids) - 1.0))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        stop = threading.Event()

        def work(t):
            random = np.random.RandomState(t)
            while not stop.is_set():
                sess.run(train, {ids: random.randint(0, 64, 4)})

        threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(50):
                fetched = sess.run(table)
                before = fetched.copy()
                sess.run(train, {ids: [0, 1, 2, 3]})
                np.testing.assert_array_equal(fetched, before)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert 0 < sess.run(table).max() < 1.5


def test_locked_updates_are_all_counted():
    v = tf.Variable(tf.zeros([100]))
    add = tf.assign_add(v, tf.ones([100]), use_locking=True)
    with tf.Session() as sess:
        sess.run(v.initializer)
        threads = [threading.Thread(target=lambda: [sess.run(add.op) for _ in range(100)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(sess.run(v), np.full(100, 400, np.float32))


def test_the_seed_of_a_graph_can_be_taken_back():
    tf.set_random_seed(3)
    tf.set_random_seed(None)
    assert tf.get_seed(None) == (None, None)
    op = tf.random_uniform([2]).op.inputs[0].op.inputs[0].op
    assert (op.type, op.get_attr("seed"), op.get_attr("seed2")) == ("RandomUniform", 0, 0)


def test_a_gradient_that_is_made_after_a_write_sees_it(sess):
    """Only its constant has the control dependency, as in TensorFlow."""
    x = tf.Variable([1.0, 2.0])
    sess.run(x.initializer)
    with tf.control_dependencies([x.assign_add([1.0, 1.0])]):
        (gradient,) = tf.gradients(tf.square(x), [x])
    assert sess.run(gradient).tolist() == [4, 6]
    assert sess.run(gradient).tolist() == [6, 8]


def test_a_gradient_after_a_loop_that_writes_sees_it(sess):
    x = tf.Variable(1.0)
    sess.run(x.initializer)
    loop = tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, x.assign_add(1.0)), [0, x])
    with tf.control_dependencies(loop):
        (gradient,) = tf.gradients(tf.square(x), [x])
    assert sess.run(gradient) == 8


def test_a_slice_of_a_variable_is_assigned(sess):
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    y = tf.get_variable("y", initializer=[1.0, 2.0, 3.0], use_resource=True)
    sess.run([x.initializer, y.initializer])
    assert sess.run(x[1].assign([5.0, 6.0])).tolist() == [[1, 2], [5, 6]]
    assert sess.run(tf.assign(y[1:], [7.0, 8.0])).tolist() == [1, 7, 8]
    with pytest.raises(ValueError, match="only supported for variables"):
        tf.constant([1.0])[0].assign(2.0)
