"""tensorflow.python.framework.test_ops: operations without a kernel that tests of graphs are written with.

TensorFlow's wheels have them. They are registered when this module is loaded, so that graphs and GraphDefs may hold
them.
"""

import collections
import re

from weir import protos
from weir.core import op_functions
from weir.core.dtypes import as_dtype
from weir.core.tensor_shape import TensorShape
from weir.core.text import as_bytes
from weir.inner.op_def_library import OpDefLibrary
from weir.inner.op_def_registry import register_op_list

# name | inputs | outputs | attributes | what else there is to know, in the notation of tests/data/ops-1.15.5.tsv
_SIGNATURES = """
A |  | out:float
Attr |  |  | a:int
AttrBool |  |  | a:bool
AttrBoolList |  |  | a:list(bool)
AttrDefault |  |  | a:string='banana'
AttrEmptyListDefault |  |  | a:list(float)=[]
AttrEnum |  |  | a:string{'apples','oranges'}
AttrEnumList |  |  | a:list(string){'apples','oranges'}
AttrFloat |  |  | a:float
AttrListDefault |  |  | a:list(int)=[5,15]
AttrListMin |  |  | a:list(int)>=2
AttrListTypeDefault | a:N*T; b:N*T |  | T:type=int32; N:int>=1
AttrMin |  |  | a:int>=5
AttrPartialShape |  |  | a:shape
AttrPartialShapeList |  |  | a:list(shape)
AttrShape |  |  | a:shape
AttrShapeList |  |  | a:list(shape)
AttrTypeDefault | a:T |  | T:type=int32
B |  | out:float
Binary | a:T; b:T | out:T | T:type
ComplexStruct |  | a:n_a*int32; b:n_b*int64; c:t_c | n_a:int>=0; n_b:int>=0; t_c:list(type)>=0
CopyOp | a:T | b:T | T:type
DefaultAttrs |  |  | string_val:string='abc'; string_list_val:list(string)=['abc','']; int_val:int=123; \
int_list_val:list(int)=[1,2,3]; float_val:float=10; float_list_val:list(float)=[10]; bool_val:bool=True; \
bool_list_val:list(bool)=[True,False]; type_val:type=int32; type_list_val:list(type)=[int32,float]; \
shape_val:shape=[2,1]; shape_list_val:list(shape)=[[],[1]]; tensor_val:tensor=int32:1; \
tensor_list_val:list(tensor)=[int32:1]
DevicePlacementOp |  | device:string |  | stateful
FiveFloatOutputs |  | a:float; b:float; c:float; d:float; e:float
FloatInput | a:float
FloatOutput |  | a:float
FloatOutputStringOutput |  | a:float; b:string
Foo1 | a:float; b:int32; c:int32 | d:float; e:int32
Foo2 | a:float; b:string; c:string | d:float; e:int32
Foo3 | a:float; b:string; c:float | d:float; e:int32
FuncAttr |  |  | f:func
FuncListAttr |  |  | f:list(func)
GraphDefVersion |  | version:int32 |  | stateful
InPolymorphicTwice | a:N*T; b:M*T |  | T:type; N:int>=0; M:int>=0
Int64Output |  | out:int64
IntAttr |  | out:int64 | foo:int=1
IntInput | a:int32
IntInputFloatInput | a:int32; b:float
IntInputIntOutput | a:int32 | b:int32
IntOutput |  | a:int32
IntOutputFloatOutput |  | a:int32; b:float
KernelLabel |  | result:string
KernelLabelRequired | input:int32 | result:string
ListInput | a:N*T |  | N:int>=1; T:type
ListOutput |  | a:T | T:list(type)>=1
MixedStruct |  | a:n_a*int32; b:float | n_a:int>=0
NInPolymorphicTwice | a:N*T; b:N*T |  | T:type; N:int>=0
NInTwice | a:N*int32; b:N*string |  | N:int>=0
NInTwoTypeVariables | a:N*S; b:N*T |  | S:type; T:type; N:int>=0
NIntsIn | a:N*int32 |  | N:int>=2
NIntsOut |  | a:N*int32 | N:int>=2
NIntsOutDefault |  | a:N*int32 | N:int>=2=3
NPolymorphicIn | a:N*T |  | T:type; N:int>=2
NPolymorphicOut |  | a:N*T | T:type; N:int>=2
NPolymorphicOutDefault |  | a:N*T | T:type=bool; N:int>=2=2
NPolymorphicRestrictIn | a:N*T |  | T:type{string,bool}; N:int>=2
NPolymorphicRestrictOut |  | a:N*T | T:type{string,bool}; N:int>=2
None
Old |  |  |  | deprecated=8
OpWithDefaultAttr |  | a:int32 | default_float:float=123
OpWithFutureDefaultAttr
OutT |  | a:T | T:type
OutTypeList |  | out:T | T:list(type)>=0
OutTypeListRestrict |  | out:t | t:list(type){string,bool}>=1
Polymorphic | a:T | out:T | T:type
PolymorphicDefaultOut |  | out:T | T:type=string
PolymorphicOut |  | out:T | T:type
RefIn | a:Ref(T) |  | T:type
RefInputFloatInput | a:Ref(float); b:float
RefInputFloatInputIntOutput | a:Ref(float); b:float | c:int32
RefInputIntInput | a:Ref(int32); b:int32
RefOut |  | a:Ref(T) | T:type
RefOutput |  | a:Ref(int32)
RefOutputFloatOutput |  | a:Ref(float); b:float
RequiresOlderGraphVersion |  | version:int32 |  | stateful
ReservedAttr |  |  | range:int
ReservedInput | input:int32
ResourceCreateOp | resource:resource |  |  | stateful
ResourceInitializedOp | resource:resource | initialized:bool |  | stateful
ResourceUsingOp | resource:resource |  |  | stateful
Restrict | a:T | out:T | T:type{string,bool}
Simple | a:int32 | out:float
SimpleStruct |  | a:n_a*int32 | n_a:int>=0
StringListAttr |  |  | a:list(string); b:string
StubResourceHandleOp |  | resource:resource | container:string=''; shared_name:string='' | stateful
TestAttr |  | out:T | T:type{float,double}
TestStringOutput | input:float | output1:float; output2:string
TwoFloatInputs | a:float; b:float
TwoFloatInputsFloatOutput | a:float; b:float | c:float
TwoFloatInputsIntOutput | a:float; b:float | c:int32
TwoFloatOutputs |  | a:float; b:float
TwoIntInputs | a:int32; b:int32
TwoIntOutputs |  | a:int32; b:int32
TwoRefsIn | a:Ref(T); b:Ref(T) |  | T:type
TypeList | a:T |  | T:list(type)>=0
TypeListRestrict | a:T |  | T:list(type){string,bool}>=1
TypeListTwice | a:T; b:T |  | T:list(type)>=0
Unary | a:T | b:T | T:type
"""

_ATTR = re.compile(r"(?P<name>\w+):(?P<type>list\(\w+\)|\w+)(?:\{(?P<allowed>[^}]*)\})?(?:>=(?P<minimum>\d+))?"
                   r"(?:=(?P<default>.*))?$")
_FIELDS = {"int": "i", "float": "f", "bool": "b", "string": "s", "type": "type", "shape": "shape", "tensor": "tensor"}


def _value(text, kind):
    if kind == "string":
        return as_bytes(text.strip("'"))
    if kind == "type":
        return as_dtype({"float": "float32", "double": "float64"}.get(text, text)).as_datatype_enum
    if kind == "shape":
        return TensorShape([int(size) for size in text.strip("[]").split(",") if size]).as_proto()
    if kind == "tensor":
        dtype, _, number = text.partition(":")
        return protos.TensorProto(dtype=_value(dtype, "type"), tensor_shape=_value("[]", "shape"), int_val=[int(number)])
    return {"int": int, "float": float, "bool": "True".__eq__}[kind](text)


def _items(text):
    """The parts of ``[a,[b,c]]`` or of ``a,b``."""
    inner = text[1:-1] if text.startswith("[") else text
    return re.findall(r"\[[^\]]*\]|[^,]+", inner)


def _set_attr(attr, text):
    found = _ATTR.match(text)
    attr.name, attr.type = found["name"], found["type"]
    kind = attr.type[5:-1] if attr.type.startswith("list(") else attr.type
    if found["minimum"]:
        attr.has_minimum, attr.minimum = True, int(found["minimum"])
    if found["allowed"]:
        getattr(attr.allowed_values.list, _FIELDS[kind]).extend(_value(item, kind) for item in _items(found["allowed"]))
    default = found["default"]
    if default is None:
        return
    if attr.type.startswith("list("):
        attr.default_value.list.SetInParent()
        getattr(attr.default_value.list, _FIELDS[kind]).extend(_value(item, kind) for item in _items(default))
    elif kind in ("shape", "tensor"):
        getattr(attr.default_value, kind).CopyFrom(_value(default, kind))
    else:
        setattr(attr.default_value, _FIELDS[kind], _value(default, kind))


def _set_arg(arg, text, attr_types):
    arg.name, _, kind = text.partition(":")
    if "*" in kind:
        arg.number_attr, _, kind = kind.partition("*")
    if kind.startswith("Ref("):
        arg.is_ref, kind = True, kind[4:-1]
    if attr_types.get(kind) == "list(type)":
        arg.type_list_attr = kind
    elif kind in attr_types:
        arg.type_attr = kind
    else:
        arg.type = _value(kind, "type")


def _op_def(line):
    name, inputs, outputs, attrs, flags = [part.strip() for part in (line + " | | | |").split("|")[:5]]
    op_def = protos.OpDef(name=name, is_stateful="stateful" in flags)
    for text in filter(None, attrs.split("; ")):
        _set_attr(op_def.attr.add(), text)
    attr_types = {attr.name: attr.type for attr in op_def.attr}
    for text in filter(None, inputs.split("; ")):
        _set_arg(op_def.input_arg.add(), text, attr_types)
    for text in filter(None, outputs.split("; ")):
        _set_arg(op_def.output_arg.add(), text, attr_types)
    if "deprecated=" in flags:
        op_def.deprecation.version, op_def.deprecation.explanation = int(flags.rpartition("=")[2]), "For reasons"
    return op_def


_op_defs = protos.OpList(op=[_op_def(line) for line in _SIGNATURES.strip().split("\n")])
_op_def_lib = OpDefLibrary()
_op_def_lib.add_op_list(_op_defs)
register_op_list(_op_defs)


def _function(op_def):
    """Makes a node: inputs, then attributes, by position or by name."""
    order = [arg.name for arg in op_def.input_arg]
    fields = ("type_attr", "number_attr", "type_list_attr")
    inferred = {getattr(arg, field) for arg in op_def.input_arg for field in fields}
    order += [attr.name for attr in op_def.attr if attr.name not in inferred and not attr.HasField("default_value")]
    defaults = {attr.name: None for attr in op_def.attr if attr.name not in inferred and attr.HasField("default_value")}
    order += list(defaults)

    def call(*args, name=None, **keywords):
        result = _op_def_lib.apply_op(op_def.name, name=name, **{**defaults, **dict(zip(order, args)), **keywords})
        return results(*result) if isinstance(result, tuple) else result

    results = collections.namedtuple(op_def.name, [arg.name for arg in op_def.output_arg])
    call.__name__ = op_def.name
    return call


def __getattr__(name):
    for op_def in _op_defs.op:
        if name in (op_def.name, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", op_def.name).lower()):
            return _function(op_def)
    return getattr(op_functions.raw_ops, name)
