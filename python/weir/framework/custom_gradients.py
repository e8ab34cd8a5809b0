"""Gradients that a program defines itself: RegisterGradient, Graph.gradient_override_map, custom_gradient."""

_registered = {}  # type: function, or None for what has no gradient; for all graphs


class RegisterGradient:
    """``@RegisterGradient("Name")`` above ``f(op, *output_gradients)``, which gives the gradient of each input."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        _register(self._op_type, f)
        return f


def NotDifferentiable(op_type):  # noqa: N802: TensorFlow's name
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


NoGradient = NotDifferentiable


def _register(op_type, function):
    if op_type in _registered:
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    _registered[op_type] = function


def _types(graph):
    """What gradients() in this graph shall ask Python for."""
    own = graph.__dict__.get("_gradient_functions")
    return list(_registered) + list(own) if own else list(_registered)


def _call(op_type, op, output_grads):
    """The gradients of the inputs, as a list."""
    graph = op.graph
    function = graph.__dict__.get("_gradient_functions", {}).get(op_type) or _registered.get(op_type)
    if function is None:
        return [None] * len(op.inputs)
    with graph.as_default():
        result = function(op, *output_grads)
    return list(result) if isinstance(result, (list, tuple)) else [result]


def custom_gradient(f):
    """A function of ``f(*args)``, which gives (results, function of their gradients that gives those of the args)."""
    import functools

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        from weir.framework.graph import convert_to_tensor
        from weir.framework.stack import get_default_graph
        from weir.ops import array_ops

        args = [array_ops.identity(convert_to_tensor(x)) for x in args]
        result, grad_fn = f(*args, **kwargs)
        is_list = isinstance(result, (list, tuple))
        results = [convert_to_tensor(x) for x in (result if is_list else [result])]

        def gradient(op, *output_grads):
            grads = grad_fn(*output_grads[: len(results)])
            grads = list(grads) if isinstance(grads, (list, tuple)) else [grads]
            if len(grads) != len(args):
                raise ValueError(f"custom_gradient function expected to return {len(args)} gradients but returned "
                                 f"{len(grads)} instead.")
            return [None] * len(results) + grads

        graph = get_default_graph()
        functions = graph.__dict__.setdefault("_gradient_functions", {})
        name = f"CustomGradient-{len(functions)}"
        functions[name] = gradient
        # The arguments pass through the node as well, so that it has an input for each gradient.
        with graph.gradient_override_map({"IdentityN": name}):
            outputs = array_ops.identity_n(results + args)
        outputs = outputs[: len(results)]
        return type(result)(outputs) if is_list else outputs[0]

    return decorated
