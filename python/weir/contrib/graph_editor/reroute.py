"""tf.contrib.graph_editor.reroute: other tensors for those that read them.

``a`` and ``b``, 0 and 1 are tensors or views in pairs: "reroute" gives the readers of the second what the first is,
"swap" exchanges the readers of both."""

from weir.contrib.graph_editor import select
from weir.contrib.graph_editor.subgraph import make_view
from weir.contrib.graph_editor.util import add_control_inputs, check_graphs, remove_control_inputs  # noqa: F401


def _pairs(ts0, ts1):
    ts0, ts1 = select.make_list_of_t(ts0), select.make_list_of_t(ts1)
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for t0, t1 in zip(ts0, ts1):
        if not t0.dtype.is_compatible_with(t1.dtype):
            raise ValueError(f"Dtypes {t0.dtype} and {t1.dtype} are not compatible.")
        if not t0.get_shape().is_compatible_with(t1.get_shape()):
            raise ValueError(f"Shapes {t0.get_shape()} and {t1.get_shape()} are not compatible.")
    return list(zip(ts0, ts1))


def _reroute(ts0, ts1, to_b, to_a, can_modify=None, cannot_modify=None):
    """Gives the number of inputs that read something else now. Who reads what is looked up before anything changes."""
    allowed = None if can_modify is None else frozenset(select.make_list_of_op(can_modify))
    barred = frozenset(select.make_list_of_op(cannot_modify or []))
    moves = []
    for t0, t1 in _pairs(ts0, ts1):
        for enabled, given, read in ((to_b, t0, t1), (to_a, t1, t0)):
            if enabled and t0 is not t1:
                moves += [(op, i, given) for op in dict.fromkeys(read.consumers())
                          if (allowed is None or op in allowed) and op not in barred
                          for i, t in enumerate(op.inputs) if t is read]
    for op, index, given in moves:
        op._update_input(index, given)
    return len(moves)


def swap_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """The readers of two tensors change places, for each pair; gives the number of changes."""
    return _reroute(ts0, ts1, True, True, can_modify, cannot_modify)


def reroute_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Who reads a tensor of ``ts1`` reads that of ``ts0`` instead; gives the number of changes."""
    return _reroute(ts0, ts1, True, False, can_modify, cannot_modify)


def reroute_b2a_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Who reads a tensor of ``ts0`` reads that of ``ts1`` instead."""
    return _reroute(ts0, ts1, False, True, can_modify, cannot_modify)


def _views(sgv0, sgv1):
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    check_graphs(sgv0, sgv1)
    return sgv0, sgv1


def _inputs(sgv0, sgv1, to_b, to_a):
    sgv0, sgv1 = _views(sgv0, sgv1)
    inside = [*sgv0.ops, *sgv1.ops]
    inside += select.get_consuming_ops([*sgv0.passthroughs]) + select.get_consuming_ops([*sgv1.passthroughs])
    _reroute([*sgv0.inputs], [*sgv1.inputs], to_b, to_a, can_modify=inside)
    before0, before1 = sgv0.copy(), sgv1.copy()
    if to_b:
        sgv1._with_inputs_of(before0)
    if to_a:
        sgv0._with_inputs_of(before1)
    return sgv0, sgv1


def _outputs(sgv0, sgv1, to_b, to_a):
    sgv0, sgv1 = _views(sgv0, sgv1)
    _reroute([*sgv0.outputs], [*sgv1.outputs], to_b, to_a, cannot_modify=[*sgv0.ops, *sgv1.ops])
    return sgv0, sgv1


def _both(sgv0, sgv1, to_b, to_a):
    sgv0, sgv1 = _views(sgv0, sgv1)
    _outputs(sgv0, sgv1, to_b, to_a)
    return _inputs(sgv0, sgv1, to_b, to_a)


def swap_inputs(sgv0, sgv1):
    return _inputs(sgv0, sgv1, True, True)


def reroute_inputs(sgv0, sgv1):
    """The second view reads what the first reads."""
    return _inputs(sgv0, sgv1, True, False)


def reroute_b2a_inputs(sgv0, sgv1):
    return _inputs(sgv0, sgv1, False, True)


def swap_outputs(sgv0, sgv1):
    return _outputs(sgv0, sgv1, True, True)


def reroute_outputs(sgv0, sgv1):
    """Who reads from the second view reads from the first."""
    return _outputs(sgv0, sgv1, True, False)


def reroute_b2a_outputs(sgv0, sgv1):
    return _outputs(sgv0, sgv1, False, True)


def swap_ios(sgv0, sgv1):
    return _both(sgv0, sgv1, True, True)


def reroute_ios(sgv0, sgv1):
    return _both(sgv0, sgv1, True, False)


def reroute_b2a(sgv0, sgv1):
    return _both(sgv0, sgv1, False, True)


# Before TensorFlow 1.0
swap, reroute_a2b = swap_ios, reroute_ios
reroute_a2b_ts, reroute_a2b_inputs, reroute_a2b_outputs = reroute_ts, reroute_inputs, reroute_outputs
