"""Order and choice."""

from weir import _weir, nest
from weir.framework.graph import IndexedSlices, Operation, Tensor, control_dependencies, convert_to_tensor, name_scope
from weir.framework.op_functions import apply
from weir.framework.stack import get_default_graph as _graph
from weir.framework.variables import Variable
from weir.ops import public_names
from weir.ops.tensor_array_ops import TensorArray as _TensorArray, flow_of as _flow_of, like as _like

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


def _unpack_if_singleton(value):
    return value[0] if isinstance(value, (list, _py_tuple)) and len(value) == 1 else value


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """What ``true_fn()`` gives when ``pred`` is true, else what ``false_fn()`` gives. Only one of them runs."""
    if fn1 is not None:
        if true_fn is not None:
            raise TypeError("cond(): true_fn and fn1 may not be set simultaneously.")
        true_fn = fn1
    elif true_fn is None:
        raise TypeError("cond(): true_fn argument required")
    if fn2 is not None:
        if false_fn is not None:
            raise TypeError("cond(): false_fn and fn2 may not be set simultaneously.")
        false_fn = fn2
    elif false_fn is None:
        raise TypeError("cond(): false_fn argument required")
    if not callable(true_fn):
        raise TypeError("true_fn must be callable.")
    if not callable(false_fn):
        raise TypeError("false_fn must be callable.")
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    pred = convert_to_tensor(pred, name="pred")
    if pred.dtype.base_dtype.name != "bool":
        raise TypeError(f"Input 'pred' of 'Switch' Op has type {pred.dtype.base_dtype.name} that does not match expected "
                        "type of bool.")
    results = []

    def tensor(value):
        if isinstance(value, Operation):  # what stands for it is the predicate, once it has run
            return with_dependencies([value], pred)
        return _flow_of(value)

    def branch(function, label):
        def run():
            result = function()
            if result is None:
                raise ValueError(f"{label} must have a return value.")
            results.append(result if strict else _unpack_if_singleton(result))
            if len(results) == 2:
                nest.assert_same_structure(*results)
            return [tensor(value) for value in nest.flatten(results[-1])]

        return run

    graph = _graph()
    graph._check_not_finalized()
    flat = _weir.cond(graph, pred, branch(true_fn, "true_fn"), branch(false_fn, "false_fn"), name)
    return _pack_as(results[0], flat)


def _pack_as(structure, flat):
    """Tensors in the form of ``structure``, with arrays where that has arrays."""
    return nest.pack_sequence_as(structure, [_like(leaf, value) for leaf, value in zip(nest.flatten(structure), flat)])


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               name=None, maximum_iterations=None, return_same_structure=False):
    """Repeats ``body(*loop_vars)`` while ``cond(*loop_vars)`` is true, and gives the last values."""
    if not loop_vars:
        raise ValueError("No loop variables provided")
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    loop_vars = list(loop_vars)
    if shape_invariants is not None:
        nest.assert_same_structure(loop_vars, list(shape_invariants), check_types=False)
        shape_invariants = [() if isinstance(variable, _TensorArray) else _dims(shape)  # a flow is a scalar
                            for variable, shape in zip(nest.flatten(loop_vars), nest.flatten(list(shape_invariants)))]
    given = []

    def goes_on(flat):
        result = convert_to_tensor(cond(*_pack_as(loop_vars, flat)))
        if result.dtype.base_dtype.name != "bool":
            raise TypeError(f"Input 'input' of 'LoopCond' Op has type {result.dtype.base_dtype.name} that does not match "
                            "expected type of bool.")
        return result

    def step(flat):
        variables = _pack_as(loop_vars, flat)
        result = body(*variables)
        if not nest.is_sequence(result):
            result = [result]
        nest.assert_same_structure(variables, list(result), check_types=False)
        given.append(result)
        return [_flow_of(value) for value in nest.flatten(result)]

    graph = _graph()
    graph._check_not_finalized()
    initial = [_flow_of(value) for value in nest.flatten(loop_vars)]
    flat = _weir.while_loop(graph, goes_on, step, initial, shape_invariants, maximum_iterations, parallel_iterations,
                            back_prop, name)
    result = _pack_as(given[0], flat)
    return nest.flatten(result)[0] if len(flat) == 1 and not return_same_structure else result


def _dims(shape):
    return getattr(shape, "_dims", shape)


def _at_most(count, predicates, message):
    from weir.ops import array_ops, math_ops

    stacked = array_ops.stack(predicates, name="preds_c")
    true = math_ops.reduce_sum(math_ops.cast(stacked, "int32"), name="num_true_conds")
    data = [f"More than {count} conditions ({', '.join(p.name for p in predicates)}) evaluated as True but {message}, "
            "but:", stacked]
    return Assert(math_ops.less_equal(true, count), data)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """What the function of the first true predicate gives, or ``default()``."""
    if not isinstance(pred_fn_pairs, (list, _py_tuple, dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pred_fn_pairs, dict):
        pairs = sorted(pred_fn_pairs.items(), key=lambda item: item[0].name)
        if not exclusive:
            from weir import logging

            logging.warn("case: An unordered dictionary of predicate/fn pairs was provided, but exclusive=False. The "
                         "order of conditional tests is deterministic but not guaranteed.")
    else:
        pairs = list(pred_fn_pairs)
    if not pairs:
        raise ValueError("pred_fn_pairs must not be empty")
    for pair in pairs:
        if not isinstance(pair, _py_tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        if not isinstance(pair[0], (Tensor, Variable)):
            raise TypeError(f"pred must be a Tensor, got: {pair[0]}")
        if not callable(pair[1]):
            raise TypeError(f"fn for pred {pair[0].name} must be callable.")
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    with name_scope(name, "case", [predicate for predicate, _ in pairs]):
        predicates = [predicate for predicate, _ in pairs]
        chosen = default
        if default is None:
            *pairs, (last, action) = pairs

            def chosen():
                with control_dependencies([Assert(last, ["Input error: None of conditions evaluated as True:"]
                                                  + predicates)]):
                    return nest.map_structure(_after, action())

        for predicate, function in reversed(pairs):
            chosen = _either(predicate, function, chosen, strict)
        if not exclusive:
            return chosen()
        with control_dependencies([_at_most(1, predicates, "exclusive=True")]):
            return chosen()


def _either(predicate, function, otherwise, strict):
    return lambda: cond(predicate, function, otherwise, strict=strict)


def _after(value):
    """The value again, after the control dependencies in force."""
    if isinstance(value, Operation):
        return value
    return _like(value, apply("Identity", (convert_to_tensor(_flow_of(value)),), {}, None))


class init_scope:
    """What is built inside runs on its own: without the control dependencies around it."""

    def __enter__(self):
        self._scope = control_dependencies(None)
        self._scope.__enter__()

    def __exit__(self, *exc):
        return self._scope.__exit__(*exc)


__all__ = public_names(globals())
