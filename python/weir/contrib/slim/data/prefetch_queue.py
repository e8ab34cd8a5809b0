"""A queue of batches that are ready when they are wanted."""

from weir import names as _names, summary as _summary
from weir.core.graph import name_scope as _name_scope
from weir.ops import math_ops as _math_ops


def prefetch_queue(tensors, capacity=8, num_threads=1, dynamic_pad=False, shared_name=None, name=None):
    """A queue that threads keep filled with ``tensors``, a list or a dictionary."""
    keys = sorted(tensors) if isinstance(tensors, dict) else None
    items = [tensors[key] for key in keys] if keys is not None else list(tensors)
    with _name_scope(name, "prefetch_queue", items):
        queue_class = _names.find("tf.PaddingFIFOQueue" if dynamic_pad else "tf.FIFOQueue")
        queue = queue_class(capacity=capacity, dtypes=[item.dtype for item in items],
                            shapes=[item.get_shape() for item in items], names=keys, shared_name=shared_name)
        train = _names.find("tf.train")
        train.add_queue_runner(train.QueueRunner(queue, [queue.enqueue(tensors)] * num_threads))
        _summary.scalar(f"fraction_of_{capacity}_full", _math_ops.cast(queue.size(), "float32") * (1.0 / capacity))
        return queue
