"""tf.contrib.graph_editor.edit: parts of a graph are cut off, joined and passed by."""

from weir.contrib.graph_editor import reroute, select, util
from weir.contrib.graph_editor.subgraph import SubGraphView, make_view
from weir.ops.array_ops import placeholder


def detach_control_inputs(sgv):
    """Nothing inside waits for anything outside any more."""
    view = make_view(sgv)
    for op in view.ops:
        util.remove_control_inputs(op, [before for before in op.control_inputs if before not in view.ops])


def detach_control_outputs(sgv, control_outputs):
    """Nothing outside waits for anything inside."""
    if not isinstance(control_outputs, select.ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    view = make_view(sgv)
    for op in view.ops:
        for after in control_outputs.get(op):
            if after not in view.ops:
                util.remove_control_inputs(after, op)


def detach_inputs(sgv, control_inputs=False):
    """Placeholders for what comes from outside; gives the view and them."""
    view = make_view(sgv)
    with view.graph.as_default():
        placeholders = [placeholder(t.dtype.base_dtype, name=util.placeholder_name(t)) for t in view.inputs]
    reroute.swap_inputs(view, placeholders)
    if control_inputs:
        detach_control_inputs(view)
    return view, placeholders


def detach_outputs(sgv, control_outputs=None):
    """Placeholders for what goes outside; gives a view with the outputs that were read, and them."""
    view = make_view(sgv)
    view = view.remap_outputs([i for i, t in enumerate(view.outputs) if t.consumers()])
    readers = SubGraphView(view.consumers())
    readers = readers.remap_inputs([i for i, t in enumerate(readers.inputs) if t in view._output_ts])
    with view.graph.as_default():
        placeholders = [util.make_placeholder_from_tensor(t) for t in readers.inputs]
    reroute.swap_outputs(view, placeholders)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, placeholders


def detach(sgv, control_inputs=False, control_outputs=None, control_ios=None):
    """Both; gives the view and the placeholders of either side."""
    control_inputs, control_outputs = select.check_cios(control_inputs, control_outputs, control_ios)
    _, inputs = detach_inputs(sgv, control_inputs)
    _, outputs = detach_outputs(sgv, control_outputs)
    return sgv, inputs, outputs


def connect(sgv0, sgv1, disconnect_first=False):
    """What comes out of the first goes into the second."""
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(sgv0)
    reroute.reroute_inputs(SubGraphView(passthrough_ts=[*sgv0.outputs]), sgv1)
    return sgv0, sgv1


def bypass(sgv):
    """Who read what comes out reads what went in; gives the view and the placeholders that it reads now."""
    view = make_view(sgv)
    inputs = [*view.inputs]
    view, detached = detach_inputs(view)
    reroute.reroute_ts(inputs, [*view.outputs])
    return view, detached
