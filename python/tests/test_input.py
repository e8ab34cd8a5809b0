"""Input by queues: producers, batches, and what programs do with them."""

import collections
import itertools
import threading

import pytest

import weir as tf


def run_all(fetches, sess):
    """What the fetches give until the input ends."""
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    values = []
    try:
        while True:
            values.append(sess.run(fetches))
    except tf.errors.OutOfRangeError:
        pass
    coord.request_stop()
    coord.join(threads)
    return values


def test_nodes_are_tensorflows():
    queue = tf.train.string_input_producer(["a", "b"], num_epochs=2)
    tf.train.batch([queue.dequeue()], 3)
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names == [
        "input_producer/Const", "input_producer/Size", "input_producer/Greater/y", "input_producer/Greater",
        "input_producer/Assert/Const", "input_producer/Assert/Assert/data_0", "input_producer/Assert/Assert",
        "input_producer/Identity", "input_producer/RandomShuffle", "input_producer/limit_epochs/Const",
        "input_producer/limit_epochs/epochs", "input_producer/limit_epochs/epochs/Assign",
        "input_producer/limit_epochs/epochs/read", "input_producer/limit_epochs/CountUpTo",
        "input_producer/limit_epochs", "input_producer", "input_producer/input_producer_EnqueueMany",
        "input_producer/input_producer_Close", "input_producer/input_producer_Close_1",
        "input_producer/input_producer_Size", "input_producer/Cast", "input_producer/mul/y", "input_producer/mul",
        "input_producer/fraction_of_32_full/tags", "input_producer/fraction_of_32_full", "input_producer_Dequeue",
        "batch/Const", "batch/fifo_queue", "batch/fifo_queue_enqueue", "batch/fifo_queue_Close",
        "batch/fifo_queue_Close_1", "batch/fifo_queue_Size", "batch/Cast", "batch/mul/y", "batch/mul",
        "batch/fraction_of_32_full/tags", "batch/fraction_of_32_full", "batch/n", "batch"]


@pytest.mark.parametrize("threads", [1, 16])
def test_epochs_are_exact(sess, threads):
    queue = tf.train.range_input_producer(100, num_epochs=7, seed=3)
    number = queue.dequeue()
    batch = tf.train.batch([number, number * 2], 10, num_threads=threads, allow_smaller_final_batch=True)
    values = run_all(batch, sess)
    counts = collections.Counter(int(n) for batch in values for n in batch[0])
    assert counts == {n: 7 for n in range(100)}
    assert all((batch[1] == 2 * batch[0]).all() for batch in values)


def test_epochs_are_exact_where_threads_fail(sess):
    """Sixteen threads, and an error in every thirteenth element: what failed is all that is missing."""
    number = tf.train.range_input_producer(60, num_epochs=5, seed=3).dequeue()
    calls, failed = itertools.count(), []

    def sometimes(i):
        if next(calls) % 13 == 5:
            failed.append(int(i))
            raise ValueError("injected")
        return i

    queue = tf.FIFOQueue(10, tf.int32, [[]])
    put, take = queue.enqueue(tf.py_func(sometimes, [number], tf.int32)), queue.dequeue()
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    runners = tf.train.start_queue_runners(sess, coord)

    def fill():
        while True:
            try:
                sess.run(put)
            except tf.errors.OutOfRangeError:
                return
            except tf.errors.InvalidArgumentError as error:
                assert "injected" in str(error)

    threads = [threading.Thread(target=fill) for _ in range(16)]

    def close():
        for thread in threads:
            thread.join()
        sess.run(queue.close())

    closer = threading.Thread(target=close)
    for thread in (*threads, closer):
        thread.start()
    taken = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            taken.append(int(sess.run(take)))
    closer.join()
    coord.request_stop()
    coord.join(runners)
    assert len(failed) == 23 and collections.Counter(taken + failed) == {n: 5 for n in range(60)}


def test_shuffled_batches_of_dictionaries(sess):
    number = tf.train.range_input_producer(40, num_epochs=2, shuffle=False).dequeue()
    batch = tf.train.shuffle_batch({"n": number, "s": tf.as_string(number)}, 8, 50, 10, seed=1)
    assert set(batch) == {"n", "s"}
    values = run_all(batch, sess)
    numbers = [int(n) for v in values for n in v["n"]]
    assert sorted(numbers) == sorted(list(range(40)) * 2) and numbers != sorted(numbers)
    assert all(str(int(n)).encode() == s for v in values for n, s in zip(v["n"], v["s"]))


def test_sparse_tensors_keep_their_places(sess):
    number = tf.cast(tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue(), tf.int64)
    sparse = tf.SparseTensor(tf.reshape(number, [1, 1]), tf.reshape(number, [1]), [10])
    value, dense = tf.train.batch([sparse, number], 3)
    (first, one), (second, two) = run_all([value, dense], sess)
    assert first.indices.tolist() == [[0, 0], [1, 1], [2, 2]] and first.dense_shape.tolist() == [3, 10]
    assert second.values.tolist() == [3, 4, 5] and two.tolist() == [3, 4, 5]


def test_kept_elements_only(sess):
    number = tf.train.range_input_producer(20, num_epochs=1, shuffle=False).dequeue()
    batch = tf.train.maybe_batch([number], keep_input=tf.equal(number % 2, 0), batch_size=5)
    assert [v.tolist() for v in run_all(batch, sess)] == [[0, 2, 4, 6, 8], [10, 12, 14, 16, 18]]


def test_mistakes():
    with pytest.raises(ValueError, match="non-null"):
        tf.train.string_input_producer([])
    with pytest.raises(ValueError, match="num_epochs must be > 0"):
        tf.train.string_input_producer(["a"], num_epochs=0)
    with pytest.raises(ValueError, match="bigger than min_after_dequeue"):
        tf.train.shuffle_batch([tf.constant(1)], 1, capacity=5, min_after_dequeue=5)
    with pytest.raises(ValueError, match="fully defined"):
        tf.train.batch([tf.placeholder(tf.int32, [None])], 2)


def test_buckets_by_length(sess):
    length = tf.train.range_input_producer(40, num_epochs=1, shuffle=False).dequeue()
    lengths, batch = tf.contrib.training.bucket_by_sequence_length(
        length, [tf.range(length)], 4, [10, 20, 30], dynamic_pad=True)
    values = run_all([lengths, batch], sess)
    assert sum(len(n) for n, _ in values) > 20
    for numbers, rows in values:
        assert len({int(n) // 10 for n in numbers}) == 1 and rows.shape[1] == max(numbers)


def test_barrier_gives_what_is_complete(sess):
    from weir.queues.barrier import Barrier

    barrier = Barrier((tf.float32, tf.string), shapes=((), ()))
    sess.run(barrier.insert_many(0, ["a", "b"], [1.0, 2.0]))
    sess.run(barrier.insert_many(1, ["b"], ["x"]))
    assert sess.run([barrier.ready_size(), barrier.incomplete_size()]) == [1, 1]
    _, keys, values = sess.run(barrier.take_many(1))
    assert keys.tolist() == [b"b"] and values[0] == [2] and values[1] == [b"x"]


def test_staging_area_hands_over_from_step_to_step(sess):
    x = tf.placeholder(tf.float32, [])
    area = tf.contrib.staging.StagingArea([tf.float32])
    put, get = area.put([x]), area.get()
    sess.run(put, {x: 0})
    assert [sess.run([put, get], {x: i})[1][0] for i in range(1, 5)] == [0, 1, 2, 3]


def test_accumulator_takes_the_mean_of_enough(sess):
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2])
    for gradient in ([1.0, 3.0], [3.0, 5.0]):
        sess.run(accumulator.apply_grad(gradient))
    assert sess.run(accumulator.take_grad(2)).tolist() == [2, 4]
    sess.run(accumulator.apply_grad([9.0, 9.0], local_step=0))  # of an earlier step
    assert sess.run(accumulator.num_accumulated()) == 0
