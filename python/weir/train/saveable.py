"""What a Saver saves besides variables: objects that say which tensors are theirs and how they take them back."""

from weir import logging
from weir.core import dtypes
from weir.core.graph import Tensor, control_dependencies, name_scope
from weir.core.op_functions import apply
from weir.core.variables import Variable
from weir.ops import array_ops, control_flow_ops, state_ops


class SaveSpec:
    """A tensor under a name of the checkpoint; ``slice_spec`` is empty, or says which part of a larger one it is.

    ``tensor`` may be a function that gives it; then ``dtype`` must be told.
    """

    def __init__(self, tensor, slice_spec, name, dtype=None):
        self._tensor, self.slice_spec, self.name = tensor, slice_spec, name
        if dtype is None:
            if callable(tensor) and not isinstance(tensor, Tensor):
                raise AssertionError("When passing a callable `tensor` to a SaveSpec, an explicit dtype must be provided.")
            dtype = tensor.dtype
        self.dtype = dtypes.as_dtype(dtype).base_dtype

    @property
    def tensor(self):
        return self._tensor() if callable(self._tensor) and not isinstance(self._tensor, Tensor) else self._tensor


class SaveableObject:
    """``specs`` are saved; ``restore`` gives an operation that puts what was read back into ``op``."""

    def __init__(self, op, specs, name):
        self.op, self.specs, self.name = op, specs, name

    @property
    def device(self):
        return self.specs[0].tensor.device

    @property
    def optional_restore(self):
        return False

    def restore(self, restored_tensors, restored_shapes):
        raise ValueError("Calling an abstract method.")


class VariableSaveable(SaveableObject):
    """A variable."""

    def __init__(self, var, slice_spec, name):
        super().__init__(var, [SaveSpec(var.value() if isinstance(var, Variable) else var, slice_spec, name)], name)

    def restore(self, restored_tensors, restored_shapes):
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = array_ops.reshape(value, restored_shapes[0])
        return state_ops.assign(self.op, value, validate_shape=restored_shapes is None and self.op.shape.ndims is not None)


class BaseSaverBuilder:
    """Where TensorFlow keeps these classes."""

    SaveSpec, SaveableObject, VariableSaveable = SaveSpec, SaveableObject, VariableSaveable
    ResourceVariableSaveable = VariableSaveable
    OpListToDict = None  # set below

    def __init__(self, write_version=2):
        self._write_version = write_version


def op_list_to_dict(op_list, convert_variable_to_tensor=True):
    """{name: variable or other object}; parts of one large variable in a list."""
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {op_list}")
    named = {}
    for item in op_list:
        part = getattr(item, "_save_slice_info", None)
        if part is not None:
            named.setdefault(part.full_name, []).append(item)
            continue
        if isinstance(item, SaveableObject):
            if item.name in named:  # TensorFlow keeps the last one
                logging.warning("Of the objects to save with the name %s only the last one is saved.", item.name)
            named[item.name] = item
            continue
        name = item.op.name
        if name in named:
            raise ValueError(f"At least two variables have the same name: {name}")
        named[name] = item
    return named


BaseSaverBuilder.OpListToDict = staticmethod(op_list_to_dict)


def _saveables(var_list):
    """SaveableObjects of {name: what is saved under it}, in the order of the names."""
    known, result = {}, []
    for name, item in sorted(var_list.items()):
        for part in item if isinstance(item, list) else [item]:
            if id(part) in known:
                raise ValueError(f"The same saveable will be restored with two names: {name}")
            known[id(part)] = part
            if isinstance(part, SaveableObject):
                result.append(part)
            elif isinstance(part, Variable):
                info = part._get_save_slice_info()
                result.append(VariableSaveable(part, info.spec if info is not None else "", name))
            else:
                raise TypeError(f"names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a "
                                f"variable: {part}")
    return result


def _build(var_list, name, reshape):
    """Adds the nodes that save and restore; their names as (file name, saved, restored)."""
    saveables = _saveables(var_list)
    specs = [spec for saveable in saveables for spec in saveable.specs]
    with name_scope(name, "save"):
        filename = array_ops.placeholder_with_default("model", [], name="filename")
        prefix = array_ops.placeholder_with_default(filename, [], name="Const")
        keys = [spec.name for spec in specs]
        saved = apply("SaveV2", (prefix, keys, [spec.slice_spec for spec in specs], [spec.tensor for spec in specs]), {},
                      None)
        with control_dependencies([saved]):
            save_tensor = array_ops.identity(prefix, name="control_dependency")
        restored = []
        for saveable in saveables:
            values = apply("RestoreV2", (prefix, [spec.name for spec in saveable.specs],
                                         [spec.slice_spec for spec in saveable.specs]),
                           {"dtypes": [spec.dtype for spec in saveable.specs]}, None)
            shapes = None
            if reshape:
                shapes = [spec.tensor.shape.as_list() if spec.tensor.shape.is_fully_defined() else
                          array_ops.shape(spec.tensor) for spec in saveable.specs]
            restored.append(saveable.restore(list(values), shapes))
        restore = control_flow_ops.group(*restored, name="restore_all")
    return prefix.name, save_tensor.name, restore.name
