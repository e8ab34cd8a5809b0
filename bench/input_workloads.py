"""What input.py measures: functions of the system (a module with TensorFlow 1's names) that give the seconds of one unit.

ROWS names them, with their units: queues here, record files and pictures in input_files.py, tf.data in input_datasets.py.
Programs of both systems are the same text."""

import input_datasets
import input_files
from input_timing import seconds_of as _time


def scalar_pair(tf):
    """One scalar into a queue and out of it, each by a run."""
    queue = tf.FIFOQueue(10, tf.float32, shapes=[()])
    put, take = queue.enqueue(1.0), queue.dequeue()
    with tf.Session() as sess:
        def step():
            sess.run(put)
            sess.run(take)
        return _time(step, 2000)


def _many(tf, make):
    count = 1000
    queue = make()
    put = queue.enqueue_many([tf.zeros([count])])
    take = queue.dequeue_many(count)
    with tf.Session() as sess:
        def step():
            sess.run(put)
            sess.run(take)
        return _time(step, 100) / count


def fifo_many(tf):
    """An element of 1,000 that go through enqueue_many and dequeue_many."""
    return _many(tf, lambda: tf.FIFOQueue(2000, tf.float32, shapes=[()]))


def shuffle_many(tf):
    return _many(tf, lambda: tf.RandomShuffleQueue(2000, 0, tf.float32, shapes=[()]))


def _beside(tf, source):
    """What a step pays for its input: the step with `source` less the step with a variable of the same value."""
    queue, take = source()
    variable = tf.Variable(tf.zeros(take.shape))
    from_queue, from_variable = tf.reduce_sum(take), tf.reduce_sum(variable)
    fill = queue.enqueue_many([tf.zeros([8192] + queue.shapes[0].as_list())])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(fill)
        with_queue = _time(lambda: sess.run(from_queue), 50)
        return with_queue - _time(lambda: sess.run(from_variable), 50)


def ready_batch(tf):
    """A step that takes a batch of 128 x 32 floats which is ready, as a prefetch queue has it."""
    def source():
        queue = tf.FIFOQueue(8192, tf.float32, shapes=[(128, 32)])
        return queue, queue.dequeue()
    return _beside(tf, source)


def ready_rows(tf):
    """The same from 128 elements of 32 floats."""
    def source():
        queue = tf.FIFOQueue(8192, tf.float32, shapes=[(32,)])
        return queue, queue.dequeue_many(128)
    return _beside(tf, source)


def runner(tf):
    """An element that a runner's thread puts in and the program takes out."""
    queue = tf.FIFOQueue(100, tf.float32, shapes=[()])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)]))
    take = queue.dequeue()
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        seconds = _time(lambda: sess.run(take), 2000)
        coord.request_stop()
        coord.join(threads)
        return seconds


ROWS = {
    "queue: scalar in and out": (scalar_pair, "pair"),
    "queue: many, FIFO": (fifo_many, "element"),
    "queue: many, shuffled": (shuffle_many, "element"),
    "step: takes a ready batch": (ready_batch, "step"),
    "step: takes 128 ready rows": (ready_rows, "step"),
    "runner: scalar to the program": (runner, "element"),
    **input_files.ROWS,
    **input_datasets.ROWS,
}


def serve(tf, version):
    """Answers the names of rows on the standard input by seconds."""
    import sys

    print(version, flush=True)
    for line in sys.stdin:
        function, _ = ROWS[line.strip()]
        try:
            with tf.Graph().as_default():
                print(function(tf), flush=True)
        except Exception as error:  # the other rows still can be measured
            print("error", str(error).replace("\n", " ")[:200], flush=True)
