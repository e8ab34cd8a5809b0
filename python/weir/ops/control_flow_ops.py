"""Order and choice."""

from weir.framework.graph import IndexedSlices, control_dependencies, convert_to_tensor, name_scope
from weir.framework.op_functions import apply
from weir.framework.stack import get_default_graph as _graph
from weir.ops import public_names


_py_tuple = tuple  # Python's, before tf.tuple


def no_op(name=None):
    return apply("NoOp", (), {}, name)


def _flat(inputs):
    for item in inputs:
        if isinstance(item, (list, _py_tuple)):
            yield from _flat(item)
        elif item is not None:
            yield item


def group(*inputs, name=None, **kwargs):
    """One operation that runs after all inputs."""
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    items = [item.op if isinstance(item, IndexedSlices) or hasattr(item, "_handle") else item for item in _flat(inputs)]
    for item in items:
        if not hasattr(item, "device"):
            raise TypeError(f"Expected tf.group() expected Tensor arguments not '{item}' with type '{type(item)}'")
    graph = items[0].graph if items else _graph()
    graph._check_not_finalized()
    return graph._group(items, name)


def with_dependencies(dependencies, output_tensor, name=None):
    with name_scope(name, "control_dependency", list(dependencies) + [output_tensor]) as scope:
        with control_dependencies(dependencies):
            return apply("Identity", (convert_to_tensor(output_tensor),), {}, scope)


def tuple(tensors, name=None, control_inputs=None):
    """The tensors again, none of them before all are computed."""
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        waits = [t.op for t in tensors if t is not None] + list(control_inputs or ())
        if not waits:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*waits)
        result = []
        for tensor in tensors:
            if isinstance(tensor, IndexedSlices):
                result.append(IndexedSlices(with_dependencies([gate], tensor.values), tensor.indices, tensor.dense_shape))
            else:
                result.append(None if tensor is None else with_dependencies([gate], tensor))
        return result


def Assert(condition, data, summarize=None, name=None):
    return apply("Assert", (condition, list(data)), {"summarize": 3 if summarize is None else summarize}, name)


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    return apply("Print", (input_, list(data)),
                 {"message": message or "", "first_n": -1 if first_n is None else first_n,
                  "summarize": 3 if summarize is None else summarize}, name)


def tables_initializer(name="init_all_tables"):
    tables = _graph().get_collection("table_initializer")
    return group(*tables, name=name) if tables else no_op(name=name)


def initialize_all_tables(name="init_all_tables"):
    return tables_initializer(name)


class init_scope:
    """What is built inside runs on its own: without the control dependencies around it."""

    def __enter__(self):
        self._scope = control_dependencies(None)
        self._scope.__enter__()

    def __exit__(self, *exc):
        return self._scope.__exit__(*exc)


__all__ = public_names(globals())
