"""client.py MODULE TARGET: a program of a cluster with one worker and one parameter server, for any of the packages, from
TensorFlow 0.12 on: what one of them does not have yet is left out."""

import importlib
import json
import sys
import tempfile
import threading
import time
import traceback

import numpy as np

tf = importlib.import_module(sys.argv[1])
getattr(tf, "disable_v2_behavior", lambda: None)()
TARGET = json.loads(sys.argv[2])
CONFIG = tf.ConfigProto(operation_timeout_in_ms=60000)
RESOURCES = hasattr(tf, "data")  # variables of both kinds came before that
failures = 0


def variable(value, name, resource=False):
    """A variable of the kind that is asked for, where there are two."""
    return tf.Variable(value, name=name, use_resource=resource) if RESOURCES else tf.Variable(value, name=name)


def needs(has):
    """A case that only packages with something have."""
    return case if has else lambda function: function


def case(function):
    global failures
    with tf.Graph().as_default():
        try:
            function()
            print("ok  ", function.__name__, flush=True)
        except Exception:
            failures += 1
            print("FAIL", function.__name__, traceback.format_exc()[-500:].replace("\n", " | "), flush=True)


def session():
    return tf.Session(TARGET, config=CONFIG)


def on_ps():
    return tf.device("/job:ps/task:0")


def on_worker():
    return tf.device("/job:worker/task:0")


@needs(hasattr(tf.Session, "list_devices"))
def devices_of_both_tasks_are_listed():
    tf.constant(0)
    with session() as s:
        names = {d.name for d in s.list_devices() if d.device_type == "CPU"}
        assert names == {"/job:worker/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0"}, names


@case
def variables_of_both_kinds_are_trained():
    with on_ps():
        v = variable([1.0, 2.0], "v1")
        u = variable(0, "u1", resource=True)
    with on_worker():
        x = tf.placeholder(tf.float32, [2])
        loss = tf.reduce_sum(v * x)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with session() as s:
        s.run(tf.global_variables_initializer())
        np.testing.assert_allclose(s.run(loss, {x: [1, 1]}), 3)
        s.run(step, {x: [1, 1]})
        np.testing.assert_allclose(s.run(v), [0.5, 1.5])
        assert s.run(tf.assign_add(u, 2)) == 2
        np.testing.assert_allclose(s.run(v + x, {x: [1, 2]}), [1.5, 3.5])  # an extension, fed


@case
def branches_and_loops_run():
    with on_ps():
        v = variable(2.0, "v2")
    with on_worker():
        p = tf.placeholder(tf.bool, [])
        read = tf.identity(v)
        branch = tf.cond(p, lambda: read + 1, lambda: read - 1)
        loop = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), [0, read])[1]
    with session() as s:
        s.run(v.initializer)
        assert s.run(branch, {p: True}) == 3 and s.run(branch, {p: False}) == 1
        assert s.run(loop) == 16


@case
def queues_wait_and_end():
    with on_ps():
        q = tf.FIFOQueue(10, [tf.float32], shapes=[[]], shared_name="q3")
        put, take, close = q.enqueue_many([[1.0, 2.0]]), q.dequeue(), q.close()
    with session() as s:
        s.run(put)
        assert s.run(take) == 1 and s.run(take) == 2
        s.run(close)
        try:
            s.run(take)
            raise AssertionError("the queue is closed")
        except tf.errors.OutOfRangeError:
            pass


@case
def errors_have_codes_and_nodes():
    with on_ps():
        v = variable(0.0, "never_initialised")
    with on_worker():
        y = v + 1
        x = tf.placeholder(tf.float32, name="never_fed")
    with session() as s:
        for fetch, kind in ((y, tf.errors.FailedPreconditionError), (x + 1, tf.errors.InvalidArgumentError)):
            try:
                s.run(fetch)
                raise AssertionError("no error")
            except kind as error:
                assert "never_" in str(error), error


@needs(not tf.__version__.startswith("0."))  # which ends the program with a partial run, whatever the server
def callables_partial_runs_and_metadata():
    with on_worker():
        x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        first = x + 1
        second = first * y
    with session() as s:
        if hasattr(s, "make_callable"):
            assert s.make_callable(second, [x, y])(1.0, 3.0) == 6
        handle = s.partial_run_setup([first, second], [x, y])
        assert s.partial_run(handle, first, {x: 1}) == 2
        assert s.partial_run(handle, second, {y: 3}) == 6
        metadata = tf.RunMetadata()
        s.run(second, {x: 1, y: 1}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        assert metadata.step_stats.dev_stats


@case
def large_and_odd_values_cross():
    with on_ps():
        v = variable(tf.zeros([1 << 20]), "v4")
        text = tf.constant(["a", "", "bc"])
    with on_worker():
        total = tf.reduce_sum(v + 1)
        joined = tf.string_join([text, text])
    with session() as s:
        s.run(v.initializer)
        assert s.run(total) == 1 << 20
        assert list(s.run(joined)) == [b"aa", b"", b"bcbc"]


@case
def a_graph_of_thousands_of_nodes_grows():
    with on_ps():
        v = variable(1.0, "v5")
    with on_worker():
        y = tf.identity(v)
        for _ in range(1500):
            y = y + 1
    with session() as s:
        s.run(v.initializer)
        assert s.run(y) == 1501
        with on_worker():
            for _ in range(500):
                y = y - 1
        assert s.run(y) == 1001


@case
def rows_of_embeddings_are_read_and_updated():
    with on_ps():
        table = variable(tf.ones([6, 2]), "v6")
    with on_worker():
        ids = tf.placeholder(tf.int64, [None])
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) * [1.0, 2.0])
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with session() as s:
        s.run(tf.global_variables_initializer())
        s.run(step, {ids: [1, 4, 4]})
        np.testing.assert_allclose(s.run(table), [[1, 1], [0.5, 0], [1, 1], [1, 1], [0, -1], [1, 1]])


@needs(hasattr(tf, "data"))
def data_sets_feed_steps():
    with on_worker():
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(10).map(lambda i: i * i).batch(4))
        batch = iterator.get_next()
        total = tf.reduce_sum(batch)
    with session() as s:
        for _ in range(2):
            s.run(iterator.initializer)
            assert [int(s.run(total)) for _ in range(3)] == [0 + 1 + 4 + 9, 16 + 25 + 36 + 49, 64 + 81]
            try:
                s.run(total)
                raise AssertionError("the data set has no end")
            except tf.errors.OutOfRangeError:
                pass


@case
def a_saver_saves_and_restores():
    with on_ps():
        v = variable([1.0, 2.0], "v7")
    saver = tf.train.Saver([v])
    with tempfile.TemporaryDirectory() as folder, session() as s:
        s.run(v.initializer)
        path = saver.save(s, folder + "/model")
        s.run(tf.assign(v, [0.0, 0.0]))
        saver.restore(s, path)
        np.testing.assert_array_equal(s.run(v), [1, 2])


@case
def a_monitored_session_trains_and_goes_on():
    def train(folder, last_step):
        with tf.Graph().as_default():
            with on_ps():
                step = tf.Variable(0, name="global_step", trainable=False, collections=[tf.GraphKeys.GLOBAL_VARIABLES, "global_step"])
                v = variable(5.0, "v8")
            with on_worker():
                loss = tf.square(v - 1)
            op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
            hooks = [tf.train.StopAtStepHook(last_step=last_step), tf.train.NanTensorHook(loss)]
            saving = {"save_checkpoint_steps": 5, "save_summaries_steps": None} if hasattr(tf, "data") else {}
            with tf.train.MonitoredTrainingSession(TARGET, checkpoint_dir=folder, hooks=hooks, config=CONFIG, **saving) as s:
                begun = s.run(step)
                while not s.should_stop():
                    s.run(op)
            return begun

    with tempfile.TemporaryDirectory() as folder:
        assert train(folder, 7) == 0
        assert tf.train.latest_checkpoint(folder).endswith("-7")
        assert train(folder, 12) == 7


@case
def deadlines_and_closed_sessions_end_waits():
    with on_ps():
        take = tf.FIFOQueue(1, [tf.int32], shared_name="q9").dequeue()
    s = session()
    try:
        s.run(take, options=tf.RunOptions(timeout_in_ms=200))
        raise AssertionError("nobody has put anything in")
    except tf.errors.DeadlineExceededError:
        pass
    ended = []

    def wait():
        try:
            s.run(take)
        except (tf.errors.OpError, RuntimeError) as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.3)
    s.close()
    thread.join(30)
    assert ended, "the wait goes on"


@case
def many_threads_share_a_session():
    with on_ps():
        v = variable(0.0, "v10")
    with on_worker():
        x = tf.placeholder(tf.float32, [])
        own = x * 2
    add = tf.assign_add(v, own, use_locking=True)
    with session() as s:
        s.run(v.initializer)
        threads = [threading.Thread(target=lambda: [s.run(add, {x: 1}) for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert s.run(v) == 160


@needs(hasattr(tf.TensorArray, "stack"))
def recurrent_networks_are_trained():
    with on_ps():
        w = variable(0.5 * np.ones([3, 2], np.float32), "v11")
    with on_worker():
        x = tf.placeholder(tf.float32, [4, None, 1])
        total = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)

        def step(i, state, out):
            state = tf.tanh(tf.matmul(tf.concat([x[:, i], state], 1), w))
            return i + 1, state, out.write(i, state)

        _, state, out = tf.while_loop(lambda i, *_: i < tf.shape(x)[1], step, [0, tf.zeros([4, 2]), total],
                                      [tf.TensorShape([]), tf.TensorShape([4, 2]), tf.TensorShape(None)])
        loss = tf.reduce_sum(state) + tf.reduce_sum(out.stack())
    gradient = tf.gradients(loss, w)[0]
    with on_ps():
        update = tf.assign_sub(w, 0.1 * gradient)
    with session() as s:
        s.run(w.initializer)
        before = s.run(loss, {x: np.ones([4, 3, 1])})
        s.run(update, {x: np.ones([4, 5, 1])})
        assert s.run(loss, {x: np.ones([4, 3, 1])}) < before


@case
def a_branch_works_on_both_tasks():
    with on_worker():
        p = tf.placeholder(tf.bool, [])
        x = tf.placeholder(tf.float32, [])

        def there(factor):
            with on_ps():
                y = x * factor
            with on_worker():
                return y + 1

        branch = tf.cond(p, lambda: there(2.0), lambda: there(3.0))
    with session() as s:
        for _ in range(3):
            assert s.run(branch, {p: True, x: 5}) == 11
            assert s.run(branch, {p: False, x: 5}) == 16


@case
def a_branch_reads_a_variable_of_the_other_task():
    with on_ps():
        v = variable(10.0, "v15")
    with on_worker():
        p = tf.placeholder(tf.bool, [])
        x = tf.placeholder(tf.float32, [])
        branch = tf.cond(p, lambda: v + x, lambda: tf.cond(x > 0, lambda: v * x, lambda: -v))
    gradient = tf.gradients(branch, v)[0]
    with session() as s:
        s.run(v.initializer)
        for _ in range(3):
            assert s.run([branch, gradient], {p: True, x: 2}) == [12, 1]
            assert s.run([branch, gradient], {p: False, x: 2}) == [20, 2]
            assert s.run([branch, gradient], {p: False, x: -2}) == [-10, -1]


@case
def a_branch_updates_a_variable_of_the_other_task():
    with on_ps():
        v = variable(1.0, "v16", resource=True)
    with on_worker():
        p = tf.placeholder(tf.bool, [])

        def update():
            with on_ps():
                return tf.identity(tf.assign_add(v, 2.0))

        branch = tf.cond(p, update, lambda: tf.constant(-1.0)) * 2
    with session() as s:
        s.run(v.initializer)
        assert [s.run(branch, {p: b}) for b in (True, False, True)] == [6, -2, 10]


@case
def a_loop_works_on_both_tasks():
    with on_ps():
        v = variable(3.0, "v17")
    with on_worker():
        n = tf.placeholder(tf.int32, [])

        def body(i, y):
            with on_ps():
                product = y * v
            with on_worker():
                return i + 1, product + tf.to_float(i)

        loop = tf.while_loop(lambda i, y: i < n, body, [0, 1.0])[1]
    with session() as s:
        s.run(v.initializer)
        for turns in (3, 0, 10, 3):
            expected = 1.0
            for i in range(turns):
                expected = expected * 3 + i
            assert s.run(loop, {n: turns}) == expected


@case
def a_reset_forgets_variables_and_closes_sessions():
    with on_ps():
        v = variable(3.0, "v12")
    s = session()
    s.run(v.initializer)
    tf.Session.reset(TARGET)
    try:
        s.run(v)
        raise AssertionError("the session goes on")
    except (tf.errors.OpError, RuntimeError):
        pass
    with session() as s:
        try:
            s.run(v)
            raise AssertionError("the variable is still there")
        except tf.errors.FailedPreconditionError:
            pass


@case
def sessions_share_variables_by_name():
    with on_ps():
        v = variable(1.0, "v13")
        add = tf.assign_add(v, 1.0)
    with session() as one:
        one.run(v.initializer)
        with session() as other:
            assert other.run(add) == 2
        assert one.run(add) == 3


@case
def fetches_come_twice_and_operations_give_nothing():
    with on_ps():
        v = variable([1.0, 2.0], "v14")
        sum_of = tf.reduce_sum(v)
    with on_worker():
        twice = sum_of * 2
    with session() as s:
        s.run(v.initializer)
        assert s.run([twice, sum_of, twice]) == [6, 3, 6]
        assert s.run(v.op) is None and s.run([]) == []


@case
def feeds_replace_any_value():
    with on_ps():
        v = variable([1.0, 2.0], "v18")
        sum_of = tf.reduce_sum(v)
    with on_worker():
        twice = sum_of * 2
    with session() as s:
        s.run(v.initializer)
        assert s.run(twice, {sum_of: 10.0}) == 20  # after sum_of itself was fetched TensorFlow's masters fail here


sys.exit(min(failures, 100))
