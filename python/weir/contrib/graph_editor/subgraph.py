"""tf.contrib.graph_editor.subgraph: views of parts of graphs."""

import copy

from weir.contrib.graph_editor import select
from weir.contrib.graph_editor.util import ListView, get_unique_graph
from weir.core.graph import Graph


class SubGraphView:
    """Operations of a graph with the tensors that go in and come out, and tensors that only pass through.

    Views are values: what changes one gives another."""

    def __init__(self, inside_ops=(), passthrough_ts=()):
        self._ops = select.make_list_of_op(inside_ops)
        passing = select.make_list_of_t(passthrough_ts)
        self._graph = get_unique_graph(self._ops + passing, none_if_empty=True)
        inputs, outputs, between = select.compute_boundary_ts(self._ops)
        touched = frozenset(inputs + outputs + between)
        self._passthrough_ts = [t for t in passing if t not in touched]
        self._input_ts, self._output_ts = inputs + self._passthrough_ts, outputs + self._passthrough_ts

    graph = property(lambda self: self._graph)
    ops = property(lambda self: self._ops)
    inputs = property(lambda self: ListView(self._input_ts))
    outputs = property(lambda self: ListView(self._output_ts))
    passthroughs = property(lambda self: ListView(self._passthrough_ts))
    connected_inputs = property(lambda self: [t for t in self._input_ts if t not in self._passthrough_ts])
    connected_outputs = property(lambda self: [t for t in self._output_ts if t not in self._passthrough_ts])

    def __copy__(self):
        made = type(self).__new__(type(self))
        made.__dict__.update({key: list(value) if isinstance(value, list) else value for key, value in self.__dict__.items()})
        return made

    def copy(self):
        return copy.copy(self)

    def __bool__(self):
        return self._graph is not None

    __len__ = None

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        pass

    def __str__(self):
        if not self:
            return "SubGraphView: empty"
        lines = [f"SubGraphView (graphid={id(self._graph)}):"]
        for label, items in (("ops", self._ops), ("inputs", self._input_ts), ("outputs", self._output_ts)):
            lines.append(f"** {label}[{len(items)}]:" if items else f"** {label}: empty")
            lines += [f"  {item.name}{' *' if item in self._passthrough_ts else ''}" for item in items]
        return "\n".join(lines) + "\n"

    def op(self, op_id):
        return self._ops[op_id]

    def find_op_by_name(self, op_name):
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def is_passthrough(self, t):
        return t in self._passthrough_ts

    def input_index(self, t):
        return _index(self._input_ts, t, "inputs")

    def output_index(self, t):
        return _index(self._output_ts, t, "outputs")

    def consumers(self):
        """Who outside reads what comes out."""
        inside = frozenset(self._ops)
        return [op for op in select.get_consuming_ops(self._output_ts) if op not in inside]

    # Other views of the same part

    def remap_inputs(self, new_input_indices):
        """The view with these of its inputs alone, in this order."""
        return self.remap(new_input_indices=new_input_indices)

    def remap_outputs(self, new_output_indices):
        """The view with these outputs; one may come out several times."""
        return self.remap(new_output_indices=new_output_indices)

    def remap(self, new_input_indices=None, new_output_indices=None):
        view = self.copy()
        if new_input_indices is not None:
            _check(new_input_indices, len(self._input_ts))
            if len(set(new_input_indices)) != len(new_input_indices):
                raise ValueError(f"Found repetition in mapping: {new_input_indices}")
            view._input_ts = [self._input_ts[i] for i in new_input_indices]
        if new_output_indices is not None:
            _check(new_output_indices, len(self._output_ts))
            view._output_ts = [self._output_ts[i] for i in new_output_indices]
        return view

    def remap_default(self, remove_input_map=True, remove_output_map=True):
        """The view with all inputs and outputs again."""
        view = self.copy()
        inputs, outputs, _ = select.compute_boundary_ts(self._ops)
        if remove_input_map:
            view._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            view._output_ts = outputs + self._passthrough_ts
        return view

    def remap_outputs_make_unique(self):
        view = self.copy()
        view._output_ts = list(dict.fromkeys(self._output_ts))
        return view

    def remap_outputs_to_consumers(self):
        """The view that gives each output as often as it is read."""
        view = self.copy()
        view._output_ts = [t for t in dict.fromkeys(self._output_ts) for _ in t.consumers()]
        return view

    def remove_unused_ops(self, control_inputs=True):
        """The view without what neither follows from its inputs nor is needed by its outputs."""
        view = self.copy()
        used = frozenset(select.get_walks_union_ops(
            self.connected_inputs, self.connected_outputs, within_ops=self._ops, control_inputs=control_inputs))
        view._ops = [op for op in self._ops if op in used]
        return view

    def _with_inputs_of(self, other):
        """Takes what another view takes in, and passes on what that passes on."""
        passed = {t: other._input_ts[self._input_ts.index(t)] for t in self._passthrough_ts if t in self._input_ts}
        self._output_ts = [passed.get(t, t) for t in self._output_ts]
        self._input_ts, self._passthrough_ts = list(other._input_ts), list(other._passthrough_ts)


def _index(ts, t, label):
    if t not in ts:
        raise ValueError(f"Can't find {t.name} in {label} of subgraph.")
    return ts.index(t)


def _check(mapping, n):
    for i in mapping:
        if not 0 <= i < n:
            raise ValueError(f"Out of [0, {n}[ range: {i}")


def make_view(*args, **kwargs):
    """A view of operations and tensors that are given, or that regular expressions find in ``graph=``."""
    graph = kwargs.get("graph")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        view = args[0]
    else:
        view = SubGraphView(*select.select_ops_and_ts(*args, **kwargs))
    if graph is not None and view.graph is not None and view.graph is not graph:
        raise ValueError("Graph mismatch.")
    return view


def make_view_from_scope(scope, graph):
    """A view of a name scope and everything below it."""
    return SubGraphView(select.get_name_scope_ops(graph, scope))


sgv, sgv_scope = make_view, make_view_from_scope
