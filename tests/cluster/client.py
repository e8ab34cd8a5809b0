"""client.py MODULE TARGET: a program of a cluster with one worker and one parameter server, for any of the packages."""

import importlib
import json
import sys
import traceback

import numpy as np

tf = importlib.import_module(sys.argv[1])
getattr(tf, "disable_v2_behavior", lambda: None)()
TARGET = json.loads(sys.argv[2])
CONFIG = tf.ConfigProto(operation_timeout_in_ms=60000)
failures = 0


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


@case
def devices_of_both_tasks_are_listed():
    tf.constant(0)
    with session() as s:
        names = {d.name for d in s.list_devices() if d.device_type == "CPU"}
        assert names == {"/job:worker/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0"}, names


@case
def variables_of_both_kinds_are_trained():
    with on_ps():
        v = tf.Variable([1.0, 2.0], name="v1", use_resource=False)
        u = tf.Variable(0, name="u1", use_resource=True)
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
        v = tf.Variable(2.0, name="v2", use_resource=False)
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
        v = tf.Variable(0.0, name="never_initialised", use_resource=False)
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


@case
def callables_partial_runs_and_metadata():
    with on_worker():
        x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        first = x + 1
        second = first * y
    with session() as s:
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
        v = tf.Variable(tf.zeros([1 << 20]), name="v4", use_resource=False)
        text = tf.constant(["a", "", "bc"])
    with on_worker():
        total = tf.reduce_sum(v + 1)
        joined = tf.string_join([text, text])
    with session() as s:
        s.run(v.initializer)
        assert s.run(total) == 1 << 20
        assert list(s.run(joined)) == [b"aa", b"", b"bcbc"]


sys.exit(min(failures, 100))
