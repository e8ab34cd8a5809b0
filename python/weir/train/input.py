"""tf.train's input by queues: producers, and batches of what comes from them.

The nodes are made by C++ (include/weir/input.h); dictionaries, sparse tensors and runners are Python's."""

from weir import _weir
from weir.core import dtypes, stack
from weir.core.graph import GraphKeys, Tensor, convert_n_to_tensor, convert_to_tensor, name_scope
from weir.core.tensor_shape import as_shape
from weir.core.variables import Variable
from weir.ops import array_ops, math_ops
from weir.ops.sparse_ops import SparseTensor
from weir.queues.queues import QueueBase
from weir.train import sparse_batches
from weir.train.queue_runner import QueueRunner, add_queue_runner


def match_filenames_once(pattern, name=None):
    """The files that match, looked for once: a local variable."""
    with name_scope(name, "matching_filenames", [pattern]) as name:
        return Variable(_matching_files(pattern), trainable=False, validate_shape=False,
                        collections=[GraphKeys.LOCAL_VARIABLES], name=name)


def _matching_files(pattern):
    return _weir.apply(stack.get_default_graph(), "MatchingFiles", (pattern,), {}, None)


def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor, ``num_epochs`` times; then OutOfRangeError. They are counted by a local variable."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    return _weir.limit_epochs(stack.get_default_graph(), tensor, num_epochs, name)


def _run_queue(queue, parts):
    enqueue_ops, close_op, cancel_op = parts
    add_queue_runner(QueueRunner(queue, enqueue_ops, close_op=close_op, cancel_op=cancel_op))
    return queue


def _fifo(handle, dtype, shape):
    return QueueBase([dtype], [shape], None, handle)


def input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, capacity=32,
                   shared_name=None, summary_name=None, name=None, cancel_op=None):
    """A queue of the rows of ``input_tensor``."""
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        _check_epochs(num_epochs)
        handle, parts = _weir.input_producer(stack.get_default_graph(), input_tensor, element_shape.as_list(),
                                             num_epochs, shuffle, seed, capacity, shared_name, summary_name, name,
                                             cancel_op)
        return _run_queue(_fifo(handle, input_tensor.dtype.base_dtype, element_shape), parts)


def _check_epochs(num_epochs):
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")


def string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
                          name=None, cancel_op=None):
    """A queue of strings, such as names of files."""
    if not isinstance(string_tensor, (Tensor, _weir.Variable)) and not len(string_tensor):
        raise ValueError("string_input_producer requires a non-null input tensor")
    _check_epochs(num_epochs)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtype=dtypes.string)
        handle, parts = _weir.string_input_producer(stack.get_default_graph(), strings, num_epochs, shuffle, seed,
                                                    capacity, shared_name, scope, cancel_op)
        return _run_queue(_fifo(handle, dtypes.string, ()), parts)


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """A queue of the numbers below ``limit``."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(math_ops.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope)


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
                         name=None):
    """A row of each tensor."""
    with name_scope(name, "input_producer", tensor_list):
        tensor_list = convert_n_to_tensor(tensor_list)
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        rows = array_ops.shape(tensor_list[0])[0]
        queue = range_input_producer(rows, num_epochs=num_epochs, shuffle=shuffle, seed=seed, capacity=capacity,
                                     shared_name=shared_name)
        row = queue.dequeue()
        return [array_ops.gather(tensor, row) for tensor in tensor_list]


# Batches.

def _as_tensor_list(tensors):
    return [tensors[key] for key in sorted(tensors, key=str)] if isinstance(tensors, dict) else list(tensors)


def _as_tensor_list_list(tensors_list):
    """The tensors of each source as a list."""
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(tensors_list[0], dict) and any(set(t) != set(tensors_list[0]) for t in tensors_list):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [_as_tensor_list(tensors) for tensors in tensors_list]


def _as_original_type(original, tensors):
    """The batch in the form in which the tensors were given."""
    if isinstance(original, dict):
        return dict(zip(sorted(original, key=str), tensors))
    return tensors[0] if len(tensors) == 1 else tensors


def _keep(keep_input, enqueue_many):
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def _shapes(shapes):
    if shapes is None:
        return None
    if shapes and all(shape is None or isinstance(shape, int) for shape in shapes):
        shapes = [shapes]
    return [as_shape(shape).as_list() for shape in shapes]


def _converted(tensors):
    return [tensor if isinstance(tensor, SparseTensor) else convert_to_tensor(tensor) for tensor in tensors]


def _batched(sources, original, usual_name, batch_size, keep_input, num_threads, capacity, enqueue_many, shapes,
             dynamic_pad, allow_smaller_final_batch, shared_name, name, min_after_dequeue=None, seed=None):
    if not sources[0]:
        raise ValueError("Expected at least one tensor in batch().")
    if min_after_dequeue is not None and capacity <= min_after_dequeue:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}.")
    with name_scope(name, usual_name, [t for source in sources for t in source] + [keep_input]) as scope:
        sources = [_converted(source) for source in sources]
        keep_input = _keep(keep_input, enqueue_many)
        sources, kinds = sparse_batches.store(sources, enqueue_many, keep_input)
        _check_sources(sources, shapes, enqueue_many, dynamic_pad)
        tensors, handle, parts = _weir.make_batch(
            stack.get_default_graph(), sources, keep_input, batch_size, num_threads, capacity, enqueue_many,
            _shapes(shapes), dynamic_pad, allow_smaller_final_batch, shared_name, scope, min_after_dequeue, seed)
        _run_queue(QueueBase([t.dtype for t in tensors], None, None, handle), parts)
        return _as_original_type(original, sparse_batches.restore(list(tensors), kinds))


def _check_sources(sources, shapes, enqueue_many, dynamic_pad):
    """Mistakes that have exceptions of their own in Python."""
    types = [[t.dtype for t in source] for source in sources]
    for other in types:
        if other != types[0]:
            raise TypeError("Expected types to be consistent: "
                            f"{', '.join(t.name for t in types[0])} vs. {', '.join(t.name for t in other)}.")
    for tensor in [t for source in sources for t in source] if shapes is None else []:
        if tensor.shape.ndims is None:
            raise ValueError(f"Cannot infer Tensor's rank: {tensor}")


def batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
          allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches of what the tensors are, run after run of the threads that compute them."""
    return maybe_batch(tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
                       allow_smaller_final_batch, shared_name, name)


def maybe_batch(tensors, keep_input, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None,
                dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None):
    """The same of elements for which ``keep_input`` is true."""
    return _batched([_as_tensor_list(tensors)], tensors, "batch", batch_size, keep_input, num_threads, capacity, enqueue_many,
                    shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name)


def batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
               allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches from several sources, each with a thread of its own."""
    return maybe_batch_join(tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                            allow_smaller_final_batch, shared_name, name)


def maybe_batch_join(tensors_list, keep_input, batch_size, capacity=32, enqueue_many=False, shapes=None,
                     dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None):
    return _batched(_as_tensor_list_list(tensors_list), tensors_list[0], "batch_join", batch_size, keep_input, 1, capacity,
                    enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name)


def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, enqueue_many=False,
                  shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches in random order, drawn from more than ``min_after_dequeue`` elements."""
    return maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many,
                               shapes, allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, keep_input, num_threads=1, seed=None,
                        enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    return _batched([_as_tensor_list(tensors)], tensors, "shuffle_batch", batch_size, keep_input, num_threads, capacity,
                    enqueue_many, shapes, False, allow_smaller_final_batch, shared_name, name, min_after_dequeue, seed)


def shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, seed=None, enqueue_many=False,
                       shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    return maybe_shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many,
                                    shapes, allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, keep_input, seed=None,
                             enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None,
                             name=None):
    return _batched(_as_tensor_list_list(tensors_list), tensors_list[0], "shuffle_batch_join", batch_size, keep_input, 1, capacity,
                    enqueue_many, shapes, False, allow_smaller_final_batch, shared_name, name, min_after_dequeue, seed)
