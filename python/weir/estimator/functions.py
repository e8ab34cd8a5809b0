"""What programs give estimators: functions whose arguments say what they want to be given."""

import functools
import inspect


def fn_args(fn):
    """The names of a function's arguments, without those that a partial has filled and without ``self``."""
    if isinstance(fn, functools.partial):
        given = fn_args(fn.func)[len(fn.args):]
        return tuple(name for name in given if name not in (fn.keywords or {}))
    target = fn
    if hasattr(fn, "__call__") and not (inspect.isfunction(fn) or inspect.ismethod(fn) or inspect.isclass(fn)):
        target = fn.__call__
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in parameters if p.kind in kinds or p.kind == inspect.Parameter.KEYWORD_ONLY)


def has_kwargs(fn):
    """Whether a function takes arguments by any name."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return any(p.kind == inspect.Parameter.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def wanted(fn, offered):
    """Those of the arguments ``{name: value}`` that a function has."""
    arguments = fn_args(fn)
    return {name: value for name, value in offered.items() if name in arguments}
