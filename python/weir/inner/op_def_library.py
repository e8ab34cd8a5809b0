"""tensorflow.python.framework.op_def_library: operations that a program describes by OpDef messages and applies by name.

Values become tensors and attributes by the rules of the OpDef, with TensorFlow's messages for what does not fit them.
An operation that Weir has is one of Weir's; any other can be built into graphs, not run.
"""

import contextlib
import numbers

from weir import protos
from weir.core import stack
from weir.core.dtypes import as_dtype
from weir.core.graph import Tensor, convert_to_tensor
from weir.core.tensor_shape import as_shape
from weir.core.text import as_bytes
from weir.inner.ops import _get_graph_from_inputs


def _is_list(value):
    return isinstance(value, (list, tuple))


def _attr_def(op_def, name):
    for attr in op_def.attr:
        if attr.name == name:
            return attr
    raise TypeError(f"Inconsistent OpDef for '{op_def.name}', missing attr '{name}'")


def _check_op_def(op_def):
    for arg in [*op_def.input_arg, *op_def.output_arg]:
        fields = bool(arg.type) + bool(arg.type_attr) + bool(arg.type_list_attr)
        if fields != 1:
            raise TypeError(f"Arg '{arg.name}' of '{op_def.name}' must have one type field not {fields}")
        for field, wanted in (("type_attr", "type"), ("type_list_attr", "list(type)"), ("number_attr", "int")):
            name = getattr(arg, field)
            found = _attr_def(op_def, name).type if name else wanted
            if found != wanted:
                raise TypeError(f"Attr '{name}' of '{op_def.name}' used as a {field} but has type {found}")


def _check_allowed(dtype, attr):
    allowed = [as_dtype(number) for number in attr.allowed_values.list.type]
    if attr.HasField("allowed_values") and dtype not in allowed:
        raise TypeError(f"DataType {dtype.name} for attr '{attr.name}' not in list of allowed values: "
                        + ", ".join(one.name for one in allowed))


# Attributes: from Python's values to the field of an AttrValue that holds them.

def _wrong_kind(kind, attr, value):
    return TypeError(f"Expected {kind} for argument '{attr.name}' not {value!r}.")


def _to_int(value, attr):
    try:
        if not isinstance(value, str):
            return int(value)
    except (ValueError, TypeError):
        pass
    raise _wrong_kind("int", attr, value)


def _to_float(value, attr):
    if not isinstance(value, numbers.Real):
        raise _wrong_kind("float", attr, value)
    return float(value)


def _to_bool(value, attr):
    if not isinstance(value, bool):
        raise _wrong_kind("bool", attr, value)
    return value


def _to_string(value, attr):
    if not isinstance(value, (str, bytes)):
        raise _wrong_kind("string", attr, value)
    return as_bytes(value)


def _to_type(value, attr):
    try:
        dtype = as_dtype(value).base_dtype
    except TypeError:
        raise _wrong_kind("DataType", attr, value) from None
    _check_allowed(dtype, attr)
    return dtype.as_datatype_enum


def _to_shape(value, attr):
    return value if isinstance(value, protos.TensorShapeProto) else as_shape(value).as_proto()


def _to_tensor(value, attr):
    if not isinstance(value, protos.TensorProto):
        raise TypeError(f"Don't know how to convert {value!r} to a TensorProto for argument '{attr.name}'")
    return value


def _to_function(value, attr):
    if isinstance(value, protos.NameAttrList):
        return value
    if not isinstance(value, (str, bytes)):
        value.add_to_graph(stack.get_default_graph())
        value = value.name
    return protos.NameAttrList(name=value)


_FIELDS = {"int": ("i", _to_int), "float": ("f", _to_float), "bool": ("b", _to_bool), "string": ("s", _to_string),
           "type": ("type", _to_type), "shape": ("shape", _to_shape), "tensor": ("tensor", _to_tensor),
           "func": ("func", _to_function)}


def _to_attr_value(op_name, attr, value):
    if value is None and attr.HasField("default_value"):
        return attr.default_value
    is_list = attr.type.startswith("list(")
    kind = attr.type[5:-1] if is_list else attr.type
    if kind not in _FIELDS:
        raise TypeError(f"Unrecognized Attr type {attr.type}")
    field, convert = _FIELDS[kind]
    if is_list and not _is_list(value):
        raise TypeError(f"Expected list for attr {attr.name}")
    if is_list and attr.has_minimum and len(value) < attr.minimum:
        raise ValueError(f"Attr '{attr.name}' of '{op_name}' Op passed list of length {len(value)} less than minimum "
                         f"{attr.minimum}.")
    items = [convert(item, attr) for item in (value if is_list else [value])]
    if kind == "int" and not is_list and attr.has_minimum and items[0] < attr.minimum:
        raise ValueError(f"Attr '{attr.name}' of '{op_name}' Op passed {items[0]} less than minimum {attr.minimum}.")
    if kind == "string" and attr.HasField("allowed_values"):
        for item in items:
            if item not in attr.allowed_values.list.s:
                allowed = '", "'.join(one.decode() for one in attr.allowed_values.list.s)
                raise ValueError(f"Attr '{attr.name}' of '{op_name}' Op passed string '{item.decode()}' not in: "
                                 f'"{allowed}".')
    if is_list:
        message = protos.AttrValue()
        message.list.SetInParent()
        getattr(message.list, field).extend(items)
        return message
    return protos.AttrValue(**{field: items[0]})


class _Call:
    """One application of an operation: its inputs, and the attributes that follow from them."""

    def __init__(self, op_def, keywords):
        self.op_def, self.name, self.keywords = op_def, op_def.name, keywords
        self.attrs, self.inferred_from = {}, {}
        self.inputs, self.input_types = [], []
        self.default_types = {attr.name: as_dtype(attr.default_value.type) for attr in op_def.attr
                              if attr.type == "type" and attr.HasField("default_value")}

    def take_inputs(self):
        for arg in self.op_def.input_arg:
            label = arg.name if arg.name in self.keywords else arg.name + "_"  # a word of Python's has a line behind it
            if label not in self.keywords:
                raise TypeError(f"No argument for input {arg.name}")
            value = self.keywords.pop(label)
            if arg.number_attr or arg.type_list_attr:
                tensors = self._convert_list(arg, label, value)
            else:
                tensors = [self._convert(arg, label, value)]
            self._infer_attrs(arg, label, [tensor.dtype.base_dtype for tensor in tensors])
            self._add(arg, label, tensors)

    def take_attrs(self):
        """The attributes as messages, by name."""
        messages = {}
        for attr in self.op_def.attr:
            if attr.name in self.attrs:
                if attr.name in self.keywords:
                    raise TypeError(f"Should not specify value for inferred attr '{attr.name}'.")
                continue
            label = attr.name if attr.name in self.keywords else attr.name + "_"
            if label not in self.keywords:
                raise TypeError(f"No argument for attr {attr.name}")
            self.attrs[attr.name] = self.keywords.pop(label)
        for attr in self.op_def.attr:
            messages[attr.name] = _to_attr_value(self.name, attr, self.attrs[attr.name])
        return messages

    def _type_of(self, arg):
        """(the type that the argument must have or None, the one that it has if nothing else decides or None)"""
        if arg.type:
            return as_dtype(arg.type), None
        if arg.type_attr in self.attrs:
            return self.attrs[arg.type_attr], None
        return None, self.default_types.get(arg.type_attr)

    def _convert(self, arg, label, value):
        dtype, preferred = self._type_of(arg)
        if dtype is not None and isinstance(value, Tensor) and value.dtype.base_dtype != dtype:
            wants = f"expected type of {dtype.name}" if arg.type else (
                f"type {dtype.name} of argument '{self.inferred_from[arg.type_attr]}'")
            raise TypeError(f"Input '{label}' of '{self.name}' Op has type {value.dtype.name} that does not match "
                            f"{wants}.")
        try:
            return self._tensor(arg, value, dtype, preferred, arg.name)
        except (TypeError, ValueError):
            if dtype is None:
                raise
            raise TypeError(f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{self.name}', got {value!r} "
                            f"of type '{type(value).__name__}' instead.") from None

    def _convert_list(self, arg, label, values):
        if not _is_list(values):
            raise TypeError(f"Expected list for '{label}' argument to '{self.name}' Op, not {values}.")
        dtype, preferred = self._type_of(arg) if arg.number_attr else (None, None)
        wanted = dtype
        if wanted is None and arg.number_attr:
            wanted = next((value.dtype.base_dtype for value in values if isinstance(value, Tensor)), None)
        try:
            tensors = [self._tensor(arg, value, wanted, preferred, f"{arg.name}_{i}") for i, value in enumerate(values)]
            if arg.number_attr and len({tensor.dtype.base_dtype for tensor in tensors}) > 1:
                raise TypeError
            return tensors
        except (TypeError, ValueError):
            why = "that are invalid"
            if arg.number_attr and dtype is None:
                why = "that don't all match"
            elif arg.number_attr:
                why = (f"that do not match expected type {dtype.name}" if arg.type else
                       f"that do not match type {dtype.name} inferred from earlier arguments")
            seen = ", ".join(self._seen_type(arg, value) for value in values)
            raise TypeError(f"Tensors in list passed to '{label}' of '{self.name}' Op have types [{seen}] {why}."
                            ) from None

    def _seen_type(self, arg, value):
        try:
            return self._tensor(arg, value, None, None, None).dtype.base_dtype.name
        except (TypeError, ValueError):
            return "<NOT CONVERTIBLE TO TENSOR>"

    @staticmethod
    def _tensor(arg, value, dtype, preferred, name):
        if arg.is_ref and hasattr(value, "_ref"):
            value = value._ref()  # of a variable the reference, not the value
        return convert_to_tensor(value, dtype=dtype, name=name, preferred_dtype=preferred)

    def _infer_attrs(self, arg, label, types):
        if arg.number_attr:
            self._infer_number(arg, label, len(types))
        if arg.type_attr and arg.type_attr not in self.attrs:
            if not types:
                raise TypeError("Don't know how to infer type variable from empty input list passed to input "
                                f"'{label}' of '{self.name}' Op.")
            _check_allowed(types[0], _attr_def(self.op_def, arg.type_attr))
            self.attrs[arg.type_attr], self.inferred_from[arg.type_attr] = types[0], label
        if arg.type_list_attr in self.attrs:
            known = self.attrs[arg.type_list_attr]
            if known != types:
                raise TypeError(f"Input '{label}' of '{self.name}' Op has type list of "
                                f"{', '.join(dtype.name for dtype in types)} that does not match type list "
                                f"{', '.join(dtype.name for dtype in known)} of argument "
                                f"'{self.inferred_from[arg.type_list_attr]}'.")
        elif arg.type_list_attr:
            for dtype in types:
                _check_allowed(dtype, _attr_def(self.op_def, arg.type_list_attr))
            self.attrs[arg.type_list_attr], self.inferred_from[arg.type_list_attr] = types, label

    def _infer_number(self, arg, label, number):
        known = self.attrs.get(arg.number_attr)
        if known is not None and number != known:
            raise ValueError(f"List argument '{label}' to '{self.name}' Op with length {number} must match length {known} "
                             f"of argument '{self.inferred_from[arg.number_attr]}'.")
        attr = _attr_def(self.op_def, arg.number_attr)
        if attr.has_minimum and number < attr.minimum:
            raise ValueError(f"List argument '{label}' to '{self.name}' Op with length {number} shorter than minimum "
                             f"length {attr.minimum}.")
        if known is None:
            self.attrs[arg.number_attr], self.inferred_from[arg.number_attr] = number, label

    def _add(self, arg, label, tensors):
        if arg.is_ref and not all(tensor.dtype._is_ref_dtype for tensor in tensors):
            raise TypeError(f"Input '{label}' of '{self.name}' Op requires l-value input")
        self.inputs += tensors
        self.input_types += [tensor.dtype if arg.is_ref else tensor.dtype.base_dtype for tensor in tensors]

    def references(self):
        return [tensor for tensor, dtype in zip(self.inputs, self.input_types) if dtype._is_ref_dtype]


def _output_types(op_def, attrs):
    """For each output argument its types and whether it is a list."""
    for arg in op_def.output_arg:
        if arg.type_list_attr:
            numbers_of_types = attrs[arg.type_list_attr].list.type
        else:
            number = attrs[arg.type_attr].type if arg.type_attr else arg.type
            numbers_of_types = [number] * (attrs[arg.number_attr].i if arg.number_attr else 1)
        types = [as_dtype(number) for number in numbers_of_types]
        yield [dtype._as_ref for dtype in types] if arg.is_ref else types, bool(arg.number_attr or arg.type_list_attr)


class OpDefLibrary:
    """Operations by name, each described by an OpDef."""

    def __init__(self):
        self._ops = {}

    def add_op(self, op_def):
        if not isinstance(op_def, protos.OpDef):
            raise TypeError(f"{op_def} is {type(op_def)}, not an op_def_pb2.OpDef")
        if not op_def.name:
            raise ValueError(f"{op_def} missing name.")
        if op_def.name in self._ops:
            raise RuntimeError(f"Op name {op_def.name} registered twice.")
        _check_op_def(op_def)
        self._ops[op_def.name] = op_def

    def add_op_list(self, op_list):
        if not isinstance(op_list, protos.OpList):
            raise TypeError(f"{op_list} is {type(op_list)}, not an op_def_pb2.OpList")
        for op_def in op_list.op:
            self.add_op(op_def)

    def apply_op(self, op_type_name, name=None, **keywords):
        """The outputs of a new node, or the node itself when it has none. Inputs and attributes are given by name."""
        op_def = self._ops.get(op_type_name)
        if op_def is None:
            raise RuntimeError(f"Unrecognized Op name {op_type_name}")
        graph = _get_graph_from_inputs([item for value in keywords.values()
                                        for item in (value if _is_list(value) else [value])])
        call = _Call(op_def, keywords)
        with graph.as_default(), graph.name_scope(name or op_type_name) as scope:
            call.take_inputs()
            attrs = call.take_attrs()
            outputs = list(_output_types(op_def, attrs))
            if keywords:
                raise TypeError(f"apply_op() got unexpected keyword arguments: {', '.join(sorted(keywords))}")
            with contextlib.ExitStack() as beside:
                for tensor in call.references():
                    beside.enter_context(graph.colocate_with(tensor))
                op = graph.create_op(op_type_name, call.inputs, [dtype for types, _ in outputs for dtype in types],
                                     input_types=call.input_types, name=scope, attrs=attrs, op_def=op_def)
        return self._results(op, outputs)

    @staticmethod
    def _results(op, outputs):
        if not outputs:
            return op
        tensors, results = iter(op.outputs), []
        for types, is_list in outputs:
            taken = [next(tensors) for _ in types]
            results.append(taken if is_list else taken[0])
        return results[0] if len(results) == 1 else tuple(results)
