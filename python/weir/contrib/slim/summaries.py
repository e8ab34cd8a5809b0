"""slim.summaries: summaries named after their tensors."""

from weir import summary
from weir.core.graph import GraphKeys, add_to_collection
from weir.ops import control_flow_ops, nn_ops


def _name(tensor, name=None, prefix=None, postfix=None):
    return "/".join(part for part in (prefix, name or tensor.op.name, postfix) if part)


def _printed(op, tensor, name, print_summary):
    if print_summary:
        op = control_flow_ops.Print(op, [tensor], name)
        add_to_collection(GraphKeys.SUMMARIES, op)
    return op


def add_histogram_summary(tensor, name=None, prefix=None):
    return summary.histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(tensor, name=None, prefix=None, print_summary=False):
    name = _name(tensor, name, prefix)
    op = summary.image(name, tensor, collections=[] if print_summary else None)
    return _printed(op, tensor, name, print_summary)


def add_scalar_summary(tensor, name=None, prefix=None, print_summary=False):
    name = _name(tensor, name, prefix)
    op = summary.scalar(name, tensor, collections=[] if print_summary else None)
    return _printed(op, tensor, name, print_summary)


def add_zero_fraction_summary(tensor, name=None, prefix=None, print_summary=False):
    name = _name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(nn_ops.zero_fraction(tensor), name, print_summary=print_summary)


def add_histogram_summaries(tensors, prefix=None):
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors, prefix=None):
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors, prefix=None, print_summary=False):
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors, prefix=None):
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
