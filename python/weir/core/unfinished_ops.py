"""Operations that libraries make without their inputs and give these one by one, as TensorFlow allowed until 1.6.

Edward copies graphs so: ``op = tf.Operation(node_def, graph)``, then ``op._add_input(tensor)`` for each.
"""

from weir import names, protos


def _inputs_needed(node_def, op_def):
    """How many inputs a node of these attributes has."""
    count = 0
    for argument in op_def.input_arg:
        if argument.number_attr:
            count += node_def.attr[argument.number_attr].i
        elif argument.type_list_attr:
            count += len(node_def.attr[argument.type_list_attr].list.type)
        else:
            count += 1
    return count


class _Unfinished:
    """Stands for an operation until somebody asks for more of it than its name."""

    def __init__(self, kind, node_def, graph, inputs, control_inputs, original_op):
        self.__dict__.update(_kind=kind, _def=protos.NodeDef.FromString(node_def.SerializeToString()), _graph=graph,
                             _inputs=list(inputs), _before=list(control_inputs), _original=original_op, _made=None)

    @property
    def __class__(self):
        return self._kind

    name = property(lambda self: self._def.name)

    def _add_input(self, tensor, dtype=None):
        self._inputs.append(tensor)

    def _add_control_input(self, op):
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops):
        self._before.extend(ops)

    def _finish(self):
        """The operation itself."""
        if self._made is None:
            given = {f"{self.name}/_input_{i}:0": tensor for i, tensor in enumerate(self._inputs)}
            del self._def.input[:]
            self._def.input.extend(given)
            self._def.attr.pop("_class", None)  # beside what its original stands; inputs by reference decide the place
            with self._graph.as_default():
                [made] = names.find("tf.import_graph_def")(protos.GraphDef(node=[self._def]), input_map=given,
                                                           return_elements=[self.name], name="")
            made._add_control_inputs(self._before)
            made._original_op = _finished(self._original)
            self.__dict__["_made"] = made
        return self._made

    def __getattr__(self, name):
        return getattr(self._finish(), name)

    def __setattr__(self, name, value):
        setattr(self._finish(), name, value)


def _finished(op):
    return op._finish() if type(op) is _Unfinished else op
