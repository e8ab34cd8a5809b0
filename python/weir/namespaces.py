"""Modules of TensorFlow whose functions have other names as well: tf.math.abs is tf.abs, tf.random.normal is
tf.random_normal. Each is a table of where to look; what is found nowhere is a stand-in that says so."""

import importlib
import sys
from types import ModuleType

from weir import _lazy

_ROOT, _NN = "weir", "weir.nn"

# Module: (modules that are searched in order, {name here: name there}).
_TABLE = {
    "bitwise": (("weir.ops.bitwise_ops",), {}),
    "debugging": ((_ROOT,), {}),
    "dtypes": ((_ROOT,), {}),
    "initializers": ((_ROOT, "weir.ops.init_ops"), {
        "constant": "constant_initializer", "global_variables": "global_variables_initializer",
        "glorot_normal": "glorot_normal_initializer", "glorot_uniform": "glorot_uniform_initializer",
        "identity": "identity_initializer", "local_variables": "local_variables_initializer", "ones": "ones_initializer",
        "orthogonal": "orthogonal_initializer", "random_normal": "random_normal_initializer",
        "random_uniform": "random_uniform_initializer", "truncated_normal": "truncated_normal_initializer",
        "uniform_unit_scaling": "uniform_unit_scaling_initializer", "variables": "variables_initializer",
        "variance_scaling": "variance_scaling_initializer", "zeros": "zeros_initializer"}),
    "io": ((_ROOT, "weir.python_io", "weir.train"), {"gfile": "io_gfile"}),  # tf.gfile has other names in it
    "linalg": ((_ROOT, _NN, "weir.inner.nn_ops"), {
        "band_part": "matrix_band_part", "det": "matrix_determinant", "diag": "matrix_diag",
        "diag_part": "matrix_diag_part", "eigh": "self_adjoint_eig", "eigvalsh": "self_adjoint_eigvals",
        "inv": "matrix_inverse", "lstsq": "matrix_solve_ls", "set_diag": "matrix_set_diag", "solve": "matrix_solve",
        "sqrtm": "matrix_square_root", "tensor_diag": "diag", "tensor_diag_part": "diag_part",
        "transpose": "matrix_transpose", "triangular_solve": "matrix_triangular_solve"}),
    "manip": ((_ROOT,), {}),
    "math": ((_ROOT, _NN, "weir.ops.math_ops"), {"divide_no_nan": "div_no_nan", "floormod": "floormod", "mod": "floormod"}),
    "quantization": ((_ROOT,), {}),
    "random": ((_ROOT, _NN, "weir.ops.random_ops"), {
        "gamma": "random_gamma", "normal": "random_normal", "poisson": "random_poisson", "shuffle": "random_shuffle",
        "uniform": "random_uniform"}),
    "sets": ((_ROOT,), {name: f"set_{name}" for name in ("difference", "intersection", "size", "union")}),
    "signal": ((_ROOT,), {}),
    "sparse": (("weir.ops.sparse_ops", _ROOT), {
        name: f"sparse_{name}" for name in
        ("add", "concat", "cross", "expand_dims", "eye", "fill_empty_rows", "from_dense", "mask", "maximum", "merge", "minimum", "placeholder",
         "reduce_max", "reduce_max_sparse", "reduce_sum", "reduce_sum_sparse", "reorder", "reset_shape", "reshape", "retain",
         "segment_mean", "segment_sqrt_n", "segment_sum", "slice", "softmax", "split", "to_indicator", "transpose")
    } | {"matmul": "sparse_tensor_dense_matmul", "to_dense": "sparse_tensor_to_dense",
         "sparse_dense_matmul": "sparse_tensor_dense_matmul"}),
    "spectral": ((_ROOT,), {}),
    "strings": ((_ROOT, "weir.ops.array_ops"), {
        "join": "string_join", "length": "string_length", "lower": "string_lower", "split": "string_split",
        "strip": "string_strip", "to_hash_bucket": "string_to_hash_bucket",
        "to_hash_bucket_fast": "string_to_hash_bucket_fast", "to_hash_bucket_strong": "string_to_hash_bucket_strong",
        "to_number": "string_to_number", "upper": "string_upper"}),
    "version": ((_ROOT,), {}),
}


class _Namespace(ModuleType):
    def __init__(self, name):
        super().__init__(f"weir.{name}", f"tf.{name}: names that are found elsewhere in Weir")
        self.__weir_table__ = _TABLE[name]

    def __getattr__(self, name):
        public = "tf" + self.__name__[len(_ROOT):]
        if name.startswith("__") or name not in _lazy.tensorflow_names(public):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        places, renamed = self.__weir_table__
        value = _lazy.Absent(f"{public}.{name}")
        for place in places:
            found = getattr(importlib.import_module(place), renamed.get(name, name), value)
            if not isinstance(found, _lazy.Absent):
                value = found
                break
        setattr(self, name, value)
        return value

    def __dir__(self):
        return sorted(_lazy.tensorflow_names("tf" + self.__name__[len(_ROOT):]))


def __getattr__(name):
    if name == "raw_ops":
        from weir.core.op_functions import RawOps

        value = RawOps()
    elif name in _TABLE:
        value = sys.modules[f"weir.{name}"] = _Namespace(name)
    else:
        raise AttributeError(name)
    globals()[name] = value
    return value
