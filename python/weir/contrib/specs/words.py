"""The words that network specifications are written with: a letter for the layer and one for its activation (s sigmoid, t
tanh, r relu, m softmax, l none; x for the layer's own), longer names for what is rarer."""

import itertools

from weir.contrib.layers import layers, normalization
from weir.contrib.specs.composition import Callable, Composable, Function
from weir.core.variable_scope import VariableScope, get_variable, variable_scope
from weir.ops import array_ops, control_flow_ops, math_ops, nn_ops


class Idx(Composable):
    """What comes in, with no node of its own."""

    def funcall(self, x):
        return x


class Conc(Composable):
    """What several functions give for the same tensor, joined along a dimension."""

    def __init__(self, dim, *args):
        self.dim, self.funs = dim, args

    def funcall(self, x):
        return array_ops.concat([f.funcall(x) for f in self.funs], self.dim)


Fun = Function
Print = Fun(control_flow_ops.Print)
Id = Fun(array_ops.identity)

Cx = Fun(layers.conv2d)
Cs, Ct, Cr, Cm, Cl = (Cx(activation_fn=f) for f in (math_ops.sigmoid, math_ops.tanh, nn_ops.relu, nn_ops.softmax, None))
Fx = Fun(layers.fully_connected)
Fs, Ft, Fr, Fm, Fl = (Fx(activation_fn=f) for f in (math_ops.sigmoid, math_ops.tanh, nn_ops.relu, nn_ops.softmax, None))
Mp = Fun(layers.max_pool2d)
Ap = Fun(layers.avg_pool2d)

Do = Fun(layers.dropout)
Bn = Fun(normalization.batch_norm)
Lrn = Fun(nn_ops.local_response_normalization)
Unit = Fun(layers.unit_norm)

Flat = Fun(layers.flatten)
Reshape = Fun(array_ops.reshape)
Transpose = Fun(array_ops.transpose)
Squeeze = Fun(array_ops.squeeze)
Expand = Fun(array_ops.expand_dims)

Relu = Fun(nn_ops.relu)
Sig = Fun(math_ops.sigmoid)
Tanh = Fun(math_ops.tanh)
Smax = Fun(nn_ops.softmax)


def Dws(n):
    """A product over the channels of each pixel, sigmoid."""
    return Cs(n, [1, 1])


def Dwm(n):
    """A product over the channels of each pixel, softmax."""
    return Cm(n, [1, 1])


def Var(name, *args, **kw):
    """``tf.get_variable(name, ...)``, whatever comes in."""
    return Callable(lambda _: get_variable(name, *args, **kw))


class Shared(Composable):
    """A part whose variables are the same wherever it is applied."""

    _numbers = itertools.count(1)

    def __init__(self, subnet, name=None, scope=None):
        if scope is not None and not isinstance(scope, VariableScope):
            raise ValueError("scope must be None or a VariableScope")
        if name is not None and not isinstance(name, str):
            raise ValueError("name must be None or a string")
        if scope is not None and name is not None:
            raise ValueError("cannot provide both a name and a scope")
        self.subnet, self.scope = subnet, scope
        self.name = f"Shared_{next(self._numbers)}" if name is None else name

    def funcall(self, x):
        again = self.scope is not None
        with variable_scope(self.scope if again else self.name, values=[x], reuse=True if again else None) as scope:
            self.scope = scope
            return self.subnet.funcall(x)
