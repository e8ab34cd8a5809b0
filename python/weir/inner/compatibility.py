"""tensorflow.python.compat.compat, tensorflow.python.tf2 and the switches of control flow: which TensorFlow this is."""

import contextlib
import datetime

_HORIZON = datetime.date(2019, 8, 21)  # of TensorFlow 1.15.5

# tensorflow.python.ops.control_flow_util
ENABLE_CONTROL_FLOW_V2 = False


def forward_compatible(year, month, day):
    return _HORIZON > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year, month, day):
    global _HORIZON
    saved, _HORIZON = _HORIZON, datetime.date(year, month, day)
    try:
        yield
    finally:
        _HORIZON = saved


def enabled():
    """Whether this is TensorFlow 2."""
    return False


def EnableControlFlowV2(graph):
    return False


def enable_control_flow_v2():
    pass


def disable_control_flow_v2():
    pass


def control_flow_v2_enabled():
    return False


def InXlaContext(graph):
    return False


GraphOrParentsInXlaContext = InXlaContext
