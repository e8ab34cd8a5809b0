"""tensorflow.python.ops.collective_ops: operations whose members, on several devices or tasks, work on their values together."""

from weir.core.conversion import convert_to_tensor
from weir.core.op_functions import raw_ops


def _check_size(group_size, function):
    if group_size <= 1:
        raise ValueError(f"Parameter group_size to {function} must be at least 2.")


def all_reduce(t, group_size, group_key, instance_key, merge_op, final_op, subdiv_offsets=(0,), communication_hint="auto"):
    """All members' tensors as one: their sum ('Add'), product ('Mul'), minimum or maximum, divided by their number ('Div') or not
    ('Id')."""
    _check_size(group_size, "all_reduce")
    return raw_ops.CollectiveReduce(input=t, group_size=group_size, group_key=group_key, instance_key=instance_key,
                                    merge_op=merge_op, final_op=final_op, subdiv_offsets=list(subdiv_offsets),
                                    communication_hint=communication_hint.lower())


def all_gather(t, group_size, group_key, instance_key, communication_hint="auto"):
    """All members' tensors, one behind the other along the first dimension, in the order of the devices."""
    _check_size(group_size, "all_gather")
    t = convert_to_tensor(t)
    dims = t.shape.as_list()
    shape = [None if dims[0] is None else dims[0] * group_size] + dims[1:] if dims else []
    return raw_ops.CollectiveGather(input=t, shape=shape, group_size=group_size, group_key=group_key,
                                    instance_key=instance_key, communication_hint=communication_hint.lower())


def broadcast_send(t, shape, dtype, group_size, group_key, instance_key, communication_hint="auto"):
    """Gives one member's tensor to all the others."""
    _check_size(group_size, "broadcast_send")
    t = convert_to_tensor(t)
    if t.shape != shape:
        raise ValueError("Shape of broadcast_send tensor not equal to delcared shape")
    if t.dtype != dtype:
        raise ValueError("Type of broadcast_send tensor not equal to declared type")
    return raw_ops.CollectiveBcastSend(input=t, shape=shape, group_size=group_size, group_key=group_key,
                                       instance_key=instance_key, communication_hint=communication_hint.lower())


def broadcast_recv(shape, dtype, group_size, group_key, instance_key, communication_hint="auto"):
    """The tensor that another member sends."""
    _check_size(group_size, "broadcast_recv")
    return raw_ops.CollectiveBcastRecv(shape=shape, T=dtype, group_size=group_size, group_key=group_key,
                                       instance_key=instance_key, communication_hint=communication_hint.lower())
