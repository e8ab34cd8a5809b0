"""tf.contrib.training.bucket: batches of elements that belong together, by queues."""

from functools import partial

from weir import errors
from weir import summary as _summary
from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.tensor_shape import TensorShape, as_shape
from weir.core.tensor_util import constant_value
from weir.ops import array_ops, math_ops
from weir.ops.control_flow_ops import cond, group, no_op
from weir.queues.queues import FIFOQueue, PaddingFIFOQueue
from weir.train import sparse_batches
from weir.train.input import _as_original_type, _converted, _keep, _as_tensor_list
from weir.train.queue_runner import QueueRunner, add_queue_runner

_INT32 = (-2**31, 2**31 - 1)
_ENDS = (errors.OutOfRangeError, errors.CancelledError)


def _sizes(batch_size, num_buckets):
    """The size of each bucket's batches, as numbers where they are known."""
    sizes = list(batch_size) if isinstance(batch_size, (list, tuple)) else [batch_size] * num_buckets
    if len(sizes) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    tensors = [convert_to_tensor(size, dtype=dtypes.int32, name="batch_size") for size in sizes]
    known = [constant_value(tensor) for tensor in tensors]
    return [tensor if value is None else int(value) for tensor, value in zip(tensors, known)]


def _element_shapes(tensors, shapes):
    if shapes is not None:
        return [as_shape(shape) for shape in shapes]
    for tensor in tensors:
        if tensor.shape.ndims is None:
            raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
    return [tensor.shape for tensor in tensors]


def bucket(tensors, which_bucket, batch_size, num_buckets, num_threads=1, capacity=32, bucket_capacities=None,
           shapes=None, dynamic_pad=False, allow_smaller_final_batch=False, keep_input=True, shared_name=None, name=None):
    """(bucket, batch): each element goes to the queue of ``which_bucket``, and batches come from one of them each."""
    if bucket_capacities is None:
        bucket_capacities = [capacity] * num_buckets
    if len(bucket_capacities) != num_buckets:
        raise ValueError(f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets "
                         f"({num_buckets}) elements.")
    tensor_list = _as_tensor_list(tensors)
    if not tensor_list:
        raise ValueError("Expected at least one tensor in bucket().")
    with name_scope(name, "bucket", tensor_list):
        tensor_list = _converted(tensor_list)
        keep_input = _keep(keep_input, enqueue_many=False)
        (tensor_list,), kinds = sparse_batches.store([tensor_list], False, keep_input)
        sizes = _sizes(batch_size, num_buckets)
        types = [tensor.dtype.base_dtype for tensor in tensor_list]
        shapes = _element_shapes(tensor_list, shapes)
        which_bucket = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queues = [make(capacity=bucket_capacities[i], dtypes=types, shapes=shapes,
                       shared_name=None if shared_name is None else f"{shared_name}_{i}", name=f"bucket_queue_{i}")
                  for i in range(num_buckets)]
        varies = allow_smaller_final_batch or isinstance(batch_size, (list, tuple)) or not isinstance(sizes[-1], int)
        rows = TensorShape([None if varies else sizes[-1]])
        # Sizes that are not known go through a queue that pads only.
        top = PaddingFIFOQueue(capacity=capacity, dtypes=[dtypes.int32] + types,
                               shapes=[TensorShape([])] + [rows.concatenate(shape) for shape in queues[0].shapes],
                               shared_name=shared_name, name="top_queue")

        def put_into(i):
            return queues[i].enqueue(tensor_list)

        def put():
            return group(*[cond(math_ops.equal(which_bucket, i), partial(put_into, i), no_op)
                           for i in range(num_buckets)], name="group_enqueues")

        known = constant_value(keep_input)
        enqueue = cond(keep_input, put, no_op) if known is None else put() if known else no_op()

        def batch_of(i):
            take = queues[i].dequeue_up_to if allow_smaller_final_batch else queues[i].dequeue_many
            taken = take(sizes[i], name=f"read_bucket_{i}")
            return taken if isinstance(taken, (list, tuple)) else [taken]

        to_top = [top.enqueue([array_ops.constant(i)] + list(batch_of(i)), name=f"enqueue_from_bucket_{i}")
                  for i in range(num_buckets)]
        # Each runner closes what the other takes from.
        add_queue_runner(QueueRunner(queues[0], to_top, close_op=top.close(),
                                     cancel_op=top.close(cancel_pending_enqueues=True),
                                     queue_closed_exception_types=_ENDS))
        add_queue_runner(QueueRunner(
            top, [enqueue] * num_threads, close_op=group(*[queue.close() for queue in queues]),
            cancel_op=group(*[queue.close(cancel_pending_enqueues=True) for queue in queues]),
            queue_closed_exception_types=_ENDS))
        for queue in queues:
            _summary.scalar(f"bucket/{queue.name}/size", math_ops.cast(top.size(), dtypes.float32))
        _summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full",
                        math_ops.cast(top.size(), dtypes.float32) * (1. / capacity))
        taken = top.dequeue(name="dequeue_top")
        return taken[0], _as_original_type(tensors, sparse_batches.restore(list(taken[1:]), kinds))


def bucket_by_sequence_length(input_length, tensors, batch_size, bucket_boundaries, num_threads=1, capacity=32,
                              bucket_capacities=None, shapes=None, dynamic_pad=False, allow_smaller_final_batch=False,
                              keep_input=True, shared_name=None, name=None):
    """(lengths, batch): batches of sequences of similar lengths."""
    tensor_list = _as_tensor_list(tensors)
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {bucket_boundaries}")
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for first, second in zip(bucket_boundaries, bucket_boundaries[1:]):
        if not isinstance(first, int) or not isinstance(second, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {first} and {second}")
        if first >= second:
            raise ValueError(f"Buckets must contain sequential increasing lengths, but saw: {first} before {second}")
    with name_scope(name, "bucket_by_sequence_length", [input_length] + tensor_list):
        input_length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        least, most = [_INT32[0], *bucket_boundaries], [*bucket_boundaries, _INT32[1]]
        inside = math_ops.logical_and(math_ops.less_equal(least, input_length), math_ops.less(input_length, most))
        which = math_ops.cast(math_ops.reduce_min(array_ops.where(inside)), dtypes.int32)
        _, taken = bucket([input_length] + tensor_list, which, batch_size, len(bucket_boundaries) + 1, num_threads,
                          capacity, bucket_capacities, None if shapes is None else [TensorShape([])] + list(shapes),
                          dynamic_pad, allow_smaller_final_batch, keep_input, shared_name)
        return taken[0], _as_original_type(tensors, list(taken[1:]))
