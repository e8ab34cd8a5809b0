"""Sparse tensors in batches: they wait in a map of the session, and their handles go through the queue."""

from weir.core import dtypes, stack
from weir.core.graph import control_dependencies
from weir.core.op_functions import apply
from weir.core.tensor_util import constant_value
from weir.ops import array_ops
from weir.ops.control_flow_ops import cond
from weir.ops.sparse_ops import SparseTensor, sparse_retain


class Kind:
    """What a component of the queue is: a tensor, or handles of sparse ones of some rank, kept by a map."""

    def __init__(self, dtype=None, rank=None, map_op=None):
        self.dtype, self.rank, self.map_op = dtype, rank, map_op

    is_sparse = property(lambda self: self.map_op is not None)


def _add(tensor, many, map_name):
    op = "AddManySparseToTensorsMap" if many else "AddSparseToTensorsMap"
    return apply(op, (tensor.indices, tensor.values, tensor.dense_shape), {"shared_name": map_name or ""}, None)


def _stored(tensor, enqueue_many, keep_input, map_name):
    """The handles of a sparse tensor, and the operation that knows the map."""
    if keep_input.shape.ndims == 1:
        kept = array_ops.gather(keep_input, tensor.indices[:, 0])
        handles = _add(sparse_retain(tensor, kept), True, map_name)
        return handles, handles.op
    known = constant_value(keep_input)
    if known is not None and known:
        handles = _add(tensor, enqueue_many, map_name)
        return handles, handles.op
    made = []

    def keep():
        made.append(_add(tensor, enqueue_many, map_name))
        return made[0]

    def drop():
        if enqueue_many:
            rows = array_ops.reshape(tensor.dense_shape[0:1], [1])
            return array_ops.fill(rows, array_ops.constant(-1, dtypes.int64))
        return array_ops.constant(-1, dtypes.int64)

    handles = cond(keep_input, keep, drop)
    if enqueue_many:
        handles.set_shape([None])
    return handles, made[0].op


def store(sources, enqueue_many, keep_input):
    """The sources with handles for sparse tensors, and the kinds of their components."""
    kinds = [Kind() for _ in sources[0]]
    lists = []
    for number, source in enumerate(sources):
        stored = []
        for kind, tensor in zip(kinds, source):
            is_sparse = isinstance(tensor, SparseTensor)
            if number and is_sparse != kind.is_sparse:
                raise ValueError(f"Inconsistent SparseTensors list: {sources[0]} vs. {source}")
            if is_sparse:
                handles, op = _stored(tensor, enqueue_many, keep_input, kind.map_op.name if kind.map_op else None)
                if not number:
                    rank = tensor.dense_shape.shape.with_rank(1)[0].value
                    kind.dtype, kind.map_op = tensor.dtype, op
                    kind.rank = None if rank is None else rank - 1 if enqueue_many else rank
                tensor = array_ops.expand_dims(handles, [-1])
            stored.append(tensor)
        lists.append(stored)
    return lists, kinds


def restore(tensors, kinds):
    """The batch with sparse tensors for their handles. All of them are taken when one is: handles serve once."""
    if not any(kind.is_sparse for kind in kinds):
        return tensors
    restored = []
    for tensor, kind in zip(tensors, kinds):
        if kind.is_sparse:
            name = kind.map_op.get_attr("shared_name") or kind.map_op.name
            name = name.decode() if isinstance(name, bytes) else name
            with stack.get_default_graph().colocate_with(kind.map_op):
                parts = apply("TakeManySparseFromTensorsMap", (array_ops.squeeze(tensor, [1]),),
                              {"dtype": kind.dtype, "shared_name": name}, None)
            indices, values, shape = parts
            rank = None if kind.rank is None else kind.rank + 1
            indices.set_shape([None, rank])
            shape.set_shape([rank])
            tensor = SparseTensor(indices, values, shape)
        restored.append(tensor)
    with control_dependencies([t.values if isinstance(t, SparseTensor) else t for t in restored]):
        return [SparseTensor(array_ops.identity(t.indices), array_ops.identity(t.values),
                             array_ops.identity(t.dense_shape)) if isinstance(t, SparseTensor)
                else array_ops.identity(t) for t in restored]
