"""Queues, the threads that fill them, and what ends those."""

import threading

import pytest

import weir as tf


def test_names_of_nodes_are_tensorflows():
    queue = tf.FIFOQueue(10, [tf.int32, tf.string], shapes=[(), ()])
    with tf.name_scope("a"):
        names = [queue.enqueue((1, "a")).name, queue.enqueue_many(([1], ["a"])).name, queue.dequeue()[0].op.name,
                 queue.dequeue_many(3)[0].op.name, queue.dequeue_up_to(3)[0].op.name, queue.close().name,
                 queue.size().op.name, queue.is_closed().op.name]
    assert names == ["a/fifo_queue_enqueue", "a/fifo_queue_EnqueueMany", "a/fifo_queue_Dequeue",
                     "a/fifo_queue_DequeueMany", "a/fifo_queue_DequeueUpTo", "a/fifo_queue_Close", "a/fifo_queue_Size",
                     "a/fifo_queue_Is_Closed"]
    assert tf.get_default_graph().get_operation_by_name("a/fifo_queue_enqueue/component_0").type == "Const"


def test_static_shapes(sess):
    queue = tf.PaddingFIFOQueue(10, [tf.int32], shapes=[[None, 2]])
    n = tf.placeholder(tf.int32, [])
    assert queue.dequeue().shape.as_list() == [None, 2]
    assert queue.dequeue_many(4).shape.as_list() == [4, None, 2]
    assert queue.dequeue_many(n).shape.as_list() == [None, None, 2]
    assert queue.dequeue_up_to(4).shape.as_list() == [None, None, 2]
    with pytest.raises(ValueError):
        queue.enqueue(tf.zeros([3, 3], tf.int32))


def test_dictionaries(sess):
    queue = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[(), ()], names=["i", "f"])
    with pytest.raises(ValueError, match="do not match names of Queue"):
        queue.enqueue({"i": 1, "g": 2.0})
    with pytest.raises(ValueError, match="must enqueue a dictionary"):
        queue.enqueue((1, 2.0))
    sess.run(queue.enqueue_many({"f": [1.0, 2.0], "i": [3, 4]}))
    assert sess.run(queue.dequeue()) == {"i": 3, "f": 1}
    assert sess.run(queue.dequeue_many(1)["f"]) == [2]


def test_from_list_chooses_in_the_run(sess):
    queues = [tf.FIFOQueue(10, tf.int32) for _ in range(2)]
    index = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(index, queues)
    sess.run(chosen.enqueue(7), {index: 1})
    assert [sess.run(q.size()) for q in queues] == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Index must be in the range"):
        sess.run(chosen.enqueue(7), {index: 2})


def runner_graph(limit, threads, capacity=5):
    """A queue that threads fill with the numbers below a limit."""
    counter = tf.Variable(0, dtype=tf.int64, use_resource=False)
    queue = tf.FIFOQueue(capacity, tf.int64, shapes=[()])
    number = counter.count_up_to(limit)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(number)] * threads))
    return queue


@pytest.mark.parametrize("threads", [1, 16])
def test_every_number_comes_once_and_then_the_end(sess, threads):
    queue = runner_graph(500, threads)
    taken = queue.dequeue()
    sess.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    started = tf.train.start_queue_runners(sess, coord)
    numbers = []
    with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
        while True:
            numbers.append(int(sess.run(taken)))
    assert sorted(numbers) == list(range(500))
    coord.request_stop()
    coord.join(started)
    assert not any(thread.is_alive() for thread in started)


def test_a_stop_ends_threads_at_a_full_queue(sess):
    queue = runner_graph(10**6, 4, capacity=1)
    sess.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    sess.run(queue.dequeue())
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=5)


def test_an_error_in_a_runner_stops_the_coordinator(sess):
    queue = tf.FIFOQueue(5, tf.int64, shapes=[()])
    bad = tf.gather(tf.constant([1, 2], tf.int64), tf.py_func(lambda: 7, [], tf.int64))
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(bad)]))
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(queue.dequeue())
    with pytest.raises(tf.errors.InvalidArgumentError):
        coord.join(threads)


def test_functions_of_the_program_in_a_runner(sess):
    queue = tf.FIFOQueue(5, tf.int64, shapes=[()])
    numbers = iter(range(20))
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(tf.py_func(lambda: next(numbers), [], tf.int64))]))
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    assert list(sess.run(queue.dequeue_many(20))) == list(range(20))
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(queue.dequeue())
    coord.request_stop()
    coord.join(threads)


def test_proto_round_trip():
    queue = runner_graph(10, 2)
    runner = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[0]
    again = tf.train.QueueRunner.from_proto(runner.to_proto())
    assert again.name == queue.name and again.enqueue_ops == runner.enqueue_ops
    assert again.queue_closed_exception_types == (tf.errors.OutOfRangeError,)
    assert runner.to_proto(export_scope="elsewhere") is None


def test_coordinator_names_threads_that_do_not_stop():
    coord, release = tf.train.Coordinator(), threading.Event()
    thread = threading.Thread(target=release.wait, name="stubborn")
    thread.start()
    coord.request_stop()
    with pytest.raises(RuntimeError, match="threads still running: stubborn"):
        coord.join([thread], stop_grace_period_secs=0.02)
    release.set()
    coord.join([thread])


def test_looper_thread_runs_until_the_stop():
    coord, turns = tf.train.Coordinator(), []

    def turn():
        turns.append(len(turns))
        if len(turns) == 3:
            coord.request_stop()

    thread = tf.train.LooperThread.loop(coord, 0.001, turn)
    coord.join([thread])
    assert turns == [0, 1, 2]
