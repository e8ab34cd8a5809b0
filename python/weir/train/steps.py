"""The variable that counts training steps."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import GraphKeys
from weir.core.stack import get_default_graph
from weir.core.variable_scope import get_variable
from weir.core.variables import is_variable_initialized
from weir.graph_util import write_graph  # noqa: F401: asked for here
from weir.ops import init_ops, math_ops
from weir.ops.control_flow_ops import cond


def _graph(graph):
    return get_default_graph() if graph is None else graph


def get_global_step(graph=None):
    """The global step of the graph, or None."""
    graph = _graph(graph)
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) == 1:
        assert_global_step(found[0])
        return found[0]
    if found:
        raise TypeError("Multiple tensors in global_step collection.")
    for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
        if variable.op.name == "global_step":
            assert_global_step(variable)
            return variable
    return None


def create_global_step(graph=None):
    graph = _graph(graph)
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable("global_step", shape=[], dtype=dtypes.int64, initializer=init_ops.zeros_initializer(),
                            trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph=None):
    step = get_global_step(_graph(graph))
    return create_global_step(graph) if step is None else step


def global_step(sess, global_step_tensor):
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor):
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    if global_step_tensor.get_shape().ndims not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.get_shape()}')


_STEP_READ = "global_step_read_op_cache"


def _get_or_create_global_step_read(graph=None):
    """The global step as hooks read it, made once; None without a global step."""
    graph = _graph(graph)
    found = graph.get_collection(_STEP_READ)
    if found:
        return found[0]
    step = get_global_step(graph)
    if step is None or graph.finalized:
        return step
    with graph.as_default(), graph.name_scope(None), graph.name_scope(step.op.name + "/"):
        if isinstance(step, _weir.Variable):
            value = cond(is_variable_initialized(step), step.read_value, lambda: step.initial_value)
        else:
            value = step
        graph.add_to_collection(_STEP_READ, value + 0)
    return graph.get_collection(_STEP_READ)[0]


def _increment_global_step(increment, graph=None):
    graph = _graph(graph)
    step = get_global_step(graph)
    if step is None:
        raise ValueError("Global step tensor should be created by tf.train.get_or_create_global_step before calling "
                         "increment.")
    assert_global_step(step)
    with graph.as_default(), graph.name_scope(None), graph.name_scope(step.op.name + "/"):
        return step.assign_add(math_ops.cast(increment, step.dtype.base_dtype))
