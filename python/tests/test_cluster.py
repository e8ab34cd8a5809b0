"""Servers and sessions on them: tf.train.Server, tf.Session("grpc://..."), steps that several tasks share."""

import gc
import threading

import numpy as np
import pytest

import weir.compat.v1 as tf
from weir import errors


@pytest.fixture(scope="module")
def server():
    server = tf.train.Server.create_local_server()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def cluster():
    workers, servers = tf.test.create_local_cluster(2, 2)
    yield workers, servers
    for task in workers + servers:
        task.stop()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def on(task):
    return tf.device(task)


def test_a_session_on_a_server_feeds_fetches_and_keeps_variables(server):
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable(1.0, name="kept")
    with tf.Session(server.target) as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(x * 2 + v, {x: [1, 2]}), [3, 5])
        assert session.run(tf.assign_add(v, 1.0)) == 2
    with tf.Session(server.target) as session:  # what a server keeps outlives its sessions
        assert session.run(v) == 2


def test_a_graph_that_grows_is_extended(server):
    a = tf.constant(2.0)
    with tf.Session(server.target) as session:
        assert session.run(a) == 2
        assert session.run(tf.cond(a > 1, lambda: a + 10, lambda: a - 10)) == 12
        assert session.run(tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])) == 10
        x = tf.constant(3.0)
        assert session.run(tf.gradients(x * x * a, x)[0]) == 12


def test_strings_empty_values_and_many_types_cross(server):
    values = [np.array([b"a", b"", b"ccc"], object), np.zeros([0, 3], np.float32), np.array([True, False]),
              np.arange(100_000, dtype=np.int64).reshape(10, -1), np.array(3, np.uint8), np.array([1 + 2j], np.complex64),
              np.array(b"x", object)]
    feeds = [tf.placeholder(v.dtype if v.dtype != object else tf.string, v.shape) for v in values]
    with tf.Session(server.target) as session:
        for out, value in zip(session.run([tf.identity(f) for f in feeds], dict(zip(feeds, values))), values):
            np.testing.assert_array_equal(out, value)


def test_errors_have_their_codes_nodes_and_lines(server):
    x = tf.placeholder(tf.float32, name="never_fed")
    with tf.Session(server.target) as session:
        with pytest.raises(errors.InvalidArgumentError, match="never_fed") as raised:
            session.run(x + 1)
        assert raised.value.op is x.op
        v = tf.Variable(0.0, name="never_initialized")
        with pytest.raises(errors.FailedPreconditionError, match="never_initialized"):
            session.run(v)
        q = tf.FIFOQueue(1, tf.int32)
        session.run(q.close())
        with pytest.raises(errors.OutOfRangeError):
            session.run(q.dequeue())


def test_a_wait_ends_with_its_deadline_and_with_the_session(server):
    take = tf.FIFOQueue(1, tf.int32, name="empty").dequeue()
    session = tf.Session(server.target)
    with pytest.raises(errors.DeadlineExceededError):
        session.run(take, options=tf.RunOptions(timeout_in_ms=50))
    ended = []

    def wait():
        try:
            session.run(take)
        except (errors.CancelledError, RuntimeError) as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while "fetches empty_Dequeue" not in server.status():
        pass
    session.close()
    thread.join(30)
    assert ended and not thread.is_alive()


def test_a_step_that_meets_the_end_of_its_session_is_no_loss(server):
    take = tf.FIFOQueue(1, tf.int32, name="empty").dequeue()
    for _ in range(20):
        session = tf.Session(server.target)
        session.run(tf.constant(1))
        ended = []

        def wait():
            with pytest.raises((errors.CancelledError, RuntimeError)) as error:
                session.run(take)
            ended.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        session.close()
        thread.join(30)
        assert ended and not thread.is_alive()


def test_partial_runs(server):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    first = x + 1
    second = first * y
    with tf.Session(server.target) as session:
        handle = session.partial_run_setup([first, second], [x, y])
        assert session.partial_run(handle, first, {x: 1}) == 2
        assert session.partial_run(handle, second, {y: 10}) == 20
        with pytest.raises(errors.InvalidArgumentError):
            session.partial_run(handle, second, {y: 10})


def test_partial_runs_over_several_tasks(cluster):
    workers, _ = cluster
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    with on("/job:ps/task:1"):
        first = x + 1
    with on("/job:worker/task:1"):
        second = first * y
    with tf.Session(workers[0].target) as session:
        for _ in range(3):
            handle = session.partial_run_setup([first, second], [x, y])
            assert session.partial_run(handle, first, {x: 1}) == 2
            assert session.partial_run(handle, second, {y: 10}) == 20
        handle = session.partial_run_setup([first, second], [x, y])
        assert session.partial_run(handle, first, {x: 1}) == 2  # and no more: the session's end ends it


def test_callables_and_metadata(server):
    x = tf.placeholder(tf.float32, [2])
    with tf.Session(server.target) as session:
        twice = session.make_callable(x * 2, [x])
        for i in range(3):
            np.testing.assert_array_equal(twice([i, 1]), [2 * i, 2])
        metadata = tf.RunMetadata()
        session.run(x * 2, {x: [1, 2]}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        assert metadata.step_stats.dev_stats[0].device == "/job:local/replica:0/task:0/device:CPU:0"
        assert any(node.node_name == "mul_1" for node in metadata.step_stats.dev_stats[0].node_stats)


def test_session_reset_forgets_variables(server):
    v = tf.Variable(5.0, name="forgotten")
    with tf.Session(server.target) as session:
        session.run(v.initializer)
    tf.Session.reset(server.target)
    with tf.Session(server.target) as session, pytest.raises(errors.FailedPreconditionError):
        session.run(v)


def test_isolated_sessions_share_nothing(server):
    v = tf.Variable(5.0, name="isolated")
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(server.target, config=config) as one, tf.Session(server.target, config=config) as other:
        one.run(v.initializer)
        with pytest.raises(errors.FailedPreconditionError):
            other.run(v)


def test_a_step_is_cut_over_tasks(cluster):
    workers, _ = cluster
    with on("/job:ps/task:0"):
        v = tf.Variable(1.0, name="cut_v")
    with on("/job:ps/task:1"):
        w = tf.Variable(tf.ones([3]), name="cut_w")
    with on("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [3])
        y = tf.reduce_sum(x * w) + v
    with on("/job:worker/task:1"):
        z = y * 2
    train = tf.train.GradientDescentOptimizer(0.1).minimize(z)
    with tf.Session(workers[0].target) as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run([y, z], {x: [1, 2, 3]}), [7, 14])
        session.run(train, {x: [1, 2, 3]})
        metadata = tf.RunMetadata()
        session.run(train, {x: [1, 2, 3]}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        assert sorted(d.device[:d.device.index("/device")] for d in metadata.step_stats.dev_stats) == [
            "/job:ps/replica:0/task:0", "/job:ps/replica:0/task:1", "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"]
        with tf.Session(workers[1].target) as other:  # another master, the same variables
            np.testing.assert_allclose(other.run(w), [0.6, 0.2, -0.2], atol=1e-6)
            assert len(other.list_devices()) == 4


def test_control_dependencies_hold_across_tasks(cluster):
    workers, _ = cluster
    with on("/job:ps/task:0"):
        v = tf.Variable(0, name="order_v")
        one = tf.assign_add(v, 1)
    with on("/job:worker/task:1"), tf.control_dependencies([one]):
        waited = tf.no_op()
    with on("/job:ps/task:0"), tf.control_dependencies([waited]):
        result = v.read_value()
    with tf.Session(workers[0].target) as session:
        session.run(v.initializer)
        assert [session.run(result) for _ in range(5)] == [1, 2, 3, 4, 5]


def test_an_error_of_a_part_ends_all_parts_and_names_its_task(cluster):
    workers, _ = cluster
    with on("/job:ps/task:1"):
        bad = tf.Variable(0.0, name="cut_uninitialized")
    with on("/job:worker/task:1"):
        waits = bad + 1
    with tf.Session(workers[0].target) as session:
        with pytest.raises(errors.FailedPreconditionError, match="(?s)/job:ps/replica:0/task:1.*cut_uninitialized"):
            session.run(waits)


def test_devices_that_are_not_there_are_refused(cluster):
    workers, _ = cluster
    with on("/job:ps/task:7"):
        v = tf.constant(1.0) + 1
    with tf.Session(workers[0].target) as session, pytest.raises(errors.InvalidArgumentError, match="available devices are"):
        session.run(v)
    with tf.Session(workers[0].target, config=tf.ConfigProto(device_filters=["/job:ps/task:0"])) as session:
        assert [d.name for d in session.list_devices()] == ["/job:worker/replica:0/task:0/device:CPU:0",
                                                            "/job:ps/replica:0/task:0/device:CPU:0"]


def test_a_server_that_stops_says_so():
    server = tf.train.Server.create_local_server()
    x = tf.constant(1.0) + 1
    session = tf.Session(server.target)
    session.run(x)
    server.stop()
    with pytest.raises((errors.UnavailableError, errors.AbortedError, errors.CancelledError)):
        session.run(x)
    session.close()


def test_a_server_made_again_in_its_process_is_reached_by_other_tasks_and_clients():
    (worker,), (ps,) = tf.test.create_local_cluster(1, 1)
    with tf.device("/job:ps"):
        v = tf.Variable(3.0)
    soon = tf.RunOptions(timeout_in_ms=20000)
    old = tf.Session(worker.target)
    old.run(v.initializer, options=soon)
    definition = ps.server_def
    ps.stop()
    ps = tf.train.Server(definition)
    try:
        with pytest.raises((errors.UnavailableError, errors.AbortedError)):  # what it had is gone
            old.run(v, options=soon)
        for target in (worker.target, ps.target):
            with tf.Session(target) as session:
                session.run(v.initializer, options=soon)
                assert session.run(v, options=soon) == 3.0
    finally:
        old.close()
        ps.stop()
        worker.stop()


def test_server_arguments():
    with pytest.raises(ValueError, match="job_name"):
        tf.train.Server({"a": ["localhost:0"], "b": ["localhost:0"]})
    with pytest.raises(errors.InvalidArgumentError, match="not defined"):
        tf.train.Server({"a": ["localhost:0"]}, job_name="c", task_index=0)
    with pytest.raises(errors.InvalidArgumentError, match="host-port"):
        tf.train.Server({"a": ["nonsense"]})
    with pytest.raises(errors.NotFoundError):
        tf.train.Server({"a": ["localhost:0"]}, protocol="carrier-pigeon")
    server = tf.train.Server({"a": ["localhost:0"]})
    assert server.target == "grpc://" + server.server_def.cluster.job[0].tasks[0]
    server.stop()
    server.join()


def test_tokens_and_what_untrusted_clients_may_not():
    server = tf.train.Server({"a": ["localhost:0"]}, credentials={"token": "secret"}, untrusted_clients=True, max_graph_nodes=10)
    x = tf.constant(1.0) + 1
    with tf.Session(server.target) as session, pytest.raises(errors.UnauthenticatedError):
        session.run(x)
    with tf.Session(server.target, credentials={"token": "secret"}) as session:
        assert session.run(x) == 2
        read = tf.read_file("/etc/hostname")
        with pytest.raises(errors.PermissionDeniedError, match="ReadFile"):
            session.run(read)
    with tf.Graph().as_default():
        for _ in range(20):
            x = tf.constant(1.0)
        with tf.Session(server.target, credentials={"token": "secret"}) as session, pytest.raises(errors.ResourceExhaustedError):
            session.run(x)
    server.stop()


def test_a_server_that_a_program_forgets_goes_on():
    from weir.train.distributed.server import _started

    worker, target = (lambda workers, servers: (workers[0], servers[0].target))(*tf.test.create_local_cluster(1, 1))
    gc.collect()
    with tf.device("/job:ps"):
        value = tf.constant(1.0) + 1.0
    try:
        with tf.Session(worker.target) as sess:
            assert sess.run(value, options=tf.RunOptions(timeout_in_ms=20000)) == 2.0
    finally:
        worker.stop()
        for task in [task for task in _started if task._target == target]:
            task._stop()
            _started.discard(task)


def test_iterators_and_random_sequences_are_the_session_s_own_in_all_its_steps(cluster):
    """What is initialised in a step of one task serves steps that are cut over several, and the other way round."""
    workers, _ = cluster
    with tf.device(tf.train.replica_device_setter(2, worker_device="/job:worker/task:0")):
        v = tf.Variable(tf.zeros([], tf.int64), name="sum_of_elements")
        data = tf.data.Dataset.range(100).map(lambda x: x * 10)
        iterator = tf.data.make_initializable_iterator(data)
        element = iterator.get_next()
        add = tf.assign_add(v, element)
        w = tf.Variable(0.0, name="random_sum")
        number = tf.random_uniform([], seed=3)
        step = tf.assign(w, number)
        table = tf.zeros([100]) + number
    with tf.Session(workers[0].target) as one, tf.Session(workers[0].target) as other:
        for session in (one, other):
            session.run([v.initializer, w.initializer, iterator.initializer])
        assert [int(one.run(element)), int(one.run(add)), int(one.run(add)), int(one.run(element))] == [0, 10, 30, 30]
        assert int(other.run(element)) == 0  # of its own
        cut = [one.run(number), one.run(step), one.run(table)[0], one.run(step), one.run(number)]
        alone = [other.run(number) for _ in range(5)]
        np.testing.assert_array_equal(cut, alone)
        one.run(iterator.initializer)
        tf.cond(tf.constant(True), lambda: element + 1, lambda: element)  # the graph grows
        assert int(one.run(add)) == 30
