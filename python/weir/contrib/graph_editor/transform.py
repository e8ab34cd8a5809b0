"""tf.contrib.graph_editor: copies of parts of graphs, and what can be made of them instead."""

import inspect

from weir import nest
from weir.contrib.graph_editor import edit, select, util
from weir.contrib.graph_editor.subgraph import SubGraphView, make_view
from weir.core.graph import Graph
from weir.core.tensor import Tensor


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


class _Info:
    """A transformation while it is made: what handlers are given. A name that ends with an underscore is the result's."""

    def __init__(self, transformer, sgv, dst_graph, dst_scope, src_scope):
        self.transformer, self.sgv = transformer, sgv
        self.graph, self.scope = sgv.graph, src_scope
        self.graph_, self.scope_ = dst_graph, dst_scope
        self.ops, self.sgv_inputs_set = frozenset(sgv.ops), frozenset(sgv.inputs)
        self.transformed_ops, self.transformed_ts = {}, {}
        self.collections = {key: self.graph.get_collection(key) for key in self.graph.get_all_collection_keys()}
        self.read = {op: list(op.inputs) for op in sgv.ops}  # handlers that work in place change it

    def new_name(self, name):
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope):]

    def new_inputs(self, op):
        """What the transformed operation reads."""
        return [self.transformed_t(t) for t in self.read[op]]

    def transformed_t(self, t):
        if t not in self.transformed_ts:
            handler = (self.transformer.transform_external_input_handler if t in self.sgv_inputs_set
                       else self.transformer.transform_external_hidden_input_handler)
            self.transformed_ts[t] = handler(self, t)
        return self.transformed_ts[t]


class _Made(tuple):
    """An operation that a handler made, and its outputs. It can be used as the operation itself, too, which is what
    handlers gave before TensorFlow 1.0."""

    def __getattr__(self, name):
        return getattr(self[0], name)


def replace_t_with_placeholder_handler(info, t):
    """A handler of tensors: a placeholder."""
    with info.graph_.as_default(), info.graph_.name_scope(None):
        return util.make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info, t):
    """A handler of tensors: the same in the same graph, a placeholder in another."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info, elem, elem_):
    """A handler of collections: what an original is in, its copy is in, under the name in the new scope."""
    known = util.get_predefined_collection_names()
    for name, collection in info.collections.items():
        if any(item is elem for item in collection):
            renamed = name if name in known or not isinstance(name, str) else info.new_name(name)
            info.graph_.add_to_collection(renamed, elem_)


def transform_op_if_inside_handler(info, op, keep_if_possible=True):
    """A handler of control inputs: the copy, or what it is a copy of in the same graph, or none."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(info, op, new_inputs=None, copy_shape=True):
    """A handler of operations: a copy that reads the copies of what the original reads."""
    graph = info.graph_
    inputs = info.new_inputs(op) if new_inputs is None else new_inputs
    for t in inputs:
        if t.graph is not graph:
            raise ValueError(f"{t.name}, which {op.name} reads, is of another graph and has no replacement")
    with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None), graph.device(None), \
            graph.device(op.device or None):
        made = graph.create_op(op.type, inputs, [t.dtype for t in op.outputs], name=info.new_name(op.name),
                               attrs=dict(op.node_def.attr))
    if copy_shape:
        for t, t_ in zip(op.outputs, made.outputs, strict=True):
            t_.set_shape(t.shape)
    return _Made((made, list(made.outputs)))


def transform_op_in_place(info, op, detach_outputs=False):
    """A handler of operations that makes no copy: the operation reads what its inputs have become. With
    ``detach_outputs`` those who read it read placeholders, until they are transformed themselves."""
    for index, t in enumerate(info.new_inputs(op)):
        if t is not op.inputs[index]:
            op._update_input(index, t)
    if detach_outputs:
        edit.detach_outputs(op)
    return op


class Transformer:
    """Makes another graph of a view: a copy, unless some of its handlers are replaced."""

    def __init__(self):
        self.transform_op_handler = copy_op_handler
        self.transform_control_input_handler = transform_op_if_inside_handler
        self.assign_collections_handler = assign_renamed_collections_handler
        self.transform_external_input_handler = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler = keep_t_if_possible_handler
        self.transform_original_op_handler = transform_op_if_inside_handler

    def __call__(self, sgv, dst_graph, dst_scope, src_scope="", reuse_dst_scope=False):
        """Gives the view of the result and the ``TransformerInfo``."""
        view = make_view(sgv)
        if not isinstance(dst_graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        dst_scope = util.scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = util.scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        info = _Info(self, view, dst_graph, dst_scope, util.scope_finalize(src_scope))
        wants_inputs = len(inspect.signature(self.transform_op_handler).parameters) > 2
        tensors = {}
        for op in _in_order(view.ops):
            args = (info.new_inputs(op),) if wants_inputs else ()
            made = self.transform_op_handler(info, op, *args)
            op_, outputs_ = made if isinstance(made, tuple) else (made, list(made.outputs))
            info.transformed_ops[op] = op_
            pairs = dict(zip(op.outputs, outputs_))
            tensors.update(pairs)
            info.transformed_ts.update(pairs)
            if op_ is not op:
                self._wait(info, op, op_)
                for elem, elem_ in [(op, op_), *pairs.items()]:
                    self.assign_collections_handler(info, elem, elem_)
        return self._view_of(info, tensors), TransformerInfo(info.transformed_ops, tensors)

    def _wait(self, info, op, op_):
        for before in op.control_inputs:
            before_ = self.transform_control_input_handler(info, before)
            if before_ is not None and before_ not in op_.control_inputs:
                op_._add_control_input(before_)

    def _view_of(self, info, tensors):
        """The view of the result, with what the original's inputs and outputs have become."""
        view = SubGraphView(list(dict.fromkeys(info.transformed_ops.values())))
        inputs, outputs = view._input_ts, view._output_ts
        wanted = [tensors[t] for t in info.sgv.outputs if tensors.get(t) in outputs]
        taken = [info.transformed_ts[t] for t in info.sgv.inputs if info.transformed_ts.get(t) in inputs]
        return view.remap([inputs.index(t) for t in dict.fromkeys(taken)], [outputs.index(t) for t in wanted])


def _destination(sgv, dst_graph):
    view = make_view(sgv)
    return view, view.graph if dst_graph is None else dst_graph


def copy_with_input_replacements(
    sgv, replacement_ts, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False
):
    """Copies operations; where they read a tensor of ``replacement_ts`` from outside, the copies read what it is mapped to.

    Gives the view of the copies and the ``TransformerInfo``. Without a replacement a tensor from outside is read by the
    copies too in the same graph, and is a placeholder in another.
    """
    view, graph = _destination(sgv, dst_graph)
    copier = Transformer()
    copier.transform_external_input_handler = lambda info, t: (
        replacement_ts[t] if t in replacement_ts else keep_t_if_possible_handler(info, t))
    return copier(view, graph, dst_scope, src_scope, reuse_dst_scope)


def copy(sgv, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Copies operations; what they read from outside becomes placeholders."""
    view, graph = _destination(sgv, dst_graph)
    return Transformer()(view, graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(target_ts, replacement_ts, dst_scope="", src_scope="", reuse_dst_scope=False):
    """The targets as they would be with some tensors replaced: what lies between is copied."""
    targets = nest.flatten(target_ts)
    ops = select.get_walks_intersection_ops(list(replacement_ts), targets)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, lambda original: original)
