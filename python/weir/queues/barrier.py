"""A barrier: values that come in parts, under keys, and can be taken when they are complete."""

from collections import namedtuple

from weir.core.op_functions import apply
from weir.core.tensor_shape import Dimension, TensorShape, unknown_shape
from weir.core.tensor_util import constant_value
from weir.queues.arguments import shape_list, type_list


_Taken = namedtuple("BarrierTakeMany", ["indices", "keys", "values"])


class Barrier:
    """``insert_many`` gives keys the values of one component; ``take_many`` takes those that have all components."""

    def __init__(self, types, shapes=None, shared_name=None, name="barrier"):
        self._types = type_list(types)
        if shapes is None:
            self._shapes = [unknown_shape() for _ in self._types]
        else:
            self._shapes = shape_list(shapes)
            for i, shape in enumerate(self._shapes):
                if shape.num_elements() == 0:
                    raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {i}")
        self._barrier_ref = apply("Barrier", (), {"component_types": self._types, "shapes": self._shapes,
                                                  "shared_name": shared_name or ""}, name)
        self._name = self._barrier_ref.op.name.split("/")[-1]

    barrier_ref = property(lambda self: self._barrier_ref)
    name = property(lambda self: self._barrier_ref.op.name)

    def insert_many(self, component_index, keys, values, name=None):
        return apply("BarrierInsertMany", (self._barrier_ref, keys, values), {"component_index": component_index},
                     name or f"{self._name}_BarrierInsertMany")

    def take_many(self, num_elements, allow_small_batch=False, timeout=None, name=None):
        """(numbers of the insertions that made the keys known, keys, list of values)."""
        parts = apply("BarrierTakeMany", (self._barrier_ref, num_elements),
                      {"component_types": self._types, "allow_small_batch": allow_small_batch,
                       "timeout_ms": -1 if timeout is None else timeout}, name or f"{self._name}_BarrierTakeMany")
        outputs = parts[0].op.outputs
        batch = TensorShape([None if allow_small_batch else Dimension(constant_value(outputs[0].op.inputs[1]))])
        outputs[0].set_shape(batch)
        outputs[1].set_shape(batch)
        for output, shape in zip(outputs[2:], self._shapes):
            output.set_shape(batch.concatenate(shape))
        return _Taken(outputs[0], outputs[1], list(outputs[2:]))

    def close(self, cancel_pending_enqueues=False, name=None):
        return apply("BarrierClose", (self._barrier_ref,), {"cancel_pending_enqueues": cancel_pending_enqueues},
                     name or f"{self._name}_BarrierClose")

    def ready_size(self, name=None):
        return apply("BarrierReadySize", (self._barrier_ref,), {}, name or f"{self._name}_BarrierReadySize")

    def incomplete_size(self, name=None):
        return apply("BarrierIncompleteSize", (self._barrier_ref,), {}, name or f"{self._name}_BarrierIncompleteSize")
