"""How much memory a process holds while a million elements go through every kind of queue and input pipeline.

    .venv/bin/python -m weir run bench/input_memory.py [--elements N] [NAME ...]

A line for each: resident memory after a tenth of the elements and after all of them, and what came in between. What is flat
grows by less than a few hundred KB, whatever the number of elements.
"""
import argparse
import gc
import os
import tempfile
import threading

import tensorflow as tf

CHUNK = 1000
KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


def resident():
    """Kilobytes."""
    with open('/proc/self/statm') as statm:
        return int(statm.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') // 1024


def many(session, steps):
    """[callable] for each of `steps`, fetches or operations that move CHUNK elements."""
    calls = [session.make_callable(step) for step in steps]

    def move():
        for call in calls:
            call()
    return move


def queue(make, put=None):
    put = put if put is not None else tf.zeros([CHUNK, 4])
    q = make(2 * CHUNK)
    return [q.enqueue_many([put]), q.dequeue_many(CHUNK)]


@kind
def fifo_queue():
    return queue(lambda n: tf.FIFOQueue(n, tf.float32, [[4]]))


@kind
def random_shuffle_queue():
    return queue(lambda n: tf.RandomShuffleQueue(n, 0, tf.float32, [[4]], seed=1))


@kind
def padding_fifo_queue():
    return queue(lambda n: tf.PaddingFIFOQueue(n, tf.float32, [[None]]))


@kind
def priority_queue():
    q = tf.PriorityQueue(2 * CHUNK, [tf.float32], [[4]])
    return [q.enqueue_many([tf.range(CHUNK, dtype=tf.int64), tf.zeros([CHUNK, 4])]), q.dequeue_many(CHUNK)]


@kind
def strings_of_all_lengths():
    return queue(lambda n: tf.FIFOQueue(n, tf.string, [[]]), tf.as_string(tf.random_uniform([CHUNK], maxval=2 ** 30, dtype=tf.int32)))


@kind
def barrier():
    from tensorflow.python.ops import data_flow_ops
    b = data_flow_ops.Barrier((tf.float32,), shapes=((4,),))
    keys = tf.as_string(tf.range(CHUNK) + tf.random_uniform([], maxval=2 ** 30, dtype=tf.int32))
    return [b.insert_many(0, keys, tf.zeros([CHUNK, 4])), b.take_many(CHUNK)]


@kind
def staging_area():
    area = tf.contrib.staging.StagingArea([tf.float32], [[CHUNK, 4]])
    return [area.put([tf.zeros([CHUNK, 4])]), area.get()]


@kind
def map_staging_area():
    from tensorflow.python.ops import data_flow_ops
    area = data_flow_ops.MapStagingArea([tf.float32], shapes=[[CHUNK, 4]])
    return [area.put(tf.constant(1, tf.int64), [tf.zeros([CHUNK, 4])], [0]), area.get(tf.constant(1, tf.int64))]


@kind
def conditional_accumulator():
    a = tf.ConditionalAccumulator(tf.float32, [CHUNK, 4])
    return [a.apply_grad(tf.zeros([CHUNK, 4]), local_step=1 << 40), a.take_grad(1)]


@kind
def sparse_conditional_accumulator():
    a = tf.SparseConditionalAccumulator(tf.float32, [CHUNK, 4])
    return [a.apply_indexed_slices_grad(tf.IndexedSlices(tf.zeros([CHUNK, 4]), tf.range(CHUNK, dtype=tf.int64)), local_step=1 << 40),
            a.take_indexed_slices_grad(1)]


def records(folder):
    path = os.path.join(folder, 'elements')
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(10 * CHUNK):
            writer.write(b'%08d' % i)
    return path


@kind
def record_reader(folder):
    _, value = tf.TFRecordReader().read_up_to(tf.train.string_input_producer([records(folder)]), CHUNK)
    return [value]


@kind
def batch_of_threads(folder):
    _, value = tf.TFRecordReader().read(tf.train.string_input_producer([records(folder)]))
    return [tf.train.batch([value], CHUNK, num_threads=4, capacity=4 * CHUNK)]


@kind
def shuffle_batch_of_threads(folder):
    _, value = tf.TFRecordReader().read(tf.train.string_input_producer([records(folder)]))
    return [tf.train.shuffle_batch([value], CHUNK, 4 * CHUNK, CHUNK, num_threads=4)]


D = tf.data.Dataset


def numbers():
    return D.range(1 << 40)


def chunks(dataset):
    return [dataset.batch(CHUNK).make_one_shot_iterator().get_next()]


@kind
def data_range():
    return chunks(numbers())


@kind
def data_map():
    return chunks(numbers().map(lambda i: tf.cast(i, tf.float32) * 2))


@kind
def data_parallel_map():
    return chunks(numbers().map(lambda i: tf.as_string(i), num_parallel_calls=4).prefetch(CHUNK))


@kind
def data_shuffle_repeat():
    return chunks(D.range(5 * CHUNK).shuffle(CHUNK, seed=1).repeat())


@kind
def data_filter():
    return chunks(numbers().filter(lambda i: tf.equal(i % 2, 0)))


@kind
def data_flat_map():
    return chunks(numbers().flat_map(lambda i: D.from_tensors(i).repeat(10)))


@kind
def data_interleave():
    return chunks(D.range(16).repeat().interleave(lambda i: D.range(100), cycle_length=8, block_length=4))


@kind
def data_parallel_interleave():
    return chunks(D.range(16).repeat().interleave(lambda i: D.range(100), cycle_length=8, num_parallel_calls=4))


@kind
def data_scan():
    return chunks(numbers().apply(tf.data.experimental.scan(tf.constant(0, tf.int64), lambda s, i: (s + i, s))))


@kind
def data_unbatch():
    return chunks(numbers().batch(50).apply(tf.data.experimental.unbatch()))


@kind
def data_window():
    return chunks(numbers().window(10).flat_map(lambda w: w))


@kind
def data_group_by_window():
    return chunks(numbers().apply(tf.data.experimental.group_by_window(
        lambda i: i % 3, lambda _, group: group.batch(50), window_size=50)).apply(tf.data.experimental.unbatch()))


@kind
def data_padded_batch():
    return [numbers().map(lambda i: tf.fill([1 + i % 5], i)).padded_batch(CHUNK, [None]).make_one_shot_iterator().get_next()]


@kind
def data_zip_concatenate():
    return chunks(D.zip((numbers(), D.range(7).concatenate(D.range(5)).repeat())))


@kind
def data_sample():
    return chunks(tf.data.experimental.sample_from_datasets([numbers(), numbers()], [.5, .5], seed=1))


@kind
def data_map_and_batch():
    return [numbers().apply(tf.data.experimental.map_and_batch(lambda i: i * 2, CHUNK, num_parallel_batches=2))
            .make_one_shot_iterator().get_next()]


@kind
def data_cached():
    return chunks(D.range(5 * CHUNK).cache().repeat())


@kind
def data_records(folder):
    return chunks(tf.data.TFRecordDataset(records(folder)).repeat())


@kind
def data_generator():
    return chunks(D.from_generator(lambda: iter(range(10 * CHUNK)), tf.int64, []).repeat())


@kind
def data_initialised_anew():
    """Every chunk from an iterator that begins again."""
    iterator = D.range(CHUNK).map(lambda i: i + 1).batch(CHUNK).make_initializable_iterator()
    return [iterator.initializer, iterator.get_next()]


@kind
def data_by_handle():
    own = numbers().batch(CHUNK).make_one_shot_iterator()
    iterator = tf.data.Iterator.from_string_handle(own.string_handle(), tf.int64, [None])
    return [iterator.get_next()]


def measure(name, elements):
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        function = KINDS[name]
        steps = function(folder) if function.__code__.co_argcount else function()
        with tf.Session() as session:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            move, rounds = many(session, steps), elements // CHUNK
            first = 0
            for i in range(rounds):
                if i == rounds // 10:
                    gc.collect()
                    first = resident()
                move()
            gc.collect()
            last = resident()
            coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    print('%-32s %8d KB %8d KB %+7d KB' % (name, first, last, last - first), flush=True)
    return last - first


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--elements', type=int, default=1000000)
    parser.add_argument('names', nargs='*', default=sorted(KINDS))
    flags = parser.parse_args()
    for name in flags.names or sorted(KINDS):
        measure(name, flags.elements)
    print('%d threads at the end' % threading.active_count())


if __name__ == '__main__':
    main()
