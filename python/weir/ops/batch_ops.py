"""What several runs of a session compute together: tensorflow.python.ops.batch_ops."""

from weir import _weir
from weir.core.graph import Tensor, control_dependencies, name_scope
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph
from weir.core.tensor_shape import TensorShape


def batch_function(num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes=None,
                   max_enqueued_batches=10, autograph=True):
    """A decorator: calls of several runs become one, of their arguments below each other along the first dimension.

    A batch is computed when it has ``max_batch_size`` rows or its first call has waited ``batch_timeout_micros``; with
    ``allowed_batch_sizes`` it is filled up to one of these. There is no gradient.
    """

    def decorator(fn):
        def decorated(*args):
            for arg in args:
                if not isinstance(arg, Tensor):
                    raise ValueError("All arguments to functions decorated with `batch_function`  are supposed to be "
                                     f"Tensors; found {arg!r}")

            def call(placeholders):
                result = fn(*placeholders)
                return list(result) if isinstance(result, (list, tuple)) else [result]

            with name_scope("batch"):
                name, captured, results, waits = _weir.function(
                    get_default_graph(), getattr(fn, "__name__", "batched"), call, [arg.dtype for arg in args],
                    [_rows(arg.shape) for arg in args])
                with control_dependencies(waits):
                    return apply("BatchFunction", (list(args), list(captured)), {
                        "f": name, "num_batch_threads": num_batch_threads, "max_batch_size": max_batch_size,
                        "batch_timeout_micros": batch_timeout_micros, "max_enqueued_batches": max_enqueued_batches,
                        "allowed_batch_sizes": allowed_batch_sizes or [], "shared_name": name,
                        "Tout": [result.dtype for result in results]}, None)

        return decorated

    return decorator


def _rows(shape):
    """The shape of any number of rows."""
    return shape if shape.ndims in (None, 0) else TensorShape([None]).concatenate(shape[1:])
