"""tensorflow.python.ops.parallel_for: a function of every number below a count, and derivatives by every output.

Each is a loop, whose iterations run at the same time as far as they are independent; TensorFlow's pfor writes such loops as
operations on all iterations at once. What it gives is the same.
"""

import inspect
import itertools

from weir import _weir, nest
from weir.core import dtypes, tensor_util
from weir.core.graph import Operation, control_dependencies, convert_to_tensor, name_scope
from weir.core.stack import get_default_graph
from weir.core.tensor_shape import TensorShape
from weir.core.variable_scope import get_variable_scope, variable_scope
from weir.ops import array_ops, check_ops, control_flow_ops, gradients as gradient_ops, sparse_functions, tensor_array_ops
from weir.ops.sparse_ops import SparseTensor

_numbers = itertools.count()


def _as_tensor(value):
    """A result as a tensor, a sparse one as the texts that describe it; None and operations stay."""
    if value is None or isinstance(value, Operation):
        return value
    if isinstance(value, SparseTensor):
        return sparse_functions.serialize_sparse(value)
    return convert_to_tensor(value)


def _as_given(stacked, value):
    """Stacked results as what each was."""
    if not isinstance(value, SparseTensor):
        return stacked
    result = sparse_functions.deserialize_sparse(stacked, value.dtype)
    rank = value.get_shape().ndims
    return result if rank is None else SparseTensor(array_ops.reshape(result.indices, [-1, rank + 1]), result.values,
                                                    array_ops.reshape(result.dense_shape, [rank + 1]))


def _stacked_loop(loop_fn, types, iters, parallel_iterations):
    """The flat results of ``loop_fn``, each stacked over the iterations; what is None, or an operation, stays None."""
    missing = []

    def body(i, *arrays):
        results = [_as_tensor(result) for result in nest.flatten(loop_fn(i))]
        if len(results) != len(types):
            raise ValueError(f"Number of expected outputs, {len(types)}, does not match the number of actual outputs, "
                             f"{len(results)}, from loop_fn")
        missing[:] = [result is None or isinstance(result, Operation) for result in results]
        waits = [result for result in results if isinstance(result, Operation)]
        with control_dependencies(waits):
            following = array_ops.identity(i + 1)
        return (following, *[array if absent else array.write(i, result)
                             for result, array, absent in zip(results, arrays, missing)])

    arrays = [tensor_array_ops.TensorArray(each, iters) for each in types]
    options = {} if parallel_iterations is None else {"parallel_iterations": parallel_iterations}
    end, *arrays = control_flow_ops.while_loop(lambda i, *_: i < iters, body, [0, *arrays], **options)
    stacked = [None if absent else array.stack() for array, absent in zip(arrays, missing)]
    count = iters if isinstance(iters, int) else tensor_util.constant_value(iters)
    for tensor in stacked:
        if tensor is not None and tensor.shape.ndims:
            tensor.set_shape(TensorShape([count]).concatenate(tensor.shape[1:]))
    return end, stacked


def for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None):
    """``loop_fn(0)``, ``loop_fn(1)``, ... ``loop_fn(iters - 1)``, stacked; its results are of ``loop_fn_dtypes``."""
    types = [dtypes.as_dtype(each).base_dtype for each in nest.flatten(loop_fn_dtypes)]
    _, results = _stacked_loop(loop_fn, types, iters, parallel_iterations)
    return nest.pack_sequence_as(loop_fn_dtypes, results) if results else None


def _traced(loop_fn):
    """(what ``loop_fn`` gives, the types of it), from a function of its own whose nodes nothing runs.

    None and operations have the type None.
    """
    given = []

    def trace(arguments):
        structure = loop_fn(*arguments)
        tensors = [_as_tensor(value) for value in nest.flatten(structure)]
        given.extend((structure, [getattr(tensor, "dtype", None) for tensor in tensors]))
        return [tensor for tensor in tensors if tensor is not None and not isinstance(tensor, Operation)]

    graph = get_default_graph()
    with variable_scope(get_variable_scope()):
        _weir.function(graph, f"pfor_{next(_numbers)}", trace, [dtypes.int32], [TensorShape([])])
    return given


def pfor(loop_fn, iters, parallel_iterations=None):
    """``loop_fn`` of every number below ``iters``, in no particular order, its results stacked.

    ``parallel_iterations`` is how many may run at once. An operation that ``loop_fn`` gives runs in every iteration.
    """
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError("parallel_iterations must be None or a positive integer")
    if parallel_iterations == 1:
        raise ValueError("Found parallel_iterations == 1. Use for_loop instead.")
    if "pfor_config" in inspect.signature(loop_fn).parameters:
        raise NotImplementedError("pfor: Weir runs iterations by themselves, and has no pfor_config to reduce over them.")
    with name_scope("pfor"):
        structure, types = _traced(loop_fn)
        flat = nest.flatten(structure)
        end, results = _stacked_loop(loop_fn, [each or dtypes.float32 for each in types], iters, parallel_iterations)
        results = [end.op if isinstance(value, Operation) else _as_given(result, value)
                   for value, result in zip(flat, results)]
        return nest.pack_sequence_as(structure, results)


def vectorized_map(fn, elems):
    """``fn`` of each element of ``elems`` along the first dimension, stacked: ``map_fn`` that finds the types itself."""
    tensors = nest.map_structure(convert_to_tensor, elems)
    first = nest.flatten(tensors)[0]
    count = first.shape[0].value if first.shape.ndims else None
    return pfor(lambda i: fn(nest.map_structure(lambda each: array_ops.gather(each, i), tensors)),
                array_ops.shape(first)[0] if count is None else count)


def _rows(use_pfor, loop_fn, types, count, parallel_iterations):
    if use_pfor:
        return pfor(loop_fn, count, parallel_iterations=parallel_iterations)
    return for_loop(loop_fn, types, count, parallel_iterations=parallel_iterations)


def jacobian(output, inputs, use_pfor=True, parallel_iterations=None):
    """The derivatives of every number of ``output`` by the inputs: tensors of the shape of output, then of the input."""
    flat_inputs = nest.flatten(inputs)
    static, shape = output.shape, array_ops.shape(output)
    flat = array_ops.reshape(output, [-1])
    count = flat.shape[0].value
    results = _rows(use_pfor, lambda i: gradient_ops.gradients(array_ops.gather(flat, i), flat_inputs),
                    [output.dtype] * len(flat_inputs), array_ops.shape(flat)[0] if count is None else count,
                    parallel_iterations)
    for i, part in enumerate(results):
        if part is not None:
            whole = array_ops.reshape(part, array_ops.concat([shape, array_ops.shape(part)[1:]], axis=0))
            whole.set_shape(static.concatenate(flat_inputs[i].shape))
            results[i] = whole
    return nest.pack_sequence_as(inputs, results)


def batch_jacobian(output, inp, use_pfor=True, parallel_iterations=None):
    """The derivatives of each example's outputs by the same example's input: [batch, *output, *input]."""
    shape = output.shape
    if not shape[0].is_compatible_with(inp.shape[0]):
        raise ValueError(f"Need first dimension of output shape ({shape}) and inp shape ({inp.shape}) to match.")
    if shape.is_fully_defined():
        batch = int(shape[0])
        row, out_shape = shape.num_elements() // batch, shape.as_list()
    else:
        out_shape = array_ops.shape(output)
        batch = out_shape[0]
        row = array_ops.size(output) // batch
    in_shape = array_ops.shape(inp)
    with control_dependencies([check_ops.assert_equal(batch, in_shape[0])]):
        flat = array_ops.reshape(output, [batch, row])
    rows = _rows(use_pfor, lambda i: gradient_ops.gradients(array_ops.gather(flat, i, axis=1), inp)[0], output.dtype, row,
                 parallel_iterations)
    if rows is None:
        return None
    rows = array_ops.transpose(array_ops.reshape(rows, [row, batch, -1]), [1, 0, 2])
    result = array_ops.reshape(rows, array_ops.concat([out_shape, in_shape[1:]], axis=0))
    result.set_shape(shape.concatenate(inp.shape[1:]))
    return result
