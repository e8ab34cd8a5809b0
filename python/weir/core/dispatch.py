"""Functions of tensors, called with things that are made of several: a ragged tensor's kind says what they mean for it.

The kinds register themselves when their modules are loaded, so that a program without them pays for one look at an empty
list."""

import functools

types = ()  # what is looked for among the arguments
_handlers, _elementwise = {}, []


def register(kinds, handlers, elementwise=None):
    """``handlers`` are by the names of functions; every other function of elements goes to ``elementwise(function, ...)``.
    Further handlers of kinds that are registered come without kinds."""
    global types
    types += tuple(kinds)
    _handlers.update(handlers)
    if elementwise is not None:
        _elementwise.append(elementwise)


def _holds(value):
    return isinstance(value, types) or isinstance(value, (list, tuple)) and any(isinstance(part, types) for part in value)


def concerns(args, kwargs):
    return any(_holds(value) for value in args) or any(_holds(value) for value in kwargs.values())


def handle(function, args, kwargs):
    handler = _handlers.get(function.__name__)
    return handler(*args, **kwargs) if handler else _elementwise[0](function, *args, **kwargs)


def dispatches(function):
    """A function that such kinds may define for themselves."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if types and concerns(args, kwargs):
            return handle(function, args, kwargs)
        return function(*args, **kwargs)

    return wrapper
