"""Layer: variables and what is computed with them, as one object that can be called more than once.

A subclass makes its variables in ``build(input_shape)`` with ``add_weight`` and computes in ``call(inputs)``. What the
layers of Weir compute is C++ (weir/layers.h); these classes hold the variables, and programs subclass them.
"""

import copy
import functools
import re
import threading

from weir import nest
from weir.core import dtypes, stack
from weir.core.graph import GraphKeys, Operation, Tensor, convert_to_tensor, name_scope
from weir.core.variable_scope import VariableScope, _parameters, get_variable, variable_scope
from weir.core.variables import PartitionedVariable, Variable
from weir.layers.input_spec import _check_inputs
from weir.ops import array_ops, math_ops


class _Calls(threading.local):
    """The layers whose ``call`` is under way, with the value of ``training`` they were given."""

    def __init__(self):
        self.training = []


_calls = _Calls()
_ALLOWED = {"input_shape", "batch_input_shape", "batch_size", "weights", "activity_regularizer", "autocast"}


def _snake_case(name):
    name = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    return "private" + name if name.startswith("_") else name


def _unique_object_name(base):
    """``base_1``, ``base_2``, ...: layers are counted for each graph."""
    counts = stack.get_default_graph()._layer_counts
    counts[base] = counts.get(base, 0) + 1
    return f"{base}_{counts[base]}"


def _extend_collection(key, elements):
    collection = stack.get_default_graph().get_collection_ref(key)
    known = {id(element) for element in collection}
    for element in nest.flatten(elements):
        if id(element) not in known:
            known.add(id(element))
            collection.append(element)


def _depends_on(operation, tensors):
    """Whether an operation is computed from one of these tensors."""
    wanted, seen, todo = {tensor.op for tensor in tensors}, set(), [operation]
    while todo:
        op = todo.pop()
        if op in wanted:
            return True
        if op not in seen:
            seen.add(op)
            todo.extend(tensor.op for tensor in op.inputs)
            todo.extend(op.control_inputs)
    return False


class Layer:
    """The base of all layers, tf.layers.Layer. ``trainable`` may be set later; ``name`` is that of its scope, too."""

    def __new__(cls, *args, **kwargs):
        # Here and not in __init__: programs have subclasses that never call it.
        self = object.__new__(cls)
        self._trainable, self.built, self.stateful, self.supports_masking = True, False, False, False
        self.input_spec = None
        self._reuse = self._scope = self._current_scope = self._name = self._base_name = self._dtype = None
        self._trainable_weights, self._non_trainable_weights = [], []
        self._updates, self._losses = [], []
        self._nodes = []  # (inputs, outputs) of every call
        self._activity_regularizer = self._initial_weights = None
        return self

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        for key in kwargs:
            if key not in _ALLOWED:
                raise TypeError("Keyword argument not understood:", key)
        self._trainable = trainable
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        self._activity_regularizer = kwargs.get("activity_regularizer")
        self._initial_weights = kwargs.get("weights")
        self._set_name(name)
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    def _set_name(self, name=None):
        base = _snake_case(type(self).__name__)
        if isinstance(name, VariableScope):
            self._name, self._base_name = _unique_object_name(base), name.name
        elif name:
            self._name = self._base_name = name
        else:
            self._name, self._base_name = _unique_object_name(base), base

    # What it is.

    @property
    def name(self):
        if self._name is None:
            self._set_name()
        return self._name

    @property
    def dtype(self):
        return None if self._dtype is None else self._dtype.name

    @property
    def _compute_dtype(self):
        return self._dtype

    @property
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value

    @property
    def scope_name(self):
        if not self._scope:
            raise ValueError(f'No name available for layer scope because the layer "{self.name}" has not been used yet. '
                             "The scope name  is determined the first time the layer instance is called. You must "
                             "therefore call the layer before querying `scope_name`.")
        return self._scope.name

    @property
    def graph(self):
        return stack.get_default_graph() if not self.weights else self.weights[0].graph

    @property
    def activity_regularizer(self):
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer):
        self._activity_regularizer = regularizer

    @property
    def trainable_weights(self):
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self):
        if self.trainable:
            return list(self._non_trainable_weights)
        return self._trainable_weights + self._non_trainable_weights

    @property
    def weights(self):
        return self.trainable_weights + self.non_trainable_weights

    variables = property(lambda self: self.weights)
    trainable_variables = property(lambda self: self.trainable_weights)
    _trainable_variables = property(lambda self: self._trainable_weights)  # as TensorFlow 1.0 called them
    _non_trainable_variables = property(lambda self: self._non_trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)

    def get_weights(self):
        """The values of the weights in the default session."""
        session = stack.get_default_session()
        return session.run(self.weights) if self.weights else []

    def set_weights(self, weights):
        params = self.weights
        if len(params) != len(weights):
            raise ValueError(f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length '
                             f"{len(weights)}, but the layer was expecting {len(params)} weights. Provided weights: "
                             f"{str(weights)[:50]}...")
        for variable, value in zip(params, weights):
            if not variable.shape.is_compatible_with(value.shape):
                raise ValueError(f"Layer weight shape {variable.shape} not compatible with provided weight shape "
                                 f"{value.shape}")
        for variable, value in zip(params, weights):
            variable.load(value, stack.get_default_session())

    def count_params(self):
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can "
                             f"build it manually via: `{self.name}.build(batch_input_shape)`.")
        return sum(variable.shape.num_elements() for variable in self.weights)

    # Losses and updates.

    @property
    def losses(self):
        return list(self._losses)

    @property
    def updates(self):
        return list(self._updates) if self.trainable or self.stateful else []

    def add_loss(self, losses, inputs=None):
        """Losses of the layer: tensors, or functions that make them. They are regularization losses of the graph."""
        made = []
        for loss in nest.flatten(losses):
            loss = loss() if callable(loss) and not isinstance(loss, (Tensor, Variable)) else loss
            if loss is not None:
                made.append(loss if isinstance(loss, Tensor) else convert_to_tensor(loss))
        self._losses += made
        _extend_collection(GraphKeys.REGULARIZATION_LOSSES, made)

    def add_update(self, updates, inputs=None):
        """What a training step must run beside its own: operations, tensors, or functions that make them."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            if callable(update) and not isinstance(update, (Tensor, Variable, Operation)):
                update = update()
            if not isinstance(update, Operation):
                update = update.op if hasattr(update, "op") else convert_to_tensor(update).op
            self._updates.append(update)

    def get_updates_for(self, inputs):
        """The updates that are computed from ``inputs``; with None those that depend on no input."""
        return self._chosen(self.updates, inputs)

    def get_losses_for(self, inputs):
        return self._chosen(self.losses, inputs)

    def _chosen(self, items, inputs):
        given = nest.flatten([call[0] for call in self._nodes]) if inputs is None else nest.flatten(inputs)
        given = [tensor for tensor in given if isinstance(tensor, Tensor)]
        return [item for item in items
                if _depends_on(getattr(item, "op", item), given) == (inputs is not None)]

    def _handle_weight_regularization(self, name, variable, regularizer):
        def loss_of(v):
            with name_scope(name + "/Regularizer"):
                return regularizer(v)

        for part in variable if isinstance(variable, PartitionedVariable) else (variable,):
            self.add_loss(functools.partial(loss_of, part))

    def _handle_activity_regularization(self, inputs, outputs):
        if not self._activity_regularizer:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                batch = math_ops.cast(array_ops.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch, inputs=inputs)

    # Calls.

    def _set_scope(self, scope=None):
        if self._scope is not None:
            return
        if self._base_name is None:
            self._set_name()
        if self._reuse:
            entering = variable_scope(self._base_name if scope is None else scope)
        else:
            entering = variable_scope(scope, default_name=self._base_name)
        with entering as captured:
            self._scope = captured

    def _name_scope(self):
        return self._current_scope.original_name_scope

    def add_weight(self, name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None,
                   constraint=None, use_resource=None, synchronization=None, aggregation=None, partitioner=None,
                   **kwargs):
        """The variable of that name in the layer's scope: made, or, where the layer shares, the one that is there."""
        for key in kwargs:
            if key not in ("experimental_autocast", "getter", "collections"):
                raise TypeError("Unknown keyword argument:", key)
        graph = stack.get_default_graph()
        existing = {id(variable) for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
        if getattr(synchronization, "name", None) == "ON_READ":
            if trainable:
                raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for "
                                 "non-trainable variables. You have specified trainable=True and "
                                 "synchronization=VariableSynchronization.ON_READ.")
            trainable = False
        trainable = True if trainable is None else trainable
        dtype = dtypes.as_dtype(dtype or self._dtype or dtypes.float32).base_dtype
        if self._dtype is None:
            self._dtype = dtype
        self._set_scope(None)
        with variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                if initializer is None:
                    initializer = scope.initializer
                if initializer is None and not (dtype.is_floating or dtype.is_integer or dtype.is_bool):
                    raise ValueError(f"An initializer for variable {name} of type {dtype!r} is required for layer "
                                     f"{self.name}")
                variable = kwargs.get("getter", get_variable)(
                    name, shape=() if shape is None else shape, dtype=dtype, initializer=initializer,
                    trainable=trainable and self.trainable, constraint=constraint, partitioner=partitioner,
                    use_resource=use_resource or scope.use_resource, collections=kwargs.get("collections"),
                    synchronization=synchronization, aggregation=aggregation)
                parts = variable if isinstance(variable, PartitionedVariable) else (variable,)
                if regularizer and not any(id(part) in existing for part in parts):
                    self._handle_weight_regularization(name, variable, regularizer)
        # A custom getter may have decided otherwise about training.
        trained = {id(v) for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
        if trainable and (not self.trainable or all(id(part) in trained for part in parts)):
            self._trainable_weights.append(variable)
        else:
            self._non_trainable_weights.append(variable)
        return variable

    def add_variable(self, *args, **kwargs):
        return self.add_weight(*args, **kwargs)

    def build(self, input_shape):
        """Makes the variables; called before the first ``call``."""
        self.built = True

    def call(self, inputs, *args, **kwargs):
        """What the layer computes."""
        return inputs

    def __call__(self, inputs, *args, **kwargs):
        scope = kwargs.pop("scope", None)
        self._set_scope(scope)
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as current:
            self._current_scope = current
            accepted = _parameters(self.call)[0]
            if "scope" in accepted:
                kwargs["scope"] = current
            outputs = self._call_in_scope(inputs, args, kwargs, accepted)
        _extend_collection(GraphKeys.UPDATE_OPS, self.updates)
        return outputs

    def _call_in_scope(self, inputs, args, kwargs, accepted):
        inputs = nest.map_structure(_as_tensor, inputs)
        outer = _calls.training[-1] if _calls.training else None
        if outer is not None and "training" in accepted and "training" not in kwargs:
            if len(args) < accepted.index("training"):
                kwargs["training"] = outer
        _calls.training.append(kwargs.get("training", outer))
        try:
            _check_inputs(self.input_spec, inputs, self.name)
            with name_scope(self._name_scope()):
                self._maybe_build(inputs)
                outputs = self.call(inputs, *args, **kwargs)
                if outputs is None:
                    raise ValueError("A layer's `call` method should return a Tensor or a list of Tensors, not None "
                                     f"(layer: {self.name}).")
                self._handle_activity_regularization(inputs, outputs)
        finally:
            _calls.training.pop()
        self._nodes.append((inputs, outputs))
        return outputs

    def _maybe_build(self, inputs):
        if not self.built:
            flat = nest.flatten(inputs)
            if flat and self._dtype is None and isinstance(getattr(flat[0], "dtype", None), dtypes.DType):
                self._dtype = flat[0].dtype.base_dtype
            shapes = None
            if all(hasattr(x, "shape") for x in flat):
                shapes = nest.map_structure(lambda x: x.shape, inputs)
            self.build(shapes)
            self.built = True
        if self._initial_weights is not None:
            weights, self._initial_weights = self._initial_weights, None
            self.set_weights(weights)

    def apply(self, inputs, *args, **kwargs):
        return self.__call__(inputs, *args, **kwargs)

    def compute_output_shape(self, input_shape):
        raise NotImplementedError

    def compute_mask(self, inputs, mask=None):
        return mask

    def get_config(self):
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    # Where it was called.

    def _call_of(self, index, what):
        if not self._nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no {what} to return.")
        if index >= len(self._nodes):
            raise ValueError(f"Asked to get {what} at node {index}, but the layer has only {len(self._nodes)} inbound "
                             "nodes.")
        return self._nodes[index]

    def get_input_at(self, node_index):
        return self._call_of(node_index, "input")[0]

    def get_output_at(self, node_index):
        return self._call_of(node_index, "output")[1]

    def get_input_shape_at(self, node_index):
        return nest.map_structure(_shape_tuple, self.get_input_at(node_index))

    def get_output_shape_at(self, node_index):
        return nest.map_structure(_shape_tuple, self.get_output_at(node_index))

    def _only(self, what, get):
        if len(self._nodes) > 1:
            raise AttributeError(f"Layer {self.name} has multiple inbound nodes, hence the notion of \"layer {what}\" is "
                                 f"ill-defined. Use `get_{what.replace(' ', '_')}_at(node_index)` instead.")
        return get(0)

    input = property(lambda self: self._only("input", self.get_input_at))
    output = property(lambda self: self._only("output", self.get_output_at))
    input_shape = property(lambda self: self._only("input shape", self.get_input_shape_at))
    output_shape = property(lambda self: self._only("output shape", self.get_output_shape_at))

    def __deepcopy__(self, memo):
        cls = type(self)
        result = cls.__new__(cls)
        memo[id(self)] = result
        for key, value in self.__dict__.items():
            if key in ("_scope", "_current_scope"):
                setattr(result, key, copy.copy(value))
            elif key == "_nodes" or _is_of_the_graph(value):
                setattr(result, key, value)
            else:
                setattr(result, key, copy.deepcopy(value, memo))
        return result


def _is_of_the_graph(value):
    parts = (Tensor, Variable, PartitionedVariable, Operation)
    return isinstance(value, parts) or isinstance(value, (list, tuple)) and value and isinstance(value[0], parts)


def _as_tensor(value):
    if isinstance(value, (int, float)) or type(value).__module__ == "numpy":
        return convert_to_tensor(value)
    return value


def _shape_tuple(tensor):
    shape = tensor.shape
    return None if shape.ndims is None else tuple(shape.as_list())

