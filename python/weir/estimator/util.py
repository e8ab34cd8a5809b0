"""What an input function gives: tensors, or a data set that is to be iterated over."""

import weir as tf
from weir.train.session_run_hook import SessionRunHook


class _DatasetInitializerHook(SessionRunHook):
    """Initialises the iterator of a data set with the session."""

    def __init__(self, iterator):
        self._iterator = iterator

    def begin(self):
        self._initializer = self._iterator.initializer

    def after_create_session(self, session, coord):
        del coord
        session.run(self._initializer)


def parse_iterator_result(result):
    """(features, labels) of an element; labels are None where there are none."""
    if isinstance(result, (list, tuple)):
        if len(result) != 2:
            raise ValueError(f"input_fn should return (features, labels) as a len 2 tuple, got {result!r}")
        return result[0], result[1]
    return result, None


def parse_input_fn_result(result):
    """(features, labels, hooks) of what an input function gave."""
    hooks = []
    if isinstance(result, tf.data.Dataset):
        iterator = tf.data.make_initializable_iterator(result)
        hooks.append(_DatasetInitializerHook(iterator))
        result = iterator.get_next()
    return (*parse_iterator_result(result), hooks)
