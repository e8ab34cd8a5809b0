"""Runs that wait at a queue: what ends the wait."""

import re
import signal
import subprocess
import sys
import threading

import pytest

import weir as tf


@pytest.fixture
def queue():
    with tf.Graph().as_default():
        handle = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32], capacity=4)
        yield handle


def dequeue(handle):
    return tf.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.float32])[0]


def test_a_run_takes_what_it_puts_in(queue):
    put, taken = tf.raw_ops.QueueEnqueueV2(handle=queue, components=[tf.constant(3.0)]), dequeue(queue)
    with tf.Session() as sess:
        assert sess.run([taken, put])[0] == 3


def test_close_ends_a_wait_in_another_thread(queue):
    taken = dequeue(queue)
    sess = tf.Session()
    errors, begun = [], threading.Event()

    def take():
        begun.set()
        try:
            sess.run(taken)
        except Exception as error:
            errors.append(type(error))

    thread = threading.Thread(target=take)
    thread.start()
    begun.wait()
    sess.close()
    thread.join()
    # Before the run has begun, a closed session is a RuntimeError, as in TensorFlow.
    assert errors[0] in (tf.errors.CancelledError, RuntimeError)


def test_timeout_names_what_waits(queue, late):
    taken = dequeue(queue)
    with tf.Session() as sess:
        assert re.search("waits for QueueDequeueV2.*test_waiting.py", late(sess, taken))


def test_ctrl_c_ends_a_wait():
    program = """
import weir as tf
handle = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])
taken = tf.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.float32])[0]
with tf.Session() as sess:
    try:
        print("waiting", flush=True)
        sess.run(taken)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "waiting\n"
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=60)
    assert rest == "interrupted\n"
