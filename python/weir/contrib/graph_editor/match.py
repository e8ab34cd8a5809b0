"""tf.contrib.graph_editor.match: does a part of a graph look like this?"""

import re

from weir.core.tensor import Operation


def op_type(op_types, op=None):
    """Whether an operation is of a type, or one of several; without one, the function that says so."""
    types = [op_types] if isinstance(op_types, str) else op_types
    return (lambda op: op.type in types) if op is None else op.type in types


def _matcher(match):
    return match if match is None or isinstance(match, OpMatcher) else OpMatcher(match)


class OpMatcher:
    """Operations by name (a regular expression), identity or a function, and by what stands around them. None stands for
    anything. ``OpMatcher("add").input_ops("a", None)(op)``"""

    def __init__(self, positive_filter):
        self.positive_filters = [_accepts(positive_filter)]
        self.input_op_matches = self.control_input_op_matches = self.output_op_matches = None

    def __call__(self, op):
        if not isinstance(op, Operation):
            raise TypeError(f"Expect tf.Operation, got: {type(op)}")
        if not all(accepts(op) for accepts in self.positive_filters):
            return False
        if not _match(self.input_op_matches, [t.op for t in op.inputs]):
            return False
        if not _match(self.control_input_op_matches, list(op.control_inputs)):
            return False
        if self.output_op_matches is None:
            return True
        return len(op.outputs) == len(self.output_op_matches) and all(
            _match(matches, t.consumers()) for matches, t in zip(self.output_op_matches, op.outputs))

    def input_ops(self, *args):
        return self._set("input_op_matches", [_matcher(match) for match in args])

    def control_input_ops(self, *args):
        return self._set("control_input_op_matches", [_matcher(match) for match in args])

    def output_ops(self, *args):
        """For each output those that read it: one, a list, or None."""
        return self._set("output_op_matches", [
            None if matches is None else [_matcher(match) for match in (matches if isinstance(matches, list) else [matches])]
            for matches in args])

    def _set(self, attribute, matches):
        if getattr(self, attribute) is not None:
            raise ValueError(f"{attribute} is already set.")
        setattr(self, attribute, matches)
        return self


matcher = OpMatcher


def _match(matches, ops):
    if matches is None:
        return True
    return len(matches) == len(ops) and all(match is None or match(op) for match, op in zip(matches, ops))


def _accepts(positive_filter):
    if isinstance(positive_filter, (str, re.Pattern)):
        search = re.compile(positive_filter).search
        return lambda op: search(op.name) is not None
    if isinstance(positive_filter, Operation):
        return lambda op: op is positive_filter
    if callable(positive_filter):
        return positive_filter
    if positive_filter is True:
        return lambda op: True
    raise ValueError(f"Cannot finalize the positive filter: {positive_filter}")
