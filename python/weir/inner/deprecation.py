"""tensorflow.python.util.deprecation and its neighbours: decorators that say what a program should no longer use."""

import contextlib
import functools
import inspect
import re

from weir import logging


def get_qualified_name(function):
    return getattr(function, "__qualname__", None) or getattr(function, "__name__", repr(function))


def validate_callable(func, decorator_name):
    if not callable(func):
        raise ValueError(f"{func} is not a function. If this is a property, make sure @property appears before "
                         f"@{decorator_name} in your source code:\n\n@property\n@{decorator_name}\ndef method(...)")


def add_notice_to_docstring(doc, instructions, no_doc_str, suffix_str, notice):
    """A docstring with a notice behind its first line, which says so too."""
    lines = doc.splitlines() if doc else [no_doc_str]
    if doc:
        lines[0] += " " + suffix_str
    added = ["", *notice, instructions]
    if len(lines) > 1 and lines[1].strip():
        added.append("")
    return "\n".join(lines[:1] + added + lines[1:])


class classproperty:  # noqa: N801
    """A property of a class."""

    def __init__(self, func):
        self._func = func

    def __get__(self, owner_self, owner_cls):
        return self._func(owner_cls)


_told = set()
_tells = True


def _tell(key, warn_once, message, *arguments):
    """Warns about a call, naming the line of the program that calls."""
    if not _tells or warn_once and key in _told:
        return
    _told.add(key)
    caller = inspect.stack()[2]
    logging.warning("From %s: " + message, f"{caller.filename}:{caller.lineno} in {caller.function}.", *arguments)


def _check(date, instructions):
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError("Tell us what date this will be deprecated: it must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _noticed(doc, date, instructions, of_arguments):
    """The docstring of a function that is deprecated, or some arguments of which are."""
    when = "after " + date if date else "in a future version"
    if of_arguments:
        return add_notice_to_docstring(doc, instructions, "DEPRECATED FUNCTION ARGUMENTS", "(deprecated arguments)", [
            f"SOME ARGUMENTS ARE DEPRECATED. They will be removed {when}.", "Instructions for updating:"])
    return add_notice_to_docstring(doc, instructions, "DEPRECATED FUNCTION", "(deprecated)", [
        f"THIS FUNCTION IS DEPRECATED. It will be removed {when}.", "Instructions for updating:"])


def deprecated(date, instructions, warn_once=True):
    """Marks a function: its docstring says so, and the first call warns."""
    _check(date, instructions)

    def decorate(function):
        if isinstance(function, type):
            return function
        validate_callable(function, "deprecated")

        @functools.wraps(function)
        def decorated(*args, **kwargs):
            _tell(decorated, warn_once, "%s (from %s) is deprecated and will be removed after %s.\n"
                  "Instructions for updating:\n%s", get_qualified_name(function), function.__module__, date, instructions)
            return function(*args, **kwargs)

        decorated.__doc__ = _noticed(function.__doc__, date, instructions, of_arguments=False)
        return decorated

    return decorate


def _argument_names(function):
    signature = inspect.signature(function)
    kinds = inspect.Parameter
    positional = [name for name, p in signature.parameters.items() if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)]
    rest = {p.kind: name for name, p in signature.parameters.items()}
    return positional, rest.get(kinds.VAR_POSITIONAL), rest.get(kinds.VAR_KEYWORD)


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, **options):
    """Marks arguments of a function: calls that give one of them warn. A tuple is a name and the values that may stay."""
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = options.pop("warn_once", True)
    marked = {}
    for item in deprecated_arg_names_or_tuples:
        marked[item[0] if isinstance(item, tuple) else item] = item[1:] if isinstance(item, tuple) else ()

    def decorate(function):
        validate_callable(function, "deprecated_args")
        names, varargs, keywords = _argument_names(function)
        unknown = [name for name in marked if name not in (*names, varargs, keywords)]
        if unknown:
            raise ValueError("The following deprecated arguments are not present in the function signature: "
                             f"{unknown}. Found next arguments: {[*names, varargs, keywords]}.")

        @functools.wraps(function)
        def decorated(*args, **kwargs):
            given = {**dict(zip(names, args)), **kwargs}
            if varargs and len(args) > len(names):
                given[varargs] = args[len(names):]
            if keywords and any(name not in names for name in kwargs):
                given[keywords] = kwargs
            for name, allowed in marked.items():
                if name in given and not any(given[name] is value or given[name] == value for value in allowed):
                    _tell((decorated, name), warn_once, "calling %s (from %s) with %s is deprecated and will be removed "
                          "after %s.\nInstructions for updating:\n%s", get_qualified_name(function), function.__module__,
                          name, date, instructions)
            return function(*args, **kwargs)

        decorated.__doc__ = _noticed(function.__doc__, date, instructions, of_arguments=True)
        return decorated

    return decorate


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Marks values of arguments: calls with one of them warn."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(function):
        validate_callable(function, "deprecated_arg_values")

        @functools.wraps(function)
        def decorated(*args, **kwargs):
            given = inspect.getcallargs(function, *args, **kwargs)
            for name, value in deprecated_kwargs.items():
                if name in given and given[name] == value:
                    _tell((decorated, name), warn_once, "calling %s (from %s) with %s=%s is deprecated and will be removed "
                          "after %s.\nInstructions for updating:\n%s", get_qualified_name(function), function.__module__,
                          name, value, date, instructions)
            return function(*args, **kwargs)

        decorated.__doc__ = _noticed(function.__doc__, date, instructions, of_arguments=True)
        return decorated

    return decorate


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
    """Within it, nothing warns."""
    global _tells
    before, _tells = _tells, False
    try:
        yield
    finally:
        _tells = before


# tensorflow.python.util.tf_export
def tf_export(*names, **options):
    return lambda symbol: symbol


keras_export = estimator_export = tf_export


# tensorflow.python.util.tf_decorator
def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    return functools.wraps(target)(decorator_func)


def unwrap(maybe_decorator):
    return [], inspect.unwrap(maybe_decorator)


# tensorflow.python.util.tf_contextlib
contextmanager = contextlib.contextmanager
