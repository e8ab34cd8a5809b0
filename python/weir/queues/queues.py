"""tf.queue: queues of tuples of tensors, which runs put in and other runs take out. See docs/queues.md."""

from functools import reduce
from hashlib import md5

from weir.core import dtypes as _dtypes
from weir.core.graph import convert_to_tensor, get_seed, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import Dimension, TensorShape, as_shape, unknown_shape
from weir.core.tensor_util import constant_value
from weir.queues.arguments import name_list, scope_values, shape_list, type_list


def _common_shape(a, b):
    """What two shapes both say."""
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return unknown_shape()
    return TensorShape([x if x == y else None for x, y in zip(a.as_list(), b.as_list())])


class QueueBase:
    """A queue: the tensor that refers to it, and what its elements look like."""

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes = [_dtypes.as_dtype(t) for t in dtypes]
        if shapes is None:
            self._shapes = [unknown_shape() for _ in self._dtypes]
        elif len(shapes) != len(dtypes):
            raise ValueError("Queue shapes must have the same length as dtypes")
        else:
            self._shapes = [as_shape(shape) for shape in shapes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index, queues):
        """The queue ``queues[index]``, where ``index`` is a tensor."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(q.dtypes == first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(q.names == first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [reduce(_common_shape, parts) for parts in zip(*(q.shapes for q in queues))]
        chosen = apply("_SelectHandle", (convert_to_tensor(index, dtype=_dtypes.int32),
                                         [q.queue_ref for q in queues]), {}, "GatherV2")
        return QueueBase(first.dtypes, shapes, first.names, chosen)

    queue_ref = property(lambda self: self._queue_ref)
    name = property(lambda self: self._queue_ref.op.name)
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes)
    names = property(lambda self: self._names)

    def _apply(self, op, inputs, attrs, name):
        """The form of an operation for this kind of handle."""
        is_resource = self._queue_ref.dtype.base_dtype == _dtypes.resource
        return apply(op + "V2" if is_resource else op, (self._queue_ref, *inputs), attrs, name)

    def _components(self, vals):
        """The values to put in, in the order of the components."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError(f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                                 f"({sorted(vals)}), Queue: ({sorted(self._names)})")
            vals = [vals[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, (list, tuple)):
            vals = [vals]
        return [convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
                for i, (value, dtype) in enumerate(zip(vals, self._dtypes))]

    def enqueue(self, vals, name=None):
        """Puts one element in; waits while the queue is full."""
        with name_scope(name, f"{self._name}_enqueue", scope_values(vals)) as scope:
            components = self._components(vals)
            for component, shape in zip(components, self._shapes):
                component.get_shape().assert_is_compatible_with(shape)
            return self._apply("QueueEnqueue", (components,), {}, scope)

    def enqueue_many(self, vals, name=None):
        """Puts the rows of the values in, one element each."""
        with name_scope(name, f"{self._name}_EnqueueMany", scope_values(vals)) as scope:
            components = self._components(vals)
            count = components[0].get_shape().with_rank_at_least(1)[0]
            for component, shape in zip(components, self._shapes):
                component_shape = component.get_shape().with_rank_at_least(1)
                count = count.merge_with(component_shape[0])
                component_shape[1:].assert_is_compatible_with(shape)
            return self._apply("QueueEnqueueMany", (components,), {}, scope)

    def _taken(self, op, inputs, batch, name):
        tensors = self._apply(op, inputs, {"component_types": self._dtypes}, name)
        if op == "QueueDequeueMany":
            batch = TensorShape([Dimension(constant_value(tensors[0].op.inputs[1]))])
        for tensor, shape in zip(tensors, self._shapes):
            tensor.set_shape(shape if batch is None else batch.concatenate(shape))
        if self._names:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else list(tensors)

    def dequeue(self, name=None):
        """Takes one element out; waits until there is one."""
        return self._taken("QueueDequeue", (), None, name or f"{self._name}_Dequeue")

    def dequeue_many(self, n, name=None):
        """Takes ``n`` elements out, as one batch; waits until there are as many."""
        return self._taken("QueueDequeueMany", (n,), None, name or f"{self._name}_DequeueMany")

    def dequeue_up_to(self, n, name=None):
        """The same, but of a closed queue fewer elements are enough, when there are any."""
        return self._taken("QueueDequeueUpTo", (n,), TensorShape([None]), name or f"{self._name}_DequeueUpTo")

    def close(self, cancel_pending_enqueues=False, name=None):
        """Lets nothing further in. What waits to be put in is let in before that, or refused if so wished."""
        return self._apply("QueueClose", (), {"cancel_pending_enqueues": cancel_pending_enqueues},
                           name or f"{self._name}_Close")

    def is_closed(self, name=None):
        return self._apply("QueueIsClosed", (), {}, name or f"{self._name}_Is_Closed")

    def size(self, name=None):
        return self._apply("QueueSize", (), {}, name or f"{self._name}_Size")


def _make(op, types, shapes, capacity, shared_name, name, **attrs):
    return apply(op, (), {"component_types": types, "shapes": shapes or [], "capacity": capacity,
                          "shared_name": shared_name or "", **attrs}, name)


class FIFOQueue(QueueBase):
    """First in, first out."""

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        dtypes = type_list(dtypes)
        shapes = shape_list(shapes)
        names = name_list(names, dtypes)
        super().__init__(dtypes, shapes, names, _make("FIFOQueueV2", dtypes, shapes, capacity, shared_name, name))


class RandomShuffleQueue(QueueBase):
    """Gives elements in random order. ``min_after_dequeue`` of them stay until it is closed, so that they mix."""

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None,
                 name="random_shuffle_queue"):
        dtypes = type_list(dtypes)
        shapes = shape_list(shapes)
        names = name_list(names, dtypes)
        seed1, seed2 = get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        elif seed is None and shared_name is not None:
            # Of a queue that graphs share the seed may not depend on what else is in a graph.
            seed2 = int(md5((str(seed1) + shared_name).encode("utf-8")).hexdigest()[:8], 16) & 0x7FFFFFFF
        super().__init__(dtypes, shapes, names,
                         _make("RandomShuffleQueueV2", dtypes, shapes, capacity, shared_name, name,
                               min_after_dequeue=min_after_dequeue, seed=seed1, seed2=seed2))


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue of elements whose sizes differ: batches are as large as their largest element needs."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        dtypes = type_list(dtypes)
        shapes = shape_list(shapes, unknown_dims=True)
        names = name_list(names, dtypes)
        if len(dtypes) != len(shapes):
            raise ValueError(f"Shapes must be provided for all components, but received {len(dtypes)} dtypes and "
                             f"{len(shapes)} shapes.")
        super().__init__(dtypes, shapes, names,
                         _make("PaddingFIFOQueueV2", dtypes, shapes, capacity, shared_name, name))


class PriorityQueue(QueueBase):
    """Gives the element with the smallest priority first. The priority, an int64, is the first component."""

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        types = type_list(types)
        shapes = shape_list(shapes)
        queue_ref = _make("PriorityQueueV2", types, shapes, capacity, shared_name, name)
        super().__init__([_dtypes.int64] + types, [()] + shapes if shapes else shapes, names, queue_ref)
