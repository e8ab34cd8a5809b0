"""Arrays as the input of a model: placeholders, and the feeds of one batch after another."""

import numpy as np

import weir as tf


def _as_array(data):
    """An array of a data frame, a list, an iterator or an array."""
    if data is None or isinstance(data, dict):
        return None if data is None else {key: _as_array(value) for key, value in data.items()}
    if hasattr(data, "values") and not callable(data.values):
        return np.asarray(data.values)
    if hasattr(data, "__next__"):
        data = list(data)
    array = np.asarray(data)
    return array.astype(object) if array.dtype.kind in "US" else array


class _DataFeeder:
    """Batches of arrays. A pass ends with StopIteration after ``epochs``."""

    def __init__(self, x, y, batch_size=None, shuffle=True, random_state=None, epochs=None):
        self._x, self._y = _as_array(x), _as_array(y)
        first = next(iter(self._x.values())) if isinstance(self._x, dict) else self._x
        self._count = first.shape[0]
        self._size = min(batch_size or self._count, self._count)
        self._shuffle, self._epochs = shuffle, epochs
        self._random = random_state or np.random.RandomState(42)
        self._offset, self._epoch, self._order = 0, 0, self._next_order()
        self._inputs = self._outputs = None

    batch_size = property(lambda self: self._size)

    def _next_order(self):
        return self._random.permutation(self._count) if self._shuffle else np.arange(self._count)

    def input_builder(self):
        """(placeholders of x, placeholders of y)"""
        self._inputs, self._outputs = _placeholders(self._x, "input"), _placeholders(self._y, "output")
        return self._inputs, self._outputs

    def get_feed_dict_fn(self):
        def feeds():
            if self._epochs is not None and self._epoch >= self._epochs:
                raise StopIteration
            end = min(self._count, self._offset + self._size)
            rows = self._order[self._offset:end]
            self._offset = end
            if self._offset >= self._count:
                self._offset, self._epoch, self._order = 0, self._epoch + 1, self._next_order()
            return {**_feeds(self._inputs, self._x, rows), **_feeds(self._outputs, self._y, rows)}

        return feeds


def _placeholders(data, name):
    if data is None:
        return None
    if isinstance(data, dict):
        return {key: _placeholders(value, f"{name}_{key}") for key, value in data.items()}
    return tf.placeholder(tf.as_dtype(data.dtype), [None, *data.shape[1:]], name=name)


def _feeds(placeholders, data, rows):
    if placeholders is None:
        return {}
    if isinstance(placeholders, dict):
        return {placeholder: data[key][rows] for key, placeholder in placeholders.items()}
    return {placeholders: data[rows]}


def _input_of(x, y, input_fn, feed_fn, batch_size, shuffle=False, epochs=1):
    """(input function, function of feeds) of arrays or of an input function."""
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        if isinstance(x, tf.Tensor) or isinstance(y, tf.Tensor):
            raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
        if feed_fn is not None:
            raise ValueError("Can not provide both feed_fn and x or y.")
        feeder = _DataFeeder(x, y, batch_size, shuffle=shuffle, epochs=epochs)
        return feeder.input_builder, feeder.get_feed_dict_fn()
    if x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and x or y.")
    if batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")
    return input_fn, feed_fn
