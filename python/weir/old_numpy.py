"""What numpy had and did when TensorFlow 1 was current.

Part of `weir run` (old_libraries.py installs it). Each addition fills a gap: where the name still exists nothing is changed.
"""

import functools

from weir import _weir


def add_missing(owner, **values):
    """Sets those attributes that `owner` lacks."""
    for name, value in values.items():
        if name not in getattr(owner, "__dict__", {}):
            setattr(owner, name, value)


_COPY_IF_NEEDED = False  # of np.array; None from numpy 2 on


def patch(numpy):
    global _COPY_IF_NEEDED
    if int(numpy.__version__.split(".")[0]) >= 2:
        _COPY_IF_NEEDED = None
    add_missing(numpy, float=float, int=int, object=object, str=str, complex=complex, unicode=str)
    add_missing(numpy, bool=bool, long=int, bool8=numpy.bool_, int0=numpy.intp, uint0=numpy.uintp)
    add_missing(numpy, float_=numpy.float64, complex_=numpy.complex128, string_=numpy.bytes_, unicode_=numpy.str_)
    add_missing(numpy, Inf=numpy.inf, infty=numpy.inf, Infinity=numpy.inf, PINF=numpy.inf, NINF=-numpy.inf)
    add_missing(numpy, NaN=numpy.nan, NAN=numpy.nan, PZERO=0.0, NZERO=-0.0)
    add_missing(numpy, product=numpy.prod, cumproduct=numpy.cumprod, sometrue=numpy.any, alltrue=numpy.all)
    add_missing(numpy, asscalar=lambda a: a.item(), rank=numpy.ndim, round_=numpy.round, mat=numpy.asmatrix)
    add_missing(numpy, asfarray=lambda a, dtype=numpy.float64: numpy.asarray(
        a, dtype if numpy.issubdtype(dtype, numpy.inexact) else numpy.float64))
    add_missing(numpy, row_stack=numpy.vstack, msort=lambda a: numpy.sort(a, axis=0))
    if hasattr(numpy, "trapezoid"):
        add_missing(numpy, trapz=numpy.trapezoid)
    add_missing(numpy, in1d=lambda a, b, **options: numpy.isin(numpy.ravel(a), b, **options))
    add_missing(numpy.random, random_integers=_random_integers(numpy))
    _patch_fromstring(numpy)
    _patch_issubdtype(numpy)
    for name in ("array", "asarray", "asanyarray"):
        setattr(numpy, name, _with_ragged_lists(getattr(numpy, name)))
    for name in ("ndim", "shape", "size"):
        setattr(numpy, name, _of_ragged_lists(getattr(numpy, name), numpy.asarray))
    _weir.arrays_have_old_values()
    _weir.lists_of_slices_are_indices()
    if int(numpy.__version__.split(".")[0]) >= 2:
        numpy.set_printoptions(legacy="1.25")  # numbers in lists print as 0.5, not as np.float32(0.5)
    for name in ("rand", "randn"):
        setattr(numpy.random, name, _with_whole_floats(getattr(numpy.random, name)))
    for name in ("zeros", "ones", "empty"):
        setattr(numpy, name, _with_whole_float_shape(getattr(numpy, name)))
    for name in ("concatenate", "hstack", "vstack", "dstack", "stack", "column_stack"):
        setattr(numpy, name, _with_generators(getattr(numpy, name)))
    for name in ("percentile", "nanpercentile", "quantile", "nanquantile"):
        setattr(numpy, name, _with_interpolation(getattr(numpy, name)))
    numpy.linspace = _with_whole_number(numpy.linspace)
    numpy.reshape = _with_new_shape(numpy.reshape)
    add_missing(numpy.lib, pad=numpy.pad)
    add_missing(numpy, cast=_Casts(numpy.asarray))
    numpy.expand_dims = _with_far_axis(numpy.expand_dims)
    for name in ("meshgrid", "broadcast_arrays"):
        setattr(numpy, name, _giving_a_list(getattr(numpy, name)))
    if not hasattr(numpy.ndarray, "tostring"):
        _add_method(numpy.ndarray, "tostring", numpy.ndarray.tobytes)


def _with_far_axis(original):
    """Until numpy 1.18 an axis beyond the last meant a new last one."""

    @functools.wraps(original)
    def expand_dims(a, axis):
        if isinstance(axis, int):
            ndim = getattr(a, "ndim", None)
            axis = axis if ndim is None else min(axis, ndim)
        return original(a, axis)

    return expand_dims


def _random_integers(numpy):
    def random_integers(low, high=None, size=None):
        """Includes `high`, unlike randint."""
        low, high = (1, low) if high is None else (low, high)
        return numpy.random.randint(low, high + 1, size)

    return random_integers


def _with_ragged_lists(original):
    """Until numpy 1.24 lists of unequal lengths became arrays of objects: np.array([(x, y), ...])."""

    @functools.wraps(original)
    def convert(*args, **options):
        if options.get("copy", True) is False:  # "only if needed", which numpy 2 calls None
            options["copy"] = _COPY_IF_NEEDED
        typed = options.get("dtype") is not None or len(args) > 1 and args[1] is not None
        try:
            return original(*args, **options)
        except OverflowError:
            # Until numpy 2 numbers beyond the type wrapped around: np.array([-1], np.uint8).
            dtype = args[1] if len(args) > 1 else options.pop("dtype", None)
            if dtype is None:
                raise
            return original(args[0], None, *args[2:], **options).astype(dtype)
        except ValueError as error:
            if typed or "inhomogeneous" not in str(error):
                raise
        return original(args[0], object, *args[2:], **options) if len(args) > 1 else original(
            *args, **{**options, "dtype": object})

    return convert


def _with_interpolation(original):
    """Until numpy 2.4 ``method`` of percentiles could be called ``interpolation``, its name before 1.22."""

    @functools.wraps(original)
    def percentile(*args, **options):
        if "interpolation" in options:
            options["method"] = options.pop("interpolation")
        return original(*args, **options)

    return percentile


def _of_ragged_lists(original, asarray):
    """What numpy tells of lists of unequal lengths: np.size([[1], [2, 3]]) is 2."""

    @functools.wraps(original)
    def tell(a, *args, **options):
        try:
            return original(a, *args, **options)
        except ValueError:
            return original(asarray(a), *args, **options)

    return tell


def _with_whole_floats(original):
    """Until numpy 1.12 sizes could be floats: np.random.rand(1e4, 1e4)."""

    @functools.wraps(original)
    def random(*sizes):
        return original(*map(_whole, sizes))

    return random


def _whole(number):
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _with_whole_float_shape(original):
    """... and so could the lengths of a shape: np.zeros((n / 2, 3.))."""

    @functools.wraps(original)
    def make(shape, *args, **options):
        if shape is None:
            shape = ()
        elif isinstance(shape, float):
            shape = _whole(shape)
        elif type(shape) in (tuple, list) and any(isinstance(length, float) for length in shape):
            shape = tuple(_whole(length) for length in shape)
        if args:
            args = (_concrete(args[0]), *args[1:])
        elif "dtype" in options:
            options["dtype"] = _concrete(options["dtype"])
        return original(shape, *args, **options)

    return make


def _concrete(dtype):
    """Until numpy 2.4 kinds of types stood for one of their kind: np.zeros(3, np.integer)."""
    if isinstance(dtype, type) and dtype.__module__ == "numpy":
        return _KINDS.get(dtype.__name__, dtype)
    return dtype


_KINDS = {"integer": "int64", "signedinteger": "int64", "unsignedinteger": "uint64", "floating": "float64", "inexact": "float64",
          "number": "float64", "complexfloating": "complex128"}


def _with_whole_number(original):
    """... and the number of points of np.linspace(a, b, 10.)."""

    @functools.wraps(original)
    def linspace(start, stop, num=50, *args, **options):
        return original(start, stop, _whole(num), *args, **options)

    return linspace


def _with_new_shape(original):
    """Until numpy 2.4 np.reshape took its shape by the name newshape."""

    @functools.wraps(original)
    def reshape(a, *args, **options):
        if "newshape" in options:
            options["shape"] = options.pop("newshape")
        return original(a, *args, **options) if args or "shape" not in options else original(
            a, options.pop("shape"), **options)

    return reshape


class _Casts:
    """Until numpy 2 np.cast[np.float32](x) made an array of that type."""

    def __init__(self, convert):
        self._convert = convert

    def __getitem__(self, dtype):
        return lambda x: self._convert(x, dtype)


def _giving_a_list(original):
    """Until numpy 2 programs could append to what np.meshgrid gave."""

    @functools.wraps(original)
    def call(*args, **options):
        return list(original(*args, **options))

    return call


def _with_generators(original):
    """Until numpy 1.16 arrays to be stacked could come from a generator."""

    @functools.wraps(original)
    def stack(arrays, *args, **options):
        return original(list(arrays) if hasattr(arrays, "__next__") else arrays, *args, **options)

    return stack


def _patch_fromstring(numpy):
    """numpy 2.3 took the binary mode away; releases before complained about it."""
    original = numpy.fromstring

    def fromstring(string, dtype=float, count=-1, *, sep="", **options):
        if sep != "":
            return original(string, dtype, count, sep=sep, **options)
        if isinstance(string, str):
            string = string.encode("latin1")
        return numpy.frombuffer(string, dtype, count).copy()

    fromstring.__doc__ = original.__doc__
    numpy.fromstring = fromstring


def _patch_issubdtype(numpy):
    """Until numpy 1.20 Python's own types stood for all types of their kind: np.issubdtype(np.float32, float)."""
    original = numpy.issubdtype
    kinds = {float: numpy.floating, int: numpy.signedinteger, complex: numpy.complexfloating}

    @functools.wraps(original)
    def issubdtype(arg1, arg2):
        return original(arg1, kinds.get(arg2, arg2) if isinstance(arg2, type) else arg2)

    numpy.issubdtype = issubdtype


def _add_method(cls, name, method):
    """Adds a method to a class of an extension module, which refuses setattr. Does nothing if that cannot be."""
    import ctypes
    import gc

    try:
        (namespace,) = (d for d in gc.get_referents(cls.__dict__) if isinstance(d, dict))
        namespace[name] = method
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))
    except (ValueError, AttributeError, TypeError):
        pass


def allow_pickle(numpy):
    original = numpy.load

    def load(file, mmap_mode=None, allow_pickle=True, **options):
        return original(file, mmap_mode, allow_pickle, **options)

    load.__doc__ = original.__doc__
    numpy.load = load
