"""Element types under TensorFlow's names."""

_NUMPY_MODULE = None


def _numpy():
    """numpy, imported when first needed: importing it costs more than importing Weir."""
    global _NUMPY_MODULE
    if _NUMPY_MODULE is None:
        import numpy

        _NUMPY_MODULE = numpy
    return _NUMPY_MODULE


class DType:
    """The type of a tensor's elements. One object a type; compare with ``==`` or ``is``.

    ``as_dtype`` turns names, numpy types and Python types into one; comparisons do so too.
    """

    __slots__ = ("_enum", "_name", "_numpy_name", "_limits")

    def __new__(cls, type_enum, name=None, numpy_name=None):
        if name is not None:
            return object.__new__(cls)
        try:
            return _BY_ENUM[int(type_enum)]  # programs name a type by its number
        except KeyError:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}") from None

    def __init__(self, type_enum, name=None, numpy_name=None):
        if name is not None:
            self._enum, self._name, self._numpy_name = type_enum, name, numpy_name

    name = property(lambda self: self._name)
    as_datatype_enum = property(lambda self: self._enum)

    @property
    def as_numpy_dtype(self):
        if self._numpy_name is None and self.base_dtype._name == "variant":
            return object  # as of resources
        if self._numpy_name is None:
            raise TypeError(f"numpy has no type for {self._name}")
        if self.is_quantized:  # a record of one field, so that such arrays are not taken for plain integers
            return _numpy().dtype([(self.base_dtype._name, self._numpy_name)])
        return object if self._numpy_name == "object" else getattr(_numpy(), self._numpy_name)

    @property
    def real_dtype(self):
        return {"complex64": float32, "complex128": float64}.get(self.base_dtype._name, self)

    @property
    def base_dtype(self):
        return _BY_ENUM[self._enum - 100] if self._is_ref_dtype else self

    @property
    def _is_ref_dtype(self):
        return self._enum > 100

    @property
    def _as_ref(self):
        return self if self._is_ref_dtype else _BY_ENUM[self._enum + 100]

    @property
    def is_floating(self):
        return self.base_dtype._name in ("float16", "float32", "float64", "bfloat16")

    @property
    def is_integer(self):
        return self.base_dtype._name in (
            "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

    @property
    def is_complex(self):
        return self.base_dtype._name in ("complex64", "complex128")

    @property
    def is_bool(self):
        return self.base_dtype._name == "bool"

    @property
    def is_unsigned(self):
        return self.base_dtype._name in ("uint8", "uint16", "uint32", "uint64")

    @property
    def is_quantized(self):
        return self.base_dtype._name in ("qint8", "qint16", "qint32", "quint8", "quint16")

    @property
    def is_numpy_compatible(self):
        return self._numpy_name is not None

    @property
    def size(self):
        if self.base_dtype._name in ("string", "resource", "variant"):
            return 1
        if self.base_dtype._name == "bfloat16":
            return 2
        return _numpy().dtype(self.base_dtype.as_numpy_dtype).itemsize

    def _need_limits(self, which):
        if not (self.is_floating or self.is_integer):
            raise TypeError(f"Cannot find {which} value of {self}.")

    @property
    def min(self):
        self._need_limits("minimum")
        if self.base_dtype._name == "bfloat16":
            return float.fromhex("-0x1.FEp127")
        info = _numpy().finfo if self.is_floating else _numpy().iinfo
        return info(self.as_numpy_dtype).min

    @property
    def max(self):
        self._need_limits("maximum")
        if self.base_dtype._name == "bfloat16":
            return float.fromhex("0x1.FEp127")
        info = _numpy().finfo if self.is_floating else _numpy().iinfo
        return info(self.as_numpy_dtype).max

    @property
    def limits(self):
        return self.min, self.max

    def is_compatible_with(self, other):
        other = as_dtype(other)
        return self._enum in (other._enum, other.base_dtype._enum)

    def __eq__(self, other):
        if other is None or other is int:  # which type Python's int stands for depends on its value
            return False
        if isinstance(other, DType):
            return self._enum == other._enum
        try:
            return self._enum == as_dtype(other)._enum
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return self._enum

    def __repr__(self):
        return f"tf.{self._name}"

    def __str__(self):
        return f"<dtype: {self._name!r}>"

    def __reduce__(self):
        return as_dtype, (self._name,)

    def __int__(self):
        return self._enum


# TensorFlow's numbers (DataType of types.proto).
_ROWS = (
    (1, "float32", "float32"), (2, "float64", "float64"), (3, "int32", "int32"), (4, "uint8", "uint8"),
    (5, "int16", "int16"), (6, "int8", "int8"), (7, "string", "object"), (8, "complex64", "complex64"),
    (9, "int64", "int64"), (10, "bool", "bool_"), (11, "qint8", "int8"), (12, "quint8", "uint8"),
    (13, "qint32", "int32"), (14, "bfloat16", "float32"), (15, "qint16", "int16"), (16, "quint16", "uint16"),
    (17, "uint16", "uint16"), (18, "complex128", "complex128"), (19, "float16", "float16"),
    (20, "resource", None), (21, "variant", None), (22, "uint32", "uint32"), (23, "uint64", "uint64"),
)
_BY_ENUM = {}
_python_bool = bool  # before the DType of that name
for _enum, _name, _np in _ROWS:
    _BY_ENUM[_enum] = DType(_enum, _name, _np)
    _BY_ENUM[_enum + 100] = DType(_enum + 100, _name + "_ref", _np)
    globals()[_name], globals()[_name + "_ref"] = _BY_ENUM[_enum], _BY_ENUM[_enum + 100]
float32, float64, int32, int64 = (_BY_ENUM[i] for i in (1, 2, 3, 9))
half, double = _BY_ENUM[19], float64

_BY_NAME = {dtype._name: dtype for dtype in _BY_ENUM.values()}
_BY_NAME.update(half=half, float=float32, double=float64, int=int32, bytes=_BY_ENUM[7], str=_BY_ENUM[7])
_BY_PYTHON = {float: float32, int: int32, _python_bool: _BY_ENUM[10], complex: _BY_ENUM[18], str: _BY_ENUM[7],
              bytes: _BY_ENUM[7], object: _BY_ENUM[7]}
_TYPE_TO_STRING = {enum: dtype._name for enum, dtype in _BY_ENUM.items()}  # which tests read
QUANTIZED_DTYPES = frozenset(_BY_ENUM[i] for i in (11, 12, 13, 15, 16))


def as_dtype(type_value):
    """The DType that ``type_value`` names: a DType, a name, TensorFlow's number, a numpy or a Python type."""
    if isinstance(type_value, DType):
        return type_value
    try:
        found = _BY_PYTHON.get(type_value)
    except TypeError:
        found = None
    if found is not None:
        return found
    if isinstance(type_value, str):
        if type_value in _BY_NAME:
            return _BY_NAME[type_value]
    elif isinstance(type_value, int):
        if type_value in _BY_ENUM:
            return _BY_ENUM[type_value]
    if type_value is not None:
        numpy = _numpy()
        try:
            dtype = numpy.dtype(type_value)
        except TypeError:
            dtype = None
        if dtype is not None:
            if dtype.kind in "SUO":
                return _BY_ENUM[7]
            if dtype.names and len(dtype.names) == 1 and dtype.names[0] in _BY_NAME:
                return _BY_NAME[dtype.names[0]]
            if dtype.name in _BY_NAME:
                return _BY_NAME[dtype.name]
    raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")
