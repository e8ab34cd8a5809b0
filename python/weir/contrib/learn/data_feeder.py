"""tf.contrib.learn.io.data_feeder: placeholders of a model's input, and feeds of one batch after another by their names.

Features ``x`` and targets ``y`` are arrays, dictionaries of them, data frames or iterators. With ``n_classes`` above one a
target is a class, and a row with a one in its place is fed."""

import itertools
import math

import numpy as np

import weir as tf
from weir.contrib.learn.pandas_io import extract_pandas_data, extract_pandas_labels, extract_pandas_matrix


def _is_iterator(data):
    return hasattr(data, "__next__") or hasattr(data, "next")


def _map(function, data):
    """A function of an array, or of each array of a dictionary (with its key)."""
    if data is None:
        return None
    return {key: function(value, key) for key, value in data.items()} if isinstance(data, dict) else function(data, None)


def _first(data):
    return next(iter(data.values())) if isinstance(data, dict) else data


def setup_train_data_feeder(x, y, n_classes, batch_size=None, shuffle=True, epochs=None):
    """The feeder for data of this kind."""
    x, y = extract_pandas_data(x), None if y is None else extract_pandas_labels(y)
    if _is_iterator(x):
        if y is not None and not _is_iterator(y):
            raise ValueError("Both x and y should be iterators for streaming learning to work.")
        return StreamingDataFeeder(x, y, n_classes, batch_size)
    return DataFeeder(x, y, n_classes, batch_size, shuffle=shuffle, epochs=epochs)


def setup_predict_data_feeder(x, batch_size=None):
    """The batches of features, in order."""
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    x = extract_pandas_data(x)
    if _is_iterator(x):
        return _batches(x, batch_size)
    if len(x.shape) == 1:
        x = np.reshape(x, (-1, 1))
    size = batch_size or max(len(x), 1)
    return [x[i * size:(i + 1) * size] for i in range(math.ceil(len(x) / size))] if batch_size else [x]


def setup_processor_data_feeder(x):
    return extract_pandas_matrix(x)


def _batches(rows, batch_size):
    while True:
        batch = list(itertools.islice(rows, batch_size))
        if not batch:
            return
        yield _stacked(batch)


def _stacked(rows):
    return {key: np.array([row[key] for row in rows]) for key in rows[0]} if isinstance(rows[0], dict) else np.array(rows)


def check_array(array, dtype):
    """Lists and arrays as arrays of a type; anything else as it is."""
    return np.asarray(array, dtype=dtype) if isinstance(array, (np.ndarray, list)) else array


def _checked_dtype(dtype):
    if tf.as_dtype(dtype) == tf.float64:
        tf.logging.warn("float64 is not supported by many models, consider casting to float32.")
    return dtype


class DataFeeder:
    """Batches of arrays, shuffled anew for each epoch."""

    def __init__(self, x, y, n_classes, batch_size=None, shuffle=True, random_state=None, epochs=None):
        self._x = _map(lambda a, _: check_array(a, getattr(a, "dtype", None)), x)
        self._y = _map(lambda a, key: self._targets(a, self._classes(n_classes, key)), y)
        self.n_classes, self.max_epochs, self._shuffle = n_classes, epochs, shuffle
        self._count = _first(self._x).shape[0]
        if batch_size is not None and batch_size <= 0:
            raise ValueError(f"Invalid batch_size {batch_size}.")
        self._begin(batch_size or self._count, _map(lambda a, _: a.shape[1:], self._x), _map(lambda a, _: a.shape[1:], self._y))
        self._input_dtype = _map(lambda a, _: _checked_dtype(a.dtype), self._x)
        self._output_dtype = np.float32 if y is None else _map(
            lambda a, key: np.float32 if (self._classes(n_classes, key) or 0) > 1 else _checked_dtype(a.dtype), self._y)
        self.random_state = np.random.RandomState(42) if random_state is None else random_state
        self.indices = self._order()
        self.offset = self.epoch = 0

    x = property(lambda self: self._x)
    y = property(lambda self: self._y)
    shuffle = property(lambda self: self._shuffle)
    input_dtype = property(lambda self: self._input_dtype)
    output_dtype = property(lambda self: self._output_dtype)
    batch_size = property(lambda self: self._batch_size)

    def _begin(self, batch_size, x_rows, y_rows):
        """``x_rows`` and ``y_rows`` are the shapes of single rows."""
        self._batch_size, self._epoch_placeholder = batch_size, None
        self._input_placeholder = self._output_placeholder = None
        self.input_shape = _map(lambda row, _: [batch_size, *(row or (1,))], x_rows)
        self.output_shape = _map(lambda row, key: [batch_size, *self._target_row(row, key)], y_rows)

    def _target_row(self, row, key):
        row = row[1:] if row[:1] == (1,) else row
        classes = self._classes(self.n_classes, key)
        return (*row, classes) if classes is not None and classes > 1 else row

    @staticmethod
    def _classes(n_classes, key):
        return n_classes.get(key) if isinstance(n_classes, dict) else n_classes

    @staticmethod
    def _targets(y, classes):
        if classes is None:
            return check_array(y, getattr(y, "dtype", None))
        return check_array(y, np.int64 if classes > 1 else np.float32)

    def _order(self):
        return self.random_state.permutation(self._count) if self._shuffle else np.arange(self._count)

    def make_epoch_variable(self):
        """A placeholder that is fed the number of the epoch."""
        self._epoch_placeholder = tf.placeholder(tf.int32, [1], name="epoch")
        return self._epoch_placeholder

    def input_builder(self):
        """(placeholders of x, placeholders of y)"""
        self._input_placeholder = self._placeholders(self.input_shape, self._input_dtype, "input")
        self._output_placeholder = self._placeholders(self.output_shape, self._output_dtype, "output")
        return self._input_placeholder, self._output_placeholder

    @staticmethod
    def _placeholders(shapes, dtypes, name):
        return _map(lambda shape, key: tf.placeholder(
            tf.as_dtype(dtypes if key is None else dtypes[key]), [None, *shape[1:]],
            name=name if key is None else f"{name}_{key}"), shapes)

    def set_placeholders(self, input_placeholder, output_placeholder):
        self._input_placeholder, self._output_placeholder = input_placeholder, output_placeholder

    def get_feed_params(self):
        return {"epoch": self.epoch, "offset": self.offset, "batch_size": self._batch_size}

    def get_feed_dict_fn(self):
        def feeds():
            if self.max_epochs is not None and self.epoch >= self.max_epochs:
                raise StopIteration
            fed = {} if self._epoch_placeholder is None else {self._epoch_placeholder.name: [self.epoch]}
            rows = self.indices[self.offset:self.offset + self._batch_size]
            self.offset += self._batch_size
            if self.offset >= self._count:
                self.offset, self.epoch, self.indices = 0, self.epoch + 1, self._order()
            ordered = np.sort(rows), np.argsort(np.argsort(rows))  # files of arrays are read in order
            self._feed(fed, _map(lambda a, _: np.asarray(a[ordered[0]])[ordered[1]], self._x),
                       _map(lambda a, _: np.asarray(a[ordered[0]])[ordered[1]], self._y))
            return fed

        return feeds

    def _feed(self, fed, x, y):
        def put(placeholders, values):
            for key, value in (values.items() if isinstance(values, dict) else [(None, values)]):
                fed[(placeholders if key is None else placeholders[key]).name] = value

        put(self._input_placeholder, _map(lambda a, _: a.reshape(-1, 1) if a.ndim == 1 else a, x))
        if y is not None and self._output_placeholder is not None:
            put(self._output_placeholder, _map(self._fed_target, y))

    def _fed_target(self, y, key):
        row = (self.output_shape if key is None else self.output_shape[key])[1:]
        classes = self._classes(self.n_classes, key)
        if classes is not None and classes > 1:
            y = np.eye(classes)[np.asarray(y, np.int64).reshape(len(y), *row[:-1])]
        dtype = self._output_dtype if key is None else self._output_dtype[key]
        return np.asarray(y).reshape(len(y), *row).astype(dtype)


class StreamingDataFeeder(DataFeeder):
    """Batches of what iterators give, row by row, for as long as they do."""

    def __init__(self, x, y, n_classes, batch_size):
        first_x, self._x = self._look(x)
        first_y, self._y = (None, None) if y is None else self._look(y)
        self.n_classes = n_classes
        self._begin(batch_size or 1, _map(lambda a, _: np.shape(a), first_x), _map(lambda a, _: np.shape(a), first_y))
        self._input_dtype = _map(lambda a, _: _checked_dtype(np.asarray(a).dtype), first_x)
        self._output_dtype = _map(lambda a, key: np.float32 if (self._classes(n_classes, key) or 0) > 0 else
                                  _checked_dtype(np.asarray(a).dtype), first_y)

    @staticmethod
    def _look(rows):
        first = next(rows)
        return first, itertools.chain([first], rows)

    def get_feed_params(self):
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self):
        def feeds():
            rows = list(itertools.islice(self._x, self._batch_size))
            if not rows:
                raise StopIteration
            targets = None if self._y is None else list(itertools.islice(self._y, len(rows)))
            fed = {}
            self._feed(fed, _stacked(rows), None if targets is None else _stacked(targets))
            return fed

        return feeds
