"""tf.contrib.graph_editor: parts of graphs, copies of them, and other connections."""

from weir import nest
from weir.contrib.graph_editor import select
from weir.core.graph import Graph
from weir.core.tensor import Operation, Tensor
from weir.ops.array_ops import placeholder


class SubGraphView:
    """Operations of a graph, with the tensors that go in and come out."""

    def __init__(self, inside_ops=(), passthrough_ts=()):
        self._ops = select.make_list_of_op(inside_ops)
        self._passthrough = select.make_list_of_t(passthrough_ts)
        inputs, outputs, _ = select.compute_boundary_ts(self._ops)
        self._inputs, self._outputs = self._passthrough + inputs, self._passthrough + outputs

    ops = property(lambda self: self._ops)
    inputs = property(lambda self: self._inputs)
    outputs = property(lambda self: self._outputs)
    passthroughs = property(lambda self: self._passthrough)
    connected_inputs = property(lambda self: list(self._inputs))
    connected_outputs = property(lambda self: [t for t in self._outputs if t.consumers()])

    @property
    def graph(self):
        return next((item.graph for item in [*self._ops, *self._passthrough]), None)

    def op(self, op_id):
        return self._ops[op_id]

    def find_op_by_name(self, op_name):
        for op in self._ops:
            if op.name == op_name:
                return op
        raise AttributeError(f"{op_name} not found in subgraph.")

    def consumers(self):
        """Who outside reads what comes out."""
        inside = frozenset(self._ops)
        return [op for op in select.get_consuming_ops(self._outputs) if op not in inside]

    def __bool__(self):
        return self.graph is not None

    __len__ = None


def make_view(*args, **kwargs):
    """A view of operations and tensors that are given, or that regular expressions find in ``graph=``."""
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    ops, ts = select.select_ops_and_ts(*args, **kwargs)
    return SubGraphView(ops, ts)


def make_view_from_scope(scope, graph):
    """A view of everything below a name scope."""
    return make_view("^" + select.re.escape(scope.rstrip("/")) + "/", graph=graph)


sgv, sgv_scope = make_view, make_view_from_scope


class TransformerInfo:
    """What became of what in a copy."""

    def __init__(self, transformed_ops, transformed_ts):
        self._transformed_ops = transformed_ops
        self._transformed_ts = transformed_ts

    def transformed(self, original, missing_fn=None):
        """The copies of tensors and operations, in any nesting; ``missing_fn(x)`` of what has none."""

        def find(item):
            if isinstance(item, str):
                item = next((x for x in [*self._transformed_ts, *self._transformed_ops] if x.name == item), item)
            found = self._transformed_ts.get(item) if isinstance(item, Tensor) else self._transformed_ops.get(item)
            return found if found is not None else missing_fn(item) if missing_fn is not None else None

        return nest.map_structure(find, original)

    def original(self, transformed, missing_fn=None):
        """... and the other way round."""
        origins = {copy: item for table in (self._transformed_ts, self._transformed_ops) for item, copy in table.items()}

        def find(item):
            return origins[item] if item in origins else missing_fn(item) if missing_fn is not None else None

        return nest.map_structure(find, transformed)


def _in_order(ops):
    """The operations so that each comes after those that it reads from or waits for."""
    wanted, done = dict.fromkeys(ops), {}
    for start in ops:
        stack = [(start, False)]
        while stack:
            op, ready = stack.pop()
            if op in done:
                continue
            if ready:
                done[op] = None
                continue
            stack.append((op, True))
            needed = [t.op for t in op.inputs] + list(op.control_inputs)
            stack.extend((before, False) for before in needed if before in wanted and before not in done)
    return list(done)


def _renamed(name, src_scope, dst_scope):
    if src_scope:
        if not name.startswith(src_scope):
            raise ValueError(f"{name} does not start with {src_scope}")
        name = name[len(src_scope) :]
    return dst_scope + name


def _scope_ending(scope):
    return scope + "/" if scope and not scope.endswith("/") else scope


def copy_with_input_replacements(
    sgv, replacement_ts, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False
):
    """Copies operations; where they read a tensor of ``replacement_ts`` from outside, the copies read what it is mapped to.

    Gives the view of the copies and the ``TransformerInfo``. Without a replacement a tensor from outside is read by the
    copies too, which needs the same graph.
    """
    view = make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    dst_scope = _scope_ending(dst_scope)
    if dst_scope and not reuse_dst_scope:
        dst_scope = _scope_ending(graph.unique_name(dst_scope.rstrip("/")))
    replaced = dict(replacement_ts)
    ops, tensors = {}, {}

    def input_of(op, t):
        if t in tensors:
            return tensors[t]
        given = replaced.get(t, replaced.get(t.name, t))
        if given.graph is not graph:
            raise ValueError(f"{t.name}, which {op.name} reads, is of another graph and has no replacement")
        return given

    with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None):
        for op in _in_order(view.ops):
            inputs = [input_of(op, t) for t in op.inputs]
            with graph.device(None), graph.device(op.device or None):
                copy = graph.create_op(
                    op.type, inputs, [t.dtype for t in op.outputs], name=_renamed(op.name, _scope_ending(src_scope), dst_scope),
                    attrs=dict(op.node_def.attr))
            for before in op.control_inputs:
                before = ops.get(before, before)
                if before.graph is graph:
                    copy._add_control_input(before)
            ops[op] = copy
            for made, copied in zip(op.outputs, copy.outputs, strict=True):
                copied.set_shape(made.shape)
                tensors[made] = copied
    return SubGraphView(list(ops.values())), TransformerInfo(ops, tensors)


def copy(sgv, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Copies operations; what they read from outside becomes placeholders in another graph."""
    view = make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    replacements = {}
    if graph is not view.graph:
        with graph.as_default():
            for t in view.inputs:
                replacements[t] = placeholder(t.dtype.base_dtype, t.shape, name="geph__" + t.op.name.rpartition("/")[2])
    return copy_with_input_replacements(view, replacements, graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(target_ts, replacement_ts, dst_scope="", src_scope="", reuse_dst_scope=False):
    """The targets as they would be with some tensors replaced: what lies between is copied."""
    targets = nest.flatten(target_ts)
    ops = select.get_walks_intersection_ops(list(replacement_ts), targets)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, lambda original: original)


# Other connections


def _movable(can_modify, cannot_modify):
    allowed = None if can_modify is None else frozenset(select.make_list_of_op(can_modify))
    barred = frozenset(select.make_list_of_op(cannot_modify or []))
    return lambda op: (allowed is None or op in allowed) and op not in barred


def _reroute(t0, readers, t1):
    count = 0
    for op in readers:
        for index, t in enumerate(op.inputs):
            if t is t1:
                op._update_input(index, t0)
                count += 1
    return count


def reroute_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Who reads a tensor of ``ts1`` reads that of ``ts0`` instead; gives the number of changes."""
    ts0, ts1 = select.make_list_of_t(ts0), select.make_list_of_t(ts1)
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different lengths: {len(ts0)} and {len(ts1)}")
    movable = _movable(can_modify, cannot_modify)
    readers = [[op for op in dict.fromkeys(t1.consumers()) if movable(op)] for t1 in ts1]
    return sum(_reroute(t0, ops, t1) for t0, t1, ops in zip(ts0, ts1, readers) if t0 is not t1)


def swap_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """The readers of two tensors change places, for each pair; gives the number of changes."""
    ts0, ts1 = select.make_list_of_t(ts0), select.make_list_of_t(ts1)
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different lengths: {len(ts0)} and {len(ts1)}")
    movable = _movable(can_modify, cannot_modify)
    count = 0
    for t0, t1 in zip(ts0, ts1):
        moves = [(op, i, t1 if t is t0 else t0)
                 for op in dict.fromkeys([*t0.consumers(), *t1.consumers()]) if movable(op)
                 for i, t in enumerate(op.inputs) if t is t0 or t is t1]
        for op, index, t in moves:
            op._update_input(index, t)
        count += len(moves)
    return count


def add_control_inputs(op, cops):
    """Makes an operation wait for others."""
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    for before in select.make_list_of_op(cops, allow_graph=False):
        if before in op.control_inputs:
            raise ValueError(f"{before.name} is already a control_input of {op.name}")
        op._add_control_input(before)
