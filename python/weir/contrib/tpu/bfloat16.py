"""Variables of float32 for models that compute in bfloat16."""

import contextlib

from weir.core import dtypes
from weir.core.variable_scope import variable_scope
from weir.ops.math_ops import cast


def _getter(getter, *args, **kwargs):
    if kwargs.get("dtype") != dtypes.bfloat16:
        return getter(*args, **kwargs)
    return cast(getter(*args, **{**kwargs, "dtype": dtypes.float32}), dtypes.bfloat16)


@contextlib.contextmanager
def bfloat16_scope():
    """A scope where variables that are asked for in bfloat16 are kept in float32, and cast where they are read."""
    with variable_scope("", custom_getter=_getter) as scope:
        yield scope
