"""Gradients that a program defines itself: RegisterGradient, Graph.gradient_override_map, custom_gradient."""

import functools
import itertools

from weir import _weir, names, nest
from weir.core.graph import GraphKeys, Tensor, convert_to_tensor
from weir.core.stack import get_default_graph
from weir.ops import array_ops

_registered = {}  # type: function, or None for what has no gradient; for all graphs
_custom = itertools.count()


class RegisterGradient:
    """``@RegisterGradient("Name")`` above ``f(op, *output_gradients)``, which gives the gradient of each input."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        _register(self._op_type, f)
        return f


def no_gradient(op_type):
    """Says that no gradient flows through operations of this type."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


NotDifferentiable = NoGradient = no_gradient


def _register(op_type, function):
    if op_type in _registered or _weir.has_gradient(op_type):
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    _registered[op_type] = function


def _types(graph):
    """What gradients() in this graph shall ask Python for."""
    return [*_registered, *graph.__dict__.get("_gradient_functions", ())]


def _call(op_type, op, output_grads):
    """The gradients of the inputs, as a list."""
    graph = op.graph
    function = graph.__dict__.get("_gradient_functions", {}).get(op_type) or _registered.get(op_type)
    if function is None:
        return [None] * len(op.inputs)
    with graph.as_default():
        result = function(op, *output_grads)
    return list(result) if isinstance(result, (list, tuple)) else [result]


def get_gradient_function(op):
    """The function that a program registered for the gradient of an operation. LookupError when there is none."""
    of_graph = op.graph.__dict__.get("_gradient_functions", {})
    if "_gradient_op_type" in op._attr_names():  # of a gradient_override_map
        asked = op._attr("_gradient_op_type").decode()
        if asked not in _registered:
            raise LookupError(f"gradient registry has no entry for: {asked}")
        return _registered[asked]
    function = of_graph.get(op.type) or _registered.get(op.type)
    if op.type in ("PyFunc", "PyFuncStateless") and function is None:
        return None  # a program's own function has no gradient unless it gives one
    if function is None and op.type not in _registered:
        raise LookupError(f"gradient registry has no entry for: {op.type}")
    return function


_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")


def _variables_between(graph, args, results, first):
    """The variables that operations from number ``first`` on read, on the way to the results.

    What was computed before, of variables or not, is a value to the function like any other.
    """
    seen = {x.op for x in args}
    todo = [x.op for x in results if isinstance(x, Tensor)]
    found = set()
    while todo:
        op = todo.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.type in _VARIABLES:
            found.add(op)
        elif op._id >= first:
            todo.extend(x.op for x in op.inputs)
        elif op.type in ("Identity", "ReadVariableOp") and op.inputs[0].op.type in _VARIABLES:  # the read that a variable comes with
            found.add(op.inputs[0].op)
    return [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if getattr(v, "op", None) in found]


def _check_signature(graph, grad_fn, variables):
    """Whether ``grad_fn`` takes variables must agree with whether there are any."""
    import inspect  # slow to import, and few programs come here

    parameters = inspect.signature(grad_fn).parameters.values()
    kinds = {p.kind for p in parameters if p.name == "variables" or p.kind is p.VAR_KEYWORD}
    if variables and not kinds:
        raise TypeError("If using @custom_gradient with a function that uses variables, then grad_fn must accept a keyword "
                        "argument 'variables'.")
    use_resource = graph._variable_scopes and graph._variable_scopes[-1].use_resource
    if not variables and kinds - {inspect.Parameter.KEYWORD_ONLY} and not use_resource:
        raise TypeError("If using @custom_gradient with a function that uses variables, the enclosing variable scope must "
                        "have use_resource=True.")


def custom_gradient(f):
    """A function of ``f(*args)``, which gives (results, function of their gradients that gives those of the args).

    When ``f`` uses variables, the function of the gradients takes them as ``variables=`` and gives two lists: the
    gradients of the args and of the variables.
    """

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        if kwargs:
            raise ValueError("The custom_gradient decorator currently supports keywords arguments only when eager "
                             "execution is enabled.")
        graph = get_default_graph()
        args = [convert_to_tensor(x) for x in args]
        first = graph.version
        result, grad_fn = f(*args)
        results = nest.flatten(result)
        variables = _variables_between(graph, args, results, first)
        _check_signature(graph, grad_fn, variables)

        def gradient(op, *output_grads):
            output_grads, variable_grads = output_grads[:len(results)], []
            if variables:
                grads, variable_grads = grad_fn(*output_grads, variables=variables)
                if len(variable_grads) != len(variables):
                    raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
            else:
                grads = grad_fn(*output_grads)
            grads = nest.flatten(grads)
            if len(grads) != len(args):
                raise ValueError(f"custom_gradient function expected to return {len(args)} gradients but returned "
                                 f"{len(grads)} instead.")
            return [None] * len(results) + grads + list(variable_grads)

        name = f"CustomGradient-{next(_custom)}"
        graph.__dict__.setdefault("_gradient_functions", {})[name] = gradient
        # The arguments and variables pass through the node as well, so that it has an input for each gradient.
        with graph.gradient_override_map({"IdentityN": name}):
            outputs = array_ops.identity_n([*results, *args, *variables])
        return nest.pack_sequence_as(result, outputs[:len(results)])

    return decorated


def recompute_grad(f):
    """``f``, whose intermediate values are computed once more for its gradient and not kept until then."""

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        @custom_gradient
        def inner(*tensors):
            scope = names.at("weir.core.variable_scope:get_variable_scope")()
            result = f(*tensors, **kwargs)

            def grad(*result_grads, variables=None):
                graph = get_default_graph()
                gradients = names.at("weir.ops.gradients:gradients")
                variable_scope = names.at("weir.core.variable_scope:variable_scope")
                # Not before the gradients are there: else the values could as well have been kept.
                with graph.control_dependencies([g for g in result_grads if g is not None]):
                    again = [array_ops.stop_gradient(x) for x in tensors]  # before the arguments f has no part
                with variable_scope(scope, reuse=True):
                    results = nest.flatten(f(*again, **kwargs))
                found = gradients(results, again + list(variables or []), list(result_grads))
                return (found[:len(again)], found[len(again):]) if variables else found

            return result, grad

        return inner(*args)

    return decorated


def grad_pass_through(f):
    """``f`` with the gradient of the identity. Its variables get none."""

    @custom_gradient
    def passed(*args, **kwargs):
        def grad(*grads, **given):
            variables = given.get("variables")
            return grads if variables is None else (grads, [None] * len(variables))

        return f(*args, **kwargs), grad

    return functools.wraps(f)(passed)
