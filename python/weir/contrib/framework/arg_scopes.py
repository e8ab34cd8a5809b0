"""arg_scope: default values of arguments, for every call of some functions inside a block."""

import contextlib
import functools

from weir.core.variable_scope import _parameters

_decorated = {}  # key of a function: names of its parameters that have defaults
_scopes = [{}]


def arg_scope_func_key(op):
    """The key of a function in the dictionaries of scopes."""
    return getattr(op, "_key_op", str(op))


def _kwarg_names(function):
    """Names of the parameters that have a default."""
    names = _parameters(function)[0]
    defaults = getattr(function, "__defaults__", None) or ()
    return tuple(names[len(names) - len(defaults):])


def current_arg_scope():
    return _scopes[-1]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope, **kwargs):
    """Calls of these functions inside the block take ``kwargs`` where they say nothing; or a scope captured before."""
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling adictionary, kwargs must be empty.")
        scope = list_ops_or_scope.copy()
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
        scope = current_arg_scope().copy()
        for function in list_ops_or_scope:
            if not has_arg_scope(function):
                raise ValueError("%s is not decorated with @add_arg_scope",
                                 (function.__module__, getattr(function, "__name__", str(function))))
            scope[arg_scope_func_key(function)] = dict(scope.get(arg_scope_func_key(function), {}), **kwargs)
    _scopes.append(scope)
    try:
        yield scope
    finally:
        _scopes.pop()


def add_arg_scope(func):
    """Lets ``arg_scope`` give a function arguments."""
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def func_with_args(*args, **kwargs):
        given = _scopes[-1].get(key)
        return func(*args, **(dict(given, **kwargs) if given else kwargs))

    _decorated.setdefault(key, _kwarg_names(func))
    func_with_args._key_op = key
    return func_with_args


def has_arg_scope(func):
    return arg_scope_func_key(func) in _decorated


def arg_scoped_arguments(func):
    """The names of the arguments that ``arg_scope`` may give a function."""
    assert has_arg_scope(func)
    return _decorated[arg_scope_func_key(func)]
