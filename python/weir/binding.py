"""What the extension calls in Python, and the classes whose objects it makes."""

import os

from weir import _weir, errors, names
from weir.core import conversion, custom_gradients, dtypes, session
from weir.core.tensor import IndexedSlices, Operation, Tensor
from weir.core.variables import Variable
from weir.ops import operators


def _call_function(*args):
    return names.at("weir.ops.script_ops:_call_function")(*args)  # few programs have such functions


_weir.set_package({
    "Tensor": Tensor, "Operation": Operation, "Variable": Variable, "IndexedSlices": IndexedSlices,
    "as_dtype": dtypes.as_dtype, "dtypes": dtypes._BY_ENUM | {0: None}, "make_error": errors.from_parts,
    "make_build_error": errors.of_building, "convert": conversion._convert, "expand_fetch": session._expand_fetch,
    "expand_feed": session._expand_feed, "record_metadata": session._record_metadata,
    "tensor_handle": session._tensor_handle,
    "gradient_types": custom_gradients._types, "call_gradient": custom_gradients._call, "call_function": _call_function,
    "directory": os.path.dirname(os.path.abspath(__file__)) + "/",
})
operators.install()
