"""Order and choice."""

from weir import _weir, logging, nest
from weir.core.graph import (IndexedSlices, Operation, Tensor, colocate_with, control_dependencies,
                             convert_to_tensor, name_scope)
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph
from weir.ops import array_ops, composites as _composites, math_ops

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
    return graph._group(items, name)


def _Identity(data, name=None):
    """The value again: of a reference the reference, of IndexedSlices and SparseTensor every part."""
    if isinstance(data, _weir.Variable):
        data = data._ref()
    parts = _composites.parts(data)
    if len(parts) > 1:
        return _composites.map_parts(lambda part: _Identity(part), data)
    tensor = convert_to_tensor(parts[0])
    return _composites.like(data, [apply("RefIdentity" if tensor._is_ref else "Identity", (tensor,), {}, name)])


def with_dependencies(dependencies, output_tensor, name=None):
    """``output_tensor`` again, once the dependencies have run."""
    with name_scope(name, "control_dependency", list(dependencies) + [output_tensor]) as scope:
        if not isinstance(output_tensor, (IndexedSlices, Tensor, _weir.Variable)):
            output_tensor = convert_to_tensor(output_tensor)
        with colocate_with(output_tensor), control_dependencies(dependencies):
            if isinstance(output_tensor, IndexedSlices):
                return IndexedSlices(_value_after(output_tensor.values, scope), output_tensor.indices,
                                     output_tensor.dense_shape)
            return _value_after(output_tensor, scope)


def _value_after(value, name=None):
    """A tensor of the value, read when the control dependencies in force allow."""
    if isinstance(value, _weir.Variable):
        value = value._as_graph_element()
    return apply("Identity", (convert_to_tensor(value),), {}, name)


def tuple(tensors, name=None, control_inputs=None):
    """The tensors again, none of them before all are computed."""
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        waits = [t.op for t in tensors if t is not None] + list(control_inputs or ())
        if not waits:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*waits)
        result = []
        for tensor in tensors:
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

    def tensors(value):
        if isinstance(value, Operation):  # what stands for it is the predicate, once it has run
            return [with_dependencies([value], pred)]
        return _composites.parts(_with_long_indices(value))

    def branch(function, label):
        def run():
            result = function()
            if result is None:
                raise ValueError(f"{label} must have a return value.")
            results.append(result if strict else _unpack_if_singleton(result))
            if len(results) == 2:
                nest.assert_same_structure(*results)
                _require_same_kinds(*results)
            return [tensor for value in nest.flatten(results[-1]) for tensor in tensors(value)]

        return run

    graph = _graph()
    flat = _weir.cond(graph, pred, branch(true_fn, "true_fn"), branch(false_fn, "false_fn"), name)
    merged = _pack_as(results[0], flat)
    pairs = zip(nest.flatten(merged), nest.flatten(results[0]), nest.flatten(results[1]))
    return nest.pack_sequence_as(merged, [_with_own_indices(*values) for values in pairs])


def _require_same_kinds(true_results, false_results):
    for i, (a, b) in enumerate(zip(nest.flatten(true_results), nest.flatten(false_results))):
        if _composites.kind(a) != _composites.kind(b):
            raise TypeError(f"Cannot reconcile tf.cond {i}-th outputs:\n  true_fn returned:  {a}\n  false_fn returned: {b}")


def _with_long_indices(value):
    """IndexedSlices with int64 indices: those of the two branches may be of two types."""
    if not isinstance(value, IndexedSlices) or value.indices.dtype.base_dtype.name == "int64":
        return value
    return IndexedSlices(value.values, apply("Cast", (value.indices,), {"DstT": "int64"}, None), value.dense_shape)


def _with_own_indices(merged, true_value, false_value):
    """The result of two branches with the indices of both when those are of one type."""
    if not isinstance(merged, IndexedSlices):
        return merged
    dtypes = {value.indices.dtype.base_dtype.name for value in (true_value, false_value)}
    if dtypes != {"int32"}:
        return merged
    return IndexedSlices(merged.values, apply("Cast", (merged.indices,), {"DstT": "int32"}, None), merged.dense_shape)


def _pack_as(structure, flat):
    """Tensors in the form of ``structure``, with arrays and sparse values where that has them."""
    flat = iter(flat)
    return nest.pack_sequence_as(structure, [_composites.like(leaf, [next(flat) for _ in _composites.parts(leaf)])
                                             for leaf in nest.flatten(structure)])


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
        for before, after in zip(nest.flatten(variables), nest.flatten(result)):
            if _composites.kind(before) != _composites.kind(after):
                raise TypeError(f"The loop variable {before} is {after} after one iteration.")
        given.append(result)
        return [part for value in nest.flatten(result) for part in _composites.parts(value)]

    graph = _graph()
    flat_vars = nest.flatten(loop_vars)
    initial = [part for value in flat_vars for part in _composites.parts(value)]
    flat = _weir.while_loop(graph, goes_on, step, initial, _invariants(loop_vars, shape_invariants), maximum_iterations,
                            parallel_iterations, back_prop, name)
    result = _pack_as(given[0], flat)
    # TensorFlow counts iterations in a variable of its own, and then looks at the program's variables as one.
    single = len(loop_vars) == 1 if maximum_iterations is not None else len(flat_vars) == 1
    return nest.flatten(result)[0] if single and len(flat_vars) == 1 and not return_same_structure else result


def _invariants(loop_vars, shapes):
    """The shape invariant of every part of the loop variables; None when no size changes."""
    flat_vars = nest.flatten(loop_vars)
    if shapes is not None:
        nest.assert_same_structure(loop_vars, list(shapes), check_types=False)
        flat_shapes = nest.flatten(list(shapes))
    elif any(_composites.kind(value)[1] > 1 for value in flat_vars):
        flat_shapes = [None] * len(flat_vars)
    else:
        return None
    return [shape for value, given in zip(flat_vars, flat_shapes) for shape in _composites.invariants(value, given)]


def _at_most_one(predicates, message):
    stacked = array_ops.stack(predicates, name="preds_c")
    true = math_ops.reduce_sum(math_ops.cast(stacked, "int32"), name="num_true_conds")
    names = ", ".join(predicate.name for predicate in predicates)
    data = [f"{message}: more than 1 conditions ({names}) evaluated as True:", stacked]
    return Assert(math_ops.less_equal(true, 1), data)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """What the function of the first true predicate gives, or ``default()``."""
    return _case_helper(cond, pred_fn_pairs, default, exclusive, name, strict=strict)


def _case_helper(cond_fn, pred_fn_pairs, default, exclusive, name, allow_python_preds=False, **cond_kwargs):
    """``case`` with a ``cond`` of one's own, which may decide by truth values that are known."""
    kinds = (Tensor, _weir.Variable) + ((bool,) if allow_python_preds else ())
    if not isinstance(pred_fn_pairs, (list, _py_tuple, dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pred_fn_pairs, dict):
        pairs = sorted(pred_fn_pairs.items(), key=lambda item: item[0].name)
        if not exclusive:
            logging.warn("case: An unordered dictionary of predicate/fn pairs was provided, but exclusive=False. The "
                         "order of conditional tests is deterministic but not guaranteed.")
    else:
        pairs = list(pred_fn_pairs)
    if not pairs:
        raise ValueError("pred_fn_pairs must not be empty")
    for pair in pairs:
        if not isinstance(pair, _py_tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        if not isinstance(pair[0], kinds):
            raise TypeError(f"pred must be a Tensor{' or bool' * allow_python_preds}, got: {pair[0]}")
        if not callable(pair[1]):
            raise TypeError(f"fn for pred {getattr(pair[0], 'name', pair[0])} must be callable.")
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    with name_scope(name, "case", [predicate for predicate, _ in pairs if not isinstance(predicate, bool)]):
        predicates = [predicate for predicate, _ in pairs]
        chosen = default
        if default is None:
            *pairs, (last, action) = pairs

            def chosen():
                with control_dependencies([Assert(last, ["Input error: None of conditions evaluated as True:"]
                                                  + predicates)]):
                    return nest.map_structure(_after, action())

        for predicate, function in reversed(pairs):
            chosen = _either(cond_fn, predicate, function, chosen, cond_kwargs)
        if not exclusive:
            return chosen()
        with control_dependencies([_at_most_one(predicates, "Input error: exclusive=True")]):
            return chosen()


def _either(cond_fn, predicate, function, otherwise, cond_kwargs):
    return lambda: cond_fn(predicate, true_fn=function, false_fn=otherwise, **cond_kwargs)


def _after(value):
    """The value again, after the control dependencies in force."""
    return value if isinstance(value, Operation) else _composites.map_parts(_value_after, value)


def switch_case(branch_index, branch_fns, default=None, name=None):
    """What ``branch_fns[branch_index]()`` gives; ``default()``, or the last of them, when there is no such branch."""
    functions = _branches(branch_index, branch_fns, default)
    def choose(begin, end):
        """One of these branches; the last of all stands for every index that none has."""
        if end - begin == 1:
            return functions[begin]()
        middle = (begin + end) // 2
        return cond(math_ops.less(index, middle), lambda: choose(begin, middle), lambda: choose(middle, end), strict=True)

    with name_scope(name, "indexed_case", [branch_index]):
        last = len(functions) - 1
        index = convert_to_tensor(branch_index, name="branch_index")
        outside = math_ops.logical_or(math_ops.less(index, 0), math_ops.greater_equal(index, last))
        index = apply("Select", (outside, apply("OnesLike", (index,), {}, None) * last, index), {}, None)
        return choose(0, len(functions))


def _branches(branch_index, branch_fns, default):
    """The functions in the order of their indices, the default behind them."""
    if not isinstance(branch_index, (Tensor, _weir.Variable)):
        raise TypeError(f"branch_index must be a Tensor, got {type(branch_index)}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, (list, _py_tuple, dict)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if all(callable(function) for function in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, _py_tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        key, function = pair
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(function):
            raise TypeError(f"fn for key {key} must be callable.")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise ValueError(f"branch indices must form contiguous range of [0 to {len(keys)}) but found "
                         f"{{{','.join(map(str, keys))}}}")
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    return functions if default is None else functions + [default]


class init_scope:
    """What is built inside runs on its own: without the control dependencies around it."""

    def __enter__(self):
        self._scope = control_dependencies(None)
        self._scope.__enter__()

    def __exit__(self, *exc):
        return self._scope.__exit__(*exc)
