"""Public functions that are one operation each: a name, the operation, and parameters that are called otherwise."""

from weir.core.op_functions import op_function

# Public name: operation, or (operation, {parameter of the operation: public parameter}), None for what has no parameter.
ARRAY = {
    "reshape": "Reshape",
    "fill": "Fill",
    "tile": "Tile",
    "stop_gradient": "StopGradient",
    "prevent_gradient": "PreventGradient",
    "check_numerics": "CheckNumerics",
    "invert_permutation": "InvertPermutation",
    "scatter_nd": "ScatterNd",
    "space_to_batch_nd": "SpaceToBatchND",
    "batch_to_space_nd": "BatchToSpaceND",
    "unique_with_counts": "UniqueWithCounts",
    "unique": "Unique",
    "dynamic_partition": "DynamicPartition",
    "dynamic_stitch": "DynamicStitch",
    "diag": "Diag",
    "diag_part": "DiagPart",
    "matrix_band_part": "MatrixBandPart",
    "broadcast_to": "BroadcastTo",
    "ensure_shape": ("EnsureShape", {"input": "x"}),
    "bitcast": "Bitcast",
    "roll": "Roll",
    "string_to_number": "StringToNumber",
    "as_string": "AsString",
    "encode_base64": "EncodeBase64",
    "decode_base64": "DecodeBase64",
    "tensor_scatter_update": "TensorScatterUpdate",
    "tensor_scatter_add": "TensorScatterAdd",
    "tensor_scatter_sub": "TensorScatterSub",
    "read_file": "ReadFile",
    "write_file": "WriteFile",
    "matching_files": "MatchingFiles",
    "parse_tensor": "ParseTensor",
    "serialize_tensor": "SerializeTensor",
    "decode_json_example": "DecodeJSONExample",
    "decode_compressed": "DecodeCompressed",
    "extract_volume_patches": "ExtractVolumePatches",
}

_STRICT = {"incompatible_shape_error": None}  # TensorFlow 2's, which has no function of 1.15 here

MATH = {
    "square": "Square", "sqrt": "Sqrt", "rsqrt": "Rsqrt", "exp": "Exp",
    "expm1": "Expm1", "log": "Log", "log1p": "Log1p", "sign": "Sign",
    "tanh": "Tanh", "sigmoid": "Sigmoid", "sin": "Sin", "cos": "Cos",
    "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan",
    "sinh": "Sinh", "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh",
    "atanh": "Atanh", "floor": "Floor", "ceil": "Ceil", "rint": "Rint",
    "erf": "Erf", "erfc": "Erfc", "lgamma": "Lgamma", "digamma": "Digamma",
    "is_nan": "IsNan", "is_inf": "IsInf", "is_finite": "IsFinite",
    "negative": "Neg", "reciprocal": "Reciprocal", "logical_not": "LogicalNot",
    "add": "Add", "subtract": "Sub", "multiply": "Mul",
    "realdiv": "RealDiv", "truncatediv": "TruncateDiv", "truncatemod": "TruncateMod",
    "floormod": "FloorMod", "mod": "FloorMod",
    "maximum": "Maximum", "minimum": "Minimum", "atan2": "Atan2",
    "squared_difference": "SquaredDifference", "not_equal": ("NotEqual", _STRICT), "equal": ("Equal", _STRICT),
    "less": "Less", "less_equal": "LessEqual", "greater": "Greater",
    "greater_equal": "GreaterEqual", "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr",
    "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor",
    "left_shift": "LeftShift", "right_shift": "RightShift", "invert": "Invert",
    "igamma": "Igamma", "igammac": "Igammac", "betainc": "Betainc",
    "bessel_i0e": "BesselI0e", "bessel_i1e": "BesselI1e",
    "zeta": "Zeta", "xlogy": "Xlogy", "xdivy": "Xdivy", "polygamma": "Polygamma",
    "segment_sum": "SegmentSum", "segment_mean": "SegmentMean",
    "segment_max": "SegmentMax", "segment_min": "SegmentMin",
    "segment_prod": "SegmentProd", "unsorted_segment_sum": "UnsortedSegmentSum",
    "unsorted_segment_max": "UnsortedSegmentMax", "unsorted_segment_min": "UnsortedSegmentMin",
    "unsorted_segment_prod": "UnsortedSegmentProd", "cross": "Cross",
    "sparse_segment_mean_grad": "SparseSegmentMeanGrad", "sparse_segment_sqrt_n_grad": "SparseSegmentSqrtNGrad",
    "matrix_inverse": "MatrixInverse", "matrix_determinant": "MatrixDeterminant",
    "matrix_solve": "MatrixSolve", "matrix_triangular_solve": "MatrixTriangularSolve",
    "cholesky": "Cholesky",
    "lin_space": "LinSpace",
}

NN = {
    "relu": "Relu", "relu6": "Relu6", "elu": "Elu", "selu": "Selu",
    "softplus": "Softplus", "softsign": "Softsign", "l2_loss": "L2Loss",
    "local_response_normalization": "LRN", "quantized_avg_pool": "QuantizedAvgPool",
    "quantized_conv2d": "QuantizedConv2D", "quantized_max_pool": "QuantizedMaxPool", "quantized_relu_x": "QuantizedReluX",
}

CONVOLUTIONS = {
    "depthwise_conv2d_native": "DepthwiseConv2dNative",
}


def either(name, value, old_name, old_value):
    """An argument that has two names; ValueError when both are given."""
    if old_value is None:
        return value
    if value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{name}'")
    return old_value


# Zero stays zero, so these take sparse tensors, too.
_OF_SPARSE = {"square", "sqrt", "sign", "tanh", "sin", "asin", "tan", "atan", "sinh", "erf", "negative"}


def install(namespace, rows):
    """Defines the functions of ``rows`` in a module; each is made when first called, so that import stays quick."""
    for name, row in rows.items():
        op, renamed = (row, {}) if isinstance(row, str) else row
        namespace.setdefault(name, (_LazyOfSparse if name in _OF_SPARSE else _Lazy)(name, op, renamed))


class _Lazy:
    """A function that is made from its operation at the first call."""

    __slots__ = ("__name__", "__qualname__", "_op", "_renamed", "_function")

    def __init__(self, name, op, renamed):
        self.__name__ = self.__qualname__ = name
        self._op, self._renamed, self._function = op, renamed, None

    def _made(self):
        if self._function is None:
            self._function = op_function(self._op, self.__name__, self._renamed)
        return self._function

    def __call__(self, *args, **kwargs):
        return (self._function or self._made())(*args, **kwargs)

    @property
    def __doc__(self):
        return self._made().__doc__

    @property
    def __signature__(self):
        import inspect

        made = self._made()
        return inspect.Signature([
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD,
                              default=made._defaults.get(name, inspect.Parameter.empty)) for name in made._parameters])

    def __get__(self, instance, owner=None):  # as an attribute of a class it is a plain function
        return self

    def __repr__(self):
        return f"<function {self.__name__}: operation {self._op}>"


class _LazyOfSparse(_Lazy):
    """... of the values of a sparse tensor, too."""

    __slots__ = ()

    def __call__(self, x=None, *args, **kwargs):
        if x is None:
            return super().__call__(*args, **kwargs)
        if hasattr(x, "_map_values"):
            return x._map_values(self._made(), *args, **kwargs)
        return super().__call__(x, *args, **kwargs)
