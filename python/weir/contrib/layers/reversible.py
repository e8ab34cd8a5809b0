"""Blocks of reversible residual layers: the gradient computes their inputs from their outputs again, so that nothing of
what is between has to be kept until then.
"""

from weir.core.custom_gradients import custom_gradient
from weir.core.graph import GraphKeys, IndexedSlices, convert_to_tensor
from weir.core.stack import get_default_graph
from weir.core.variable_scope import get_variable_scope, variable_scope
from weir.ops import array_ops
from weir.ops.gradients import gradients


def _functions(given, count, name):
    """One function for each layer, each with variables in a scope of its own."""
    functions = list(given) if isinstance(given, (list, tuple)) else [given] * count
    if len(functions) != count:
        raise ValueError(f"Expected {name} to be one function or a list of {count}, got {len(functions)}")

    def in_scope(function, scope):
        def wrapped(x, side):
            with variable_scope(scope, use_resource=True):
                return function(x, side) if side else function(x)

        return wrapped

    return [in_scope(function, f"revblock/revlayer_{i}/{name}") for i, function in enumerate(functions)]


def _added(total, grad):
    if grad is None:
        return total
    if isinstance(grad, IndexedSlices):
        grad = convert_to_tensor(grad)
    return grad if total is None else total + grad


class RevBlock:
    """Layers ``y1 = x1 + f(x2); y2 = x2 + g(y1)``; see ``rev_block``."""

    def __init__(self, f, g, num_layers=1, f_side_input=None, g_side_input=None, use_efficient_backprop=True, name="revblock",
                 **kwargs):
        self.name = name
        self.f, self.g = _functions(f, num_layers, "f"), _functions(g, num_layers, "g")
        self.f_side_input, self.g_side_input = list(f_side_input or []), list(g_side_input or [])
        self._efficient = use_efficient_backprop

    def __call__(self, inputs, forward=True):
        return self.forward(*inputs) if forward else self.backward(*inputs)

    call = apply = __call__

    def _plain(self, x1, x2, f_side, g_side):
        for f, g in zip(self.f, self.g):
            x1 = x1 + f(x2, f_side)
            x2 = x2 + g(x1, g_side)
        return x1, x2

    def forward(self, x1, x2):
        """The two outputs of the last layer."""
        if not self._efficient:
            return self._plain(x1, x2, self.f_side_input, self.g_side_input)
        scope = get_variable_scope()
        sides = len(self.f_side_input)

        @custom_gradient
        def inner(x1, x2, *given):
            y1, y2 = self._plain(x1, x2, list(given[:sides]), list(given[sides:]))

            def grad(dy1, dy2, *, variables=None):
                with get_default_graph().control_dependencies([dy1, dy2]):  # not before the gradients are there
                    z1, z2 = array_ops.stop_gradient(y1), array_ops.stop_gradient(y2)
                with variable_scope(scope, reuse=True), _without_updates():
                    dx, dsides, dvariables = self._turned_back(z1, z2, dy1, dy2, given, list(variables or []))
                return ([*dx, *dsides], dvariables) if variables else [*dx, *dsides]

            return (y1, y2), grad

        return inner(x1, x2, *self.f_side_input, *self.g_side_input)

    def _turned_back(self, y1, y2, dy1, dy2, given, variables):
        """The gradients of the inputs, of the side inputs and of the variables, layer by layer from the last."""
        sides = len(self.f_side_input)
        dsides, dvariables = [None] * len(given), [None] * len(variables)

        def part(function, x, first, last, dy):
            """What the function gives, and the gradient of x; what it adds to others is added."""
            result = function(x, list(given[first:last]))
            found = gradients(result, [x, *given[first:last], *variables], dy)
            for i in range(first, last):
                dsides[i] = _added(dsides[i], found[1 + i - first])
            for i, grad in enumerate(found[1 + last - first:]):
                dvariables[i] = _added(dvariables[i], grad)
            return result, found[0]

        for f, g in zip(reversed(self.f), reversed(self.g)):
            of_g, dx = part(g, y1, sides, len(given), dy2)
            dy1, y2 = _added(dy1, dx), array_ops.stop_gradient(y2 - of_g)
            of_f, dx = part(f, y2, 0, sides, dy1)
            dy2, y1 = _added(dy2, dx), array_ops.stop_gradient(y1 - of_f)
        return (dy1, dy2), dsides, dvariables

    def backward(self, y1, y2):
        """The inputs that have these outputs."""
        with variable_scope(get_variable_scope(), reuse=True), _without_updates():
            for f, g in zip(reversed(self.f), reversed(self.g)):
                y2 = y2 - g(y1, self.g_side_input)
                y1 = y1 - f(y2, self.f_side_input)
        return y1, y2


class _without_updates:
    """What is computed a second time moves no averages a second time."""

    def __enter__(self):
        self._updates = get_default_graph().get_collection_ref(GraphKeys.UPDATE_OPS)
        self._count = len(self._updates)

    def __exit__(self, *error):
        del self._updates[self._count:]


def rev_block(x1, x2, f, g, num_layers=1, f_side_input=None, g_side_input=None, is_training=True):
    """Reversible residual layers (Gomez et al., 2017); ``f`` and ``g``, or lists of one for each layer, take a tensor and,
    where there are any, the list of side inputs.
    """
    return RevBlock(f, g, num_layers, f_side_input, g_side_input, use_efficient_backprop=is_training).forward(x1, x2)
