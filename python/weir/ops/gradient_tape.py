"""tf.GradientTape in a graph: gradients through the operations that were made while it recorded, and no others."""

from weir import nest
from weir.core.graph import convert_to_tensor
from weir.core.stack import get_default_graph
from weir.core.tensor import IndexedSlices, Tensor
from weir.core.variables import Variable
from weir.ops import parallel_for
from weir.ops.gradients import UnconnectedGradients, gradients

_READS = ("Identity", "ReadVariableOp")
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


class GradientTape:
    """``with GradientTape() as tape:`` records what is made; ``tape.gradient(target, sources)`` differentiates it.

    Trainable variables are watched by themselves, tensors by ``watch``. What was made before or after is constant.
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent, self._watches_variables = persistent, watch_accessed_variables
        self._watched, self._intervals, self._begin, self._spent = {}, [], None, False

    # Recording.

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *exc):
        if self._begin is not None:
            self._stop()

    def _start(self):
        if self._begin is not None:
            raise ValueError("Tape is already recording.")
        if not self._persistent:
            self._intervals = []
        self._graph = get_default_graph()
        self._begin = len(self._graph.get_operations())

    def _stop(self):
        if self._begin is None:
            raise ValueError("Tape is not recording.")
        self._intervals.append((self._begin, len(self._graph.get_operations())))
        self._begin = None

    def watch(self, tensor):
        """Makes gradients with respect to a tensor, or a structure of them, possible."""
        for one in nest.flatten(tensor, expand_composites=True):
            if not (isinstance(one, (Tensor, Variable)) or hasattr(one, "handle")):
                raise ValueError(f"Passed in object of type {type(one)}, not tf.Tensor")
            self._watched[id(one)] = one

    def watched_variables(self):
        """The variables that are watched, in the order in which they were made."""
        chosen = [v for v in self._graph.get_collection("variables") if id(v) in self._watched]
        if self._watches_variables:
            read = {id(v) for v in self._read_variables()}
            chosen += [v for v in self._graph.get_collection("trainable_variables")
                       if id(v) in read and id(v) not in self._watched]
        return tuple(chosen)

    def _read_variables(self):
        read = {tensor.op for op in self._recorded() for tensor in op.inputs}
        return [v for v in self._graph.get_collection("trainable_variables")
                if v.op in read or any(reader in read for reader in v.op.outputs[0].consumers())]

    def stop_recording(self):
        """``with`` it, nothing is recorded."""
        return _Paused(self)

    def reset(self):
        """Forgets what was recorded."""
        recording = self._begin is not None
        self._watched, self._intervals, self._begin = {}, [], None
        if recording:
            self._start()

    # Differentiating.

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """d(sum of the targets)/d(source) for each source, in their structure; None where nothing recorded leads there."""
        if self._spent and not self._persistent:
            raise RuntimeError("GradientTape.gradient can only be called once on non-persistent tapes.")
        if self._begin is not None and not self._persistent:
            self._stop()
        self._spent = True
        recorded, wanted = set(self._recorded()), nest.flatten(sources)
        targets = [value.values if isinstance(value, IndexedSlices) else convert_to_tensor(value)
                   for value in nest.flatten(target)]
        grads = None if output_gradients is None else nest.flatten(output_gradients)
        kept = [i for i, value in enumerate(targets) if value.op in recorded or any(value is one for one in wanted)]
        known = [source for source in wanted if self._is_watched(source, recorded)]
        found = {}
        if kept and known:
            results = gradients([targets[i] for i in kept], known, None if grads is None else [grads[i] for i in kept],
                                stop_gradients=_edges(recorded), unconnected_gradients=unconnected_gradients)
            found = {id(source): result for source, result in zip(known, results)}
        elif unconnected_gradients in (UnconnectedGradients.ZERO, "zero"):
            found = {id(source): convert_to_tensor(source) * 0 for source in wanted}
        return nest.pack_sequence_as(sources, [found.get(id(source)) for source in wanted])

    def jacobian(self, target, sources, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                 experimental_use_pfor=True):
        """The derivative of each element of the target, in the structure of the sources."""
        found = parallel_for.jacobian(target, nest.flatten(sources), use_pfor=experimental_use_pfor)
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(self, target, source, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                       experimental_use_pfor=True):
        """The jacobian of each example."""
        return parallel_for.batch_jacobian(target, source, use_pfor=experimental_use_pfor)

    def _recorded(self):
        operations = self._graph.get_operations()
        intervals = self._intervals + ([] if self._begin is None else [(self._begin, len(operations))])
        return [op for begin, end in intervals for op in operations[begin:end]]

    def _is_watched(self, source, recorded):
        if id(source) in self._watched:
            return True
        if isinstance(source, Tensor):
            return source.op in recorded
        return self._watches_variables and any(source is v for v in self._graph.get_collection("trainable_variables"))


class _Paused:
    def __init__(self, tape):
        self._tape = tape

    def __enter__(self):
        self._tape._stop()

    def __exit__(self, *exc):
        tape = self._tape
        tape._begin = len(tape._graph.get_operations())


def _edges(recorded):
    """What recorded operations read of others, the values of variables excepted."""
    edges = {tensor for op in recorded for tensor in op.inputs if tensor.op not in recorded}
    return [tensor for tensor in edges if not (tensor.op.type in _VARIABLES or tensor.op.type in _READS and any(
        one.op.type in _VARIABLES for one in tensor.op.inputs))]
