"""What modules that are converted from Python 2 find when they run: its builtins, and helpers that the converted code calls."""

import builtins
import operator
import sys

def _integers(a, b):
    """Whether both are whole numbers or arrays of them, at least one of them numpy's."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not (
        isinstance(a, (numpy.ndarray, numpy.generic)) or isinstance(b, (numpy.ndarray, numpy.generic))
    ):
        return False
    for x in (a, b):
        if not isinstance(x, (int, float, complex, list, tuple, numpy.ndarray, numpy.generic)):
            return False
        if numpy.asarray(x).dtype.kind not in "iub":
            return False
    return True


def divide(a, b):
    """a / b of Python 2: integers and integer arrays round down, classes may define __div__."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if isinstance(a, float) or isinstance(b, float):
        kinds = (int, float)
        if isinstance(a, kinds) and isinstance(b, kinds):
            return a / b
    method = getattr(type(a), "__div__", None)
    if method is not None:
        result = method(a, b)
        if result is not NotImplemented:
            return result
    method = getattr(type(b), "__rdiv__", None)
    if method is not None:
        result = method(b, a)
        if result is not NotImplemented:
            return result
    if _integers(a, b):
        return sys.modules["numpy"].floor_divide(a, b)
    return a / b


def divide_in_place(a, b):
    """The new value of `a` after a /= b."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(a, numpy.ndarray):
        # Python 2's numpy cast the result to the type of the array.
        operation = numpy.floor_divide if _integers(a, b) else numpy.true_divide
        return operation(a, b, out=a, casting="unsafe")
    method = getattr(type(a), "__idiv__", None)
    if method is not None:
        result = method(a, b)
        if result is not NotImplemented:
            return result
    if isinstance(a, int) or getattr(type(a), "__itruediv__", None) is None:
        return divide(a, b)
    a /= b
    return a


def _truth(value):
    """``if grad:`` asked until TensorFlow 0.8 whether there is a tensor; later releases refuse it, so none means more."""
    weir = sys.modules.get("weir")
    return True if weir is not None and isinstance(value, weir.Tensor) else value


def _set_field(owner, name, value):
    """``message.tensor_content = "text"``: a Python 2 string is bytes, and fields of messages that hold bytes take it."""
    fields = getattr(getattr(owner, "DESCRIPTOR", None), "fields_by_name", {})
    if isinstance(value, str) and name in fields and fields[name].type == fields[name].TYPE_BYTES:
        value = value.encode("latin1")
    setattr(owner, name, value)


def _divide_attribute(owner, name, value):
    setattr(owner, name, divide_in_place(getattr(owner, name), value))


def _divide_item(owner, key, value):
    owner[key] = divide_in_place(owner[key], value)


def round_away(number, ndigits=0):
    """round() of Python 2: gives float, and rounds halves away from zero."""
    import math

    number = float(number)
    if not math.isfinite(number):
        return number
    from decimal import ROUND_HALF_UP, Decimal

    return float(Decimal(number).quantize(Decimal(1).scaleb(-ndigits), rounding=ROUND_HALF_UP))


def _sorted(items, cmp=None, key=None, reverse=False):
    result = list(items)
    _sort(result, cmp, key, reverse)
    return result


def _sort(items, *args, **options):
    if not isinstance(items, list):
        return items.sort(*args, **options)
    options.update(zip(("cmp", "key", "reverse"), args))
    cmp, key, reverse = options.get("cmp"), options.get("key"), options.get("reverse", False)
    if cmp is not None:
        import functools

        compare = functools.cmp_to_key(cmp)
        items.sort(key=compare if key is None else lambda item: compare(key(item)), reverse=reverse)
    else:
        items.sort(key=key, reverse=reverse)


def _decode_text(text, *args, **options):
    """Strings were bytes: what is text already stays as it is."""
    return text if isinstance(text, str) else text.decode(*args, **options)


def _cmp(a, b):
    return (a > b) - (a < b)


def _comparable(cls):
    """A class whose objects are compared by their method __cmp__."""
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        if f"__{name}__" not in cls.__dict__:
            setattr(cls, f"__{name}__", _compared(getattr(operator, name)))
    return cls


def _compared(function):
    return lambda self, other: function(self.__cmp__(other), 0)


def _reduce(*args):
    import functools

    return functools.reduce(*args)


def _reload(module):
    # The usual reload(sys) only brings back sys.setdefaultencoding, which is there.
    if module is sys:
        return module
    import importlib

    return importlib.reload(module)


def _open(name, mode="r", buffering=-1, *args, **options):
    """open() that takes any bytes in text and the mode U, as Python 2's did."""
    mode = mode.replace("U", "") or "r"
    if mode in ("b", "t"):
        mode = "r" + mode
    if "b" not in mode and not args and "encoding" not in options:
        options.setdefault("encoding", "utf-8")
        options.setdefault("errors", "surrogateescape")
        buffering = -1 if buffering == 0 else buffering  # text cannot be unbuffered
    return builtins.open(name, mode, buffering, *args, **options)


def _input(prompt=""):
    frame = sys._getframe(1)
    return eval(builtins.input(prompt), frame.f_globals, frame.f_locals)


def _apply(function, args=(), options=None):
    return function(*args, **(options or {}))


# Called by the converted code; builtins, because it may run with globals of its own.
HELPERS = {
    "_weir_comparable_": _comparable,
    "_weir_div_": divide,
    "_weir_set_field_": _set_field,
    "_weir_truth_": _truth,
    "_weir_idiv_": divide_in_place,
    "_weir_idiv_attribute_": _divide_attribute,
    "_weir_idiv_item_": _divide_item,
    "_weir_slice_": slice,
    "_weir_float_": float,
    "_weir_round_": round_away,
    "_weir_sorted_": _sorted,
    "_weir_sort_": _sort,
    "_weir_decode_": _decode_text,
}
# Builtins of Python 2. Not among Python's builtins, where libraries would take them for a sign of Python 2.
NAMES = {
    "apply": _apply,
    "basestring": str,
    "buffer": memoryview,
    "cmp": _cmp,
    "file": _open,
    "input": _input,
    "intern": sys.intern,
    "long": int,
    "open": _open,
    "raw_input": input,
    "reduce": _reduce,
    "reload": _reload,
    "StandardError": Exception,
    "unichr": chr,
    "unicode": str,
    "xrange": range,
}
