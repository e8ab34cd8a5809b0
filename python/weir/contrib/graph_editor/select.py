"""tf.contrib.graph_editor: which operations and tensors of a graph lie where."""

import re

from weir.core.graph import Graph
from weir.core.tensor import Operation, Tensor


def _listed(values):
    if values is None:
        return []
    single = isinstance(values, (str, Tensor, Operation)) or not hasattr(values, "__iter__")
    return [values] if single else list(values)


def make_list_of_op(ops, check_graph=True, allow_graph=True, ignore_ts=False):
    """The operations of a graph, or those that are given; tensors among them are left out or an error."""
    if isinstance(ops, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return ops.get_operations()
    ops = list(ops.ops) if hasattr(ops, "ops") else _listed(ops)
    if ignore_ts:
        ops = [op for op in ops if isinstance(op, Operation)]
    for op in ops:
        if not isinstance(op, Operation):
            raise TypeError(f"Expected a Operation, got: {type(op)}")
    if check_graph and len({op.graph for op in ops}) > 1:
        raise ValueError("Operations belong to several graphs.")
    return ops


def make_list_of_t(ts, check_graph=True, allow_graph=True, ignore_ops=False):
    """The tensors of a graph, or those that are given; operations among them are left out or an error."""
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    ts = _listed(ts)
    if ignore_ops:
        ts = [t for t in ts if isinstance(t, Tensor)]
    for t in ts:
        if not isinstance(t, Tensor):
            raise TypeError(f"Expected a Tensor, got: {type(t)}")
    if check_graph and len({t.graph for t in ts}) > 1:
        raise ValueError("Tensors belong to several graphs.")
    return ts


def get_tensors(graph):
    """All tensors of a graph."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [t for op in graph.get_operations() for t in op.outputs]


def get_generating_ops(ts):
    """The operations that make the tensors, each once."""
    return list(dict.fromkeys(t.op for t in make_list_of_t(ts, allow_graph=False)))


def get_consuming_ops(ts):
    """The operations that read the tensors, each once."""
    return list(dict.fromkeys(op for t in make_list_of_t(ts, allow_graph=False) for op in t.consumers()))


class ControlOutputs:
    """Who waits for which operation of a graph."""

    def __init__(self, graph):
        self._graph = graph
        self._outputs = {}
        for op in graph.get_operations():
            for before in op.control_inputs:
                self._outputs.setdefault(before, []).append(op)

    def update(self):
        """Looks again at a graph that has changed."""
        self.__init__(self._graph)
        return self

    def get(self, op):
        return self._outputs.get(op, [])

    @property
    def graph(self):
        return self._graph

    def get_all(self):
        return self._outputs


def _get_input_ts(ops):
    """The tensors that operations read, each once."""
    return list(dict.fromkeys(t for op in make_list_of_op(ops) for t in op.inputs))


def _get_output_ts(ops):
    return [t for op in make_list_of_op(ops) for t in op.outputs]


def _readers(graph):
    """{tensor: operations that read it}, made in one pass: a walk asks for many."""
    readers = {}
    for op in graph.get_operations():
        for t in op.inputs:
            readers.setdefault(t, []).append(op)
    return readers


def _seeds(seed_ops, from_tensors):
    seeds = _listed(seed_ops)
    if seeds and isinstance(seeds[0], Tensor):
        return from_tensors(seeds)
    return make_list_of_op(seeds, allow_graph=False)


def _walk(seeds, inclusive, within_ops, within_ops_fn, neighbours):
    within = None if within_ops is None else frozenset(make_list_of_op(within_ops, allow_graph=False))
    found = dict.fromkeys(seeds)
    wave = list(found)
    while wave:
        following = dict.fromkeys(
            op
            for start in wave
            for op in neighbours(start)
            if op not in found and (within is None or op in within) and (within_ops_fn is None or within_ops_fn(op))
        )
        found.update(following)
        wave = list(following)
    return list(found) if inclusive else [op for op in found if op not in frozenset(seeds)]


def get_forward_walk_ops(
    seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_outputs=None
):
    """The operations that follow from others, themselves included unless told otherwise."""
    seeds = _seeds(seed_ops, get_consuming_ops)
    if not seeds:
        return []
    graph = seeds[0].graph
    readers, stop = _readers(graph), frozenset(make_list_of_t(stop_at_ts))
    waiting = ControlOutputs(graph) if control_outputs is True else control_outputs or None

    def neighbours(op):
        for t in op.outputs:
            if t not in stop:
                yield from readers.get(t, ())
        if waiting is not None:
            yield from waiting.get(op)

    return _walk(seeds, inclusive, within_ops, within_ops_fn, neighbours)


def get_backward_walk_ops(
    seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_inputs=False
):
    """The operations that others need, these included unless told otherwise."""
    seeds = _seeds(seed_ops, get_generating_ops)
    if not seeds:
        return []
    stop = frozenset(make_list_of_t(stop_at_ts))

    def neighbours(op):
        yield from (t.op for t in op.inputs if t not in stop)
        if control_inputs:
            yield from op.control_inputs

    return _walk(seeds, inclusive, within_ops, within_ops_fn, neighbours)


def get_walks_intersection_ops(
    forward_seed_ops, backward_seed_ops, forward_inclusive=True, backward_inclusive=True, within_ops=None,
    within_ops_fn=None, control_inputs=False, control_outputs=None, control_ios=None
):  # fmt: skip
    """What follows from some operations and is needed by others."""
    if control_ios is not None:
        control_inputs, control_outputs = True, control_ios
    forward = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=control_outputs)
    backward = frozenset(get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=control_inputs))
    return [op for op in forward if op in backward]


def get_walks_union_ops(
    forward_seed_ops, backward_seed_ops, forward_inclusive=True, backward_inclusive=True, within_ops=None,
    within_ops_fn=None, control_inputs=False, control_outputs=None, control_ios=None
):  # fmt: skip
    """What follows from some operations or is needed by others."""
    if control_ios is not None:
        control_inputs, control_outputs = True, control_ios
    forward = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=control_outputs)
    backward = get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=control_inputs)
    return list(dict.fromkeys([*forward, *backward]))


def check_cios(control_inputs=False, control_outputs=None, control_ios=None):
    """Whether walks go along control inputs, and the ``ControlOutputs`` that they go along; ``control_ios`` says both."""
    for given in (control_ios, control_outputs):
        if given is not None and not isinstance(given, ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
    if control_ios is not None:
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


def get_ops_ios(ops, control_inputs=False, control_outputs=None, control_ios=None):
    """The neighbours of operations, each once."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found = {}
    for op in make_list_of_op(ops):
        found.update(dict.fromkeys(t.op for t in op.inputs))
        found.update(dict.fromkeys(reader for t in op.outputs for reader in t.consumers()))
        if control_outputs is not None:
            found.update(dict.fromkeys(control_outputs.get(op)))
        if control_inputs:
            found.update(dict.fromkeys(op.control_inputs))
    return list(found)


def get_within_boundary_ops(ops, seed_ops, boundary_ops=(), inclusive=True, control_inputs=False, control_outputs=None,
                            control_ios=None):
    """Those of ``ops`` that can be reached from the seeds, in any direction, without crossing the boundary."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops, boundary = make_list_of_op(ops), frozenset(make_list_of_op(boundary_ops))
    found = set(make_list_of_op(seed_ops, allow_graph=False))
    if boundary & found:
        raise ValueError("Boundary is intersecting with the seeds.")
    wave = list(found)
    while wave:
        near = [op for op in get_ops_ios(wave, control_inputs, control_outputs) if op not in found]
        wave = [op for op in near if op not in boundary]
        found.update(near if inclusive else wave)
    return [op for op in ops if op in found]


def compute_boundary_ts(ops):
    """The tensors that operations take from outside, those that they give to the outside, and those between them."""
    ops = make_list_of_op(ops)
    inside = frozenset(ops)
    taken = dict.fromkeys(t for op in ops for t in op.inputs)
    made = dict.fromkeys(t for op in ops for t in op.outputs)
    between = [t for t in taken if t in made]
    kept = frozenset(t for t in between if inside.issuperset(t.consumers()))
    return [t for t in taken if t not in made], [t for t in made if t not in kept], between


# By name


def _filter(items, positive_filter):
    if positive_filter is True:
        return items
    if can_be_regex(positive_filter):
        search = re.compile(positive_filter).search
        return [item for item in items if search(item.name)]
    if callable(positive_filter):
        return [item for item in items if positive_filter(item)]
    raise ValueError("Filter must be True, a regular expression or a function.")


def can_be_regex(obj):
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj):
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def get_name_scope_ops(ops, scope):
    """The operations of a name scope and of those below it."""
    return filter_ops_from_regex(ops, f"^{re.escape(scope.rstrip('/'))}(/.*)?$")


def filter_ops(ops, positive_filter):
    return _filter(make_list_of_op(ops), positive_filter)


def filter_ops_from_regex(ops, regex):
    return _filter(make_list_of_op(ops), re.compile(regex))


def filter_ts(ops, positive_filter):
    """The outputs of operations that a filter lets through."""
    return _filter([t for op in make_list_of_op(ops) for t in op.outputs], positive_filter)


def filter_ts_from_regex(ops, regex):
    return filter_ts(ops, re.compile(regex))


def _select(args, graph, positive_filter, find, convert):
    found = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            found += find(graph, arg)
        else:
            found += convert(arg)
    if positive_filter is not None:
        found = _filter(found, positive_filter)
    return list(dict.fromkeys(found))


def _of_kind(args, own, other, marked_only):
    """The arguments without the regular expressions of another kind; those of the own kind may have to be marked."""
    if marked_only:
        return [a for a in args if not isinstance(a, str) or a.startswith(own)]
    return [a for a in args if not isinstance(a, str) or not a.startswith(other)]


def select_ops(*args, graph=None, positive_filter=None, restrict_ops_regex=False):
    """Operations: those given, and those of ``graph`` whose names regular expressions find."""
    args = _of_kind(args, "(?#ops)", "(?#ts)", restrict_ops_regex)
    return _select(args, graph, positive_filter, filter_ops_from_regex,
                   lambda arg: make_list_of_op(arg, ignore_ts=True))


def select_ts(*args, graph=None, positive_filter=None, restrict_ts_regex=False):
    """Tensors: those given, and those of ``graph`` whose names regular expressions find."""
    args = _of_kind(args, "(?#ts)", "(?#ops)", restrict_ts_regex)
    return _select(args, graph, positive_filter, filter_ts_from_regex,
                   lambda arg: make_list_of_t(arg, ignore_ops=True))


def select_ops_and_ts(*args, graph=None, positive_filter=None, restrict_ops_regex=False):
    """Both; a regular expression is for operations unless it begins with ``(?#ts)``."""
    ops = select_ops(*args, graph=graph, positive_filter=positive_filter, restrict_ops_regex=restrict_ops_regex)
    return ops, select_ts(*args, graph=graph, positive_filter=positive_filter, restrict_ts_regex=True)
