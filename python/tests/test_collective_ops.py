"""Collective operations between devices of a process, and between workers with sessions of their own. What is expected is what
TensorFlow 1.15.5 gives."""

import threading

import numpy as np
import pytest

import weir.compat.v1 as tf
from weir.ops import collective_ops

CONFIG = tf.ConfigProto(device_count={"CPU": 3}, operation_timeout_in_ms=60000)


def run(build):
    """What build(device) gives on each of three devices, in one step."""
    with tf.Graph().as_default():
        fetches = []
        for i in range(3):
            with tf.device(f"/cpu:{i}"):
                fetches.append(build(i))
        with tf.Session(config=CONFIG) as session:
            session.run(fetches)
            return session.run(fetches)


@pytest.mark.parametrize("merge_op,final_op,expected", [("Add", "Id", [9, 13]), ("Add", "Div", [3, 13 / 3]),
                                                        ("Mul", "Id", [15, 56])])
def test_values_are_reduced(merge_op, final_op, expected):
    values = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
    for got in run(lambda i: collective_ops.all_reduce(tf.constant(values[i]), 3, 1, 1, merge_op, final_op)):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_values_are_gathered_and_broadcast():
    for got in run(lambda i: collective_ops.all_gather(tf.constant([[1.0 * i, 2.0]]), 3, 1, 2)):
        np.testing.assert_array_equal(got, [[0, 2], [1, 2], [2, 2]])

    def send_or_receive(i):
        if i == 1:
            return collective_ops.broadcast_send(tf.constant([1.0, 2.0]), [2], tf.float32, 3, 1, 3)
        return collective_ops.broadcast_recv([2], tf.float32, 3, 1, 3)

    for got in run(send_or_receive):
        np.testing.assert_array_equal(got, [1, 2])


def test_a_group_of_one_and_wrong_declarations_are_refused():
    with pytest.raises(ValueError, match="Parameter group_size to all_reduce must be at least 2."):
        collective_ops.all_reduce(tf.constant([1.0]), 1, 1, 1, "Add", "Id")
    with pytest.raises(ValueError, match="Shape of broadcast_send tensor"):
        collective_ops.broadcast_send(tf.constant([1.0]), [2], tf.float32, 2, 1, 1)
    with pytest.raises(ValueError, match="at least rank 1"):
        collective_ops.all_gather(tf.constant(1.0), 2, 1, 1)


@pytest.mark.usefixtures("grpc")
def test_workers_with_graphs_of_their_own_meet():
    workers, servers = tf.test.create_local_cluster(2, 0)
    got, failed = {}, []

    def work(task):
        try:
            with tf.Graph().as_default(), tf.device(f"/job:worker/task:{task}/cpu:0"):
                x = tf.constant([1.0, 2, 3, 4, 5]) * (task + 1)
                fetches = [collective_ops.all_reduce(x, 2, 1, 1, "Add", "Div"),
                           collective_ops.all_reduce(x, 2, 1, 2, "Mul", "Id"), collective_ops.all_gather(x[:2], 2, 1, 3)]
                with tf.Session(workers[task].target, config=CONFIG) as session:
                    for _ in range(5):
                        got[task] = session.run(fetches)
        except Exception as error:  # pylint: disable=broad-except
            failed.append(error)

    threads = [threading.Thread(target=work, args=(task,)) for task in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    for values in got.values():
        for value, expected in zip(values, ([1.5, 3, 4.5, 6, 7.5], [2, 8, 18, 32, 50], [1, 2, 2, 4])):
            np.testing.assert_array_equal(value, expected)
    for server in workers + servers:
        server.stop()
