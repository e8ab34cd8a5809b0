"""tensorflow.python.util.tf_inspect: inspect, seen through decorators."""

from inspect import *  # noqa: F401,F403
from inspect import getfullargspec as _getfullargspec, unwrap
from collections import namedtuple

ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")


def getfullargspec(obj):
    return _getfullargspec(unwrap(obj))


def getargspec(obj):
    spec = getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)
