"""Staging areas: tuples of tensors that one step leaves for the next."""

from weir.core import dtypes as _dtypes
from weir.core import stack
from weir.core.graph import colocate_with, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape, unknown_shape
from weir.ops.array_ops import identity
from weir.ops.control_flow_ops import no_op
from weir.queues.arguments import scope_values


class BaseStagingArea:
    """What both kinds share. The area is known by its name: there is no handle."""

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, capacity=0, memory_limit=0):
        if shared_name is None:
            self._name = stack.get_default_graph().unique_name(type(self).__name__)
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError("shared_name must be a string")
        self._dtypes = [_dtypes.as_dtype(t) for t in dtypes]
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(dtypes):
                raise ValueError(f"StagingArea {what} must be the same length as dtypes")
        self._shapes = ([unknown_shape() for _ in self._dtypes] if shapes is None
                        else [TensorShape(shape) for shape in shapes])
        self._names = names
        self._capacity, self._memory_limit = capacity, memory_limit
        with name_scope(f"{self._name}_root"):
            self._coloc_op = no_op()  # what puts in and takes out stands with this

    name = property(lambda self: self._name)
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes)
    names = property(lambda self: self._names)
    capacity = property(lambda self: self._capacity)
    memory_limit = property(lambda self: self._memory_limit)

    def _apply(self, op, inputs, dtypes, name, **attrs):
        return apply(op, inputs, {"dtypes": dtypes, "shared_name": self._name, "capacity": self._capacity,
                                  "memory_limit": self._memory_limit, **attrs}, name)

    def _check_put_dtypes(self, vals, indices=None):
        """(tensors, their indices)"""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(vals).issubset(self._names):
                raise ValueError(f"Keys in dictionary to put do not match names of staging area. Dictionary: "
                                 f"({sorted(vals)}), Queue: ({sorted(self._names)})")
            indices = [i for i, name in enumerate(self._names) if name in vals]
            vals = [vals[self._names[i]] for i in indices]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            if indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            if len(indices) != len(vals):
                raise ValueError(f"Number of indices '{len(indices)}' doesn't match number of values '{len(vals)}'")
            if not isinstance(vals, (list, tuple)):
                vals, indices = [vals], [0]
        if len(vals) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(vals)}' vs '{len(self._dtypes)}'")
        tensors = []
        for value, i in zip(vals, indices):
            if value.dtype != self._dtypes[i]:
                raise ValueError(f"Datatypes do not match. '{value.dtype}' != '{self._dtypes[i]}'")
            value.get_shape().assert_is_compatible_with(self._shapes[i])
            tensors.append(convert_to_tensor(value, dtype=self._dtypes[i], name=f"component_{i}"))
        return tensors, list(indices)

    def _create_device_transfers(self, tensors):
        """Copies to the device of the current scope, when that is another than the area's."""
        tensors = list(tensors) if isinstance(tensors, (tuple, list)) else [tensors]
        if no_op().device != self._coloc_op.device:
            tensors = [identity(t) for t in tensors]
        return tensors

    def _get_return_value(self, tensors, indices):
        tensors = self._create_device_transfers(tensors)
        for tensor, i in zip(tensors, indices):
            tensor.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: tensor for tensor, i in zip(tensors, indices)}
        return tensors


class StagingArea(BaseStagingArea):
    """First in, first out."""

    def put(self, values, name=None):
        with name_scope(name, f"{self._name}_put", scope_values(values)) as scope:
            if not isinstance(values, (list, tuple, dict)):
                values = [values]
            tensors, _ = self._check_put_dtypes(values, list(range(len(values))))
            with colocate_with(self._coloc_op):
                return self._apply("Stage", (tensors,), [t.dtype.base_dtype for t in tensors], scope)

    def get(self, name=None):
        with colocate_with(self._coloc_op):
            tensors = self._apply("Unstage", (), self._dtypes, name or f"{self._name}_get")
        return self._get_return_value(tensors, range(len(self._dtypes)))

    def peek(self, index, name=None):
        with colocate_with(self._coloc_op):
            tensors = self._apply("StagePeek", (index,), self._dtypes, name or f"{self._name}_peek")
        return self._get_return_value(tensors, range(len(self._dtypes)))

    def size(self, name=None):
        return self._apply("StageSize", (), self._dtypes, name or f"{self._name}_size")

    def clear(self, name=None):
        return self._apply("StageClear", (), self._dtypes, name or f"{self._name}_clear")


class MapStagingArea(BaseStagingArea):
    """Under int64 keys, in any order or, when ``ordered``, the smallest first. Tuples may come and go in parts."""

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, ordered=False, capacity=0, memory_limit=0):
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._ordered = ordered

    def _map(self, op, inputs, dtypes, name, **attrs):
        return self._apply(("Ordered" if self._ordered else "") + op, inputs, dtypes, name, **attrs)

    def put(self, key, vals, indices=None, name=None):
        with name_scope(name, f"{self._name}_put", scope_values(vals)) as scope:
            tensors, indices = self._check_put_dtypes(vals, indices)
            with colocate_with(self._coloc_op):
                return self._map("MapStage", (key, indices, tensors), self._dtypes, scope)

    def _get_indices_and_dtypes(self, indices=None):
        if indices is None:
            indices = list(range(len(self._dtypes)))
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if not indices:
            raise ValueError("Empty indices")
        if all(isinstance(i, str) for i in indices):
            if self._names is None:
                raise ValueError(f"String indices provided '{indices}', but this Staging Area was not created with "
                                 "names.")
            for name in indices:
                if name not in self._names:
                    raise ValueError(f"Named index '{name}' not in Staging Area names '{self._names}'")
            indices = [self._names.index(name) for name in indices]
        elif not all(isinstance(i, int) for i in indices):
            raise TypeError(f"Mixed types in indices '{indices}'. May only be str or int")
        return indices, [self._dtypes[i] for i in indices]

    def _taken(self, op, inputs, indices, dtypes, name):
        with colocate_with(self._coloc_op):
            return self._map(op, (*inputs, indices), dtypes, name)

    def peek(self, key, indices=None, name=None):
        indices, dtypes = self._get_indices_and_dtypes(indices)
        return self._get_return_value(self._taken("MapPeek", (key,), indices, dtypes, name or f"{self._name}_pop"),
                                      indices)

    def get(self, key=None, indices=None, name=None):
        """(key, values); without a key those of any key, or of the smallest."""
        indices, dtypes = self._get_indices_and_dtypes(indices)
        if key is not None:
            tensors = self._taken("MapUnstage", (key,), indices, dtypes, name or f"{self._name}_get")
            return key, self._get_return_value(tensors, indices)
        key, tensors = self._taken("MapUnstageNoKey", (), indices, dtypes, name or f"{self._name}_get_nokey")
        return self._create_device_transfers(key)[0], self._get_return_value(tensors, indices)

    def size(self, name=None):
        return self._map("MapSize", (), self._dtypes, name or f"{self._name}_size")

    def incomplete_size(self, name=None):
        return self._map("MapIncompleteSize", (), self._dtypes, name or f"{self._name}_incomplete_size")

    def clear(self, name=None):
        return self._map("MapClear", (), self._dtypes, name or f"{self._name}_clear")
