"""tf.data.Iterator."""

from weir import logging
from weir.core import dtypes, stack
from weir.core.graph import Tensor, colocate_with, convert_to_tensor
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.data import nest, structure

_MANY_CALLS = 32
_COLLECTION = "iterators"


class Iterator:
    """Where a program gets the elements of a data set from."""

    def __init__(self, iterator_resource, initializer, output_types, output_shapes, output_classes):
        self._element_spec = structure.from_legacy(output_types, output_shapes, output_classes)
        self._setup(iterator_resource, initializer)

    def _setup(self, resource, initializer):
        self._iterator_resource, self._initializer = resource, initializer
        self._string_handle = apply("IteratorToStringHandle", (resource,), {}, None)
        self._get_next_calls = 0
        stack.get_default_graph().add_to_collection(_COLLECTION, resource)

    @classmethod
    def _of(cls, resource, initializer, spec):
        iterator = cls.__new__(cls)
        iterator._element_spec = spec
        iterator._setup(resource, initializer)
        return iterator

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator without a data set: ``make_initializer`` gives it one after the other."""
        spec = _declared(output_types, output_shapes, output_classes)
        resource = apply("IteratorV2", (), {"container": "", "shared_name": shared_name or "", **_flat(spec)}, None)
        return Iterator._of(resource, None, spec)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator whose ``string_handle()`` is fed."""
        spec = _declared(output_types, output_shapes, output_classes)
        handle = convert_to_tensor(string_handle, dtype=dtypes.string)
        resource = apply("IteratorFromStringHandleV2", (handle,), _flat(spec), None)
        return Iterator._of(resource, None, spec)

    @property
    def initializer(self):
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that makes the iterator begin at the first element of ``dataset``."""
        own, other = self._element_spec, dataset.element_spec
        try:
            nest.assert_same_structure(own, other)
        except (TypeError, ValueError):
            raise TypeError(f"Expected output types {self.output_types!r} but got dataset with output types "
                            f"{structure.types(other)!r}.") from None
        if structure.types(own) != structure.types(other):
            raise TypeError(f"Expected output types {self.output_types!r} but got dataset with output types "
                            f"{structure.types(other)!r}.")
        if structure.classes(own) != structure.classes(other):
            raise TypeError(f"Expected output classes {self.output_classes!r} but got dataset with output classes "
                            f"{structure.classes(other)!r}.")
        for ours, theirs in zip(nest.flatten(own), nest.flatten(other)):
            if not ours.is_compatible_with(theirs):
                raise TypeError(f"Expected output shapes compatible with {self.output_shapes!r} but got dataset with "
                                f"output shapes {structure.shapes(other)!r}.")
        with colocate_with(self._iterator_resource):
            return apply("MakeIterator", (dataset._apply_options()._variant_tensor, self._iterator_resource), {}, name)

    def get_next(self, name=None):
        """The next element, as tensors that are another element in every run."""
        self._get_next_calls += 1
        if self._get_next_calls == _MANY_CALLS + 1:
            logging.warning("An unusually high number of `Iterator.get_next()` calls was detected. This often indicates "
                            "that `Iterator.get_next()` is being called inside a training loop, which makes the program "
                            "slower and slower: call it once, before the loop.")
        tensors = apply("IteratorGetNext", (self._iterator_resource,), _flat(self._element_spec), name)
        return structure.from_tensors(self._element_spec, _as_list(tensors))

    def _get_next_as_optional(self):
        return apply("IteratorGetNextAsOptional", (self._iterator_resource,), _flat(self._element_spec), None)

    def string_handle(self, name=None):
        if name is None:
            return self._string_handle
        return apply("IteratorToStringHandle", (self._iterator_resource,), {}, name)

    element_spec = property(lambda self: self._element_spec)
    output_types = property(lambda self: structure.types(self._element_spec))
    output_shapes = property(lambda self: structure.shapes(self._element_spec))
    output_classes = property(lambda self: structure.classes(self._element_spec))


def _declared(output_types, output_shapes, output_classes):
    types = nest.map_structure(dtypes.as_dtype, output_types)
    if output_shapes is None:
        shapes = nest.map_structure(lambda _: TensorShape(None), types)
    else:
        shapes = nest.pack_sequence_as(types, [TensorShape(s) for s in nest.flatten_up_to(types, output_shapes)])
    if output_classes is None:
        output_classes = nest.map_structure(lambda _: Tensor, types)
    return structure.from_legacy(types, shapes, output_classes)


def _flat(spec):
    return {"output_types": structure.flat_types(spec), "output_shapes": structure.flat_shapes(spec)}


def _as_list(tensors):
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
