"""Input functions over arrays and data frames: threads that fill a queue."""

import collections
import random
import uuid

import numpy as np

import weir as tf
from weir import errors, logging
from weir.train.queue_runner import QueueRunner

_TARGET_KEY = "__target_key__"


def _next_rows(begin, size, epoch_end, length, epoch, epochs):
    """(indices of the next rows, the epoch after them), cut where the last epoch ends."""
    if epochs is not None and epoch >= epochs:
        raise errors.OutOfRangeError(None, None, f"Already emitted {epoch} epochs.")
    rows = [i % length for i in range(begin, begin + size)]
    ends = [i for i, row in enumerate(rows) if row == epoch_end]
    epoch += len(ends)
    if epochs is None or epoch < epochs:
        return rows, epoch
    return rows[:ends[-(epoch - epochs + 1)] + 1], epochs


class _Feed:
    """The feeds of one enqueue after another."""

    def __init__(self, placeholders, data, size, random_start, seed, epochs):
        self._placeholders, self._data, self._size, self._epochs = placeholders, data, size, epochs
        self._length, self._epoch = self._count(data), 0
        random.seed(seed)
        self._next = random.randrange(self._length) if random_start else 0
        self._epoch_end = (self._next - 1) % self._length

    def __call__(self):
        rows, self._epoch = _next_rows(self._next, self._size, self._epoch_end, self._length, self._epoch, self._epochs)
        self._next = (rows[-1] + 1) % self._length
        return dict(zip(self._placeholders, self._columns(rows)))


class _ArrayFeed(_Feed):
    _count = staticmethod(len)

    def _columns(self, rows):
        return [rows, self._data[rows]]


class _DictFeed(_Feed):
    @staticmethod
    def _count(data):
        lengths = {len(column) for column in data.values()}
        if len(lengths) != 1:
            raise ValueError("Array lengths must match.")
        return lengths.pop()

    def _columns(self, rows):
        return [rows, *(column[rows] for column in self._data.values())]


class _FrameFeed(_Feed):
    _count = staticmethod(len)

    def _columns(self, rows):
        part = self._data.iloc[rows]
        return [part.index.values, *(part[column].values for column in part.columns)]


class _FeedingQueueRunner(QueueRunner):
    """A queue runner whose enqueue operations are fed by functions of the program."""

    def __init__(self, queue, enqueue_ops, feed_fns):
        super().__init__(queue, enqueue_ops,
                         queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError))
        self._feed_fns = dict(zip(enqueue_ops, feed_fns))

    def _fill(self, sess, enqueue_op, coord):
        feed = self._feed_fns[enqueue_op]
        while not (coord and coord.should_stop()):
            sess.run(enqueue_op, feed_dict=feed())

    def _init_from_proto(self, queue_runner_def, import_scope=None):
        raise NotImplementedError(f"{type(self).__name__} does not support initialization from proto.")

    def to_proto(self, export_scope=None):
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")


def _enqueue_data(data, capacity, shuffle=False, min_after_dequeue=None, num_threads=1, seed=None, name="enqueue_input",
                  enqueue_size=1, num_epochs=None):
    """A queue of an array's, a dictionary's or a data frame's rows, which a runner fills."""
    with tf.name_scope(name):
        if isinstance(data, np.ndarray):
            types, shapes = [tf.int64, tf.as_dtype(data.dtype)], [(), data.shape[1:]]
            kind = _ArrayFeed
        elif isinstance(data, collections.OrderedDict):
            types = [tf.int64, *(tf.as_dtype(column.dtype) for column in data.values())]
            shapes = [(), *(column.shape[1:] for column in data.values())]
            kind = _DictFeed
        elif hasattr(data, "iloc"):
            types = [tf.as_dtype(_numpy_type(dtype)) for dtype in [data.index.dtype, *data.dtypes]]
            shapes = [() for _ in types]
            kind = _FrameFeed
        else:
            raise TypeError("data must be either a numpy array or pandas DataFrame if pandas is installed; got "
                            f"{type(data).__name__}")
        if num_threads > 1 and num_epochs is not None:
            logging.warning("enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied per "
                            "thread, so this will produce more epochs than you probably intend. If you want to limit "
                            "epochs, use one thread.")
        if not shuffle and num_threads > 1:
            logging.warning("enqueue_data was called with shuffle=False and num_threads > 1. This will create multiple "
                            "threads, all reading the array/dataframe in order. If you want examples read in order, use "
                            "one thread; if you want multiple threads, enable shuffling.")
        if shuffle:
            min_after_dequeue = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue = tf.RandomShuffleQueue(capacity, min_after_dequeue, dtypes=types, shapes=shapes, seed=seed)
        else:
            min_after_dequeue = 0
            queue = tf.FIFOQueue(capacity, dtypes=types, shapes=shapes)
        enqueue_ops, feeds = [], []
        for i in range(num_threads):
            placeholders = [tf.placeholder(dtype) for dtype in types]
            enqueue_ops.append(queue.enqueue_many(placeholders))
            feeds.append(kind(placeholders, data, enqueue_size, random_start=shuffle,
                              seed=None if seed is None else (i + 1) * seed, epochs=num_epochs))
        tf.train.add_queue_runner(_FeedingQueueRunner(queue, enqueue_ops, feeds))
        full = (tf.cast(tf.maximum(0, queue.size() - min_after_dequeue), tf.float32)
                * (1.0 / (capacity - min_after_dequeue)))
        tf.summary.scalar(f"queue/{queue.name}fraction_over_{min_after_dequeue}_of_{capacity - min_after_dequeue}_full",
                          full)
        return queue


def _numpy_type(dtype):
    """The type of a column's values; pandas has types of its own for texts."""
    return dtype if isinstance(dtype, np.dtype) else np.dtype(object)


def _checked_shuffle(shuffle):
    if not isinstance(shuffle, bool):
        raise ValueError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as True "
                         f"for training); got {shuffle}")


def _sorted_columns(x):
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return collections.OrderedDict(sorted(x.items(), key=lambda item: item[0]))
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return collections.OrderedDict({"__direct_np_input__": x})
    raise TypeError(f"x must be a dict or array; got {type(x).__name__}")


def _check_lengths(data, feature_keys, target_keys, y):
    if len({value.shape[0] for value in data.values()}) == 1:
        return
    shapes_of_y = None
    if isinstance(target_keys, str):
        shapes_of_y = y.shape
    elif target_keys is not None:
        shapes_of_y = {key: data[key].shape for key in target_keys}
    raise ValueError("Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
                     f"Shapes in x: {({key: data[key].shape for key in feature_keys})}\nShapes in y: {shapes_of_y}\n")


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1):
    """An input function over arrays: ``x`` an array or a dictionary of them, ``y`` the labels."""
    _checked_shuffle(shuffle)

    def input_fn():
        data = _sorted_columns(x)
        feature_keys, target_keys = list(data), None
        if isinstance(y, dict):
            if not y:
                raise ValueError("y cannot be empty dict, use None instead.")
            targets = collections.OrderedDict(sorted(y.items(), key=lambda item: item[0]))
            target_keys = list(targets)
            both = set(feature_keys) & set(target_keys)
            if both:
                raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
            data.update(targets)
        elif y is not None:
            target_keys = _TARGET_KEY
            while target_keys in data:
                target_keys += "_n"
            data[target_keys] = y
        _check_lengths(data, feature_keys, target_keys, y)
        queue = _enqueue_data(data, queue_capacity, shuffle=shuffle, num_threads=num_threads, enqueue_size=batch_size,
                              num_epochs=num_epochs)
        batch = (queue.dequeue_many if num_epochs is None else queue.dequeue_up_to)(batch_size)[1:]
        features = batch[0] if isinstance(x, np.ndarray) else dict(zip(feature_keys, batch))
        if target_keys is None:
            return features
        if isinstance(target_keys, str):
            return features, batch[-1]
        return features, dict(zip(target_keys, batch[len(feature_keys):]))

    return input_fn


def pandas_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1,
                    target_column="target"):
    """An input function over a data frame."""
    if not hasattr(x, "iloc"):
        raise TypeError(f"x must be a pandas DataFrame; got {type(x).__name__}")
    _checked_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    x = x.copy()
    columns = None
    if y is not None:
        if target_column in x:
            raise ValueError(f"Cannot use name {target_column} for target column: DataFrame already has a column with "
                             f"that name: {x.columns}")
        if not np.array_equal(x.index, y.index):
            raise ValueError("Index for x and y are mismatched.\n"
                             f"Index for x: {x.index}\nIndex for y: {y.index}\n")
        if hasattr(y, "columns"):
            columns = [(name, f"{name}_{uuid.uuid4()}" if name in x else name) for name in list(y)]
            x[[own for _, own in columns]] = y
        else:
            x[target_column] = y
    if queue_capacity is None:
        queue_capacity = 4 * len(x) if shuffle else len(x)
    min_after_dequeue = max(queue_capacity / 4, 1)

    def input_fn():
        queue = _enqueue_data(x, queue_capacity, shuffle=shuffle, min_after_dequeue=min_after_dequeue,
                              num_threads=num_threads, enqueue_size=batch_size, num_epochs=num_epochs)
        batch = (queue.dequeue_many if num_epochs is None else queue.dequeue_up_to)(batch_size)[1:]
        features = dict(zip(list(x.columns), batch))
        if y is None:
            return features
        if columns is not None:
            return features, {name: features.pop(own) for name, own in columns}
        return features, features.pop(target_column)

    return input_fn
