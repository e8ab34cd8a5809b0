"""In which branches and loops a program builds nodes, as programs ask TensorFlow for it.

Weir's conditionals and loops are made of bodies (docs/design.md); a context describes one to whoever asks.
"""


class ControlFlowContext:
    """A branch of a conditional or the body of a loop."""

    def __init__(self, bodies):
        (self.name, self._is_loop), *outer = bodies
        self._outer = outer

    @property
    def outer_context(self):
        return context_of(self._outer)

    def IsWhileContext(self):
        return self._is_loop

    def IsCondContext(self):
        return not self._is_loop

    def IsXLAContext(self):
        return False

    def GetWhileContext(self):
        return GetContainingWhileContext(self)

    def __eq__(self, other):
        return isinstance(other, ControlFlowContext) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


def context_of(bodies):
    """The innermost of the bodies around a place; None outside of all."""
    return ControlFlowContext(bodies) if bodies else None


def _containing(context, accepts, stop=None):
    while context is not None and context != stop:
        if accepts(context):
            return context
        context = context.outer_context
    return None


def GetContainingWhileContext(ctxt, stop_ctxt=None):
    return _containing(ctxt, ControlFlowContext.IsWhileContext, stop_ctxt)


def GetContainingCondContext(ctxt):
    return _containing(ctxt, ControlFlowContext.IsCondContext)


def GetContainingXLAContext(ctxt):
    return _containing(ctxt, ControlFlowContext.IsXLAContext)


def IsInWhileLoop(op):
    return GetContainingWhileContext(op._get_control_flow_context()) is not None


def IsInCond(op):
    return GetContainingCondContext(op._get_control_flow_context()) is not None


def IsInXLAContext(op):
    return False
