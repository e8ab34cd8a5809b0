"""tensorflow.python.util.deprecation and its neighbours: decorators that leave a function as it is."""

import contextlib
import inspect


def deprecated(date, instructions, warn_once=True):
    return lambda function: function


def deprecated_args(date, instructions, *names, **options):
    return lambda function: function


def deprecated_arg_values(date, instructions, warn_once=True, **values):
    return lambda function: function


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    return func_or_class


def deprecated_endpoints(*names):
    return lambda function: function


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value of an argument that has two names; ValueError when both are given."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value


@contextlib.contextmanager
def silence():
    yield


# tensorflow.python.util.tf_export
def tf_export(*names, **options):
    return lambda symbol: symbol


keras_export = estimator_export = tf_export


# tensorflow.python.util.tf_decorator
def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    import functools

    return functools.wraps(target)(decorator_func)


def unwrap(maybe_decorator):
    return [], inspect.unwrap(maybe_decorator)


# tensorflow.python.util.tf_contextlib
contextmanager = contextlib.contextmanager
