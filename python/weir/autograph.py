"""tf.autograph: Weir builds graphs from the functions as they are and converts none."""

from weir import names as _names


def do_not_convert(func=None):
    """Marks a function that is not to be converted, as none is."""
    return (lambda function: function) if func is None else func


__getattr__, __dir__ = _names.namespace(__name__)
