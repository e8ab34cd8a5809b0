"""What programs of TensorFlow 0.12 expect and later ones do not contradict."""

import pytest

import weir as tf


@pytest.mark.parametrize("check", [lambda x: tf.assert_equal(x, [1, 2, 4], message="why"),
                                   lambda x: tf.assert_negative(x, message="why"),
                                   lambda x: tf.assert_less(x, 3, message="why")])
def test_a_claim_that_constants_break_fails_in_the_run(check):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1, 2, 3], name="x")
        op = check(x)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)why.*x:0"):
            session.run(op)


def test_a_closed_writer_of_events_ignores_what_comes(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(tf.Summary())
    writer.reopen()
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.0)]), 1)
    writer.close()
    tags = [value.tag for path in sorted(tmp_path.iterdir()) for event in tf.train.summary_iterator(str(path))
            for value in event.summary.value]
    assert tags == ["a"]


def test_complex_numbers_of_doubles_are_double():
    import numpy as np

    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.complex(tf.constant(np.array([1.5])), tf.constant(np.array([2.5])))
        assert made.dtype == tf.complex128 and session.run(made) == [1.5 + 2.5j]
        with pytest.raises(TypeError, match="real and imag have incorrect types: float32 float64"):
            tf.complex(tf.constant(1.0), tf.constant(np.float64(1.0)))


def test_an_empty_list_is_one_of_truth_values():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run([tf.reduce_all([]), tf.reduce_any([])]) == [True, False]


def test_arrays_become_quantised_numbers():
    import numpy as np

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.array([0, 128, 255]), dtype=tf.quint8)
        np.testing.assert_allclose(session.run(tf.dequantize(x, 0.0, 6.0)), [0.0, 128 * 6 / 255, 6.0], rtol=1e-6)


def test_an_operation_on_several_variables_leaves_the_device_scope_around_as_it_is():
    with tf.Graph().as_default() as graph, graph.device("/device:CPU:0"):
        a, b, c = (tf.Variable([1.0]) for _ in range(3))
        tf.raw_ops.ApplyAdam(var=a, m=b, v=c, beta1_power=0.9, beta2_power=0.9, lr=0.1, beta1=0.9, beta2=0.99,
                             epsilon=1e-8, grad=[1.0])
        assert tf.constant(1.0).device == "/device:CPU:0"


def test_a_handle_can_be_run_so_that_its_queue_is_checked():
    with tf.Graph().as_default(), tf.Session() as session:
        first = tf.FIFOQueue(10, tf.float32, shared_name="q")
        other = tf.FIFOQueue(15, tf.float32, shared_name="q")
        assert session.run(first.queue_ref).dtype == "uint8"
        with pytest.raises(tf.errors.InvalidArgumentError, match="capacity"):
            session.run(other.queue_ref)


def test_a_queue_that_names_no_seeds_is_any_queue_of_its_name():
    with tf.Graph().as_default(), tf.Session() as session:
        q = tf.RandomShuffleQueue(1, 0, tf.float32, [()], shared_name="q", seed=98765432)
        session.run(q.enqueue(1.0))
        assert session.run(tf.RandomShuffleQueue(1, 0, tf.float32, [()], shared_name="q").size()) == 1


def test_what_depends_on_values_fails_in_the_run():
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_classes should be positive"):
            session.run(tf.multinomial(tf.zeros([5, 0]), 7))
        with pytest.raises(tf.errors.InvalidArgumentError, match="batch_dim == seq_dim"):
            session.run(tf.reverse_sequence(tf.zeros([2, 2]), [1, 2], seq_dim=0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="scientific and shortest"):
            session.run(tf.as_string([1], scientific=True))
        rank = tf.placeholder(tf.int32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Rank must be a scalar"):
            session.run(tf.assert_rank([1, 2], rank), {rank: [1, 2]})


def test_a_temporary_variable_begins_with_zeros_and_is_destroyed_by_its_name():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="v")
        assert session.run(tf.identity(v)).tolist() == [0.0, 0.0]
        with pytest.raises(tf.errors.NotFoundError):
            session.run(tf.raw_ops.DestroyTemporaryVariable(ref=v, var_name="w"))


def test_an_empty_slice_takes_any_value():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0])
        session.run(tf.global_variables_initializer())
        assert session.run(v[2:].assign(tf.zeros([1]))).tolist() == [1.0, 2.0]
        with pytest.raises(ValueError, match="only supported for variables"):
            tf.constant([1.0, 2.0])[:1].assign([3.0])


def test_conversions_are_as_strict_as_tensorflows():
    with tf.Graph().as_default(), tf.Session() as session:
        for value in (tf.TensorShape([1, 2]), tf.TensorShape([1, 2])[0]):
            with pytest.raises(TypeError):
                tf.convert_to_tensor(value, dtype=tf.float32)
            assert tf.convert_to_tensor(value, dtype=tf.int64).dtype == tf.int64
        with pytest.raises(ValueError, match="setting an array element with a sequence"):
            tf.constant([[1, 2], [3]], dtype=tf.int32)
        with pytest.raises(TypeError, match="unsupported operand type"):
            tf.Dimension(4) / 2
        assert session.run(tf.constant([-1, 255], tf.uint8)).tolist() == [255, 255]
        assert tf.random_shuffle([1], seed=2**100 + 5).op.get_attr("seed2") == (2**100 + 5) % (2**31 - 1)


def test_default_sessions_are_left_in_the_order_of_their_nesting():
    with tf.Graph().as_default():
        outer, inner = tf.Session().as_default(), tf.Session().as_default()
        with outer:
            inner.__enter__()
            with pytest.raises(AssertionError, match="Nesting violated"):
                outer.__exit__(None, None, None)
            inner.__exit__(None, None, None)


def test_functions_see_a_tensor_whenever_it_is_computed():
    from weir.inner import subscribe

    seen = []
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.constant(2.0)
        b = tf.square(a)
        a = subscribe.subscribe(a, lambda t: tf.py_func(lambda value: seen.append(float(value)) or value, [t], [t.dtype]))
        assert session.run(b) == 4.0 and seen == [2.0]


def test_checks_that_are_removed_are_waited_for_no_more():
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0, name="x")
        with tf.control_dependencies([tf.check_numerics(x, "bad", name="check")]):
            tf.negative(tf.identity(x, name="same"), name="y")
    kept = tf.graph_util.remove_training_nodes(graph.as_graph_def())
    assert [(node.name, list(node.input)) for node in kept.node] == [("x", []), ("y", ["x"])]


def test_all_variables_of_0_x_include_the_counters_of_epochs():
    name = tf.train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False).dequeue()
    with tf.Session() as sess:
        sess.run(tf.initialize_all_variables())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        assert [sess.run(name) for _ in range(4)] == [b"a", b"b", b"a", b"b"]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(name)
        coordinator.request_stop()
        coordinator.join(threads)


def test_what_no_graph_could_hold_is_refused():
    import numpy as np

    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="larger than 2GB"):
            tf.constant(np.broadcast_to(np.float32(0), (512, 1024, 1024)))
        with pytest.raises(TypeError, match="Expected qint8"):
            tf.make_tensor_proto([3], dtype=tf.qint8)


def test_layers_have_their_variables_by_the_names_of_1_0():
    with tf.Graph().as_default():
        layer = tf.layers.Dense(2)
        layer.apply(tf.zeros([1, 3]))
        assert layer._trainable_variables == layer.trainable_variables and layer._non_trainable_variables == []
